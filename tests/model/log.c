/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log of messages under every kind of schedule: warps of producers append messages of different forms to
 * a log that has room for a few, whose tickets start near 2^64; one consumer reads them. What must hold:
 *   - every message is read once, whole, and those of one producer in the order in which they were sent;
 *   - what is handed out is empty: a word is written only after it was read and emptied;
 *   - nobody waits for ever.
 */
#include "draw.h"
#include "harness.h"

#include <grapnel/detail/net/view.h>

enum { MOST_WIDTH = 4, MOST_CAPACITY = 32, MOST_PRODUCERS = 8, MOST_EACH = 5 };

struct trial {
	struct gn__log log;
	struct gn__log_reader reader;
	uint64_t word[MOST_CAPACITY];
	uint64_t released;
	uint64_t start;
	uint32_t capacity, producers, each, mixed, bytes;
	struct gn_net_view view;
	struct gn_net_fault fault;
	uint32_t read[MOST_PRODUCERS];
	const char *wrong;
};

#include "trial.h"

/* Far beyond what any run needs. */
static const uint64_t patience_ns = 200000000;

/* The form of a message: its words, from 1 to 4. Lanes send the same one, or mixed. */
SIMT_FN uint32_t form_of(const struct trial *t, uint32_t producer, uint32_t k)
{
	return 1 + (t->mixed ? producer + k : k) % 4;
}

SIMT_FN uint64_t head_of(uint32_t form, uint32_t producer, uint32_t k)
{
	const uint32_t op = form == 1   ? GN__MESSAGE_CALL
	                    : form == 2 ? GN__MESSAGE_CHANGE + GN_ADD
	                    : form == 3 ? GN__MESSAGE_CHANGE + GN_CAS
	                                : (GN__MESSAGE_CHANGE + GN_CAS) | GN__MESSAGE_FETCH;

	return gn__message_head(op, producer, k);
}

SIMT_FN uint64_t word_of(uint32_t producer, uint32_t k, uint32_t word)
{
	return draw_mix(producer << 16 | k << 8 | word);
}

SIMT_FN void produce(struct trial *t, uint32_t producer)
{
	for (uint32_t k = 0; k < t->each; k++) {
		const uint32_t form = form_of(t, producer, k);
		uint64_t bytes[2] = {word_of(producer, k, 1), word_of(producer, k, 2)};
		int rc;

		if (t->bytes)
			rc = gn__net_push_bytes(
			    &t->view,
			    gn__message_head(GN__MESSAGE_CALL, producer, gn__message_call_place(k, 16)), 1, 0,
			    (const char *)bytes, 16);
		else
			rc = gn__net_push(&t->view, form, head_of(form, producer, k), word_of(producer, k, 1),
			                  word_of(producer, k, 2), word_of(producer, k, 3));
		if (rc)
			blame(t, "a producer waits for ever");
	}
}

SIMT_FN void read_one(struct trial *t, uint32_t lanes, uint32_t lane, uint32_t words)
{
	const uint64_t head = gn__log_word(&t->reader, lanes, lane, 0);
	const uint32_t producer = gn__message_peer(head), k = gn__message_place(head) & 0xffff;

	if (gn__message_words(head) != words || producer >= t->producers) {
		blame(t, "what was read is no message");
		return;
	}
	if (k != t->read[producer]++)
		blame(t, "a message came out of turn");
	for (uint32_t w = 1; w < words; w++)
		if (gn__log_word(&t->reader, lanes, lane, w) != word_of(producer, k, w))
			blame(t, "a message is not whole");
}

SIMT_FN void consume(struct trial *t)
{
	const uint64_t began = simt_clock_ns();
	uint32_t left = t->producers * t->each;

	while (left) {
		const uint64_t head = gn__log_peek(&t->reader);
		const uint32_t lanes = gn__message_lanes(head), words = gn__message_words(head);

		if (!head) {
			if (simt_clock_ns() - began > patience_ns) {
				blame(t, "the consumer waits for ever");
				return;
			}
			simt_relax();
			continue;
		}
		for (uint32_t lane = 0; lane < lanes; lane++)
			read_one(t, lanes, lane, words);
		if (lanes > left || t->wrong)
			return;
		left -= lanes;
		gn__log_empty(&t->reader, lanes * words);
		gn__log_release(&t->reader);
	}
}

/* The consumer's warp, of any width, is not the producers'. */
SIMT_FN uint32_t consumer_of(const struct trial *t)
{
	return (t->producers + MOST_WIDTH - 1) / MOST_WIDTH * MOST_WIDTH;
}

SIMT_FN void log_trial(const struct arguments *a)
{
	if (simt_thread() < a->t->producers)
		produce(a->t, simt_thread());
	else if (simt_thread() == consumer_of(a->t))
		consume(a->t);
}
SIMT_KERNEL(log_trial, struct arguments)

static void set(uint32_t producers, uint32_t each, uint32_t capacity, uint32_t mixed, uint32_t bytes,
                uint64_t start)
{
	the_trial.producers = producers;
	the_trial.each = each;
	the_trial.capacity = capacity;
	the_trial.mixed = mixed;
	the_trial.bytes = bytes;
	the_trial.start = start;
}

static unsigned width_of(uint64_t seed)
{
	return 1u << draw_below(&seed, 3);
}

static void draw_trial(uint64_t seed)
{
	uint64_t s = seed;
	const uint32_t producers = 1 + draw_below(&s, MOST_PRODUCERS);
	const uint32_t capacity = draw_chance(&s, 60) ? 4 * MOST_WIDTH : 8 * MOST_WIDTH;

	set(producers, 1 + draw_below(&s, MOST_EACH), capacity, draw_chance(&s, 50), draw_chance(&s, 20),
	    draw_chance(&s, 20) ? 0 : 0ull - draw_below(&s, 40));
}

static const char *pick(unsigned k, struct simt_exploration *bound)
{
	static const struct {
		const char *name;
		uint32_t width, producers, each, capacity, mixed;
		unsigned preemptions;
	} small[] = {
	    {"1 producer, room for 4 words, 5 messages", 1, 1, 5, 4, 0, 3},
	    {"2 producers, room for 4 words", 1, 2, 3, 4, 0, 1},
	    {"2 producers, room for 4 words, 2 messages", 1, 2, 2, 4, 1, 2},
	    {"2 producers, room for 8 words", 1, 2, 4, 8, 1, 1},
	    {"a warp of 2, room for 4 words, 2 messages", 2, 2, 2, 4, 0, 1},
	    {"a warp of 2 with different messages, room for 8 words", 2, 2, 3, 8, 1, 1},
	    {"2 warps of 2, room for 8 words", 2, 4, 1, 8, 1, 1},
	};

	if (k >= sizeof small / sizeof *small)
		return NULL;
	set(small[k].producers, small[k].each, small[k].capacity, small[k].mixed, 0, 0ull - 3);
	bound->preemptions = small[k].preemptions;
	bound->warp_width = small[k].width;
	return small[k].name;
}

static struct simt_grid grid(void)
{
	const struct simt_grid one_block = {1, consumer_of(&the_trial) + 1, 0};

	return one_block;
}

static void reset(void *unused)
{
	struct trial *t = &the_trial;

	(void)unused;
	memset(t->word, 0, sizeof t->word);
	memset(t->read, 0, sizeof t->read);
	memset(&t->view, 0, sizeof t->view);
	memset(&t->fault, 0, sizeof t->fault);
	gn__log_init(&t->log, &t->reader, t->word, &t->released, t->capacity, t->start);
	t->view.log = &t->log;
	t->view.logs = 1;
	t->view.timeout_ns = patience_ns;
	t->view.fault = &t->fault;
	t->wrong = NULL;
}

static int check(void *unused)
{
	const struct trial *t = &the_trial;

	(void)unused;
	if (t->wrong)
		return model_wrong("%s", t->wrong);
	for (uint32_t k = 0; k < t->producers; k++)
		if (t->read[k] != t->each)
			return model_wrong("%u of %u messages of producer %u were read", t->read[k], t->each,
			                   k);
	for (uint32_t k = 0; k < t->capacity; k++)
		if (t->word[k])
			return model_wrong("word %u was left", k);
	if (t->log.tail != t->reader.at || t->released != t->reader.at)
		return model_wrong("tail %llu, read %llu, released %llu", (unsigned long long)t->log.tail,
		                   (unsigned long long)t->reader.at, (unsigned long long)t->released);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct model model = {
	    "log", &log_trial_kernel, &the_arguments, draw_trial, pick, grid, reset, check, width_of};

	return model_main(&model, argc, argv);
}
