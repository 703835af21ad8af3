/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds of the decision engine: reach of address translation, and where pages, lines and words are even.
 */
#include <string.h>

#include "scope/output/format.h"
#include "scope/output/limits.h"
#include "scope/tune.h"

static void tune_reach(const struct scope_tuning *t, json_t *to)
{
	const char *link = !strcmp(t->machine, "grapnel-gpu") ? "pcie" : "host memory";
	const double reach = scope_reach(t->r, link);

	if (reach > 0)
		scope_tune_set(
		    to, "reach_bytes", reach,
		    "a chase or random accesses over %s are a third slower from beyond a span of %s on", link,
		    scope_format_bytes(reach).text);
	else
		scope_tune_set(to, "reach_bytes", -1,
		               "no step was seen in latencies or rates over spans of memory behind %s: the "
		               "library's own guess stays",
		               link);
}

/* Rows of so many bytes as they come, over the largest span; NULL: not measured. */
static const struct scope_read_cell *scattered(const struct scope_tuning *t, uint64_t bytes)
{
	const struct scope_read_cell *widest = NULL;

	for (uint32_t k = 0; k < t->r->cells; k++) {
		const struct scope_read_cell *c = &t->r->cell[k];

		if (scope_tune_is(t, c, "gather-plain") && scope_read_arg(c, "bytes", 0) == bytes &&
		    (!widest || scope_read_arg(c, "span", 0) > scope_read_arg(widest, "span", 0)))
			widest = c;
	}
	return widest;
}

/*
 * A page pays where so much of it is used that it is faster than to load each line: used x lines of a page x
 * time of a line > time of a page, and lines x time of a line = page / rate of lines.
 */
static void tune_line_use(const struct scope_tuning *t, json_t *to)
{
	const struct scope_read_cell *line = scattered(t, 128);
	double use;

	if (!line || t->page_rate <= 0) {
		scope_tune_set(to, "line_use", -1,
		               "not known: needs %s/page-in and %s/gather-plain of 128-byte rows", t->machine,
		               t->machine);
		return;
	}
	use = line->s.median / t->page_rate;
	scope_tune_set(
	    to, "line_use", use < 1 ? use : 1,
	    "lines of 128 bytes come at %.4g GB/s (%s), pages at %.4g: below a share of %.2f of their "
	    "lines used, loading the lines is faster",
	    1e-9 * line->s.median, line->name, 1e-9 * t->page_rate, use < 1 ? use : 1);
}

/*
 * Of single words: hits x time of a hit + misses x time of a page = time of a load, at the share of hits that
 * is even.
 */
static void tune_hit_share(const struct scope_tuning *t, json_t *to)
{
	const struct scope_read_cell *word = scattered(t, 4),
	                             *hit = scope_tune_best(t, "hit-random", NULL, 0);
	double page, load, found, share;

	if (!word || !hit || t->page_rate <= 0 || hit->row->unit != SCOPE_RATE) {
		scope_tune_set(
		    to, "hit_share", -1,
		    "not known: needs %s/page-in, %s/hit-random and %s/gather-plain of 4-byte rows",
		    t->machine, t->machine, t->machine);
		return;
	}
	page = t->page / t->page_rate;
	load = 4 / word->s.median;
	found = 1 / hit->s.median;
	share = page > found ? (page - load) / (page - found) : 0;
	share = share < 0.01 ? 0.01 : share > 0.99 ? 0.99 : share;
	scope_tune_set(
	    to, "hit_share", share,
	    "a page takes %.3g ns of all threads' time, a hit %.3g, a load of a word from the store %.3g "
	    "(%s): the cache is faster from a share of hits of (%.3g - %.3g) / (%.3g - %.3g) = %.2f",
	    1e9 * page, 1e9 * found, 1e9 * load, word->name, 1e9 * page, 1e9 * load, 1e9 * page, 1e9 * found,
	    share);
}

void scope_tune_decisions(const struct scope_tuning *t, json_t *to)
{
	tune_reach(t, to);
	tune_line_use(t, to);
	tune_hit_share(t, to);
}
