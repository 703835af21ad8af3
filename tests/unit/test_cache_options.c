/* SPDX-License-Identifier: Apache-2.0 */
/* What a cache can be made of, what it says to the rest, which table it chooses and how much that table may
 * cost. */
#include "test_cache_support.h"

#include <store/store.h>

/* A store of which nothing but its view is used. */
static struct gn_store *fake_store(uint64_t capacity, uint32_t block_bytes, uint32_t transfer_bytes)
{
	static const struct gn_store_ops ops = {0};
	static struct gn_store store;

	memset(&store, 0, sizeof store);
	store.ops = &ops;
	store.view.kind = transfer_bytes ? GN_STORE_QUEUES : GN_STORE_MEMORY;
	store.view.block_bytes = block_bytes;
	store.view.capacity_bytes = capacity;
	store.view.transfer_bytes = transfer_bytes;
	store.view.timeout_ns = 1000000000;
	snprintf(store.path, sizeof store.path, "a store of tests");
	return &store;
}

static int try_cache(struct cache_test *t, struct gn_store *store, const struct gn_cache_options *options)
{
	struct gn_cache *cache;
	int rc = gn_cache_create(&cache, t->machine, &store, 1, options, &t->error);

	if (rc)
		assert_null(cache);
	else
		gn_cache_destroy(cache);
	return rc;
}

static struct gn_cache_options options_of(uint64_t bytes, uint32_t page_bytes)
{
	struct gn_cache_options o;

	memset(&o, 0, sizeof o);
	o.bytes = bytes;
	o.page_bytes = page_bytes;
	return o;
}

static uint32_t page_without_a_wish(struct cache_test *t, struct gn_store *store, uint64_t bytes)
{
	struct gn_cache_options o = options_of(bytes, 0);
	struct gn_cache_info info;
	struct gn_cache *cache;

	assert_int_equal(gn_cache_create(&cache, t->machine, &store, 1, &o, &t->error), 0);
	assert_int_equal(gn_cache_describe(cache, &info, &t->error), 0);
	gn_cache_destroy(cache);
	return info.page_bytes;
}

/* Large pages where a page is a command, as long as there are many of them. */
static void pages_follow_the_store(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 16, 0), 32 << 20), 4096);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 65536), 32 << 20), 65536);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 65536), 16 << 20), 65536);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 65536), (16 << 20) - 1), 32768);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 65536), 256 << 10), 4096);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 2 << 20), 1 << 30), 65536);
	assert_int_equal(page_without_a_wish(t, fake_store(1 << 20, 512, 8192), 8 << 20), 8192);
}

static void refuses_page_sizes(void **state)
{
	static const uint32_t bad[] = {1, 256, 511, 513, 768, 4095, 5000, 3u << 20, 4u << 20, 0x80000000u};
	struct cache_test *t = (struct cache_test *)*state;

	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
		struct gn_cache_options o = options_of((uint64_t)1 << 40, bad[k]);
		char number[16];

		assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
		snprintf(number, sizeof number, "%u", bad[k]);
		assert_says(&t->error, number);
		assert_says(&t->error, "power of two from 512 to 2097152");
	}
}

static void takes_every_page_size(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t page = 512; page <= 2u << 20; page *= 2) {
		struct gn_cache_options o = options_of(8 * (uint64_t)page, page);

		assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), 0);
	}
}

static void page_size_0_is_4096(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 0);

	t->store = fake_store(1 << 20, 16, 0);
	open_cache(t, &o);
	assert_int_equal(info_of(t).page_bytes, 4096);
	assert_int_equal(info_of(t).frames, 256);
	close_cache(t);
	t->store = NULL;
}

static void refuses_less_than_one_set(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(3 * 4096, 4096);

	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "at least 16384 bytes");
	o.bytes = 0;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	o = options_of(8 * 4096 - 1, 4096);
	o.ways = 8;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "less than one set of 8 pages");
	o.bytes++;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), 0);
}

static void refuses_too_many_ways(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);

	o.ways = 17;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "17 frames a set (ways) are too many; give at most 16");
}

static void refuses_policies_and_tables_that_are_none(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);
	int three = 3;

	memcpy(&o.policy, &three, sizeof three);
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "policy");
	o = options_of(1 << 20, 4096);
	memcpy(&o.table, &three, sizeof three);
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "table");
}

static void refuses_pages_of_half_a_block(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 512);

	assert_int_equal(try_cache(t, fake_store(1 << 20, 4096, 65536), &o), -GN_EINVAL);
	assert_says(&t->error, "blocks of 4096");
	assert_says(&t->error, "a store of tests");
}

static void refuses_pages_larger_than_a_transfer(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(2 << 20, 65536);

	assert_int_equal(try_cache(t, fake_store(1 << 20, 512, 32768), &o), -GN_EINVAL);
	assert_says(&t->error, "32768");
	assert_says(&t->error, "transfer=65536");
	assert_int_equal(try_cache(t, fake_store(1 << 20, 512, 65536), &o), 0);
}

static void refuses_no_store_and_too_many(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);
	struct gn_store *stores[9];
	struct gn_cache *cache;

	for (int k = 0; k < 9; k++)
		stores[k] = fake_store(1 << 20, 16, 0);
	assert_int_equal(gn_cache_create(&cache, t->machine, stores, 0, &o, &t->error), -GN_EINVAL);
	assert_int_equal(gn_cache_create(&cache, t->machine, stores, 9, &o, &t->error), -GN_EINVAL);
	assert_says(&t->error, "give 1 to 8");
	o = options_of(64 << 10, 4096);
	assert_int_equal(try_cache(t, NULL, &o), -GN_EINVAL);
	assert_says(&t->error, "store 0 of 1 is NULL");
}

static void refuses_more_pages_than_a_table_can_name(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(64 << 10, 512);

	o.table = GN_TABLE_DIRECT;
	assert_int_equal(try_cache(t, fake_store((uint64_t)1 << 42, 16, 0), &o), -GN_EFBIG);
	assert_says(&t->error, "larger pages or the set table");
	o.table = GN_TABLE_SETS;
	assert_int_equal(try_cache(t, fake_store((uint64_t)1 << 50, 16, 0), &o), -GN_EFBIG);
	assert_says(&t->error, "larger pages or a larger cache");
	o.bytes = (uint64_t)1 << 40;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_EFBIG);
}

static void refuses_tables_larger_than_the_budget(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(64 << 20, 512);

	o.budget_bytes = 1; /* counts as 32 KiB */
	o.table = GN_TABLE_DIRECT;
	assert_int_equal(try_cache(t, fake_store((uint64_t)1 << 30, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "budget_bytes (32768 bytes)");
	o.table = GN_TABLE_SETS;
	o.ways = 1;
	assert_int_equal(try_cache(t, fake_store((uint64_t)1 << 30, 16, 0), &o), -GN_EINVAL);
	assert_says(&t->error, "more ways");
	o.ways = 2;
	assert_int_equal(try_cache(t, fake_store((uint64_t)1 << 30, 16, 0), &o), 0);
}

static void refuses_more_than_there_is_memory(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of((uint64_t)1 << 48, 2 << 20);

	o.table = GN_TABLE_SETS;
	assert_int_equal(try_cache(t, fake_store(1 << 20, 16, 0), &o), -GN_ENOMEM);
	assert_says(&t->error, "give a smaller cache");
}

static void an_empty_store_makes_an_empty_cache(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);

	assert_int_equal(try_cache(t, fake_store(0, 16, 0), &o), 0);
}

/* ---- tables and what they cost ---- */

static struct gn_cache_info info_with(struct cache_test *t, uint64_t capacity,
                                      const struct gn_cache_options *o)
{
	struct gn_cache_info info;

	t->store = fake_store(capacity, 16, 0);
	open_cache(t, o);
	info = info_of(t);
	close_cache(t);
	t->store = NULL;
	return info;
}

static void assert_within_bound(const struct gn_cache_info *f, uint64_t budget_bytes)
{
	assert_true(f->budget_bytes <= budget_bytes + f->frame_bytes / 50);
	if (f->metadata_bytes > budget_bytes + f->frame_bytes / 50)
		fail_msg("%llu bytes of metadata for %llu of frames and a budget of %llu",
		         (unsigned long long)f->metadata_bytes, (unsigned long long)f->frame_bytes,
		         (unsigned long long)budget_bytes);
}

static void the_budget_chooses_the_table(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);
	struct gn_cache_info f;

	o.budget_bytes = 1 << 20;
	f = info_with(t, (uint64_t)100000 * 4096, &o); /* 800 000 bytes of words */
	assert_int_equal(f.table, GN_TABLE_DIRECT);
	assert_int_equal(f.ways, 0);
	assert_within_bound(&f, o.budget_bytes);
	f = info_with(t, (uint64_t)140000 * 4096, &o);
	assert_int_equal(f.table, GN_TABLE_SETS);
	assert_int_equal(f.ways, 8);
	assert_within_bound(&f, o.budget_bytes);
}

/* Around the turn from one table to the other the bound holds to the byte. */
static void metadata_keeps_its_bound_at_the_turn(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t page = 512; page <= 4096; page *= 8)
		for (uint64_t pages = 127000; pages < 134000; pages += 250) {
			struct gn_cache_options o = options_of(4096 * 64 + 500, page);
			struct gn_cache_info f;

			o.budget_bytes = 1 << 20;
			o.statistics = 1;
			f = info_with(t, pages * page, &o);
			assert_within_bound(&f, o.budget_bytes);
		}
}

/* The words of one million pages are more than the budget: only the cache's size counts. */
static void sets_cost_by_the_frame(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;

	for (uint32_t page = 512; page <= 4096; page *= 8)
		for (uint64_t frames = 2000; frames < 70000; frames = frames * 3 / 2) {
			struct gn_cache_options o = options_of(frames * page, page);
			struct gn_cache_info f;

			o.budget_bytes = 32 << 10;
			o.statistics = 1;
			f = info_with(t, (uint64_t)page << 20, &o);
			assert_int_equal(f.table, GN_TABLE_SETS);
			assert_true(f.ways >= 8 && f.ways <= 15);
			assert_true(f.frames <= frames && f.frames > frames - frames / 8);
			assert_within_bound(&f, o.budget_bytes);
		}
}

static void the_default_budget_is_a_64th_of_memory(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(1 << 20, 4096);
	struct gn_cache_info f = info_with(t, 1 << 30, &o);
	struct simt_info info;

	simt_describe(t->machine, &info);
	assert_int_equal(f.budget_bytes, info.memory_bytes / 64 + (1 << 20) / 50);
}

static void ten_terabytes_behind_64_mebibytes(void **state)
{
	struct cache_test *t = (struct cache_test *)*state;
	struct gn_cache_options o = options_of(64 << 20, 4096);
	const uint64_t capacity = 10000000000000, last = capacity / 8 - 1;
	struct gn_store_options timeout;
	struct gn_cache_info f;
	char uri[256];

	memset(&timeout, 0, sizeof timeout);
	snprintf(uri, sizeof uri, "file:%s?create=%llu&queues=1", t->file, (unsigned long long)capacity);
	if (gn_store_open(&t->store, t->machine, uri, &timeout, &t->error) == -GN_EFBIG ||
	    (!t->store && strstr(t->error.text, "too large")))
		skip(); /* a file system without files of this size */
	if (!t->store)
		fail_msg("%s", t->error.text);
	open_cache(t, &o);
	f = info_of(t);
	assert_int_equal(f.table, GN_TABLE_SETS);
	assert_int_equal(f.pages, (capacity + 4095) / 4096);
	assert_within_bound(&f, f.budget_bytes - f.frame_bytes / 50);
	assert_true(f.metadata_bytes <= f.frame_bytes / 50);
	open_words(t);
	set(t, last, 42);
	set(t, (uint64_t)1 << 40, 43);
	assert_int_equal(get(t, last), 42);
	flush(t);
	assert_int_equal(stored(t, last), 42);
	assert_int_equal(stored(t, (uint64_t)1 << 40), 43);
	assert_int_equal(get(t, last - 1), 0);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, cache_setup, cache_teardown)
	const struct CMUnitTest tests[] = {
	    CASE(pages_follow_the_store),
	    CASE(refuses_page_sizes),
	    CASE(takes_every_page_size),
	    CASE(page_size_0_is_4096),
	    CASE(refuses_less_than_one_set),
	    CASE(refuses_too_many_ways),
	    CASE(refuses_policies_and_tables_that_are_none),
	    CASE(refuses_pages_of_half_a_block),
	    CASE(refuses_pages_larger_than_a_transfer),
	    CASE(refuses_no_store_and_too_many),
	    CASE(refuses_more_pages_than_a_table_can_name),
	    CASE(refuses_tables_larger_than_the_budget),
	    CASE(refuses_more_than_there_is_memory),
	    CASE(an_empty_store_makes_an_empty_cache),
	    CASE(the_budget_chooses_the_table),
	    CASE(metadata_keeps_its_bound_at_the_turn),
	    CASE(sets_cost_by_the_frame),
	    CASE(the_default_budget_is_a_64th_of_memory),
	    CASE(ten_terabytes_behind_64_mebibytes),
	};

	return cmocka_run_group_tests_name("cache: options", tests, NULL, NULL);
}
