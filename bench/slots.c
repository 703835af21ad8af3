/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.c - what a batch of keys costs; one JSON object on stdout.
 *
 *     bench_slots [machine=cpu] [data=4G] [batch=512M] [keys=2048] [runs=5] [replays=1000000]
 *
 *   hits     a batch of keys that are all resident: resolved alone, and resolved and filled; launched one
 * after the other, launched and waited for one by one, and on a GPU as a graph of many fills    batches of
 * items that are all missing, of every size: the fill of each, beside a kernel that copies as many bytes side
 * by side, and on a GPU beside cudaMemcpyAsync replays  on a GPU: a graph that draws keys, resolves, fills
 * and compares every word, again and again
 *
 * Every word that was filled is compared; the number of wrong ones is in the result. Times of fills are those
 * of the host, from the launch to the end of the wait.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/slots.h>

#include "support/engine.h"

#if defined(__CUDACC__)
#include <cuda_runtime.h>
#endif

enum { MOST_RUNS = 99, MANY = 200, LEAST_ITEM = 4096, MOST_ITEM = 16 << 20, MOST_BATCH = 1 << 17 };

SIMT_FN uint64_t word_of(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

/* ---- kernels ---- */

struct words_args {
	uint64_t *word;
	uint64_t count;
};

SIMT_FN void fill_words(const struct words_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads())
		a->word[k] = word_of(k);
}
SIMT_KERNEL(fill_words, struct words_args)

/* The link's limit: warps copy pieces that lie side by side. */
struct copy_args {
	char *to;
	const char *from;
	uint64_t bytes;
	uint32_t piece;
};

SIMT_FN void copy_bytes(const struct copy_args *a)
{
	const uint64_t warps = simt_global_threads() / simt_warp_width();

	for (uint64_t at = simt_global_thread() / simt_warp_width() * a->piece; at < a->bytes;
	     at += warps * a->piece)
		simt_copy(simt_whole_warp(), a->to + at, a->from + at,
		          a->bytes - at < a->piece ? a->bytes - at : a->piece);
}
SIMT_KERNEL(copy_bytes, struct copy_args)

struct batch_args {
	int64_t *key;
	int32_t *slot;
	char *slab;
	uint64_t *round; /* of draws; the next one's number */
	uint64_t *wrong, *compared;
	uint64_t item_bytes, items;
	uint32_t count;
	uint32_t step; /* keys of a draw begin there, in the order of a permutation of the items */
};

/* Different keys, in no order: a batch after the other goes round all items. items is a power of two. */
SIMT_FN void next_keys(const struct batch_args *a)
{
	const uint64_t round = *a->round;

	simt_block_sync();
	for (uint64_t k = simt_thread(); k < a->count; k += simt_block_threads()) {
		const uint64_t at = round * a->step + k;

		a->key[k] = (int64_t)(at * 0x9e3779b1u % a->items);
	}
	if (simt_thread() == 0)
		*a->round = round + 1;
}
SIMT_KERNEL(next_keys, struct batch_args)

/* Compare each word of each slot; a slot that is not there counts as a wrong word. */
SIMT_FN void compare_slots(const struct batch_args *a)
{
	const uint64_t words = a->item_bytes / 8, all = a->count * words;
	uint64_t wrong = 0, compared = 0;

	for (uint64_t i = simt_global_thread(); i < all; i += simt_global_threads()) {
		const uint64_t k = i / words, at = i % words;
		const uint64_t *slot =
		    (const uint64_t *)(const void *)(a->slab + (uint64_t)a->slot[k] * a->item_bytes);

		wrong += a->slot[k] < 0 || slot[at] != word_of((uint64_t)a->key[k] * words + at);
		compared++;
	}
	if (wrong)
		simt_reduce_add_relaxed_dev_u64(a->wrong, wrong);
	if (compared)
		simt_reduce_add_relaxed_dev_u64(a->compared, compared);
}
SIMT_KERNEL(compare_slots, struct batch_args)

/* ---- the fixture ---- */

struct bench {
	struct simt_machine *m;
	struct simt_info info;
	struct simt_stream *stream;
	struct gn_store *store;
	char *memory; /* of the store */
	uint64_t data, batch_bytes;
	uint32_t keys, runs, replays;
	struct gn_slots *slots;
	struct batch_args args;
	uint64_t wrong, compared;
	struct gn_error error;
};

static struct simt_grid wide(const struct bench *b)
{
	const struct simt_grid grid = {b->info.is_cuda ? 4 * b->info.processors : b->info.processors,
	                               b->info.is_cuda ? 256 : b->info.warp_width, 0};

	return grid;
}

static void run(struct bench *b, const struct simt_kernel *kernel, struct simt_grid grid, const void *args)
{
	bench_must_run(simt_launch_on(b->stream, kernel, grid, args, &bench_error));
}

static void wait_for(struct bench *b)
{
	bench_must_run(simt_stream_wait(b->stream, &bench_error));
}

static uint64_t size_of(const char *name, const char *otherwise)
{
	uint64_t bytes = 0;

	bench_must(gn_size_parse(bench_text(name, otherwise), &bytes), "give a size such as 4G");
	while (bytes & (bytes - 1))
		bytes &= bytes - 1;
	return bytes;
}

static void open_bench(struct bench *b)
{
	struct words_args fill;
	char uri[64];

	b->m = bench_machine(bench_text("machine", "cpu"), 0, 0);
	simt_describe(b->m, &b->info);
	b->data = size_of("data", b->info.is_cuda ? "4G" : "64M");
	b->batch_bytes = size_of("batch", b->info.is_cuda ? "512M" : "16M");
	b->keys = (uint32_t)bench_number("keys", 2048);
	b->runs = (uint32_t)bench_number("runs", 5);
	b->runs = b->runs < 1 ? 1 : b->runs > MOST_RUNS ? (uint32_t)MOST_RUNS : b->runs;
	b->replays = (uint32_t)bench_number("replays", 1000000);
	bench_must(b->data < 2 * b->batch_bytes || b->batch_bytes < MOST_ITEM ||
	               b->batch_bytes / LEAST_ITEM > MOST_BATCH || !b->keys || b->keys > MOST_BATCH,
	           "give data of two batches or more, a batch of 16M to 512M, and up to 131072 keys");
	bench_must(simt_stream_create(&b->stream, b->m, &b->error), b->error.text);
	snprintf(uri, sizeof uri, "host:%llu", (unsigned long long)b->data);
	bench_must(gn_store_open(&b->store, b->m, uri, NULL, &b->error), b->error.text);
	b->memory = gn_store_view_of(b->store)->memory;
	fill.word = (uint64_t *)(void *)b->memory;
	fill.count = b->data / 8;
	run(b, &fill_words_kernel, wide(b), &fill);
	wait_for(b);
	b->args.key = (int64_t *)bench_alloc(b->m, MOST_BATCH * sizeof(int64_t), SIMT_DEVICE);
	b->args.slot = (int32_t *)bench_alloc(b->m, MOST_BATCH * sizeof(int32_t), SIMT_DEVICE);
	b->args.round = (uint64_t *)bench_alloc(b->m, 8, SIMT_DEVICE);
	b->args.wrong = (uint64_t *)bench_alloc(b->m, 8, SIMT_DEVICE);
	b->args.compared = (uint64_t *)bench_alloc(b->m, 8, SIMT_DEVICE);
}

static void open_slots(struct bench *b, uint64_t item_bytes, uint64_t slots, uint32_t count)
{
	struct gn_slots_options o;
	struct gn_slots_info info;
	const uint64_t zero = 0;

	memset(&o, 0, sizeof o);
	o.item_bytes = item_bytes;
	o.slots = (uint32_t)slots;
	o.most_keys = count;
	bench_must(gn_slots_create(&b->slots, b->m, b->store, &o, &b->error), b->error.text);
	gn_slots_describe(b->slots, &info);
	b->args.slab = (char *)info.slab;
	b->args.item_bytes = item_bytes;
	b->args.items = info.items;
	b->args.count = b->args.step = count;
	bench_must_run(simt_move(b->m, b->args.round, &zero, sizeof zero, &bench_error));
	bench_must_run(simt_move(b->m, b->args.wrong, &zero, sizeof zero, &bench_error));
	bench_must_run(simt_move(b->m, b->args.compared, &zero, sizeof zero, &bench_error));
}

/* Add up the wrong words. If a call failed on the machine, end the program. */
static void close_slots(struct bench *b)
{
	uint64_t wrong, compared;

	bench_must_run(simt_move(b->m, &wrong, b->args.wrong, sizeof wrong, &bench_error));
	bench_must_run(simt_move(b->m, &compared, b->args.compared, sizeof compared, &bench_error));
	bench_must(gn_slots_failure(b->slots, &b->error), b->error.text);
	b->wrong += wrong;
	b->compared += compared;
	gn_slots_destroy(b->slots);
}

static void draw(struct bench *b)
{
	const struct simt_grid one = {1, b->info.is_cuda ? 256 : b->info.warp_width, 0};

	run(b, &next_keys_kernel, one, &b->args);
}

static void resolve(struct bench *b)
{
	const struct gn_slots_batch batch = {b->args.key, b->args.slot, NULL, b->args.count, 0, 0};

	bench_must(gn_slots_resolve(b->slots, &batch, b->stream, &b->error), b->error.text);
}

static void fill(struct bench *b)
{
	bench_must(gn_slots_fill(b->slots, b->stream, &b->error), b->error.text);
}

static void compare(struct bench *b)
{
	run(b, &compare_slots_kernel, wide(b), &b->args);
}

/* ---- hits ---- */

enum way { ONE_BY_ONE, BEHIND_ANOTHER, IN_A_GRAPH };

static void hit(struct bench *b, int fills)
{
	resolve(b);
	if (fills)
		fill(b);
}

#if defined(__CUDACC__)
static cudaGraphExec_t graph_of(struct bench *b, void (*add)(struct bench *, int), int fills, uint32_t times)
{
	cudaStream_t stream = (cudaStream_t)simt_stream_handle(b->stream);
	cudaGraphExec_t executable = NULL;
	cudaGraph_t graph;

	bench_must(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess, "capture");
	for (uint32_t k = 0; k < times; k++)
		add(b, fills);
	bench_must(cudaStreamEndCapture(stream, &graph) != cudaSuccess, "capture");
	bench_must(cudaGraphInstantiate(&executable, graph, 0) != cudaSuccess, "graph");
	cudaGraphDestroy(graph);
	return executable;
}

static void launch_graph(struct bench *b, cudaGraphExec_t graph)
{
	bench_must(cudaGraphLaunch(graph, (cudaStream_t)simt_stream_handle(b->stream)) != cudaSuccess,
	           "graph launch");
}

/* Seconds of a batch of a graph of many. */
static double hits_in_a_graph(struct bench *b, int fills)
{
	cudaGraphExec_t graph = graph_of(b, hit, fills, MANY);
	double seconds;

	launch_graph(b, graph);
	wait_for(b);
	seconds = scope_clock();
	launch_graph(b, graph);
	wait_for(b);
	seconds = scope_clock() - seconds;
	cudaGraphExecDestroy(graph);
	return seconds / MANY;
}
#else
static double hits_in_a_graph(struct bench *b, int fills)
{
	(void)b;
	(void)fills;
	return 0;
}
#endif

/* Seconds of a batch, launched each behind the other, or each waited for. */
static double hits_launched(struct bench *b, int fills, int waits)
{
	double begin;

	wait_for(b);
	begin = scope_clock();
	for (int k = 0; k < MANY; k++) {
		hit(b, fills);
		if (waits)
			wait_for(b);
	}
	wait_for(b);
	return (scope_clock() - begin) / MANY;
}

static json_t *hits_row(struct bench *b, enum way way, int fills)
{
	static const char *const names[] = {"waited for", "launched", "graph"};
	double seconds[MOST_RUNS];

	for (uint32_t k = 0; k < b->runs; k++)
		seconds[k] = way == IN_A_GRAPH ? hits_in_a_graph(b, fills)
		                               : hits_launched(b, fills, way == ONE_BY_ONE);
	return json_pack("{s:s, s:b, s:i, s:f}", "way", names[way], "fill", fills, "keys", (int)b->keys,
	                 "microseconds", 1e6 * bench_median(seconds, b->runs));
}

/* The batch is resident from the first resolve on. */
static json_t *hits(struct bench *b)
{
	json_t *rows = json_array();

	open_slots(b, LEAST_ITEM, 2 * (uint64_t)b->keys, b->keys);
	draw(b);
	resolve(b);
	fill(b);
	for (int way = ONE_BY_ONE; way <= (b->info.is_cuda ? IN_A_GRAPH : BEHIND_ANOTHER); way++)
		for (int fills = 0; fills < 2; fills++)
			json_array_append_new(rows, hits_row(b, (enum way)way, fills));
	fill(b);
	compare(b);
	wait_for(b);
	close_slots(b);
	return rows;
}

/* ---- fills ---- */

/* Seconds of a fill of a batch that misses all its items; resolve and comparison beside it. */
static double fill_once(struct bench *b, double *resolved)
{
	double begin, seconds;

	draw(b);
	wait_for(b);
	begin = scope_clock();
	resolve(b);
	wait_for(b);
	*resolved = scope_clock() - begin;
	begin = scope_clock();
	fill(b);
	wait_for(b);
	seconds = scope_clock() - begin;
	compare(b);
	wait_for(b);
	return seconds;
}

static json_t *fill_row(struct bench *b, uint64_t item_bytes)
{
	const uint32_t count = (uint32_t)(b->batch_bytes / item_bytes);
	double seconds[MOST_RUNS], resolved[MOST_RUNS];

	open_slots(b, item_bytes, count, count);
	fill_once(b, &resolved[0]);
	for (uint32_t k = 0; k < b->runs; k++)
		seconds[k] = fill_once(b, &resolved[k]);
	close_slots(b);
	return json_pack("{s:I, s:i, s:f, s:f}", "item_bytes", (json_int_t)item_bytes, "items", (int)count,
	                 "gb_per_second",
	                 1e-9 * (double)(count * item_bytes) / bench_median(seconds, b->runs),
	                 "resolve_microseconds", 1e6 * bench_median(resolved, b->runs));
}

/* GB/s of a plain copy, the best of several grids. */
static double plain_copy(struct bench *b, char *to)
{
	struct copy_args args = {to, b->memory, b->batch_bytes, 4096};
	double best = 0;

	for (uint32_t blocks = 1; blocks <= (b->info.is_cuda ? 8u : 1u); blocks *= 2) {
		struct simt_grid grid = wide(b);
		double rate[MOST_RUNS];

		grid.blocks = blocks * b->info.processors;
		for (uint32_t k = 0; k < b->runs; k++) {
			double begin;

			args.from = b->memory + (k * b->batch_bytes) % b->data;
			wait_for(b);
			begin = scope_clock();
			run(b, &copy_bytes_kernel, grid, &args);
			wait_for(b);
			rate[k] = 1e-9 * (double)b->batch_bytes / (scope_clock() - begin);
		}
		best = bench_median(rate, b->runs) > best ? bench_median(rate, b->runs) : best;
	}
	return best;
}

/* GB/s of the copy engine; 0 on cpu. */
static double copy_engine(struct bench *b, char *to)
{
	double rate[MOST_RUNS] = {0};

#if defined(__CUDACC__)
	for (uint32_t k = 0; k < b->runs && b->info.is_cuda; k++) {
		const double begin = scope_clock();

		bench_must(cudaMemcpyAsync(to, b->memory, b->batch_bytes, cudaMemcpyHostToDevice,
		                           (cudaStream_t)simt_stream_handle(b->stream)) != cudaSuccess,
		           "cudaMemcpyAsync");
		wait_for(b);
		rate[k] = 1e-9 * (double)b->batch_bytes / (scope_clock() - begin);
	}
#else
	(void)to;
#endif
	return bench_median(rate, b->runs);
}

static json_t *fills(struct bench *b)
{
	char *to = (char *)bench_alloc(b->m, b->batch_bytes, SIMT_DEVICE);
	json_t *rows = json_array(), *all;
	double plain, engine;

	plain_copy(b, to);
	plain = plain_copy(b, to);
	engine = copy_engine(b, to);
	simt_free(b->m, to);
	for (uint64_t item = LEAST_ITEM; item <= MOST_ITEM; item *= 4)
		json_array_append_new(rows, fill_row(b, item));
	all = json_pack("{s:f, s:f, s:o}", "plain_copy_gb_per_second", plain, "memcpy_gb_per_second", engine,
	                "rows", rows);
	return all;
}

/* ---- replays ---- */

#if defined(__CUDACC__)
static void step(struct bench *b, int unused)
{
	(void)unused;
	draw(b);
	resolve(b);
	fill(b);
	compare(b);
}

/* Batches that overlap the ones before by half; the slab holds three of them. */
static json_t *replays(struct bench *b)
{
	const uint32_t count = 64;
	struct gn_slots_statistics s;
	cudaGraphExec_t graph;
	double begin;

	open_slots(b, LEAST_ITEM, 3 * count, count);
	b->args.step = count / 2;
	graph = graph_of(b, step, 0, 1);
	begin = scope_clock();
	for (uint32_t k = 0; k < b->replays; k++)
		launch_graph(b, graph);
	wait_for(b);
	begin = scope_clock() - begin;
	bench_must(gn_slots_get_statistics(b->slots, b->stream, &s, &b->error), b->error.text);
	cudaGraphExecDestroy(graph);
	close_slots(b);
	return json_pack("{s:i, s:I, s:I, s:I, s:f}", "replays", (int)b->replays, "evicted",
	                 (json_int_t)s.evicted, "hits", (json_int_t)s.hits, "batches", (json_int_t)s.batches,
	                 "microseconds", 1e6 * begin / b->replays);
}
#else
static json_t *replays(struct bench *b)
{
	(void)b;
	return json_null();
}
#endif

int main(int argc, char **argv)
{
	static struct bench b;
	json_t *hit_rows, *fill_rows, *replay;

	bench_begin(argc, argv, "machine data batch keys runs replays");
	open_bench(&b);
	hit_rows = hits(&b);
	fill_rows = fills(&b);
	replay = b.info.is_cuda && b.replays ? replays(&b) : json_null();
	bench_print(json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:I}", "schema",
	                      "grapnel.bench.slots/1", "machine", b.info.name, "data_bytes",
	                      (json_int_t)b.data, "batch_bytes", (json_int_t)b.batch_bytes, "hits", hit_rows,
	                      "fills", fill_rows, "replays", replay, "words_compared", (json_int_t)b.compared,
	                      "wrong", (json_int_t)b.wrong));
	return b.wrong != 0;
}
