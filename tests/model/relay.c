/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rings of the relay under every kind of schedule: warps of producers hand additions to a ring that has room for a
 * few, whose tickets start near 2^64; a warp of the reader does them. What must hold:
 *   - every addition is done once, with its own operand;
 *   - what a thread handed over is done when it has settled;
 *   - a slot is written only after it was read and emptied, and all are empty at the end;
 *   - nobody waits for ever.
 */
#include "draw.h"
#include "harness.h"

#include "net/relay_kernels.c"

enum { MOST_WIDTH = 4, MOST_CAPACITY = 32, MOST_PRODUCERS = 8, MOST_EACH = 8 };

struct trial {
	struct gn_relay ring;
	struct gn_relay_reader reader;
	struct gn_relay_slot slot[MOST_CAPACITY] __attribute__((aligned(16)));
	uint64_t heap[MOST_PRODUCERS * MOST_EACH];
	uint64_t start;
	uint32_t capacity, producers, each, settles;
	struct gn_net_view view;
	struct gn_net_fault fault;
	const char *wrong;
};

static struct trial the_trial;

struct arguments {
	struct trial *t;
};

static const struct arguments the_arguments = {&the_trial};

SIMT_FN void blame(struct trial *t, const char *what)
{
	if (!t->wrong)
		t->wrong = what;
}

/* Far beyond what any run needs. */
static const uint64_t patience_ns = 200000000;

SIMT_FN uint64_t operand_of(uint32_t element)
{
	return draw_mix(element + 1);
}

SIMT_FN void produce(struct trial *t, uint32_t producer)
{
	for (uint32_t k = 0; k < t->each; k++) {
		const uint32_t element = producer * t->each + k;

		if (gn__relay_push(&t->view, 0, gn_message_head((GN_MESSAGE_CHANGE + GN__ADD) | GN_MESSAGE_WIDE, 0, 2 * element),
				   operand_of(element)))
			blame(t, "a producer waits for ever");
		if (!t->settles && k + 1 < t->each)
			continue;
		if (gn__relay_settle(&t->view))
			blame(t, "who settles waits for ever");
		if (simt_load_relaxed_dev_u64(&t->heap[element]) != operand_of(element))
			blame(t, "who has settled does not see what it handed over");
	}
}

SIMT_FN void read_all(struct trial *t, uint32_t all)
{
	const uint64_t began = simt_clock_ns();
	const uint64_t end = t->start + t->producers * t->each;
	struct gn_relay_reader r = t->reader;

	while (r.at != end || r.given != end) {
		if (simt_ballot(all, simt_clock_ns() - began > patience_ns)) {
			blame(t, "the reader waits for ever");
			return;
		}
		if (!serve(&t->view, &r, all))
			simt_relax();
	}
}

/* The reader's warp is the one behind the producers'. */
SIMT_FN uint32_t reader_of(const struct trial *t)
{
	return (t->producers + MOST_WIDTH - 1) / MOST_WIDTH * MOST_WIDTH;
}

SIMT_FN void relay_trial(const struct arguments *a)
{
	const uint32_t width = simt_warp_width();

	if (simt_thread() < a->t->producers)
		produce(a->t, simt_thread());
	else if (simt_thread() >= reader_of(a->t) && simt_thread() < reader_of(a->t) + width)
		read_all(a->t, (1u << width) - 1);
}
SIMT_KERNEL(relay_trial, struct arguments)

static void set(uint32_t producers, uint32_t each, uint32_t capacity, uint32_t settles, uint64_t start)
{
	the_trial.producers = producers;
	the_trial.each = each;
	the_trial.capacity = capacity;
	the_trial.settles = settles;
	the_trial.start = start;
}

static unsigned width_of(uint64_t seed)
{
	return 1u << draw_below(&seed, 3);
}

/* A reader looks at LOOK slots a lane, so a ring has as many. */
static void draw_trial(uint64_t seed)
{
	uint64_t s = seed;
	const uint32_t producers = 1 + draw_below(&s, MOST_PRODUCERS), least = LOOK * MOST_WIDTH;

	set(producers, 1 + draw_below(&s, MOST_EACH), draw_chance(&s, 80) ? least : 2 * least, draw_chance(&s, 30),
	    draw_chance(&s, 20) ? 0 : 0ull - draw_below(&s, 40));
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		uint32_t width, producers, each, capacity, settles;
		unsigned preemptions;
	} small[] = {
	    {"1 producer, room for 4, 6 changes", 1, 1, 6, 4, 0, 3},
	    {"1 producer that settles each time", 1, 1, 3, 4, 1, 3},
	    {"2 producers, room for 4, 3 changes each", 1, 2, 3, 4, 0, 1},
	    {"2 producers that settle each time", 1, 2, 2, 4, 1, 1},
	};

	if (k >= sizeof small / sizeof *small)
		return NULL;
	set(small[k].producers, small[k].each, small[k].capacity, small[k].settles, 0ull - 3);
	bound->preemptions = small[k].preemptions;
	bound->warp_width = small[k].width;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	const struct simt_grid one_block = {1, reader_of(&the_trial) + MOST_WIDTH, 0};

	return one_block;
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	memset(t->slot, 0, sizeof t->slot);
	memset(t->heap, 0, sizeof t->heap);
	memset(&t->ring, 0, sizeof t->ring);
	memset(&t->reader, 0, sizeof t->reader);
	memset(&t->view, 0, sizeof t->view);
	memset(&t->fault, 0, sizeof t->fault);
	t->ring.slot = t->reader.slot = t->slot;
	t->ring.capacity = t->reader.capacity = t->capacity;
	t->ring.tail = t->ring.released = t->reader.at = t->reader.given = t->start;
	t->reader.released = &t->ring.released;
	t->view.relay = &t->ring;
	t->view.logs = t->view.nodes = 1;
	t->view.heap = (char *)t->heap;
	t->view.heap_bytes = sizeof t->heap;
	t->view.timeout_ns = patience_ns;
	t->view.fault = &t->fault;
	t->wrong = NULL;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;
	const uint64_t end = t->start + t->producers * t->each;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	for (uint32_t k = 0; k < t->producers * t->each; k++)
		if (t->heap[k] != operand_of(k))
			return model_wrong("change %u is %llu, not %llu", k, (unsigned long long)t->heap[k],
			                   (unsigned long long)operand_of(k));
	for (uint32_t k = 0; k < t->capacity; k++)
		if (t->slot[k].head || t->slot[k].operand)
			return model_wrong("slot %u was left", k);
	if (t->ring.tail != end || t->ring.released != end)
		return model_wrong("tail %llu, released %llu", (unsigned long long)t->ring.tail, (unsigned long long)t->ring.released);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "relay", &relay_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, width_of};

	return model_main(&model, argc, argv);
}
