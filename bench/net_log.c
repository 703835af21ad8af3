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
#include <string.h>

#include "scope/grapnel/logs.h"
#include "support/engine.h"

enum { MESSAGE_WORDS = 4, LANES = 32, GROUP = MESSAGE_WORDS * LANES };

enum way { BY_WARPS, BY_HOST, STORES };
static const char *const way_names[] = {"by-warps", "by-host", "stores"};

/* ---- no log ---- */

struct store_args {
	uint64_t *word;    /* [blocks][capacity] */
	uint64_t capacity; /* a power of two */
	uint64_t each;     /* groups that a warp stores */
};

SIMT_FN void store_words(const struct store_args *a)
{
	const uint64_t place = simt_thread() / LANES * a->each;

	for (uint64_t k = 0; k < a->each; k++)
		for (uint32_t w = 0; w < MESSAGE_WORDS; w++)
			a->word[simt_block() * a->capacity +
			        (((place + k) * GROUP + w * LANES + simt_lane()) & (a->capacity - 1))] = k;
}
SIMT_KERNEL(store_words, struct store_args)

/* ---- measuring ---- */

struct shape {
	uint32_t blocks, warps, log_kib;
};

static json_t *measure(struct fixture *f, enum way way, const struct shape *s, uint64_t bytes)
{
	const struct scope_logs_shape shape = {s->blocks,     s->warps,        s->log_kib * 128,
	                                       MESSAGE_WORDS, way == BY_WARPS, SCOPE_MOST_READERS};
	const uint64_t warps = (uint64_t)s->blocks * (s->warps - (way == BY_WARPS));
	const uint64_t each = bytes / (8 * GROUP) / warps + 1;
	struct scope_logs logs;
	struct gn_error e;
	double seconds;
	uint64_t done = each * warps * LANES;

	memset(&logs, 0, sizeof logs);
	bench_must(scope_logs_open(&logs, f, &shape, &e), e.text);
	if (way == STORES) {
		const struct store_args args = {logs.word, shape.log_words, each};

		seconds = bench_launch(f->machine, &store_words_kernel, logs.grid, &args);
	} else {
		bench_must(scope_logs_run(&logs, done, &done, &seconds, &e), e.text);
		bench_must(scope_logs_check(&logs, &e), e.text);
	}
	scope_logs_close(&logs);
	return json_pack("{s:s, s:i, s:i, s:i, s:f}", "row", way_names[way], "blocks", (int)s->blocks,
	                 "warps", (int)s->warps, "log_kib", (int)s->log_kib, "giga_per_second",
	                 8e-9 * MESSAGE_WORDS * (double)done / seconds);
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {{132, 8, 256}, {132, 16, 512}, {264, 4, 256}, {264, 8, 64}};
	static const struct shape small[] = {{2, 4, 64}};
	struct simt_options config = {"cpu", 0, LANES, SIMT_FAIR, 0};
	json_t *rows = json_array();
	struct fixture f;
	struct gn_error e;
	uint64_t bytes;

	bench_begin(argc, argv, "machine megabytes");
	config.name = bench_text("machine", "cpu");
	bench_must(fixture_open(&f, &config, &e), e.text);
	bytes = bench_number("megabytes", 16) << 20;
	for (size_t k = 0; k < 3; k++) /* loads the kernels */
		json_decref(measure(&f, (enum way)k, f.info.is_cuda ? shapes : small, bytes));
	for (size_t k = 0; k < 3 * (f.info.is_cuda ? sizeof shapes / sizeof *shapes : 1); k++)
		json_array_append_new(
		    rows, measure(&f, (enum way)(k % 3), &(f.info.is_cuda ? shapes : small)[k / 3], bytes));
	bench_print(json_pack("{s:s, s:s, s:i, s:o}", "schema", "grapnel.bench.net_log/1", "machine",
	                      f.info.name, "message_bytes", 8 * MESSAGE_WORDS, "rows", rows));
	fixture_close(&f);
	return 0;
}
