/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue pair's entries and doorbells: formats, identifiers, phases, wrap, when a doorbell is rung.
 * Offsets and layouts are those of the NVM Express Base Specification 2.0, figures 86 to 92, not of the code.
 */
#include "test_nvmeq_support.h"

/* ---- formats ---- */

static void test_formats(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct gn_nvme_command), 64);
	assert_int_equal(offsetof(struct gn_nvme_command, opcode), 0);
	assert_int_equal(offsetof(struct gn_nvme_command, flags), 1);
	assert_int_equal(offsetof(struct gn_nvme_command, cid), 2);
	assert_int_equal(offsetof(struct gn_nvme_command, nsid), 4);
	assert_int_equal(offsetof(struct gn_nvme_command, metadata), 16);
	assert_int_equal(offsetof(struct gn_nvme_command, prp1), 24);
	assert_int_equal(offsetof(struct gn_nvme_command, prp2), 32);
	assert_int_equal(offsetof(struct gn_nvme_command, lba), 40);
	assert_int_equal(offsetof(struct gn_nvme_command, cdw12), 48);
	assert_int_equal(offsetof(struct gn_nvme_command, cdw15), 60);
	assert_int_equal(sizeof(struct gn_nvme_completion), 16);
	assert_int_equal(offsetof(struct gn_nvme_completion, sq_head), 8);
	assert_int_equal(offsetof(struct gn_nvme_completion, sq_id), 10);
	assert_int_equal(offsetof(struct gn_nvme_completion, cid), 12);
	assert_int_equal(offsetof(struct gn_nvme_completion, status), 14);
}

/* The 64 bytes of a write of 2 blocks at 0x123456789a, as a controller's manual has them. */
static void test_entry_bytes(void **state)
{
	struct gn_nvmeq_options options = usual;
	struct fixture f;
	unsigned char expected[64];
	uint32_t cid;
	uint64_t prp1;

	(void)state;
	options.nsid = 0x05060708;
	start(&f, &options);
	cid = post(&f, GN_NVME_WRITE, 0x123456789a, 2);
	prp1 = (uint64_t)(uintptr_t)gn_nvmeq_buffer(&f.q, cid);
	memset(expected, 0, sizeof expected);
	expected[0] = 0x01;
	expected[2] = (unsigned char)cid;
	expected[3] = (unsigned char)(cid >> 8);
	memcpy(expected + 4, "\x08\x07\x06\x05", 4);
	memcpy(expected + 24, &prp1, 8);
	memcpy(expected + 40, "\x9a\x78\x56\x34\x12\x00\x00\x00", 8);
	expected[48] = 1;
	assert_memory_equal(f.q.sq, expected, 64);
	stop(&f);
}

static void test_flush_entry(void **state)
{
	struct fixture f;
	struct gn_nvme_command command;
	uint32_t cid;

	(void)state;
	start(&f, &usual);
	cid = post(&f, GN_NVME_FLUSH, 0, 0);
	command = fetch(&f);
	assert_int_equal(command.opcode, 0);
	assert_int_equal(command.nsid, 1);
	assert_int_equal(command.prp1 | command.prp2 | command.lba | command.cdw12, 0);
	complete(&f, cid, 0);
	finish(&f, cid);
	stop(&f);
}

/* What a controller reads: PRP1, then PRP2 as the second page or as a list that stays within one page. */
static void check_prps(struct fixture *f, const struct gn_nvme_command *command, uint32_t bytes)
{
	uint64_t buffer = (uint64_t)(uintptr_t)gn_nvmeq_buffer(&f->q, command->cid);
	uint32_t pages = (bytes + 4095) / 4096;
	const uint64_t *list = (const uint64_t *)(uintptr_t)command->prp2;

	assert_int_equal(command->prp1, buffer);
	assert_int_equal(command->prp1 % 4096, 0);
	if (pages == 1)
		assert_int_equal(command->prp2, 0);
	if (pages == 2)
		assert_int_equal(command->prp2, buffer + 4096);
	if (pages <= 2)
		return;
	for (uint32_t k = 1; k < pages; k++)
		assert_int_equal(list[k - 1], buffer + 4096 * (uint64_t)k);
	assert_int_equal(command->prp2 / 4096, (command->prp2 + 8 * (uint64_t)(pages - 2)) / 4096);
}

static void prps_of(uint32_t depth, uint32_t buffer_bytes)
{
	struct gn_nvmeq_options options = usual;
	struct fixture f;

	options.depth = depth;
	options.buffer_bytes = buffer_bytes;
	start(&f, &options);
	for (uint32_t k = 0; k + 1 < depth; k++) {
		uint32_t blocks = 1 + k * 7 % (buffer_bytes / 512);
		uint32_t cid = post(&f, GN_NVME_READ, k, blocks);
		struct gn_nvme_command command = fetch(&f);

		assert_int_equal(command.cdw12, blocks - 1);
		check_prps(&f, &command, blocks * 512);
		complete(&f, cid, 0);
		finish(&f, cid);
	}
	stop(&f);
}

static void test_prps(void **state)
{
	(void)state;
	prps_of(64, 4096);
	prps_of(64, 8192);
	prps_of(1024, 16384);
	prps_of(512, 65536);
	prps_of(8, 2 << 20);
}

static void test_transfer_sizes(void **state)
{
	struct fixture f;
	uint32_t cid;

	(void)state;
	start(&f, &usual);
	cid = begin(&f);
	assert_int_equal(gn_nvmeq_post(&f.q, cid, GN_NVME_READ, 0, 33), -GN_EINVAL);
	assert_int_equal(gn_nvmeq_post(&f.q, cid, GN_NVME_READ, 0, 0), -GN_EINVAL);
	assert_int_equal(gn_nvmeq_post(&f.q, cid, GN_NVME_WRITE, 0, 0x80000000u), -GN_EINVAL);
	assert_int_equal(*f.q.sq_doorbell, 0);
	assert_int_equal(gn_nvmeq_post(&f.q, cid, GN_NVME_READ, 0, 32), 0);
	complete(&f, fetch(&f).cid, 0);
	finish(&f, cid);
	stop(&f);
}

/* ---- identifiers, phase, wrap ---- */

static void test_cids_differ(void **state)
{
	static unsigned char seen[65536];
	struct fixture f;

	(void)state;
	start_depth(&f, 4, 0);
	memset(seen, 0, sizeof seen);
	/* 3 slots of 16384 generations each: none may come back before all were used. */
	for (int k = 0; k < 3 * 16384; k++) {
		uint32_t cid = begin(&f);

		assert_in_range(cid, 0, 0xfffe); /* the specification wants 0xffff left alone */
		assert_int_equal(seen[cid]++, 0);
		gn_nvmeq_end(&f.q, cid);
	}
	stop(&f);
}

static void rounds(uint32_t depth, uint32_t first)
{
	struct fixture f;

	start_depth(&f, depth, first);
	for (uint32_t k = 0; k < 6 * depth; k++)
		round_trip(&f, k);
	assert_int_equal(f.q.state->ticket, first + 6 * depth);
	assert_int_equal(f.q.state->head, first + 6 * depth);
	assert_int_equal(f.q.state->strays, 0);
	stop(&f);
}

static void test_phase_and_wrap(void **state)
{
	(void)state;
	for (uint32_t depth = 2; depth <= 64; depth *= 2) {
		rounds(depth, 0);
		rounds(depth, 0u - 2 * depth);
		rounds(depth, 0u - 4 * depth);
		rounds(depth, 0x80000000u - 2 * depth);
	}
}

/* What lies in the completion queue from before is never taken for new. */
static void test_nothing_to_reap(void **state)
{
	struct fixture f;

	(void)state;
	start_depth(&f, 4, 0u - 8);
	for (uint32_t k = 0; k < 40; k++) {
		assert_int_equal(gn_nvmeq_reap(&f.q), 0);
		round_trip(&f, k);
		assert_int_equal(gn_nvmeq_reap(&f.q), 0);
	}
	assert_int_equal(f.q.state->strays, 0);
	stop(&f);
}

/* ---- doorbells ---- */

/* While one rings, others only leave marks; the next ring carries all of them. */
static void test_one_doorbell_for_many(void **state)
{
	struct fixture f;
	uint32_t cid[4];

	(void)state;
	start(&f, &usual);
	f.q.state->tail_lock = 1;
	for (int k = 0; k < 4; k++) {
		cid[k] = post(&f, GN_NVME_READ, (uint64_t)k, 1);
		assert_int_equal(*f.q.sq_doorbell, 0);
	}
	f.q.state->tail_lock = 0;
	gn_nvmeq_ring(&f.q);
	assert_int_equal(*f.q.sq_doorbell, 4);
	for (int k = 0; k < 4; k++) {
		assert_int_equal(fetch(&f).cid, cid[k]);
		complete(&f, cid[k], 0);
	}
	for (int k = 0; k < 4; k++)
		finish(&f, cid[k]);
	stop(&f);
}

/* More than one thread looks at together, over the border of the queue and of the tickets. */
static void test_one_doorbell_for_more(void **state)
{
	enum { MANY = 3 * GN__NVMEQ_AT_ONCE + 1 };
	struct fixture f;
	uint32_t cid[MANY];

	(void)state;
	start_depth(&f, 32, 0u - 64);
	for (uint32_t round = 0; round < 4; round++) {
		simt_store_release_dev_u32(&f.q.state->tail_lock, 1);
		for (uint32_t k = 0; k < MANY; k++)
			cid[k] = post(&f, GN_NVME_READ, k, 1);
		simt_store_release_dev_u32(&f.q.state->tail_lock, 0);
		assert_int_equal(*f.q.sq_doorbell, round * MANY % 32);
		gn_nvmeq_ring(&f.q);
		assert_int_equal(*f.q.sq_doorbell, (round + 1) * MANY % 32);
		for (uint32_t k = 0; k < MANY; k++)
			complete(&f, fetch(&f).cid, 0);
		for (uint32_t k = 0; k < MANY; k++)
			finish(&f, cid[k]);
		assert_int_equal(gn_nvmeq_reap(&f.q), 0); /* rings for all of them */
	}
	stop(&f);
}

/* A doorbell is not rung past an entry that its thread has not filled. */
static void test_no_doorbell_over_a_gap(void **state)
{
	struct fixture f;
	uint32_t ticket;

	(void)state;
	start(&f, &usual);
	ticket = simt_add_relaxed_dev_u32(&f.q.state->ticket, 1);
	post(&f, GN_NVME_READ, 1, 1);
	post(&f, GN_NVME_READ, 2, 1);
	assert_int_equal(*f.q.sq_doorbell, 0);
	f.q.mark[ticket] = ticket + 1;
	gn_nvmeq_ring(&f.q);
	assert_int_equal(*f.q.sq_doorbell, 3);
	stop(&f);
}

static void test_wait_rings(void **state)
{
	struct fixture f;
	uint32_t cid, status;

	(void)state;
	start(&f, &usual);
	f.q.state->tail_lock = 1;
	cid = post(&f, GN_NVME_READ, 0, 1);
	f.q.state->tail_lock = 0;
	assert_int_equal(gn_nvmeq_wait(&f.q, cid, soon(), &status), -GN_ETIMEDOUT);
	assert_int_equal(fetch(&f).cid, cid);
	stop(&f);
}

/* The completion doorbell moves once for a quarter of the queue, and for the rest when there is nothing to
 * do. */
static void test_completion_doorbell(void **state)
{
	struct fixture f;
	uint32_t changes = 0, last = 0;

	(void)state;
	start_depth(&f, 64, 0);
	for (uint32_t k = 0; k < 48; k++)
		complete(&f, 0x4000, 0); /* strays move the queue too */
	for (uint32_t k = 0; k < 48; k += GN__NVMEQ_AT_ONCE) {
		assert_int_equal(gn_nvmeq_reap(&f.q), 1);
		assert_int_equal(f.q.state->head, k + GN__NVMEQ_AT_ONCE);
		changes += *f.q.cq_doorbell != last;
		last = *f.q.cq_doorbell;
	}
	assert_in_range(changes, 1, 4);
	assert_int_equal(gn_nvmeq_reap(&f.q), 0);
	assert_int_equal(*f.q.cq_doorbell, 48);
	stop(&f);
}

/* While one thread reaps, the others leave the queue alone. */
static void test_one_reaper(void **state)
{
	struct fixture f;

	(void)state;
	start_depth(&f, 64, 0);
	complete(&f, 0x4000, 0);
	f.q.state->reap_lock = 1;
	assert_int_equal(gn_nvmeq_reap(&f.q), 0);
	assert_int_equal(f.q.state->head, 0);
	f.q.state->reap_lock = 0;
	assert_int_equal(gn_nvmeq_reap(&f.q), 1);
	assert_int_equal(f.q.state->strays, 1);
	stop(&f);
}

static void test_completion_queue_full(void **state)
{
	struct fixture f;

	(void)state;
	start_depth(&f, 4, 0);
	for (int round = 0; round < 5; round++) {
		for (uint32_t k = 0; k < 3; k++)
			complete(&f, 0x4000, 0);
		assert_int_equal(gn_nvme_port_complete(&f.port, 0x4000, 0), -GN_EAGAIN);
		while (gn_nvmeq_reap(&f.q))
			;
	}
	assert_int_equal(f.q.state->strays, 15);
	stop(&f);
}

/* ---- configuration ---- */

static void refused(struct gn_nvmeq_options options, const char *word)
{
	struct gn_nvmeq q;
	struct gn_error error;

	memset(&error, 0, sizeof error);
	assert_int_equal(gn_nvmeq_create(&q, NULL, &options, &error), -GN_EINVAL);
	assert_int_equal(error.code, -GN_EINVAL);
	assert_non_null(strstr(error.text, word));
	assert_int_equal(gn_nvmeq_create(&q, NULL, &options, NULL), -GN_EINVAL);
}

static void test_config(void **state)
{
	static const uint32_t depths[] = {0, 1, 3, 12, 65536, 0xffffffffu};
	static const uint32_t buffers[] = {0, 512, 4095, 6144, 12288, 4u << 20};
	static const uint32_t blocks[] = {0, 256, 520, 1000, 32768};
	struct gn_nvmeq_options options = usual;

	(void)state;
	for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
		options.depth = depths[k];
		refused(options, "depth");
	}
	options = usual;
	for (size_t k = 0; k < sizeof buffers / sizeof *buffers; k++) {
		options.buffer_bytes = buffers[k];
		refused(options, "transfer");
	}
	options = usual;
	for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
		options.block_bytes = blocks[k];
		refused(options, "block");
	}
	options = usual;
	options.start = 8; /* a multiple of the depth, but the phase would be wrong */
	refused(options, "ticket");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_formats),
	    cmocka_unit_test(test_entry_bytes),
	    cmocka_unit_test(test_flush_entry),
	    cmocka_unit_test(test_prps),
	    cmocka_unit_test(test_transfer_sizes),
	    cmocka_unit_test(test_cids_differ),
	    cmocka_unit_test(test_phase_and_wrap),
	    cmocka_unit_test(test_nothing_to_reap),
	    cmocka_unit_test(test_one_doorbell_for_many),
	    cmocka_unit_test(test_one_doorbell_for_more),
	    cmocka_unit_test(test_no_doorbell_over_a_gap),
	    cmocka_unit_test(test_wait_rings),
	    cmocka_unit_test(test_completion_doorbell),
	    cmocka_unit_test(test_one_reaper),
	    cmocka_unit_test(test_completion_queue_full),
	    cmocka_unit_test(test_config),
	};

	return cmocka_run_group_tests_name("nvmeq: entries and doorbells", tests, NULL, NULL);
}
