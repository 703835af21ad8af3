/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of reads by lanes that want different things: elements of every size, of arrays over two caches,
 * from stores whose last page and last sector are not whole; beside them each thread reads and writes words
 * of its own. Frames are few, and a host thread flushes meanwhile.
 */
#include "../model/draw.h"
#include "stress.h"

#include <grapnel/array.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	STORES = 4,
	READ_ONLY = 3,
	OWN = 3,
	SIZES = 5,
	ARRAYS = READ_ONLY * SIZES,
	OWN_WORDS = 4,
	FLUSHES = 50
};
enum kind { READ, CURSOR, OWNED, FAILED, KINDS };

/* Not multiples of a page or a sector; the last store holds the words of the threads. */
static const uint64_t least_bytes[STORES] = {9001, 20008, 5128, 0};

struct view {
	const struct gn_array *array; /* [ARRAYS]: that of size 1 << k % SIZES over store k / SIZES */
	struct gn_array words;        /* of the last store */
	uint64_t *mirror;             /* what the threads wrote there */
	uint32_t *wrong;              /* [KINDS] */
	uint64_t seed;
	uint32_t steps;
};

SIMT_FN void wrong(const struct view *v, enum kind kind, int is)
{
	if (is)
		simt_add_relaxed_dev_u32(&v->wrong[kind], 1);
}

/* Byte `at` of a store that is only read. */
SIMT_FN uint8_t byte_of(uint32_t store, uint64_t at)
{
	return (uint8_t)draw_mix(at * STORES + store);
}

SIMT_FN int is_element(uint32_t which, uint64_t k, const uint64_t bits[2])
{
	const uint32_t size = 1u << which % SIZES;

	for (uint32_t n = 0; n < size; n++)
		if ((uint8_t)(bits[n / 8] >> n % 8 * 8) != byte_of(which / SIZES, k * size + n))
			return 0;
	return 1;
}

/* Side by side with the other lanes, at the end, or anywhere. @shared  the same in all lanes */
SIMT_FN uint64_t draw_place(uint64_t count, uint64_t *own, uint64_t *shared)
{
	const uint32_t way = draw_below(shared, 3), step = draw_below(shared, 5);
	const uint64_t base = draw(shared) % count, mine = draw(own) % count, k = base + simt_lane() * step;

	if (way == 0)
		return k < count ? k : count - 1;
	return way == 1 ? count - 1 - mine % 40 : mine;
}

SIMT_FN void read_one(const struct view *v, uint64_t *own, uint64_t *shared)
{
	const uint32_t together = draw_below(shared, 2 * ARRAYS), alone = draw_below(own, ARRAYS);
	const uint32_t which = together < ARRAYS ? together : alone;
	const uint64_t k = draw_place(gn_count(&v->array[which]), own, shared);
	uint64_t bits[2] = {0, 0};

	if (gn_array_read(&v->array[which], k, bits))
		wrong(v, FAILED, 1);
	else
		wrong(v, READ, !is_element(which, k, bits));
}

/* By the cursor, whose array has elements of 4 bytes in the second store. */
SIMT_FN void read_along(const struct view *v, struct gn_cursor *c, uint64_t *own, uint64_t *shared)
{
	const uint32_t which = SIZES + 2;
	const uint64_t k = draw_place(gn_count(&v->array[which]), own, shared);
	const uint64_t bits[2] = {gn_cursor_read_u32(c, k), 0};

	wrong(v, CURSOR, !is_element(which, k, bits));
}

SIMT_FN void change_own(const struct view *v, uint64_t *own)
{
	const uint64_t k = simt_global_thread() + draw_below(own, OWN_WORDS) * simt_global_threads(),
	               next = draw(own);

	wrong(v, OWNED, gn_read_u64(&v->words, k) != v->mirror[k]);
	v->mirror[k] = next;
	wrong(v, FAILED, gn_write_u64(&v->words, k, next));
	wrong(v, OWNED, gn_read_u64(&v->words, k) != next);
}

SIMT_FN void mixed(const struct view *v)
{
	uint64_t own = draw_mix(v->seed + simt_global_thread() + 1);
	uint64_t shared = draw_mix(v->seed ^ (simt_global_thread() / simt_warp_width() + 1) << 32);
	struct gn_cursor c = gn_cursor_init(&v->array[SIZES + 2]);

	for (uint32_t step = 0; step < v->steps; step++) {
		const uint32_t doing = draw_below(&own, 8);
		uint64_t here = draw(&shared); /* a lane that does something else draws less */

		if (doing == 0)
			change_own(v, &own);
		else if (doing == 1)
			read_along(v, &c, &own, &here);
		else
			read_one(v, &own, &here);
	}
	gn_cursor_end(&c);
}
SIMT_KERNEL(mixed, struct view)

/* ---- host ---- */

struct fixture {
	struct gn_store *store[STORES];
	struct gn_cache *cache[2]; /* of the first two stores, and of the others */
	struct gn_array array[ARRAYS];
	struct gn_array *on_device;
	struct simt_grid grid;
	uint64_t words;
	struct view view;
};

static int failed(const struct gn_error *e)
{
	return stress_wrong("%s", e->text);
}

static int open_store(struct stress *s, struct fixture *b, uint32_t k)
{
	const uint64_t bytes = k == OWN ? b->words * 8 : least_bytes[k];
	uint8_t *content = (uint8_t *)calloc(1, bytes);
	struct gn_store_options options;
	struct gn_error e;
	char uri[32];
	int rc;

	memset(&options, 0, sizeof options);
	options.timeout_ns = stress_patience_ns(s);
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)bytes);
	rc = content ? gn_store_open(&b->store[k], s->machine, uri, &options, &e)
	             : gn_error_set(&e, -GN_ENOMEM, "no memory");
	for (uint64_t at = 0; !rc && k != OWN && at < bytes; at++)
		content[at] = byte_of(k, at);
	if (!rc)
		rc = gn_store_write_host(b->store[k], 0, content, bytes, &e);
	free(content);
	return rc ? failed(&e) : 0;
}

static int open_cache(struct stress *s, struct fixture *b, uint32_t k, uint64_t *random)
{
	struct gn_cache_options options;
	struct gn_error e;

	memset(&options, 0, sizeof options);
	options.page_bytes = 512u << draw_below(random, 4);
	options.bytes = (uint64_t)options.page_bytes * (4u << draw_below(random, 5));
	options.table = draw_chance(random, 25) ? GN_TABLE_SETS : GN_TABLE_AUTO;
	options.policy = (enum gn_cache_policy)draw_below(random, 3);
	options.statistics = draw_chance(random, 25);
	return gn_cache_create(&b->cache[k], s->machine, &b->store[2 * k], 2, &options, &e) ? failed(&e) : 0;
}

static int open_array(struct stress *s, struct fixture *b, struct gn_array *array, uint32_t store,
                      uint32_t size)
{
	const uint64_t bytes = store == OWN ? b->words * 8 : least_bytes[store];
	const struct gn_array_options options = {GN_PAGED, b->cache[store / 2], b->store[store],
	                                         0,        bytes / size,        size};
	struct gn_error e;

	return gn_array_create(array, s->machine, &options, &e) ? failed(&e) : 0;
}

static int open_view(struct stress *s, struct fixture *b)
{
	struct view *v = &b->view;
	int bad = open_array(s, b, &v->words, OWN, 8);

	for (uint32_t k = 0; k < ARRAYS && !bad; k++)
		bad = open_array(s, b, &b->array[k], k / SIZES, 1u << k % SIZES);
	v->array = b->on_device =
	    (struct gn_array *)simt_alloc(s->machine, sizeof b->array, SIMT_DEVICE, NULL);
	v->mirror = (uint64_t *)simt_alloc(s->machine, b->words * 8, SIMT_DEVICE, NULL);
	v->wrong = (uint32_t *)simt_alloc(s->machine, KINDS * sizeof *v->wrong, SIMT_DEVICE, NULL);
	v->seed = s->seed;
	v->steps = s->info.is_cuda ? 300 : 60;
	if (bad)
		return 1;
	if (!v->array || !v->mirror || !v->wrong ||
	    simt_move(s->machine, b->on_device, b->array, sizeof b->array, NULL))
		return stress_wrong("no memory");
	return 0;
}

static int open_fixture(struct stress *s, struct fixture *b, uint64_t *random)
{
	int bad = 0;

	b->grid = stress_grid(s, 32u << draw_below(random, s->info.is_cuda ? 8 : 4));
	b->words = (uint64_t)b->grid.blocks * b->grid.block_threads * OWN_WORDS;
	for (uint32_t k = 0; k < STORES && !bad; k++)
		bad = open_store(s, b, k);
	for (uint32_t k = 0; k < 2 && !bad; k++)
		bad = open_cache(s, b, k, random);
	return bad || open_view(s, b);
}

static void close_fixture(struct stress *s, struct fixture *b)
{
	for (uint32_t k = 0; k < ARRAYS; k++)
		if (b->array[k].failure)
			gn_array_destroy(&b->array[k], s->machine);
	if (b->view.words.failure)
		gn_array_destroy(&b->view.words, s->machine);
	simt_free(s->machine, b->on_device);
	simt_free(s->machine, b->view.mirror);
	simt_free(s->machine, b->view.wrong);
	for (uint32_t k = 0; k < 2; k++)
		if (b->cache[k])
			gn_cache_destroy(b->cache[k]);
	for (uint32_t k = 0; k < STORES; k++)
		gn_store_close(b->store[k]);
}

/* On a stream, so that the host flushes the changed words meanwhile. */
static int run(struct stress *s, struct fixture *b)
{
	struct simt_stream *stream;
	struct gn_error e;
	int bad;

	if (simt_stream_create(&stream, s->machine, &e))
		return failed(&e);
	bad = simt_launch_on(stream, &mixed_kernel, b->grid, &b->view, &e) ? stress_wrong("%s", e.text) : 0;
	for (int k = 0; k < FLUSHES && !bad; k++)
		bad = gn_cache_flush(b->cache[1], &e) ? failed(&e) : 0;
	if (simt_stream_wait(stream, &e) && !bad)
		bad = stress_wrong("%s", e.text);
	simt_stream_destroy(stream);
	return bad;
}

static int check_counts(struct stress *s, struct fixture *b)
{
	static const char *const name[KINDS] = {"reads", "reads by a cursor", "words of a thread's own",
	                                        "calls"};
	struct gn_error e;
	uint32_t many[KINDS];

	if (simt_move(s->machine, many, b->view.wrong, sizeof many, &e))
		return stress_wrong("cannot look at the result");
	for (uint32_t k = 0; k < ARRAYS; k++)
		if (gn_array_failure(&b->array[k], &e))
			return failed(&e);
	if (gn_array_failure(&b->view.words, &e))
		return failed(&e);
	for (int k = 0; k < KINDS; k++)
		if (many[k])
			return stress_wrong("%s: %u wrong", name[k], many[k]);
	return 0;
}

/*
 * The stores have what was written, and what is only read is as it was. No pin is left: the caches can forget
 * all pages.
 */
static int check_stores(struct stress *s, struct fixture *b)
{
	const uint64_t bytes = b->words * 8;
	uint64_t *mirror = (uint64_t *)malloc(bytes);
	uint8_t *store = (uint8_t *)malloc(bytes > least_bytes[1] ? bytes : least_bytes[1]);
	struct gn_error e;
	int bad = !mirror || !store || simt_move(s->machine, mirror, b->view.mirror, bytes, &e)
	              ? stress_wrong("no memory")
	              : 0;

	for (int k = 0; k < 2 && !bad; k++)
		bad =
		    gn_cache_flush(b->cache[k], &e) || gn_cache_invalidate(b->cache[k], &e) ? failed(&e) : 0;
	if (!bad && gn_store_read_host(b->store[OWN], 0, store, bytes, &e))
		bad = failed(&e);
	if (!bad && memcmp(store, mirror, bytes))
		bad = stress_wrong("the store lacks what threads wrote");
	for (uint32_t k = 0; k < READ_ONLY && !bad; k++) {
		bad = gn_store_read_host(b->store[k], 0, store, least_bytes[k], &e) ? failed(&e) : 0;
		for (uint64_t at = 0; at < least_bytes[k] && !bad; at++)
			if (store[at] != byte_of(k, at))
				bad = stress_wrong("store %u, which was only read, has changed at byte %llu",
				                   k, (unsigned long long)at);
	}
	free(mirror);
	free(store);
	return bad;
}

static int mixed_round(struct stress *s)
{
	uint64_t random = s->seed;
	struct fixture b;
	int bad;

	memset(&b, 0, sizeof b);
	bad = open_fixture(s, &b, &random) || run(s, &b) || check_counts(s, &b) || check_stores(s, &b);
	s->operations += b.words / OWN_WORDS * b.view.steps;
	close_fixture(s, &b);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "mixed", mixed_round);
}
