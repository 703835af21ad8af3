/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loaded.c - latency while other threads read as fast as a pause between their pieces lets them: what a load
 * waits when memory is busy. After multiload and Intel MLC.
 */
#include <stdlib.h>

#include <grapnel/simt.h>

#include "scope/host/ring.h"
#include "scope/host/rows.h"
#include "scope/host/words.h"

enum { PIECE = 16 << 10, SEED = 3, PAUSES = 20 };

/* About what a piece and a step of the chase take: a sample must see PAUSES pauses or more. */
static const double read_seconds = 2e-6, step_seconds = 1e-7;

/*
 * A reader, and a line for nobody else's words. It goes on where it stopped: what it has just read may be in
 * a cache.
 */
struct reader {
	uint64_t first, pieces, sum; /* of the last sample */
	uint64_t rest[13];
};

struct loaded {
	struct scope_team *team;
	struct scope_ring ring;
	struct scope_mapping memory; /* a part for each reader */
	uint64_t part_bytes;
	double pause;   /* seconds between two pieces */
	double seconds; /* of the chase */
	uint32_t members;
	struct reader *reader;
	uint32_t over; /* the chase is at its end */
};

static int loaded_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	static const uint64_t pauses[] = {0, 500, 1000, 2000, 4000, 8000, 16000, 64000, 256000};
	const uint64_t step = m->effort == SCOPE_QUICK ? 4 : 1;
	uint64_t bytes = 64 << 20;
	int rc = 0;

	(void)row;
	if (m->cpus < 2)
		return scope_plan_skip(p, NULL, "needs two processors; this process may use only one");
	while (bytes < 4 * m->cache_bytes && 2 * bytes <= m->most_bytes)
		bytes *= 2;
	for (uint64_t k = 0; k < sizeof pauses / sizeof *pauses && !rc; k += step) {
		const struct scope_arg args[] = {
		    {"bytes", bytes}, {"threads", m->cpus - 1}, {"pause_ns", pauses[k]}, {NULL, 0}};

		rc = scope_plan_add(p, args);
	}
	return rc;
}

static void rest(double seconds)
{
	const double until = scope_clock() + seconds;

	while (seconds > 0 && scope_clock() < until)
		;
}

static void read_until_over(struct loaded *l, struct reader *r, const char *part)
{
	r->first += r->pieces;
	r->pieces = r->sum = 0;
	while (!simt_load_acquire_sys_u32(&l->over)) {
		r->sum += scope_words_sum(part + (r->first + r->pieces++) * PIECE % l->part_bytes, PIECE);
		rest(l->pause);
	}
}

static void work(void *user, uint32_t member, uint64_t operations)
{
	struct loaded *l = (struct loaded *)user;
	double began;

	if (member) {
		read_until_over(l, &l->reader[member],
		                (const char *)l->memory.at + (member - 1) * l->part_bytes);
		return;
	}
	began = scope_clock();
	scope_ring_chase(&l->ring, operations);
	l->seconds = scope_clock() - began;
	simt_store_release_sys_u32(&l->over, 1); /* pairs with the readers' acquire */
}

static int loaded_sample(void *state, uint64_t operations, struct scope_sample *out, struct gn_error *e)
{
	struct loaded *l = (struct loaded *)state;
	const uint64_t least = (uint64_t)(PAUSES * (l->pause + read_seconds) / step_seconds);
	uint64_t pieces = 0;
	double all;

	(void)e;
	simt_store_release_sys_u32(&l->over, 0); /* pairs with the readers' acquire, behind the team's */
	out->operations = operations > least ? operations : least;
	all = scope_team_run(l->team, out->operations);
	out->seconds = l->seconds; /* the readers' last pauses come after the chase */
	for (uint32_t k = 1; k < l->members; k++)
		pieces += l->reader[k].pieces;
	out->second = (double)(pieces * PIECE) / all;
	return 0;
}

static uint64_t expected(const struct loaded *l, uint32_t member)
{
	const uint64_t base = (member - 1) * l->part_bytes / 8, pieces = l->part_bytes / PIECE;
	const struct reader *r = &l->reader[member];
	uint64_t sum = 0;

	for (uint64_t piece = 0; piece < pieces; piece++) {
		const uint64_t behind = (piece + pieces - r->first % pieces) % pieces; /* of the first */
		const uint64_t times = r->pieces / pieces + (behind < r->pieces % pieces);

		for (uint64_t k = 0; k < PIECE / 8; k++)
			sum += times * scope_pattern(SEED, base + piece * (PIECE / 8) + k);
	}
	return sum;
}

static int loaded_verify(void *state, struct gn_error *e)
{
	const struct loaded *l = (const struct loaded *)state;

	for (uint32_t k = 1; k < l->members; k++)
		if (l->reader[k].sum != expected(l, k))
			return gn_error_set(
			    e, -GN_EIO, "wrong data: the sum of the words that reader %u read is wrong", k);
	return scope_ring_check(&l->ring, e);
}

static void loaded_close(void *state)
{
	struct loaded *l = (struct loaded *)state;

	scope_team_close(l->team);
	scope_ring_close(&l->ring);
	scope_mapping_release(&l->memory);
	free(l->reader);
}

static int fill(struct loaded *l, uint64_t bytes, struct gn_error *e)
{
	uint32_t cpu[SCOPE_MOST_CPUS];
	int rc;

	l->part_bytes = bytes / (l->members - 1) / PIECE * PIECE;
	l->reader = (struct reader *)calloc(l->members, sizeof *l->reader);
	if (!l->reader || scope_cpus(SCOPE_ANY_NODE, cpu, SCOPE_MOST_CPUS) < l->members)
		return gn_error_set(e, -GN_ENOMEM, "not enough memory or processors for %u threads",
		                    l->members);
	rc = scope_team_open(&l->team, l->members, cpu, work, l, e);
	if (!rc)
		rc = scope_ring_open(&l->ring, bytes, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, e);
	if (!rc)
		rc = scope_mapping_take(&l->memory, bytes, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, e);
	if (!rc)
		scope_fill(l->memory.at, bytes, SEED);
	return rc;
}

static int loaded_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                       struct gn_error *e)
{
	struct loaded *l = (struct loaded *)state;

	(void)m;
	l->members = 1 + (uint32_t)scope_cell_arg(c, "threads", 1);
	l->pause = 1e-9 * (double)scope_cell_arg(c, "pause_ns", 0);
	return fill(l, scope_cell_arg(c, "bytes", 0), e);
}

static const struct scope_functions functions = {sizeof(struct loaded), loaded_plan,   loaded_open,
                                                 loaded_sample,         loaded_verify, loaded_close};

static const struct scope_row rows[] = {
    {"memory/latency-loaded", "the same while other threads read, with pauses between their 16 KiB", NULL,
     "none", "memory", "load_bytes_per_second", SCOPE_LATENCY, SCOPE_HOST_CLOCK, &functions},
};

const struct scope_row_table scope_loaded_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
