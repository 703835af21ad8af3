/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels put into a store is what kernels and the host get out of it, whatever the store, and nothing
 * else.
 */
#include <sys/mount.h>

#include "test_store_support.h"

enum { WRITE_PAGES, READ_PAGES };

/* Each thread (or warp, when collective) moves every threads-th page, and checks what it reads. */
struct job {
	struct gn_store_view store;
	char *buffer;    /* a page a thread */
	uint32_t *wrong; /* [0] bytes that differ, [1] transfers that failed, [2] the last code, [3] device
	                    status */
	uint32_t page_bytes, round, what, collective;
};

SIMT_FN void note_failure(const struct job *j, struct gn_store_status s)
{
	simt_add_relaxed_dev_u32(&j->wrong[1], 1);
	simt_store_relaxed_dev_u32(&j->wrong[2], (uint32_t)s.code);
	simt_store_relaxed_dev_u32(&j->wrong[3], s.device);
}

SIMT_FN void move_page(const struct job *j, uint32_t mask, char *buffer, uint64_t offset, uint32_t bytes)
{
	struct gn_store_status s;
	uint32_t differ = 0;

	if (j->what == WRITE_PAGES) {
		for (uint32_t k = simt_rank(mask); k < bytes; k += simt_popcount(mask))
			buffer[k] = (char)byte_of(offset + k, j->round);
		simt_warp_sync(mask);
		s = gn_store_write_warp(&j->store, mask, simt_rank(mask) == 0, offset, buffer, bytes);
	} else {
		s = gn_store_read_warp(&j->store, mask, simt_rank(mask) == 0, offset, buffer, bytes);
		s = gn__store_share(mask, simt_first_lane(mask), s);
		for (uint32_t k = 0; !s.code && k < bytes; k++)
			differ += (unsigned char)buffer[k] != byte_of(offset + k, j->round);
		simt_warp_sync(mask);
	}
	if (s.code && simt_lane() == simt_first_lane(mask))
		note_failure(j, s);
	if (differ)
		simt_add_relaxed_dev_u32(&j->wrong[0], differ);
}

SIMT_FN void move_pages(const struct job *j)
{
	uint32_t width = j->collective ? simt_warp_width() : 1;
	uint32_t mask = j->collective ? simt_active() : 1u << simt_lane();
	uint64_t me = simt_global_thread() / width, all = simt_global_threads() / width;
	char *buffer = j->buffer + me * j->page_bytes;

	for (uint64_t at = me * j->page_bytes; at < j->store.capacity_bytes; at += all * j->page_bytes) {
		uint64_t left = j->store.capacity_bytes - at;

		move_page(j, mask, buffer, at, left < j->page_bytes ? (uint32_t)left : j->page_bytes);
	}
}
SIMT_KERNEL(move_pages, struct job)

struct outcome {
	uint32_t differ, failed;
	int32_t code;
	uint32_t device;
};

static struct outcome run(struct store_test *t, uint32_t threads, uint32_t page_bytes, uint32_t what,
                          uint32_t round)
{
	struct simt_grid grid = {threads / 32, 32, 0};
	struct outcome outcome;
	struct simt_info info;
	struct job j;

	memset(&j, 0, sizeof j);
	simt_describe(t->machine, &info);
	j.store = *gn_store_view_of(t->store);
	j.buffer = (char *)simt_alloc(t->machine, (size_t)threads * page_bytes, SIMT_DEVICE, &t->error);
	j.wrong = (uint32_t *)simt_alloc(t->machine, sizeof outcome, SIMT_DEVICE, &t->error);
	j.page_bytes = page_bytes;
	j.round = round;
	j.what = what;
	j.collective = info.warp_width > 1;
	assert_non_null(j.buffer);
	assert_int_equal(simt_launch(t->machine, &move_pages_kernel, grid, &j, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	simt_move(t->machine, &outcome, j.wrong, sizeof outcome, &t->error);
	simt_free(t->machine, j.buffer);
	simt_free(t->machine, j.wrong);
	return outcome;
}

static void must(struct store_test *t, uint32_t threads, uint32_t page_bytes, uint32_t what, uint32_t round)
{
	struct outcome o = run(t, threads, page_bytes, what, round);

	if (o.failed || o.differ)
		fail_msg("%s: %u transfers failed (last with %d, %#x), %u bytes differ",
		         gn_store_path(t->store), o.failed, o.code, o.device, o.differ);
}

/* Kernels write, kernels read, the host reads; twice, so that what is overwritten shows. */
static void round_trip(struct store_test *t, uint32_t threads, uint32_t page_bytes)
{
	for (uint32_t round = 1; round <= 2; round++) {
		must(t, threads, page_bytes, WRITE_PAGES, round);
		must(t, threads, page_bytes, READ_PAGES, round);
		assert_content(t, 0, (size_t)gn_store_view_of(t->store)->capacity_bytes, round);
	}
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
}

/* ... and it is still there when the file is opened again. */
static void file_round_trip(struct store_test *t, const char *scheme, const char *more, uint32_t page_bytes)
{
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.transfer_bytes = page_bytes;
	open_file(t, scheme, more, &options);
	round_trip(t, 256, page_bytes);
	close_store(t);
	open_file(t, scheme, "?ro", &options);
	must(t, 64, page_bytes, READ_PAGES, 2);
}

static void host_memory_keeps_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "host:3M", NULL);
	assert_int_equal(gn_store_view_of(t->store)->kind, GN_STORE_MEMORY);
	round_trip(t, 256, 4096);
}

static void host_file_keeps_bytes(void **state)
{
	needs_cpu((struct store_test *)*state); /* a GPU does not write to mapped files */
	file_round_trip((struct store_test *)*state, "host", "?create=1M", 4096);
}

static void file_keeps_bytes(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=2M", 4096);
}

static void file_keeps_bytes_through_the_page_cache(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=1M&direct=0", 4096);
}

static void file_keeps_bytes_without_io_uring(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=1M&io=threads", 4096);
}

static void file_keeps_bytes_in_two_pages(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=1M", 8192);
}

static void file_keeps_bytes_in_large_pages(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=5M", 256 << 10);
}

static void file_keeps_bytes_in_blocks(void **state)
{
	file_round_trip((struct store_test *)*state, "file", "?create=100K", 512);
}

static void few_slots_serve_many_threads(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "memq:1M?queues=1&depth=2", NULL);
	round_trip(t, 512, 4096);
	close_store(t);
	open_uri(t, few_or_all("memq:512K?queues=3&depth=8&threads=3", "memq:2M?queues=3&depth=8&threads=3"),
	         NULL);
	round_trip(t, few_or_all(256, 1024), 4096);
}

static void full_warps_move_pages_together(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	simt_close(t->machine);
	t->machine = open_machine(2, 32);
	open_uri(t, few_or_all("memq:256K?depth=8", "memq:1M?depth=8"), NULL);
	round_trip(t, few_drawn(64, 256), 4096);
	close_store(t);
	file_round_trip(t, "file", few_or_all("?create=256K", "?create=1M"), 4096);
}

static void tickets_pass_their_end(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;

	memset(&options, 0, sizeof options);
	options.queue_start = UINT32_MAX;
	for (uint32_t depth = 2; depth <= 64; depth *= few_or_all(4, 2)) {
		char uri[64];

		snprintf(uri, sizeof uri, "memq:1M?queues=1&depth=%u", depth);
		open_uri(t, uri, &options);
		round_trip(t, 128, 4096);
		close_store(t);
	}
}

/* The last block is not whole: reads find zeros behind the end, writes leave the file's length alone. */
static void file_may_end_anywhere(void **state)
{
	static const uint32_t sizes[] = {1, 511, 513, 4097, 5000, 70001};
	struct store_test *t = (struct store_test *)*state;
	struct stat st;

	for (unsigned k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
		for (unsigned way = 0; way < 3; way++) {
			static const char *const ways[] = {"?queues=1", "?direct=0", "?io=threads"};

			make_file(t, sizes[k], 1);
			open_file(t, "file", ways[way], NULL);
			must(t, 32, 4096, READ_PAGES, 1);
			round_trip(t, 32, 4096);
			close_store(t);
			assert_int_equal(stat(t->file, &st), 0);
			assert_int_equal(st.st_size, sizes[k]);
		}
	}
}

static void bytes_behind_the_end_are_zeros(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_nvmeq *q;
	uint32_t cid, status;

	needs_cpu(t);
	make_file(t, 700, 1);
	open_file(t, "file", "?queues=1", NULL);
	q = gn_store_view_of(t->store)->queue;
	assert_int_equal(gn_nvmeq_begin(q, UINT64_MAX, &cid), 0);
	memset(gn_nvmeq_buffer(q, cid), 0xee, 4096);
	assert_int_equal(gn_nvmeq_post(q, cid, GN_NVME_READ, 0, 2), 0);
	assert_int_equal(gn_nvmeq_wait(q, cid, UINT64_MAX, &status), 0);
	for (unsigned k = 0; k < 1024; k++)
		assert_int_equal((unsigned char)gn_nvmeq_buffer(q, cid)[k], k < 700 ? byte_of(k, 1) : 0);
	assert_int_equal((unsigned char)gn_nvmeq_buffer(q, cid)[1024], 0xee);
	gn_nvmeq_end(q, cid);
}

static void few_bytes_anywhere(void **state)
{
	static const char *const schemes[] = {"file", "host"};
	struct store_test *t = (struct store_test *)*state;
	unsigned char value[16], got[16];

	needs_cpu(t);
	for (unsigned k = 0; k < 2; k++) {
		const struct gn_store_view *view;

		make_file(t, 5000, 1);
		open_file(t, schemes[k], "", NULL);
		view = gn_store_view_of(t->store);
		assert_int_equal(gn_store_read_thread(view, 1000, got, 16).code, 0);
		for (unsigned b = 0; b < 16; b++)
			assert_int_equal(got[b], byte_of(1000 + b, 1));
		memset(value, 0xa5, sizeof value);
		assert_int_equal(gn_store_write_thread(view, 4992, value, 8).code, 0);
		assert_int_equal(gn_store_write_thread(view, 1, value, 1).code, 0);
		assert_content(t, 2, 4990, 1);
		assert_int_equal(gn_store_read_thread(view, 4992, got, 8).code, 0);
		assert_memory_equal(got, value, 8);
		close_store(t);
	}
}

static void host_reaches_any_range(void **state)
{
	static const char *const uris[] = {"host:1M", "memq:1M"};
	struct store_test *t = (struct store_test *)*state;
	unsigned char bytes[1000];

	for (unsigned k = 0; k < 2; k++) {
		open_uri(t, uris[k], NULL);
		for (unsigned b = 0; b < sizeof bytes; b++)
			bytes[b] = byte_of(777 + b, 3);
		assert_int_equal(gn_store_write_host(t->store, 777, bytes, sizeof bytes, &t->error), 0);
		assert_content(t, 777, sizeof bytes, 3);
		assert_int_equal(gn_store_write_host(t->store, (1 << 20) - 999, bytes, 1000, &t->error),
		                 -GN_ERANGE);
		assert_says(t, uris[k], "1048576");
		assert_int_equal(gn_store_read_host(t->store, UINT64_MAX, bytes, 2, &t->error), -GN_ERANGE);
		close_store(t);
	}
}

static void read_only_refuses_writes(void **state)
{
	static const char *const schemes[] = {"file", "host"};
	struct store_test *t = (struct store_test *)*state;
	char byte = 0;

	for (unsigned k = 0; k < 2; k++) {
		struct outcome o;

		make_file(t, 8192, 1);
		open_file(t, schemes[k], "?ro", NULL);
		o = run(t, 32, 4096, WRITE_PAGES, 2);
		assert_int_equal(o.failed, 2);
		assert_int_equal(o.code, -GN_EROFS);
		assert_int_equal(gn_store_write_host(t->store, 0, &byte, 1, &t->error), -GN_EROFS);
		assert_says(t, t->file, "without ?ro");
		must(t, 32, 4096, READ_PAGES, 1);
		close_store(t);
	}
}

static void shortened_file_fails_instead_of_zeros(void **state)
{
	static const char *const ways[] = {"", "?direct=0", "?io=threads"};
	struct store_test *t = (struct store_test *)*state;

	for (unsigned way = 0; way < 3; way++) {
		struct gn_store_statistics count;
		struct outcome o;
		char byte;

		make_file(t, 65536, 1);
		open_file(t, "file", ways[way], NULL);
		assert_int_equal(truncate(t->file, 10000), 0);
		o = run(t, 32, 4096, READ_PAGES, 1);
		assert_int_equal(o.differ, 0);
		assert_int_equal(o.failed, 14); /* pages 0 and 1 are whole, page 2 lacks bytes */
		assert_int_equal(o.code, -GN_EIO);
		assert_int_equal(o.device, GN_NVME_UNRECOVERED_READ);
		assert_int_equal(gn_store_read_host(t->store, 20000, &byte, 1, &t->error), -GN_EIO);
		assert_says(t, t->file, "shortened");
		gn_store_get_statistics(t->store, &count);
		assert_int_equal(count.failed, 14);
		assert_int_equal(count.reads, 2);
		close_store(t);
	}
}

static void counts_what_moved(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_statistics count;

	open_file(t, "file", "?create=1M", NULL);
	must(t, 64, 4096, WRITE_PAGES, 1);
	must(t, 64, 8192, READ_PAGES, 1);
	gn_store_get_statistics(t->store, &count);
	assert_int_equal(count.writes, 256);
	assert_int_equal(count.written_bytes, 1 << 20);
	assert_int_equal(count.reads, 128);
	assert_int_equal(count.read_bytes, 1 << 20);
	assert_int_equal(count.failed, 0);
}

static void flush_command_completes(void **state)
{
	static const char *const ways[] = {"?create=64K", "?io=threads"};
	struct store_test *t = (struct store_test *)*state;

	needs_cpu(t);
	for (unsigned way = 0; way < 2; way++) {
		const struct gn_nvmeq *q;
		uint32_t cid, status = 1;

		open_file(t, "file", ways[way], NULL);
		q = gn_store_view_of(t->store)->queue;
		assert_int_equal(gn_nvmeq_begin(q, UINT64_MAX, &cid), 0);
		assert_int_equal(gn_nvmeq_post(q, cid, GN_NVME_FLUSH, 0, 0), 0);
		assert_int_equal(gn_nvmeq_wait(q, cid, UINT64_MAX, &status), 0);
		assert_int_equal(status, 0);
		gn_nvmeq_end(q, cid);
		close_store(t);
	}
}

/* A sparse file on a file system of one megabyte. */
static void full_disk_fails_writes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[256], bytes[4096];
	struct outcome o;

	if (mount("grapnel-test", t->folder, "tmpfs", 0, "size=1m"))
		skip();
	snprintf(uri, sizeof uri, "file:%s?create=8M", t->file);
	if (gn_store_open(&t->store, t->machine, uri, NULL, &t->error)) {
		umount2(t->folder, MNT_DETACH);
		fail_msg("%s", t->error.text);
	}
	o = run(t, 64, 4096, WRITE_PAGES, 1);
	memset(bytes, 0, sizeof bytes);
	for (uint64_t at = 0; at < 8 << 20; at += sizeof bytes)
		if (gn_store_write_host(t->store, at, bytes, sizeof bytes, &t->error))
			break;
	close_store(t);
	unlink(t->file);
	/* the system closes the files of a ring a little later */
	umount2(t->folder, MNT_DETACH);
	assert_true(o.failed >= 7 * 256);
	assert_int_equal(o.code, -GN_ENOSPC);
	assert_int_equal(o.device, GN_NVME_CAPACITY_EXCEEDED);
	assert_int_equal(t->error.code, -GN_ENOSPC);
	assert_says(t, t->file, "space");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(host_memory_keeps_bytes),
	    store_case(host_file_keeps_bytes),
	    store_case(file_keeps_bytes),
	    store_case(file_keeps_bytes_through_the_page_cache),
	    store_case(file_keeps_bytes_without_io_uring),
	    store_case(file_keeps_bytes_in_two_pages),
	    store_case(file_keeps_bytes_in_large_pages),
	    store_case(file_keeps_bytes_in_blocks),
	    store_case(few_slots_serve_many_threads),
	    store_case(full_warps_move_pages_together),
	    store_case(tickets_pass_their_end),
	    store_case(file_may_end_anywhere),
	    store_case(bytes_behind_the_end_are_zeros),
	    store_case(few_bytes_anywhere),
	    store_case(host_reaches_any_range),
	    store_case(read_only_refuses_writes),
	    store_case(shortened_file_fails_instead_of_zeros),
	    store_case(counts_what_moved),
	    store_case(flush_command_completes),
	    store_case(full_disk_fails_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
