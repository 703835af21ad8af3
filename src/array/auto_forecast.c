/* SPDX-License-Identifier: Apache-2.0 */
/* From what was seen and what the machine does: how long each choice would take, and which is best. */
#include <math.h>
#include <string.h>

#include <array/auto.h>

static double mix(double if_new, double if_same, double again)
{
	return if_new * (1 - again) + if_same * again;
}

/* Elements looked up in the cache, pages pinned there, lines read in pinned pages. */
static double found_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, unsigned p)
{
	const double all = (double)s->accesses / s->lanes;

	return all * (r->hit * s->one_by_one + r->pin * s->paged[p].pins + r->held * s->held);
}

/* What translation loses for the rows of batches, in order of address. */
static double batch_lost_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, const double *again)
{
	return mix(s->batch_lost_first, s->batch_lost_second, again[GN_AUTO_PAGE_SIZES - 1]) / (s->share * s->covered) * r->lost;
}

/* What it would lose for them if they were read as they come: they lie anywhere in the array. */
static double scattered_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r)
{
	const double bytes = (double)(s->regions << GN_SAMPLE_REGION_LOG2), reach = (double)r->reach_bytes;

	return bytes > reach ? s->batch * (1 - reach / bytes) / (s->share * s->covered) * r->lost : 0;
}

/* Rows of batches that are read around the cache, as they would be without it. */
static double around_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, unsigned p, const double *again)
{
	const double around = mix(s->paged[p].first_around, s->paged[p].second_around, again[p]);
	const double line = r->line + r->sector * s->sectors / (double)s->touches;

	return around > 0 ? hypot(line * around / (s->share * s->covered), batch_lost_seconds(s, r, again) * around / s->batch) : 0;
}

/* Seconds of the pages fetched and written, of rows read around the cache, and of what is then found there. */
static double paged_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, unsigned p, const double *again)
{
	const struct gn_auto_paged *d = &s->paged[p];
	const double fetched = mix(d->first, d->second, again[p]);
	const double alone = mix(d->first_alone, d->second_alone, again[p]);
	const double scale = 1 / (s->share * s->covered);

	return scale * (r->together[p] * (fetched - alone + d->written) + r->alone[p] * alone) +
	       around_seconds(s, r, p, again) + found_seconds(s, r, p);
}

/* The link is busy with lines and sectors, translation with what it has lost; both go on beside each other. */
static void direct_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, const double *again,
			   struct gn_auto_forecast *out)
{
	const double touches = (double)s->accesses * (double)s->touches / s->lanes;
	const double loaded = mix(s->line_first, s->line_second, again[0]) / (double)s->touches;
	const double lost = mix(s->lost_first, s->lost_second, again[GN_AUTO_PAGE_SIZES - 1]) / (s->share * s->covered) * r->lost;

	out->stream_seconds = touches * (loaded * (r->line + r->sector * s->sectors / (double)s->touches) +
					 (1 - loaded) * r->again);
	out->lost_seconds = lost + batch_lost_seconds(s, r, again);
	out->scattered_seconds = lost + scattered_seconds(s, r);
}

static void all_seconds(const struct gn_auto_study *s, const struct gn_auto_rates *r, int has_direct,
			const double *again, double *seconds, struct gn_auto_forecast *out)
{
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		seconds[p] = r->together[p] > 0 ? paged_seconds(s, r, p, again) : -1;
	direct_seconds(s, r, again, out);
	seconds[GN_AUTO_DIRECT] = has_direct ? hypot(out->stream_seconds, out->lost_seconds) : -1;
}

/* Direct wins where it is as good: it has no cache to fill, to flush or to thrash. */
static int best_of(const double *seconds)
{
	int best = -1;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if (seconds[c] >= 0 && (best < 0 || seconds[c] < seconds[best]))
			best = c;
	return seconds[GN_AUTO_DIRECT] >= 0 && seconds[GN_AUTO_DIRECT] < 1.05 * seconds[best] ? (int)GN_AUTO_DIRECT : best;
}

/* DualOpt's flow chart, section 4.3; what leaves local memory is what a cache of 4 KiB pages would have to fetch. */
static enum gn_auto_class classify(const struct gn_auto_study *s, const struct gn_auto_config *c,
				   const double *again, double *hits)
{
	const struct gn_auto_paged *d = &s->paged[3];
	const double remote_share = c->remote_share > 0 ? c->remote_share : 0.02;
	const double line_use = c->line_use > 0 ? c->line_use : 0.2, hit_share = c->hit_share > 0 ? c->hit_share : 0.4;
	const double remote = (mix(d->first, d->second, again[3]) + mix(d->first_around, d->second_around, again[3])) /
			      (double)s->touches;

	*hits = 1 - remote;
	if (remote < remote_share)
		return GN_CLASS_LOCAL;
	return s->line_use < line_use && *hits < hit_share ? GN_CLASS_INSENSITIVE : GN_CLASS_FRIENDLY;
}

int gn__auto_walks(const struct gn_auto_study *s)
{
	const double touches = (double)s->touches;

	return s->lanes < 2 * touches && 8 * s->line_first < touches && s->one_by_one > 0.9 * s->lanes;
}

void gn__auto_forecast(const struct gn_auto_study *s, const struct gn_auto_rates *rates,
		       const struct gn_auto_config *config, int has_direct, const double *again,
		       struct gn_auto_forecast *out)
{
	static const double none[GN_AUTO_PAGE_SIZES] = {0, 0, 0, 0, 0, 0}, all[GN_AUTO_PAGE_SIZES] = {1, 1, 1, 1, 1, 1};
	static const double half[GN_AUTO_PAGE_SIZES] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
	int if_new, if_same;

	memset(out, 0, sizeof *out);
	again = again ? again : half;
	all_seconds(s, rates, has_direct, none, out->best_if_new, out);
	all_seconds(s, rates, has_direct, all, out->best_if_same, out);
	all_seconds(s, rates, has_direct, again, out->seconds, out);
	out->best = best_of(out->seconds);
	if_new = best_of(out->best_if_new);
	if_same = best_of(out->best_if_same);
	out->unsure = out->best_if_new[out->best] > 1.1 * out->best_if_new[if_new] ||
		      out->best_if_same[out->best] > 1.1 * out->best_if_same[if_same];
	out->class_seen = classify(s, config, again, &out->hits);
}
