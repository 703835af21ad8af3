/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave_state.h - a wavefront that runs: what wave_stack.c (fibers), group.c (taking instructions) and wave.c
 * (making them) share.
 */
#ifndef SIM_WAVE_STATE_H
#define SIM_WAVE_STATE_H

#include <simt/fiber.h>
#include <sim/divide.h>
#include <sim/wave.h>

enum {
	SIM__MOST_WAVES = 16, /* of a group */
	/* Words for instructions: the longest one (its header and its lines), and some more, so that short
	   ones come in bulk. */
	SIM__WORDS = 1 + 2 * SIM_MOST_LINES + 63
};

enum sim__state {
	SIM__FRESH,  /* the kernel has not begun */
	SIM__MIDDLE, /* it waits in the fiber for its instructions to be taken */
	SIM__ENDED,
	SIM__FAILED /* it touched what is in no buffer; it does not run on */
};

/* Which access ended the run. */
struct sim__fault {
	uint32_t lane, index;
	uint64_t elements; /* of the buffer */
};

/*
 * Instructions are written into word by the fiber until there is no room, and taken by the timing model until
 * none is left; the two never run at once, so it is no ring. One is a header (kind, count in the upper half)
 * and its lines, two words each.
 */
struct sim_wave {
	struct sim__stack *stack; /* of a kernel that has begun and not ended; NULL: it needs none */
	struct sim_waves *waves;
	struct sim_group *group;
	struct sim_wave *next; /* free ones */
	enum sim__state state;
	uint32_t number; /* in the group */
	uint64_t lanes;
	uint32_t read, written; /* words */
	struct sim__fault fault;
	uint64_t word[SIM__WORDS];
};

struct sim_group {
	const struct sim_launch *launch;
	struct sim_waves *waves;
	struct sim_group *next; /* free ones */
	struct sim_group *older;
	struct sim_divisor width; /* its items in x */
	uint32_t at[2];           /* its number in x and y */
	uint32_t gpu;
	uint32_t count;
	struct sim_wave *wave[SIM__MOST_WAVES];
	void *lds;
	uint32_t lds_room;
};

/* The fiber of a kernel. Lies at the top of its stack. */
struct sim__stack {
	struct simt__context context; /* first: what a fiber's body is given */
	struct sim_wave *wave;        /* whose kernel it runs */
	struct sim__stack *next;      /* free ones */
};

struct sim_waves {
	struct simt__context host; /* of the timing model */
	struct sim__slab *slabs;   /* of stacks */
	struct sim__block *blocks; /* of wavefronts */
	uint32_t guards;           /* of stacks, at most GUARDS */
	struct sim__stack *stack;  /* free */
	struct sim_wave *wave;     /* free */
	struct sim_group *group;
	struct sim_group *groups;             /* all */
	struct sim_line line[SIM_MOST_LINES]; /* of the instruction that is being made */
	uint8_t slot[2 * SIM_MOST_LINES];     /* a hash table of them, by line: 1 + where it stands */
};

/* sim__wave_leave - from a fiber: its instructions are to be taken. Returns when all are. */
void sim__wave_leave(struct sim_wave *w);

/* sim__wave_resume - until it leaves or ends: there are instructions to take. Returns 0 or -GN_ENOMEM. */
int sim__wave_resume(struct sim_wave *w);

/* sim__wave_stop - a kernel that was left in the middle goes no further: its fiber begins anew. */
void sim__wave_stop(struct sim_wave *w);

void sim__stacks_free(struct sim_waves *waves);

#endif
