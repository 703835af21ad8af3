/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_log.c - the log of messages alone (detail/net/log.h), without a network behind it; one JSON object on
 * stdout.
 *
 *     bench_net_log [machine=cpu] [megabytes=16]
 *
 * Warps append messages of 32 bytes, a log for each block, and what they wrote is read, summed and emptied:
 *
 *   by-warps    the log lies in the device's memory, and the first warp of the block reads it
 *   by-host     it lies in memory of the host, and threads of the host read, a share of the logs each
 *   stores      no log: the same warps store as many bytes to the host's memory, which is the limit of
 *               by-host
 *
 * Each in several shapes of the grid; a sum that is not right ends the run with exit status 1.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/net.h>

#include "support/engine.h"

static const uint64_t PATIENCE_NS = 20000000000; /* then a run has failed: its sum is wrong */

enum { MESSAGE_WORDS = 4, LANES = 32, GROUP = MESSAGE_WORDS * LANES, READERS = 14, RELEASE_EVERY = 8 };

enum way { BY_WARPS, BY_HOST, STORES };
static const char *const way_names[] = {"by-warps", "by-host", "stores"};

struct queue_args {
	struct gn__log *log;           /* [blocks] */
	struct gn__log_reader *reader; /* [blocks] */
	uint64_t *word;                /* [blocks][capacity] */
	uint64_t capacity;
	uint64_t each; /* groups that a warp appends */
	uint64_t *sum;
	uint32_t way;
};

/* ---- the machine's side ---- */

SIMT_FN uint32_t producers_of(const struct queue_args *a)
{
	return simt_block_threads() / LANES - (a->way == BY_WARPS);
}

SIMT_FN void append(const struct queue_args *a, uint64_t seed)
{
	const uint64_t deadline = simt_clock_ns() + PATIENCE_NS;
	struct gn__log *log = &a->log[simt_block()];

	for (uint64_t k = 0; k < a->each; k++) {
		const struct gn__net_words w = {
		    gn__message_head(GN__MESSAGE_CHANGE | GN__MESSAGE_WIDE, 1, k & 0xfffff), seed + k, k,
		    seed};

		while (gn__net_append(log, 0xffffffffu, MESSAGE_WORDS, &w)) {
			if (simt_ballot(0xffffffffu, simt_clock_ns() > deadline))
				return;
			if (simt_lane() == 0)
				gn__log_is_full(log, GROUP); /* looks for room */
			simt_relax();
		}
	}
}

/* A warp reads: each lane its column, of which the first word comes last. */
SIMT_FN uint64_t read_group(struct gn__log_reader *r)
{
	uint64_t *group = &r->word[r->at & (r->capacity - 1)], sum = 0;

	for (uint32_t w = 0; w < MESSAGE_WORDS; w++) {
		uint64_t *word = &group[w * LANES + simt_lane()];

		sum += w == 1 ? *word : 0;
		*word = 0;
	}
	r->at += GROUP;
	return sum;
}

SIMT_FN void read_log(const struct queue_args *a)
{
	struct gn__log_reader r = a->reader[simt_block()];
	const uint64_t groups = a->each * producers_of(a), deadline = simt_clock_ns() + PATIENCE_NS;
	uint64_t sum = 0;

	for (uint64_t k = 0; k < groups; k++) {
		while (!simt_ballot(0xffffffffu, simt_lane() == 0 && gn__log_peek(&r))) {
			if (simt_ballot(0xffffffffu, simt_clock_ns() > deadline))
				return;
			simt_relax();
		}
		simt_warp_sync(0xffffffffu);
		sum += read_group(&r);
		simt_warp_sync(0xffffffffu);
		if (simt_lane() == 0 && (k % RELEASE_EVERY == RELEASE_EVERY - 1 || !gn__log_peek(&r)))
			gn__log_release(&r);
	}
	simt_add_relaxed_dev_u64(a->sum, sum);
}

SIMT_FN void store_words(const struct queue_args *a, uint64_t seed)
{
	const uint64_t place = simt_thread() / LANES * a->each;

	for (uint64_t k = 0; k < a->each; k++)
		for (uint32_t w = 0; w < MESSAGE_WORDS; w++)
			a->word[simt_block() * a->capacity +
			        (((place + k) * GROUP + w * LANES + simt_lane()) & (a->capacity - 1))] =
			    seed + k;
}

SIMT_FN void queue_run(const struct queue_args *a)
{
	const uint64_t warp = simt_global_thread() / LANES, seed = warp << 20 | simt_lane() << 4;

	if (a->way == STORES)
		store_words(a, seed);
	else if (a->way == BY_WARPS && simt_thread() < LANES)
		read_log(a);
	else
		append(a, seed);
}
SIMT_KERNEL(queue_run, struct queue_args)

/* ---- the host's side ---- */

struct shape {
	uint32_t blocks, warps, log_kib;
};

struct reader {
	pthread_t thread;
	struct gn__log_reader *log;
	uint32_t first, logs;
	uint64_t words; /* of each log */
	uint64_t deadline;
	uint64_t sum;
};

/* What has come of one log. Returns the words read. */
static uint64_t read_some(struct reader *t, struct gn__log_reader *log)
{
	uint64_t read = 0;

	while (read < 64 * GROUP && gn__log_peek(log)) {
		const uint64_t *group = &log->word[log->at & (log->capacity - 1)];

		for (uint32_t k = 0; k < LANES; k++)
			t->sum += group[LANES + k];
		gn__log_empty(log, GROUP);
		read += GROUP;
	}
	if (read)
		gn__log_release(log);
	return read;
}

static void *read_logs(void *argument)
{
	struct reader *t = (struct reader *)argument;
	uint64_t left = 0;

	for (uint32_t k = t->first; k < t->logs; k += READERS)
		left += t->words;
	while (left && simt_clock_ns() < t->deadline)
		for (uint32_t k = t->first; k < t->logs; k += READERS)
			left -= read_some(t, &t->log[k]);
	return NULL;
}

/* Launch, read beside it if the host does, wait. Returns what the host read. */
static uint64_t run(struct simt_machine *m, const struct shape *s, const struct queue_args *a,
                    struct gn__log_reader *image)
{
	const struct simt_grid grid = {s->blocks, LANES * s->warps, 0};
	const uint32_t used = a->way == BY_HOST ? READERS : 0;
	struct reader readers[READERS];
	uint64_t sum = 0;

	bench_must_run(m, simt_launch(m, &queue_run_kernel, grid, a));
	for (uint32_t k = 0; k < used; k++) {
		memset(&readers[k], 0, sizeof readers[k]);
		readers[k].log = image;
		readers[k].first = k;
		readers[k].logs = s->blocks;
		readers[k].deadline = simt_clock_ns() + PATIENCE_NS;
		readers[k].words = a->each * s->warps * GROUP;
		bench_must(pthread_create(&readers[k].thread, NULL, read_logs, &readers[k]),
		           "no thread can be started");
	}
	for (uint32_t k = 0; k < used; k++) {
		pthread_join(readers[k].thread, NULL);
		sum += readers[k].sum;
	}
	bench_must_run(m, simt_wait(m));
	return sum;
}

/* What all producers' second words add up to. */
static uint64_t expected(const struct shape *s, const struct queue_args *a)
{
	uint64_t sum = 0;

	for (uint64_t warp = 0; warp < (uint64_t)s->blocks * s->warps; warp++)
		for (uint64_t lane = 0; lane < LANES && !(a->way == BY_WARPS && warp % s->warps == 0); lane++)
			sum += a->each * (warp << 20 | lane << 4) + a->each * (a->each - 1) / 2;
	return sum;
}

static void fill_logs(struct simt_machine *m, const struct shape *s, struct queue_args *a, uint64_t *released,
                      struct gn__log_reader *image)
{
	struct gn__log *log = (struct gn__log *)calloc(s->blocks, sizeof *log);

	bench_must(!log, "no memory");
	for (uint32_t k = 0; k < s->blocks; k++) {
		uint64_t unused;

		gn__log_init(&log[k], &image[k], a->word + k * a->capacity, &unused, a->capacity, 0);
		log[k].released = image[k].released = released + 16ull * k;
	}
	bench_must_run(m, simt_move(m, a->log, log, s->blocks * sizeof *log));
	bench_must_run(m, simt_move(m, a->reader, image, s->blocks * sizeof *image));
	free(log);
}

static json_t *measure(struct simt_machine *m, enum way way, const struct shape *s, uint64_t bytes)
{
	const enum simt_memory where = way == BY_WARPS ? SIMT_DEVICE : SIMT_PINNED;
	struct gn__log_reader *image = (struct gn__log_reader *)calloc(s->blocks, sizeof *image);
	uint64_t *released = (uint64_t *)bench_alloc(m, s->blocks * 128ull, where), sum;
	struct queue_args a = {NULL, NULL, NULL, s->log_kib * 128ull, 0, NULL, (uint32_t)way};
	const uint32_t producers = s->warps - (way == BY_WARPS);
	double seconds;

	bench_must(!image, "no memory");
	a.each = bytes / (8 * GROUP) / ((uint64_t)s->blocks * producers) + 1;
	a.word = (uint64_t *)bench_alloc(m, s->blocks * a.capacity * 8, where);
	a.log = (struct gn__log *)bench_alloc(m, s->blocks * sizeof *a.log, SIMT_DEVICE);
	a.reader = (struct gn__log_reader *)bench_alloc(m, s->blocks * sizeof *a.reader, SIMT_DEVICE);
	a.sum = (uint64_t *)bench_alloc(m, 8, SIMT_DEVICE);
	fill_logs(m, s, &a, released, image);
	seconds = scope_clock();
	sum = run(m, s, &a, image);
	seconds = scope_clock() - seconds;
	if (way == BY_WARPS)
		bench_must_run(m, simt_move(m, &sum, a.sum, 8));
	bench_must(way != STORES && sum != expected(s, &a), "messages were lost: a sum is wrong");
	simt_free(m, a.sum);
	simt_free(m, a.reader);
	simt_free(m, a.log);
	simt_free(m, a.word);
	simt_free(m, released);
	free(image);
	return json_pack("{s:s, s:i, s:i, s:i, s:f}", "row", way_names[way], "blocks", (int)s->blocks,
	                 "warps", (int)s->warps, "log_kib", (int)s->log_kib, "giga_per_second",
	                 8e-9 * GROUP * (double)a.each * s->blocks * producers / seconds);
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {{132, 8, 256}, {132, 16, 512}, {264, 4, 256}, {264, 8, 64}};
	static const struct shape small[] = {{2, 4, 64}};
	json_t *rows = json_array();
	struct simt_machine *m;
	struct simt_info info;
	uint64_t bytes;

	bench_begin(argc, argv, "machine megabytes");
	m = bench_machine(bench_text("machine", "cpu"), 0, LANES);
	bytes = bench_number("megabytes", 16) << 20;
	simt_describe(m, &info);
	json_decref(measure(m, STORES, info.is_cuda ? shapes : small, bytes)); /* loads the kernel */
	for (size_t k = 0; k < 3 * (info.is_cuda ? sizeof shapes / sizeof *shapes : 1); k++)
		json_array_append_new(
		    rows, measure(m, (enum way)(k % 3), &(info.is_cuda ? shapes : small)[k / 3], bytes));
	bench_print(json_pack("{s:s, s:s, s:i, s:o}", "schema", "grapnel.bench.net_log/1", "machine",
	                      info.name, "message_bytes", 8 * MESSAGE_WORDS, "rows", rows));
	simt_close(m);
	return 0;
}
