/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_trial.h - what the threads of a queue pair trial share.
 *
 * Thread 0 is the controller, the others are users. Every user has blocks of its own, so it knows what a read
 * may return: what it wrote last, or, while a write of it ended without a known result, what that one wrote.
 */
#ifndef GN_TESTS_QUEUE_TRIAL_H
#define GN_TESTS_QUEUE_TRIAL_H

#include "draw.h"

#include <grapnel/nvmeq.h>
#include <queue/port.h>

enum {
	MOST_USERS = 4,
	MOST_WINDOW = 2, /* commands that a user has in flight */
	MOST_VALUES = 6, /* that a block may have */
	BLOCKS = MOST_USERS * MOST_WINDOW,
	BLOCK_WORDS = 512 / 8,
	FOREVER_NS = 400000000, /* 400 000 steps: no healthy command takes so long */
};

/* How the controller misbehaves; chances in percent. */
struct faults {
	uint32_t reorder, late, duplicate, bogus, fail;
	uint32_t drop; /* completes only after all users have ended */
};

/* What a block may hold. */
struct belief {
	uint64_t value[MOST_VALUES];
	uint32_t count;
};

struct trial {
	struct gn_nvmeq q;
	struct faults faults;
	uint64_t seed;
	uint32_t users, each, window;
	uint32_t hasty; /* chance of a short deadline */
	uint32_t short_ns;

	uint32_t finished;
	uint64_t disk[BLOCKS];
	struct belief belief[BLOCKS];
	uint32_t fetched, strays; /* by the controller: commands, and completions that fit none */
	const char *wrong;
};

#include "trial.h"

/* A block with this value, and a status for this block: nobody else's. */
SIMT_FN uint64_t trial_word(uint64_t lba, uint64_t value, uint32_t k)
{
	return (value << 8 | lba) * 0x9e3779b97f4a7c15u + k;
}

SIMT_FN uint32_t trial_status(uint64_t lba)
{
	return 0x200 + (uint32_t)lba;
}

SIMT_FN void trial_fill(void *to, uint64_t lba, uint64_t value)
{
	uint64_t *word = (uint64_t *)to;

	for (uint32_t k = 0; k < BLOCK_WORDS; k++)
		word[k] = trial_word(lba, value, k);
}

SIMT_FN int trial_holds(const void *from, uint64_t lba, uint64_t value)
{
	const uint64_t *word = (const uint64_t *)from;

	for (uint32_t k = 0; k < BLOCK_WORDS; k++)
		if (word[k] != trial_word(lba, value, k))
			return 0;
	return 1;
}

#endif
