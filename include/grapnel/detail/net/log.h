/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/log.h - a log of messages: many threads append, one consumer takes them in order.
 *
 * Gravel's producer/consumer queue (section 4) with the parts of a slot taken apart: lanes that have messages
 * of one form append them together. Their first lane reserves room for all by one compare-and-swap of the
 * tail; the messages lie column-wise, word r of lane l at ticket + r * lanes + l, so that a warp writes whole
 * lines; the head of the first lane, stored last, says that all are there. Gravel's slots are as large as a
 * full block; here a lane alone takes only what it needs. A ticket is the count of words before it, 64 bits
 * wide.
 *
 * A word that is 0 is empty. The consumer empties what it has read before it lets the room go, so a head that
 * is not there yet can not be taken for one. Nothing waits in here: a log that is full says so, and nothing
 * is reserved.
 *
 * Edges:  R1 (commit) pairs with A1 (peek): the consumer sees all words of all lanes.
 *         R2 (release) pairs with A2 (reserve): words are emptied before they are written again.
 */
#ifndef GRAPNEL_NET_LOG_H
#define GRAPNEL_NET_LOG_H

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>

/* What producers share: in memory of the device. */
struct gn__log {
	uint64_t tail; /* words reserved */
	uint64_t pad_tail[15];
	uint64_t limit;   /* the tail may go up to here: seen of *released, and the capacity */
	uint64_t looking; /* 1: somebody looks at *released */
	uint64_t pad_limit[14];
	uint64_t *word;     /* capacity of them, where the consumer reaches them too */
	uint64_t *released; /* the consumer's: words it has read and emptied */
	uint64_t capacity;  /* a power of two */
	uint64_t pad[13];
};

/* What the consumer keeps for itself. */
struct gn__log_reader {
	uint64_t *word;
	uint64_t *released;
	uint64_t capacity;
	uint64_t at; /* words read */
};

/*
 * gn__log_init - an empty log and its reader.
 * @word      capacity words of 0
 * @released  one word
 * @capacity  a power of two, GN__MESSAGE_MOST_WORDS and more
 * @start     the first ticket: 0, or anything in tests of the wrap-around
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
 * gn__log_reserve - room for so many words.
 * @ticket  receives the first; write them with gn__log_put, that of the first lane's head by gn__log_commit
 * Any thread; lock-free; never waits. Returns 0, or -GN_EAGAIN: as far as anybody has looked, the log is full
 * (nothing changed); look with gn__log_is_full.
 */
SIMT_FN int gn__log_reserve(struct gn__log *log, uint32_t words, uint64_t *ticket)
{
	const uint64_t limit = simt_load_acquire_dev_u64(&log->limit); /* A2, through who looked */
	uint64_t tail = simt_load_relaxed_dev_u64(&log->tail);

	while ((int64_t)(limit - tail) >= (int64_t)words) {
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
 * gn__log_is_full - is there no room for so many words? Any thread; never waits; may say so while another
 * thread looks.
 *
 * For who waits, and asks again and again, beside thousands of others. So one of them at a time looks how far
 * the consumer is, whose word a GPU reaches over PCIe; and the others do not acquire, which would make their
 * processor forget what all of its threads have at hand: gn__log_reserve does.
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

/* gn__log_put - write a word of a reservation, but for the first. */
SIMT_FN void gn__log_put(const struct gn__log *log, uint64_t at, uint64_t word)
{
	log->word[at & (log->capacity - 1)] = word;
}

/*
 * gn__log_commit - the messages of a reservation are written: hand them to the consumer. R1.
 * @head  of the first lane, with the number of lanes less one in its bits. The other lanes have met the
 *        caller since they wrote.
 */
SIMT_FN void gn__log_commit(const struct gn__log *log, uint64_t ticket, uint64_t head)
{
	simt_store_release_sys_u64(&log->word[ticket & (log->capacity - 1)], head);
}

/* gn__log_peek - the head of the first of the oldest messages that lie together; 0: none is there. A1. */
SIMT_FN uint64_t gn__log_peek(const struct gn__log_reader *r)
{
	return simt_load_acquire_sys_u64(&r->word[r->at & (r->capacity - 1)]);
}

/* gn__log_word - word number `word` of lane `lane` of the messages that gn__log_peek saw. */
SIMT_FN uint64_t gn__log_word(const struct gn__log_reader *r, uint32_t lanes, uint32_t lane, uint32_t word)
{
	return r->word[(r->at + word * lanes + lane) & (r->capacity - 1)];
}

/*
 * gn__log_empty - the messages that gn__log_peek saw were read, so many words in all. They become room at
 * gn__log_release.
 */
SIMT_FN void gn__log_empty(struct gn__log_reader *r, uint32_t words)
{
	for (uint32_t k = 0; k < words; k++)
		r->word[(r->at + k) & (r->capacity - 1)] = 0;
	r->at += words;
}

/* gn__log_release - let the producers have what was emptied. R2. */
SIMT_FN void gn__log_release(const struct gn__log_reader *r)
{
	simt_store_release_sys_u64(r->released, r->at);
}

#endif
