/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_steps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more of `bytes` each. */
static int grow(void **array, uint64_t count, uint64_t *room, size_t bytes, struct gn_error *e)
{
	const uint64_t more = *room ? 2 * *room : 64;
	void *grown;

	if (count < *room)
		return 0;
	grown = realloc(*array, more * bytes);
	if (!grown)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the report of %llu steps",
		                    (unsigned long long)more);
	*array = grown;
	*room = more;
	return 0;
}

static int add_phase(struct graph_steps *s, const char *direction, struct gn_error *e)
{
	int rc;

	if (s->phases && !strcmp(s->phase[s->phases - 1].direction, direction)) {
		s->phase[s->phases - 1].steps++;
		return 0;
	}
	rc = grow((void **)&s->phase, s->phases, &s->phase_room, sizeof *s->phase, e);
	if (rc)
		return rc;
	s->phase[s->phases].direction = direction;
	s->phase[s->phases++].steps = 1;
	return 0;
}

static int add_row(struct graph_steps *s, const struct gn_graph_step *step, struct gn_error *e)
{
	struct gn_cache_info now = {0};
	struct graph_steps_row *row;
	int rc = grow((void **)&s->row, s->rows, &s->row_room, sizeof *s->row, e);

	if (!rc && s->cache)
		rc = gn_cache_describe(s->cache, &now, e);
	if (rc)
		return rc;
	row = &s->row[s->rows++];
	row->step = *step;
	row->pages = now.statistics.fetched - s->before.fetched;
	row->bytes = now.statistics.fetched_bytes - s->before.fetched_bytes;
	s->before = now.statistics;
	return 0;
}

static int add(void *user, const struct gn_graph_step *step, struct gn_error *e)
{
	struct graph_steps *s = (struct graph_steps *)user;
	const int rc = s->kind->phases ? add_phase(s, step->direction, e) : 0;

	return rc || !s->wanted ? rc : add_row(s, step, e);
}

struct gn_graph_listener graph_steps_listener(struct graph_steps *s)
{
	const struct gn_graph_listener listener = {s->wanted || s->kind->phases ? add : NULL, s};

	return listener;
}

void graph_steps_free(struct graph_steps *s)
{
	free(s->row);
	free(s->phase);
}

/* ---- phases ---- */

void graph_steps_print_phases(const struct graph_steps *s, FILE *to)
{
	for (uint64_t k = 0; k < s->phases && k < 8; k++)
		fprintf(to, "%s%u %s", k ? ", " : "", s->phase[k].steps, s->phase[k].direction);
	fprintf(to, "%s", s->phases > 8 ? ", ..." : "");
}

json_t *graph_steps_phases(const struct graph_steps *s)
{
	json_t *all = json_array();

	for (uint64_t k = 0; k < s->phases; k++)
		if (json_array_append_new(all, json_pack("{s:s, s:I}", "direction", s->phase[k].direction,
		                                         "steps", (json_int_t)s->phase[k].steps))) {
			json_decref(all);
			return NULL;
		}
	return all;
}

/* ---- steps ---- */

static void print_head(const struct graph_steps_kind *kind, FILE *to)
{
	fprintf(to, "  %6s", "step");
	if (kind->directions)
		fprintf(to, "  %-9s", "direction");
	fprintf(to, "  %12s  %14s", "frontier", "edges read");
	if (kind->count)
		fprintf(to, "  %12s", kind->count);
	if (kind->measure)
		fprintf(to, "  %12s", kind->measure);
	fprintf(to, "  %10s  %10s  %10s\n", "pages", "MiB moved", "seconds");
}

static void print_measure(double measure, FILE *to)
{
	if (isfinite(measure))
		fprintf(to, "  %12.6g", measure);
	else
		fprintf(to, "  %12s", "-");
}

static void print_row(const struct graph_steps *s, const struct graph_steps_row *r, FILE *to)
{
	fprintf(to, "  %6u", r->step.number);
	if (s->kind->directions)
		fprintf(to, "  %-9s", r->step.direction);
	fprintf(to, "  %12llu  %14llu", (unsigned long long)r->step.frontier,
	        (unsigned long long)r->step.edges);
	if (s->kind->count)
		fprintf(to, "  %12llu", (unsigned long long)r->step.count);
	if (s->kind->measure)
		print_measure(r->step.measure, to);
	if (s->cache)
		fprintf(to, "  %10llu  %10.2f", (unsigned long long)r->pages, (double)r->bytes / (1 << 20));
	else
		fprintf(to, "  %10s  %10s", "-", "-");
	fprintf(to, "  %10.6f\n", r->step.seconds);
}

void graph_steps_print(const struct graph_steps *s, FILE *to)
{
	if (!s->wanted)
		return;
	print_head(s->kind, to);
	for (uint64_t k = 0; k < s->rows; k++)
		print_row(s, &s->row[k], to);
}

/* Add a member that the job names; none without a name. Returns 0, or -1 without memory. */
static int add_own(json_t *row, const char *name, json_t *value)
{
	if (name)
		return json_object_set_new(row, name, value);
	json_decref(value);
	return 0;
}

static json_t *real_or_null(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *moved(const struct graph_steps *s, uint64_t value)
{
	return s->cache ? json_integer((json_int_t)value) : json_null();
}

static json_t *row_json(const struct graph_steps *s, const struct graph_steps_row *r)
{
	const struct gn_graph_step *step = &r->step;
	json_t *row = json_pack("{s:I}", "step", (json_int_t)step->number);
	int bad = s->kind->directions && json_object_set_new(row, "direction", json_string(step->direction));

	bad |= json_object_set_new(row, "frontier", json_integer((json_int_t)step->frontier));
	bad |= json_object_set_new(row, "edges", json_integer((json_int_t)step->edges));
	bad |= add_own(row, s->kind->count, json_integer((json_int_t)step->count));
	bad |= add_own(row, s->kind->measure, real_or_null(step->measure));
	bad |= json_object_set_new(row, "fetched_pages", moved(s, r->pages));
	bad |= json_object_set_new(row, "fetched_bytes", moved(s, r->bytes));
	bad |= json_object_set_new(row, "seconds", json_real(step->seconds));
	if (!bad)
		return row;
	json_decref(row);
	return NULL;
}

json_t *graph_steps_rows(const struct graph_steps *s)
{
	json_t *all;

	if (!s->wanted)
		return json_null();
	all = json_array();
	for (uint64_t k = 0; k < s->rows; k++)
		if (json_array_append_new(all, row_json(s, &s->row[k]))) {
			json_decref(all);
			return NULL;
		}
	return all;
}
