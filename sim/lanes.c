/* SPDX-License-Identifier: Apache-2.0 */
#include <sim/lanes.h>

#include <stdlib.h>
#include <string.h>

/* ---- instructions ---- */

static void flush_blocks(struct sim_lanes *w)
{
	if (w->blocks)
		sim_code_blocks(&w->code, w->blocks);
	w->blocks = 0;
}

/* What was loaded in a block is used in the next one, at the latest. */
static void block(struct sim_lanes *w)
{
	if (w->loads) {
		flush_blocks(w);
		sim_code_wait(&w->code, w->behind);
		w->loads = 0;
	}
	w->blocks++;
}

static void touch(struct sim_line *line, uint32_t *count, uint64_t address, uint64_t bytes)
{
	uint32_t k = *count;

	while (k && line[k - 1].address != address)
		k--;
	if (!k) {
		k = ++*count;
		line[k - 1].address = address;
		line[k - 1].bytes = 0;
	}
	line[k - 1].bytes |= bytes;
}

/* The lines of one instruction, in the order of lanes, as the coalescer in wave.c has them. */
static uint32_t lines_of(const struct sim_lanes *w, uint32_t group, struct sim_line *line)
{
	uint32_t count = 0;

	for (; group; group &= group - 1) {
		const struct sim_lane *l = &w->lane[__builtin_ctz(group)];
		const struct simt__seen *s = &l->seen[l->read];
		const uint32_t from = (uint32_t)(s->address % SIM_LINE_BYTES), end = from + s->bytes;
		const uint64_t bytes = UINT64_MAX >> (64 - s->bytes);

		touch(line, &count, s->address - from, bytes << from);
		if (end > SIM_LINE_BYTES)
			touch(line, &count, s->address - from + SIM_LINE_BYTES,
			      bytes >> (SIM_LINE_BYTES - from));
	}
	return count;
}

static void access(struct sim_lanes *w, uint32_t group, uint8_t kind)
{
	struct sim_line line[2 * SIM_STREAM_LANES];
	const uint32_t count = lines_of(w, group, line);

	flush_blocks(w);
	if (kind != SIMT__SEEN_STORE) {
		sim_code_lines(&w->code, SIM_OP_LOAD, line, count);
		w->loads = 1;
		w->behind = 0;
	}
	if (kind != SIMT__SEEN_LOAD) {
		sim_code_lines(&w->code, SIM_OP_STORE, line, count);
		w->behind++;
	}
}

static void instruction(struct sim_lanes *w, uint32_t group, uint8_t kind)
{
	switch (kind) {
	case SIMT__SEEN_BLOCK: block(w); return;
	case SIMT__SEEN_BARRIER:
		flush_blocks(w);
		sim_code_barrier(&w->code);
		return;
	default: access(w, group, kind);
	}
}

/* ---- which lanes ---- */

/* Does a come before b where only one of them can? */
static int before(const struct simt__seen *a, const struct simt__seen *b)
{
	if (a->depth != b->depth)
		return a->depth > b->depth;
	return a->site != b->site ? a->site < b->site : a->kind < b->kind;
}

/* The lanes that do the next instruction; 0: that cannot be known yet, or there is none. */
static uint32_t next_group(const struct sim_lanes *w)
{
	const struct simt__seen *first = NULL;
	uint32_t group = 0;

	for (uint32_t k = 0; k < SIM_STREAM_LANES; k++) {
		const struct sim_lane *l = &w->lane[k];
		const struct simt__seen *s;

		if (l->read == l->written) {
			if (!l->ended)
				return 0;
			continue;
		}
		s = &l->seen[l->read];
		if (!first || before(s, first)) {
			first = s;
			group = 0;
		}
		group |= (uint32_t)!before(first, s) << k;
	}
	return group;
}

static void advance(struct sim_lanes *w)
{
	uint32_t group;

	while ((group = next_group(w)) != 0) {
		const struct sim_lane *l = &w->lane[__builtin_ctz(group)];

		instruction(w, group, l->seen[l->read].kind);
		for (; group; group &= group - 1)
			w->lane[__builtin_ctz(group)].read++;
	}
}

/* ---- lanes ---- */

void sim_lanes_begin(struct sim_lanes *w, uint32_t lanes)
{
	for (uint32_t k = lanes; k < SIM_STREAM_LANES; k++)
		w->lane[k].ended = 1;
}

static int make_room(struct sim_lanes *w, struct sim_lane *l)
{
	struct simt__seen *more;

	advance(w);
	if (l->read)
		memmove(l->seen, l->seen + l->read, (l->written - l->read) * sizeof *l->seen);
	l->written -= l->read;
	l->read = 0;
	if (2 * l->written < l->room)
		return 0;
	more = (struct simt__seen *)realloc(l->seen, (2 * l->room + 64) * sizeof *more);
	if (!more)
		return -GN_ENOMEM;
	l->seen = more;
	l->room = 2 * l->room + 64;
	return 0;
}

void sim_lanes_see(struct sim_lanes *w, uint32_t lane, const struct simt__seen *seen)
{
	struct sim_lane *l = &w->lane[lane];

	if (l->written == l->room && make_room(w, l)) {
		w->code.failed = 1;
		return;
	}
	l->seen[l->written++] = *seen;
}

void sim_lanes_end(struct sim_lanes *w, uint32_t lane)
{
	w->lane[lane].ended = 1;
	advance(w);
	for (uint32_t k = 0; k < SIM_STREAM_LANES; k++)
		if (!w->lane[k].ended)
			return;
	flush_blocks(w);
	sim_code_end(&w->code);
}

void sim_lanes_fini(struct sim_lanes *w)
{
	for (uint32_t k = 0; k < SIM_STREAM_LANES; k++)
		free(w->lane[k].seen);
	free(w->code.bytes);
	memset(w, 0, sizeof *w);
}
