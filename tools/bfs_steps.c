/* SPDX-License-Identifier: Apache-2.0 */
#include "bfs_steps.h"

#include <stdlib.h>

static const char *direction(int bottom_up)
{
	return bottom_up ? "bottom-up" : "top-down";
}

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

static int add_phase(struct bfs_steps *s, int bottom_up, struct gn_error *e)
{
	int rc;

	if (s->phases && s->phase[s->phases - 1].bottom_up == bottom_up) {
		s->phase[s->phases - 1].steps++;
		return 0;
	}
	rc = grow((void **)&s->phase, s->phases, &s->phase_room, sizeof *s->phase, e);
	if (rc)
		return rc;
	s->phase[s->phases].bottom_up = bottom_up;
	s->phase[s->phases++].steps = 1;
	return 0;
}

static int add_row(struct bfs_steps *s, const struct gn_bfs_step *step, struct gn_error *e)
{
	struct gn_cache_info now = {0};
	struct bfs_row *row;
	int rc = grow((void **)&s->row, s->rows, &s->row_room, sizeof *s->row, e);

	if (!rc && s->cache && gn_cache_describe(s->cache, &now))
		rc = gn_error_set(e, -GN_EIO, "the machine does not say what the cache has fetched");
	if (rc)
		return rc;
	row = &s->row[s->rows++];
	row->step = *step;
	row->pages = now.statistics.fetched - s->before.fetched;
	row->bytes = now.statistics.fetched_bytes - s->before.fetched_bytes;
	s->before = now.statistics;
	return 0;
}

int bfs_steps_add(void *context, const struct gn_bfs_step *step, struct gn_error *e)
{
	struct bfs_steps *s = (struct bfs_steps *)context;
	const int rc = add_phase(s, step->bottom_up, e);

	return rc || !s->wanted ? rc : add_row(s, step, e);
}

void bfs_steps_free(struct bfs_steps *s)
{
	free(s->row);
	free(s->phase);
}

/* ---- what is said ---- */

static void print_row(const struct bfs_steps *s, const struct bfs_row *r, FILE *to)
{
	fprintf(to, "  %6u  %-9s  %12llu  %14llu", r->step.level, direction(r->step.bottom_up),
	        (unsigned long long)r->step.frontier, (unsigned long long)r->step.edges);
	if (s->cache)
		fprintf(to, "  %10llu  %10.2f", (unsigned long long)r->pages, (double)r->bytes / (1 << 20));
	else
		fprintf(to, "  %10s  %10s", "-", "-");
	fprintf(to, "  %10.6f\n", r->step.seconds);
}

void bfs_steps_print(const struct bfs_steps *s, const char *algorithm, FILE *to)
{
	fprintf(to, "  algorithm            %s: ", algorithm);
	for (uint64_t k = 0; k < s->phases && k < 8; k++)
		fprintf(to, "%s%u %s", k ? ", " : "", s->phase[k].steps, direction(s->phase[k].bottom_up));
	fprintf(to, "%s\n", s->phases > 8 ? ", ..." : "");
	if (!s->wanted)
		return;
	fprintf(to, "  %6s  %-9s  %12s  %14s  %10s  %10s  %10s\n", "step", "direction", "frontier",
	        "edges read", "pages", "MiB moved", "seconds");
	for (uint64_t k = 0; k < s->rows; k++)
		print_row(s, &s->row[k], to);
}

json_t *bfs_steps_phases(const struct bfs_steps *s)
{
	json_t *all = json_array();

	for (uint64_t k = 0; k < s->phases; k++)
		if (json_array_append_new(all, json_pack("{s:s, s:I}", "direction",
		                                         direction(s->phase[k].bottom_up), "steps",
		                                         (json_int_t)s->phase[k].steps))) {
			json_decref(all);
			return NULL;
		}
	return all;
}

static json_t *row_json(const struct bfs_steps *s, const struct bfs_row *r)
{
	return json_pack("{s:I, s:s, s:I, s:I, s:o, s:o, s:f}", "step", (json_int_t)r->step.level,
	                 "direction", direction(r->step.bottom_up), "frontier", (json_int_t)r->step.frontier,
	                 "edges", (json_int_t)r->step.edges, "fetched_pages",
	                 s->cache ? json_integer((json_int_t)r->pages) : json_null(), "fetched_bytes",
	                 s->cache ? json_integer((json_int_t)r->bytes) : json_null(), "seconds",
	                 r->step.seconds);
}

json_t *bfs_steps_rows(const struct bfs_steps *s)
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
