/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine of rdma: stores over a device that is faked below the verbs: what goes out in one call, which
 * bytes move, and what becomes of requests when a transfer fails, when the device is silent or when it takes
 * no more.
 */
#include <stdlib.h>
#include <string.h>

#include <grapnel/nvme.h>
#include <grapnel/simt.h>
#include <store/rdma/engine.h>

#include "unit.h"
#include "test_rdma_wrap.h"

enum { LANES = 2, DEPTH = 8, PIECES = 2, REGION = 65536, KEY = 0x1234, MEMORY_KEY = 77, POSTED = 256 };
#define ADDRESS 0x7000000000u

/* ---- the device ---- */

static struct {
	struct ibv_context verbs;
	struct ibv_cq cq;
	struct ibv_qp qp[LANES];
	struct ibv_mr mr;
	unsigned calls;
	unsigned takes; /* work requests, then it refuses */
	struct ibv_send_wr posted[POSTED];
	struct ibv_sge piece[POSTED][PIECES];
	unsigned count, completed; /* of posted */
	int mute;                  /* it completes nothing */
	enum ibv_wc_status fails;  /* how the next work request ends */
	char region[REGION];
} fake;

/* The engine makes a completion queue; the library would want a device for it. */
struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *verbs, int entries, void *context,
                                    struct ibv_comp_channel *channel, int vector)
{
	(void)context;
	(void)channel;
	(void)vector;
	assert_true(entries >= LANES * DEPTH);
	fake.cq.context = verbs;
	return &fake.cq;
}

int __wrap_ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, &fake.cq);
	return 0;
}

static int fake_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	fake.calls++;
	for (; wr; wr = wr->next) {
		struct ibv_send_wr *kept = &fake.posted[fake.count];

		if (!fake.takes--) {
			*bad = wr;
			return ENOMEM;
		}
		assert_true(fake.count < POSTED && wr->num_sge <= PIECES);
		*kept = *wr;
		memcpy(fake.piece[fake.count], wr->sg_list, (size_t)wr->num_sge * sizeof *wr->sg_list);
		kept->sg_list = fake.piece[fake.count++];
	}
	return 0;
}

static void carry_out(const struct ibv_send_wr *wr)
{
	char *at = fake.region + (wr->wr.rdma.remote_addr - ADDRESS);

	assert_int_equal(wr->wr.rdma.rkey, KEY);
	for (int k = 0; k < wr->num_sge; k++) {
		void *memory = (void *)(uintptr_t)wr->sg_list[k].addr;

		assert_int_equal(wr->sg_list[k].lkey, MEMORY_KEY);
		assert_true(at >= fake.region && at + wr->sg_list[k].length <= fake.region + REGION);
		if (wr->opcode == IBV_WR_RDMA_READ)
			memcpy(memory, at, wr->sg_list[k].length);
		else
			memcpy(at, memory, wr->sg_list[k].length);
		at += wr->sg_list[k].length;
	}
}

static int fake_poll(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	int n = 0;

	(void)cq;
	for (; n < most && fake.completed < fake.count && !fake.mute; n++) {
		const struct ibv_send_wr *wr = &fake.posted[fake.completed++];

		memset(&wc[n], 0, sizeof wc[n]);
		wc[n].wr_id = wr->wr_id;
		wc[n].status = fake.fails;
		if (fake.fails == IBV_WC_SUCCESS)
			carry_out(wr);
		else
			fake.mute = 1;
		fake.fails = IBV_WC_SUCCESS;
	}
	return n;
}

/* ---- an engine whose links are up ---- */

static struct gn_peer peer;
static struct gn_rdma_engine *engine;

static void connect_lane(unsigned k)
{
	struct gn_lane *lane = &engine->lane[k];

	fake.qp[k].context = &fake.verbs;
	lane->link.qp = &fake.qp[k];
	lane->link.address = ADDRESS;
	lane->link.key = KEY;
	lane->memory = &fake.mr;
	gn_link_rise(&lane->link);
}

static int open_engine(void **state)
{
	static const struct gn_rdma_address address = {"h", "1", "x"};

	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.takes = POSTED;
	fake.verbs.ops.post_send = fake_post;
	fake.verbs.ops.poll_cq = fake_poll;
	fake.mr.lkey = MEMORY_KEY;
	assert_int_equal(gn_peer_init(&peer, &address, 1000000000, 1000000000, NULL), 0);
	peer.verbs = &fake.verbs;
	peer.pieces = PIECES;
	peer.work = DEPTH;
	peer.entries = 3 * DEPTH;
	assert_int_equal(gn_rdma_engine_create(&engine, &peer, LANES, 1, 100 * DEPTH, NULL), 0);
	for (unsigned k = 0; k < LANES; k++)
		connect_lane(k);
	return 0;
}

static int close_engine(void **state)
{
	(void)state;
	for (unsigned k = 0; k < LANES; k++) {
		engine->lane[k].memory = NULL;
		engine->lane[k].link.state = GN_LINK_DOWN;
	}
	gn_rdma_engine_close(&engine->base);
	gn_peer_fini(&peer);
	return 0;
}

enum { REQUESTS = 32, BYTES = 512, SEGMENTS = 5 };

static struct gn_request request[REQUESTS];
static struct iovec segment[REQUESTS][SEGMENTS];
static char memory[REQUESTS][BYTES];

/* Start request k on a lane: 512 bytes at block k, in one piece. */
static struct gn_request *start(unsigned k, uint32_t lane, uint8_t opcode)
{
	struct gn_request *r = &request[k];

	memset(r, 0, sizeof *r);
	segment[k][0].iov_base = memory[k];
	segment[k][0].iov_len = BYTES;
	r->segment = segment[k];
	r->segments = 1;
	r->bytes = r->moved_bytes = BYTES;
	r->offset = (uint64_t)k * BYTES;
	r->opcode = opcode;
	r->port = lane;
	r->status = 0xffff;
	gn_rdma_engine_start(&engine->base, r);
	return r;
}

static unsigned take_finished(void)
{
	unsigned n = 0;

	while (gn_request_pop(&engine->base.finished))
		n++;
	return n;
}

static void turn(void)
{
	gn_rdma_engine_turn(&engine->base, 0);
}

static void requests_that_arrive_together_are_one_call(void **state)
{
	(void)state;
	for (unsigned k = 0; k < REGION; k++)
		fake.region[k] = (char)(k * 7);
	for (unsigned k = 0; k < 5; k++)
		start(k, 0, GN_NVME_READ);
	assert_int_equal(fake.calls, 0);
	turn();
	assert_int_equal(fake.calls, 1);
	assert_int_equal(fake.count, 5);
	assert_int_equal(engine->chains, 1);
	assert_int_equal(engine->posted, 5);
	assert_int_equal(take_finished(), 5);
	for (unsigned k = 0; k < 5; k++) {
		assert_int_equal(request[k].status, GN_NVME_OK);
		assert_memory_equal(memory[k], fake.region + k * BYTES, BYTES);
	}
}

static void each_lane_has_its_own_call(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 6; k++) {
		memset(memory[k], 'a' + (int)k, BYTES);
		start(k, k % 2, GN_NVME_WRITE);
	}
	turn();
	assert_int_equal(fake.calls, 2);
	assert_int_equal(take_finished(), 6);
	for (unsigned k = 0; k < 6; k++)
		assert_memory_equal(fake.region + k * BYTES, memory[k], BYTES);
}

static void no_more_than_the_depth_is_in_flight(void **state)
{
	(void)state;
	fake.mute = 1;
	for (unsigned k = 0; k < 20; k++)
		start(k, 0, GN_NVME_READ);
	turn();
	turn();
	assert_int_equal(fake.count, DEPTH);
	fake.mute = 0;
	for (unsigned k = 0; k < 3; k++)
		turn();
	assert_int_equal(fake.count, 20);
	assert_int_equal(take_finished(), 20);
	assert_int_equal(engine->lane[0].link.in_flight, 0);
}

/* The device takes two pieces in a work request: five pieces need three, one after the other. */
static void many_pieces_go_one_after_the_other(void **state)
{
	struct gn_request *r;

	(void)state;
	for (unsigned k = 0; k < REGION; k++)
		fake.region[k] = (char)(k * 11 + k / 256);
	r = start(3, 1, GN_NVME_READ);
	r->segments = SEGMENTS;
	for (unsigned k = 0; k < SEGMENTS; k++) {
		segment[3][k].iov_base = memory[10 + k];
		segment[3][k].iov_len = 100 + k;
	}
	r->bytes = r->moved_bytes = 510;
	for (unsigned k = 0; k < 3; k++)
		turn();
	assert_int_equal(fake.count, 3);
	assert_int_equal(take_finished(), 1);
	assert_int_equal(r->status, GN_NVME_OK);
	for (unsigned k = 0, at = 3 * BYTES; k < SEGMENTS; at += 100 + k, k++)
		assert_memory_equal(memory[10 + k], fake.region + at, 100 + k);
}

static void statuses_have_a_meaning(void **state)
{
	(void)state;
	assert_int_equal(gn_rdma_status(IBV_WC_SUCCESS), GN_NVME_OK);
	assert_int_equal(gn_rdma_status(IBV_WC_REM_ACCESS_ERR), GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(gn_rdma_status(IBV_WC_LOC_PROT_ERR),
	                 GN_NVME_DATA_TRANSFER_ERROR | GN_NVME_DO_NOT_RETRY);
	for (int k = IBV_WC_LOC_LEN_ERR; k <= IBV_WC_GENERAL_ERR; k++)
		assert_int_not_equal(gn_rdma_status((enum ibv_wc_status)k), GN_NVME_OK);
	assert_int_equal(gn_rdma_status(IBV_WC_RETRY_EXC_ERR), GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(gn_rdma_status(IBV_WC_WR_FLUSH_ERR), GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_string_equal(gn_nvme_status_text(GN_NVME_HOST_PATH), "connection to the device lost");
}

/* The first failure breaks the link. All requests end, and no completion of the old queue pair counts. */
static void a_failure_ends_all_on_the_link(void **state)
{
	(void)state;
	fake.fails = IBV_WC_REM_ACCESS_ERR;
	for (unsigned k = 0; k < 4; k++)
		start(k, 0, GN_NVME_READ);
	start(9, 1, GN_NVME_READ);
	turn();
	assert_int_equal(take_finished(), 4);
	assert_int_equal(request[0].status, GN_NVME_ACCESS_DENIED | GN_NVME_DO_NOT_RETRY);
	for (unsigned k = 1; k < 4; k++)
		assert_int_equal(request[k].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(engine->lane[0].link.state, GN_LINK_DOWN);
	assert_int_equal(engine->lane[1].link.state, GN_LINK_UP);
	start(5, 0, GN_NVME_READ);
	turn();
	assert_int_equal(take_finished(), 1);
	assert_int_equal(request[5].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	connect_lane(0);
	start(6, 0, GN_NVME_READ);
	fake.mute = 0;
	turn(); /* three late ones, that of the other lane, and the new one */
	assert_int_equal(take_finished(), 2);
	assert_int_equal(request[6].status, GN_NVME_OK);
	assert_int_equal(request[9].status, GN_NVME_OK);
	assert_int_equal(engine->lane[0].link.in_flight, 0);
}

static void silence_ends(void **state)
{
	const uint64_t began = simt_clock_ns();

	(void)state;
	peer.timeout_ns = 20000000;
	fake.mute = 1;
	for (unsigned k = 0; k < 20; k++)
		start(k, 0, GN_NVME_WRITE);
	while (!engine->base.finished.first)
		turn();
	turn();
	assert_true(simt_clock_ns() - began >= 20000000);
	assert_int_equal(take_finished(), 20);
	for (unsigned k = 0; k < 20; k++)
		assert_int_equal(request[k].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_non_null(strstr(peer.lost, "in time"));
}

static void what_the_device_does_not_take_fails(void **state)
{
	(void)state;
	fake.takes = 2;
	fake.mute = 1;
	for (unsigned k = 0; k < 5; k++)
		start(k, 0, GN_NVME_READ);
	turn();
	assert_int_equal(take_finished(), 5);
	assert_int_equal(fake.count, 2);
	for (unsigned k = 0; k < 5; k++)
		assert_int_equal(request[k].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(engine->lane[0].link.in_flight, 0);
	assert_int_equal(engine->lane[0].link.state, GN_LINK_DOWN);
}

/* Somebody else sees that the connection is lost, with nothing in flight and with something. */
static void others_may_break_a_link(void **state)
{
	(void)state;
	for (unsigned busy = 0; busy < 2; busy++) {
		struct gn_lane *lane = &engine->lane[busy];

		fake.mute = 1;
		if (busy) {
			start(busy, busy, GN_NVME_READ);
			turn();
		}
		pthread_mutex_lock(&lane->link.mutex);
		gn_link_break(&lane->link, "the first reason");
		gn_link_break(&lane->link, "the second reason");
		pthread_mutex_unlock(&lane->link.mutex);
		assert_string_equal(peer.lost, "the first reason");
		assert_int_equal(gn_lane_settle(engine, lane), !busy);
		turn();
		assert_int_equal(take_finished(), busy);
		assert_int_equal(gn_lane_settle(engine, lane), 1);
	}
}

/*
 * A write that was broken off may still land: no other link writes before the server has accepted the broken
 * one anew. Reads go on.
 */
static void no_newer_write_overtakes_a_broken_one(void **state)
{
	struct gn_link *link = &engine->lane[0].link;

	(void)state;
	fake.mute = 1;
	start(1, 0, GN_NVME_WRITE);
	start(2, 0, GN_NVME_READ);
	turn();
	pthread_mutex_lock(&link->mutex);
	gn_link_break(link, "the network is away");
	pthread_mutex_unlock(&link->mutex);
	turn();
	assert_int_equal(take_finished(), 2);
	start(3, 1, GN_NVME_WRITE);
	start(4, 1, GN_NVME_READ);
	fake.mute = 0;
	turn();
	assert_int_equal(take_finished(), 2);
	assert_int_equal(request[3].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
	assert_int_equal(request[4].status, GN_NVME_OK);
	connect_lane(0);
	start(5, 1, GN_NVME_WRITE);
	turn();
	assert_int_equal(take_finished(), 1);
	assert_int_equal(request[5].status, GN_NVME_OK);
}

/* Writes that have succeeded cannot land again, and reads change nothing. */
static void a_link_without_writes_leaves_no_doubt(void **state)
{
	struct gn_link *link = &engine->lane[0].link;

	(void)state;
	start(1, 0, GN_NVME_WRITE);
	turn();
	fake.mute = 1;
	start(2, 0, GN_NVME_READ);
	turn();
	pthread_mutex_lock(&link->mutex);
	gn_link_break(link, "the network is away");
	pthread_mutex_unlock(&link->mutex);
	turn();
	start(3, 1, GN_NVME_WRITE);
	fake.mute = 0;
	turn();
	assert_int_equal(take_finished(), 3);
	assert_int_equal(request[3].status, GN_NVME_OK);
}

/* A write that fails is in doubt before whoever waits for it can know that. */
static void a_write_that_fails_is_in_doubt(void **state)
{
	(void)state;
	fake.fails = IBV_WC_RETRY_EXC_ERR;
	start(1, 0, GN_NVME_WRITE);
	turn();
	assert_int_equal(take_finished(), 1);
	assert_true(gn_peer_is_in_doubt(&peer));
	start(2, 1, GN_NVME_WRITE);
	turn();
	assert_int_equal(take_finished(), 1);
	assert_int_equal(request[2].status, GN_NVME_HOST_PATH | GN_NVME_DO_NOT_RETRY);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_engine, close_engine)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(requests_that_arrive_together_are_one_call),
	    CASE(each_lane_has_its_own_call),
	    CASE(no_more_than_the_depth_is_in_flight),
	    CASE(many_pieces_go_one_after_the_other),
	    CASE(statuses_have_a_meaning),
	    CASE(a_failure_ends_all_on_the_link),
	    CASE(silence_ends),
	    CASE(what_the_device_does_not_take_fails),
	    CASE(others_may_break_a_link),
	    CASE(no_newer_write_overtakes_a_broken_one),
	    CASE(a_link_without_writes_leaves_no_doubt),
	    CASE(a_write_that_fails_is_in_doubt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
