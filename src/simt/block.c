/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/engine.h>

#include <stdlib.h>

static size_t round_up(size_t bytes, size_t unit)
{
	return (bytes + unit - 1) / unit * unit;
}

static uint32_t warps_of(const struct simt__worker *w)
{
	return w->warp_width == 1 ? 0 : (w->launch->grid.block_threads + w->warp_width - 1) / w->warp_width;
}

/* One allocation: the block, its warps, its shared memory. */
static struct simt__block *block_new(struct simt__worker *w)
{
	size_t warps_at = round_up(sizeof(struct simt__block), 64);
	size_t shared_at = round_up(warps_at + warps_of(w) * sizeof(struct simt__warp), 64);
	char *memory = (char *)aligned_alloc(64, round_up(shared_at + w->launch->grid.shared_bytes, 64));
	struct simt__block *b = (struct simt__block *)(void *)memory;

	if (!b)
		return NULL;
	b->warps = warps_of(w) ? (struct simt__warp *)(void *)(memory + warps_at) : NULL;
	b->shared = memory + shared_at;
	SIMT__RELEASE(b);
	b->older = w->blocks;
	w->blocks = b;
	w->blocks_for = w->launch->grid;
	return b;
}

void simt__blocks_free(struct simt__worker *w)
{
	while (w->blocks) {
		struct simt__block *older = w->blocks->older;

		free(w->blocks);
		w->blocks = older;
	}
	w->free_blocks = NULL;
}

static struct simt__block *block_take(struct simt__worker *w)
{
	struct simt__block *b = w->free_blocks;

	if (!b)
		return block_new(w);
	w->free_blocks = b->next_free;
	return b;
}

void simt__blocks_abandon(struct simt__worker *w)
{
	w->free_blocks = NULL;
	for (struct simt__block *b = w->blocks; b; b = b->older) {
		b->next_free = w->free_blocks;
		w->free_blocks = b;
	}
}

static void begin_warps(struct simt__worker *w, struct simt__block *b)
{
	uint32_t left = b->threads;

	for (uint32_t k = 0; k < warps_of(w); k++) {
		simt__warp_begin(&b->warps[k], left < w->warp_width ? left : w->warp_width);
		left -= left < w->warp_width ? left : w->warp_width;
	}
}

int simt__block_begin(struct simt__worker *w)
{
	struct simt__launch *launch = w->launch;
	uint32_t index = __atomic_fetch_add(&launch->next_block, 1, __ATOMIC_RELAXED);
	struct simt__block *b;

	/* Each worker passes the end at most once; simt_launch keeps the end far from the wrap-around. */
	if (index >= launch->grid.blocks) {
		w->exhausted = 1;
		return 0;
	}
	b = block_take(w);
	if (!b) {
		simt__launch_fail(launch, -GN_ENOMEM,
		                  "kernel %s: no memory for block %u; launch smaller blocks",
		                  launch->kernel->name, index);
		return 0;
	}
	b->index = index;
	b->threads = launch->grid.block_threads;
	b->begun = b->ended = b->arrived = 0;
	b->waiting = b->waiting_last = NULL;
	begin_warps(w, b);
	w->live += b->threads;
	w->taken++;
	w->feed = b;
	return 1;
}

void simt__thread_begin(struct simt__worker *w, struct simt__fiber *f)
{
	struct simt__block *b = w->feed;
	uint32_t thread = b->begun++;

	if (b->begun == b->threads)
		w->feed = NULL;
	f->block = b;
	f->lane.block = b->index;
	f->lane.thread = thread;
	f->lane.block_threads = b->threads;
	f->lane.blocks = w->launch->grid.blocks;
	f->lane.shared = b->shared;
	if (b->warps) {
		f->lane.lane = thread & (w->warp_width - 1);
		f->warp = &b->warps[thread / w->warp_width];
		f->warp->lanes[f->lane.lane] = f;
	}
	SIMT__ACQUIRE(&w->launch->begun);
	SIMT__ACQUIRE(b);
}

/* The barrier opens when all threads that have not ended are there. */
static void barrier_settle(struct simt__worker *w, struct simt__block *b)
{
	struct simt__fiber *f = b->waiting;

	if (b->arrived + b->ended != b->threads)
		return;
	b->arrived = 0;
	b->waiting = b->waiting_last = NULL;
	while (f) {
		struct simt__fiber *next = f->next_waiting;

		if (f->warp) {
			f->warp->stopped &= ~(1u << f->lane.lane);
			f->warp->at_barrier &= ~(1u << f->lane.lane);
		}
		simt__wake(w, f);
		f = next;
	}
}

void simt__thread_end(struct simt__worker *w, struct simt__fiber *f)
{
	struct simt__block *b = f->block;

	SIMT__RELEASE(b);
	SIMT__RELEASE(&w->launch->ended);
	w->live--;
	w->relaxes = 0;
	w->quiet_since_ns = 0;
	b->ended++;
	if (b->arrived)
		barrier_settle(w, b);
	if (b->warps)
		simt__warp_end_lane(f->warp, f);
	if (b->ended == b->threads) {
		b->next_free = w->free_blocks;
		w->free_blocks = b;
	}
}

static void barrier_wait(struct simt__worker *w, struct simt__block *b, struct simt__fiber *f)
{
	f->next_waiting = NULL;
	if (b->waiting_last)
		b->waiting_last->next_waiting = f;
	else
		b->waiting = f;
	b->waiting_last = f;
	if (f->warp) {
		f->warp->stopped |= 1u << f->lane.lane;
		f->warp->at_barrier |= 1u << f->lane.lane;
		simt__warp_settle(f->warp, b);
	}
	simt__hold(w, f);
}

void simt__block_sync(void)
{
	struct simt__fiber *f = simt__fiber_self();
	struct simt__block *b = f->block;

	if (b->threads == 1)
		return;
	SIMT__RELEASE(b);
	b->arrived++;
	if (b->arrived + b->ended == b->threads)
		barrier_settle(f->worker, b);
	else
		barrier_wait(f->worker, b, f);
	SIMT__ACQUIRE(b);
}
