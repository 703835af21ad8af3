/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring under every kind of schedule: producers and consumers on a ring of 2 or 4 slots whose tickets
 * start near 2^32. What must hold:
 *   - a slot is written only when nobody has a record there, and read only while one is;
 *   - ticket k's consumer reads what ticket k's producer wrote, and every ticket is used once by each side;
 *   - nobody waits for ever.
 */
#include "draw.h"
#include "harness.h"

#include <grapnel/ring.h>

enum { MOST_DEPTH = 4, MOST_SIDE = 3, MOST_EACH = 6, MOST_RECORDS = MOST_SIDE * MOST_EACH };

struct trial {
	struct gn_ring ring;
	uint32_t turn[MOST_DEPTH];
	uint64_t record[MOST_DEPTH]; /* 0 while nobody's */
	uint32_t depth, start, producers, consumers, each;
	uint32_t taken;
	uint64_t written[MOST_RECORDS], read[MOST_RECORDS]; /* by ticket */
	const char *wrong;
};

#include "trial.h"

/* Far beyond what any run needs. */
enum { PATIENCE_NS = 200000000 };

SIMT_FN int late(struct trial *t, uint64_t began)
{
	if (simt_clock_ns() - began < PATIENCE_NS)
		return 0;
	blame(t, "a thread waits for ever");
	return 1;
}

SIMT_FN void note(struct trial *t, uint64_t *log, uint32_t ticket, uint64_t value)
{
	uint32_t k = ticket - t->start;

	if (k >= t->producers * t->each || log[k])
		blame(t, "a ticket was handed out twice");
	else
		log[k] = value;
}

SIMT_FN void produce(struct trial *t, uint32_t producer)
{
	uint64_t began = simt_clock_ns();

	for (uint32_t k = 0; k < t->each; k++) {
		uint64_t value = (uint64_t)(producer + 1) << 32 | k;
		uint32_t ticket;

		while (gn_ring_reserve(&t->ring, &ticket)) {
			if (late(t, began))
				return;
			simt_relax();
		}
		if (t->record[gn_ring_slot(&t->ring, ticket)])
			blame(t, "a record was overwritten before it was read");
		t->record[gn_ring_slot(&t->ring, ticket)] = value;
		note(t, t->written, ticket, value);
		gn_ring_commit(&t->ring, ticket);
	}
}

SIMT_FN void consume_one(struct trial *t, uint32_t ticket)
{
	uint64_t *record = &t->record[gn_ring_slot(&t->ring, ticket)];

	if (!*record)
		blame(t, "an empty slot was read");
	note(t, t->read, ticket, *record);
	*record = 0;
	gn_ring_release(&t->ring, ticket);
}

/* Consumers share the work: each takes until all records are taken. */
SIMT_FN void consume(struct trial *t)
{
	uint64_t began = simt_clock_ns();
	uint32_t ticket;

	while (simt_load_relaxed_dev_u32(&t->taken) < t->producers * t->each) {
		if (!gn_ring_take(&t->ring, &ticket)) {
			simt_add_relaxed_dev_u32(&t->taken, 1);
			consume_one(t, ticket);
			continue;
		}
		if (late(t, began))
			return;
		simt_relax();
	}
}

SIMT_FN void ring_trial(const struct arguments *a)
{
	if (simt_thread() < a->t->producers)
		produce(a->t, simt_thread());
	else
		consume(a->t);
}
SIMT_KERNEL(ring_trial, struct arguments)

static void set(uint32_t depth, uint32_t start, uint32_t producers, uint32_t consumers, uint32_t each)
{
	the_trial.depth = depth;
	the_trial.start = start;
	the_trial.producers = producers;
	the_trial.consumers = consumers;
	the_trial.each = each;
}

static void draw_trial(uint64_t seed)
{
	uint64_t s = seed;
	uint32_t depth = draw_chance(&s, 50) ? 2 : 4;
	uint32_t start = draw_chance(&s, 20) ? 0 : 0u - draw_below(&s, 12);
	uint32_t producers = 1 + draw_below(&s, MOST_SIDE);
	uint32_t consumers = 1 + draw_below(&s, MOST_SIDE);

	set(depth, start, producers, consumers, 1 + draw_below(&s, MOST_EACH));
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		uint32_t depth, start, producers, consumers, each;
		unsigned preemptions;
	} small[] = {
	    {"1 producer, 1 consumer, depth 2, 5 records", 2, 0xfffffffeu, 1, 1, 5, 3},
	    {"1 producer, 1 consumer, depth 4, 6 records", 4, 0xfffffffdu, 1, 1, 6, 3},
	    {"2 producers, 1 consumer, depth 2", 2, 0xffffffffu, 2, 1, 2, 2},
	    {"1 producer, 2 consumers, depth 2", 2, 0xffffffffu, 1, 2, 3, 2},
	    {"2 producers, 1 consumer, depth 4", 4, 0xfffffffeu, 2, 1, 2, 2},
	};

	if (k >= sizeof small / sizeof *small)
		return NULL;
	set(small[k].depth, small[k].start, small[k].producers, small[k].consumers, small[k].each);
	bound->preemptions = small[k].preemptions;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	struct simt_grid one_block = {1, the_trial.producers + the_trial.consumers, 0};

	return one_block;
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	memset(t->record, 0, sizeof t->record);
	memset(t->written, 0, sizeof t->written);
	memset(t->read, 0, sizeof t->read);
	gn_ring_init(&t->ring, t->turn, t->turn, t->depth, t->start);
	t->taken = 0;
	t->wrong = NULL;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;
	uint32_t records = t->producers * t->each;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	for (uint32_t k = 0; k < records; k++)
		if (!t->written[k] || t->written[k] != t->read[k])
			return model_wrong("ticket %u of %u: wrote %llx, read %llx", k, records,
			                   (unsigned long long)t->written[k], (unsigned long long)t->read[k]);
	if (t->ring.tail != t->start + records || t->ring.head != t->start + records)
		return model_wrong("%u records, but tail %u and head %u from %u", records, t->ring.tail,
		                   t->ring.head, t->start);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "ring", &ring_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, NULL};

	return model_main(&model, argc, argv);
}
