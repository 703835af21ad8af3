/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "scope/output/format.h"

struct scope_word scope_format_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
	struct scope_word w;
	unsigned k = 0;

	while (bytes >= 1024 && k < 4) {
		bytes /= 1024;
		k++;
	}
	snprintf(w.text, sizeof w.text, bytes == (double)(uint64_t)bytes ? "%.0f %s" : "%.1f %s", bytes,
	         units[k]);
	return w;
}

const char *scope_format_unit(enum scope_unit unit)
{
	return unit == SCOPE_BANDWIDTH ? "GB/s" : unit == SCOPE_LATENCY ? "ns" : "M/s";
}

double scope_format_scale(enum scope_unit unit)
{
	return unit == SCOPE_BANDWIDTH ? 1e-9 : unit == SCOPE_LATENCY ? 1e9 : 1e-6;
}

struct scope_word scope_format_value(enum scope_unit unit, double value)
{
	const double v = value * scope_format_scale(unit);
	struct scope_word w;

	snprintf(w.text, sizeof w.text,
	         v >= 1e7 || v < 1e-3 ? "%.3g"
	         : v >= 1000          ? "%.0f"
	         : v >= 100           ? "%.1f"
	         : v >= 10            ? "%.2f"
	                              : "%.3f",
	         v);
	return w;
}

/* A number of so many digits that count, without an exponent where it is of a usual size. */
static struct scope_word of_digits(double v, int digits)
{
	const int power = v > 0 ? (int)floor(log10(v)) : 0, behind = digits - 1 - power;
	const double unit = pow(10, -behind);
	struct scope_word w;

	if (v >= 1e7 || v < 1e-3)
		snprintf(w.text, sizeof w.text, "%.*g", digits, v);
	else
		snprintf(w.text, sizeof w.text, "%.*f", behind > 0 ? behind : 0,
		         behind > 0 ? v : round(v / unit) * unit);
	return w;
}

struct scope_word scope_format_median(enum scope_unit unit, const struct scope_statistics *s)
{
	const double noise = scope_noise_percent(s), v = s->median * scope_format_scale(unit);
	struct scope_word w;

	if (s->rounds < 2) {
		snprintf(w.text, sizeof w.text, "~%.40s", of_digits(v, 2).text);
		return w;
	}
	return noise < 1 ? scope_format_value(unit, s->median) : of_digits(v, noise < 10 ? 3 : 2);
}

bool scope_arg_is_size(const char *name)
{
	static const char *const sizes[] = {"bytes", "span", "stride", "row", "page", "each", "piece", NULL};
	const size_t n = strlen(name);

	for (unsigned k = 0; sizes[k]; k++)
		if (!strcmp(sizes[k], name))
			return true;
	return n > 6 && !strcmp(name + n - 6, "_bytes");
}

struct scope_word scope_format_arg(const struct scope_arg *a)
{
	struct scope_word w;

	if (scope_arg_is_size(a->name))
		return scope_format_bytes((double)a->value);
	snprintf(w.text, sizeof w.text, "%" PRIu64, a->value);
	return w;
}

/* A name says its unit: "x_bytes_per_second", or "seconds_x" and "x_seconds". */
struct scope_word scope_format_second(const struct scope_read_cell *c)
{
	static const char rate[] = "_bytes_per_second";
	const size_t n = c->row->second ? strlen(c->row->second) : 0, tail = sizeof rate - 1;
	struct scope_word w = {""};
	struct scope_statistics s;

	if (!c->second || !strncmp(c->row->second, "load", 4) ||
	    scope_statistics_of(c->second, c->samples, &s))
		return w;
	if (n > tail && !strcmp(c->row->second + n - tail, rate))
		snprintf(w.text, sizeof w.text, "%.4g GB/s %.*s", 1e-9 * s.median,
		         (int)(n - tail > 20 ? 20 : n - tail), c->row->second);
	else if (strstr(c->row->second, "seconds"))
		snprintf(w.text, sizeof w.text, "%.4g ns: %.24s", 1e9 * s.median, c->row->second);
	else
		snprintf(w.text, sizeof w.text, "%.4g %.24s", s.median, c->row->second);
	for (char *at = w.text; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	return w;
}

double scope_noise_percent(const struct scope_statistics *s)
{
	return s->median > 0 ? 50 * (s->high - s->low) / s->median : 0;
}

bool scope_more_is_better(enum scope_unit unit)
{
	return unit != SCOPE_LATENCY;
}

void scope_put_escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<': fputs("&lt;", to); break;
		case '>': fputs("&gt;", to); break;
		case '&': fputs("&amp;", to); break;
		case '"': fputs("&quot;", to); break;
		case '\'': fputs("&#39;", to); break;
		default:
			if ((unsigned char)*text >= ' ' && *text != 127)
				fputc(*text, to);
		}
	}
}

void scope_put(FILE *to, const char *before, const char *text, const char *after)
{
	fputs(before, to);
	scope_put_escaped(to, text);
	fputs(after, to);
}
