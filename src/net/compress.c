/* SPDX-License-Identifier: Apache-2.0 */
#include <net/compress.h>

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>
#include <string.h>

/* Messages of more columns, and runs of fewer messages, are not worth compressing. */
enum { MOST_COLUMNS = 10, LEAST_RUN = 4 };

enum { RUN_BYTES = 4, COLUMN_BYTES = 10 };

struct column {
	uint64_t shared;
	uint32_t from, count; /* bytes that differ */
};

struct run {
	uint32_t messages, columns;
	uint32_t stride; /* bytes that each message takes in the compressed form */
	struct column column[MOST_COLUMNS];
};

/* ---- compress ---- */

struct output {
	unsigned char *at, *end; /* end: most */
};

static int room(const struct output *o, uint64_t bytes)
{
	return bytes <= (uint64_t)(o->end - o->at);
}

static void put_run(struct output *o, uint32_t count, uint32_t columns)
{
	const uint16_t narrow = (uint16_t)count;

	memcpy(o->at, &narrow, 2);
	o->at[2] = (unsigned char)columns;
	o->at[3] = 0;
	o->at += RUN_BYTES;
}

static int put_plain(struct output *o, const uint64_t *word, uint32_t words)
{
	if (!words)
		return 1;
	if (!room(o, RUN_BYTES + 8ull * words))
		return 0;
	put_run(o, words, 0);
	memcpy(o->at, word, 8ull * words);
	o->at += 8ull * words;
	return 1;
}

static struct column column_of(uint64_t first, uint64_t differs)
{
	struct column c = {first, 0, 0};

	if (!differs)
		return c;
	c.from = (uint32_t)__builtin_ctzll(differs) / 8;
	c.count = 8 - (uint32_t)__builtin_clzll(differs) / 8 - c.from;
	c.shared = first & ~((c.count == 8 ? ~0ull : (1ull << 8 * c.count) - 1) << 8 * c.from);
	return c;
}

static void study(struct run *r, const uint64_t *word)
{
	uint64_t differs[MOST_COLUMNS] = {0};

	for (uint32_t m = 1; m < r->messages; m++)
		for (uint32_t k = 0; k < r->columns; k++)
			differs[k] |= word[m * r->columns + k] ^ word[k];
	r->stride = 0;
	for (uint32_t k = 0; k < r->columns; k++) {
		r->column[k] = column_of(word[k], differs[k]);
		r->stride += r->column[k].count;
	}
}

static int put_compressed(struct output *o, const struct run *r, const uint64_t *word)
{
	if (!room(o, RUN_BYTES + COLUMN_BYTES * r->columns + (uint64_t)r->stride * r->messages))
		return 0;
	put_run(o, r->messages, r->columns);
	for (uint32_t k = 0; k < r->columns; k++) {
		memcpy(o->at, &r->column[k].shared, 8);
		o->at[8] = (unsigned char)r->column[k].from;
		o->at[9] = (unsigned char)r->column[k].count;
		o->at += COLUMN_BYTES;
	}
	for (uint32_t m = 0; m < r->messages; m++)
		for (uint32_t k = 0; k < r->columns; k++) {
			const uint64_t differs = *word++ >> 8 * r->column[k].from;

			memcpy(o->at, &differs,
			       8); /* more bytes than needed; the next copy overwrites the rest */
			o->at += r->column[k].count;
		}
	return 1;
}

/* The messages from `word` on that have the same number of words as the first. */
static struct run run_of(const uint64_t *word, uint32_t words)
{
	struct run r = {0, gn__message_words(word[0]), 0, {{0, 0, 0}}};
	uint32_t at = 0;

	while (r.messages < 0xffff && at + r.columns <= words && gn__message_words(word[at]) == r.columns) {
		r.messages++;
		at += r.columns;
		if (at == words)
			break;
	}
	return r;
}

uint32_t gn_compress(const uint64_t *word, uint32_t words, void *to, uint32_t most)
{
	struct output o = {(unsigned char *)to, (unsigned char *)to + most};
	uint32_t plain = 0, at = 0; /* words from `plain` to `at` must be written uncompressed */

	while (at < words) {
		struct run r = run_of(word + at, words - at);
		const uint32_t length = r.messages * r.columns;

		if (r.columns <= MOST_COLUMNS && r.messages >= LEAST_RUN) {
			study(&r, word + at);
			if (!put_plain(&o, word + plain, at - plain) || !put_compressed(&o, &r, word + at))
				return 0;
			plain = at + length;
		}
		at += length;
	}
	return put_plain(&o, word + plain, words - plain) ? (uint32_t)(o.at - (unsigned char *)to) : 0;
}

/* ---- decompress ---- */

struct input {
	const unsigned char *at, *end;
};

static int has(const struct input *i, uint64_t bytes)
{
	return bytes <= (uint64_t)(i->end - i->at);
}

/* Read the head and the columns of a run. Returns 1, or 0: it is invalid. */
static int get_run(struct input *i, struct run *r)
{
	uint16_t count;

	if (!has(i, RUN_BYTES))
		return 0;
	memcpy(&count, i->at, 2);
	r->messages = count;
	r->columns = i->at[2];
	i->at += RUN_BYTES;
	r->stride = 0;
	if (!count || r->columns > MOST_COLUMNS || !has(i, (uint64_t)COLUMN_BYTES * r->columns))
		return 0;
	for (uint32_t k = 0; k < r->columns; k++) {
		struct column *c = &r->column[k];

		memcpy(&c->shared, i->at, 8);
		c->from = i->at[8];
		c->count = i->at[9];
		if (c->from > 7 || c->from + c->count > 8)
			return 0;
		r->stride += c->count;
		i->at += COLUMN_BYTES;
	}
	return 1;
}

static void get_messages(struct input *i, const struct run *r, uint64_t *word)
{
	uint64_t mask[MOST_COLUMNS];

	for (uint32_t k = 0; k < r->columns; k++)
		mask[k] = r->column[k].count == 8 ? ~0ull : (1ull << 8 * r->column[k].count) - 1;
	for (uint32_t m = 0; m < r->messages; m++)
		for (uint32_t k = 0; k < r->columns; k++) {
			uint64_t differs;

			memcpy(&differs, i->at, 8);
			*word++ = r->column[k].shared | (differs & mask[k]) << 8 * r->column[k].from;
			i->at += r->column[k].count;
		}
}

int gn_decompress(const void *from, uint32_t bytes, uint64_t *word, uint32_t words)
{
	struct input i = {(const unsigned char *)from, (const unsigned char *)from + bytes};
	uint32_t at = 0;
	struct run r;

	while (at < words) {
		if (!get_run(&i, &r))
			return -GN_EBADMSG;
		if (!r.columns) { /* plain words */
			if (r.messages > words - at || !has(&i, 8ull * r.messages))
				return -GN_EBADMSG;
			memcpy(word + at, i.at, 8ull * r.messages);
			i.at += 8ull * r.messages;
			at += r.messages;
			continue;
		}
		if ((uint64_t)r.messages * r.columns > words - at ||
		    !has(&i, (uint64_t)r.stride * r.messages))
			return -GN_EBADMSG;
		get_messages(&i, &r, word + at);
		at += r.messages * r.columns;
	}
	return i.at == i.end ? 0 : -GN_EBADMSG;
}
