/* SPDX-License-Identifier: Apache-2.0 */
/* What was seen, what was chosen and why, in words and numbers. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <array/auto.h>

struct text {
	char *to;
	size_t bytes, length;
};

static void say(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct text *t, const char *format, ...)
{
	const size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(room ? t->to + t->length : NULL, room, format, list);
	va_end(list);
	t->length += n > 0 ? (size_t)n : 0;
}

const char *gn__auto_name(int choice)
{
	static const char *const names[GN_AUTO_CHOICES] = {"pages of 512 B", "pages of 1 KiB",  "pages of 2 KiB", "pages of 4 KiB",
							   "pages of 16 KiB", "pages of 64 KiB", "direct"};

	return choice < 0 || choice >= GN_AUTO_CHOICES ? "none" : names[choice];
}

static const char *class_name(enum gn_auto_class c)
{
	switch (c) {
	case GN_CLASS_LOCAL: return "local: the cache serves nearly all";
	case GN_CLASS_FRIENDLY: return "cache-friendly";
	case GN_CLASS_INSENSITIVE: return "cache-insensitive";
	default: return "unknown";
	}
}

static void say_rates(struct text *t, const struct gn_auto_rates *r)
{
	say(t, "  this machine and store, measured in %.0f ms:", 1e3 * r->seconds);
	if (r->line + r->sector > 0)
		say(t, " loads %.3g M/s near and %.3g M/s beyond %.3g GB, lines %.3g GB/s;", 1e-6 / (r->line + r->sector),
		    1e-6 / (r->line + r->sector + r->lost), 1e-9 * (double)r->reach_bytes, 128e-9 / (r->line + 4 * r->sector));
	say(t, " misses by a warp");
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		if (r->together[p] > 0)
			say(t, " %.3g", 1e-9 * gn_auto_page_bytes[p] / r->together[p]);
	say(t, " GB/s, by a lane");
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		if (r->alone[p] > 0)
			say(t, " %.3g", 1e-9 * gn_auto_page_bytes[p] / r->alone[p]);
	say(t, " GB/s; hits %.3g M/s, pages held %.3g M/s and read at %.3g GB/s; a change of cache %.3g ms\n",
	    r->hit > 0 ? 1e-6 / r->hit : 0, r->pin > 0 ? 1e-6 / r->pin : 0, r->held > 0 ? 128e-9 / r->held : 0, 1e3 * r->change);
}

static void say_seen(struct text *t, const struct gn_auto *x)
{
	const struct gn_auto_study *s = &x->study;

	say(t, "  seen: %llu accesses; looked at %llu touches of lines in %llu of %llu regions of 64 KiB%s\n",
	    (unsigned long long)s->accesses, (unsigned long long)s->touches, (unsigned long long)s->regions_kept,
	    (unsigned long long)s->regions, s->covered < 1 ? " (the log ran full: the first part of the launch)" : "");
	say(t, "  a touch: %.1f elements in %.1f of 4 sectors, %.0f %% of the line used, %.0f %% writes\n",
	    s->lanes / (double)s->touches, s->sectors / (double)s->touches, 100 * s->line_use,
	    100 * s->writes / (double)s->touches);
	if (s->held > 0)
		say(t, "  by reference: %.0f %% of the touches; rows of batches: %.0f %%\n", 100 * s->held / (double)s->touches,
		    100 * s->batch / (double)s->touches);
	say(t, "  launches have %.0f %% of their pages of 512 B and %.0f %% of those of 64 KiB in common%s\n", 100 * x->again[0],
	    100 * x->again[GN_AUTO_PAGE_SIZES - 1], s->again[0] < 0 ? " (assumed: one look cannot tell)" : "");
}

static void say_choices(struct text *t, const struct gn_auto *x)
{
	const struct gn_auto_study *s = &x->study;
	const double touches = (double)s->touches;

	say(t, "  %-16s %9s %12s %12s %12s %12s\n", "choice", "used", "fetched, new", "fetched, same", "forecast ms",
	    "measured ms");
	for (int c = 0; c < GN_AUTO_CHOICES; c++) {
		if (x->forecast.seconds[c] < 0)
			continue;
		if (c < GN_AUTO_PAGE_SIZES)
			say(t, "  %-16s %7.0f %% %10.2f %% %11.2f %%", gn__auto_name(c), 100 * s->paged[c].used,
			    100 * s->paged[c].first / touches, 100 * s->paged[c].second / touches);
		else
			say(t, "  %-16s %9s %12s %13s", gn__auto_name(c), "", "", "");
		say(t, " %12.3f", 1e3 * x->forecast.seconds[c]);
		if (x->measured[c] > 0)
			say(t, " %12.3f", 1e3 * x->measured[c]);
		say(t, "%s\n", c == x->choice ? "  <" : "");
	}
}

static void say_why(struct text *t, const struct gn_auto *x)
{
	const struct gn_auto_forecast *f = &x->forecast;

	say(t, "  class: %s (%.0f %% of the touches would be served by a cache of 4 KiB pages, %.0f %% of a line is used)\n",
	    class_name(f->class_seen), 100 * f->hits, 100 * x->study.line_use);
	say(t, "  chosen: %s, %s", gn__auto_name(x->choice),
	    x->choice == f->best ? "the shortest forecast" : "by the clock, or the best of them is not worth the change");
	say(t, "\n");
	if (gn_auto_advice(x) == GN_ADVICE_GATHER)
		say(t, "  advice: %s; gather them in batches, in order of address\n",
		    x->walks ? "lanes walk lines by themselves" : "the accesses are bound by address translation");
}

int gn_auto_explain(const struct gn_auto *x, char *to, size_t bytes)
{
	struct text t = {to, bytes, 0};

	say(&t, "auto: %llu launches, %llu looked at, %llu changes; now %s\n", (unsigned long long)x->launches,
	    (unsigned long long)x->looks, (unsigned long long)x->switches, gn__auto_name(x->choice));
	if (x->looks) {
		say_seen(&t, x);
		say_choices(&t, x);
		say_why(&t, x);
	}
	say_rates(&t, &x->rates);
	return (int)t.length;
}
