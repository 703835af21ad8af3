/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/array/sample.h - how a launch is looked at: a sample of its accesses, kept by the threads that make
 * them.
 *
 * An array whose `sample` is not NULL notes its accesses, and makes them as it always does. The sample is one
 * in space, not in time: a few regions of the data, chosen by a hash, of which every access by any warp is
 * kept in the order in which they came. So what a cache of any size and any page size would have had to fetch
 * is what it is for all of the data, only smaller (SHARDS, Waldspurger and others, FAST 2015). What is kept
 * is a touch: what the lanes of a warp that were together wanted of one line of 128 bytes. As the log fills,
 * the hash's bound is halved and the host drops the touches of regions that fell out, so that a log of fixed
 * size sees a long launch to its end.
 *
 * What is reached by reference or in a batch is noted as the run of elements that was asked for, line by
 * line.
 */
#ifndef GRAPNEL_ARRAY_SAMPLE_H
#define GRAPNEL_ARRAY_SAMPLE_H

#include <grapnel/detail/array/view.h>

enum {
	GN__SAMPLE_REGION_LOG2 = 16, /* 64 KiB: the largest page that is judged */
	GN__SAMPLE_LINE_LOG2 = 7,
	GN__SAMPLE_BLOCK_LOG2 = 12 /* a direct array that is looked at gives runs of so many bytes */
};

/* One touch, in one word: line of the store | kind | its elements - 1, 7 bits. */
enum { GN__TOUCH_LINE_SHIFT = 16, GN__TOUCH_ELEMENTS = 127 };
static const uint64_t GN__TOUCH_WRITE = 1ull << 7;
static const uint64_t GN__TOUCH_BATCH = 1ull << 8; /* of a row of a batch */

/*
 * What a launch leaves for the host. In device memory, made by gn_auto. What every access reads is on one
 * line, and hardly changes.
 */
struct gn__samples {
	uint64_t base;   /* byte of element 0 in the store */
	uint64_t *touch; /* [room] */
	uint64_t keep;   /* a region whose hash is below is looked at; halved as the log fills */
	uint64_t least;  /* keep does not go below */
	uint32_t room;   /* of touch */
	uint32_t stage;  /* touches between two halvings */
	uint32_t pad[22];
	uint32_t next; /* touches noted, also such as found no room */
	uint32_t pad_next[31];
};

/* gn__sample_hash - of a region's number; the host asks too. Any thread. */
SIMT_FN uint32_t gn__sample_hash(uint64_t region)
{
	uint64_t x = (region + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(x >> 32);
}

/* Keep a touch; as the log is a stage fuller, look at half as many regions. */
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
 * Is the region of this byte looked at? Few are: most need not ask the device's cache how many it is by now.
 */
SIMT_FN int gn__sample_wants(struct gn__samples *s, uint64_t address)
{
	const uint32_t hash = gn__sample_hash(address >> GN__SAMPLE_REGION_LOG2);

	return hash < simt_load_old_u64(&s->keep) && hash < simt_load_relaxed_dev_u64(&s->keep);
}

/* Does a launch that is looked at note accesses of this element? */
SIMT_FN int gn__sample_notes(const struct gn_array *a, uint64_t index)
{
	return gn__sample_wants(a->sample, a->sample->base + (index << a->element_log2));
}

/*
 * Note an access: the lanes that are together in a line leave one touch. Together with whoever is here, and
 * they leave together: what follows is done by whole warps. All exchanges are between all of these lanes.
 */
SIMT_NOINLINE_FN void gn__sample(const struct gn_array *a, uint64_t index, uint32_t write)
{
	struct gn__samples *s = a->sample;
	const uint64_t address = s->base + (index << a->element_log2), line = address >> GN__SAMPLE_LINE_LOG2;
	const uint32_t here = simt_active();
	const int wanted = gn__sample_wants(s, address);
	const uint32_t those = simt_ballot(here, wanted);

	if (those) {
		/* those of one array */
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
 * Note a run of elements that is reached as one: its lines, shared out among the lanes that call this for it.
 * @rank, @lanes  which of how many they are; @kind  GN__TOUCH_WRITE, GN__TOUCH_BATCH. Divergent code.
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
