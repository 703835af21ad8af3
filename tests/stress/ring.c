/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of the ring: as many threads as the machine holds put and take records of two words through rings
 * from 2 to 1024 slots. Every record is taken exactly once, whole.
 */
#include "../model/draw.h"
#include "stress.h"

#include <grapnel/ring.h>
#include <stdlib.h>

struct record {
	uint64_t value, check;
};

struct arguments {
	struct gn_ring *ring;
	struct record *record;
	uint32_t *seen; /* [threads * each]: how often a value was taken */
	uint32_t *wrong;
	uint32_t each;
	uint32_t taken_too; /* 1: threads take what they find, else only when they must */
};

SIMT_FN int put(const struct arguments *a, uint64_t value)
{
	uint32_t ticket;
	struct record *record;

	if (gn_ring_reserve(a->ring, &ticket))
		return -GN_EAGAIN;
	record = &a->record[gn_ring_slot(a->ring, ticket)];
	record->value = value;
	record->check = draw_mix(value);
	gn_ring_commit(a->ring, ticket);
	return 0;
}

SIMT_FN int take(const struct arguments *a)
{
	struct record record;
	uint32_t ticket;

	if (gn_ring_take(a->ring, &ticket))
		return -GN_EAGAIN;
	record = a->record[gn_ring_slot(a->ring, ticket)];
	gn_ring_release(a->ring, ticket);
	if (record.check != draw_mix(record.value))
		simt_add_relaxed_dev_u32(a->wrong, 1);
	else
		simt_add_relaxed_dev_u32(&a->seen[record.value], 1);
	return 0;
}

/* Who cannot put takes, so that nobody waits for a thread that has not begun. */
SIMT_FN void put_and_take(const struct arguments *a)
{
	uint64_t first = simt_global_thread() * a->each;

	for (uint32_t k = 0; k < a->each; k++) {
		while (put(a, first + k))
			if (take(a))
				simt_relax();
		if (a->taken_too)
			take(a);
	}
}
SIMT_KERNEL(put_and_take, struct arguments)

/* One thread takes what is left. */
SIMT_FN void take_rest(const struct arguments *a)
{
	while (!take(a))
		;
}
SIMT_KERNEL(take_rest, struct arguments)

struct fixture {
	struct arguments a;
	uint32_t *turn;
	uint64_t values;
};

static int make(struct stress *s, struct fixture *b, uint32_t depth, uint64_t values)
{
	struct simt_machine *m = s->machine;
	uint32_t *turns = (uint32_t *)malloc(depth * sizeof *turns);
	struct gn_ring ring;
	int rc = -GN_ENOMEM;

	b->values = values;
	b->a.ring = (struct gn_ring *)simt_alloc(m, sizeof *b->a.ring, SIMT_DEVICE, NULL);
	b->a.record = (struct record *)simt_alloc(m, depth * sizeof *b->a.record, SIMT_DEVICE, NULL);
	b->a.seen = (uint32_t *)simt_alloc(m, (values + 1) * sizeof *b->a.seen, SIMT_DEVICE, NULL);
	b->a.wrong = b->a.seen + values;
	b->turn = (uint32_t *)simt_alloc(m, depth * sizeof *b->turn, SIMT_DEVICE, NULL);
	if (turns && b->a.ring && b->a.record && b->a.seen && b->turn) {
		gn_ring_init(&ring, turns, b->turn, depth, 0u - (uint32_t)(s->seed * 977 % 5000));
		rc = simt_move(m, b->turn, turns, depth * sizeof *turns, NULL);
		if (!rc)
			rc = simt_move(m, b->a.ring, &ring, sizeof ring, NULL);
	}
	free(turns);
	return rc ? stress_wrong("cannot make a ring: %s", gn_error_name(rc)) : 0;
}

static void unmake(struct stress *s, struct fixture *b)
{
	simt_free(s->machine, b->a.ring);
	simt_free(s->machine, b->a.record);
	simt_free(s->machine, b->a.seen);
	simt_free(s->machine, b->turn);
}

static int check(struct stress *s, const struct fixture *b)
{
	uint32_t *seen = (uint32_t *)malloc((b->values + 1) * sizeof *seen);
	int bad = 0;

	if (!seen || simt_move(s->machine, seen, b->a.seen, (b->values + 1) * sizeof *seen, NULL))
		bad = stress_wrong("cannot look at the result");
	if (!bad && seen[b->values])
		bad = stress_wrong("%u records were torn", seen[b->values]);
	for (uint64_t k = 0; !bad && k < b->values; k++)
		if (seen[k] != 1)
			bad = stress_wrong("record %llu was taken %u times", (unsigned long long)k, seen[k]);
	free(seen);
	return bad;
}

static int ring_round(struct stress *s)
{
	uint64_t random = s->seed;
	uint32_t depth = 2u << draw_below(&random, 10);
	struct simt_grid grid = stress_grid(s, 1u << (5 + draw_below(&random, 8)));
	struct simt_grid one = {1, 1, 0};
	uint64_t threads = (uint64_t)grid.blocks * grid.block_threads;
	struct fixture b;
	int bad;

	memset(&b, 0, sizeof b);
	b.a.each = 1 + (uint32_t)(100000 / threads);
	b.a.taken_too = draw_chance(&random, 50);
	bad = make(s, &b, depth, threads * b.a.each);
	if (!bad)
		bad = stress_run(s, &put_and_take_kernel, grid, &b.a) ||
		      stress_run(s, &take_rest_kernel, one, &b.a) || check(s, &b);
	s->operations += b.values;
	unmake(s, &b);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "ring", ring_round);
}
