/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - rows that copy, read and write host memory from end to end. */
#include "scope/host/rows.h"

#include <stdlib.h>
#include <string.h>

#include "scope/host/words.h"

enum { SEED = 1, POISON = 2, PAGE = 4096 };

/* Memory of flushed rows: each operation of a sample has other lines. */
enum { FLUSHED_BYTES = 32 << 20 };

enum kind { COPY, READ, WRITE };

struct stream_row {
	struct scope_row row; /* first */
	enum kind kind;
	enum scope_pages pages;
	bool nodes;   /* swept over pairs of nodes */
	bool flushed; /* no cache of the host holds a line when a sample begins */
};

struct stream {
	const struct stream_row *row;
	struct scope_team *team;
	struct scope_mapping from, to; /* `slots` buffers each */
	uint64_t bytes, slots;
	uint32_t members, line_bytes;
	uint64_t first;      /* of the words that the last sample wrote */
	uint64_t operations; /* of the last sample */
	uint64_t *sum;       /* that each member has read, a line each */
};

/* ---- plans ---- */

static int stream_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct stream_row *r = (const struct stream_row *)row;
	const char *missing = scope_pages_missing(m, r->pages);

	if (missing)
		return scope_plan_skip(p, NULL, "%s", missing);
	if (r->nodes)
		return scope_plan_nodes(p, m, PAGE, 1ull << 32);
	if (r->pages == SCOPE_PAGES_SMALL && !r->flushed)
		return scope_plan_threads(p, m, PAGE, 1ull << 32);
	return scope_plan_sizes(p, r->pages == SCOPE_PAGES_SMALL ? PAGE : 2 << 20,
	                        r->flushed ? 256 << 20 : 1ull << 32, NULL);
}

/* ---- the work ---- */

static char *slot(const struct scope_mapping *m, const struct stream *s, uint64_t operation)
{
	return (char *)m->at + operation % s->slots * s->bytes;
}

static void work(void *user, uint32_t member, uint64_t operations)
{
	struct stream *s = (struct stream *)user;
	const struct scope_part part = scope_part_of(s->bytes, s->members, member);
	uint64_t sum = 0;

	for (uint64_t k = 0; k < operations; k++) {
		switch (s->row->kind) {
		case COPY:
			memcpy(slot(&s->to, s, k) + part.at, slot(&s->from, s, k) + part.at, part.bytes);
			break;
		case READ: sum += scope_words_sum(slot(&s->from, s, k) + part.at, part.bytes); break;
		default:
			scope_words_write(slot(&s->to, s, k) + part.at, part.bytes, s->first + part.at / 8);
			break;
		}
	}
	s->sum[member * (SCOPE_LINE / 8)] = sum;
}

/* A copy that is not made must show: a word of each page is spoilt. */
static void spoil(struct stream *s, uint64_t operations)
{
	const uint64_t used = operations < s->slots ? operations : s->slots;

	for (uint64_t at = 0; at < used * s->bytes; at += PAGE)
		*(uint64_t *)((char *)s->to.at + at) ^= ~0ull;
}

static int flush(const struct stream *s, uint64_t operations, struct gn_error *e)
{
	int rc = 0;

	if (s->row->kind != WRITE)
		rc = scope_lines_flush(s->from.at, operations * s->bytes, s->line_bytes, e);
	if (!rc && s->row->kind != READ)
		rc = scope_lines_flush(s->to.at, operations * s->bytes, s->line_bytes, e);
	return rc;
}

static int stream_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	struct stream *s = (struct stream *)state;
	int rc = 0;

	if (s->row->flushed && operations > s->slots)
		operations = s->slots;
	if (s->row->kind == COPY)
		spoil(s, operations);
	s->first += 0x9e3779b97f4a7c15ull;
	s->operations = operations;
	if (s->row->flushed)
		rc = flush(s, operations, e);
	out->seconds = scope_team_run(s->team, operations);
	out->operations = operations;
	out->bytes = operations * s->bytes;
	return rc;
}

/* ---- checking ---- */

static int verify_copy(const struct stream *s, struct gn_error *e)
{
	const uint64_t used = s->operations < s->slots ? s->operations : s->slots;

	return scope_check(s->to.at, used * s->bytes, SEED, "the copy", e);
}

static int verify_sum(const struct stream *s, struct gn_error *e)
{
	uint64_t sum = 0, expected = 0;

	for (uint32_t k = 0; k < s->members; k++)
		sum += s->sum[k * (SCOPE_LINE / 8)];
	for (uint64_t k = 0; k < s->operations; k++) {
		if (k == s->slots) { /* the rest are the same again, in a row of one buffer */
			expected *= s->operations;
			break;
		}
		for (uint64_t w = 0; w < s->bytes / 8; w++)
			expected += scope_pattern(SEED, k * s->bytes / 8 + w);
	}
	if (sum == expected)
		return 0;
	return gn_error_set(e, -GN_EIO, "wrong data: the sum of the words read is %llx, but must be %llx",
	                    (unsigned long long)sum, (unsigned long long)expected);
}

static int verify_written(const struct stream *s, struct gn_error *e)
{
	const uint64_t *word = (const uint64_t *)s->to.at;

	for (uint64_t k = 0; k < s->bytes / 8; k++)
		if (word[k] != s->first + k)
			return gn_error_set(e, -GN_EIO,
			                    "wrong data: the first wrong word written is at byte %llu",
			                    (unsigned long long)(8 * k));
	return 0;
}

static int stream_verify(void *state, struct gn_error *e)
{
	const struct stream *s = (const struct stream *)state;

	if (!s->operations)
		return gn_error_set(e, -GN_EIO, "no operation was done");
	switch (s->row->kind) {
	case COPY: return verify_copy(s, e);
	case READ: return verify_sum(s, e);
	default: return verify_written(s, e);
	}
}

/* ---- opening ---- */

static void stream_close(void *state)
{
	struct stream *s = (struct stream *)state;

	scope_team_close(s->team);
	scope_mapping_release(&s->from);
	scope_mapping_release(&s->to);
	free(s->sum);
}

static int take(struct stream *s, struct scope_mapping *memory, uint64_t seed, uint32_t node,
                struct gn_error *e)
{
	const int rc = scope_mapping_take(memory, s->slots * s->bytes, s->row->pages, node, e);

	if (!rc)
		scope_fill(memory->at, memory->bytes, seed);
	return rc;
}

/*
 * Memory of the node "from" is read, that of "to" written, by processors of the node that reads, or of the
 * one that writes.
 */
static int stream_fill(struct stream *s, const struct scope_cell *c, struct gn_error *e)
{
	const uint32_t from = (uint32_t)scope_cell_arg(c, "from", SCOPE_ANY_NODE),
	               to = (uint32_t)scope_cell_arg(c, "to", SCOPE_ANY_NODE);
	uint32_t cpu[SCOPE_MOST_CPUS];
	int rc = 0;

	if (!scope_cpus(s->row->kind == WRITE ? from : to, cpu, SCOPE_MOST_CPUS))
		return gn_error_set(e, -GN_ENOTSUP, "node %u has no processor that this process may use", to);
	rc = scope_team_open(&s->team, s->members, cpu, work, s, e);
	if (!rc && s->row->kind != WRITE)
		rc = take(s, &s->from, SEED, from, e);
	if (!rc && s->row->kind != READ)
		rc = take(s, &s->to, POISON, to, e);
	if (!rc && s->row->flushed)
		rc = scope_lines_check(s->line_bytes, e);
	return rc;
}

static int stream_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                       struct gn_error *e)
{
	struct stream *s = (struct stream *)state;

	s->row = (const struct stream_row *)c->row;
	s->bytes = scope_cell_arg(c, "bytes", 0);
	s->members = scope_members(c, s->bytes);
	s->line_bytes = m->line_bytes;
	s->slots = s->row->flushed && s->bytes < FLUSHED_BYTES ? FLUSHED_BYTES / s->bytes : 1;
	s->sum = (uint64_t *)calloc(s->members, SCOPE_LINE);
	return s->sum ? stream_fill(s, c, e) : gn_error_set(e, -GN_ENOMEM, "out of memory for a row");
}

/* ---- the rows ---- */

static const struct scope_functions functions = {sizeof(struct stream), stream_plan,   stream_open,
                                                 stream_sample,         stream_verify, stream_close};

#define ROW(name, summary, kind, pages, nodes, flushed)                                                      \
	{                                                                                                    \
		{name, summary, NULL, "h2h", "memory", NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions}, \
		    kind, SCOPE_PAGES_##pages, nodes, flushed                                                \
	}

static const struct stream_row rows[] = {
    ROW("memory/copy", "memcpy, the same buffers again; threads share it evenly", COPY, SMALL, false, false),
    ROW("memory/read", "sums of words, the same buffer again; threads share it evenly", READ, SMALL, false,
        false),
    ROW("memory/write", "words that count up, the same buffer again; threads share it evenly", WRITE, SMALL,
        false, false),
    ROW("memory/copy-transparent-huge", "memcpy between transparent huge pages", COPY, TRANSPARENT, false,
        false),
    ROW("memory/copy-huge", "memcpy between reserved huge pages", COPY, HUGE, false, false),
    ROW("memory/copy-flushed", "memcpy of lines that no cache holds, flushed one by one before", COPY, SMALL,
        false, true),
    ROW("memory/read-flushed", "sums of words in lines that no cache holds, flushed one by one before", READ,
        SMALL, false, true),
    ROW("memory/copy-nodes", "memcpy from a NUMA node to another, by a thread of the latter", COPY, SMALL,
        true, false),
    ROW("memory/read-nodes", "sums of words on a NUMA node, by a thread of another", READ, SMALL, true,
        false),
    ROW("memory/write-nodes", "words that count up on a NUMA node, by a thread of another", WRITE, SMALL,
        true, false),
};

const struct scope_row_table scope_stream_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
