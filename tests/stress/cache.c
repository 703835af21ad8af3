/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of the cache: crowds of threads on a few frames, all page sizes from 512 bytes to 64 KiB, both
 * tables, one frame a set too, all policies; threads read, write, walk cursors, and hold up to three pages
 * while they miss others.
 */
#include "cache_use.h"

SIMT_FN void crowd(const struct fixture_view *b)
{
	use_cache(b);
}
SIMT_KERNEL(crowd, struct fixture_view)

static void draw_shape(uint64_t *random, struct fixture_shape *shape)
{
	static const uint32_t ways[] = {0, 0, 1, 2, 4};

	shape->page_bytes = 512u << draw_below(random, 8);
	shape->frames = 4 << draw_below(random, 4);
	shape->pages = shape->frames * (1 + draw_below(random, 8)) + draw_below(random, 5);
	shape->ways = ways[draw_below(random, 5)];
	shape->policy = (enum gn_cache_policy)draw_below(random, 3);
	shape->queues = draw_chance(random, 50);
}

/* Steps a thread, so that what all move and do together stays within a bound. */
static uint32_t steps_for(const struct stress *s, uint64_t threads, uint32_t page_bytes)
{
	uint64_t bytes = (s->info.is_cuda ? (uint64_t)1 << 32 : (uint64_t)1 << 26) / page_bytes;
	uint64_t operations = (uint64_t)1 << (s->info.is_cuda ? 24 : s->info.warp_width > 1 ? 12 : 15);
	uint64_t steps = (bytes < operations ? bytes : operations) / threads;

	return steps < 4 ? 4 : steps > 64 ? 64 : (uint32_t)steps;
}

/* Every thread has a word of its own. */
static struct simt_grid draw_grid(struct stress *s, struct fixture *b, const struct fixture_shape *shape,
                                  uint64_t *random)
{
	uint64_t most = b->view.words.count / 2, threads = 64u << draw_below(random, 7);
	struct simt_grid grid = stress_grid(s, stress_crowd((uint32_t)(threads < most ? threads : most)));

	b->view.steps = steps_for(s, (uint64_t)grid.blocks * grid.block_threads, shape->page_bytes);
	b->view.most_held = draw_below(random, MOST_HELD + 1);
	return grid;
}

static int cache_round(struct stress *s)
{
	uint64_t random = s->seed;
	struct fixture_shape shape;
	struct simt_grid grid;
	uint64_t threads;
	struct fixture b;
	int bad;

	draw_shape(&random, &shape);
	bad = fixture_open(s, &b, &shape);
	if (!bad) {
		grid = draw_grid(s, &b, &shape, &random);
		threads = (uint64_t)grid.blocks * grid.block_threads;
		b.view.doing = (uint32_t *)simt_alloc(s->machine, threads * 4, SIMT_PINNED, NULL);
		stress_watch(s, b.view.doing, threads);
		bad = stress_run(s, &crowd_kernel, grid, &b.view) || fixture_check(s, &b);
		stress_watch(s, NULL, 0);
		s->operations += threads * b.view.steps;
		simt_free(s->machine, b.view.doing);
	}
	fixture_close(s, &b);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "cache", cache_round);
}
