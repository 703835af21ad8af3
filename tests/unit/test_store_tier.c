/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tier: stores hold what is written, whatever is slow behind them and however small the memory is that keeps
 * its lines; what cannot be written to the slow store stays, and is told. On a GPU the fast level is the
 * memory of a second one, or its own.
 */
#include "test_set_support.h"

enum { LINE = 4096, SMALL = 16 * LINE, SLOW = 60 * LINE };

static struct gn_store_statistics counted(const struct store_test *t)
{
	struct gn_store_statistics s;

	gn_store_get_statistics(t->store, &s);
	return s;
}

static void flush(struct store_test *t)
{
	if (gn_store_flush(t->store, &t->error))
		fail_msg("%s", t->error.text);
}

/* ---- what is written is read ---- */

/* The slow stores of a test; %F is a file of the test's. */
static const char *const slow_stores[] = {
    "memq:240K",
    "host:240K",
    "file:%F0?queues=2",
    "stripe:unit=4K,memq:80K,memq:80K,memq:80K",
    "replica:memq:240K,memq:240K",
    "memq:240K?queues=1&depth=2",
};
enum { SLOW_STORES = sizeof slow_stores / sizeof *slow_stores };

/* Options and host:SIZE, or the same with memory of a GPU. Valid until the next call. */
static const char *begin_of(const struct store_test *t, const char *begin)
{
	static char text[200];
	const char *host = strstr(begin, "host:");

	if (!is_cuda(t) || !host)
		return begin;
	snprintf(text, sizeof text, "%.*speer:%d?size=%s", (int)(host - begin), begin,
	         simt_devices("cuda") > 1, host + 5);
	return text;
}

/* A tier before one of them. Valid until the next call. */
static const char *tier_uri(const struct store_test *t, const char *begin, const char *slow)
{
	static char uri[600];
	const char *file = strstr(slow, "%F0");

	if (file)
		snprintf(uri, sizeof uri, "tier:%s,%.*s%s%s", begin_of(t, begin), (int)(file - slow), slow,
		         member_path(t, 0), file + 3);
	else
		snprintf(uri, sizeof uri, "tier:%s,%s", begin_of(t, begin), slow);
	return uri;
}

static void open_tier(struct store_test *t, const char *begin, const char *slow)
{
	make_member(t, 0, SLOW);
	open_uri(t, tier_uri(t, begin, slow), NULL);
}

static void kernels_and_host_find_the_same_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	for (unsigned k = 0; k < SLOW_STORES; k++) {
		open_tier(t, k & 1 ? "host:64K" : "host:1M", slow_stores[k]);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, SLOW);
		for (uint32_t page = 512; page <= LINE; page *= 2) {
			must_move_lanes(t, page, 1, page);
			must_move_lanes(t, page, 0, page);
			assert_content(t, 0, SLOW, page);
			must_move_lanes(t, page, 0, page);
		}
		flush(t);
		close_store(t);
	}
}

static void wide_warps_move_many_lines_together(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	simt_close(t->machine);
	t->machine = open_machine(2, 32);
	for (unsigned k = 0; k < SLOW_STORES; k++) {
		open_tier(t, "host:64K", slow_stores[k]);
		for (uint32_t page = 1024; page <= LINE; page *= 4) {
			must_move_lanes(t, page, 1, k + page);
			must_move_lanes(t, page, 0, k + page);
		}
		assert_content(t, 0, SLOW, k + LINE);
		close_store(t);
	}
}

static void what_was_written_is_there_when_it_is_opened_again(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char found[5 * LINE];

	open_tier(t, "host:1M", "file:%F0");
	must_move_lanes(t, LINE, 1, 1);
	flush(t);
	read_member(t, 0, 3 * LINE, found, sizeof found); /* around the store: the slow one has it */
	for (unsigned k = 0; k < sizeof found; k++)
		assert_int_equal(found[k], byte_of(3 * LINE + k, 1));
	must_move_lanes(t, 512, 1, 2);
	close_store(t); /* writes it, too */
	make_file(t, 1, 0);
	open_uri(t, tier_uri(t, "ro,host:64K", "file:%F0"), NULL);
	must_move_lanes(t, LINE, 0, 2);
	assert_content(t, 0, SLOW, 2);
}

static void the_host_writes_over_lines_that_are_kept(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char model[SLOW], got[SLOW];
	uint64_t random = 7;

	needs_cpu(t);
	open_tier(t, "host:1M", "memq:240K");
	must_move_lanes(t, LINE, 1, 1);
	assert_int_equal(gn_store_read_host(t->store, 0, model, sizeof model, &t->error), 0);
	for (int k = 0; k < 40; k++) {
		const uint64_t at = walk_next(&random) % sizeof model;
		const size_t bytes = walk_next(&random) % (sizeof model - at) % 9000 + 1;
		struct gn_store_status s;

		for (size_t i = 0; i < bytes; i++)
			model[at + i] = (unsigned char)walk_next(&random);
		assert_int_equal(gn_store_write_host(t->store, at, &model[at], bytes, &t->error), 0);
		s = gn_store_read_warp(gn_store_view_of(t->store), 1, 1, at / LINE * LINE, got, LINE);
		assert_int_equal(s.code, 0);
		assert_memory_equal(got, &model[at / LINE * LINE], LINE);
	}
	assert_int_equal(gn_store_read_host(t->store, 0, got, sizeof got, &t->error), 0);
	assert_memory_equal(got, model, sizeof model);
	assert_int_equal(gn_store_read_host(t->store, sizeof model, got, 1, &t->error), -GN_ERANGE);
}

static void threads_read_and_write_few_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const struct gn_store_view *view;
	unsigned char value[16], got[16];

	needs_cpu(t);
	for (unsigned s = 0; s < SLOW_STORES; s++) {
		open_tier(t, "host:64K", slow_stores[s]);
		view = gn_store_view_of(t->store);
		for (uint64_t at = 0; at + 16 <= view->capacity_bytes; at += 3 * LINE + 1040) {
			for (unsigned k = 0; k < 16; k++)
				value[k] = byte_of(at + k, s);
			assert_int_equal(gn_store_write_thread(view, at, value, 16).code, 0);
			assert_int_equal(gn_store_read_thread(view, at + 3, got, 9).code, 0);
			assert_memory_equal(got, value + 3, 9);
		}
		for (uint64_t at = 0; at + 16 <= view->capacity_bytes; at += 3 * LINE + 1040) {
			assert_int_equal(gn_store_read_thread(view, at, got, 16).code, 0);
			for (unsigned k = 0; k < 16; k++)
				assert_int_equal(got[k], byte_of(at + k, s));
		}
		close_store(t);
	}
}

/* The last line and the last block are not whole. */
static void a_store_may_end_inside_a_line(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const size_t bytes = 20 * LINE + 777;
	char uri[400];

	for (int slow = 0; slow < 2 - is_cuda(t); slow++) { /* a GPU does not write a mapped file */
		make_file(t, bytes, 3);
		snprintf(uri, sizeof uri, "tier:%s,%s:%s", begin_of(t, "host:64K"), slow ? "host" : "file",
		         t->file);
		open_uri(t, uri, NULL);
		assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, bytes);
		must_move_lanes(t, 512, 0, 3); /* all whole pages */
		assert_content(t, 0, bytes, 3);
		must_move_lanes(t, 512, 1, 4);
		close_store(t);
		open_uri(t, uri, NULL);
		assert_content(t, 0, 20 * LINE + 512, 4);
		assert_content(t, 20 * LINE + 512, 265, 3);
		close_store(t);
	}
}

static void an_array_with_write_back_is_as_one_in_memory(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct walk_test w;

	for (unsigned k = 0; k < few_drawn(2, SLOW_STORES); k++) {
		open_tier(t, "host:64K", slow_stores[k]);
		walk_open(&w, t, k & 1 ? LINE : 512);
		for (uint32_t seed = 1; seed <= 3; seed++) {
			walk_run(&w, t, seed, 25);
			assert_int_equal(w.failed, 0);
			assert_int_equal(w.wrong, 0);
			if (gn_cache_flush(w.cache, &t->error))
				fail_msg("%s", t->error.text);
			walk_compare(&w, t);
		}
		walk_close(&w, t);
		close_store(t);
	}
}

/* ---- what it counts ---- */

/* Twelve lines are read, of which the fast level has room for all; then more than it has room for. */
static void hits_and_misses_are_counted(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_statistics s;
	unsigned char page[LINE];

	needs_cpu(t);
	open_tier(t, "host:64K", "memq:240K");
	for (int round = 0; round < 3; round++)
		for (uint64_t line = 0; line < 12; line++)
			assert_int_equal(
			    gn_store_read_warp(gn_store_view_of(t->store), 1, 1, line * LINE, page, LINE)
			        .code,
			    0);
	s = counted(t);
	assert_int_equal(s.hits, 24);
	assert_int_equal(s.misses, 12);
	assert_int_equal(s.evictions, 0);
	assert_int_equal(s.reads, 12);  /* of the slow store */
	must_move_lanes(t, LINE, 1, 1); /* whole lines are written without a look at the slow store */
	s = counted(t);
	assert_int_equal(s.reads, 12);
	assert_int_equal(s.hits + s.misses, 36 + 60);
	flush(t);
	s = counted(t);
	assert_int_equal(s.write_backs, 60);
	assert_int_equal(s.writes, 60);
	assert_int_equal(s.unwritten, 0);
	assert_int_equal(s.evictions, 60 + 12 - 16 - (s.hits - 24));
	flush(t); /* has nothing to do */
	assert_int_equal(counted(t).write_backs, 60);
}

/* ---- failures ---- */

/* One command of a hundred fails, for good: each access is right or an error, and what could not be written
 * is kept until it can. */
static void failures_of_the_slow_store_lose_nothing(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct walk_test w;
	uint64_t unwritten = 0;
	int rc;

	plan_faults(&options, &plan);
	plan.fail_ppm = 10000;
	for (plan.seed = 1; plan.seed <= few_drawn(2, 6); plan.seed++) {
		open_uri(t, tier_uri(t, "host:64K", "memq:240K"), &options);
		walk_open(&w, t, plan.seed & 1 ? 512 : LINE);
		walk_run(&w, t, (uint32_t)plan.seed, 80);
		assert_int_equal(w.wrong, 0);
		gn_array_failure(&w.job.array, &t->error);
		for (int tries = 0; (rc = gn_cache_flush(w.cache, &t->error)) != 0 && tries < 50; tries++)
			assert_int_equal(rc, -GN_EIO);
		assert_int_equal(rc, 0);
		for (int tries = 0; (rc = gn_store_flush(t->store, &t->error)) != 0 && tries < 50; tries++)
			assert_int_equal(rc, -GN_EIO);
		assert_int_equal(rc, 0);
		unwritten += counted(t).unwritten;
		walk_close(&w, t);
		for (uint32_t page = 0; page < SLOW;
		     page += LINE) { /* what it has, and no fault of the host */
			uint32_t got[LINE / 4];

			assert_int_equal(gn_store_read_host(t->store, page, got, LINE, &t->error), 0);
		}
		close_store(t);
	}
	assert_true(unwritten > 0);
}

/* Commands are lost, come late, twice and out of order, and fail. Blocks of a write that was lost stay
 * refused, so a flush may fail for good. */
static void no_fault_of_the_slow_store_gives_wrong_bytes(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct walk_test w;

	plan_faults(&options, &plan);
	options.timeout_ns = 50000000;
	plan.fail_ppm = plan.drop_ppm = plan.duplicate_ppm = 10000;
	plan.reorder_ppm = 50000;
	for (plan.seed = 1; plan.seed <= few_drawn(1, 3); plan.seed++) {
		open_uri(t, tier_uri(t, "host:64K", "memq:240K"), &options);
		walk_open(&w, t, plan.seed & 1 ? 512 : LINE);
		for (uint32_t round = 0; round < 3; round++) {
			walk_run(&w, t, (uint32_t)plan.seed * 3 + round, 20);
			assert_int_equal(w.wrong, 0);
			gn_array_failure(&w.job.array, &t->error);
		}
		gn_cache_flush(w.cache, &t->error);
		walk_close(&w, t);
		close_store(t);
	}
}

/* Nothing can be written to the slow store: what lies in the fast level is read as before; a write that finds
 * no room there fails; a flush says what is wrong. */
static void a_slow_store_that_cannot_be_written_is_told(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;
	struct lanes_outcome o;
	unsigned char page[LINE];

	plan_faults(&options, &plan);
	plan.fail_ppm = 1000000;
	plan.writes_only = 1;
	plan.fail_status = GN_NVME_WRITE_FAULT;
	open_uri(t, tier_uri(t, "host:64K", "memq:240K"), &options);
	o = move_lanes(t, LINE, 1, 1);
	assert_int_equal(o.failed, SLOW / LINE - 16);
	assert_int_equal(o.code, -GN_EIO);
	assert_int_equal(gn_store_flush(t->store, &t->error), -GN_EIO);
	assert_says(t, "16 lines could not be written", "flush again");
	o = move_lanes(t, LINE, 0, 1); /* 16 lines are right; of the others the slow store has zeros */
	assert_int_equal(o.failed, 0);
	assert_true(o.differ > 0 && o.differ <= SLOW - SMALL);
	assert_int_equal(counted(t).write_backs, 0);
	assert_int_equal(gn_store_write_host(t->store, 0, page, 1, &t->error) != 0 ||
	                     gn_store_flush(t->store, &t->error) != 0,
	                 1);
	assert_int_equal(move_lanes(t, LINE, 0, 1).differ, o.differ); /* still there */
}

/* Reads fail: each ends in an error, and the next one tries again. */
static void a_line_that_cannot_be_read_is_not_kept(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_options options;
	struct gn_fault_plan plan;

	plan_faults(&options, &plan);
	plan.fail_ppm = 500000;
	plan.fail_status = GN_NVME_UNRECOVERED_READ;
	plan.seed = 3;
	open_uri(t, tier_uri(t, "host:1M", "memq:240K"), &options);
	for (int round = 0; round < 40; round++) {
		const struct lanes_outcome o = move_lanes(t, 1024, 0, 0);

		assert_true(!o.failed || o.code == -GN_EIO);
		if (!o.failed)
			return;
	}
	fail_msg("some lines were never read");
}

/* ---- what is refused, and what is not ---- */

static void without_memory_for_the_fast_level_it_is_only_slower(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_store_member m;
	unsigned char value[16] = "a few bytes", got[16];

	needs_cpu(t);
	open_tier(t, "host:4000000T?memory=device", "memq:240K");
	must_move_lanes(t, LINE, 1, 1);
	must_move_lanes(t, 512, 0, 1);
	assert_content(t, 0, SLOW, 1);
	assert_int_equal(gn_store_write_thread(gn_store_view_of(t->store), 8, value, 16).code, 0);
	assert_int_equal(gn_store_read_thread(gn_store_view_of(t->store), 8, got, 16).code, 0);
	assert_memory_equal(value, got, 16);
	flush(t);
	assert_int_equal(counted(t).members_out, 1);
	assert_int_equal(gn_store_get_member(t->store, 0, &m), 0);
	assert_int_equal(m.use, GN_MEMBER_MISSING);
	assert_non_null(strstr(m.text, "smaller size"));
	assert_int_equal(gn_store_get_member(t->store, 1, &m), 0);
	assert_int_equal(m.use, GN_MEMBER_USED);
	assert_string_equal(m.uri, "memq:240K");
	assert_int_equal(gn_store_get_member(t->store, 2, &m), -GN_ERANGE);
	assert_non_null(strstr(gn_store_path(t->store), "no memory for a fast level"));
}

static void refused(struct store_test *t, int code, const char *uri, const char *one, const char *two)
{
	assert_int_equal(gn_store_open(&t->store, t->machine, uri, NULL, &t->error), code);
	assert_null(t->store);
	assert_says(t, one, two);
}

static void a_wrong_uri_says_what_to_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char uri[300];

	refused(t, -GN_EINVAL, "tier:host:64K", "one level", "tier:FAST,SLOW");
	refused(t, -GN_EINVAL, "tier:", "empty", "tier:URI,URI");
	refused(t, -GN_EINVAL, "tier:line=3K,host:64K,memq:64K", "line=3K", "power of two");
	refused(t, -GN_EINVAL, "tier:line=4M,host:64K,memq:64K", "line=4M", "512 to 2M");
	refused(t, -GN_EINVAL, "tier:line=256,host:64K,memq:64K", "line=256", "512 to 2M");
	refused(t, -GN_EINVAL, "tier:size=4K,host:64K,memq:64K", "size=4K", "behind a ?");
	refused(t, -GN_EINVAL, "tier:host:63K,memq:64K", "64512 bytes", "fewer than 16 lines");
	refused(t, -GN_EINVAL, "tier:peer:1,memq:64K", "the fast level", "add ?size=");
	refused(t, -GN_ENOTSUP, "tier:memq:64K,memq:64K", "memq:64K", "host:SIZE");
	refused(t, -GN_ENOTSUP, "tier:host:64K?ro,memq:64K", "host:64K?ro", "begins empty");
	refused(t, -GN_EINVAL, "tier:host:64K,memq:64K,memq:64K", "slow store", "memq:64K,memq:64K");
	refused(t, -GN_ENOTSUP, "tier:host:64K,tier:host:64K,memq:64K", "a tier itself", "behind it");
	refused(t, -GN_EINVAL, "tier:line=128K,host:4M,memq:640K", "131072 bytes are larger",
	        "transfer=131072");
	refused(t, -GN_EINVAL, "tier:line=64K,host:4M,stripe:unit=4K,memq:64K,memq:64K", "unit=", "4096");
	refused(t, -GN_ENOENT, "tier:host:64K,file:/not/there", "the slow store", "/not/there");
	refused(t, -GN_EINVAL, "stripe:tier:host:64K,memq:64K", "member 1 of 2", "one level");
	make_file(t, SMALL, 0); /* a file of somebody's is no room for lines */
	snprintf(uri, sizeof uri, "tier:host:%s,memq:64K", t->file);
	refused(t, -GN_ENOTSUP, uri, t->file, is_cuda(t) ? "mapped file" : "begins empty");
}

static void pages_fit_into_lines(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_cache *cache = NULL;
	struct gn_cache_options c;
	char bytes[2 * LINE];

	memset(&c, 0, sizeof c);
	c.page_bytes = 2 * LINE;
	c.bytes = 1 << 20;
	open_tier(t, "host:64K", "memq:240K");
	assert_int_equal(gn_cache_create(&cache, t->machine, &t->store, 1, &c, &t->error), -GN_EINVAL);
	assert_says(t, "line=8192", "tier");
	needs_cpu(t);
	assert_int_equal(gn_store_read_warp(gn_store_view_of(t->store), 1, 1, 2048, bytes, LINE).code,
	                 -GN_EINVAL);
	assert_int_equal(gn_store_write_warp(gn_store_view_of(t->store), 1, 1, SLOW, bytes, LINE).code,
	                 -GN_EINVAL);
	close_store(t);
	open_tier(t, "line=8K,host:128K", "memq:240K");
	must_move_lanes(t, 2 * LINE, 1, 1);
	must_move_lanes(t, 2 * LINE, 0, 1);
	close_store(t);
	open_tier(t, "line=512,host:8K", "memq:240K"); /* one set */
	must_move_lanes(t, 512, 1, 2);
	must_move_lanes(t, 512, 0, 2);
	assert_content(t, 0, SLOW, 2);
}

static void a_read_only_tier_is_not_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_tier(t, "ro,host:64K", "memq:240K");
	assert_int_equal(gn_store_write_host(t->store, 0, "x", 1, &t->error), -GN_EROFS);
	assert_int_equal(move_lanes(t, LINE, 1, 1).code, -GN_EROFS);
	assert_int_equal(counted(t).misses, 0);
	needs_cpu(t);
	assert_int_equal(gn_store_write_thread(gn_store_view_of(t->store), 8, "x", 1).code, -GN_EROFS);
	assert_int_equal(counted(t).misses, 0);
	close_store(t);
	open_tier(t, "ro,host:4000000T?memory=device", "host:240K"); /* the slow store alone */
	assert_int_equal(gn_store_write_thread(gn_store_view_of(t->store), 8, "x", 1).code, -GN_EROFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(kernels_and_host_find_the_same_bytes),
	    set_case(wide_warps_move_many_lines_together),
	    set_case(what_was_written_is_there_when_it_is_opened_again),
	    set_case(the_host_writes_over_lines_that_are_kept),
	    set_case(threads_read_and_write_few_bytes),
	    set_case(a_store_may_end_inside_a_line),
	    set_case(an_array_with_write_back_is_as_one_in_memory),
	    set_case(hits_and_misses_are_counted),
	    set_case(failures_of_the_slow_store_lose_nothing),
	    set_case(no_fault_of_the_slow_store_gives_wrong_bytes),
	    set_case(a_slow_store_that_cannot_be_written_is_told),
	    set_case(a_line_that_cannot_be_read_is_not_kept),
	    set_case(without_memory_for_the_fast_level_it_is_only_slower),
	    set_case(a_wrong_uri_says_what_to_write),
	    set_case(pages_fit_into_lines),
	    set_case(a_read_only_tier_is_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
