/* SPDX-License-Identifier: Apache-2.0 */
#include "radix.h"

#include <stddef.h>
#include <string.h>

#include "keys.h"
#include "radix_kernels.h"

static const unsigned most_parts = 1023; /* the counts of as many take 2 MiB */
static const unsigned digit_bits = 8;
static const uint64_t most_keys = 1ull << 31; /* of a part */

struct radix {
	struct simt_machine *machine;
	struct gn_radix_args args;
	struct simt_grid grid; /* of the launches that count and scatter */
	const struct simt_kernel *count, *scatter;
};

/* A part of whole tiles for each block that the machine holds at once. */
static void plan(struct radix *r, uint64_t count, uint32_t key_bytes)
{
	const uint64_t tile = GN_RADIX_TILE_BYTES / key_bytes, tiles = gn_sort_parts(count, tile);
	struct simt_info info;
	uint64_t parts;

	simt_describe(r->machine, &info);
	r->grid.block_threads = GN_RADIX_WARPS * info.warp_width;
	parts = gn_sort_least(info.resident_threads / r->grid.block_threads, most_parts);
	r->args.count = count;
	/* Counts of a part are 32-bit: parts of equal keys must be smaller. */
	parts = parts < gn_sort_parts(count, most_keys) ? gn_sort_parts(count, most_keys) : parts;
	r->args.part = gn_sort_parts(tiles, parts ? parts : 1) * tile;
	r->args.parts = gn_sort_parts(count, r->args.part);
	r->grid.blocks = (uint32_t)r->args.parts;
	r->count = key_bytes == 8 ? &gn_radix_count_8_kernel : &gn_radix_count_4_kernel;
	r->scatter = key_bytes == 8 ? &gn_radix_scatter_8_kernel : &gn_radix_scatter_4_kernel;
}

static int counts_alloc(struct radix *r, struct gn_error *error)
{
	const uint64_t counts = GN_RADIX_DIGITS * (r->args.parts + 1);

	r->args.counts =
	    (uint64_t *)simt_alloc(r->machine, counts * sizeof *r->args.counts, SIMT_DEVICE, error);
	if (!r->args.counts)
		return gn_error_set(error, -GN_ENOMEM,
		                    "sort: out of memory on the machine for %llu counts; sort fewer keys at "
		                    "once",
		                    (unsigned long long)counts);
	r->args.totals = r->args.counts + GN_RADIX_DIGITS * r->args.parts;
	return 0;
}

static int launch(struct radix *r, const struct simt_kernel *kernel, uint32_t blocks, size_t shared_bytes,
                  struct gn_error *error)
{
	struct simt_grid grid = r->grid;

	grid.blocks = blocks;
	grid.shared_bytes = (uint32_t)shared_bytes;
	return simt_launch(r->machine, kernel, grid, &r->args, error);
}

/* Sort by one digit; the result becomes the next pass's input. */
static int pass(struct radix *r, unsigned shift, unsigned bits, struct gn_error *error)
{
	void *const from = r->args.from;
	int rc;

	r->args.shift = shift;
	r->args.most = (1u << gn_sort_least(bits - shift, digit_bits)) - 1;
	rc = launch(r, r->count, r->grid.blocks, offsetof(struct gn_radix_shared, start), error);
	if (!rc)
		rc = launch(r, &gn_radix_scan_kernel, GN_RADIX_DIGITS / GN_RADIX_WARPS, 0, error);
	if (!rc)
		rc = launch(r, r->scatter, r->grid.blocks, sizeof(struct gn_radix_shared), error);
	r->args.from = r->args.to;
	r->args.to = from;
	return rc;
}

static int run(struct radix *r, unsigned bits, void **sorted, struct gn_error *error)
{
	int rc = 0, failed;

	for (unsigned shift = 0; shift < bits && !rc; shift += digit_bits)
		rc = pass(r, shift, bits, error);
	failed = simt_wait(r->machine, rc ? NULL : error);
	rc = rc ? rc : failed;
	*sorted = r->args.from;
	return gn_error_prefix(error, rc, "sort");
}

int gn_radix_sort(struct simt_machine *machine, void *keys, void *spare, uint64_t count, uint32_t key_bytes,
                  unsigned bits, void **sorted, struct gn_error *error)
{
	struct radix r;
	int rc;

	if ((key_bytes != 4 && key_bytes != 8) || bits < 1 || bits > 8 * key_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "sort: keys of %u bytes by %u bits: give 4 or 8 bytes, and 1 to 8 bits "
		                    "for each",
		                    (unsigned)key_bytes, bits);
	*sorted = keys;
	if (count < 2)
		return 0;
	memset(&r, 0, sizeof r);
	r.machine = machine;
	r.args.from = keys;
	r.args.to = spare;
	plan(&r, count, key_bytes);
	rc = counts_alloc(&r, error);
	if (!rc)
		rc = run(&r, bits, sorted, error);
	simt_free(machine, r.args.counts);
	return rc;
}
