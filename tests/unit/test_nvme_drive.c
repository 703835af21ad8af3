/* SPDX-License-Identifier: Apache-2.0 */
/* A drive: what addresses and statuses mean, how a controller is brought up, and what is done when it fails.
 */
#include <queue/attach.h>
#include <store/nvme/admin.h>
#include <store/nvme/pci.h>
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
	watch.block = &block;
	assert_int_equal(gn_watch_start(&watch, drive.host, &error), 0);
}

static void close_block(void)
{
	gn_watch_stop(&watch);
	gn_block_close(&block);
	gn_drive_close(&drive);
	assert_int_equal(fake.maps, 0);
	fake_close(&fake, &drive);
}

static void any_bytes(void **state)
{
	uint64_t x = 12345;

	(void)state;
	fake_open(&fake, &drive);
	open_block(8, 60 * (uint64_t)SECOND);
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
	open_block(8, 60 * (uint64_t)SECOND);
	assert_int_equal(block.count, 1);
	assert_ptr_equal(block.host, &block.pair[0]);
	assert_int_equal(gn_block_write(&block, 0, model, 5000, &error), 0);
	close_block();
}

/* A command is lost: it is aborted, which does not help, and after a reset the store goes on. */
static void lost_command(void **state)
{
	uint64_t began;
	int rc;

	(void)state;
	fake_open(&fake, &drive);
	simt_store_release_sys_u32(&fake.loses, 1);
	open_block(2, SECOND / 5);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	for (began = simt_clock_ns(); simt_load_acquire_dev_u32(&watch.resets) == 0;) {
		assert_true(simt_clock_ns() - began < 100 * (uint64_t)SECOND);
		simt_relax();
	}
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
	uint64_t began;

	(void)state;
	fake_open(&fake, &drive);
	open_block(2, SECOND / 5);
	simt_store_release_sys_u32(&fake.loses, 1);
	simt_store_release_sys_u32(&fake.never_stops, 1);
	assert_int_equal(gn_block_read(&block, FAKE_LOST_BLOCK * 512, got, 512, &error), -GN_ETIMEDOUT);
	for (began = simt_clock_ns(); !simt_load_acquire_dev_u32(&drive.failed);) {
		assert_true(simt_clock_ns() - began < 100 * (uint64_t)SECOND);
		simt_relax();
	}
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
	open_block(2, 1000 * (uint64_t)SECOND);
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

/* A failure that does not say "do not retry" is tried three times in all. */
static void retries(void **state)
{
	(void)state;
	fake_open(&fake, &drive);
	open_block(2, 60 * (uint64_t)SECOND);
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
	    cmocka_unit_test(lost_command),
	    cmocka_unit_test(reset_fails),
	    cmocka_unit_test(gone_under_load),
	    cmocka_unit_test(retries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
