/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array/sample.h - how a launch is looked at: a sample of its accesses, kept by the threads that make them.
 *
 * An array whose `sample` is not NULL notes its accesses. The sample is one in space, not in time: a few regions of the
 * data, chosen by a hash, of which every access by any warp is kept in the order in which they came. So the bytes used of
 * each page, and what a cache of any size and any page size would have had to fetch, are what they are for all of the data,
 * only smaller (SHARDS, Waldspurger and others, FAST 2015). What is kept is a touch: the lanes of a warp that were together
 * in one line of 128 bytes. As the log fills, the hash's bound is halved and the host drops the touches of regions that fell
 * out, so that a log of fixed size sees a long launch to its end.
 *
 * While a paged array is looked at, a page is fetched only when what was read of it one by one has cost
 * as much; until then elements are read from the store's memory, and written there. Whatever the pattern is, the launch then
 * costs at most about twice what it had cost with the better of the two (the ski-rental argument), before anybody knows
 * which that is.
 */
#ifndef GRAPNEL_ARRAY_SAMPLE_H
#define GRAPNEL_ARRAY_SAMPLE_H

#include <grapnel/array/look.h>
#include <grapnel/array/view.h>
#include <grapnel/cache/element.h>

enum {
	GN_SAMPLE_REGION_LOG2 = 16, /* 64 KiB: the largest page that is judged */
	GN_SAMPLE_LINE_LOG2 = 7,
	GN_SAMPLE_SECTOR_LOG2 = 5,
	GN_SAMPLE_STRIPES = 64,
	GN_SAMPLE_BLOCK_LOG2 = 12 /* a page reference counts as so many bytes */
};

/* One touch, in one word: line of the store | 1 valid | write | sectors of the line, 4 bits | lanes - 1, 5 bits. */
static const uint64_t GN_TOUCH_VALID = 1ull << 10;
static const uint64_t GN_TOUCH_WRITE = 1ull << 9;
enum { GN_TOUCH_LINE_SHIFT = 11, GN_TOUCH_SECTOR_SHIFT = 5 };

/* What a launch leaves for the host. In device memory, made by gn_auto. */
struct gn_sample {
	uint32_t next;     /* touches noted, also such as found no room */
	uint32_t room;     /* of touch */
	uint32_t keep;     /* a region whose hash is below is looked at; halved as the log fills */
	uint32_t least;    /* keep does not go below */
	uint32_t stage;    /* touches between two halvings */
	uint32_t rent;     /* what a page may cost around the cache before it is fetched, in lines; 0: fetched at once */
	uint32_t once;     /* what one lane's element costs there, in lines */
	uint32_t miss_mask; /* size of misses, less one */
	uint64_t base;     /* byte of element 0 in the store */
	char *memory;      /* element 0, if the device can load it; else NULL */
	uint64_t *touch;   /* [room] */
	uint32_t *misses;  /* [miss_mask + 1] by hash of the page */
	uint64_t accesses[GN_SAMPLE_STRIPES][16]; /* [0]: elements read and written, all of them; a line each */
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
	const uint32_t keep = simt_load_relaxed_dev_u32(&s->keep) / 2;

	simt_store_relaxed_dev_u32(&s->keep, keep > s->least ? keep : s->least);
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
					   sectors << GN_TOUCH_SECTOR_SHIFT | (simt_popcount(same) - 1));
}

SIMT_FN void gn__sample_count(struct gn_sample *s, uint32_t lanes, uint32_t each)
{
	if (simt_lane() == simt_first_lane(lanes))
		simt_add_relaxed_dev_u64(&s->accesses[simt_processor() % GN_SAMPLE_STRIPES][0],
					 (uint64_t)simt_popcount(lanes) * each);
}

/* Note one access of each of these lanes. Collective. */
SIMT_FN void gn__sample_note(struct gn_sample *s, uint32_t lanes, uint64_t address, uint32_t write)
{
	const uint32_t keep = simt_load_relaxed_dev_u32(&s->keep);
	const int wanted = gn_sample_hash(address >> GN_SAMPLE_REGION_LOG2) < keep;
	const uint32_t those = simt_ballot(lanes, wanted);

	gn__sample_count(s, lanes, 1);
	if (wanted)
		gn__sample_line(s, those, address, write);
}

/*
 * Is the page still to be rented rather than bought? Collective over the lanes that miss; those that want the same page
 * pay together: many that read side by side a line, a few the price of going there. *alone: no other lane of these wants it.
 */
SIMT_FN int gn__sample_rents(struct gn_sample *s, uint32_t lanes, uint64_t page, int *alone)
{
	const uint32_t same = simt_match_any_u64(lanes, page);
	const uint32_t leader = simt_first_lane(same);
	uint32_t *misses = &s->misses[gn_sample_hash(page) & s->miss_mask];
	uint32_t seen = 0;

	if (simt_lane() == leader) {
		seen = simt_add_relaxed_dev_u32(misses, simt_popcount(same) < 8 ? s->once : 1);
		if (seen >= s->rent)
			simt_store_relaxed_dev_u32(misses, 0);
	}
	*alone = same == 1u << simt_lane();
	return simt_shfl_u32(same, seen, leader) < s->rent;
}

/* What the slow way decided: where to go around the cache, or NULL to go on through it. */
struct gn__around_way {
	char *memory;
	uint64_t *word; /* of a page that is to be written around: absent when it was looked at */
	uint64_t seen;
};

/* Is the page absent, and to be gone around? Collective over lanes; fills *way for those that go around. */
SIMT_FN void gn__sample_decide(const struct gn_array *a, uint32_t lanes, uint64_t at, uint32_t write,
			       struct gn__around_way *way)
{
	struct gn_sample *s = a->sample;
	const uint64_t page = (a->base + at) >> a->page_log2;
	const struct gn__glimpse g = gn__look(a, page);
	const int missing = !(g.seen & (GN_WORD_HELD | GN_WORD_BUSY)); /* what is being fetched is waited for */
	const uint32_t those = simt_ballot(lanes, missing);
	int alone = 0, rents = 0;

	if (missing)
		rents = gn__sample_rents(s, those, page, &alone);
	if (!rents || (write && (!alone || !a->word || g.seen & GN_WORD_USED)))
		return;
	way->memory = s->memory + at;
	way->word = (uint64_t *)(uintptr_t)g.word;
	way->seen = g.seen;
}

/*
 * Note an access; on a miss of a paged array decide whether it goes around. Collective by whoever is here together, and
 * they leave together: else lanes of one warp would reach the cache one after the other, and wait there for each other.
 */
SIMT_NOINLINE_FN struct gn__around_way gn__sample(const struct gn_array *a, uint64_t index, uint32_t write)
{
	struct gn_sample *s = a->sample;
	const uint64_t at = index << a->element_log2;
	const uint32_t lanes = simt_match_any_u64(simt_active(), (uint64_t)(uintptr_t)s); /* those of one array */
	struct gn__around_way way = {0, 0, 0};

	gn__sample_note(s, lanes, s->base + at, write);
	simt_warp_sync(lanes);
	if (!a->memory && s->rent && s->memory)
		gn__sample_decide(a, lanes, at, write, &way);
	simt_warp_sync(lanes);
	return way;
}

/*
 * Read an element around the cache, if the sample wants that. The page was absent after the access began, so the store
 * has every write before it. Returns 1 (*to is the element) or 0.
 */
SIMT_FN int gn__sampled_read(const struct gn_array *a, uint64_t index, void *to, uint32_t size)
{
	const struct gn__around_way way = SIMT_COLD(gn__sample)(a, index, 0);

	if (way.memory)
		gn__take_element(to, way.memory, size);
	return way.memory != 0;
}

/*
 * Write an element around the cache, if the sample wants that and the page can be held absent meanwhile, so that nobody
 * fetches it half-way. Returns 1 or 0.
 */
SIMT_FN int gn__sampled_write(const struct gn_array *a, uint64_t index, const void *from, uint32_t size)
{
	const struct gn__around_way way = gn__sample(a, index, 1);

	if (!way.memory || simt_cas_acq_rel_dev_u64(way.word, way.seen, way.seen | GN_WORD_BUSY) != way.seen)
		return 0;
	gn__put_element(way.memory, from, size);
	simt_store_release_dev_u64(way.word, way.seen);
	return 1;
}

/* Note a page reference: the block of the element, as a warp would read it. Collective over mask. */
SIMT_NOINLINE_FN void gn__sample_page(const struct gn_array *a, uint32_t mask, uint64_t index, uint32_t write)
{
	struct gn_sample *s = a->sample;
	const uint64_t block = (s->base + (index << a->element_log2)) >> GN_SAMPLE_BLOCK_LOG2 << GN_SAMPLE_BLOCK_LOG2;
	const uint64_t all = 15u << GN_TOUCH_SECTOR_SHIFT | 31u | GN_TOUCH_VALID | (write ? GN_TOUCH_WRITE : 0);

	if (simt_lane() != simt_first_lane(mask))
		return;
	simt_add_relaxed_dev_u64(&s->accesses[simt_processor() % GN_SAMPLE_STRIPES][0],
				 1u << GN_SAMPLE_BLOCK_LOG2 >> a->element_log2);
	if (gn_sample_hash(block >> GN_SAMPLE_REGION_LOG2) >= simt_load_relaxed_dev_u32(&s->keep))
		return;
	for (uint64_t at = 0; at < 1u << GN_SAMPLE_BLOCK_LOG2; at += 1u << GN_SAMPLE_LINE_LOG2)
		gn__sample_keep(s, (block + at) >> GN_SAMPLE_LINE_LOG2 << GN_TOUCH_LINE_SHIFT | all);
}

#endif
