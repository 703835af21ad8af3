/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that looks after a drive: commands that are lost, resets, and the end of a controller. */
#include <time.h>

#include "test_nvme_support.h"

/* ---- commands that are lost ---- */

/* A command is lost: it is aborted, which does not help, and after a reset the store goes on. */
static void lost_command(void **state)
{
	int rc;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_watched(2, SECOND / 5);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&watch.resets, 1);
	simt_store_release_sys_u32(&fake.loses, 0);
	block.timeout_ns = 60 * (uint64_t)SECOND;
	for (unsigned k = 0; k < 200; k++) { /* more than there are slots, and rounds of the queue */
		memset(model, (int)k, 512);
		rc = gn_block_write(&block, FAKE_LOST_BLOCK * 512, model, 512, &error);
		assert_int_equal(rc, 0);
		assert_memory_equal(fake.medium + FAKE_LOST_BLOCK * 512, model, 512);
	}
	assert_int_equal(fake.starts, 2);
	assert_int_equal(fake.aborts, 1);
	assert_int_equal(block.host->q.state->abandoned, 0);
	close_block();
}

/* A controller that cannot be stopped: the store fails, and says so at once. */
static void reset_fails(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	open_watched(2, SECOND / 5);
	simt_store_release_sys_u32(&fake.loses, 1);
	simt_store_release_sys_u32(&fake.never_stops, 1);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	await_word(&drive.failed, 1);
	assert_int_equal(gn_block_read(&block, 0, got, 512, &error), -GN_ETIMEDOUT);
	assert_non_null(strstr(error.text, "did not stop"));
	simt_store_release_sys_u32(&fake.never_stops, 0);
	close_block();
}

/* Commands of threads that wait end when the controller is gone, long before their deadline. */
static void gone_under_load(void **state)
{
	const struct gn_nvmeq *q;
	uint64_t deadline = simt_clock_ns() + 1000 * (uint64_t)SECOND;
	uint32_t cid[63], status;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_watched(2, 1000 * (uint64_t)SECOND);
	q = &block.pair[0].q;
	for (unsigned round = 0; round < 3; round++) { /* those who come later, too */
		for (unsigned k = 0; k < 63; k++) {
			assert_int_equal(gn_nvmeq_begin(q, deadline, &cid[k]), 0);
			assert_int_equal(gn_nvmeq_post(q, cid[k], GN_NVME_READ, FAKE_LOST_BLOCK, 1), 0);
		}
		if (!round)
			simt_store_release_sys_u32(&fake.vanishes, 1);
		for (unsigned k = 0; k < 63; k++) {
			assert_int_equal(gn_nvmeq_wait(q, cid[k], deadline, &status), -GN_EIO);
			assert_int_equal(status, GN_NVME_HOST_ABORTED);
			gn_nvmeq_end(q, cid[k]);
		}
	}
	assert_int_equal(gn_block_read(&block, 0, got, 512, &error), -GN_ENODEV);
	assert_non_null(strstr(error.text, "gone"));
	close_block();
}

/* A controller that does not answer Abort is reset after the first, whatever other admin commands may take.
 */
static void mute(void **state)
{
	const struct gn_nvmeq *q;
	uint64_t began;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	simt_store_release_sys_u32(&fake.mute, 1);
	drive.timeout_ns = 300 * (uint64_t)SECOND;
	open_block(2, SECOND);
	q = &block.pair[0].q;
	for (unsigned k = 0; k < 40; k++)
		lose(q, take(q), GN_NVME_READ, 1);
	start_watch();
	await_word(&watch.resets, 1);
	assert_int_equal(simt_load_acquire_sys_u32(&fake.aborts), 1);
	await_word(&fake.starts, 2);
	lose(q, take(q), GN_NVME_READ, 1);
	await_word(&fake.aborts, 2);
	began = simt_clock_ns();
	close_block(); /* does not wait for it, nor for admin commands after it */
	assert_true(simt_clock_ns() - began < 100 * (uint64_t)SECOND);
}

/* Commands that are lost again under the same ids, after a reset, are aborted and answered again. */
static void lost_again(void **state)
{
	const struct gn_nvmeq *q;
	uint32_t cid[63], now[63], aborts;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_block(2, SECOND);
	q = &block.host->q;
	for (unsigned k = 0; k < 63; k++)
		cid[k] = take(q);
	for (unsigned k = 0; k < 63; k++)
		lose(q, cid[k], GN_NVME_READ, 1);
	start_watch();
	await_word(&watch.resets, 1);
	for (unsigned k = 0; k < 63; k++)
		now[k] = take(q);
	aborts = simt_load_acquire_sys_u32(&fake.aborts);
	for (unsigned k = 0; k < 63; k++) { /* as after a whole round of generations */
		simt_store_release_dev_u64(&q->slot[cid[k] & 63].word,
		                           gn__nvmeq_word(cid[k], GN__NVMEQ_IDLE, 0));
		assert_true(now[k] != cid[k]);
	}
	for (unsigned k = 0; k < 63; k++)
		lose(q, cid[k], GN_NVME_READ, 1);
	await_word(&watch.resets, 2);
	for (unsigned k = 0; k < 63; k++)
		now[k] = take(q);
	assert_int_equal(simt_load_acquire_sys_u32(&drive.failed), 0);
	assert_true(simt_load_acquire_sys_u32(&fake.aborts) > aborts);
	for (unsigned k = 0; k < 63; k++)
		gn_nvmeq_end(q, now[k]);
	close_block();
}

/* A healthy controller whose commands all come a little late is not reset. */
static void late_not_lost(void **state)
{
	const uint64_t began = simt_clock_ns();
	const struct gn_nvmeq *q;
	uint64_t posted = began, slowest = 0;
	uint32_t count = 0, resets;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_watched(2, SECOND);
	q = &block.pair[0].q;
	lose(q, take(q), GN_NVME_READ, 1);
	while (simt_clock_ns() - began < 5 * (uint64_t)SECOND / 2) { /* always one or two */
		const uint64_t now = simt_clock_ns();
		struct timespec pause = {0, 20000000};

		lose(q, take(q), GN_NVME_READ, 1);
		simt_store_release_sys_u32(&fake.recalls, ++count);
		while (simt_load_acquire_dev_u32(&q->state->abandoned) > 1 && simt_clock_ns() - now < SECOND)
			gn_nvmeq_reap(q);
		slowest = simt_clock_ns() - posted > slowest ? simt_clock_ns() - posted : slowest;
		posted = now;
		nanosleep(&pause, NULL);
	}
	resets = simt_load_acquire_sys_u32(&watch.resets);
	slowest = simt_clock_ns() - posted > slowest ? simt_clock_ns() - posted : slowest;
	if (slowest < SECOND / 2) /* this test was late itself otherwise */
		assert_int_equal(resets, 0);
	simt_store_release_sys_u32(&fake.loses, 0);
	close_block();
}

/* ---- the end of a controller ---- */

static uint32_t want, releases, refusals;

static int is_wanted(void *user)
{
	(void)user;
	return simt_cas_acq_rel_dev_u32(&want, 1, 0) == 1; /* as an eventfd: once */
}

static int release(void *user)
{
	(void)user;
	if (refusals) {
		refusals--;
		return -GN_ENOMEM;
	}
	simt_add_acq_rel_dev_u32(&releases, 1);
	return 0;
}

static void open_wanted(uint64_t timeout_ns, uint64_t finish_ns)
{
	want = releases = refusals = 0;
	open_block(2, timeout_ns);
	watch.block = &block;
	watch.wanted = is_wanted;
	watch.release = release;
	watch.finish_ns = finish_ns;
	assert_int_equal(gn_watch_start(&watch, drive.host, &error), 0);
}

/* A device is given back also when the store has failed before, and tried again until it is. */
static void wanted_after_failure(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	open_wanted(SECOND, SECOND / 100);
	simt_store_release_sys_u32(&fake.vanishes, 1);
	await_word(&drive.failed, 1);
	refusals = 3;
	simt_store_release_sys_u32(&want, 1);
	await_word(&releases, 1);
	assert_int_equal(refusals, 0);
	close_block();
	assert_int_equal(releases, 1);
}

static void use_all(const struct gn_nvmeq *q, uint32_t rounds)
{
	const uint64_t deadline = simt_clock_ns() + 1000 * (uint64_t)SECOND;
	uint32_t status;

	for (unsigned k = 0; k < rounds; k++) {
		uint32_t cid = take(q);

		assert_int_equal(gn_nvmeq_post(q, cid, GN_NVME_READ, 1, 1), 0);
		assert_int_equal(gn_nvmeq_wait(q, cid, deadline, &status), -GN_EIO);
		assert_int_equal(status, GN_NVME_HOST_ABORTED);
		gn_nvmeq_end(q, cid);
	}
}

static void expect_silence(void)
{
	for (unsigned k = 2; k < 2 * FAKE_QUEUES; k++) /* those of the admin queue are the host's own */
		assert_int_equal(fake_get(&fake, GN_REG_DOORBELLS + 4 * k), 0);
}

/* Nobody rings a doorbell of a controller that was disabled: after a failure, and during a reset. */
static void no_doorbells_when_failed(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	open_wanted(SECOND, SECOND / 100);
	simt_store_release_sys_u32(&want, 1);
	await_word(&releases, 1);
	use_all(&block.pair[0].q, 100);
	expect_silence();
	close_block();
}

static void no_doorbells_in_reset(void **state)
{
	const struct gn_nvmeq *q;
	uint32_t cid, status;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_watched(2, SECOND);
	q = &block.pair[0].q;
	cid = take(q);
	lose(&block.host->q, take(&block.host->q), GN_NVME_READ, 1);
	while (simt_load_acquire_sys_u32(&drive.changes) < 3) /* enabled, and disabled by the reset */
		sched_yield();
	while (fake_get(&fake, GN_REG_CSTS))
		sched_yield();
	assert_int_equal(gn_nvmeq_post(q, cid, GN_NVME_READ, 1, 1), 0);
	assert_int_equal(gn_nvmeq_wait(q, cid, simt_clock_ns() + 1000 * (uint64_t)SECOND, &status), -GN_EIO);
	expect_silence(); /* the reset cannot go on: this thread has a slot */
	gn_nvmeq_end(q, cid);
	await_word(&watch.resets, 1);
	close_block();
}

/*
 * A drive that is wanted ends what it was told to do, with its own answers, and is shut down before it is
 * given back.
 */
static void finishes_first(void **state)
{
	const uint64_t deadline = simt_clock_ns() + 1000 * (uint64_t)SECOND;
	uint32_t cid[20], status;
	const struct gn_nvmeq *q;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_wanted(1000 * (uint64_t)SECOND, 1000 * (uint64_t)SECOND);
	q = &block.pair[1].q;
	for (unsigned k = 0; k < 20; k++) {
		cid[k] = take(q);
		assert_int_equal(gn_nvmeq_post(q, cid[k], GN_NVME_READ, FAKE_LOST_BLOCK, 1), 0);
	}
	simt_store_release_sys_u32(&want, 1);
	await_word(&drive.failed, 1);
	assert_int_equal(simt_load_acquire_sys_u32(&releases), 0);
	assert_int_equal(gn_nvmeq_poll(q, cid[19], deadline, &status), -GN_EAGAIN);
	simt_store_release_sys_u32(&fake.recalls, 20);
	for (unsigned k = 0; k < 20; k++) {
		assert_int_equal(gn_nvmeq_wait(q, cid[k], deadline, &status), 0);
		gn_nvmeq_end(q, cid[k]);
	}
	await_word(&releases, 1);
	assert_int_equal(fake.shutdowns, 1);
	use_all(q, 100);
	expect_silence();
	close_block();
	assert_int_equal(fake.shutdowns, 1);
}

/* A controller that cannot be stopped is cut off from memory before its commands are completed. */
static void cut_off_first(void **state)
{
	const uint64_t deadline = simt_clock_ns() + 1000 * (uint64_t)SECOND;
	const struct gn_nvmeq *q;
	uint32_t cid, status, cuts;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	simt_store_release_sys_u32(&fake.never_stops, 1);
	simt_store_release_sys_u32(&fake.refuses_cut, 1);
	open_wanted(SECOND, SECOND / 100);
	refusals = UINT32_MAX;
	q = &block.pair[0].q;
	cid = take(q);
	assert_int_equal(gn_nvmeq_post(q, cid, GN_NVME_READ, FAKE_LOST_BLOCK, 1), 0);
	simt_store_release_sys_u32(&want, 1);
	await_word(&drive.failed, 1);
	cuts = simt_load_acquire_sys_u32(&fake.cuts);
	await_word(&fake.cuts, cuts + 3); /* two looks have ended without */
	assert_int_equal(gn_nvmeq_poll(q, cid, deadline, &status), -GN_EAGAIN);
	simt_store_release_sys_u32(&fake.refuses_cut, 0);
	assert_int_equal(gn_nvmeq_wait(q, cid, deadline, &status), -GN_EIO);
	assert_int_equal(status, GN_NVME_HOST_ABORTED);
	assert_int_equal(simt_load_acquire_sys_u32(&fake.is_cut), 1);
	gn_nvmeq_end(q, cid);
	gn_watch_stop(&watch);
	simt_store_release_sys_u32(&fake.never_stops, 0);
	close_block();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lost_command),
	    cmocka_unit_test(reset_fails),
	    cmocka_unit_test(gone_under_load),
	    cmocka_unit_test(mute),
	    cmocka_unit_test(lost_again),
	    cmocka_unit_test(late_not_lost),
	    cmocka_unit_test(wanted_after_failure),
	    cmocka_unit_test(no_doorbells_when_failed),
	    cmocka_unit_test(no_doorbells_in_reset),
	    cmocka_unit_test(finishes_first),
	    cmocka_unit_test(cut_off_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
