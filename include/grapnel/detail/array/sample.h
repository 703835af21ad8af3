/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/sample.h - a sample of a launch's accesses, noted by the threads that make them.
 *
 * If the `sample` of an array is not NULL, accesses are noted and then made as always. The sample is taken in
 * space, not in time: a hash chooses a few regions of the data, and every access by any warp to these regions
 * is noted, in order. So the misses of a cache of any size and page size can be computed from the sample, as
 * a fraction of those for all data (SHARDS, Waldspurger and others, FAST 2015). A note is a touch: what the
 * active lanes of a warp wanted of one line of 128 bytes. When the log has filled by a stage, the bound of
 * the hash is halved, and the host drops the touches of regions that are no longer in the sample. So a log of
 * fixed size lasts to the end of a long launch.
 *
 * An access by reference or in a batch is noted as the run of elements that was asked for, line by line.
 */
#ifndef GRAPNEL_ARRAY_SAMPLE_H
#define GRAPNEL_ARRAY_SAMPLE_H

#include <grapnel/detail/array/view.h>

enum {
	GN__SAMPLE_REGION_LOG2 = 16, /* 64 KiB: the largest page that is judged */
	GN__SAMPLE_LINE_LOG2 = 7,
	GN__SAMPLE_BLOCK_LOG2 = 12 /* a direct array with a sample gives runs of 4 KiB */
};

/* A touch is one word: number of the line in the store | kind | number of elements - 1, 7 bits. */
enum { GN__TOUCH_LINE_SHIFT = 16, GN__TOUCH_ELEMENTS = 127 };
static const uint64_t GN__TOUCH_WRITE = 1ull << 7;
static const uint64_t GN__TOUCH_BATCH = 1ull << 8; /* of a row of a batch */

/*
 * The sample of a launch. In device memory, made by gn_auto, read by the host after the launch. The members
 * that every access reads are on one line, which rarely changes.
 */
struct gn__samples {
	uint64_t base;   /* byte of element 0 in the store */
	uint64_t *touch; /* [room] */
	uint64_t keep;   /* a region is in the sample if its hash is below; halved as the log fills */
	uint64_t least;  /* lower bound of keep */
	uint32_t room;   /* of touch */
	uint32_t stage;  /* touches between two halvings */
	uint32_t pad[22];
	uint32_t next; /* touches noted, and touches for which there was no room */
	uint32_t pad_next[31];
};

/* gn__sample_hash - the hash of a region's number. Any thread; the host uses it, too. */
SIMT_FN uint32_t gn__sample_hash(uint64_t region)
{
	uint64_t x = (region + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(x >> 32);
}

/* Append a touch to the log. The last touch of a stage halves the number of regions in the sample. */
SIMT_FN void gn__sample_keep(struct gn__samples *s, uint64_t touch)
{
	const uint32_t ticket = simt_add_relaxed_dev_u32(&s->next, 1);
	const uint64_t half = simt_load_relaxed_dev_u64(&s->keep) / 2;

	if (ticket < s->room)
		simt_store_relaxed_dev_u64(&s->touch[ticket], touch);
	if (ticket % s->stage == s->stage - 1)
		simt_store_relaxed_dev_u64(&s->keep, half > s->least ? half : s->least);
}

/*
 * Is the region of this byte in the sample? The first load of keep may come from the processor's own cache
 * and be too large, so it is loaded again. Most regions are refused by the first load.
 */
SIMT_FN int gn__sample_wants(struct gn__samples *s, uint64_t address)
{
	const uint32_t hash = gn__sample_hash(address >> GN__SAMPLE_REGION_LOG2);

	return hash < simt_load_old_u64(&s->keep) && hash < simt_load_relaxed_dev_u64(&s->keep);
}

/* Are accesses to this element noted? The array has a sample. */
SIMT_FN int gn__sample_notes(const struct gn_array *a, uint64_t index)
{
	return gn__sample_wants(a->sample, a->sample->base + (index << a->element_log2));
}

/*
 * Note an access: the active lanes that want elements of one line make one touch. All exchanges are among all
 * active lanes. They leave together, because the access that follows is made by whole warps.
 */
SIMT_NOINLINE_FN void gn__sample(const struct gn_array *a, uint64_t index, uint32_t write)
{
	struct gn__samples *s = a->sample;
	const uint64_t address = s->base + (index << a->element_log2), line = address >> GN__SAMPLE_LINE_LOG2;
	const uint32_t here = simt_active();
	const int wanted = gn__sample_wants(s, address);
	const uint32_t those = simt_ballot(here, wanted);

	if (those) {
		/* the lanes that use the same array */
		const uint32_t together = simt_match_any_u64(here, (uint64_t)(uintptr_t)s);
		const uint32_t same = simt_match_any_u64(here, line << 1 | (write != 0)) & together & those;

		if (wanted && simt_lane() == simt_first_lane(same))
			gn__sample_keep(s, line << GN__TOUCH_LINE_SHIFT | (write ? GN__TOUCH_WRITE : 0) |
			                       (simt_popcount(same) - 1));
	}
	simt_warp_sync(here);
}

/* ---- runs: page references, loops over pages, rows of batches ---- */

/*
 * Note a run of elements, one touch for each line. The lanes that have the run together share the lines. May
 * be called from divergent code.
 * @rank   the caller's number among these lanes, from 0
 * @lanes  the number of these lanes
 * @kind   GN__TOUCH_WRITE, GN__TOUCH_BATCH, both or 0
 */
SIMT_NOINLINE_FN void gn__sample_run(const struct gn_array *a, uint32_t rank, uint32_t lanes, uint64_t first,
                                     uint64_t count, uint64_t kind)
{
	struct gn__samples *s = a->sample;
	const uint64_t line = 1u << GN__SAMPLE_LINE_LOG2, begin = s->base + (first << a->element_log2);
	const uint64_t end = begin + (count << a->element_log2), start = begin & ~(line - 1);

	for (uint64_t at = start + rank * line; at < end; at += lanes * line) {
		const uint64_t from = at < begin ? begin : at, to = at + line < end ? at + line : end;

		if (gn__sample_wants(s, at))
			gn__sample_keep(s, at >> GN__SAMPLE_LINE_LOG2 << GN__TOUCH_LINE_SHIFT | kind |
			                       (((to - from) >> a->element_log2) - 1));
	}
}

#endif
