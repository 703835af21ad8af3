/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/stream.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "streams are little-endian"
#endif

/* ---- code ---- */

static uint8_t *more(struct sim_code *c, size_t bytes)
{
	if (c->used + bytes > c->room) {
		const size_t room = 2 * c->room + bytes + 64;
		uint8_t *p = (uint8_t *)realloc(c->bytes, room);

		if (!p) {
			c->failed = 1;
			return NULL;
		}
		c->bytes = p;
		c->room = room;
	}
	return c->bytes + c->used;
}

static void put(struct sim_code *c, uint8_t byte)
{
	uint8_t *to = more(c, 1);

	if (to) {
		*to = byte;
		c->used++;
	}
}

static void put_number(struct sim_code *c, uint64_t n)
{
	for (; n > 127; n >>= 7)
		put(c, (uint8_t)(128 | (n & 127)));
	put(c, (uint8_t)n);
}

void sim_code_end(struct sim_code *c)
{
	put(c, 0);
}

void sim_code_blocks(struct sim_code *c, uint64_t count)
{
	put(c, 1);
	put_number(c, count);
}

void sim_code_wait(struct sim_code *c, uint64_t most)
{
	put(c, 2);
	put_number(c, most);
}

void sim_code_barrier(struct sim_code *c)
{
	put(c, 5);
}

static void put_bytes(struct sim_code *c, uint64_t bytes)
{
	const uint32_t first = (uint32_t)__builtin_ctzll(bytes),
	               count = (uint32_t)__builtin_popcountll(bytes);

	if (bytes >> first == UINT64_MAX >> (64 - count)) {
		put(c, (uint8_t)first);
		put(c, (uint8_t)count);
		return;
	}
	put(c, 64);
	for (uint32_t k = 0; k < 8; k++)
		put(c, (uint8_t)(bytes >> 8 * k));
}

void sim_code_lines(struct sim_code *c, enum sim_op_kind kind, const struct sim_line *line, uint32_t count)
{
	put(c, kind == SIM_OP_LOAD ? 3 : 4);
	put_number(c, count);
	for (uint32_t k = 0; k < count; k++) {
		const uint64_t at = line[k].address / SIM_LINE_BYTES;
		const int64_t away = (int64_t)(at - c->line);

		put_number(c, (uint64_t)away << 1 ^ (uint64_t)(away >> 63));
		put_bytes(c, line[k].bytes);
		c->line = at;
	}
}

/* ---- the file ---- */

static int put_words(struct sim_stream_writer *w, const void *bytes, size_t count, struct gn_error *error)
{
	w->crc = (uint32_t)crc32_z(w->crc, (const Bytef *)bytes, count);
	if (fwrite(bytes, 1, count, w->to) == count)
		return 0;
	return gn_error_set(error, -GN_EIO, "the stream cannot be written: %s", strerror(errno));
}

int sim_stream_begin(struct sim_stream_writer *w, FILE *to, struct gn_error *error)
{
	memset(w, 0, sizeof *w);
	w->to = to;
	return put_words(w, "grapnel stream 1", 16, error);
}

int sim_stream_put_launch(struct sim_stream_writer *w, const struct sim_stream_head *head,
                          const struct sim_code *codes, struct gn_error *error)
{
	static const char zero[8] = {0};
	const uint64_t count = (uint64_t)head->blocks * head->warps;
	uint64_t all = 0;
	int rc = put_words(w, head, sizeof *head, error);

	for (uint64_t k = 0; k < count && !rc; k++) {
		const uint64_t used = codes[k].used;

		if (codes[k].failed)
			return gn_error_set(error, -GN_ENOMEM, "out of memory for the stream of %s",
			                    head->name);
		rc = put_words(w, &used, sizeof used, error);
		all += used;
	}
	for (uint64_t k = 0; k < count && !rc; k++)
		rc = put_words(w, codes[k].bytes, codes[k].used, error);
	w->launches++;
	return rc ? rc : put_words(w, zero, (8 - all % 8) % 8, error);
}

int sim_stream_end(struct sim_stream_writer *w, struct gn_error *error)
{
	struct sim_stream_head end;
	int rc;

	memset(&end, 0, sizeof end);
	end.kind = 2;
	end.pages = w->launches;
	end.blocks = w->crc;
	rc = put_words(w, &end, sizeof end, error);
	if (!rc && fflush(w->to))
		rc = gn_error_set(error, -GN_EIO, "the stream cannot be written: %s", strerror(errno));
	return rc;
}
