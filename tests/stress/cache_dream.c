/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places where a pager of this kind is known to break, each by name, with more threads than frames: what
 * they have in common is that many threads do different things with one page, or that more pages are wanted
 * than fit.
 */
#include "cache_use.h"

/* ---- readers and writers of one page: each must not wait for a state that only the other's leaves ---- */

SIMT_FN void mixed_readers_and_writers(const struct fixture_view *b)
{
	const uint64_t id = simt_global_thread(), page = fixture_page_words(b);
	uint64_t random = draw_mix(b->seed + id);

	for (uint32_t step = 0; step < b->steps; step++) {
		if (id % 2 && id < page / 2)
			write_word(b, id * 2 + 1);
		else
			read_word(b, draw_below(&random, (uint32_t)page / 2) * 2);
		if (step % 8 == 7) /* so that the page goes and comes */
			read_word(b, draw_constant(b, &random));
	}
}
SIMT_KERNEL(mixed_readers_and_writers, struct fixture_view)

/* ---- the first writer of pages that are clean in the cache ---- */

SIMT_FN void first_writer_of_a_clean_page(const struct fixture_view *b)
{
	const uint64_t threads = simt_global_threads(), page = fixture_page_words(b);

	for (uint64_t k = simt_global_thread() * page; k < b->words.count; k += threads * page) {
		read_word(b, k);
		write_word(b, k + 1);
	}
	for (uint64_t k = simt_global_thread() * page; k < b->words.count; k += threads * page)
		read_word(b, k + 1);
}
SIMT_KERNEL(first_writer_of_a_clean_page, struct fixture_view)

/* ---- more threads on one page than any count in a word was thought for ---- */

SIMT_FN void ten_thousand_on_one_page(const struct fixture_view *b)
{
	const uint32_t self = 1u << simt_lane();
	struct gn_page page;
	int rc = gn_array_acquire(&b->words, self, 0, 0, &page);

	if (rc && rc != -GN_ENOBUFS)
		fixture_fault(b, FAILED_ACCESS);
	read_word(b, 2);
	if (rc)
		return;
	simt_relax(); /* let the others pin it too */
	check_page(b, &page, 0);
	gn_array_release(&b->words, self, &page);
}
SIMT_KERNEL(ten_thousand_on_one_page, struct fixture_view)

/* ---- more misses in flight than frames ---- */

SIMT_FN void more_misses_than_frames(const struct fixture_view *b)
{
	const uint64_t pages = b->words.count / fixture_page_words(b), threads = simt_global_threads();

	for (uint32_t step = 0; step < b->steps; step++) {
		uint64_t page = (simt_global_thread() + step * (threads + 1)) % pages;

		read_word(b, page * fixture_page_words(b) + 2 * (step % (fixture_page_words(b) / 2)));
	}
}
SIMT_KERNEL(more_misses_than_frames, struct fixture_view)

/* ---- threads that hold pages and want more ---- */

SIMT_FN void holders_that_miss(const struct fixture_view *b)
{
	uint64_t random = draw_mix(b->seed + simt_global_thread());

	for (uint32_t step = 0; step < b->steps; step++)
		hold_pages(b, 1 + step % MOST_HELD, &random);
}
SIMT_KERNEL(holders_that_miss, struct fixture_view)

struct scene {
	const struct simt_kernel *kernel;
	uint32_t threads, steps, pages, frames;
};

static const struct scene scenes[] = {
    {&mixed_readers_and_writers_kernel, 512, 32, 16, 4},
    {&first_writer_of_a_clean_page_kernel, 64, 1, 512, 8},
    {&ten_thousand_on_one_page_kernel, 10240, 1, 8, 4},
    {&more_misses_than_frames_kernel, 2048, 8, 256, 4},
    {&holders_that_miss_kernel, 1024, 6, 64, 4},
    {&holders_that_miss_kernel, 1024, 6, 64, 1},
};

/* Grids may be larger than what the machine holds at once: nobody waits for a thread that has not begun. */
static int run_scene(struct stress *s, const struct scene *scene, uint32_t ways, int queues)
{
	struct fixture_shape shape = {4096, scene->pages, scene->frames, ways, GN_CLOCK, queues};
	struct simt_grid grid = {stress_crowd(scene->threads) / 64, 64, 0};
	struct fixture b;
	int bad = fixture_open(s, &b, &shape);

	b.view.steps = scene->steps;
	bad = bad || stress_run(s, scene->kernel, grid, &b.view) || fixture_check(s, &b);
	s->operations += (uint64_t)grid.blocks * grid.block_threads * scene->steps;
	fixture_close(s, &b);
	return bad;
}

static int dream_round(struct stress *s)
{
	for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++)
		for (uint32_t ways = 0; ways <= 1; ways++)
			if (run_scene(s, &scenes[k], ways, (s->seed + k) % 2))
				return 1;
	return 0;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "cache_dream", dream_round);
}
