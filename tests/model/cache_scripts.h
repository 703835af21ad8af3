/* SPDX-License-Identifier: Apache-2.0 */
/* cache_scripts.h - small trials of the cache for every schedule: what each thread does, step by step. */
#ifndef GN_TESTS_MODEL_CACHE_SCRIPTS_H
#define GN_TESTS_MODEL_CACHE_SCRIPTS_H

#include "cache_trial.h"

/*
 * A script is a thread's steps: a letter and a page, for the letters of holds a second page. r reads and w
 * writes, c reads by a cursor, v as [] of a view, q by the value form, l writes half a word, a adds, s
 * compares and swaps, p prefetches, h holds, k holds and writes, d holds two, f flushes a frame, o
 * overwrites, b begins a page and reads another before it asks, t begins two, n gives up what it began. e
 * reads the second word, x the third.
 */
static uint32_t parse(struct step *step, const char *script)
{
	static const char letters[] = "rwcqlasphkdfobtnv";
	const struct step *first = step;

	for (; *script; step++) {
		step->word = (uint8_t)(*script == 'x' ? 2 : *script == 'e');
		step->op = (uint8_t)(step->word ? (long)OP_READ : strchr(letters, *script) - letters);
		step->page = (uint8_t)(script[1] - '0');
		script += 2;
		if ((step->op >= OP_HOLD && step->op <= OP_HOLD_TWO) ||
		    (step->op >= OP_BEGIN && step->op <= OP_CANCEL))
			step->other = (uint8_t)(*script++ - '0');
	}
	return (uint32_t)(step - first);
}

struct small {
	const char *name;
	unsigned preemptions;
	uint32_t ways, frames, pages, policy;
	uint32_t failing_fetches, failing_puts;
	const char *script[4];
	unsigned warp_width;
	int interrupted; /* transfers take a turn only when the schedule says so */
	uint32_t sector_log2;
	uint32_t low_water;
	int counts, reads_ahead, whole; /* whole: page k is thread k's */
	enum way way;
};

/* clang-format off */
static const struct small small[] = {
    {"direct, 1 frame: two readers of two pages", 3, 0, 1, 2, GN_CLOCK, 0, 0, {"r0r1", "r1r0", 0}, 1},
    {"direct, 1 frame: reader and writer", 3, 0, 1, 2, GN_FIFO, 0, 0, {"r0r0", "w1w0", 0}, 1},
    {"direct, 1 frame: two writers of one page", 3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0w1", 0}, 1},
    {"direct, 1 frame: a hold and a miss", 3, 0, 1, 2, GN_FIFO, 0, 0, {"h01", "w1w0", 0}, 1},
    {"direct, 2 frames: holds of two pages each", 2, 0, 2, 2, GN_FIFO, 0, 0, {"d01", "d10", 0}, 1},
    {"direct, 2 frames, 3 pages: clock", 2, 0, 2, 3, GN_CLOCK, 0, 0, {"w0r2", "r1w2", 0}, 1},
    {"direct, 1 frame: flush beside a writer", 3, 0, 1, 2, GN_FIFO, 0, 0, {"w0f0", "w0r0", 0}, 1},
    {"direct, 1 frame: a write-back fails", 3, 0, 1, 2, GN_FIFO, 0, 1, {"w0r1", "r1w0", 0}, 1},
    {"direct, 1 frame: a fetch fails for two", 3, 0, 1, 2, GN_FIFO, 1, 0, {"r0", "r0", 0}, 1},
    {"direct, 1 frame: cursors", 3, 0, 1, 2, GN_FIFO, 0, 0, {"c0c0", "r1r0", 0}, 1},
    {"direct, 1 frame: what a view remembers", 3, 0, 1, 2, GN_FIFO, 0, 0, {"v0v0v0", "r1r0", 0}, 1},
    {"sets, 1 way: what a view remembers", 3, 1, 1, 2, GN_FIFO, 0, 0, {"v0v0v0", "r1", 0}, 1},
    {"direct, 1 frame: three readers of three pages", 2, 0, 1, 3, GN_FIFO, 0, 0, {"r0", "r1", "r2"}, 1},
    {"direct, 1 frame: reader, writer, evictor", 2, 0, 1, 2, GN_FIFO, 0, 0, {"r0", "w0", "r1"}, 1},
    {"direct, 2 frames: reader, writer, flush", 2, 0, 2, 2, GN_FIFO, 0, 0, {"r0", "w0", "f0"}, 1},
    {"direct, 1 frame: a page leaves and comes back", 3, 0, 1, 2, GN_FIFO, 0, 0, {"r0r0", "r1r0", 0}, 1, 1},
    {"direct, 1 frame: a page leaves and comes back under a cursor",
     3,
     0,
     1,
     2,
     GN_FIFO,
     0,
     0,
     {"c0c0", "r1r0", 0},
     1,
     1},
    {"direct, 1 frame: the value form beside a writer", 3, 0, 1, 2, GN_FIFO, 0, 1, {"r0q0", "w1r0", 0}, 1},
    {"direct, 2 frames: a frame that its page has left",
     2,
     0,
     2,
     5,
     GN_FIFO,
     0,
     0,
     {"r4", "r0r1r2r3r0", 0},
     1,
     1},
    {"direct, 2 frames: flush of a frame that its page has left",
     2, 0, 2, 3, GN_FIFO, 0, 0, {"r0r1r2", "w0f0", 0}, 1, 1},
    {"direct, 1 frame: holds and writers, interrupted", 3, 0, 1, 2, GN_FIFO, 0, 0, {"k01", "w1w0", 0}, 1, 1},
    {"sets, 1 way: two readers of two pages", 3, 1, 1, 2, GN_CLOCK, 0, 0, {"r0r1", "r1r0", 0}, 1},
    {"sets, 1 way: reader and writer", 3, 1, 1, 2, GN_FIFO, 0, 0, {"r0r0", "w1w0", 0}, 1},
    {"sets, 1 way: two writers of one page", 3, 1, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0w1", 0}, 1},
    {"sets, 1 way: a hold and a miss", 3, 1, 1, 2, GN_FIFO, 0, 0, {"h01", "w1w0", 0}, 1},
    {"sets, 2 ways: holds of two pages each", 2, 2, 2, 2, GN_FIFO, 0, 0, {"d01", "d10", 0}, 1},
    {"sets, 2 ways, 3 pages: clock", 2, 2, 2, 3, GN_CLOCK, 0, 0, {"w0r2", "r1w2", 0}, 1},
    {"sets, 2 ways: one page misses twice behind dirty pages",
     2,
     2,
     2,
     3,
     GN_FIFO,
     0,
     0,
     {"w0r2", "w1r2", 0},
     1},
    {"sets, 1 way: flush beside a writer", 3, 1, 1, 2, GN_FIFO, 0, 0, {"w0f0", "w0r0", 0}, 1},
    {"sets, 1 way: flush beside a miss", 3, 1, 1, 2, GN_FIFO, 0, 0, {"w0f0", "w1", 0}, 1},
    {"sets, 1 way: a write-back fails", 3, 1, 1, 2, GN_FIFO, 0, 1, {"w0r1", "r1w0", 0}, 1},
    {"sets, 1 way: a fetch fails for two", 3, 1, 1, 2, GN_FIFO, 1, 0, {"r0", "r0", 0}, 1},
    {"sets, 1 way: a failed page's way is taken", 3, 1, 1, 2, GN_FIFO, 1, 0, {"r0r0", "r1", 0}, 1},
    {"sets, 1 way: three readers of three pages", 2, 1, 1, 3, GN_FIFO, 0, 0, {"r0", "r1", "r2"}, 1},
    {"sets, 1 way: reader, writer, evictor", 2, 1, 1, 2, GN_FIFO, 0, 0, {"r0", "w0", "r1"}, 1},
    {"sets, 1 way: a page leaves and comes back", 3, 1, 1, 2, GN_FIFO, 0, 0, {"r0r0", "r1r0", 0}, 1, 1},
    {"sets, 1 way: holds and writers, interrupted", 3, 1, 1, 2, GN_FIFO, 0, 0, {"k01", "w1w0", 0}, 1, 1},
    {"sets, 2 ways: holds of two, a miss and a flush", 2, 2, 2, 3, GN_FIFO, 0, 0, {"d01", "w2", "f0"}, 1, 1},
    {"direct, 1 frame: a warp of two, one page", 3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0r1", 0}, 2},
    {"direct, 1 frame: a warp of two, two pages", 3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "r1w0", 0}, 2},
    {"sets, 1 way: a warp of two, two pages", 3, 1, 1, 2, GN_FIFO, 0, 0, {"w0r1", "r1w0", 0}, 2},
    {"direct, 1 frame: sectors, a writer and a reader of one page",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r0", "w0r0", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, a page in parts goes and comes",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "r0w0", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, the last page is written whole",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w1r1", "w1r0", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, a fill fails", 3, 0, 1, 2, GN_FIFO, 1, 0, {"w0r0", "r0w0", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, a write-back fails", 3, 0, 1, 2, GN_FIFO, 0, 1, {"w0r1", "w1r0", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, flush beside writers",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0f0", "w0r0", 0}, 1, 0, 3},
    {"direct, 2 frames: sectors, three writers", 2, 0, 2, 2, GN_FIFO, 0, 0, {"w0", "w0", "r0"}, 1, 1, 3},
    {"direct, 2 frames: sectors and the cleaner",
     2, 0, 2, 3, GN_FIFO, 0, 0, {"w0r1w2", "w1r0", 0}, 1, 0, 3, 1},
    {"direct, 1 frame: the cleaner beside a writer",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0w1", 0}, 1, 0, 0, 1},
    {"sets, 1 way: sectors, a writer and a reader of one page",
     3, 1, 1, 2, GN_FIFO, 0, 0, {"w0r0", "w0r0", 0}, 1, 0, 3},
    {"sets, 1 way: sectors, a page in parts goes and comes",
     3, 1, 1, 2, GN_FIFO, 0, 0, {"w0r1", "r0w0", 0}, 1, 0, 3},
    {"sets, 2 ways: sectors and the cleaner", 2, 2, 2, 3, GN_FIFO, 0, 0, {"w0r1w2", "w1r0", 0}, 1, 0, 3, 1},
    {"direct, 1 frame: sectors, a warp of two, one page",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0r1", 0}, 2, 0, 3},
    {"direct, 1 frame: sectors, a warp of two, two pages",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w1w0", 0}, 2, 0, 3},
    {"direct, 1 frame: two count one element", 3, 0, 1, 2, GN_FIFO, 0, 0, {"a0r1", "a0a0", 0}, 1, 0, 0, 0, 1},
    {"direct, 1 frame: compare-and-swap and add",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"s0", "a0s0", 0}, 1, 0, 0, 0, 1},
    {"direct, 1 frame: two count around the cache",
     1, 0, 1, 2, GN_FIFO, 0, 0, {"h11", "a0", "a0"}, 1, 0, 0, 0, 1},
    {"direct, 1 frame: compare-and-swap around the cache",
     2, 0, 1, 2, GN_FIFO, 0, 0, {"h11", "s0", "a0"}, 1, 1, 3, 0, 1},
    {"direct, 1 frame: two count, a write-back fails",
     3, 0, 1, 2, GN_FIFO, 0, 1, {"a0a1", "a0r1", 0}, 1, 0, 3, 0, 1},
    {"sets, 1 way: two count one element", 3, 1, 1, 2, GN_FIFO, 0, 0, {"a0r1", "a0a0", 0}, 1, 0, 0, 0, 1},
    {"sets, 1 way: two count around the cache",
     1, 1, 1, 2, GN_FIFO, 0, 0, {"h11", "a0", "a0"}, 1, 0, 0, 0, 1},
    {"sets, 1 way: two count around the cache beside a write-back",
     2, 1, 1, 2, GN_FIFO, 0, 0, {"k11", "a0", "a0"}, 1, 0, 0, 0, 1},
    {"direct, 1 frame: a warp of two counts", 3, 0, 1, 2, GN_FIFO, 0, 0, {"a0a1", "a0a1", 0}, 2, 0, 3, 0, 1},
    {"direct, 1 frame: prefetch beside a reader", 3, 0, 1, 2, GN_FIFO, 0, 0, {"p0r1", "r0p1", 0}, 1},
    {"direct, 1 frame: prefetch beside a writer", 3, 0, 1, 2, GN_FIFO, 0, 0, {"p1r0", "w0w1", 0}, 1, 0, 3},
    {"direct, 1 frame: a prefetch fails", 3, 0, 1, 2, GN_FIFO, 1, 0, {"p0r0", "r0", 0}, 1},
    {"sets, 1 way: prefetch beside a writer", 3, 1, 1, 2, GN_FIFO, 0, 0, {"p1r0", "w0w1", 0}, 1, 0, 3},
    {"sets, 1 way: a prefetch fails", 3, 1, 1, 2, GN_FIFO, 1, 0, {"p0r0", "r0", 0}, 1},
    {"direct, 1 frame: a warp of two prefetches two pages",
     2, 0, 1, 2, GN_FIFO, 0, 0, {"p0r0", "p1w0", 0}, 2},
    {"direct, 1 frame: an overwritten page goes and comes",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"o0r0", "r0r1", 0}, 1, 0, 0, 0, 0, 0, 1},
    {"direct, 1 frame: overwrite beside a flush",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"o0r1", "f0r0", 0}, 1, 0, 3, 0, 0, 0, 1},
    {"direct, 1 frame: overwrite of a page in parts",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0o0", "r0r1", 0}, 1, 0, 3, 0, 0, 0, 1},
    {"direct, 1 frame: overwrite, a write-back fails",
     3, 0, 1, 2, GN_FIFO, 0, 1, {"o0r0", "w1r0", 0}, 1, 0, 3, 0, 0, 0, 1},
    {"sets, 1 way: an overwritten page goes and comes",
     3, 1, 1, 2, GN_FIFO, 0, 0, {"o0r0", "r0r1", 0}, 1, 0, 3, 0, 0, 0, 1},
    {"direct, 1 frame: half a word beside whole words",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"l0r1", "w0r0", 0}, 1, 0, 3},
    {"sets, 1 way: half a word beside whole words", 3, 1, 1, 2, GN_FIFO, 0, 0, {"l0r1", "w0r0", 0}, 1, 0, 3},
    {"direct, 1 frame: a held page beside parts of it",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"k00", "w0r1", 0}, 1, 0, 3},
    {"direct, 1 frame: sectors, one that is to be overwritten comes meanwhile",
     0, 0, 1, 2, GN_FIFO, 0, 0, {"w0", "w0", "e0"}, 2, 0, 3},
    {"direct, 1 frame: two words a sector, a warp of two",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r1", "w0r0", 0}, 2, 0, 4},
    {"direct, 1 frame: the last sector and its reader",
     2, 0, 1, 2, GN_FIFO, 0, 0, {"w1", "w1", "e1"}, 1, 1, 3},
    {"direct, 3 frames: three of one page in parts",
     1, 0, 3, 2, GN_FIFO, 0, 0, {"w0r0", "w0w0", "l0r0"}, 1, 1, 3},
    {"direct, 2 frames: flush beside parts, a fill fails",
     2, 0, 2, 3, GN_FIFO, 1, 0, {"w0r0", "f0w0f0", 0}, 1, 1, 3},
    {"direct, 2 frames: the cleaner beside holds",
     2, 0, 2, 3, GN_FIFO, 0, 0, {"k01k01", "r1r2r1", 0}, 1, 1, 3, 1},
    {"sets, 2 ways: the cleaner beside holds",
     2, 2, 2, 3, GN_FIFO, 0, 0, {"k01k01", "r1r2r1", 0}, 1, 1, 3, 1},
    {"direct, 2 frames: the cleaner, a write-back fails",
     2, 0, 2, 4, GN_FIFO, 0, 1, {"w0w1w2", "r3r0", 0}, 1, 1, 0, 2},
    {"direct, 3 frames: a warp of two reads on",
     1, 0, 3, 5, GN_FIFO, 0, 0, {"r0r1r2r3", "r0r1r2r3", 0}, 2, 0, 0, 0, 0, 1},
    {"direct, 2 frames: reading on where another reads", 0, 0, 2, 4, GN_FIFO, 1, 0,
     {"r0r1", "r0r1", "r2"}, 2, 0, 0, 0, 0, 1},
    {"sets, 2 ways: a warp of two reads on",
     1, 2, 2, 5, GN_FIFO, 0, 0, {"r0r1r2r3", "r0r1r2r3", 0}, 2, 0, 0, 0, 0, 1},
    {"direct, 1 frame: by faults, two readers of one page",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0e0", "e0r1", 0}, 1, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a page leaves and comes back",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0r0", "r1r0", 0}, 1, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a reader and a writer",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0e0", "w0w0", 0}, 1, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, half a word is written",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0r1", "l0r0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a reader, a writer, an evictor",
     2, 0, 1, 2, GN_FIFO, 0, 0, {"r0", "w0", "e1"}, 1, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, beside a hold",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"e0r1", "k00", 0}, 1, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a flush",
     3, 0, 1, 2, GN_FIFO, 0, 1, {"r0e0", "w0f0", 0}, 1, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a page is overwritten",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"o0r0", "r0e0", 0}, 1, 0, 3, 0, 0, 0, 1, BY_FAULTS},
    {"direct, 1 frame: by faults, two words a sector",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0e0", "w0r1", 0}, 1, 1, 4, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a warp of two, an evictor and a writer",
     1, 0, 1, 2, GN_FIFO, 0, 0, {"r0r1", "e0", "w0"}, 2, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a warp of two reads in order",
     0, 0, 1, 2, GN_FIFO, 0, 0, {"r0x0", "e0", "e0"}, 2, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a warp of two and a writer",
     1, 0, 1, 2, GN_FIFO, 0, 0, {"r0", "e0", "w0w1"}, 2, 1, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 2 frames: by faults, three readers",
     1, 0, 2, 3, GN_CLOCK, 0, 0, {"r0e0", "r0r1", "r2"}, 1, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: by faults, a page is read in order",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"r0e0x0", "x0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_FAULTS},
    {"direct, 1 frame: blocks, a writer and a reader of one page",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w0r0", "w0r0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 1 frame: blocks, the last page is written whole",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"w1r1", "w1r0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 1 frame: blocks, a fill fails",
     3, 0, 1, 2, GN_FIFO, 1, 0, {"w0r0", "r0w0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 2 frames: blocks, three writers",
     2, 0, 2, 2, GN_FIFO, 0, 0, {"w0", "w0", "r0"}, 1, 1, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"sets, 1 way: blocks, a page in parts goes and comes",
     3, 1, 1, 2, GN_FIFO, 0, 0, {"w0r1", "r0w0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"sets, 1 way: blocks, a fill fails",
     3, 1, 1, 2, GN_FIFO, 1, 0, {"w0r0", "r0w0", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 2 frames: begun, and the other's page is read first",
     3, 0, 2, 2, GN_FIFO, 0, 0, {"b01", "b10", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 1 frame: begun, and the other's page is read first",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"b01", "b10", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 2 frames: two tickets each",
     3, 0, 2, 2, GN_FIFO, 0, 0, {"t01", "t10", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 2 frames: a fetch that was begun fails for two",
     3, 0, 2, 2, GN_FIFO, 1, 0, {"b01", "r0", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
    {"direct, 1 frame: a ticket is given up",
     3, 0, 1, 2, GN_FIFO, 0, 0, {"n00", "w0r1", 0}, 1, 0, 3, 0, 0, 0, 0, BY_BLOCKS},
    {"sets, 2 ways: begun, and the other's page is read first",
     3, 2, 2, 2, GN_FIFO, 0, 0, {"b01", "b10", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
    {"sets, 1 way: two tickets each, a fetch fails",
     2, 1, 1, 2, GN_FIFO, 1, 0, {"t01", "t10", 0}, 1, 0, 0, 0, 0, 0, 0, BY_BLOCKS},
};
/* clang-format on */

#endif
