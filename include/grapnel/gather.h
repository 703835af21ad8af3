/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.h - many rows at once: gather reads the rows of a batch of row numbers into packed memory, scatter
 * writes them from it.
 *
 * On a GPU, rows that are read in the order of the batch arrive at the rate of address translation. Rows
 * that are read in the order of their addresses arrive at the rate of the link. So a batch is sorted by
 * address first, and a row that it names several times is read once. If the store is memory (host:, peer:), a
 * row that is not in the cache is read alone, without its page.
 *
 * From such stores gn_gather_rows and gn_gather_rows_on do not sort in three cases:
 *   - on the cpu machine, where a sort costs more than it saves
 *   - on a GPU, a batch of few rows, that is, if all of these hold: it has at most 65536 rows, or fewer than
 *     one for each 64 KiB of the array; a row has at most 4096 bytes and at most 1024 elements; the array is
 *     in direct mode, or its cache has a direct table and sectors
 *   - from a peer: store, in direct mode (peers, below)
 * The other forms, and all scatters, always sort. There are four forms:
 *
 *   gn_gather_rows(g, &array, &batch, &error)               the host: launches kernels, does not wait
 *   gn_gather_rows_on(g, stream, &array, &batch, &error)    the same on a stream, which may be in capture
 *   gn_gather_grid(&g_view, &array, &batch, shared)         in a kernel: all its blocks, which run at once
 *   gn_gather_block(&array, &batch, shared)                 in a kernel: one block, for thousands of rows
 *
 * and gn_scatter_rows, gn_scatter_grid, gn_scatter_block likewise. struct gn_batch
 * (detail/array/gather_sort.h) has four members: index, the numbers of the rows, uint64_t [count]; rows, room
 * for count packed rows, aligned to an element; count; and elements, of a row. The machine reaches index and
 * rows. All forms have these properties:
 *
 *   rows      row k of the batch is the elements from index[k] * elements on. A gather copies them to
 *             rows[k], a scatter copies rows[k] to them. If a row number is past the end, the array keeps
 *             -GN_ERANGE and the element; a gather sets that row to zero, a scatter drops it. If a row
 *             cannot be read or written, the array keeps -GN_EIO or -GN_ETIMEDOUT; a gather sets the missing
 *             part to zero. The other rows are not affected. Call gn_array_failure after simt_wait.
 *   repeats   a batch may name a row any number of times. A gather returns it each time. A scatter writes
 *             only the last of the rows with one number.
 *   cache     a batch uses the pages that are in frames. If the store is memory, a gather reads the other
 *             rows alone, and leaves the cache as it is. From any other store it fetches their pages. A GPU's
 *             batch of few rows (above) fetches them from memory, too, as scalar reads do, while the cache
 *             has free frames; later about one such batch in 16 does. So rows that are read often come into
 *             the cache. A scatter pins pages for writing, and so fetches absent ones.
 *   peers     from a peer: store, in direct mode, gn_gather_rows and gn_gather_rows_on do not sort. The GPUs
 *             that have the data gather rows of up to 32 bytes (8, if several GPUs have the data), if index
 *             and rows are memory of the workspace's own GPU by cudaMalloc, or pinned. Of such rows only
 *             their bytes cross the link; a load would move 32 bytes for each. The first such batch for each
 *             GPU opens that GPU, and must not be in a capture. If such a GPU fails at work, the next batch
 *             reports it. On cpu such a batch waits for the earlier launches of the stream, and for its own
 *             end.
 *   order     a batch counts as one scalar read or write for each element, by threads of the same kernel, in
 *             no fixed order. If another thread writes an element meanwhile, a gather has the old or the new
 *             value. This holds for elements of up to 8 bytes.
 *
 * Sources: the gain of the order is in docs/performance.md; the sort is that of D. E. Knuth,
 * The Art of Computer Programming 3, section 5.2.5, over blocks as in N. Satish and others, "Designing
 * efficient sorting algorithms for manycore GPUs" (2009).
 */
#ifndef GRAPNEL_ARRAY_GATHER_H
#define GRAPNEL_ARRAY_GATHER_H

#include <grapnel/array.h>
#if !defined(__CUDACC_RTC__) /* only the library's own kernel uses it */
#include <grapnel/detail/array/gather_few.h>
#endif
#include <grapnel/detail/array/gather_rows.h>

/*
 * Bytes of a block's shared memory that the device forms need, 16-byte aligned. The memory is free again
 * after the call.
 */
enum { GN_GATHER_SHARED = sizeof(struct gn__gather_shared) };

/* ---- checks ---- */

/* The number of a row and its place in the batch share the 63 bits of an entry that is sorted. */
SIMT_FN int gn__batch_fits(const struct gn_array *a, const struct gn_batch *batch)
{
	return gn__bits(a->count / batch->elements) + gn__bits(batch->count) <= 63;
}

/* The code for a batch that cannot be moved at all; 0 if it can. */
SIMT_FN int gn__batch_check(const struct gn_array *a, const struct gn_batch *batch, int is_scatter)
{
	if (!batch->elements || batch->elements > (1u << 30) >> a->element_log2)
		return -GN_EINVAL;
	if ((uintptr_t)batch->rows & ((1u << (a->element_log2 < 3 ? a->element_log2 : 3)) - 1))
		return -GN_EINVAL;
	return is_scatter && a->read_only ? -GN_EROFS : 0;
}

/* The same; the array keeps the code as well. */
SIMT_FN int gn__batch_refused(const struct gn_array *a, const struct gn_batch *batch, int is_scatter,
                              int fits)
{
	struct gn_store_status status = {0, 0};

	status.code = gn__batch_check(a, batch, is_scatter);
	if (!status.code && !fits)
		status.code = -GN_EFBIG;
	return status.code ? gn__fail(a, 0, status) : 0;
}

/* ---- a block ---- */

enum { GN__ROUND = GN__TILE / 2, GN__ROUND_BITS = 11 };

/* The job of one round: entries of the batch from `first` on; their places count from there. */
SIMT_FN void gn__round_begin(struct gn__gather_shared *s, const struct gn_array *a,
                             const struct gn_batch *batch, uint64_t first, int is_scatter)
{
	struct gn_batch round = *batch;

	round.index += first;
	round.rows = (char *)batch->rows + first * (batch->elements << a->element_log2);
	round.count = batch->count - first < GN__ROUND ? batch->count - first : (uint64_t)GN__ROUND;
	gn__job_begin(s, a, &round, is_scatter);
}

/* Sort the entries of a round in shared memory. Returns where they are. */
SIMT_FN const uint64_t *gn__round_sort(struct gn__gather_shared *s)
{
	const struct gn__job *j = &s->job;
	uint64_t *from = s->entry, *to = s->entry + GN__ROUND;

	if (simt_thread() == 0)
		s->next = 0;
	for (uint32_t k = simt_thread(); k < j->count; k += simt_block_threads())
		from[k] = gn__entry_of(j, k, 1);
	for (uint32_t pass = 0; pass < j->passes; pass++) {
		uint64_t *sorted = to;

		gn__tile_sort(s, from, (uint32_t)j->count, j->shift + 8 * pass, sorted);
		to = from;
		from = sorted;
	}
	simt_block_sync();
	return from;
}

SIMT_FN int gn__block_move(const struct gn_array *a, const struct gn_batch *batch, void *shared,
                           int is_scatter)
{
	struct gn__gather_shared *s = (struct gn__gather_shared *)shared;
	const uint32_t width = simt_warp_width(), warps = simt_block_threads() / width,
	               warp = simt_thread() / width;
	const int refused = gn__batch_refused(a, batch, is_scatter, a->count >> (63 - GN__ROUND_BITS) == 0);

	for (uint64_t first = 0; first < batch->count && !refused; first += GN__ROUND) {
		const uint64_t *entry;

		gn__round_begin(s, a, batch, first, is_scatter);
		entry = gn__round_sort(s);
		if (warp < warps)
			gn__move_rows(&s->job, entry, &s->next);
	}
	simt_block_sync();
	return refused;
}

/*
 * gn_gather_block - read a batch's rows with the threads of one block.
 * @a, @batch  the same values in every thread
 * @shared     GN_GATHER_SHARED bytes of the block's shared memory
 * Every thread of the block calls it, none from divergent code; the block has at least one whole warp. It
 * sorts 2048 rows at a time: if a longer batch names a row again later, the row is read again. Waits while
 * pages are fetched. After it the block sees the rows. Returns to every thread 0, even if rows failed (see
 * the top of this file), or a code for the batch, which the array keeps as well: -GN_EINVAL (rows of 0
 * elements or of more than 1 GiB; the memory of the rows is not aligned to an element, or to 8 bytes),
 * -GN_EFBIG (the array has 2^52 elements or more).
 */
SIMT_FN int gn_gather_block(const struct gn_array *a, const struct gn_batch *batch, void *shared)
{
	return gn__block_move(a, batch, shared, 0);
}

/*
 * gn_scatter_block - write a batch's rows with the threads of one block; as gn_gather_block. Returns also
 * -GN_EROFS. Blocks that write the same row at once race, as scalar writes do.
 */
SIMT_FN int gn_scatter_block(const struct gn_array *a, const struct gn_batch *batch, void *shared)
{
	return gn__block_move(a, batch, shared, 1);
}

/* ---- a grid ---- */

/*
 * gn__grid_sync - barrier of all blocks of the grid, which must all run at once. What any thread wrote before
 * it, every thread sees behind it: block_sync, then a chain of acq_rel adds, the release of the round and its
 * acquire.
 */
SIMT_FN void gn__grid_sync(uint32_t *barrier)
{
	simt_block_sync();
	if (simt_thread() == 0) {
		const uint32_t round = simt_load_acquire_dev_u32(&barrier[1]);

		if (simt_add_acq_rel_dev_u32(&barrier[0], 1) + 1 == simt_blocks()) {
			simt_store_relaxed_dev_u32(&barrier[0], 0);
			simt_store_release_dev_u32(&barrier[1], round + 1);
		}
		while (simt_load_acquire_dev_u32(&barrier[1]) == round)
			simt_relax();
	}
	simt_block_sync();
}

/* Sort a batch's entries with all blocks. Returns where they are. */
SIMT_FN const uint64_t *gn__grid_sort(const struct gn_gather_view *v, struct gn__gather_shared *s)
{
	const struct gn__part part = gn__part_of(s->job.count);
	uint64_t *from = v->entry[0], *to = v->entry[1];

	gn__part_load(s, &part, from, v->next);
	for (uint32_t pass = 0; pass < s->job.passes; pass++) {
		const uint32_t shift = s->job.shift + 8 * pass;
		uint64_t *sorted = to;

		gn__part_count(s, &part, from, shift, v->counts);
		gn__grid_sync(v->barrier);
		gn__part_sort(s, &part, from, shift, v->counts, sorted);
		gn__grid_sync(v->barrier);
		to = from;
		from = sorted;
	}
	gn__grid_sync(v->barrier);
	return from;
}

SIMT_FN int gn__grid_move(const struct gn_gather_view *v, const struct gn_array *a,
                          const struct gn_batch *batch, void *shared, int is_scatter)
{
	struct gn__gather_shared *s = (struct gn__gather_shared *)shared;
	const uint32_t width = simt_warp_width(), warps = simt_block_threads() / width,
	               warp = simt_thread() / width;
	const uint64_t *entry;
	const int fits = batch->count <= v->most && batch->elements && gn__batch_fits(a, batch);
	const int refused = gn__batch_refused(a, batch, is_scatter, fits);

	if (refused || !batch->count)
		return refused;
	gn__job_begin(s, a, batch, is_scatter);
	entry = gn__grid_sort(v, s);
	if (warp < warps)
		gn__move_rows(&s->job, entry, v->next);
	gn__grid_sync(v->barrier);
	return 0;
}

/*
 * gn_gather_grid - read a batch's rows with all threads of the grid.
 * @v       gn_gather_view_of the workspace, by value in the kernel's arguments; one batch at a time
 * @a, @batch  the same values in every thread
 * @shared  GN_GATHER_SHARED bytes of each block's shared memory
 * Every thread of the grid calls it, none from divergent code. All blocks must run at once, because they wait
 * for one another without a deadline: a grid with too many blocks never ends. A SIMT_KERNEL may have the
 * resident_threads of simt_describe; on cuda its shared memory may allow fewer. On cpu the random schedule
 * works, too. A block has at least one whole warp. When it returns every thread sees all rows. Returns as
 * gn_gather_block; -GN_EFBIG also if the batch has more rows than the workspace.
 */
SIMT_FN int gn_gather_grid(const struct gn_gather_view *v, const struct gn_array *a,
                           const struct gn_batch *batch, void *shared)
{
	return gn__grid_move(v, a, batch, shared, 0);
}

/*
 * gn_scatter_grid - write a batch's rows with all threads of the grid; as gn_gather_grid. Returns also
 * -GN_EROFS.
 */
SIMT_FN int gn_scatter_grid(const struct gn_gather_view *v, const struct gn_array *a,
                            const struct gn_batch *batch, void *shared)
{
	return gn__grid_move(v, a, batch, shared, 1);
}

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* ---- the host ---- */

struct gn_gather;

/*
 * gn_gather_create - memory for batches of one size on one machine.
 * @gather  receives it; owned, gn_gather_destroy before the machine is closed
 * @most    rows of a batch, 1 to 2^32 - 1; takes 16 bytes of the machine's memory for each, and 1 MiB
 * Loads the kernels, too, so that batches can be captured. Host. Returns 0, -GN_EINVAL, -GN_ENOMEM,
 * -GN_ENODEV (the library was not built for this device).
 */
int gn_gather_create(struct gn_gather **gather, struct simt_machine *machine, uint64_t most,
                     struct gn_error *error);

/* gn_gather_destroy - free the memory; NULL does nothing. Host, no kernel running that uses it. */
void gn_gather_destroy(struct gn_gather *gather);

/* gn_gather_view_of - the workspace for gn_gather_grid. A value, valid until destroy. Host. */
struct gn_gather_view gn_gather_view_of(const struct gn_gather *gather);

/*
 * gn_gather_rows - read the rows of a batch.
 * @array  of this machine; the handle is copied
 * @batch  copied; indices and rows are borrowed until the machine has done what was launched (simt_wait)
 * Launches kernels after all work that is already on the machine's own stream, and does NOT wait. It
 * allocates no memory. Batches of one workspace on one stream follow one another, so the next may be
 * launched at once. Host. Returns 0 (launched), -GN_EINVAL (elements, alignment of rows), -GN_EFBIG (more
 * rows than the workspace has memory for; or log2 of the array's rows and log2 of the batch's rows are more
 * than 63 together: take smaller batches), or the code of simt_launch.
 */
int gn_gather_rows(struct gn_gather *gather, const struct gn_array *array, const struct gn_batch *batch,
                   struct gn_error *error);

/* gn_scatter_rows - write the rows of a batch; as gn_gather_rows. Returns also -GN_EROFS. */
int gn_scatter_rows(struct gn_gather *gather, const struct gn_array *array, const struct gn_batch *batch,
                    struct gn_error *error);

/*
 * gn_gather_rows_on - gn_gather_rows on a stream, after all work that is already on it.
 * @stream  of the workspace's machine; a program's own cudaStream_t by simt_stream_adopt
 * @batch   copied; the kernels read its indices and read or write its rows later, so the memory of both must
 *          stay until these kernels have ended (simt_stream_wait)
 * A workspace serves one stream at a time, and this is not checked: two batches under way at once would sort
 * in the same memory. Give each stream a workspace, or order the streams by events.
 * The stream may be in capture: the batch becomes one kernel node, or three and more if it is sorted. Each
 * replay moves the rows that the indices name at that time. The number of rows, the addresses of indices and
 * rows and the handle of the array are those of the capture. Keep workspace, array, cache and store as long
 * as the graph. Replays at the same time need a workspace each. Host, one thread a stream at a time; waits
 * for nothing on cuda, on cpu for the stream's launches before. Returns as gn_gather_rows, and -GN_EINVAL if
 * the stream is another machine's; or the code of simt_launch_on. Rows that cannot be read are kept in the
 * array: gn_array_failure.
 */
int gn_gather_rows_on(struct gn_gather *gather, struct simt_stream *stream, const struct gn_array *array,
                      const struct gn_batch *batch, struct gn_error *error);

/* gn_scatter_rows_on - gn_scatter_rows on a stream; as gn_gather_rows_on. Returns also -GN_EROFS. */
int gn_scatter_rows_on(struct gn_gather *gather, struct simt_stream *stream, const struct gn_array *array,
                       const struct gn_batch *batch, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

#endif
