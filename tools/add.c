/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel add: C = A + B, three arrays that need not fit the cache, by the fastest way of `grapnel bench
 * add`. Words are u32, so that every word of C can be compared.
 */
#include "baselines/add.h"

#include <stdio.h>
#include <stdlib.h>

#include "far_job.h"
#include "tiles/tiles.h"

enum { OPT_DATA = 0x200, OPT_OUT, OPT_VERIFY };

enum { ARRAYS = 3, FRAMES_A_WARP = 8, WARPS_A_BLOCK = 4 };

struct request {
	struct far_options far;
	uint64_t bytes; /* of each array */
};

struct job {
	struct far_job far;
	struct gn_base_add_args args;
	unsigned arrays; /* that are open */
	struct gn_tiled tiled[ARRAYS];
	uint64_t tile_bytes; /* of each array */
};

static const struct argp_option options[] = {
    {"data", OPT_DATA, "SIZE", 0, "bytes of each array, a multiple of a page (default 64M)"},
    {"out", OPT_OUT, "FILE", 0, "write C to FILE: little-endian u32"},
    {"verify", OPT_VERIFY, NULL, 0, "compare every word of C that is in the store"},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->far; return 0;
	case OPT_DATA: q->bytes = tool_size(state, "--data", arg, 512); return 0;
	case OPT_OUT: q->far.out = arg; return 0;
	case OPT_VERIFY: q->far.verify = true; return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const char about[] =
    "C = A + B of three arrays in a store, each larger than the cache. The threads of the machine fetch the "
    "pages of A and B, and write those of C, themselves.\vThe time ends when all of C is in the store. "
    "'grapnel bench add' compares this with other ways.\n\nExit status: 0 success, 1 the run failed, 2 the "
    "command line is wrong.";

static const struct argp argp = {options, parse, NULL, about, far_options_child};

static const uint64_t piece = 1 << 20; /* bytes that are compared at a time */

/* ---- the data ---- */

/* Word i of A and of B; --seed changes both. */
static uint32_t word_of(const struct request *q, unsigned array, uint64_t i)
{
	return (array ? gn_base_other_word(i) : gn_base_word(i)) + (uint32_t)q->far.seed;
}

struct input {
	const struct request *request;
	unsigned array;
};

static void make_words(const void *user, uint64_t at, uint64_t bytes, void *to)
{
	const struct input *in = (const struct input *)user;

	for (uint64_t k = 0; k < bytes / 4; k++)
		((uint32_t *)to)[k] = word_of(in->request, in->array, at / 4 + k);
}

static int open_stores(struct job *j, const struct request *q, struct gn_error *e)
{
	int rc = 0;

	for (unsigned k = 0; k < ARRAYS && !rc; k++) {
		const struct input in = {q, k};

		rc = far_job_store(&j->far, NULL, q->bytes, k == 2, "an array", e);
		if (!rc && k < 2)
			rc = far_job_fill(&j->far, k, make_words, &in, e);
	}
	return rc;
}

static int open_tiles(struct job *j, const struct request *q, struct gn_error *e)
{
	const uint64_t page = q->far.far.page_bytes;
	int rc = 0;

	j->tile_bytes = far_job_tile(q->bytes / page, page) * page;
	for (unsigned k = 0; k < ARRAYS && !rc; k++)
		rc = gn_tiled_open(&j->tiled[k], j->far.machine, j->far.store[k], j->tile_bytes, 4, e);
	return rc;
}

static int open_job(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	struct job *j = (struct job *)far;
	struct gn_array *const array[ARRAYS] = {&j->args.a, &j->args.b, &j->args.c};
	int rc = open_stores(j, q, e);

	if (!rc)
		rc = far_job_ready(&j->far, e);
	for (; j->arrays < ARRAYS && !rc; j->arrays += !rc)
		rc = far_job_array(&j->far, j->arrays, q->bytes / 4, 4, array[j->arrays], e);
	j->args.words = q->bytes / 4;
	j->args.page_words = q->far.far.page_bytes / 4;
	return rc || q->far.far.baseline != TOOL_TILED ? rc : open_tiles(j, q, e);
}

static void close_job(struct far_job *far)
{
	struct job *j = (struct job *)far;
	struct gn_array *const array[ARRAYS] = {&j->args.a, &j->args.b, &j->args.c};

	for (unsigned k = 0; k < ARRAYS; k++)
		gn_tiled_close(&j->tiled[k]);
	while (j->arrays)
		gn_array_destroy(array[--j->arrays], far->machine);
}

/* ---- the run ---- */

static int array_failed(struct job *j, struct gn_error *e)
{
	int rc = gn_array_failure(&j->args.a, e);

	if (!rc)
		rc = gn_array_failure(&j->args.b, e);
	return rc ? rc : gn_array_failure(&j->args.c, e);
}

/*
 * No more warps than frames serve: each holds a page of every array. Words for which no page can be held are
 * read and written one by one, which is slow over a file.
 */
static struct simt_grid grid_for(const struct job *j)
{
	struct simt_grid grid = {1, 1, 0};
	struct gn_cache_info cache;
	struct simt_info info;
	uint32_t warps;

	simt_describe(j->far.machine, &info);
	warps = info.resident_threads / info.warp_width;
	if (j->far.cache) {
		gn_cache_describe(j->far.cache, &cache, NULL);
		if (cache.frames / FRAMES_A_WARP < warps)
			warps = (uint32_t)(cache.frames / FRAMES_A_WARP);
	}
	grid.block_threads = (warps < WARPS_A_BLOCK ? 1 : WARPS_A_BLOCK) * info.warp_width;
	grid.blocks = warps < WARPS_A_BLOCK ? warps + !warps : warps / WARPS_A_BLOCK;
	return grid;
}

static int add_whole(struct job *j, struct gn_error *e)
{
	struct simt_machine *machine = j->far.machine;
	int rc = simt_launch(machine, &gn_base_add_range_kernel, grid_for(j), &j->args, e);

	rc = rc ? rc : simt_wait(machine, e);
	if (rc)
		return rc;
	rc = array_failed(j, e);
	return rc || !j->far.cache ? rc : gn_cache_flush(j->far.cache, e);
}

static int add_tile(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile, struct gn_error *e)
{
	struct job *j = (struct job *)user;
	const uint64_t all = 4 * j->args.words, at = tile * j->tile_bytes,
	               bytes = all - at < j->tile_bytes ? all - at : j->tile_bytes;
	struct gn_base_add_args args = j->args;
	int rc = 0;

	args.a = j->tiled[0].array[slot];
	args.b = j->tiled[1].array[slot];
	args.c = j->tiled[2].array[slot];
	args.words = bytes / 4;
	for (unsigned k = 0; k < 2 && !rc; k++)
		rc = gn_tiled_in(&j->tiled[k], stream, slot, at, 0, bytes, e);
	if (!rc)
		rc = gn_tiles_launch(stream, &gn_base_add_range_kernel, grid_for(j), &args, e);
	return rc ? rc : gn_tiled_out(&j->tiled[2], stream, slot, at, 0, bytes, e);
}

static int add_tiles(struct job *j, struct gn_error *e)
{
	const uint64_t all = 4 * j->args.words;
	int rc = gn_tiles_run(j->far.machine, (all + j->tile_bytes - 1) / j->tile_bytes, add_tile, j, e);

	for (unsigned k = 0; k < ARRAYS && !rc; k++)
		rc = gn_tiled_failure(&j->tiled[k], e);
	return rc;
}

static int run(struct far_job *far, struct far_report *r, struct gn_error *e)
{
	struct job *j = (struct job *)far;
	const double begin = tool_seconds();
	const int rc = j->tile_bytes ? add_tiles(j, e) : add_whole(j, e);

	r->seconds = tool_seconds() - begin;
	r->needed_bytes = ARRAYS * ((const struct request *)far->options)->bytes;
	r->proof = "every word of C is the sum";
	return rc;
}

/* Words [first, first + count) of C as they should be. Returns the first that is not, or count. */
static uint64_t first_wrong(const struct request *q, const uint32_t *got, uint64_t first, uint64_t count)
{
	for (uint64_t k = 0; k < count; k++)
		if (got[k] != word_of(q, 0, first + k) + word_of(q, 1, first + k))
			return k;
	return count;
}

static int verify(struct far_job *far, struct gn_error *e)
{
	const struct request *q = (const struct request *)far->options;
	uint32_t *got = (uint32_t *)malloc(piece);
	int rc = got ? 0 : gn_error_set(e, -GN_ENOMEM, "out of memory for the comparison");

	for (uint64_t at = 0; at < q->bytes && !rc; at += piece) {
		const uint64_t bytes = q->bytes - at < piece ? q->bytes - at : piece;
		uint64_t k;

		rc = gn_store_read_host(far->store[2], at, got, bytes, e);
		k = rc ? 0 : first_wrong(q, got, at / 4, bytes / 4);
		if (!rc && k < bytes / 4)
			rc = gn_error_set(e, -GN_EBADMSG, "word %llu of C is %u, but the sum is %u",
			                  (unsigned long long)(at / 4 + k), got[k],
			                  word_of(q, 0, at / 4 + k) + word_of(q, 1, at / 4 + k));
	}
	free(got);
	return rc;
}

static int write_out(struct far_job *far, struct gn_error *e)
{
	return far_job_write(far, 2, far->options->out, e);
}

static json_t *report_json(const struct far_job *far)
{
	return json_pack("{s:s, s:I}", "schema", "grapnel-add-1", "array_bytes",
	                 (json_int_t)((const struct request *)far->options)->bytes);
}

static void print(const struct far_job *far)
{
	printf("  arrays               3 of %.1f MiB\n",
	       (double)((const struct request *)far->options)->bytes / (1 << 20));
}

static const struct far_command command = {open_job, run, verify, write_out, report_json, print, close_job};

static int check_size(const struct request *q, struct gn_error *e)
{
	if (q->bytes % q->far.far.page_bytes == 0)
		return 0;
	return gn_error_set(e, -GN_EINVAL, "--data %llu: give a multiple of a page of %u bytes",
	                    (unsigned long long)q->bytes, q->far.far.page_bytes);
}

int tool_add(int argc, char **argv)
{
	struct request q = {0};
	struct gn_error e = {0};
	struct job job = {0};

	far_options_init(&q.far, "add");
	q.bytes = 64 << 20;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	if (check_size(&q, &e)) {
		tool_fail("add", &e);
		return TOOL_USAGE;
	}
	return far_command_run(&command, &q.far, &job.far);
}
