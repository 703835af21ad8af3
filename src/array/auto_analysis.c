/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auto_analysis.c - analyses the log of detail/array/sample.h: what each choice would move, and which choice
 * moves least.
 */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

/*
 * Costs besides the lines of 128 bytes that a choice moves, in such lines. Both are estimates (docs/auto.md):
 * of a page that is given a frame; of a command of a block store, which costs the same for all pages up to 4
 * KiB.
 */
static const double FRAME_LINES = 0.3;
static const double COMMAND_LINES = 32;

static const double LARGER_PAGE = 0.99;

/* Batches must move less by this factor to be advised, because sorting is work, too. */
static const double BATCHES_LESS = 1.5;
enum {
	TRANSLATED_LESS = 2,
	LINES_A_TRANSLATION = 8, /* with more lines for each missed translation, the link is the limit */
	WARP = 8                 /* warps of fewer lanes do not differ between adjacent and single lanes */
};

/* Copy the touches of regions that were in the sample to the end, in order. Returns their number. */
static uint64_t sift(const struct gn_auto_log *log, uint64_t keep, uint64_t *to)
{
	const uint32_t shift = GN__TOUCH_LINE_SHIFT + GN__SAMPLE_REGION_LOG2 - GN__SAMPLE_LINE_LOG2;
	uint64_t n = 0;

	for (uint64_t k = 0; k < log->count; k++)
		if (gn__sample_hash(log->touch[k] >> shift) < keep)
			to[n++] = log->touch[k];
	return n;
}

static void count(const struct gn_auto_trace *t, struct gn_auto_analysis *out)
{
	out->before = t->from;
	out->touches = t->count - t->from;
	for (uint64_t k = t->from; k < t->count; k++) {
		out->elements += (t->touch[k] & GN__TOUCH_ELEMENTS) + 1;
		out->writes += (t->touch[k] & GN__TOUCH_WRITE) != 0;
		out->batch += (t->touch[k] & GN__TOUCH_BATCH) != 0;
	}
}

/* A touch: its line, and its place in the log. */
struct placed {
	uint64_t line, place;
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = (const struct placed *)a, *y = (const struct placed *)b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/*
 * Count the touches of lines that are wanted during more than half of the launch. A line that a lane walks is
 * wanted for a short time.
 */
static int count_lasting(const struct gn_auto_trace *t, struct gn_auto_analysis *out)
{
	const uint64_t n = t->count - t->from;
	struct placed *placed = (struct placed *)malloc((n + 1) * sizeof *placed);
	uint64_t first = 0;

	if (!placed)
		return -GN_ENOMEM;
	for (uint64_t k = 0; k < n; k++) {
		placed[k].line = t->touch[t->from + k] >> GN__TOUCH_LINE_SHIFT;
		placed[k].place = k;
	}
	qsort(placed, n, sizeof *placed, compare_placed);
	for (uint64_t k = 1; k <= n; k++) {
		if (k < n && placed[k].line == placed[first].line)
			continue;
		if (placed[k - 1].place - placed[first].place > n / 2)
			out->lasting += k - first;
		first = k;
	}
	free(placed);
	return 0;
}

/* Count the array's regions, and those in the sample; of a large array the second number is estimated. */
static void count_regions(const struct gn_auto_setup *setup, uint64_t keep, struct gn_auto_analysis *out)
{
	const uint64_t first = setup->first_byte >> GN__SAMPLE_REGION_LOG2;
	const uint64_t end = ((setup->first_byte + setup->bytes - 1) >> GN__SAMPLE_REGION_LOG2) + 1;

	out->regions = end - first;
	if (out->regions > 1u << 20)
		out->regions_kept = (uint64_t)((double)out->regions * (double)keep / 4294967296.0);
	else
		for (uint64_t r = first; r < end; r++)
			out->regions_kept += gn__sample_hash(r) < keep;
}

/* The part of the launch that the log holds. Touches without room are of regions in the sample to the end. */
static double coverage(const struct gn_auto_log *log, const struct gn_auto_log *before, uint64_t touches)
{
	const double all = (double)touches + (double)(log->noted - log->count);
	const double covered = all > 0 ? (double)touches / all : 1;

	return before->count && before->covered < covered ? before->covered : covered;
}

/*
 * The model's pages: a cache that holds the whole array holds the whole sample; a smaller one holds its
 * share.
 */
static uint64_t capacity(const struct gn_auto_setup *setup, const struct gn_auto_analysis *s, uint64_t bytes,
                         uint32_t page_log2)
{
	const double pages =
	    (double)bytes / (double)(1ull << page_log2) * (double)s->regions_kept / (double)s->regions;

	if (bytes >= setup->bytes + (2ull << page_log2))
		return UINT64_MAX;
	return (uint64_t)(pages + 0.5);
}

static struct gn_auto_model model_of(const struct gn_auto_setup *setup, const struct gn_auto_analysis *s,
                                     int choice)
{
	struct gn_auto_model m;

	memset(&m, 0, sizeof m);
	m.bypasses = setup->has_memory;
	m.page_log2 = m.sector_log2 = GN__SAMPLE_LINE_LOG2;
	if (choice == GN_AUTO_DIRECT) {
		m.bypasses = 0;
		m.covering = 1;
		m.capacity = capacity(setup, s, setup->near_bytes, m.page_log2);
		return m;
	}
	m.page_log2 = (uint32_t)__builtin_ctz(gn_auto_page_bytes[choice]);
	m.sector_log2 = m.page_log2 - 5 > m.sector_log2 ? m.page_log2 - 5 : m.sector_log2;
	m.sector_log2 = setup->block_log2 > m.sector_log2 ? setup->block_log2 : m.sector_log2;
	m.covering = m.sector_log2 == GN__SAMPLE_LINE_LOG2
	                 ? (1u << GN__SAMPLE_LINE_LOG2) / setup->element_bytes
	                 : UINT32_MAX;
	m.capacity = capacity(setup, s, setup->cache_bytes, m.page_log2);
	return m;
}

static double lines_of(const struct gn_auto_setup *setup, const struct gn_auto_model *m,
                       const struct gn_auto_moved *w, int choice)
{
	const double sectors = (double)(w->sectors + w->dirtied);
	double lines =
	    sectors * (double)(1u << (m->sector_log2 - GN__SAMPLE_LINE_LOG2)) + (double)w->bypassed;

	if (choice != GN_AUTO_DIRECT)
		lines += FRAME_LINES * (double)w->frames;
	if (!setup->has_memory)
		lines += COMMAND_LINES * (double)(w->fetches + w->page_dirtied);
	return lines;
}

/*
 * Replay a trace. A log that ran full holds only the beginning of a launch. The next launch finds what the
 * end of that launch left in the cache: nothing of its beginning, unless all pages of the launch fit.
 */
static int replay(const struct gn_auto_analysis *s, const struct gn_auto_trace *t,
                  const struct gn_auto_model *m, struct gn_auto_moved *out)
{
	const struct gn_auto_trace cold = {t->touch + t->from, 0, t->count - t->from};
	int rc = 0;

	if (s->covered < 1) {
		rc = gn__auto_replay(&cold, m, out);
		if (rc || (double)out->frames > (double)m->capacity * s->covered)
			return rc;
	}
	return gn__auto_replay(t, m, out);
}

/*
 * Judge all choices. A larger page must move less by a hundredth. Direct mode comes last and wins if it moves
 * no more: it has no cache to fill, to flush or to thrash.
 */
static int judge_choices(const struct gn_auto_setup *setup, const struct gn_auto_trace *t,
                         struct gn_auto_analysis *out)
{
	int rc = 0;

	out->best = -1;
	for (int c = 0; c < GN_AUTO_CHOICES && !rc; c++) {
		const struct gn_auto_model m = model_of(setup, out, c);

		out->lines[c] = -1;
		if (c == GN_AUTO_DIRECT ? !setup->has_memory : setup->is_near || !(setup->can >> c & 1))
			continue;
		rc = replay(out, t, &m, &out->way[c]);
		out->lines[c] = lines_of(setup, &m, &out->way[c], c);
		if (out->best < 0 || out->lines[c] < LARGER_PAGE * out->lines[out->best] ||
		    (c == GN_AUTO_DIRECT && out->lines[c] <= out->lines[out->best]))
			out->best = c;
	}
	return rc;
}

/* Judge batches: in order of address, repeated data are moved once, as by a cache that never evicts. */
static int judge_batches(const struct gn_auto_setup *setup, const struct gn_auto_trace *t,
                         struct gn_auto_analysis *out)
{
	const struct gn_auto_trace now = {t->touch + t->from, 0, t->count - t->from};
	struct gn_auto_model m = model_of(setup, out, out->best);
	struct gn_auto_moved w;
	int rc;

	m.capacity = UINT64_MAX;
	m.bypasses = 0;
	rc = gn__auto_replay(&now, &m, &w);
	out->batches = lines_of(setup, &m, &w, out->best);
	m.page_log2 = m.sector_log2 = GN__SAMPLE_REGION_LOG2;
	if (!rc)
		rc = gn__auto_replay(&now, &m, &w);
	out->translated_sorted = w.frames;
	m.capacity = capacity(setup, out, setup->reach_bytes, m.page_log2);
	if (!rc)
		rc = gn__auto_replay(&now, &m, &w);
	out->translated = w.frames;
	return rc;
}

/*
 * Does each lane of a warp walk lines of its own, so that every element of a line takes a load of its own?
 * Lines that are wanted again and again are not walked: the caches of the machine serve those loads.
 */
static int lanes_walk(const struct gn_auto_setup *setup, const struct gn_auto_analysis *s)
{
	return setup->warp_width >= WARP && s->elements < 2 * s->touches && !s->writes &&
	       8 * s->way[GN_AUTO_DIRECT].fetches < s->touches && 2 * s->lasting < s->touches;
}

const char *gn__auto_batches(const struct gn_auto_setup *setup, const struct gn_auto_analysis *s)
{
	const double lines = s->lines[s->best];

	if (!setup->is_near && lines > BATCHES_LESS * s->batches)
		return "batches, each in order of address, would move less";
	if (s->best != GN_AUTO_DIRECT)
		return NULL;
	if (s->translated > TRANSLATED_LESS * s->translated_sorted &&
	    (double)(s->translated * LINES_A_TRANSLATION) > lines)
		return "the accesses are scattered over more memory than address translation reaches";
	return lanes_walk(setup, s) ? "lanes walk lines by themselves, and wait for one load after the other"
	                            : NULL;
}

int gn__auto_analyse(const struct gn_auto_setup *setup, const struct gn_auto_log *log,
                     const struct gn_auto_log *before, struct gn_auto_analysis *out)
{
	uint64_t *touch = (uint64_t *)malloc((log->count + before->count + 1) * sizeof *touch);
	const uint64_t keep = before->count && before->keep < log->keep ? before->keep : log->keep;
	struct gn_auto_trace trace = {touch, 0, 0};
	int rc;

	memset(out, 0, sizeof *out);
	if (!touch)
		return -GN_ENOMEM;
	trace.from = sift(before, keep, touch);
	trace.count = trace.from + sift(log, keep, touch + trace.from);
	count(&trace, out);
	count_regions(setup, keep, out);
	out->covered = coverage(log, before, out->touches);
	rc = count_lasting(&trace, out);
	if (!rc)
		rc = judge_choices(setup, &trace, out);
	if (!rc)
		rc = judge_batches(setup, &trace, out);
	free(touch);
	return rc;
}
