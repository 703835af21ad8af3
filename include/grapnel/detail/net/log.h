/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/log.h - a log of messages: many threads append messages, one consumer takes them in order.
 *
 * This is Gravel's producer/consumer queue (section 4), but reservations have different sizes. Lanes whose
 * messages have the same form append them together. The first lane reserves room for all by one
 * compare-and-swap of the tail. The messages lie column-wise, word r of lane l at ticket + r * lanes + l, so
 * that a warp writes whole lines. The head of the first lane is stored last and shows that all words are
 * there. Gravel's slots are as large as a full block; here a lane alone takes only the room it needs. A
 * ticket is the number of words before it, 64 bits wide.
 *
 * A word that is 0 is empty. The consumer empties the words that it has read before it releases their room,
 * so an old word is never taken for a head. No function here waits. If the log is full, gn__log_reserve
 * returns -GN_EAGAIN and reserves nothing.
 *
 * Edges:  R1 (commit) pairs with A1 (peek): the consumer sees all words of all lanes.
 *         R2 (release) pairs with A2 (reserve): words are emptied before they are written again.
 */
#ifndef GRAPNEL_NET_LOG_H
#define GRAPNEL_NET_LOG_H

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>

enum { GN__LOG_TRIES = 4 }; /* of a reservation */

/* The producers' side, in memory of the device. */
struct gn__log {
	uint64_t tail; /* words reserved */
	uint64_t pad_tail[15];
	uint64_t limit;   /* upper bound of the tail: the last value read of *released, plus the capacity */
	uint64_t looking; /* 1: a thread is reading *released */
	uint64_t pad_limit[14];
	uint64_t *word;     /* [capacity], in memory that the consumer also reaches */
	uint64_t *released; /* written by the consumer: words that it has read and emptied */
	uint64_t capacity;  /* a power of two */
	uint64_t here; /* 1: the consumer is a kernel of the same device, and released is in its memory */
	uint64_t pad[12];
};

/* The consumer's side. */
struct gn__log_reader {
	uint64_t *word;
	uint64_t *released;
	uint64_t capacity;
	uint64_t at; /* words read */
};

/*
 * gn__log_init - an empty log and its reader.
 * @word      [capacity], all 0
 * @released  one word
 * @capacity  a power of two, at least GN__MESSAGE_MOST_WORDS
 * @start     the first ticket: 0, or any number in tests of the wrap-around
 */
SIMT_FN void gn__log_init(struct gn__log *log, struct gn__log_reader *reader, uint64_t *word,
                          uint64_t *released, uint64_t capacity, uint64_t start)
{
	memset(log, 0, sizeof *log);
	log->tail = reader->at = *released = start;
	log->limit = start + capacity;
	log->word = reader->word = word;
	log->released = reader->released = released;
	log->capacity = reader->capacity = capacity;
}

/*
 * gn__log_reserve - reserve room for words.
 * @ticket  receives the ticket of the first word. gn__log_put writes the words, gn__log_commit the first
 *          lane's head
 * Any thread; never waits. Returns 0, or -GN_EAGAIN: nothing was changed, because the log is full as far as
 * limit is known (gn__log_is_full updates it), or because other threads reserved room in each of the tries.
 *
 * The tries are unrolled: on cuda a lane that runs a loop with an atomic yields in it, and the lanes of its
 * warp that wait where they meet again go on without it (simt_active). From then on they append apart.
 */
SIMT_FN int gn__log_reserve(struct gn__log *log, uint32_t words, uint64_t *ticket)
{
	const uint64_t limit =
	    simt_load_acquire_dev_u64(&log->limit); /* A2, through the thread that set limit */
	uint64_t tail = simt_load_relaxed_dev_u64(&log->tail);

	SIMT_UNROLL
	for (uint32_t k = 0; k < GN__LOG_TRIES && (int64_t)(limit - tail) >= (int64_t)words; k++) {
		const uint64_t seen = simt_cas_relaxed_dev_u64(&log->tail, tail, tail + words);

		if (seen == tail) {
			*ticket = tail;
			return 0;
		}
		tail = seen;
	}
	return -GN_EAGAIN;
}

/*
 * gn__log_is_full - is there too little room for these words? Any thread; never waits. Returns 0 or 1; it may
 * return 1 although there is room, while another thread reads *released.
 *
 * Thousands of waiting threads may call this again and again. So only one thread at a time reads *released,
 * which a GPU reaches over PCIe. The other threads do no acquire, because an acquire empties the cache of
 * their processor for all of its threads; gn__log_reserve acquires.
 */
SIMT_FN int gn__log_is_full(struct gn__log *log, uint32_t words)
{
	const uint64_t tail = simt_load_relaxed_dev_u64(&log->tail);
	uint64_t limit = simt_load_relaxed_dev_u64(&log->limit);

	if ((int64_t)(limit - tail) >= (int64_t)words)
		return 0;
	if (simt_cas_relaxed_dev_u64(&log->looking, 0, 1))
		return 1;
	limit = simt_load_acquire_sys_u64(log->released) + log->capacity; /* A2: pairs with R2 */
	simt_store_release_dev_u64(&log->limit, limit);
	simt_store_relaxed_dev_u64(&log->looking, 0);
	return (int64_t)(limit - tail) < (int64_t)words;
}

/* gn__log_put - write a word of a reservation, except the first. */
SIMT_FN void gn__log_put(const struct gn__log *log, uint64_t at, uint64_t word)
{
	log->word[at & (log->capacity - 1)] = word;
}

/*
 * gn__log_commit - hand the written messages of a reservation to the consumer. R1. The other lanes have
 * synchronised with the caller since they wrote.
 * @head  of the first lane, with the number of lanes less one in its lanes field
 */
SIMT_FN void gn__log_commit(const struct gn__log *log, uint64_t ticket, uint64_t head)
{
	uint64_t *to = &log->word[ticket & (log->capacity - 1)];

	if (log->here)
		simt_store_release_dev_u64(to, head);
	else
		simt_store_release_sys_u64(to, head);
}

/* gn__log_peek - the head of the first lane of the oldest reservation; 0: it is not committed yet. A1. */
SIMT_FN uint64_t gn__log_peek(const struct gn__log_reader *r)
{
	return simt_load_acquire_sys_u64(&r->word[r->at & (r->capacity - 1)]);
}

/* gn__log_word - word number `word` of lane `lane` of the messages whose head gn__log_peek returned. */
SIMT_FN uint64_t gn__log_word(const struct gn__log_reader *r, uint32_t lanes, uint32_t lane, uint32_t word)
{
	return r->word[(r->at + word * lanes + lane) & (r->capacity - 1)];
}

/*
 * gn__log_empty - empty the messages whose head gn__log_peek returned, after they were read. gn__log_release
 * then releases their room.
 * @words  of all these messages together
 */
SIMT_FN void gn__log_empty(struct gn__log_reader *r, uint32_t words)
{
	for (uint32_t k = 0; k < words; k++)
		r->word[(r->at + k) & (r->capacity - 1)] = 0;
	r->at += words;
}

/* gn__log_release - release the emptied words to the producers. R2. */
SIMT_FN void gn__log_release(const struct gn__log_reader *r)
{
	simt_store_release_sys_u64(r->released, r->at);
}

#endif
