/* SPDX-License-Identifier: Apache-2.0 */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "plan.h"
#include "sort/radix.h"

enum { STEP = 1 << 24, MOST_PIECE = 1 << 25 };

struct job {
	struct simt_machine *machine;
	struct simt_info info;
	const struct gn_generate_options *options;
	const struct gn_generate_output *output;
	struct gn_error *e;
	struct gn_generate_plan plan;
	uint64_t *count; /* [ranges], on the host */
	uint64_t *tile;  /* [tiles of the largest part], on the host */
	void *keys[2];   /* of the machine, [largest part] */
	void *piece;     /* pinned: rows on their way */
	uint64_t piece_bytes;
	uint64_t part; /* its number */
	struct gn_generate_draw_args draw;
	struct gn_generate_rows_args rows;
};

/* ---- the machine ---- */

static int check(struct job *j, int rc)
{
	return gn_error_prefix(j->e, rc, "the kernels that generate the graph");
}

static int run(struct job *j, const struct simt_kernel *kernel, uint64_t threads, const void *arguments)
{
	const uint64_t most = j->info.resident_threads / 128;
	const uint64_t blocks = gn__min_u64((threads + 127) / 128, most ? most : 1);
	const struct simt_grid grid = {(uint32_t)blocks, 128, 0};
	int rc = 0;

	if (threads)
		rc = simt_launch(j->machine, kernel, grid, arguments, j->e);
	if (threads && !rc)
		rc = simt_wait(j->machine, j->e);
	return check(j, rc);
}

static void *allocate(struct job *j, uint64_t bytes, enum simt_memory where)
{
	void *memory = simt_alloc(j->machine, bytes ? bytes : 1, where, j->e);

	if (!memory)
		gn_error_set(j->e, -GN_ENOMEM,
		             "out of memory on the machine: %llu bytes were wanted; allow less memory than "
		             "%.1f GiB",
		             (unsigned long long)bytes,
		             (double)gn_generate_plan_memory(j->plan.capacity) / 0x1p30);
	return memory;
}

static void *allocate_host(struct job *j, uint64_t count)
{
	void *memory = calloc(count ? count : 1, sizeof(uint64_t));

	if (!memory)
		gn_error_set(j->e, -GN_ENOMEM, "out of memory for %llu counts; free memory",
		             (unsigned long long)count);
	return memory;
}

/* All edges of the graph, in launches that let the progress be seen. */
static int draw(struct job *j, const struct simt_kernel *kernel, const char *doing)
{
	const uint64_t edges = j->options->degree << j->options->scale;
	char stage[64];
	int rc = 0;

	snprintf(stage, sizeof stage, "%s", doing);
	if (j->plan.parts > 1)
		snprintf(stage, sizeof stage, "%s, part %llu of %llu", doing, (unsigned long long)j->part,
		         (unsigned long long)j->plan.parts);
	for (uint64_t first = 0; first < edges && !rc; first += STEP) {
		gn_progress_step(&j->options->progress, stage, first, edges);
		j->draw.first = first;
		j->draw.edges = gn__min_u64(edges - first, STEP);
		rc = run(j, kernel, j->draw.edges, &j->draw);
	}
	return rc;
}

/* ---- counting ---- */

static int count_on_machine(struct job *j)
{
	const uint64_t bytes = j->plan.ranges * sizeof *j->count;
	int rc;

	j->draw.shift = j->plan.shift;
	j->draw.count = (uint64_t *)allocate(j, bytes, SIMT_DEVICE);
	if (!j->draw.count)
		return -GN_ENOMEM;
	rc = draw(j, &gn_generate_count_kernel, "counting edges");
	if (!rc)
		rc = check(j, simt_move(j->machine, j->count, j->draw.count, bytes, j->e));
	simt_free(j->machine, j->draw.count);
	return rc;
}

static int too_small(struct job *j, uint64_t range)
{
	const uint64_t length = UINT64_C(1) << j->plan.shift, edges = j->count[range];

	return gn_error_set(j->e, -GN_ENOMEM,
	                    "of the vertices, %llu from number %llu on have %llu edges, which need %llu "
	                    "bytes of the machine's memory at once, but "
	                    "only %llu may be used; allow more",
	                    (unsigned long long)length, (unsigned long long)(range * length),
	                    (unsigned long long)edges, (unsigned long long)gn_generate_plan_memory(edges),
	                    (unsigned long long)gn_generate_plan_memory(j->plan.capacity));
}

static int count(struct job *j)
{
	uint64_t range;
	int rc;

	j->count = (uint64_t *)allocate_host(j, j->plan.ranges);
	rc = j->count ? count_on_machine(j) : -GN_ENOMEM;
	if (rc)
		return rc;
	range = gn_generate_plan_count(&j->plan, j->count);
	return range < j->plan.ranges ? too_small(j, range) : 0;
}

/* ---- one part: its keys ---- */

static int make_room(struct job *j)
{
	const uint64_t tiles = j->plan.largest / GN_GENERATE_TILE + 1;

	j->tile = (uint64_t *)allocate_host(j, tiles);
	if (j->tile)
		j->rows.tile = (uint64_t *)allocate(j, tiles * sizeof *j->tile, SIMT_DEVICE);
	if (j->rows.tile)
		j->draw.kept = (uint64_t *)allocate(j, sizeof *j->draw.kept, SIMT_DEVICE);
	if (j->draw.kept)
		j->keys[0] = allocate(j, j->plan.largest * sizeof(uint64_t), SIMT_DEVICE);
	if (j->keys[0])
		j->keys[1] = allocate(j, j->plan.largest * sizeof(uint64_t), SIMT_DEVICE);
	if (j->keys[1])
		j->piece = allocate(j, j->piece_bytes, SIMT_PINNED);
	return j->piece ? 0 : -GN_ENOMEM;
}

static int keep_keys(struct job *j)
{
	uint64_t kept = 0;
	int rc = check(j, simt_move(j->machine, j->draw.kept, &kept, sizeof kept, j->e));

	j->draw.keys = (uint64_t *)j->keys[0];
	rc = rc ? rc : draw(j, &gn_generate_keep_kernel, "drawing edges");
	if (!rc)
		rc = check(j, simt_move(j->machine, &kept, j->draw.kept, sizeof kept, j->e));
	if (!rc && kept != j->rows.count)
		rc = gn_error_set(j->e, -GN_EIO, "generate: %llu edges were counted, but %llu were drawn",
		                  (unsigned long long)j->rows.count, (unsigned long long)kept);
	return rc;
}

static unsigned bits_of(uint64_t most)
{
	unsigned bits = 0;

	while (bits < 64 && most >> bits)
		bits++;
	return bits;
}

/* Afterwards keys[0] holds the keys in order. */
static int sort_keys(struct job *j)
{
	const unsigned bits = j->options->scale + bits_of(j->draw.sources - 1);
	void *sorted = j->keys[0];
	int rc = 0;

	gn_progress_step(&j->options->progress, "sorting", j->part, j->plan.parts);
	if (j->rows.count && bits)
		rc = gn_radix_sort(j->machine, j->keys[0], j->keys[1], j->rows.count, sizeof(uint64_t), bits,
		                   &sorted, j->e);
	if (sorted == j->keys[1]) {
		j->keys[1] = j->keys[0];
		j->keys[0] = sorted;
	}
	return rc;
}

/* Counts of the tiles become places; returns their sum. */
static uint64_t add_up(uint64_t *tile, uint64_t tiles)
{
	uint64_t total = 0;

	for (uint64_t k = 0; k < tiles; k++) {
		const uint64_t n = tile[k];

		tile[k] = total;
		total += n;
	}
	return total;
}

/* Of equal keys keep one; keys[0] holds them afterwards. */
static int drop_duplicates(struct job *j)
{
	const uint64_t tiles = (j->rows.count + GN_GENERATE_TILE - 1) / GN_GENERATE_TILE;
	const uint64_t bytes = tiles * sizeof *j->tile, threads = tiles * j->info.warp_width;
	uint64_t total = 0;
	int rc;

	j->rows.keys = (const uint64_t *)j->keys[0];
	j->rows.unique = (uint64_t *)j->keys[1];
	rc = run(j, &gn_generate_count_unique_kernel, threads, &j->rows);
	if (!rc)
		rc = check(j, simt_move(j->machine, j->tile, j->rows.tile, bytes, j->e));
	if (!rc) {
		total = add_up(j->tile, tiles);
		rc = check(j, simt_move(j->machine, j->rows.tile, j->tile, bytes, j->e));
	}
	if (!rc)
		rc = run(j, &gn_generate_place_unique_kernel, threads, &j->rows);
	j->rows.count = total;
	j->keys[1] = j->keys[0];
	j->keys[0] = j->rows.unique;
	return rc;
}

/* ---- one part: its rows ---- */

static int put_offsets(struct job *j)
{
	const uint64_t most = j->piece_bytes / sizeof *j->rows.offsets;
	int rc = 0;

	for (uint64_t first = 0; first < j->draw.sources && !rc; first += most) {
		j->rows.first = first;
		j->rows.items = gn__min_u64(j->draw.sources - first, most);
		rc = run(j, &gn_generate_offsets_kernel, j->rows.items, &j->rows);
		if (!rc)
			rc = j->output->offsets(j->output->self, j->rows.offsets, j->rows.items, j->e);
	}
	return rc;
}

static int put_neighbours(struct job *j)
{
	const uint64_t most = j->piece_bytes / j->rows.id_bytes;
	int rc = 0;

	for (uint64_t first = 0; first < j->rows.count && !rc; first += most) {
		gn_progress_step(&j->options->progress, "writing", j->rows.before + first, j->plan.edges);
		j->rows.first = first;
		j->rows.items = gn__min_u64(j->rows.count - first, most);
		rc = run(j, &gn_generate_neighbours_kernel, j->rows.items, &j->rows);
		if (!rc)
			rc = j->output->neighbours(j->output->self, j->rows.neighbours, j->rows.items, j->e);
	}
	return rc;
}

static int put_rows(struct job *j)
{
	int rc;

	j->rows.keys = (const uint64_t *)j->keys[0];
	j->rows.offsets = (uint64_t *)j->piece;
	rc = put_offsets(j);
	j->rows.neighbours = j->piece;
	if (!rc)
		rc = put_neighbours(j);
	j->rows.before += j->rows.count;
	return rc;
}

/* ---- all parts ---- */

static int make_part(struct job *j)
{
	int rc = keep_keys(j);

	if (!rc)
		rc = sort_keys(j);
	if (!rc && !j->options->keep)
		rc = drop_duplicates(j);
	return rc ? rc : put_rows(j);
}

static int make_parts(struct job *j)
{
	uint64_t range = 0;
	int rc = 0;

	while (range < j->plan.ranges && !rc) {
		const uint64_t end = gn_generate_plan_part(&j->plan, j->count, range, &j->rows.count);

		j->draw.source = range << j->plan.shift;
		j->draw.sources = (end - range) << j->plan.shift;
		j->part++;
		rc = make_part(j);
		range = end;
	}
	return rc ? rc : j->output->offsets(j->output->self, &j->rows.before, 1, j->e);
}

static int begin_output(struct job *j)
{
	const uint32_t both = j->options->undirected ? (uint32_t)GN_GRAPH_UNDIRECTED : 0;

	return j->output->begin(j->output->self, j->plan.vertices, j->plan.edges, both | GN_GRAPH_SORTED,
	                        j->e);
}

static void fini(struct job *j)
{
	simt_free(j->machine, j->piece);
	simt_free(j->machine, j->keys[0]);
	simt_free(j->machine, j->keys[1]);
	simt_free(j->machine, j->draw.kept);
	simt_free(j->machine, j->rows.tile);
	free(j->tile);
	free(j->count);
}

static uint64_t default_memory(const struct simt_info *info)
{
	return info->memory_bytes / (info->is_cuda ? 2 : 4);
}

static void init(struct job *j, uint64_t memory)
{
	simt_describe(j->machine, &j->info);
	if (!memory)
		memory = default_memory(&j->info);
	gn_generate_plan_init(&j->plan, j->options->scale, memory);
	j->piece_bytes = gn__min_u64(memory / 8 * 8 + 8, MOST_PIECE);
	j->draw.draw = gn_draw_init(j->options);
	j->draw.mirror = j->options->undirected;
	j->draw.simple = !j->options->keep;
	j->rows.bits = j->options->scale;
	j->rows.id_bytes = j->output->id_bytes;
}

int gn__generate(struct simt_machine *machine, const struct gn_generate_options *options, uint64_t memory,
                 const struct gn_generate_output *output, struct gn_error *e)
{
	struct job j;
	int rc = gn_graph_generate_check(options, e);

	if (rc)
		return rc;
	memset(&j, 0, sizeof j);
	j.machine = machine;
	j.options = options;
	j.output = output;
	j.e = e;
	init(&j, memory);
	rc = count(&j);
	if (!rc)
		rc = begin_output(&j);
	if (!rc)
		rc = make_room(&j);
	if (!rc)
		rc = make_parts(&j);
	fini(&j);
	return rc;
}
