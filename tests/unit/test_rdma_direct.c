/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that post to an RDMA device by themselves, against a device in software: it reads entries,
 * doorbells and records as the driver's header <infiniband/mlx5dv.h> describes them, and writes completions.
 */
#define SIMT_PREEMPT 1
#include <endian.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <infiniband/mlx5dv.h>

#include <store/rdma/direct_mlx5.h>

#include "unit.h"

enum {
	ENTRIES = 8,
	COMPLETIONS = 16,
	REGION = 32768,
	PIECE = 64,
	THREADS = 96,
	QPN = 0x1234,
	LOCAL = 7,
	REMOTE = 9
};
#define ADDRESS 0x7123456000u
#define MINUTE_NS 60000000000u

/* ---- the device ---- */

static struct {
	uint8_t sq[4096] __attribute__((aligned(4096)));
	struct mlx5_cqe64 cq[COMPLETIONS] __attribute__((aligned(4096)));
	uint32_t records[1024]
	    __attribute__((aligned(4096))); /* of the queue pair, and of the completion queue */
	uint64_t doorbell[512] __attribute__((aligned(4096)));
	char region[REGION];
	struct ibv_context verbs;
	struct ibv_qp qp;
	struct ibv_cq queue;
	pthread_t thread;
	uint32_t stop, mute; /* mute: it completes nothing */
	uint32_t fetched;    /* entries, from any number on */
	uint32_t rung;       /* doorbells that it saw */
	uint8_t syndrome;    /* not 0: the queue pair has stopped */
	const char *wrong;   /* what a driver does wrong */
} nic;

static void complain(int holds, const char *what)
{
	if (!holds && !nic.wrong)
		nic.wrong = what;
}

/* Carry out an entry. Returns the syndrome of its completion. */
static uint8_t carry_out(const struct mlx5_wqe_ctrl_seg *control)
{
	const struct mlx5_wqe_raddr_seg *far = (const struct mlx5_wqe_raddr_seg *)(const void *)(control + 1);
	const struct mlx5_wqe_data_seg *near = (const struct mlx5_wqe_data_seg *)(const void *)(far + 1);
	const uint32_t head = be32toh(control->opmod_idx_opcode), bytes = be32toh(near->byte_count);
	const uint64_t at = be64toh(far->raddr) - ADDRESS;
	void *memory = (void *)(uintptr_t)be64toh(near->addr);

	complain((head >> 8 & 0xffff) == (nic.fetched & 0xffff), "index of an entry");
	complain(be32toh(control->qpn_ds) == (QPN << 8 | 3), "queue pair and segments of an entry");
	complain(control->fm_ce_se == MLX5_WQE_CTRL_CQ_UPDATE, "an entry asks for a completion");
	if (nic.syndrome)
		return MLX5_CQE_SYNDROME_WR_FLUSH_ERR;
	if (be32toh(near->lkey) != LOCAL)
		return MLX5_CQE_SYNDROME_LOCAL_PROT_ERR;
	if (be32toh(far->rkey) != REMOTE || at > REGION || bytes > REGION - at)
		return MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR;
	if ((head & 0xff) == MLX5_OPCODE_RDMA_READ)
		memcpy(memory, nic.region + at, bytes);
	else if ((head & 0xff) == MLX5_OPCODE_RDMA_WRITE)
		memcpy(nic.region + at, memory, bytes);
	else
		complain(0, "opcode of an entry");
	return 0;
}

/* A completion; its last word is written last. */
static void complete(uint32_t number, uint8_t syndrome)
{
	struct mlx5_cqe64 *cqe = &nic.cq[number % COMPLETIONS], made;
	const uint32_t read = be32toh(simt_load_acquire_sys_u32(&nic.records[2])),
	               opcode = syndrome ? MLX5_CQE_REQ_ERR : MLX5_CQE_REQ;
	uint32_t last;

	complain(((number - read) & 0xffffff) < COMPLETIONS, "room for a completion");
	memset(&made, 0, sizeof made);
	((struct mlx5_err_cqe *)(void *)&made)->syndrome = syndrome;
	made.wqe_counter = htobe16((uint16_t)number);
	made.op_own = (uint8_t)(opcode << 4 | (number / COMPLETIONS & 1));
	memcpy(cqe, &made, 60);
	memcpy(&last, (const char *)&made + 60, 4);
	simt_store_release_sys_u32((uint32_t *)(void *)cqe + 15, last);
}

/* One entry. Returns 0 if there is none that the last doorbell covers. */
static int fetch(uint64_t doorbell)
{
	struct mlx5_wqe_ctrl_seg rung;
	uint32_t last;

	memcpy(&rung, &doorbell, sizeof doorbell);
	last = be32toh(rung.opmod_idx_opcode) >> 8 & 0xffff;
	if (!doorbell || ((last + 1 - nic.fetched) & 0xffff) == 0)
		return 0;
	complain(((be32toh(simt_load_acquire_sys_u32(&nic.records[MLX5_SND_DBR])) - nic.fetched) & 0xffff) -
	                 1 <
	             ENTRIES,
	         "the record is written before the doorbell");
	const uint8_t syndrome =
	    carry_out((const struct mlx5_wqe_ctrl_seg *)(const void *)(nic.sq + nic.fetched % ENTRIES * 64));

	nic.syndrome = nic.syndrome ? nic.syndrome : syndrome;
	complete(nic.fetched++, syndrome);
	return 1;
}

static void *run(void *user)
{
	uint64_t before = 0;

	while (!simt_load_acquire_sys_u32(&nic.stop)) {
		const uint64_t doorbell = simt_load_acquire_sys_u64(nic.doorbell);

		if (doorbell != before)
			nic.rung++;
		before = doorbell;
		if (simt_load_acquire_sys_u32(&nic.mute) || !fetch(doorbell))
			sched_yield();
	}
	return user;
}

/* ---- the driver's library ---- */

#ifdef __cplusplus
extern "C" {
#endif
bool __wrap_mlx5dv_is_supported(struct ibv_device *device);
int __wrap_mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t what);
#ifdef __cplusplus
}
#endif

static int supported;
static uint32_t cqe_count;

bool __wrap_mlx5dv_is_supported(struct ibv_device *device)
{
	(void)device;
	return supported != 0;
}

int __wrap_mlx5dv_init_obj(struct mlx5dv_obj *object, uint64_t what)
{
	assert_int_equal(what, MLX5DV_OBJ_QP | MLX5DV_OBJ_CQ);
	object->qp.out->dbrec = nic.records;
	object->qp.out->sq.buf = nic.sq;
	object->qp.out->sq.wqe_cnt = ENTRIES;
	object->qp.out->sq.stride = 64;
	object->qp.out->bf.reg = nic.doorbell;
	object->cq.out->buf = nic.cq;
	object->cq.out->dbrec = &nic.records[2];
	object->cq.out->cqe_cnt = cqe_count;
	object->cq.out->cqe_size = 64;
	return 0;
}

/* ---- a queue that kernels post to ---- */

static struct simt_machine *machine;
static struct gn_direct_queue queue;
static struct gn_error error;

/* Begin with any ticket: what lies in the rings is of the round before. */
static void begin_at(uint32_t start)
{
	struct gn_direct *d = &queue.view;

	d->state->next = d->state->posted = d->state->head = nic.fetched = start;
	for (uint32_t k = start - ENTRIES; k != start; k++) {
		const struct gn_direct_place place = {k + 1, k + 1, 0};

		d->place[k % ENTRIES] = place;
	}
	for (uint32_t k = start; k != start + COMPLETIONS; k++)
		nic.cq[k % COMPLETIONS].op_own = (uint8_t)(MLX5_CQE_INVALID << 4 | 1);
	nic.records[2] = htobe32(start & 0xffffff);
}

static struct simt_options cpu = {"cpu", 2, 1, SIMT_FAIR, 0};

static void open_queue(uint32_t start)
{
	memset(&nic, 0, sizeof nic);
	supported = 1;
	cqe_count = COMPLETIONS;
	nic.qp.context = &nic.verbs;
	nic.qp.qp_num = QPN;
	assert_int_equal(simt_open(&machine, &cpu, &error), 0);
	assert_int_equal(gn_direct_open(&queue, machine, &nic.qp, &nic.queue, &error), 0);
	queue.view.local_key = LOCAL;
	queue.view.remote_key = REMOTE;
	queue.view.remote = ADDRESS;
	begin_at(start);
	assert_int_equal(pthread_create(&nic.thread, NULL, run, NULL), 0);
}

static void close_queue(void)
{
	simt_store_release_sys_u32(&nic.stop, 1);
	pthread_join(nic.thread, NULL);
	gn_direct_close(&queue);
	simt_close(machine);
	if (nic.wrong)
		fail_msg("%s", nic.wrong);
}

/* Each thread writes its pieces and reads them back to another place. */
struct sweep {
	struct gn_direct direct;
	char *from, *to;
	uint32_t failed;
};

struct sweep_args {
	struct sweep *sweep;
};

SIMT_FN void move_all(const struct sweep_args *a)
{
	struct sweep *s = a->sweep;

	for (uint64_t at = simt_global_thread() * PIECE; at < REGION; at += simt_global_threads() * PIECE) {
		struct gn_store_status w = gn_direct_write(&s->direct, at, s->from + at, PIECE, MINUTE_NS),
		                       r = gn_direct_read(&s->direct, at, s->to + at, PIECE, MINUTE_NS);

		if (w.code || r.code)
			simt_add_relaxed_dev_u32(&s->failed, 1);
	}
}
SIMT_KERNEL(move_all, struct sweep_args)

static char from[REGION], to[REGION];

static void sweep_region(void)
{
	static struct sweep s;
	struct sweep_args args = {&s};
	struct simt_grid grid = {3, THREADS / 3, 0};

	for (unsigned k = 0; k < REGION; k++)
		from[k] = (char)(k * 31 + k / 251);
	memset(to, 0, sizeof to);
	s.direct = queue.view;
	s.from = from;
	s.to = to;
	s.failed = 0;
	assert_int_equal(simt_launch(machine, &move_all_kernel, grid, &args, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	assert_int_equal(s.failed, 0);
	assert_memory_equal(from, nic.region, REGION);
	assert_memory_equal(from, to, REGION);
}

static void many_threads_share_a_ring(void **state)
{
	static const unsigned widths[] = {1, 32};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		cpu.warp_width = widths[k];
		open_queue(0);
		sweep_region();
		assert_int_equal(queue.view.state->next, 2 * REGION / PIECE);
		close_queue();
	}
	cpu.warp_width = 1;
}

/* A thread may be stopped at any of its accesses, also while it serves. */
static void any_thread_may_be_late(void **state)
{
	(void)state;
	cpu.threads = 1;
	cpu.schedule = SIMT_RANDOM;
	for (cpu.seed = 1; cpu.seed <= few_or_all(2u, 10u); cpu.seed++) {
		open_queue(0);
		sweep_region();
		close_queue();
	}
	cpu.threads = 2;
	cpu.schedule = SIMT_FAIR;
}

static void tickets_wrap_around(void **state)
{
	(void)state;
	open_queue(UINT32_MAX - 100);
	sweep_region();
	close_queue();
}

/* Entries that are complete are one doorbell; one that is not holds back those behind it. */
static void one_doorbell_is_for_all(void **state)
{
	uint32_t ticket[4], syndrome;
	const struct gn_direct *d = &queue.view;

	(void)state;
	open_queue(0);
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(gn__direct_take(d, 0, &ticket[k]), 0);
	for (unsigned k = 0; k < 4; k++)
		if (k != 2)
			gn__direct_write_entry(d, ticket[k], GN_MLX5_RDMA_READ, 0, (uintptr_t)to, PIECE);
	gn__direct_turn(d);
	assert_int_equal(d->state->posted, 2);
	gn__direct_write_entry(d, ticket[2], GN_MLX5_RDMA_READ, 0, (uintptr_t)to, PIECE);
	assert_int_equal(d->state->posted, 2);
	gn__direct_turn(d);
	assert_int_equal(d->state->posted, 4);
	while (!gn__direct_poll(d, ticket[3], &syndrome))
		sched_yield();
	assert_int_equal(syndrome, 0);
	close_queue();
	assert_true(nic.rung >= 1 && nic.rung <= 2);
}

static void a_failure_stops_the_queue_pair(void **state)
{
	struct gn_store_status s;

	(void)state;
	open_queue(0);
	s = gn_direct_read(&queue.view, 0, to, PIECE, MINUTE_NS);
	assert_int_equal(s.code, 0);
	s = gn_direct_read(&queue.view, REGION - PIECE + 1, to, PIECE, MINUTE_NS);
	assert_int_equal(s.code, -GN_EIO);
	assert_int_equal(s.device, GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY);
	s = gn_direct_write(&queue.view, 0, from, PIECE, MINUTE_NS);
	assert_int_equal(s.code, -GN_EIO);
	assert_int_equal(s.device, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	close_queue();
}

static void statuses_are_those_of_verbs(void **state)
{
	(void)state;
	for (uint32_t syndrome = 1; syndrome < 256; syndrome++)
		assert_int_not_equal(gn__direct_status(syndrome), GN_NVME_OK);
	assert_int_equal(gn__direct_status(MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR),
	                 GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(gn__direct_status(MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR),
	                 GN_NVME_DATA_TRANSFER_ERROR | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(gn__direct_status(MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR),
	                 GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
}

/* A device that is silent: all end by their deadlines. What they left behind is cleared when it speaks again.
 */
static void silence_ends(void **state)
{
	(void)state;
	open_queue(0);
	simt_store_release_sys_u32(&nic.mute, 1);
	for (unsigned k = 0; k < ENTRIES + 2; k++)
		assert_int_equal(gn_direct_read(&queue.view, 0, to, PIECE, 1000000).code, -GN_ETIMEDOUT);
	assert_int_equal(queue.view.state->next, ENTRIES);
	simt_store_release_sys_u32(&nic.mute, 0);
	for (unsigned k = 0; k < 3 * ENTRIES; k++)
		assert_int_equal(gn_direct_read(&queue.view, 0, to, PIECE, MINUTE_NS).code, 0);
	close_queue();
}

static void refused(const char *why)
{
	struct gn_direct_queue q;

	assert_int_equal(gn_direct_open(&q, machine, &nic.qp, &nic.queue, &error), -GN_ENOTSUP);
	assert_non_null(strstr(error.text, why));
	gn_direct_close(&q);
}

static void other_devices_are_refused(void **state)
{
	(void)state;
	open_queue(0);
	cqe_count = ENTRIES / 2;
	refused("place for each entry");
	cqe_count = COMPLETIONS - 1;
	refused("place for each entry");
	supported = 0;
	refused("not one of mlx5");
	close_queue();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(many_threads_share_a_ring),
	    cmocka_unit_test(any_thread_may_be_late),
	    cmocka_unit_test(tickets_wrap_around),
	    cmocka_unit_test(one_doorbell_is_for_all),
	    cmocka_unit_test(a_failure_stops_the_queue_pair),
	    cmocka_unit_test(statuses_are_those_of_verbs),
	    cmocka_unit_test(silence_ends),
	    cmocka_unit_test(other_devices_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
