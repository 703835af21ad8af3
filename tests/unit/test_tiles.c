/* SPDX-License-Identifier: Apache-2.0 */
/* Tiles: each is worked on once, by a slot that is never in two; what is copied out is what a kernel wrote.
 */
#include "tiles/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "unit.h"

enum { WORDS = 10007, TILE_WORDS = 1000, TILES = 11 };

static struct gn_error error;

struct fixture {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_tiled tiled;
	unsigned seen[TILES];
	unsigned busy[GN_TILES_SLOTS];
	uint64_t fails; /* this tile */
};

static int setup(void **state)
{
	struct fixture *f = (struct fixture *)calloc(1, sizeof *f);
	struct simt_options o;

	if (!f)
		return -1;
	memset(&o, 0, sizeof o);
	o.name = "cpu";
	o.threads = 2;
	f->fails = TILES;
	*state = f;
	return simt_open(&f->machine, &o, &error) ||
	       gn_store_open(&f->store, f->machine, "host:40028", NULL, &error) ||
	       gn_tiled_open(&f->tiled, f->machine, f->store, 4 * (TILE_WORDS + 1), 4, &error);
}

static int teardown(void **state)
{
	struct fixture *f = (struct fixture *)*state;

	gn_tiled_close(&f->tiled);
	gn_store_close(f->store);
	simt_close(f->machine);
	free(f);
	return 0;
}

struct double_args {
	struct gn_array array;
	uint64_t first, words;
};

SIMT_FN void double_words(const struct double_args *a)
{
	for (uint64_t i = simt_global_thread(); i < a->words; i += simt_global_threads())
		gn_write_u32(&a->array, a->first + i, 2 * gn_read_u32(&a->array, a->first + i));
}
SIMT_KERNEL(double_words, struct double_args)

/* The tile begins at word 1 of its memory. */
static int double_tile(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
                       struct gn_error *e)
{
	struct fixture *f = (struct fixture *)user;
	const uint64_t first = tile * TILE_WORDS,
	               words = WORDS - first < TILE_WORDS ? WORDS - first : (uint64_t)TILE_WORDS;
	const struct double_args args = {f->tiled.array[slot], 1, words};
	const struct simt_grid grid = {2, 4, 0};
	int rc;

	assert_int_equal(f->busy[slot]++, 0);
	f->seen[tile]++;
	if (tile == f->fails)
		return gn_error_set(e, -GN_EIO, "tile %u fails", (unsigned)tile);
	rc = gn_tiled_in(&f->tiled, stream, slot, 4 * first, 4, 4 * words, e);
	if (!rc)
		rc = gn_tiles_launch(stream, &double_words_kernel, grid, &args, e);
	if (!rc)
		rc = gn_tiled_out(&f->tiled, stream, slot, 4 * first, 4, 4 * words, e);
	f->busy[slot]--;
	return rc;
}

static void every_tile_is_worked_on_once(void **state)
{
	struct fixture *f = (struct fixture *)*state;
	uint32_t *words = (uint32_t *)malloc(sizeof *words * WORDS);

	assert_non_null(words);
	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = i * 2654435761u;
	assert_int_equal(gn_store_write_host(f->store, 0, words, 4 * WORDS, &error), 0);
	assert_int_equal(gn_tiles_run(f->machine, TILES, double_tile, f, &error), 0);
	assert_int_equal(gn_tiled_failure(&f->tiled, &error), 0);
	assert_int_equal(gn_store_read_host(f->store, 0, words, 4 * WORDS, &error), 0);
	for (uint32_t i = 0; i < WORDS; i++)
		assert_int_equal(words[i], 2 * (i * 2654435761u));
	for (unsigned k = 0; k < TILES; k++)
		assert_int_equal(f->seen[k], 1);
	free(words);
}

static void a_failure_is_told(void **state)
{
	struct fixture *f = (struct fixture *)*state;

	f->fails = 5;
	assert_int_equal(gn_tiles_run(f->machine, TILES, double_tile, f, &error), -GN_EIO);
	assert_string_equal(error.text, "tile 5 fails");
	assert_int_equal(f->seen[7], 0);
}

static void what_a_tile_does_not_hold_is_told(void **state)
{
	struct fixture *f = (struct fixture *)*state;
	const struct double_args args = {f->tiled.array[0], TILE_WORDS, 2};
	const struct simt_grid grid = {1, 1, 0};

	assert_int_equal(simt_launch(f->machine, &double_words_kernel, grid, &args, NULL), 0);
	assert_int_equal(simt_wait(f->machine, NULL), 0);
	assert_int_equal(gn_tiled_failure(&f->tiled, &error), -GN_ERANGE);
}

static void no_tiles_are_nothing(void **state)
{
	struct fixture *f = (struct fixture *)*state;

	assert_int_equal(gn_tiles_run(f->machine, 0, double_tile, f, &error), 0);
	assert_int_equal(f->seen[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(every_tile_is_worked_on_once, setup, teardown),
	    cmocka_unit_test_setup_teardown(a_failure_is_told, setup, teardown),
	    cmocka_unit_test_setup_teardown(what_a_tile_does_not_hold_is_told, setup, teardown),
	    cmocka_unit_test_setup_teardown(no_tiles_are_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
