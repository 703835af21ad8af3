/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The software controller against commands written by hand into its queues: right ones, wrong ones and
 * rubbish. Expected statuses are those of the NVM Express Base Specification 2.0 and the NVM Command Set
 * Specification 1.0.
 */
#include <time.h>

#include "test_store_support.h"

enum { INVALID_NAMESPACE = 0x00b, CAPACITY = 4 << 20, BLOCKS = CAPACITY / 512 };

/* The host's end of a queue pair without the library's: one command at a time. */
struct raw {
	const struct gn_nvmeq *q;
	uint32_t tail, head, phase;
	struct gn_nvme_completion last;
};

static void raw_init(struct raw *raw, const struct gn_store *store)
{
	memset(raw, 0, sizeof *raw);
	raw->q = gn_store_view_of(store)->queue;
	raw->phase = 1;
}

static void raw_post(struct raw *raw, const struct gn_nvme_command *c)
{
	raw->q->sq[raw->tail] = *c;
	raw->tail = (raw->tail + 1) % raw->q->depth;
	simt_store_release_sys_u32(raw->q->sq_doorbell, raw->tail);
}

/*
 * Wait for a completion some places ahead without taking it. Returns its id, phase and status, or 0xffffffff
 * if none comes.
 */
static uint32_t raw_peek(const struct raw *raw, uint32_t ahead)
{
	const struct gn_nvme_completion *entry = &raw->q->cq[(raw->head + ahead) % raw->q->depth];
	uint32_t phase = raw->head + ahead < raw->q->depth ? raw->phase : !raw->phase, tail;
	uint64_t give_up = simt_clock_ns() + 1000000000000; /* longer than the test may take */

	while (((tail = simt_load_acquire_sys_u32((const uint32_t *)(const void *)&entry->cid)) >> 16 & 1) !=
	       phase) {
		simt_relax();
		if (simt_clock_ns() > give_up)
			return UINT32_MAX;
	}
	return tail;
}

/* Returns the status of the next completion, which is in raw->last; 0xffff if none comes. */
static uint32_t raw_wait(struct raw *raw)
{
	uint32_t tail = raw_peek(raw, 0);

	if (tail == UINT32_MAX)
		return 0xffff;
	raw->last = raw->q->cq[raw->head];
	raw->head = (raw->head + 1) % raw->q->depth;
	raw->phase ^= !raw->head;
	simt_store_release_sys_u32(raw->q->cq_doorbell, raw->head);
	return tail >> 17;
}

static uint32_t raw_execute(struct raw *raw, const struct gn_nvme_command *c)
{
	uint32_t status;

	raw_post(raw, c);
	status = raw_wait(raw);
	assert_int_equal(raw->last.cid, c->cid);
	assert_int_equal(raw->last.sq_head, raw->tail);
	/* A failure says that the same command would fail again. */
	assert_int_equal(status & GN_NVME_DO_NOT_RETRY, status ? GN_NVME_DO_NOT_RETRY : 0);
	return status & GN_NVME_STATUS_MASK;
}

static uint64_t page_address(const struct raw *raw, uint32_t page)
{
	return (uint64_t)(uintptr_t)raw->q->buffer + page * 4096ull;
}

/* A read of some blocks into the first pages of the queue's buffers. */
static struct gn_nvme_command read_command(const struct raw *raw, uint64_t lba, uint32_t blocks)
{
	struct gn_nvme_command c;

	memset(&c, 0, sizeof c);
	c.opcode = GN_NVME_READ;
	c.cid = 0x1234;
	c.nsid = 1;
	c.lba = lba;
	c.cdw12 = blocks - 1;
	c.prp1 = page_address(raw, 0);
	if (blocks > 8)
		c.prp2 = page_address(raw, 1);
	return c;
}

static void write_list(const struct raw *raw, uint32_t entry, uint64_t value)
{
	((uint64_t *)(uintptr_t)raw->q->prp_list)[entry] = value;
}

/* 4 MiB behind one queue of 8 with buffers of 64 KiB: 16 pages and 16 list entries a slot. */
static void open_memq(struct store_test *t, const char *more, uint32_t transfer_bytes, struct raw *raw)
{
	struct gn_store_options options;
	char uri[64];

	memset(&options, 0, sizeof options);
	options.transfer_bytes = transfer_bytes;
	snprintf(uri, sizeof uri, "memq:4M?queues=1&depth=8%s", more);
	needs_cpu(t);
	open_uri(t, uri, &options);
	raw_init(raw, t->store);
}

static void fill_store(struct store_test *t)
{
	unsigned char *bytes = (unsigned char *)malloc(CAPACITY);

	assert_non_null(bytes);
	for (uint32_t k = 0; k < CAPACITY; k++)
		bytes[k] = byte_of(k, 1);
	assert_int_equal(gn_store_write_host(t->store, 0, bytes, CAPACITY, &t->error), 0);
	free(bytes);
}

static void assert_buffer(const struct raw *raw, uint64_t at, uint64_t store_offset, uint32_t bytes)
{
	const unsigned char *got = (const unsigned char *)raw->q->buffer + at;

	for (uint32_t k = 0; k < bytes; k++)
		if (got[k] != byte_of(store_offset + k, 1))
			fail_msg("byte %u of the buffer is wrong", k);
}

static void refuses_unknown_opcodes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	for (uint32_t opcode = 3; opcode < 256; opcode++) {
		struct gn_nvme_command c = read_command(&raw, 0, 1);

		c.opcode = (uint8_t)opcode;
		c.cid = (uint16_t)opcode;
		assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_OPCODE);
	}
}

static void refuses_other_namespaces(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	c = read_command(&raw, 0, 1);
	c.nsid = 0;
	assert_int_equal(raw_execute(&raw, &c), INVALID_NAMESPACE);
	c.nsid = 2;
	assert_int_equal(raw_execute(&raw, &c), INVALID_NAMESPACE);
	c.nsid = UINT32_MAX; /* all namespaces: for a flush only */
	assert_int_equal(raw_execute(&raw, &c), INVALID_NAMESPACE);
	c.opcode = GN_NVME_FLUSH;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
}

static void refuses_fields_it_does_not_know(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	c = read_command(&raw, 0, 1);
	c.flags = 0x40; /* SGLs */
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c.flags = 1; /* fused */
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c.flags = 0;
	c.cdw12 |= 1u << 30; /* force unit access */
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c.cdw12 = 1u << 31; /* limited retry changes nothing */
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
}

static void refuses_blocks_past_the_end(void **state)
{
	static const struct {
		uint64_t lba;
		uint32_t blocks, status;
	} cases[] = {
	    {BLOCKS - 1, 1, GN_NVME_OK},
	    {BLOCKS, 1, GN_NVME_LBA_OUT_OF_RANGE},
	    {BLOCKS - 1, 2, GN_NVME_LBA_OUT_OF_RANGE},
	    {BLOCKS - 8, 8, GN_NVME_OK},
	    {UINT64_MAX, 1, GN_NVME_LBA_OUT_OF_RANGE},
	    {UINT64_MAX, 2, GN_NVME_LBA_OUT_OF_RANGE},
	    {UINT64_MAX / 512 + 1, 1, GN_NVME_LBA_OUT_OF_RANGE}, /* times 512 it would be 0 */
	};
	struct store_test *t = (struct store_test *)*state;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	for (unsigned k = 0; k < sizeof cases / sizeof cases[0]; k++) {
		struct gn_nvme_command c = read_command(&raw, cases[k].lba, cases[k].blocks);

		assert_int_equal(raw_execute(&raw, &c), cases[k].status);
		c.opcode = GN_NVME_WRITE;
		assert_int_equal(raw_execute(&raw, &c), cases[k].status);
	}
}

static void refuses_transfers_that_are_too_large(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 8192, &raw);
	c = read_command(&raw, 0, 16);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	c = read_command(&raw, 0, 17);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c = read_command(&raw, 0, 65536);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
}

static void protects_what_is_read_only(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "&ro", 65536, &raw);
	c = read_command(&raw, 0, 1);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	c.opcode = GN_NVME_WRITE;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_NAMESPACE_WRITE_PROTECTED);
}

static void touches_no_other_memory(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	uint64_t end, other;
	struct gn_nvme_command c;
	struct raw raw;
	char mine[8192];

	open_memq(t, "", 65536, &raw);
	end = page_address(&raw, 8 * 16);
	other = ((uint64_t)(uintptr_t)mine + 4095) & ~4095ull;
	memset(mine, 0x5a, sizeof mine);
	c = read_command(&raw, 0, 8);
	c.prp1 = 0;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	c.prp1 = other;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	c.prp1 = end;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	c.prp1 = end - 4096;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	c = read_command(&raw, 0, 16);
	c.prp2 = other;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	c = read_command(&raw, 0, 24);
	c.prp2 = other; /* as a list */
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	c.prp2 = raw.q->prp_list_bus;
	write_list(&raw, 1, other);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_DATA_TRANSFER_ERROR);
	for (unsigned k = 0; k < sizeof mine; k++)
		assert_int_equal(mine[k], 0x5a);
}

static void refuses_addresses_that_are_not_aligned(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	c = read_command(&raw, 0, 1);
	c.prp1++;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c = read_command(&raw, 0, 16);
	c.prp2 += 512;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c = read_command(&raw, 0, 24);
	c.prp2 = raw.q->prp_list_bus + 4;
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
	c.prp2 = raw.q->prp_list_bus;
	write_list(&raw, 0, page_address(&raw, 1) + 8);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
}

static void scatters_over_a_list(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	fill_store(t);
	c = read_command(&raw, 100, 32);
	c.prp1 = page_address(&raw, 9);
	c.prp2 = raw.q->prp_list_bus + 16 * 8;
	write_list(&raw, 16, page_address(&raw, 7));
	write_list(&raw, 17, page_address(&raw, 8));
	write_list(&raw, 18, page_address(&raw, 2));
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	assert_buffer(&raw, 9 * 4096, 100 * 512, 4096);
	assert_buffer(&raw, 7 * 4096, 100 * 512 + 4096, 8192);
	assert_buffer(&raw, 2 * 4096, 100 * 512 + 3 * 4096, 4096);
}

/* The first page may begin in its middle: then a page of data needs two. */
static void begins_inside_a_page(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	fill_store(t);
	c = read_command(&raw, 3, 8);
	c.prp1 = page_address(&raw, 4) + 1024;
	c.prp2 = page_address(&raw, 6);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	assert_buffer(&raw, 4 * 4096 + 1024, 3 * 512, 3072);
	assert_buffer(&raw, 6 * 4096, 3 * 512 + 3072, 1024);
}

/* At the end of a memory page the list goes on where its last entry says. */
static void follows_a_list_to_the_next_page(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 2 << 20, &raw); /* a page of list a slot */
	fill_store(t);
	c = read_command(&raw, 64, 32);
	c.prp2 = raw.q->prp_list_bus + 4096 - 16;
	write_list(&raw, 510, page_address(&raw, 5));
	write_list(&raw, 511, raw.q->prp_list_bus + 3 * 4096);
	write_list(&raw, 3 * 512, page_address(&raw, 3));
	write_list(&raw, 3 * 512 + 1, page_address(&raw, 4));
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	assert_buffer(&raw, 0, 64 * 512, 4096);
	assert_buffer(&raw, 5 * 4096, 64 * 512 + 4096, 4096);
	assert_buffer(&raw, 3 * 4096, 64 * 512 + 2 * 4096, 8192);
	/* The last entry itself names a page when nothing comes behind it. */
	c = read_command(&raw, 64, 24);
	c.prp2 = raw.q->prp_list_bus + 4096 - 16;
	write_list(&raw, 511, page_address(&raw, 8));
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
	assert_buffer(&raw, 8 * 4096, 64 * 512 + 2 * 4096, 4096);
	/* A list that leads to itself comes to an end. */
	c = read_command(&raw, 64, 32);
	c.prp2 = raw.q->prp_list_bus + 4096 - 8;
	write_list(&raw, 511, c.prp2);
	assert_int_equal(raw_execute(&raw, &c), GN_NVME_INVALID_FIELD);
}

/* The same against a file: segments that are not aligned or not in one piece. */
static void moves_odd_segments_of_a_file(void **state)
{
	static const char *const ways[] = {"?queues=1", "?queues=1&direct=0", "?queues=1&io=threads"};
	struct store_test *t = (struct store_test *)*state;

	needs_cpu(t);
	for (unsigned way = 0; way < 3; way++) {
		struct gn_nvme_command c;
		struct raw raw;

		make_file(t, 100000, 1);
		open_file(t, "file", ways[way], NULL);
		raw_init(&raw, t->store);
		c = read_command(&raw, 3, 8);
		c.prp1 = page_address(&raw, 4) + 20;
		c.prp2 = page_address(&raw, 6);
		assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
		assert_buffer(&raw, 4 * 4096 + 20, 3 * 512, 4076);
		assert_buffer(&raw, 6 * 4096, 3 * 512 + 4076, 20);
		c.opcode = GN_NVME_WRITE;
		c.lba = 50;
		assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
		c = read_command(&raw, 50, 8);
		assert_int_equal(raw_execute(&raw, &c), GN_NVME_OK);
		assert_buffer(&raw, 0, 3 * 512, 4096);
		assert_content(t, 0, 25600, 1);
		assert_content(t, 25600 + 4096, 100000 - 25600 - 4096, 1);
		close_store(t);
	}
}

static void completes_equal_ids_each(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	c = read_command(&raw, 0, 1);
	for (unsigned k = 0; k < 7; k++)
		raw_post(&raw, &c);
	for (unsigned k = 0; k < 7; k++)
		assert_int_equal(raw_wait(&raw), GN_NVME_OK);
}

/* Nobody takes completions: the controller waits for room and goes on when there is some. */
static void waits_while_completions_are_not_taken(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct timespec pause = {0, 20000000};
	struct gn_nvme_command c;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	c = read_command(&raw, 0, 1);
	for (unsigned k = 0; k < 7; k++)
		raw_post(&raw, &c);
	assert_int_not_equal(raw_peek(&raw, 6), UINT32_MAX); /* all seven were fetched */
	for (unsigned k = 0; k < 4; k++)
		raw_post(&raw, &c);
	nanosleep(&pause, NULL);
	for (unsigned k = 0; k < 11; k++)
		assert_int_equal(raw_wait(&raw), GN_NVME_OK);
}

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Near enough to a right command to get far. */
static struct gn_nvme_command random_command(const struct raw *raw, uint64_t *state)
{
	struct gn_nvme_command c =
	    read_command(raw, draw(state) % (BLOCKS + 16), (uint32_t)(1 + draw(state) % 140));
	uint64_t change = draw(state);

	c.opcode = (uint8_t)(draw(state) % 4);
	c.cid = (uint16_t)draw(state);
	c.prp1 = page_address(raw, (uint32_t)(draw(state) % 130));
	c.prp2 = draw(state) % 2 ? raw->q->prp_list_bus + draw(state) % 1030 * 8
	                         : page_address(raw, (uint32_t)(draw(state) % 130));
	if (change % 8 == 0)
		((unsigned char *)&c)[change / 8 % 64] ^= (unsigned char)(change >> 20);
	write_list(raw, (uint32_t)(draw(state) % 128),
	           draw(state) % 8 ? page_address(raw, (uint32_t)(draw(state) % 128)) : draw(state));
	return c;
}

static void survives_rubbish(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	uint64_t seed = 1;
	uint32_t good = 0, bad = 0;
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	for (unsigned k = 0; k < 20000; k++) {
		struct gn_nvme_command c = random_command(&raw, &seed);
		uint32_t status = raw_execute(&raw, &c);

		assert_int_not_equal(status, 0xffff);
		good += !status;
		bad += !!status;
	}
	assert_true(good > 1000 && bad > 1000);
}

static void survives_doorbells_that_show_nonsense(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct timespec pause = {0, 20000000};
	struct raw raw;

	open_memq(t, "", 65536, &raw);
	simt_store_release_sys_u32(raw.q->sq_doorbell, 0xfffffff0);
	nanosleep(&pause, NULL);
	simt_store_release_sys_u32(raw.q->cq_doorbell, 0xfffffff0);
	nanosleep(&pause, NULL);
	close_store(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(refuses_unknown_opcodes),
	    store_case(refuses_other_namespaces),
	    store_case(refuses_fields_it_does_not_know),
	    store_case(refuses_blocks_past_the_end),
	    store_case(refuses_transfers_that_are_too_large),
	    store_case(protects_what_is_read_only),
	    store_case(touches_no_other_memory),
	    store_case(refuses_addresses_that_are_not_aligned),
	    store_case(scatters_over_a_list),
	    store_case(begins_inside_a_page),
	    store_case(follows_a_list_to_the_next_page),
	    store_case(moves_odd_segments_of_a_file),
	    store_case(completes_equal_ids_each),
	    store_case(waits_while_completions_are_not_taken),
	    store_case(survives_rubbish),
	    store_case(survives_doorbells_that_show_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
