/* SPDX-License-Identifier: Apache-2.0 */
/*
 * peer: stores: what the host writes and kernels read over several devices, gathers on the devices that have
 * the rows, several machines on one store, and what is refused. On cpu and with one GPU fewer devices stand
 * for more.
 */
#include <grapnel/array.h>
#include <grapnel/cache.h>
#include <grapnel/gather.h>

#include "test_store_support.h"

enum { UNIT = 2 << 20, BYTES = 3 * UNIT + 4096, WORDS = BYTES / 4 };

/* Two devices, if this machine has them. */
static const char *devices(void)
{
	const char *name = getenv("GN_TEST_MACHINE");

	return name && simt_devices(name) < 2 ? "0" : "0+1";
}

static void open_peer(struct store_test *t)
{
	char uri[64];

	snprintf(uri, sizeof uri, "peer:%s?unit=2M&size=%d", devices(), (int)BYTES);
	open_uri(t, uri, NULL);
}

static void fill(struct store_test *t)
{
	char *content = (char *)malloc(BYTES);

	for (size_t k = 0; k < BYTES; k++)
		content[k] = (char)byte_of(k, 1);
	assert_int_equal(gn_store_write_host(t->store, 0, content, BYTES, &t->error), 0);
	free(content);
}

static uint32_t word_of(uint64_t word, uint32_t round)
{
	uint32_t value = 0;

	for (unsigned k = 0; k < 4; k++)
		value |= (uint32_t)byte_of(4 * word + k, round) << 8 * k;
	return value;
}

static struct gn_array array_on(struct store_test *t, struct simt_machine *machine)
{
	struct gn_array_options options = {GN_DIRECT, NULL, t->store, 0, WORDS, 4};
	struct gn_array array;

	if (gn_array_create(&array, machine, &options, &t->error))
		fail_msg("%s", t->error.text);
	return array;
}

/* ---- kernels ---- */

struct add_args {
	struct gn_array array;
	uint32_t more, apart;
};

/* Each thread adds to words of its own, the words of all threads so far apart. */
SIMT_FN void add_to_each(const struct add_args *a)
{
	for (uint64_t k = simt_global_thread() * a->apart; k < a->array.count;
	     k += simt_global_threads() * a->apart)
		gn_write_u32(&a->array, k, gn_read_u32(&a->array, k) + a->more);
}
SIMT_KERNEL(add_to_each, struct add_args)

static void add(struct store_test *t, struct simt_machine *machine, struct gn_array *array, uint32_t more,
                uint32_t apart)
{
	const struct simt_grid grid = {8, 64, 0};
	const struct add_args args = {*array, more, apart};

	assert_int_equal(simt_launch(machine, &add_to_each_kernel, grid, &args, &t->error), 0);
	assert_int_equal(simt_wait(machine, &t->error), 0);
	assert_int_equal(gn_array_failure(array, &t->error), 0);
}

static void assert_words(struct store_test *t, uint32_t more)
{
	uint32_t *word = (uint32_t *)malloc(BYTES);

	assert_int_equal(gn_store_read_host(t->store, 0, word, BYTES, &t->error), 0);
	for (uint64_t k = 0; k < WORDS; k++)
		if (word[k] != word_of(k, 1) + more)
			fail_msg("word %llu is wrong", (unsigned long long)k);
	free(word);
}

/* ---- tests ---- */

static void holds_what_is_written(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	unsigned char zeros[4096] = {0}, found[4096];

	open_peer(t);
	assert_int_equal(gn_store_view_of(t->store)->kind, GN_STORE_MEMORY);
	assert_int_equal(gn_store_view_of(t->store)->capacity_bytes, BYTES);
	assert_int_equal(gn_store_read_host(t->store, UNIT - 2048, found, sizeof found, &t->error), 0);
	assert_memory_equal(found, zeros, sizeof zeros);
	fill(t);
	assert_content(t, 0, BYTES, 1);
	assert_content(t, UNIT - 5, 10, 1);
	assert_int_equal(gn_store_flush(t->store, &t->error), 0);
	assert_non_null(strstr(gn_store_path(t->store), "memory of"));
}

static void kernels_read_and_write(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct gn_array array;

	open_peer(t);
	fill(t);
	array = array_on(t, t->machine);
	add(t, t->machine, &array, 3, 1);
	gn_array_destroy(&array, t->machine);
	assert_words(t, 3);
}

enum { ROWS = 20000, BAD = 7777 };

static void gather(struct store_test *t, struct simt_machine *machine, uint32_t elements)
{
	struct gn_array array = array_on(t, machine);
	struct gn_batch batch = {NULL, NULL, ROWS, elements, 0};
	uint64_t *index = (uint64_t *)simt_alloc(machine, ROWS * sizeof *index, SIMT_PINNED, &t->error);
	uint32_t *rows = (uint32_t *)simt_alloc(machine, (size_t)ROWS * elements * 4, SIMT_PINNED, &t->error);
	struct gn_gather *g;

	for (uint64_t k = 0; k < ROWS; k++)
		index[k] = k % BAD == 1 ? WORDS / elements + k : k * 2654435761u % (WORDS / elements);
	memset(rows, 0xee, (size_t)ROWS * elements * 4);
	batch.index = index;
	batch.rows = rows;
	assert_int_equal(gn_gather_create(&g, machine, ROWS, &t->error), 0);
	for (int again = 0; again < 2; again++)
		if (gn_gather_rows(g, &array, &batch, &t->error))
			fail_msg("%s", t->error.text);
	assert_int_equal(simt_wait(machine, &t->error), 0);
	assert_int_equal(gn_array_failure(&array, &t->error), -GN_ERANGE);
	for (uint64_t k = 0; k < ROWS; k++)
		for (uint32_t e = 0; e < elements; e++)
			if (rows[k * elements + e] !=
			    (k % BAD == 1 ? 0 : word_of(index[k] * elements + e, 1)))
				fail_msg("place %llu, element %u is wrong", (unsigned long long)k, e);
	gn_gather_destroy(g);
	gn_array_destroy(&array, machine);
	simt_free(machine, index);
	simt_free(machine, rows);
}

/* Small rows are gathered on the devices that have them, larger ones on the machine. */
static void rows_are_gathered(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_peer(t);
	fill(t);
	for (uint32_t elements = 1; elements <= 32; elements *= 2)
		gather(t, t->machine, elements);
	gather(t, t->machine, 3);
	gather(t, t->machine, 5);
}

/* Bytes, pairs and triples of an array that does not begin with a unit, on a stream of its own; the workspace
 * outlives the store. */
static void small_rows_are_gathered_on_a_stream(void **state)
{
	enum { OFFSET = UNIT - 1000 };
	struct store_test *t = (struct store_test *)*state;
	struct gn_array_options options = {GN_DIRECT, NULL, NULL, OFFSET, BYTES - OFFSET, 1};
	uint64_t *index = (uint64_t *)simt_alloc(t->machine, ROWS * sizeof *index, SIMT_PINNED, &t->error);
	uint8_t *rows = (uint8_t *)simt_alloc(t->machine, (size_t)ROWS * 3, SIMT_PINNED, &t->error);
	struct simt_stream *stream;
	struct gn_array array;
	struct gn_gather *g;

	open_peer(t);
	fill(t);
	options.store = t->store;
	assert_int_equal(gn_array_create(&array, t->machine, &options, &t->error), 0);
	assert_int_equal(gn_gather_create(&g, t->machine, ROWS, &t->error), 0);
	assert_int_equal(simt_stream_create(&stream, t->machine, &t->error), 0);
	for (uint32_t bytes = 1; bytes <= 3; bytes++) {
		const struct gn_batch batch = {index, rows, ROWS, bytes, 0};

		/* every row around the first unit's end, and others */
		for (uint64_t k = 0; k < ROWS; k++)
			index[k] = k < 2000 ? k : k * 2654435761u % (options.count / bytes);
		if (gn_gather_rows_on(g, stream, &array, &batch, &t->error))
			fail_msg("%s", t->error.text);
		assert_int_equal(simt_stream_wait(stream, &t->error), 0);
		for (uint64_t k = 0; k < (uint64_t)ROWS * bytes; k++)
			if (rows[k] != byte_of(OFFSET + index[k / bytes] * bytes + k % bytes, 1))
				fail_msg("rows of %u bytes, place %llu is wrong", bytes,
				         (unsigned long long)(k / bytes));
	}
	gn_array_destroy(&array, t->machine);
	close_store(t);
	gn_gather_destroy(g);
	simt_stream_destroy(stream);
	simt_free(t->machine, index);
	simt_free(t->machine, rows);
}

static void two_machines_use_one_store(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	const char *name = getenv("GN_TEST_MACHINE");
	struct simt_options options = {0};
	struct simt_machine *second;
	struct gn_array first, other;

	open_peer(t);
	fill(t);
	options.name = name && simt_devices(name) > 1 ? "cuda:1" : name ? name : "cpu";
	assert_int_equal(simt_open(&second, &options, &t->error), 0);
	if (gn_store_share(t->store, second, &t->error))
		fail_msg("%s", t->error.text);
	first = array_on(t, t->machine);
	other = array_on(t, second);
	add(t, t->machine, &first, 1, 1);
	add(t, second, &other, 10, 1);
	add(t, t->machine, &first, 100, 1);
	gn_array_destroy(&other, second);
	assert_words(t, 111);
	fill(t);
	gather(t, second, 1);
	gn_array_destroy(&first, t->machine);
	close_store(t);
	simt_close(second);
}

static void only_memory_is_shared(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	struct simt_options options = {0};
	struct simt_machine *second;

	options.name = "cpu";
	needs_cpu(t);
	assert_int_equal(simt_open(&second, &options, &t->error), 0);
	open_uri(t, "host:64K", NULL);
	assert_int_equal(gn_store_share(t->store, second, &t->error), 0);
	close_store(t);
	open_uri(t, "memq:64K", NULL);
	assert_int_equal(gn_store_share(t->store, second, &t->error), -GN_ENOTSUP);
	assert_says(t, "memq:64K", "host: and peer:");
	close_store(t);
	simt_close(second);
}

/* A cache whose frames lie on other devices, over a store of queue pairs; half of the pages fit. */
static void a_cache_has_frames_there(void **state)
{
	enum { APART = 16 }; /* words: every sector is used */
	const uint32_t times = few_or_all(1, 3);
	struct store_test *t = (struct store_test *)*state;
	struct gn_cache_options options = {0};
	struct gn_array_options shape = {GN_PAGED, NULL, NULL, 0, 0, 4};
	struct gn_cache *cache;
	struct gn_array array;

	open_uri(t, "memq:8M", NULL);
	options.bytes = 4 << 20;
	options.page_bytes = 4096;
	options.peers = "none";
	assert_int_equal(gn_cache_create(&cache, t->machine, &t->store, 1, &options, &t->error), -GN_EINVAL);
	assert_says(t, "options.peers", "does not name");
	options.peers = devices();
	if (gn_cache_create(&cache, t->machine, &t->store, 1, &options, &t->error))
		fail_msg("%s", t->error.text);
	shape.count = 2 << 20;
	shape.cache = cache;
	shape.store = t->store;
	assert_int_equal(gn_array_create(&array, t->machine, &shape, &t->error), 0);
	for (uint32_t more = 1; more <= times; more++)
		add(t, t->machine, &array, more, APART);
	assert_int_equal(gn_cache_flush(cache, &t->error), 0);
	gn_array_destroy(&array, t->machine);
	gn_cache_destroy(cache);
	for (uint64_t at = 0; at < 8 << 20; at += 63 * APART * 4) {
		uint32_t word;

		assert_int_equal(gn_store_read_host(t->store, at, &word, sizeof word, &t->error), 0);
		assert_int_equal(word, times * (times + 1) / 2);
	}
}

static void refused(struct store_test *t, const char *uri, int code, const char *says)
{
	assert_int_equal(gn_store_open(&t->store, t->machine, uri, NULL, &t->error), code);
	assert_says(t, "peer:", says);
}

static void bad_uris_are_refused(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	refused(t, "peer:1", -GN_EINVAL, "size=16G");
	refused(t, "peer:one?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:1+1?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:1+?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:1,2?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:-1?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:99999999999999999999?size=1M", -GN_EINVAL, "does not name");
	refused(t, "peer:0?size=0", -GN_EINVAL, "size=SIZE");
	refused(t, "peer:0?size=1M&unit=1M", -GN_EINVAL, "2M to 1G");
	refused(t, "peer:0?size=1M&unit=3M", -GN_EINVAL, "2M to 1G");
	refused(t, "peer:0?size=1M&queues=3", -GN_EINVAL, "size=SIZE");
	refused(t, "peer:0?size=9000000000G", -GN_ENOMEM, "ask for less");
	refused(t, "peer:0?size=900000000G", -GN_ENOMEM, "ask for less");
}

static void read_only_is_kept(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	open_uri(t, "peer:0?size=1M&ro", NULL);
	assert_int_equal(gn_store_write_host(t->store, 0, "x", 1, &t->error), -GN_EROFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    store_case(holds_what_is_written),      store_case(kernels_read_and_write),
	    store_case(rows_are_gathered),          store_case(small_rows_are_gathered_on_a_stream),
	    store_case(two_machines_use_one_store), store_case(only_memory_is_shared),
	    store_case(bad_uris_are_refused),       store_case(a_cache_has_frames_there),
	    store_case(read_only_is_kept),
	};

	return cmocka_run_group_tests_name("store_peer", tests, NULL, NULL);
}
