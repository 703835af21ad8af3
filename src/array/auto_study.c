/* SPDX-License-Identifier: Apache-2.0 */
/* Making sense of the log that array/sample.h leaves. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

static uint64_t line_of(uint64_t touch)
{
	return touch >> GN_TOUCH_LINE_SHIFT;
}

static double elements_of(uint64_t touch)
{
	return (double)(touch & GN_TOUCH_ELEMENTS) + 1;
}

/* Only the touches of regions that were looked at to the end, in their order. */
static void sift(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	for (uint64_t k = 0; k < in->count; k++) {
		const uint64_t t = in->touch[k];

		if (!(t & GN_TOUCH_VALID) ||
		    gn_sample_hash(line_of(t) >> (GN_SAMPLE_REGION_LOG2 - GN_SAMPLE_LINE_LOG2)) >= in->keep)
			continue;
		in->touch[out->touches++] = t;
		out->lanes += elements_of(t);
		out->one_by_one += t & GN_TOUCH_HELD ? 0 : elements_of(t);
		out->held += (t & GN_TOUCH_HELD) != 0;
		out->batch += (t & GN_TOUCH_BATCH) != 0;
		out->sectors += __builtin_popcountll(t >> GN_TOUCH_SECTOR_SHIFT & 15);
		out->writes += (t & GN_TOUCH_WRITE) != 0;
	}
}

/* How many regions the array has, and how many of them were looked at. Counted where that is quick. */
static void count_regions(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	const uint64_t first = in->first_byte >> GN_SAMPLE_REGION_LOG2;
	const uint64_t end = ((in->first_byte + in->bytes - 1) >> GN_SAMPLE_REGION_LOG2) + 1;

	out->regions = end - first;
	if (out->regions > 1u << 20) {
		out->regions_kept = (uint64_t)((double)out->regions * (double)in->keep / 4294967296.0);
	} else {
		for (uint64_t r = first; r < end; r++)
			out->regions_kept += gn_sample_hash(r) < in->keep;
	}
	out->share = (double)out->regions_kept / (double)out->regions;
}

/* How much of the launch the log saw, if it ran full; what fits in it is not told by it. */
static void judge_coverage(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	const double expected = (double)in->accesses * out->share;

	out->covered = 1;
	if (in->noted > in->count && expected > 0 && out->lanes < expected)
		out->covered = out->lanes / expected;
}

enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS }; /* a line has 48 bits */

/* Put touches in the order of one digit of their lines, those of one digit as they were. */
static void sort_digit(const uint64_t *from, uint64_t count, unsigned shift, uint64_t *to)
{
	uint32_t place[DIGITS] = {0}, before = 0;

	for (uint64_t k = 0; k < count; k++)
		place[from[k] >> shift & (DIGITS - 1)]++;
	for (unsigned d = 0; d < DIGITS; d++) {
		const uint32_t many = place[d];

		place[d] = before;
		before += many;
	}
	for (uint64_t k = 0; k < count; k++)
		to[place[from[k] >> shift & (DIGITS - 1)]++] = from[k];
}

/*
 * Put touches in order of their lines. Digit by digit, as far as lines differ: the program waits, and a qsort took longer than
 * all the rest. @room  for as many
 */
static void sort_by_line(uint64_t *touch, uint64_t count, uint64_t *room)
{
	uint64_t differ = 0;

	for (uint64_t k = 0; k < count; k++)
		differ |= touch[k] ^ touch[0];
	for (unsigned shift = GN_TOUCH_LINE_SHIFT; shift < 64 && differ >> shift; shift += 2 * DIGIT_BITS) {
		sort_digit(touch, count, shift, room);
		sort_digit(room, count, shift + DIGIT_BITS, touch);
	}
}

/* Distinct sectors beside distinct lines and pages, from the touches in order of address. */
static void count_use(const uint64_t *sorted, uint64_t count, struct gn_auto_study *out)
{
	double sectors = 0, pages[GN_AUTO_PAGE_SIZES] = {0};
	uint64_t k = 0, last = UINT64_MAX;

	while (k < count) {
		const uint64_t line = line_of(sorted[k]);
		unsigned mask = 0;

		for (; k < count && line_of(sorted[k]) == line; k++)
			mask |= (unsigned)(sorted[k] >> GN_TOUCH_SECTOR_SHIFT) & 15;
		sectors += __builtin_popcount(mask);
		for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++) {
			const uint64_t lines_of_page = gn_auto_page_bytes[p] >> GN_SAMPLE_LINE_LOG2;

			pages[p] += last == UINT64_MAX || line / lines_of_page != last / lines_of_page;
		}
		last = line;
	}
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		out->paged[p].used = pages[p] > 0 ? 32 * sectors / (pages[p] * gn_auto_page_bytes[p]) : 0;
}

/* Leaves the touches in order of address. */
static int judge_use(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	uint64_t *room = (uint64_t *)malloc((out->touches + 1) * sizeof *room);

	if (!room)
		return -GN_ENOMEM;
	sort_by_line(in->touch, out->touches, room);
	count_use(in->touch, out->touches, out);
	free(room);
	return 0;
}

/* A run by reference takes a pin where it begins, and one for each further page. */
static void count_pins(const uint64_t *touch, struct gn_auto_study *out)
{
	for (uint64_t k = 0; k < out->touches; k++)
		for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES && touch[k] & GN_TOUCH_HELD; p++)
			out->paged[p].pins += touch[k] & GN_TOUCH_BEGIN ||
					      line_of(touch[k]) % (gn_auto_page_bytes[p] >> GN_SAMPLE_LINE_LOG2) == 0;
}

/* A cache that holds the whole array holds the whole sample; one that is smaller holds its share. */
static uint64_t capacity_for(const struct gn_auto_study *s, const struct gn_auto_study_input *in, uint64_t bytes,
			     uint32_t unit_log2)
{
	const double pages = (double)bytes / (double)(1ull << unit_log2) * s->share;

	if (bytes >= in->bytes + 2 * ((uint64_t)1 << unit_log2))
		return s->touches + 1;
	return pages < 1 ? 1 : (uint64_t)(pages + 0.5);
}

/* Some touches, and how an LRU cache would take them. */
struct trace {
	const uint64_t *touch;
	uint64_t count;
};

/*
 * Where the log ran full it holds the beginning of a launch, and what a second launch finds is what the end of the first
 * left: unless all of a launch's pages fit, nothing of its beginning.
 */
static int judge(const struct gn_auto_study_input *in, const struct gn_auto_study *s, struct trace trace, uint64_t bytes,
		 uint32_t unit_log2, uint64_t around, struct gn_auto_paged *out)
{
	const uint64_t capacity = capacity_for(s, in, bytes, unit_log2);
	int rc = gn__auto_replay(trace.touch, trace.count, unit_log2, capacity, around, out);

	if (s->covered < 1 && out->first / s->covered > (double)capacity) {
		out->second = out->first;
		out->second_alone = out->first_alone;
		out->second_around = out->first_around;
	}
	return rc;
}

static int judge_pages(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	const struct trace all = {in->touch, out->touches};
	struct gn_auto_paged line;
	int rc;

	memset(&line, 0, sizeof line);
	rc = judge(in, out, all, in->near_bytes, GN_SAMPLE_LINE_LOG2, 0, &line);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES && !rc; p++)
		rc = judge(in, out, all, in->cache_bytes, (uint32_t)__builtin_ctz(gn_auto_page_bytes[p]),
			   in->has_memory ? GN_TOUCH_BATCH : 0, &out->paged[p]);
	out->line_first = line.first;
	out->line_second = line.second;
	return rc;
}

/* The touches that are rows of batches, or those that are not. Returns how many. */
static uint64_t pick(const struct gn_auto_study_input *in, uint64_t count, int batch, uint64_t *to)
{
	uint64_t n = 0;

	for (uint64_t k = 0; k < count; k++)
		if (!(in->touch[k] & GN_TOUCH_BATCH) == !batch)
			to[n++] = in->touch[k];
	return n;
}

/*
 * What is out of the reach of translation, as it came. What the processors' own caches have is not translated. @touch room
 * for three times the touches
 */
static int judge_scattered(const struct gn_auto_study_input *in, struct gn_auto_study *out, uint64_t *touch)
{
	const uint64_t count = pick(in, out->touches, 0, touch), room = out->touches;
	uint64_t *const missed[2] = {touch + room, touch + 2 * room};
	struct gn_auto_paged reach[2];
	uint64_t counts[2];
	int rc = gn__auto_missed(touch, count, GN_SAMPLE_LINE_LOG2,
				 capacity_for(out, in, in->near_bytes, GN_SAMPLE_LINE_LOG2), missed, counts);

	memset(reach, 0, sizeof reach);
	for (int pass = 0; pass < 2 && !rc; pass++) {
		const struct trace some = {missed[pass], counts[pass]};

		rc = judge(in, out, some, in->reach_bytes, GN_SAMPLE_REGION_LOG2, 0, &reach[pass]);
	}
	out->lost_first = reach[0].first;
	out->lost_second = reach[1].second;
	return rc;
}

/* The same of rows of batches, in order of address. @touch  as before */
static int judge_batches(const struct gn_auto_study_input *in, struct gn_auto_study *out, uint64_t *touch)
{
	const struct trace some = {touch, pick(in, out->touches, 1, touch)};
	struct gn_auto_paged reach;
	int rc;

	memset(&reach, 0, sizeof reach);
	sort_by_line(touch, some.count, touch + out->touches);
	rc = judge(in, out, some, in->reach_bytes, GN_SAMPLE_REGION_LOG2, 0, &reach);
	out->batch_lost_first = reach.first;
	out->batch_lost_second = reach.second;
	return rc;
}

static int judge_reach(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	uint64_t *touch = (uint64_t *)malloc((3 * out->touches + 1) * sizeof *touch);
	int rc = touch ? judge_scattered(in, out, touch) : -GN_ENOMEM;

	if (!rc)
		rc = judge_batches(in, out, touch);
	free(touch);
	return rc;
}

int gn__auto_study(const struct gn_auto_study_input *in, struct gn_auto_study *out)
{
	int rc;

	memset(out, 0, sizeof *out);
	out->noted = in->noted;
	out->accesses = in->accesses;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		out->again[p] = -1;
	sift(in, out);
	out->line_use = out->touches ? out->lanes * in->element_bytes / (128 * (double)out->touches) : 0;
	out->line_use = out->line_use > 1 ? 1 : out->line_use;
	count_regions(in, out);
	judge_coverage(in, out);
	count_pins(in->touch, out);
	rc = judge_pages(in, out);
	if (!rc)
		rc = judge_reach(in, out);
	return rc ? rc : judge_use(in, out);
}
