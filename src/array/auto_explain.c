/* SPDX-License-Identifier: Apache-2.0 */
/* auto_explain.c - explains in text the analysis, the choice and the reason for it. */
#include <stdarg.h>
#include <stdio.h>

#include <array/auto.h>

struct text {
	char *to;
	size_t bytes, length;
};

static void append(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(struct text *t, const char *format, ...)
{
	const size_t room = t->length < t->bytes ? t->bytes - t->length : 0;
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(room ? t->to + t->length : NULL, room, format, list);
	va_end(list);
	t->length += n > 0 ? (size_t)n : 0;
}

static const char *name_of(int choice)
{
	static const char *const names[GN_AUTO_CHOICES] = {
	    "pages of 512 B",  "pages of 1 KiB",  "pages of 2 KiB", "pages of 4 KiB",
	    "pages of 16 KiB", "pages of 64 KiB", "direct"};

	return names[choice];
}

static double percent(uint64_t part, uint64_t all)
{
	return 100 * (double)part / (double)all;
}

static void append_seen(struct text *t, const struct gn_auto_analysis *s)
{
	append(t, "  seen: %llu touches of lines in %llu of %llu regions of 64 KiB%s\n",
	       (unsigned long long)s->touches, (unsigned long long)s->regions_kept,
	       (unsigned long long)s->regions,
	       s->covered < 1 ? "; the log ran full: of the first part of the launch" : "");
	append(t, "  a touch: %.1f elements; %.0f %% write, %.0f %% are rows of batches\n",
	       (double)s->elements / (double)s->touches, percent(s->writes, s->touches),
	       percent(s->batch, s->touches));
	append(t, "  the model begins with %s\n",
	       s->before ? "the launch that was looked at before" : "an empty cache");
}

static void append_choices(struct text *t, const struct gn_auto *x)
{
	const struct gn_auto_analysis *s = &x->analysis;

	append(t, "  %-16s %10s %10s %12s %12s\n", "choice", "hits", "fetched", "new frames", "lines moved");
	for (int c = 0; c < GN_AUTO_CHOICES; c++) {
		const struct gn_auto_moved *w = &s->way[c];

		if (s->lines[c] < 0)
			continue;
		append(t, "  %-16s %8.1f %% %8.1f %% %12llu %12.0f%s\n", name_of(c),
		       percent(w->hits, s->touches), percent(w->fetches + w->bypassed, s->touches),
		       c == GN_AUTO_DIRECT ? 0 : (unsigned long long)w->frames, s->lines[c],
		       c == x->choice ? "  <" : "");
	}
}

/* Compare the current choice with the best other one. */
static void append_why(struct text *t, const struct gn_auto *x)
{
	const struct gn_auto_analysis *s = &x->analysis;
	int other = -1;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if (c != x->choice && s->lines[c] >= 0 && (other < 0 || s->lines[c] < s->lines[other]))
			other = c;
	append(t, "  chosen: %s. ", name_of(x->choice));
	if (x->setup.is_near)
		append(t,
		       "The store's memory is this machine's own, and a cache of it would only be a copy.\n");
	else if (other < 0)
		append(t, "No other choice is possible.\n");
	else if (x->choice != s->best)
		append(t, "To change to %s would save less than a tenth.\n", name_of(s->best));
	else if (x->choice == GN_AUTO_DIRECT)
		append(t,
		       "Too little is used again for a cache: it moves %.0f lines, and %s would move %.0f.\n",
		       s->lines[s->best], name_of(other), s->lines[other]);
	else
		append(t, "It moves %.0f lines, and %s would move %.0f.\n", s->lines[s->best], name_of(other),
		       s->lines[other]);
	if (x->batches)
		append(t, "  advice: gather in batches: %s.\n", x->batches);
}

int gn_auto_explain(const struct gn_auto *x, char *to, size_t bytes)
{
	struct text t = {to, bytes, 0};

	append(&t, "auto: %llu launches, %llu looked at, %llu changes; now %s\n",
	       (unsigned long long)x->launches, (unsigned long long)x->samples,
	       (unsigned long long)x->switches, name_of(x->choice));
	if (x->samples) {
		append_seen(&t, &x->analysis);
		append_choices(&t, x);
		append_why(&t, x);
	}
	return (int)t.length;
}
