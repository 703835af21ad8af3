/* SPDX-License-Identifier: Apache-2.0 */
/* A drive: what addresses and statuses mean, how a controller is brought up, and the host's transfers. */
#include <sched.h>
#include <signal.h>

#include <grapnel/store.h>
#include <queue/attach.h>
#include <store/nvme/pci.h>

#include "test_nvme_support.h"

static void addresses(void **state)
{
	static const char *const bad[] = {"",           "zebra",         "01:00",          "0000:01:00",
	                                  "01:00.8",    "0000:01:00.00", "00000:01:00.0",  "0000.01:00.0",
	                                  "0000:1:0.0", "0000:01:00.0 ", "0000:01:00.0:1", ":01:00.0"};
	char address[GN_PCI_ADDRESS];

	(void)state;
	assert_int_equal(gn_pci_parse(address, "0000:01:00.0", &error), 0);
	assert_string_equal(address, "0000:01:00.0");
	assert_int_equal(gn_pci_parse(address, "aB:1F.7", &error), 0);
	assert_string_equal(address, "0000:ab:1f.7");
	assert_int_equal(gn_pci_parse(address, "0001:fe:02.3", &error), 0);
	assert_string_equal(address, "0001:fe:02.3");
	for (unsigned k = 0; k < sizeof bad / sizeof *bad; k++) {
		assert_int_equal(gn_pci_parse(address, bad[k], &error), -GN_EINVAL);
		assert_non_null(strstr(error.text, "0000:01:00.0"));
	}
	assert_int_equal(gn_pci_find(NULL, "ffff:ff:1f.7", &error), -GN_ENODEV);
}

static void statuses(void **state)
{
	(void)state;
	assert_int_equal(gn_nvme_status_code(GN_NVME_OK), 0);
	assert_int_equal(gn_nvme_status_code(0x081), -GN_ENOSPC);
	assert_int_equal(gn_nvme_status_code(0x020), -GN_EROFS);
	assert_int_equal(gn_nvme_status_code(0x080 | GN_NVME_DO_NOT_RETRY), -GN_ERANGE);
	assert_int_equal(gn_nvme_status_code(0x286), -GN_EACCES);
	assert_int_equal(gn_nvme_status_code(0x00b), -GN_ENODEV);
	assert_int_equal(gn_nvme_status_code(0x002), -GN_ENOTSUP);
	assert_int_equal(gn_nvme_status_code(0x281), -GN_EIO);
	assert_int_equal(gn_nvme_status_code(0x7ff), -GN_EIO);
}

/* ---- a controller that behaves ---- */

static void bring_up(void **state)
{
	struct gn_drive_namespace ns;
	uint32_t ids[1024], count = 9;

	(void)state;
	fake_open(&fake, &drive);
	assert_int_equal(gn_drive_open(&drive, &error), 0);
	assert_string_equal(drive.identity.serial, "serial 12");
	assert_string_equal(drive.identity.model, "a fake");
	assert_int_equal(drive.identity.transfer_bytes, 4 * 4096);
	assert_int_equal(gn_drive_namespace_of(&drive, 1, &ns, &error), 0);
	assert_int_equal(ns.block_bytes, 512);
	assert_int_equal(ns.blocks, FAKE_BYTES / 512);
	assert_int_equal(gn_drive_namespace_of(&drive, 2, &ns, &error), -GN_ENOTSUP);
	assert_non_null(strstr(error.text, "8 bytes of metadata"));
	assert_int_equal(gn_drive_namespace_of(&drive, 3, &ns, &error), -GN_ENOENT);
	assert_non_null(strstr(error.text, "there are: 1, 2"));
	assert_int_equal(gn_drive_namespace_of(&drive, 6, &ns, &error), -GN_ENOENT);
	assert_int_equal(gn_drive_list(&drive, ids, &count, &error), 0);
	assert_int_equal(count, 2);
	count = 9;
	assert_int_equal(gn_drive_ask_queues(&drive, &count, &error), 0);
	assert_int_equal(count, 3);
	gn_drive_close(&drive);
	assert_int_equal(fake.shutdowns, 1);
	assert_int_equal(fake.maps, 0);
	fake_close(&fake, &drive);
}

static void more_admin_commands_than_entries(void **state)
{
	uint32_t ids[1024], count;

	(void)state;
	fake_open(&fake, &drive);
	assert_int_equal(gn_drive_open(&drive, &error), 0);
	for (unsigned k = 0; k < 200; k++)
		assert_int_equal(gn_drive_list(&drive, ids, &count, &error), 0);
	fake_close(&fake, &drive);
}

/* ---- one that does not ---- */

static void refuse(int code, const char *text)
{
	assert_int_equal(gn_drive_open(&drive, &error), code);
	assert_non_null(strstr(error.text, text));
	assert_int_equal(fake.maps, 0);
	simt_store_release_sys_u32(&fake.never_stops, 0);
	fake_close(&fake, &drive);
}

static void never_ready(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	fake.never_ready = 1;
	refuse(-GN_ETIMEDOUT, "become ready");
}

static void fatal(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	fake.fatal = 1;
	refuse(-GN_EIO, "fatal");
}

static void gone(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	fake_set(&fake, GN_REG_CSTS, GN_CSTS_GONE);
	refuse(-GN_ENODEV, "gone");
}

static void no_disk(void **state)
{
	uint64_t cap = 63 | (uint64_t)0x80 << 37;

	(void)state;
	fake_open(&fake, &drive);
	memcpy(fake.registers, &cap, sizeof cap);
	refuse(-GN_ENOTSUP, "NVM command set");
}

static void large_pages(void **state)
{
	uint64_t cap = 63 | (uint64_t)1 << 37 | (uint64_t)2 << 48;

	(void)state;
	fake_open(&fake, &drive);
	memcpy(fake.registers, &cap, sizeof cap);
	refuse(-GN_ENOTSUP, "16384");
}

/* ---- a namespace behind queue pairs ---- */

static void any_bytes(void **state)
{
	uint64_t x = 12345;

	(void)state;
	fake_open(&fake, &drive);
	open_watched(8, 60 * (uint64_t)SECOND);
	assert_int_equal(block.count, 2); /* three are granted, one is the host's */
	assert_int_equal(block.host->q.depth, 64);
	assert_int_equal(block.host->q.buffer_bytes, 16384); /* MDTS */
	for (unsigned k = 0; k < 200; k++) {
		uint64_t at, bytes;

		x = x * 6364136223846793005u + 1442695040888963407u;
		at = (x >> 20) % (FAKE_BYTES - 70000);
		bytes = 1 + (x >> 40) % 70000;
		memset(model + at, (int)k + 1, bytes);
		assert_int_equal(gn_block_write(&block, at, model + at, bytes, &error), 0);
	}
	assert_memory_equal(fake.medium, model, FAKE_BYTES);
	assert_int_equal(gn_block_read(&block, 1, got + 1, FAKE_BYTES - 1, &error), 0);
	assert_memory_equal(got + 1, model + 1, FAKE_BYTES - 1);
	assert_int_equal(gn_block_flush(&block, &error), 0);
	assert_int_equal(fake.flushes, 1);
	assert_int_equal(gn_block_deallocate(&block, 8, 16, &error), 0);
	assert_int_equal(fake.deallocations, 1);
	assert_int_equal(gn_block_read(&block, FAKE_BYTES, got, 512, &error), -GN_ERANGE);
	close_block();
	assert_int_equal(fake.deletes, 3);
	assert_int_equal(fake.shutdowns, 1);
}

static void one_pair_is_shared(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	fake.grants = 1;
	open_watched(8, 60 * (uint64_t)SECOND);
	assert_int_equal(block.count, 1);
	assert_ptr_equal(block.host, &block.pair[0]);
	assert_int_equal(gn_block_write(&block, 0, model, 5000, &error), 0);
	close_block();
}

/* A failure that does not say "do not retry" is tried three times in all. */
static void retries(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	open_watched(2, 60 * (uint64_t)SECOND);
	fake.sick_times = 2;
	assert_int_equal(gn_block_read(&block, FAKE_SICK_BLOCK * 512, got, 512, &error), 0);
	assert_int_equal(fake.transfers, 3);
	fake.sick_times = 3;
	assert_int_equal(gn_block_read(&block, FAKE_SICK_BLOCK * 512, got, 512, &error), -GN_EIO);
	assert_non_null(strstr(error.text, "unrecovered read error"));
	assert_int_equal(fake.transfers, 6);
	assert_int_equal(gn_block_read(&block, FAKE_BYTES, got, 512, &error), -GN_ERANGE);
	assert_int_equal(fake.transfers, 7); /* it says so */
	close_block();
}

/* ---- writes that may still land ---- */

static void expect_write(uint64_t lba, size_t bytes, int code)
{
	assert_int_equal(gn_block_write(&block, lba * 512, model, bytes, &error), code);
	if (code)
		assert_non_null(strstr(error.text, "may still land"));
}

/* A write of the host that timed out keeps host and kernels from its blocks until it is over. */
static void host_write_lands_late(void **state)
{
	struct gn_store_view view;
	struct gn_nvmeq queues[3];

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_block(2, SECOND / 100);
	memset(&view, 0, sizeof view);
	view.kind = GN_STORE_QUEUES;
	view.block_bytes = 512;
	view.queue_count = block.count;
	view.host_queues = gn_block_host_queues(&block);
	view.timeout_ns = 100 * (uint64_t)SECOND;
	view.queue = queues;
	for (unsigned k = 0; k < 3; k++)
		queues[k] = block.pair[k].q;
	memset(model, 1, 1024);
	assert_int_equal(gn_block_write(&block, FAKE_LOST_BLOCK * 512, model, 1024, &error), -GN_ETIMEDOUT);
	block.timeout_ns = 100 * (uint64_t)SECOND;
	await_word(&fake.lost, 1); /* it may look later than the time-out */
	simt_store_release_sys_u32(&fake.loses, 0);
	expect_write(FAKE_LOST_BLOCK + 1, 10, -GN_EBUSY);
	expect_write(FAKE_LOST_BLOCK - 63, 64 * 512, -GN_EBUSY); /* and its first part was not written */
	assert_int_equal(fake.medium[(FAKE_LOST_BLOCK - 63) * 512], 0);
	assert_int_equal(gn_block_deallocate(&block, 0, FAKE_LOST_BLOCK + 1, &error), -GN_EBUSY);
	expect_write(FAKE_LOST_BLOCK - 1, 512, 0);
	expect_write(FAKE_LOST_BLOCK + 2, 512, 0);
	assert_int_equal(gn_store_write_thread(&view, FAKE_LOST_BLOCK * 512, model, 16).code, -GN_EBUSY);
	assert_int_equal(gn_store_write_thread(&view, FAKE_LOST_BLOCK * 512 - 512, model, 16).code, 0);
	simt_store_release_sys_u32(&fake.recalls, 1);
	while (simt_load_acquire_dev_u32(&block.host->q.state->abandoned))
		gn_nvmeq_reap(&block.host->q);
	memset(model, 2, 1024);
	expect_write(FAKE_LOST_BLOCK, 1024, 0);
	assert_memory_equal(fake.medium + FAKE_LOST_BLOCK * 512, model, 1024);
	close_block();
}

static void kernel_write_lands_late(void **state)
{
	const struct gn_nvmeq *q;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_block(2, 100 * (uint64_t)SECOND);
	q = &block.pair[0].q;
	lose(q, take(q), GN_NVME_WRITE, 2);
	await_word(&fake.lost, 1); /* it may look later than the time-out */
	simt_store_release_sys_u32(&fake.loses, 0);
	expect_write(FAKE_LOST_BLOCK + 1, 512, -GN_EBUSY);
	assert_int_equal(gn_block_deallocate(&block, FAKE_LOST_BLOCK, 1, &error), -GN_EBUSY);
	simt_store_release_sys_u32(&fake.recalls, 1);
	while (simt_load_acquire_dev_u32(&q->state->abandoned))
		gn_nvmeq_reap(q);
	expect_write(FAKE_LOST_BLOCK + 1, 512, 0);
	close_block();
}

static void deallocation_lands_late(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_block(2, SECOND / 100);
	assert_int_equal(gn_block_deallocate(&block, FAKE_LOST_BLOCK, 100, &error), -GN_ETIMEDOUT);
	assert_non_null(strstr(error.text, "at block 77 "));
	block.timeout_ns = 100 * (uint64_t)SECOND;
	await_word(&fake.lost, 1); /* it may look later than the time-out */
	simt_store_release_sys_u32(&fake.loses, 0);
	expect_write(FAKE_LOST_BLOCK + 99, 512, -GN_EBUSY);
	expect_write(FAKE_LOST_BLOCK + 100, 512, 0);
	simt_store_release_sys_u32(&fake.recalls, 1);
	while (simt_load_acquire_dev_u32(&block.host->q.state->abandoned))
		gn_nvmeq_reap(&block.host->q);
	assert_int_equal(block.host->q.state->abandoned_writes, 0);
	expect_write(FAKE_LOST_BLOCK + 99, 512, 0);
	close_block();
}

static uint32_t holding, held, looks;

/* Stops the thread that looks, wherever it is, until the reset is over. */
static void hold(int number)
{
	(void)number;
	simt_store_release_sys_u32(&held, 1);
	while (simt_load_acquire_sys_u32(&holding))
		sched_yield();
}

/* A reset, and in its middle the other thread is stopped. A signal may come late, and then does nothing. */
static void reset_around(pthread_t other)
{
	uint32_t seen;

	simt_store_release_dev_u32(&drive.resetting, 1);
	gn_drive_disable(&drive, NULL);
	simt_store_release_sys_u32(&held, 0);
	simt_store_release_sys_u32(&holding, 1);
	pthread_kill(other, SIGUSR1);
	for (unsigned k = 0; k < 1000 && !simt_load_acquire_sys_u32(&held); k++)
		sched_yield();
	gn_drive_enable(&drive, NULL);
	simt_store_release_dev_u32(&drive.resetting, 0);
	simt_store_release_sys_u32(&holding, 0);
	seen = simt_load_acquire_sys_u32(&looks);
	while (simt_load_acquire_sys_u32(&looks) - seen < 2)
		sched_yield();
}

struct resets {
	pthread_t other;
	uint32_t done;
};

static void *reset_often(void *user)
{
	struct resets *r = (struct resets *)user;

	for (unsigned k = 0; k < 300; k++)
		reset_around(r->other);
	simt_store_release_sys_u32(&r->done, 1);
	return NULL;
}

/* Who looks at the controller around a reset does not say that it has stopped. */
static void healthy_around_resets(void **state)
{
	struct resets r = {pthread_self(), 0};
	uint32_t wrong = 0;
	pthread_t thread;

	(void)state;
	fake_open(&fake, &drive);
	assert_int_equal(gn_drive_open(&drive, &error), 0);
	signal(SIGUSR1, hold);
	pthread_create(&thread, NULL, reset_often, &r);
	while (!simt_load_acquire_sys_u32(&r.done)) {
		wrong += gn_drive_health(&drive, &error) != 0;
		simt_add_acq_rel_dev_u32(&looks, 1);
	}
	pthread_join(thread, NULL);
	signal(SIGUSR1, SIG_DFL);
	assert_int_equal(wrong, 0);
	fake_close(&fake, &drive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(addresses),
	    cmocka_unit_test(statuses),
	    cmocka_unit_test(bring_up),
	    cmocka_unit_test(more_admin_commands_than_entries),
	    cmocka_unit_test(never_ready),
	    cmocka_unit_test(fatal),
	    cmocka_unit_test(gone),
	    cmocka_unit_test(no_disk),
	    cmocka_unit_test(large_pages),
	    cmocka_unit_test(any_bytes),
	    cmocka_unit_test(one_pair_is_shared),
	    cmocka_unit_test(retries),
	    cmocka_unit_test(host_write_lands_late),
	    cmocka_unit_test(kernel_write_lands_late),
	    cmocka_unit_test(deallocation_lands_late),
	    cmocka_unit_test(healthy_around_resets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
