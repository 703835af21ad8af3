/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/sample.h - how a launch is looked at: a sample of its accesses, kept by the threads that make them.
 *
 * An array whose `sample` is not NULL notes its accesses. The sample is one in space, not in time: a few regions of the
 * data, chosen by a hash, of which every access by any warp is kept in the order in which they came. So the bytes used of
 * each page, and what a cache of any size and any page size would have had to fetch, are what they are for all of the data,
 * only smaller (SHARDS, Waldspurger and others, FAST 2015). What is kept is a touch: what the lanes of a warp that were together
 * wanted of one line of 128 bytes. As the log fills, the hash's bound is halved and the host drops the touches of regions that fell
 * out, so that a log of fixed size sees a long launch to its end.
 *
 * What is reached by reference or in a batch is noted as the run of elements that was asked for, line by line.
 * array/rent.h says how elements are read meanwhile.
 */
#ifndef GRAPNEL_ARRAY_SAMPLE_H
#define GRAPNEL_ARRAY_SAMPLE_H

#include <grapnel/array/view.h>

enum {
	GN_SAMPLE_REGION_LOG2 = 16, /* 64 KiB: the largest page that is judged */
	GN_SAMPLE_LINE_LOG2 = 7,
	GN_SAMPLE_SECTOR_LOG2 = 5,
	GN_SAMPLE_LINE_BITS = 10, /* lines of the largest page, and one more */
	GN_SAMPLE_STRIPES = 64,
	GN_SAMPLE_BLOCK_LOG2 = 12 /* a direct array that is looked at gives runs of so many bytes */
};

/* One touch, in one word: line of the store | kind | sectors of the line, 4 bits | its elements - 1, 7 bits. */
enum { GN_TOUCH_LINE_SHIFT = 16, GN_TOUCH_SECTOR_SHIFT = 7, GN_TOUCH_ELEMENTS = 127 };
static const uint64_t GN_TOUCH_VALID = 1ull << 11;
static const uint64_t GN_TOUCH_WRITE = 1ull << 12;
static const uint64_t GN_TOUCH_HELD = 1ull << 13;  /* reached through a page that is held, not looked up one by one */
static const uint64_t GN_TOUCH_BEGIN = 1ull << 14; /* the first of such a run */
static const uint64_t GN_TOUCH_BATCH = 1ull << 15; /* of a row of a batch */

/* What the processors that share it count; a line each. */
struct gn_sample_stripe {
	uint64_t accesses; /* elements read and written, all of them */
	uint64_t purse;    /* signed, in lines: what pages may still be fetched for (array/rent.h) */
	uint64_t pad[14];
};

/* What a launch leaves for the host. In device memory, made by gn_auto. What every access reads is on one line, and hardly changes. */
struct gn_sample {
	uint64_t base;     /* byte of element 0 in the store */
	char *memory;      /* element 0, if the device can load it; else NULL */
	uint64_t *touch;   /* [room] */
	uint32_t *rents;   /* [rents_mask + 1] by hash of the page: what it has cost around the cache (array/rent.h) */
	uint32_t rents_mask; /* size of rents, less one */
	uint32_t rent;     /* what a page may cost around the cache before it is fetched, in lines; 0: fetched at once */
	uint32_t once;     /* what one lane's element costs there, in lines */
	uint32_t room;     /* of touch */
	uint64_t keep;     /* a region whose hash is below is looked at; halved as the log fills */
	uint64_t least;    /* keep does not go below */
	uint32_t stage;    /* touches between two halvings */
	uint32_t pad[15];
	uint32_t next;     /* touches noted, also such as found no room */
	uint32_t pad_next[31];
	struct gn_sample_stripe stripe[GN_SAMPLE_STRIPES];
};

/* gn_sample_hash - of a region's number; the host asks too. Any thread. */
SIMT_FN uint32_t gn_sample_hash(uint64_t region)
{
	uint64_t x = (region + 1) * 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93ull;
	return (uint32_t)(x >> 32);
}

/* The log is a stage fuller: look at half as many regions. */
SIMT_FN void gn__sample_thin(struct gn_sample *s)
{
	const uint64_t keep = simt_load_relaxed_dev_u64(&s->keep) / 2;

	simt_store_relaxed_dev_u64(&s->keep, keep > s->least ? keep : s->least);
}

SIMT_FN void gn__sample_keep(struct gn_sample *s, uint64_t touch)
{
	const uint32_t ticket = simt_add_relaxed_dev_u32(&s->next, 1);

	if (ticket < s->room)
		simt_store_relaxed_dev_u64(&s->touch[ticket], touch);
	if (ticket % s->stage == s->stage - 1)
		gn__sample_thin(s);
}

/* The lanes that are together in a line leave one touch. Divergent code: each line's lanes on their own. */
SIMT_FN void gn__sample_line(struct gn_sample *s, uint32_t lanes, uint64_t address, uint32_t write)
{
	const uint64_t line = address >> GN_SAMPLE_LINE_LOG2;
	const uint32_t mine = (uint32_t)(address >> GN_SAMPLE_SECTOR_LOG2) & 3;
	const uint32_t same = simt_match_any_u64(lanes, line);
	uint32_t sectors = 0;

	for (uint32_t k = 0; k < 4; k++)
		sectors |= (simt_ballot(same, mine == k) ? 1u : 0u) << k;
	if (simt_lane() == simt_first_lane(same))
		gn__sample_keep(s, line << GN_TOUCH_LINE_SHIFT | GN_TOUCH_VALID | (write ? GN_TOUCH_WRITE : 0) |
					   (uint64_t)sectors << GN_TOUCH_SECTOR_SHIFT | (simt_popcount(same) - 1));
}

SIMT_FN struct gn_sample_stripe *gn__sample_stripe(struct gn_sample *s)
{
	return &s->stripe[simt_processor() % GN_SAMPLE_STRIPES];
}

SIMT_FN void gn__sample_count(struct gn_sample *s, uint32_t lanes, uint32_t each)
{
	if (simt_lane() == simt_first_lane(lanes))
		simt_reduce_add_relaxed_dev_u64(&gn__sample_stripe(s)->accesses, (uint64_t)simt_popcount(lanes) * each);
}

/* Is the region of this byte looked at? Few are: most need not ask the device's cache how many it is by now. */
SIMT_FN int gn__sample_wants(struct gn_sample *s, uint64_t address)
{
	const uint32_t hash = gn_sample_hash(address >> GN_SAMPLE_REGION_LOG2);

	return hash < simt_load_old_u64(&s->keep) && hash < simt_load_relaxed_dev_u64(&s->keep);
}

/* Note one access of each of these lanes. Collective. */
SIMT_FN void gn__sample_note(struct gn_sample *s, uint32_t lanes, uint64_t address, uint32_t write)
{
	const int wanted = gn__sample_wants(s, address);
	const uint32_t those = simt_ballot(lanes, wanted);

	gn__sample_count(s, lanes, 1);
	if (wanted)
		gn__sample_line(s, those, address, write);
}

/* ---- runs: page references, loops over pages, rows of batches ---- */

/* The sectors of a line that bytes begin to end - 1 of it reach. */
SIMT_FN uint64_t gn__sample_sectors(uint32_t begin, uint32_t end)
{
	const uint32_t first = begin >> GN_SAMPLE_SECTOR_LOG2, last = (end - 1) >> GN_SAMPLE_SECTOR_LOG2;

	return (uint64_t)((2u << last) - (1u << first)) << GN_TOUCH_SECTOR_SHIFT;
}

/* Bytes begin to end - 1 of the store, in one line. */
SIMT_FN void gn__sample_part(struct gn_sample *s, uint64_t begin, uint64_t end, uint32_t element_log2, uint64_t kind)
{
	const uint64_t line = begin >> GN_SAMPLE_LINE_LOG2, start = line << GN_SAMPLE_LINE_LOG2;

	gn__sample_keep(s, line << GN_TOUCH_LINE_SHIFT | GN_TOUCH_VALID | kind |
				   gn__sample_sectors((uint32_t)(begin - start), (uint32_t)(end - start)) |
				   (((end - begin) >> element_log2) - 1));
}

/*
 * Note a run of elements that is reached as one: its lines, shared out among the lanes that call this for it.
 * @rank, @lanes  which of how many they are; @kind  GN_TOUCH_WRITE, GN_TOUCH_BATCH. Divergent code.
 */
SIMT_NOINLINE_FN void gn__sample_run(const struct gn_array *a, uint32_t rank, uint32_t lanes, uint64_t first,
				     uint64_t count, uint64_t kind)
{
	struct gn_sample *s = a->sample;
	const uint64_t line = 1u << GN_SAMPLE_LINE_LOG2, begin = s->base + (first << a->element_log2);
	const uint64_t end = begin + (count << a->element_log2), start = begin & ~(line - 1);

	if (!rank)
		simt_reduce_add_relaxed_dev_u64(&gn__sample_stripe(s)->accesses, count);
	for (uint64_t at = start + rank * line; at < end; at += lanes * line)
		if (gn__sample_wants(s, at))
			gn__sample_part(s, at < begin ? begin : at, at + line < end ? at + line : end, a->element_log2,
					kind | GN_TOUCH_HELD | (at == start ? GN_TOUCH_BEGIN : 0));
}

#endif
