/* SPDX-License-Identifier: Apache-2.0 */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "keys.h"
#include "radix.h"

static const uint64_t most_runs = 1024, keys_a_run = 4; /* of each run's share of the memory */
static const uint64_t good_samples = 64;                /* of a run, for each run: buckets are nearly full */
static const uint64_t most_samples = 1 << 22;           /* of all runs, where they do */
static const uint64_t tile_bytes = 65536;
static const uint64_t frames_a_warp = 8, block_warps = 4;

uint32_t gn_sort_key_bytes(enum gn_sort_type type)
{
	return type == GN_SORT_U64 || type == GN_SORT_I64 || type == GN_SORT_F64 ? 8 : 4;
}

/* ---- the plan ---- */

/* Returns 0 if the keys cannot be sorted with so much room. */
static int plan_runs(struct gn_sort_plan *p, uint64_t count, uint64_t room, uint64_t page_keys)
{
	p->room = room;
	p->runs = 1;
	p->run_keys = count;
	if (room >= count)
		return 1;
	p->run_keys = room / page_keys * page_keys;
	p->runs = p->run_keys ? gn_sort_parts(count, p->run_keys) : 0;
	return p->runs && p->runs <= most_runs && p->run_keys / keys_a_run >= p->runs;
}

/*
 * A bucket begins between two samples of a run. So it can hold keys of that run from before its first
 * sample: up to interval - 1 of them, in each run.
 */
static void plan_buckets(struct gn_sort_plan *p)
{
	const uint64_t enough = gn_sort_least(good_samples * p->runs, most_samples / p->runs);
	const uint64_t samples = enough > keys_a_run * p->runs ? enough : keys_a_run * p->runs;

	p->interval = p->run_keys / gn_sort_least(samples, p->run_keys);
	p->bucket_samples = (p->room - p->runs * (p->interval - 1)) / p->interval;
}

static int too_small(uint64_t count, uint64_t memory_bytes, uint64_t page_keys, uint32_t key_bytes,
                     struct gn_error *error)
{
	uint64_t enough = page_keys;
	struct gn_sort_plan p;

	while (!plan_runs(&p, count, enough, page_keys))
		enough *= 2;
	return gn_error_set(error, -GN_ENOBUFS,
	                    "sort: %llu bytes of the machine's memory hold %llu of %llu keys, with as many "
	                    "spare places; that is too few: give %llu bytes",
	                    (unsigned long long)memory_bytes,
	                    (unsigned long long)(memory_bytes / 2 / key_bytes), (unsigned long long)count,
	                    (unsigned long long)(enough * 2 * key_bytes));
}

int gn_sort_plan_make(struct gn_sort_plan *plan, uint64_t count, uint32_t key_bytes, uint64_t memory_bytes,
                      uint32_t page_bytes, struct gn_error *error)
{
	const uint64_t page_keys = page_bytes ? page_bytes / key_bytes : 1;
	const uint64_t room = memory_bytes / 2 / key_bytes;

	memset(plan, 0, sizeof *plan);
	if (!count)
		return gn_error_set(error, -GN_EINVAL, "sort: no keys; give at least 1");
	if (!plan_runs(plan, count, room, page_keys))
		return too_small(count, memory_bytes, page_keys, key_bytes, error);
	if (plan->runs > 1)
		plan_buckets(plan);
	return 0;
}

/* ---- the job ---- */

uint64_t gn_sort_job_run_keys(const struct gn_sort_job *j, uint64_t run)
{
	return gn_sort_least(j->sort->plan.run_keys, j->count - run * j->sort->plan.run_keys);
}

uint64_t gn_sort_job_samples(const struct gn_sort_job *j, uint64_t run)
{
	return gn_sort_parts(gn_sort_job_run_keys(j, run), j->sort->plan.interval);
}

static int machine_failed(int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "sort");
}

int gn_sort_job_launch(struct gn_sort_job *j, const struct simt_kernel *kernel, uint64_t warps,
                       const void *args, struct gn_error *error)
{
	const uint64_t blocks = gn_sort_parts(gn_sort_least(warps, j->warps), block_warps);
	const struct simt_grid grid = {(uint32_t)blocks, (uint32_t)block_warps * j->info.warp_width, 0};
	int rc = simt_launch(j->machine, kernel, grid, args, error);

	return machine_failed(rc ? rc : simt_wait(j->machine, error), error);
}

static int check_arrays(const struct gn_sort *s, struct gn_error *error)
{
	const uint64_t count = gn_count(&s->from);

	if (gn_count(&s->to) == count && (s->plan.runs == 1 || gn_count(&s->runs) == count))
		return 0;
	return gn_error_set(error, -GN_EINVAL, "sort: the arrays do not all have %llu keys",
	                    (unsigned long long)count);
}

/* No more warps than frames serve, or keys would be moved one by one. */
static void count_warps(struct gn_sort_job *j)
{
	struct gn_cache_info cache;

	j->page_keys = 1;
	j->warps = j->info.resident_threads / j->info.warp_width;
	if (!j->sort->cache)
		return;
	gn_cache_describe(j->sort->cache, &cache, NULL);
	j->page_keys = cache.page_bytes / j->key_bytes;
	j->warps = gn_sort_least(j->warps, cache.frames / frames_a_warp);
	j->warps += !j->warps;
}

static int memory_alloc(struct gn_sort_job *j, struct gn_error *error)
{
	const struct gn_sort_plan *p = &j->sort->plan;
	const uint64_t keys = gn_sort_least(p->room, j->count);
	const uint64_t samples = p->runs > 1 ? p->runs * gn_sort_job_samples(j, 0) : 1;

	for (unsigned k = 0; k < 2; k++)
		j->memory[k] = simt_alloc(j->machine, keys * j->key_bytes, SIMT_DEVICE, error);
	j->piece =
	    (struct gn_sort_piece *)simt_alloc(j->machine, p->runs * sizeof *j->piece, SIMT_DEVICE, error);
	j->samples = (uint64_t *)simt_alloc(j->machine, samples * sizeof *j->samples, SIMT_DEVICE, error);
	if (j->memory[0] && j->memory[1] && j->piece && j->samples)
		return 0;
	return gn_error_set(error, -GN_ENOMEM,
	                    "sort: out of memory on the machine for twice %llu keys; give the sort less",
	                    (unsigned long long)keys);
}

static int job_open(struct gn_sort_job *j, struct simt_machine *machine, const struct gn_sort *s,
                    struct gn_sort_result *result, struct gn_error *error)
{
	memset(j, 0, sizeof *j);
	memset(result, 0, sizeof *result);
	j->machine = machine;
	j->sort = s;
	j->result = result;
	j->count = gn_count(&s->from);
	j->key_bytes = gn_sort_key_bytes(s->type);
	simt_describe(machine, &j->info);
	count_warps(j);
	return memory_alloc(j, error);
}

static void job_close(struct gn_sort_job *j)
{
	free(j->splitter);
	free(j->place);
	simt_free(j->machine, j->memory[0]);
	simt_free(j->machine, j->memory[1]);
	simt_free(j->machine, j->piece);
	simt_free(j->machine, j->samples);
}

/* ---- there and back ---- */

static struct gn_sort_map map_of(const struct gn_sort_job *j, enum gn_sort_step step)
{
	const enum gn_sort_type type = j->sort->type;
	struct gn_sort_map map = {0, type == GN_SORT_F32 || type == GN_SORT_F64, (uint32_t)step};

	if (type != GN_SORT_U32 && type != GN_SORT_U64)
		map.sign = 1ull << (8 * j->key_bytes - 1);
	return map;
}

/* As many keys as every warp finds work with, in whole pages. */
static uint64_t tile_for(const struct gn_sort_job *j, uint64_t keys)
{
	const uint64_t most = tile_bytes / j->key_bytes;

	return gn_sort_parts(gn_sort_least(gn_sort_parts(keys, j->warps), most), j->page_keys) * j->page_keys;
}

static int move_keys(struct gn_sort_job *j, const struct simt_kernel *kernel, struct gn_sort_move_args *a,
                     struct gn_error *error)
{
	int rc;

	a->tile = tile_for(j, a->count);
	rc = gn_sort_job_launch(j, kernel, gn_sort_parts(a->count, a->tile) + 1, a, error);
	return rc ? rc : gn_array_failure(&a->a, error);
}

/* Keys of pieces, side by side in memory[0]. */
static int fetch(struct gn_sort_job *j, const struct gn_array *from, const struct gn_sort_piece *piece,
                 uint64_t pieces, uint64_t count, enum gn_sort_step step, struct gn_error *error)
{
	struct gn_sort_move_args a;
	int rc = machine_failed(simt_move(j->machine, j->piece, piece, pieces * sizeof *piece, error), error);

	memset(&a, 0, sizeof a);
	a.a = *from;
	a.keys = j->memory[0];
	a.count = count;
	a.map = map_of(j, step);
	a.piece = j->piece;
	a.pieces = pieces;
	return rc ? rc
	          : move_keys(j, j->key_bytes == 8 ? &gn_sort_fetch_8_kernel : &gn_sort_fetch_4_kernel, &a,
	                      error);
}

static int put(struct gn_sort_job *j, const struct gn_array *to, uint64_t first, void *keys, uint64_t count,
               enum gn_sort_step step, struct gn_error *error)
{
	struct gn_sort_move_args a;

	memset(&a, 0, sizeof a);
	a.a = *to;
	a.keys = keys;
	a.count = count;
	a.map = map_of(j, step);
	a.first = first;
	return move_keys(j, j->key_bytes == 8 ? &gn_sort_put_8_kernel : &gn_sort_put_4_kernel, &a, error);
}

/* @bits  the low ones in which keys differ; 0: all are equal */
static int sort_memory(struct gn_sort_job *j, uint64_t count, unsigned bits, void **sorted,
                       struct gn_error *error)
{
	const uint64_t begin = simt_clock_ns();
	int rc = 0;

	*sorted = j->memory[0];
	if (bits)
		rc = gn_radix_sort(j->machine, j->memory[0], j->memory[1], count, j->key_bytes, bits, sorted,
		                   error);
	j->result->sort_seconds += 1e-9 * (double)(simt_clock_ns() - begin);
	return rc;
}

/* ---- runs ---- */

static int take_samples(struct gn_sort_job *j, uint64_t run, const void *sorted, struct gn_error *error)
{
	const struct gn_sort_sample_args a = {sorted,
	                                      j->samples + run * gn_sort_job_samples(j, 0),
	                                      gn_sort_job_run_keys(j, run),
	                                      j->sort->plan.interval,
	                                      j->key_bytes,
	                                      0};
	const uint64_t samples = gn_sort_job_samples(j, run);

	return gn_sort_job_launch(j, &gn_sort_sample_kernel, samples / j->info.warp_width + 1, &a, error);
}

/* One run, sorted. With no other it is the result. */
static int make_run(struct gn_sort_job *j, uint64_t run, struct gn_error *error)
{
	const int alone = j->sort->plan.runs == 1;
	const uint64_t first = run * j->sort->plan.run_keys, count = gn_sort_job_run_keys(j, run);
	const struct gn_sort_piece all = {first, 0};
	void *sorted;
	int rc = fetch(j, &j->sort->from, &all, 1, count, GN_SORT_TO_ORDER, error);

	if (!rc)
		rc = sort_memory(j, count, 8 * j->key_bytes, &sorted, error);
	if (!rc && !alone)
		rc = take_samples(j, run, sorted, error);
	if (rc)
		return rc;
	if (alone)
		return put(j, &j->sort->to, 0, sorted, count, GN_SORT_FROM_ORDER, error);
	return put(j, &j->sort->runs, first, sorted, count, GN_SORT_AS_THEY_ARE, error);
}

/* ---- buckets ---- */

/* The low bits in which keys of a bucket differ: its first key and the next bucket's share those above. */
static unsigned bits_of(const struct gn_sort_job *j, uint64_t bucket)
{
	unsigned bits = 8 * j->key_bytes;

	if (bucket + 1 == j->result->buckets)
		return bits;
	while (bits && !((j->splitter[bucket].key ^ j->splitter[bucket + 1].key) >> (bits - 1)))
		bits--;
	return bits;
}

/* The bucket's part of each run. Returns how many keys they have; *first receives how many are before them.
 */
static uint64_t find_pieces(const struct gn_sort_job *j, uint64_t bucket, struct gn_sort_piece *piece,
                            uint64_t *first)
{
	const uint64_t runs = j->sort->plan.runs, *place = j->place + bucket * runs;
	uint64_t count = 0;

	*first = 0;
	for (uint64_t run = 0; run < runs; run++) {
		piece[run].from = run * j->sort->plan.run_keys + place[run];
		piece[run].to = count;
		count += place[runs + run] - place[run];
		*first += place[run];
	}
	return count;
}

static int make_bucket(struct gn_sort_job *j, uint64_t bucket, struct gn_sort_piece *piece,
                       struct gn_error *error)
{
	uint64_t first;
	const uint64_t count = find_pieces(j, bucket, piece, &first);
	void *sorted;
	int rc = fetch(j, &j->sort->runs, piece, j->sort->plan.runs, count, GN_SORT_AS_THEY_ARE, error);

	if (!rc)
		rc = sort_memory(j, count, bits_of(j, bucket), &sorted, error);
	return rc ? rc : put(j, &j->sort->to, first, sorted, count, GN_SORT_FROM_ORDER, error);
}

static int make_buckets(struct gn_sort_job *j, struct gn_error *error)
{
	struct gn_sort_piece *piece = (struct gn_sort_piece *)malloc(j->sort->plan.runs * sizeof *piece);
	int rc = 0;

	if (!piece)
		return gn_error_set(error, -GN_ENOMEM, "sort: out of memory for pieces of buckets");
	for (uint64_t bucket = 0; bucket < j->result->buckets && !rc; bucket++)
		rc = make_bucket(j, bucket, piece, error);
	free(piece);
	return rc;
}

static int run(struct gn_sort_job *j, struct gn_error *error)
{
	const uint64_t runs = j->sort->plan.runs;
	int rc = 0;

	for (uint64_t k = 0; k < runs && !rc; k++)
		rc = make_run(j, k, error);
	j->result->buckets = 1;
	if (rc || runs == 1)
		return rc;
	rc = gn_sort_job_split(j, error);
	return rc ? rc : make_buckets(j, error);
}

int gn_sort_run(struct simt_machine *machine, const struct gn_sort *sort, struct gn_sort_result *result,
                struct gn_error *error)
{
	struct gn_sort_job j;
	uint64_t begin;
	int rc = check_arrays(sort, error);

	if (rc)
		return rc;
	rc = job_open(&j, machine, sort, result, error);
	begin = simt_clock_ns();
	if (!rc)
		rc = run(&j, error);
	result->seconds = 1e-9 * (double)(simt_clock_ns() - begin);
	job_close(&j);
	return rc;
}
