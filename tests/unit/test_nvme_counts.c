/* SPDX-License-Identifier: Apache-2.0 */
/* What a drive's store has counted, and a drive that does not say what it counted. */
#include <store/nvme/counts.h>

#include "test_nvme_support.h"

static void expect_counts(const struct gn_store_statistics *got_all, uint64_t read_timeouts,
                          uint64_t write_timeouts, uint64_t resets)
{
	assert_int_equal(got_all->read_timeouts, read_timeouts);
	assert_int_equal(got_all->write_timeouts, write_timeouts);
	assert_int_equal(got_all->aborts, simt_load_acquire_sys_u32(&fake.aborts));
	assert_int_equal(got_all->resets, resets);
}

/* The drive's counters stand anywhere when the store is opened, and may wrap. */
static void counts(void **state)
{
	struct gn_store_statistics all;
	struct gn_counts c;

	(void)state;
	fake_open(&fake, &drive);
	open_watched(2, 100 * (uint64_t)SECOND);
	gn_counts_begin(&c, &drive);
	for (unsigned k = 0; k < 10; k++)
		assert_int_equal(gn_block_read(&block, k * 512, got, 512, &error), 0);
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(gn_block_write(&block, k * 512, model, 512, &error), 0);
	fake.sick_times = 2; /* once more than this one is tried */
	assert_int_equal(gn_block_read(&block, FAKE_SICK_BLOCK * 512, got, 512, &error), 0);
	fake.sick_times = 100;
	assert_int_equal(gn_block_read(&block, FAKE_SICK_BLOCK * 512, got, 512, &error), -GN_EIO);
	memset(&all, 0, sizeof all);
	gn_counts_get(&c, &block, &watch, &all);
	assert_int_equal(all.reads, 10 + 3 + 3);
	assert_int_equal(all.writes, 3);
	assert_int_equal(all.read_bytes, 512000 * (uint64_t)(10 + 3 + 3 + 3));
	assert_int_equal(all.written_bytes, 512000 * (uint64_t)3);
	assert_int_equal(all.retries, 2 + 2);
	assert_int_equal(all.failed, 1);
	expect_counts(&all, 0, 0, 0);
	close_block();
}

static void time_outs_are_counted(void **state)
{
	struct gn_store_statistics all;
	struct gn_counts c;

	(void)state;
	fake_open(&fake, &drive);
	fake.has_no_log = 1;
	open_watched(2, SECOND / 5);
	gn_counts_begin(&c, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&watch.resets, 1);
	gn_nvmeq_end(&block.host->q, take(&block.host->q)); /* the reset may still have the slots */
	assert_int_equal(gn_block_write(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&watch.resets, 2);
	memset(&all, 0, sizeof all);
	gn_counts_get(&c, &block, &watch, &all);
	assert_int_equal(all.failed, 2);
	assert_int_equal(all.reads + all.writes + all.read_bytes, 0);
	expect_counts(&all, 1, 1, 2);
	simt_store_release_sys_u32(&fake.loses, 0);
	close_block();
}

/* A drive that keeps the log to itself can be opened, used, reset and closed; it is asked once. */
static void silent_from_the_start(void **state)
{
	struct gn_store_statistics all;
	struct gn_counts c;

	(void)state;
	fake_open(&fake, &drive);
	fake.keeps_log = 1;
	drive.log_timeout_ns = SECOND / 50;
	open_block(2, SECOND / 5);
	gn_counts_begin(&c, &drive);
	assert_int_equal(c.has_log, 0);
	assert_int_equal(gn_drive_namespace_of(&drive, 1, &block.ns, &error), 0);
	simt_store_release_sys_u32(&fake.loses, 1);
	start_watch();
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&watch.resets, 1);
	memset(&all, 0, sizeof all);
	gn_counts_get(&c, &block, &watch, &all);
	assert_int_equal(all.reads, 0);
	assert_int_equal(simt_load_acquire_sys_u32(&fake.logs), 1);
	simt_store_release_sys_u32(&fake.loses, 0);
	close_block();
	assert_int_equal(drive.failed, 0);
}

/* One that falls silent later: what it said before is told, and other admin commands go on. */
static void silent_later(void **state)
{
	struct gn_store_statistics all;
	struct gn_counts c;
	int done;

	(void)state;
	fake_open(&fake, &drive);
	open_watched(2, 100 * (uint64_t)SECOND);
	gn_counts_begin(&c, &drive);
	assert_int_equal(gn_block_read(&block, 0, got, 512, &error), 0);
	memset(&all, 0, sizeof all);
	gn_counts_get(&c, &block, &watch, &all);
	assert_int_equal(all.reads, 1);
	simt_store_release_sys_u32(&fake.keeps_log, 1);
	drive.log_timeout_ns = SECOND / 50;
	for (unsigned k = 0; k < 100; k++) {
		memset(&all, 0, sizeof all);
		gn_counts_get(&c, &block, &watch, &all);
		assert_int_equal(all.reads, 1);
	}
	assert_true(simt_load_acquire_sys_u32(&fake.logs) <= 3);
	assert_int_equal(gn_drive_abort(&drive, 1, 1, 100 * (uint64_t)SECOND, &done, &error), 0);
	close_block();
}

/* A time-out is counted also when no Abort is sent for it: an earlier admin command was not answered. */
static void aborts_that_are_not_sent(void **state)
{
	struct gn_store_statistics all;
	struct gn_counts c;

	(void)state;
	fake_open(&fake, &drive);
	fake.has_no_log = 1;
	open_block(2, SECOND / 5);
	gn_counts_begin(&c, &drive);
	drive.mute = 1;
	start_watch();
	simt_store_release_sys_u32(&fake.loses, 1);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&watch.resets, 1);
	memset(&all, 0, sizeof all);
	gn_counts_get(&c, &block, &watch, &all);
	assert_int_equal(all.aborts, 0);
	expect_counts(&all, 1, 0, 1);
	simt_store_release_sys_u32(&fake.loses, 0);
	close_block();
}

static uint32_t asking;

static void *ask_often(void *user)
{
	struct gn_store_statistics all;

	while (simt_load_acquire_sys_u32(&asking))
		gn_counts_get((struct gn_counts *)user, &block, &watch, &all);
	return NULL;
}

/* What a reset does with the controller, in the thread of the test. */
static void reset_controller(void)
{
	uint32_t queues = 2;
	int rc;

	simt_store_release_dev_u32(&drive.resetting, 1);
	assert_int_equal(gn_drive_disable(&drive, &error), 0);
	assert_int_equal(gn_drive_enable(&drive, &error), 0);
	rc = gn_drive_ask_queues(&drive, &queues, &error);
	assert_int_equal(rc, 0);
	simt_store_release_dev_u32(&drive.resetting, 0);
}

/*
 * A drive is asked for its counters while it is reset: that rings no doorbell of a controller that is not
 * enabled, and the reset neither fails nor waits for an answer.
 */
static void asked_in_resets(uint32_t resets, uint32_t keeps_log)
{
	struct gn_counts c;
	uint64_t began;
	pthread_t thread;

	fake_open(&fake, &drive);
	drive.log_timeout_ns = 3000 * (uint64_t)SECOND;
	open_block(2, SECOND);
	gn_counts_begin(&c, &drive);
	assert_int_equal(c.has_log, 1);
	simt_store_release_sys_u32(&fake.keeps_log, keeps_log);
	simt_store_release_sys_u32(&asking, 1);
	pthread_create(&thread, NULL, ask_often, &c);
	began = simt_clock_ns();
	for (uint32_t k = 0; k < resets; k++) {
		if (keeps_log) /* one is on its way when the reset begins */
			await_word(&fake.logs, k + 2);
		reset_controller();
	}
	assert_true(simt_clock_ns() - began < 1000 * (uint64_t)SECOND);
	simt_store_release_sys_u32(&fake.keeps_log, 0);
	simt_store_release_dev_u32(&drive.resetting, 1); /* ends the last that is not answered */
	simt_store_release_sys_u32(&asking, 0);
	pthread_join(thread, NULL);
	simt_store_release_dev_u32(&drive.resetting, 0);
	assert_int_equal(fake.rung, 0);
	close_block();
}

static void counts_around_resets(void **state)
{
	(void)state;
	asked_in_resets(few_drawn(50, 1000), 0);
}

static void counts_end_for_resets(void **state)
{
	(void)state;
	asked_in_resets(few_drawn(5, 50), 1);
}

struct asker {
	struct gn_drive_log log;
	int rc;
	uint32_t over;
};

static void *ask_once(void *user)
{
	struct asker *a = (struct asker *)user;

	a->rc = gn_drive_log_counts(&drive, &a->log, NULL);
	simt_store_release_sys_u32(&a->over, 1);
	return NULL;
}

/* The drive is asked for its log, and does not answer before it is told to. */
static void keep_asking(struct asker *a, pthread_t *thread)
{
	memset(a, 0, sizeof *a);
	fake_open(&fake, &drive);
	fake.keeps_log = 1;
	drive.log_timeout_ns = 3000 * (uint64_t)SECOND;
	open_block(2, SECOND / 5);
	pthread_create(thread, NULL, ask_once, a);
	await_word(&fake.logs, 1);
}

static void end_asking(struct asker *a, pthread_t thread)
{
	assert_int_equal(simt_load_acquire_sys_u32(&a->over), 0);
	simt_store_release_dev_u32(&drive.resetting, 1);
	pthread_join(thread, NULL);
	assert_int_equal(a->rc, -GN_EBUSY);
	simt_store_release_dev_u32(&drive.resetting, 0);
	close_block();
}

/* Commands and their results do not wait for the log; more of them than the queue has entries. */
static void no_command_waits_for_the_log(void **state)
{
	struct asker a;
	pthread_t thread;
	int done;

	(void)state;
	keep_asking(&a, &thread);
	for (uint32_t k = 0; k < 100; k++) {
		uint32_t queues = 2;

		assert_int_equal(gn_drive_abort(&drive, 1, k, 1000 * (uint64_t)SECOND, &done, &error), 0);
		assert_int_equal(done, 0);
		assert_int_equal(gn_drive_ask_queues(&drive, &queues, &error), 0);
		assert_int_equal(queues, 2);
	}
	assert_int_equal(simt_load_acquire_sys_u32(&fake.aborts), 100);
	end_asking(&a, thread);
}

/* Also of a controller whose I/O queues may have two entries alone. */
static void small_queues_do_not_make_it_wait(void **state)
{
	uint64_t cap = 1 | 1u << 24 | (uint64_t)1 << 37;
	pthread_t thread;
	struct asker a;
	int done;

	(void)state;
	memset(&a, 0, sizeof a);
	fake_open(&fake, &drive);
	memcpy(fake.registers, &cap, sizeof cap);
	fake.keeps_log = 1;
	drive.log_timeout_ns = 3000 * (uint64_t)SECOND;
	assert_int_equal(gn_drive_open(&drive, &error), 0);
	pthread_create(&thread, NULL, ask_once, &a);
	await_word(&fake.logs, 1);
	assert_int_equal(gn_drive_abort(&drive, 1, 1, 1000 * (uint64_t)SECOND, &done, &error), 0);
	assert_int_equal(simt_load_acquire_sys_u32(&a.over), 0);
	simt_store_release_dev_u32(&drive.resetting, 1);
	pthread_join(thread, NULL);
	simt_store_release_dev_u32(&drive.resetting, 0);
	fake_close(&fake, &drive);
}

/* A command that is lost is aborted while the drive keeps its log to itself, and the store is reset in time.
 */
static void a_lost_command_is_aborted_meanwhile(void **state)
{
	struct asker a;
	pthread_t thread;

	(void)state;
	keep_asking(&a, &thread);
	start_watch();
	simt_store_release_sys_u32(&fake.loses, 1);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&fake.aborts, 1);
	await_word(&watch.resets, 1);
	pthread_join(thread, NULL); /* the reset ended it */
	assert_int_equal(a.rc, -GN_EBUSY);
	simt_store_release_sys_u32(&fake.loses, 0);
	close_block();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts),
	    cmocka_unit_test(time_outs_are_counted),
	    cmocka_unit_test(aborts_that_are_not_sent),
	    cmocka_unit_test(silent_from_the_start),
	    cmocka_unit_test(silent_later),
	    cmocka_unit_test(counts_around_resets),
	    cmocka_unit_test(counts_end_for_resets),
	    cmocka_unit_test(no_command_waits_for_the_log),
	    cmocka_unit_test(small_queues_do_not_make_it_wait),
	    cmocka_unit_test(a_lost_command_is_aborted_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
