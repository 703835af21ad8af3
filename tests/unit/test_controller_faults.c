/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller that misbehaves by plan: every wait ends, with the right code, and no bytes are passed off as
 * good.
 */
#include <time.h>

#include "test_store_support.h"

enum { CERTAIN = 1000000, BLOCK = 512, DEPTH = 8 };
#define MS ((uint64_t)1000000)

/* What is to come has as long as the test may take: no slow machine fails it. */
enum { PATIENCE_MS = 1000000 };

static void sleep_ms(unsigned ms)
{
	const struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&pause, NULL);
}

/* One queue of 8 over a megabyte. Returns the queue pair. */
static const struct gn_nvmeq *open_with(struct store_test *t, const struct gn_fault_plan *plan)
{
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.faults = plan;
	options.transfer_bytes = 4096;
	needs_cpu(t);
	open_uri(t, "memq:1M?queues=1&depth=8&timeout=1000", &options);
	return gn_store_view_of(t->store)->queue;
}

static struct gn_fault_plan plan_of(uint64_t seed)
{
	struct gn_fault_plan plan;

	memset(&plan, 0, sizeof plan);
	plan.seed = seed;
	return plan;
}

/* One command from begin to end, in so many milliseconds. Returns what wait did. */
static int command_within(const struct gn_nvmeq *q, unsigned ms, uint32_t opcode, uint64_t lba,
                          uint32_t blocks, unsigned char fill, uint32_t *status)
{
	uint64_t deadline = simt_clock_ns() + ms * MS;
	uint32_t cid;
	int rc = gn_nvmeq_begin(q, deadline, &cid);

	if (rc)
		return rc;
	memset(gn_nvmeq_buffer(q, cid), fill, blocks * BLOCK);
	assert_int_equal(gn_nvmeq_post(q, cid, opcode, lba, blocks), 0);
	rc = gn_nvmeq_wait(q, cid, deadline, status);
	if (rc != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return rc;
}

/* One that is to be answered, however busy the machine is. */
static int command(const struct gn_nvmeq *q, uint32_t opcode, uint64_t lba, uint32_t blocks,
                   unsigned char fill, uint32_t *status)
{
	return command_within(q, PATIENCE_MS, opcode, lba, blocks, fill, status);
}

/* A write whose completion is not to come in time. */
static void write_in_vain(const struct gn_nvmeq *q, uint64_t lba, uint32_t blocks)
{
	uint32_t status;

	assert_int_equal(command_within(q, 20, GN_NVME_WRITE, lba, blocks, 0xaa, &status), -GN_ETIMEDOUT);
}

/* Are all depth - 1 slots to be had? */
static void assert_slots_are_back(const struct gn_nvmeq *q)
{
	uint32_t cid[DEPTH];

	for (unsigned k = 0; k < DEPTH - 1; k++)
		assert_int_equal(gn_nvmeq_begin(q, simt_clock_ns() + PATIENCE_MS * MS, &cid[k]), 0);
	for (unsigned k = 0; k < DEPTH - 1; k++)
		gn_nvmeq_end(q, cid[k]);
}

/* Reap until a counter of the queue has a value. */
static void reap_until(const struct gn_nvmeq *q, const uint32_t *counter, uint32_t value)
{
	uint64_t give_up = simt_clock_ns() + PATIENCE_MS * MS;

	while (*counter != value && simt_clock_ns() < give_up)
		if (!gn_nvmeq_reap(q))
			sleep_ms(1);
	assert_int_equal(*counter, value);
}

static void assert_filled(struct store_test *t, uint64_t offset, size_t bytes, unsigned char fill)
{
	unsigned char content[4096];

	assert_int_equal(gn_store_read_host(t->store, offset, content, bytes, &t->error), 0);
	for (size_t k = 0; k < bytes; k++)
		assert_int_equal(content[k], fill);
}

static void no_plan_no_fault(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(1);
	const struct gn_nvmeq *q = open_with(t, &plan);
	uint32_t status;

	for (unsigned k = 0; k < 1000; k++)
		assert_int_equal(command(q, k % 2 ? GN_NVME_READ : GN_NVME_WRITE, k % 256 * 8, 8, 1, &status),
		                 0);
	assert_int_equal(q->state->strays, 0);
}

static void failed_commands_are_not_executed(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(2);
	struct gn_store_statistics count;
	const struct gn_nvmeq *q;
	uint32_t status;

	plan.fail_ppm = CERTAIN;
	q = open_with(t, &plan);
	assert_int_equal(command(q, GN_NVME_WRITE, 0, 8, 0xaa, &status), -GN_EIO);
	assert_int_equal(status, GN_NVME_WRITE_FAULT);
	assert_filled(t, 0, 4096, 0);
	assert_int_equal(command(q, GN_NVME_READ, 0, 8, 0, &status), -GN_EIO);
	assert_int_equal(status, GN_NVME_UNRECOVERED_READ);
	gn_store_get_statistics(t->store, &count);
	assert_int_equal(count.failed, 2);
	assert_int_equal(count.writes + count.reads, 0);
	close_store(t);
	plan.fail_status = GN_NVME_CAPACITY_EXCEEDED;
	q = open_with(t, &plan);
	assert_int_equal(command(q, GN_NVME_WRITE, 0, 8, 0xaa, &status), -GN_ENOSPC);
	assert_int_equal(status, GN_NVME_CAPACITY_EXCEEDED);
	assert_slots_are_back(q);
}

static void reads_may_be_spared(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(3);
	const struct gn_nvmeq *q;
	uint32_t status;

	plan.fail_ppm = CERTAIN;
	plan.writes_only = 1;
	q = open_with(t, &plan);
	assert_int_equal(command(q, GN_NVME_READ, 0, 8, 0, &status), 0);
	assert_int_equal(command(q, GN_NVME_WRITE, 0, 8, 0, &status), -GN_EIO);
}

static void torn_transfers_are_reported(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(4);
	const struct gn_nvmeq *q;
	uint32_t status;

	plan.torn_ppm = CERTAIN;
	q = open_with(t, &plan);
	assert_int_equal(command(q, GN_NVME_WRITE, 8, 8, 0xaa, &status), -GN_EIO);
	assert_int_equal(status, GN_NVME_DATA_TRANSFER_ERROR);
	assert_filled(t, 4096, 2048, 0xaa);
	assert_filled(t, 4096 + 2048, 2048, 0);
	assert_int_equal(command(q, GN_NVME_READ, 8, 1, 0, &status), -GN_EIO);
	assert_int_equal(status, GN_NVME_DATA_TRANSFER_ERROR);
	assert_slots_are_back(q);
}

static void duplicates_are_strays(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(5);
	const struct gn_nvmeq *q;
	uint32_t status;

	plan.duplicate_ppm = CERTAIN;
	q = open_with(t, &plan);
	for (unsigned k = 0; k < 100; k++)
		assert_int_equal(command(q, GN_NVME_WRITE, k, 1, (unsigned char)k, &status), 0);
	reap_until(q, &q->state->strays, 100);
	for (unsigned k = 0; k < 100; k++)
		assert_filled(t, k * BLOCK, BLOCK, (unsigned char)k);
	assert_slots_are_back(q);
}

static void dropped_completions_time_out(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *view;
	struct gn_fault_plan plan = plan_of(6);
	const struct gn_nvmeq *q;
	char bytes[16] = "sixteen letters";
	uint32_t status;

	plan.drop_ppm = CERTAIN;
	plan.writes_only = 1;
	q = open_with(t, &plan);
	view = gn_store_view_of(t->store);
	write_in_vain(q, 16, 8);
	assert_int_equal(q->state->abandoned, 1);
	assert_int_equal(gn_store_write_thread(view, 16 * BLOCK, bytes, 16).code, -GN_EBUSY);
	assert_int_equal(gn_store_write_thread(view, 24 * BLOCK - 16, bytes, 16).code, -GN_EBUSY);
	assert_int_equal(command(q, GN_NVME_READ, 0, 1, 0, &status), 0);
	assert_filled(t, 16 * BLOCK, 4096, 0xaa); /* the write before that read was executed */
	assert_int_equal(gn_store_write_thread(view, 24 * BLOCK, bytes, 16).code, -GN_ETIMEDOUT);
	/* Slots whose completion never comes are gone; when the last is, begin says so. */
	for (unsigned k = 2; k < DEPTH - 1; k++)
		write_in_vain(q, 32 + k, 1);
	assert_int_equal(q->state->abandoned, DEPTH - 1);
	assert_int_equal(gn_store_read_thread(view, 0, bytes, 16).code, -GN_ETIMEDOUT);
	close_store(t);
}

static void late_completions_give_slots_back(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *view;
	struct gn_fault_plan plan = plan_of(7);
	const struct gn_nvmeq *q;
	char bytes[16] = "sixteen letters";

	plan.delay_ppm = CERTAIN;
	plan.delay_us = 3000000; /* the store waits for a second */
	plan.writes_only = 1;
	q = open_with(t, &plan);
	view = gn_store_view_of(t->store);
	for (unsigned k = 0; k < 3; k++)
		write_in_vain(q, k * 8, 8);
	assert_int_equal(q->state->abandoned_writes, 3);
	assert_int_equal(gn_store_write_thread(view, 512, bytes, 16).code, -GN_EBUSY);
	assert_int_equal(gn_nvmeq_write_hazard(q, 24, 1), 0);
	reap_until(q, &q->state->abandoned, 0);
	assert_int_equal(q->state->abandoned_writes, 0);
	assert_int_equal(q->state->strays, 0);
	assert_int_equal(gn_nvmeq_write_hazard(q, 0, 24), 0);
	assert_slots_are_back(q);
	/* The next one is late again, but it is tried. */
	assert_int_equal(gn_store_write_thread(view, 512, bytes, 16).code, -GN_ETIMEDOUT);
}

static void short_delays_only_take_time(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(8);
	const struct gn_nvmeq *q;
	uint32_t status;
	uint64_t begin;

	plan.delay_ppm = CERTAIN;
	plan.delay_us = 2000;
	q = open_with(t, &plan);
	begin = simt_clock_ns();
	for (unsigned k = 0; k < 10; k++)
		assert_int_equal(command(q, GN_NVME_READ, k, 1, 0, &status), 0);
	assert_true(simt_clock_ns() - begin >= 20 * MS);
}

/*
 * Post a queue full of writes at once, then wait for each; remember in which order completions lay in the
 * queue.
 */
static unsigned write_at_once(const struct gn_nvmeq *q, unsigned round)
{
	uint32_t cid[DEPTH], first = q->state->head, status;
	unsigned displaced = 0;

	for (unsigned k = 0; k < DEPTH - 1; k++) {
		assert_int_equal(gn_nvmeq_begin(q, UINT64_MAX, &cid[k]), 0);
		memset(gn_nvmeq_buffer(q, cid[k]), (int)(round + k), BLOCK);
		assert_int_equal(gn_nvmeq_post(q, cid[k], GN_NVME_WRITE, k, 1), 0);
	}
	for (unsigned k = 0; k < DEPTH - 1; k++)
		assert_int_equal(gn_nvmeq_wait(q, cid[k], simt_clock_ns() + PATIENCE_MS * MS, &status), 0);
	for (unsigned k = 0; k < DEPTH - 1; k++) {
		displaced += q->cq[(first + k) & (DEPTH - 1)].cid != (cid[k] & 0xffff);
		gn_nvmeq_end(q, cid[k]);
	}
	return displaced;
}

static void reordered_completions_reach_their_commands(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_fault_plan plan = plan_of(9);
	const struct gn_nvmeq *q;
	unsigned displaced = 0;

	plan.reorder_ppm = CERTAIN / 3;
	q = open_with(t, &plan);
	for (unsigned round = 0; round < 100; round++) {
		displaced += write_at_once(q, round);
		for (unsigned k = 0; k < DEPTH - 1; k++)
			assert_filled(t, k * BLOCK, BLOCK, (unsigned char)(round + k));
	}
	assert_true(displaced > 100);
	assert_int_equal(q->state->strays, 0);
}

static uint64_t outcomes(struct store_test *t, uint64_t seed)
{
	struct gn_fault_plan plan = plan_of(seed);
	uint64_t all = 0;
	const struct gn_nvmeq *q;
	uint32_t status;

	plan.fail_ppm = CERTAIN / 2;
	q = open_with(t, &plan);
	for (unsigned k = 0; k < 64; k++)
		all = all << 1 | !!command(q, GN_NVME_READ, k, 1, 0, &status);
	close_store(t);
	return all;
}

static void a_seed_repeats_its_faults(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	uint64_t first = outcomes(t, 10);

	assert_int_equal(outcomes(t, 10), first);
	assert_int_not_equal(outcomes(t, 11), first);
	assert_int_not_equal(first, 0);
	assert_int_not_equal(~first, 0);
}

/* Many threads, each with pages of its own, under all faults at once. */
struct storm {
	struct gn_store_view store;
	uint32_t *count; /* by what came of a transfer: STORM_* */
	char *buffer;    /* two pages a thread */
	uint32_t rounds;
};

enum {
	STORM_GOOD,
	STORM_FAILED,
	STORM_LATE,
	STORM_BUSY,
	STORM_ODD,
	STORM_LIES,
	STORM_KINDS,
	STORM_PAGE = 1024
};

SIMT_FN uint32_t storm_kind(struct gn_store_status s)
{
	return !s.code                         ? STORM_GOOD
	       : s.code == -GN_EIO && s.device ? STORM_FAILED
	       : s.code == -GN_ETIMEDOUT       ? STORM_LATE
	       : s.code == -GN_EBUSY           ? STORM_BUSY
	                                       : STORM_ODD;
}

SIMT_FN void storm_thread(const struct storm *a)
{
	uint64_t me = simt_global_thread(), at = me * STORM_PAGE;
	char *page = a->buffer + me * 2 * STORM_PAGE, *got = page + STORM_PAGE;

	for (uint32_t round = 1; round <= a->rounds; round++) {
		struct gn_store_status put, fetch;
		uint32_t differ = 0;

		for (uint32_t k = 0; k < STORM_PAGE; k++)
			page[k] = (char)byte_of(at + k, round);
		put = gn_store_write_warp(&a->store, 1u << simt_lane(), 1, at, page, STORM_PAGE);
		fetch = gn_store_read_warp(&a->store, 1u << simt_lane(), 1, at, got, STORM_PAGE);
		simt_add_relaxed_dev_u32(&a->count[storm_kind(put)], 1);
		simt_add_relaxed_dev_u32(&a->count[storm_kind(fetch)], 1);
		/* What was put and fetched without an error is what it was, in every byte. */
		for (uint32_t k = 0; k < STORM_PAGE; k++)
			differ += page[k] != got[k];
		if (!put.code && !fetch.code && differ)
			simt_add_relaxed_dev_u32(&a->count[STORM_LIES], 1);
	}
}
SIMT_KERNEL(storm_thread, struct storm)

static void run_storm(struct store_test *t, uint64_t seed, uint32_t count[STORM_KINDS])
{
	struct simt_grid grid = {4, 64, 0};
	struct gn_fault_plan plan = plan_of(seed);
	struct gn_store_options options;
	uint32_t counted[STORM_KINDS];
	struct storm a;

	plan.delay_ppm = 20000;
	plan.delay_us = seed % 2 ? 100 : 30000;
	plan.reorder_ppm = 50000;
	plan.drop_ppm = 300;
	plan.duplicate_ppm = 50000;
	plan.fail_ppm = 20000;
	plan.torn_ppm = 20000;
	memset(&options, 0, sizeof options);
	options.faults = &plan;
	options.queue_start = UINT32_MAX;
	open_uri(t, "memq:1M?queues=2&depth=64&timeout=30", &options);
	memset(&a, 0, sizeof a);
	a.store = *gn_store_view_of(t->store);
	a.rounds = 20;
	a.buffer = (char *)simt_alloc(t->machine, 256 * 2 * STORM_PAGE, SIMT_DEVICE, &t->error);
	a.count = (uint32_t *)simt_alloc(t->machine, STORM_KINDS * 4, SIMT_DEVICE, &t->error);
	assert_int_equal(simt_launch(t->machine, &storm_thread_kernel, grid, &a, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	assert_int_equal(simt_move(t->machine, counted, a.count, sizeof counted, &t->error), 0);
	for (unsigned k = 0; k < STORM_KINDS; k++)
		count[k] += counted[k];
	simt_free(t->machine, a.buffer);
	simt_free(t->machine, a.count);
	close_store(t);
}

static void nothing_hangs_or_lies_in_a_storm(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	uint32_t count[STORM_KINDS] = {0};

	for (uint64_t seed = 1; seed <= 6; seed++)
		run_storm(t, seed, count);
	print_message("good %u failed %u late %u busy %u\n", count[STORM_GOOD], count[STORM_FAILED],
	              count[STORM_LATE], count[STORM_BUSY]);
	assert_int_equal(count[STORM_LIES], 0);
	assert_int_equal(count[STORM_ODD], 0);
	assert_true(count[STORM_GOOD] > 10000);
	assert_true(count[STORM_FAILED] > 500);
	assert_true(count[STORM_LATE] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(no_plan_no_fault),
	    store_case(failed_commands_are_not_executed),
	    store_case(reads_may_be_spared),
	    store_case(torn_transfers_are_reported),
	    store_case(duplicates_are_strays),
	    store_case(dropped_completions_time_out),
	    store_case(late_completions_give_slots_back),
	    store_case(short_delays_only_take_time),
	    store_case(reordered_completions_reach_their_commands),
	    store_case(a_seed_repeats_its_faults),
	    store_case(nothing_hangs_or_lies_in_a_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
