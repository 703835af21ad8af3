/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_nvme_support.h - what the tests of a drive in memory (fake_drive.h) have in common.
 */
#ifndef GN_TESTS_NVME_SUPPORT_H
#define GN_TESTS_NVME_SUPPORT_H

#include <sched.h>

#include <store/nvme/admin.h>
#include <store/nvme/watch.h>

#include "fake_drive.h"
#include "unit.h"

#define SECOND 1000000000u

static struct gn_error error;
static struct fake_drive fake;
static struct gn_drive drive;
static struct gn_block block;
static struct gn_watch watch;
static char model[FAKE_BYTES], got[FAKE_BYTES];

static void open_block(uint32_t count, uint64_t timeout_ns)
{
	struct gn_nvmeq_options options = {128, 64 << 10, 512, 1, 0};

	memset(&block, 0, sizeof block);
	memset(&watch, 0, sizeof watch);
	assert_int_equal(gn_drive_open(&drive, &error), 0);
	block.drive = &drive;
	block.reach = fake.registers;
	block.nsid = 1;
	block.timeout_ns = timeout_ns;
	assert_int_equal(gn_drive_namespace_of(&drive, 1, &block.ns, &error), 0);
	assert_int_equal(gn_block_open(&block, drive.host, count, &options, &error), 0);
}

static void start_watch(void)
{
	watch.block = &block;
	assert_int_equal(gn_watch_start(&watch, drive.host, &error), 0);
}

static void open_watched(uint32_t count, uint64_t timeout_ns)
{
	open_block(count, timeout_ns);
	start_watch();
}

static void close_block(void)
{
	gn_watch_stop(&watch);
	gn_block_close(&block);
	gn_drive_close(&drive);
	assert_int_equal(fake.maps, 0);
	fake_close(&fake, &drive);
}

/* Post a command that the controller loses, and give it up, unless a reset completes it before. */
static inline void lose(const struct gn_nvmeq *q, uint32_t cid, uint32_t opcode, uint32_t blocks)
{
	uint32_t status;
	int rc;

	assert_int_equal(gn_nvmeq_post(q, cid, opcode, FAKE_LOST_BLOCK, blocks), 0);
	do {
		rc = gn_nvmeq_poll(q, cid, 0, &status);
	} while (rc == -GN_EAGAIN);
	if (rc == -GN_EIO && status == GN_NVME_HOST_ABORTED)
		gn_nvmeq_end(q, cid);
	else
		assert_int_equal(rc, -GN_ETIMEDOUT);
}

static uint32_t take(const struct gn_nvmeq *q)
{
	uint32_t cid;

	assert_int_equal(gn_nvmeq_begin(q, simt_clock_ns() + 100 * (uint64_t)SECOND, &cid), 0);
	return cid;
}

/* Until another thread has made it so large. */
static inline void await_word(uint32_t *word, uint32_t value)
{
	const uint64_t began = simt_clock_ns();

	while (simt_load_acquire_sys_u32(word) < value) {
		assert_true(simt_clock_ns() - began < 100 * (uint64_t)SECOND);
		sched_yield();
	}
}

#endif
