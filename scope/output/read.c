/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/output/read.h"

const char *const scope_unit_words[] = {"bytes_per_second", "seconds", "operations_per_second", NULL};
const char *const scope_timer_words[] = {"host", "events", "device", NULL};
const char *const scope_status_words[] = {"measured", "skipped", "failed", NULL};
const char *const scope_role_words[] = {"none", "limit", "baseline", "ours", NULL};

/* Far beyond anything that is measured, and far enough from the ends of a double to reckon with. */
static const double least_value = 1e-30, most_value = 1e30;

/* ---- members of an entry, and where it stands for messages ---- */

struct place {
	const char *list;
	size_t k;
	const json_t *entry;
	struct gn_error *e;
};

static int wrong(const struct place *p, const char *member, const char *what)
{
	return gn_error_set(p->e, -GN_EINVAL,
	                    "%s[%zu].%s: %s; this is not a report of grapnel scope, or the report is damaged",
	                    p->list, p->k, member, what);
}

/* A text; `otherwise` NULL: it must be there. */
static int text_of(const struct place *p, const char *member, const char *otherwise, const char **to)
{
	const json_t *v = json_object_get(p->entry, member);

	*to = otherwise;
	if (json_is_string(v))
		*to = json_string_value(v);
	else if ((v && !json_is_null(v)) || !otherwise)
		return wrong(p, member, "must be a text");
	return 0;
}

static int word_of(const struct place *p, const char *member, const char *const *words, unsigned *to)
{
	const char *text;
	int rc = text_of(p, member, NULL, &text);

	for (*to = 0; !rc && words[*to]; ++*to)
		if (!strcmp(words[*to], text))
			return 0;
	return rc ? rc : wrong(p, member, "is not a word that this version knows");
}

static int whole_of(const struct place *p, const char *member, uint64_t *to)
{
	const json_t *v = json_object_get(p->entry, member);

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return wrong(p, member, "must be a whole number");
	*to = (uint64_t)json_integer_value(v);
	return 0;
}

static int value_of(const struct place *p, const char *member, double scale, double *to)
{
	const json_t *v = json_object_get(p->entry, member);

	*to = json_is_number(v) ? json_number_value(v) * scale : 0;
	return *to > least_value && *to < most_value
	           ? 0
	           : wrong(p, member, "must be a number above 1e-30 and below 1e30");
}

/* ---- rows and cells ---- */

static int read_row(struct place *p, struct scope_read_row *row)
{
	unsigned unit = 0, timer = 0, role = 0;
	const char *second = "";
	int rc = text_of(p, "name", NULL, &row->name);

	rc = rc ? rc : text_of(p, "summary", "", &row->summary);
	rc = rc ? rc : text_of(p, "paper", "", &row->paper);
	rc = rc ? rc : text_of(p, "direction", "", &row->direction);
	rc = rc ? rc : text_of(p, "limit", "", &row->limit);
	rc = rc ? rc : text_of(p, "second", "", &second);
	rc = rc ? rc : word_of(p, "unit", scope_unit_words, &unit);
	rc = rc ? rc : word_of(p, "timer", scope_timer_words, &timer);
	if (json_object_get(p->entry, "role")) /* reports of transfers need not say it */
		rc = rc ? rc : word_of(p, "role", scope_role_words, &role);
	row->second = second[0] ? second : NULL;
	row->unit = (enum scope_unit)unit;
	row->timer = (enum scope_timer)timer;
	row->role = (enum scope_role)role;
	return rc;
}

static int read_args(struct place *p, struct scope_read_cell *c)
{
	const json_t *args = json_object_get(p->entry, "arguments");
	const char *name;
	json_t *v;

	if (!json_is_object(args) || json_object_size(args) > SCOPE_MOST_ARGS)
		return wrong(p, "arguments", "must be an object with only a few members");
	json_object_foreach((json_t *)args, name, v)
	{
		if (!json_is_integer(v) || json_integer_value(v) < 0)
			return wrong(p, "arguments", "must be whole numbers");
		c->arg[c->args].name = name;
		c->arg[c->args++].value = (uint64_t)json_integer_value(v);
	}
	return 0;
}

static int find_row(const struct place *p, const struct scope_read *r, const char *name,
                    const struct scope_read_row **to)
{
	for (uint32_t k = 0; k < r->rows; k++)
		if (!strcmp(r->row[k].name, name)) {
			*to = &r->row[k];
			return 0;
		}
	return wrong(p, "row", "must be the name of one of the rows");
}

/* How many samples each round has; without the member it was one round. */
static int read_rounds(const struct place *p, uint64_t samples, struct scope_read_cell *c)
{
	const json_t *list = json_object_get(p->entry, "rounds");
	uint64_t sum = 0;

	if (!list) {
		c->end[c->rounds++] = (uint32_t)samples;
		return 0;
	}
	if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > SCOPE_MOST_ROUNDS)
		return wrong(p, "rounds", "must be a list of up to eight whole numbers");
	for (size_t k = 0; k < json_array_size(list); k++) {
		const json_t *v = json_array_get(list, k);

		if (!json_is_integer(v) || json_integer_value(v) < 1 ||
		    json_integer_value(v) > (json_int_t)(samples - sum))
			return wrong(p, "rounds",
			             "must be whole numbers above zero whose sum is the number of samples");
		sum += (uint64_t)json_integer_value(v);
		c->end[c->rounds++] = (uint32_t)sum;
	}
	return sum == samples ? 0
	                      : wrong(p, "rounds",
	                              "must be whole numbers above zero whose sum is the number of samples");
}

static int read_cell(struct place *p, const struct scope_read *r, struct scope_read_cell *c)
{
	const char *row = "";
	unsigned status = 0;
	uint64_t samples = 0;
	int rc = text_of(p, "name", NULL, &c->name);

	rc = rc ? rc : text_of(p, "row", NULL, &row);
	rc = rc ? rc : find_row(p, r, row, &c->row);
	rc = rc ? rc : text_of(p, "why", "", &c->why);
	rc = rc ? rc : word_of(p, "status", scope_status_words, &status);
	rc = rc ? rc : read_args(p, c);
	c->status = (enum scope_status)status;
	if (rc || c->status != SCOPE_MEASURED)
		return rc;
	rc = whole_of(p, "samples", &samples);
	rc = rc ? rc : whole_of(p, "operations", &c->operations);
	rc = rc ? rc : whole_of(p, "bytes", &c->bytes);
	if (!rc && (!samples || samples > UINT32_MAX))
		return wrong(p, "samples", "must be 1 or more for a measured cell");
	return rc ? rc : read_rounds(p, samples, c);
}

/* ---- samples ---- */

static double unit_of_time(const char *word)
{
	return !strcmp(word, "ns")   ? 1e-9
	       : !strcmp(word, "us") ? 1e-6
	       : !strcmp(word, "ms") ? 1e-3
	       : !strcmp(word, "s")  ? 1
	                             : 0;
}

static int grow(struct scope_read_cell *c)
{
	double **const each[] = {&c->value, &c->seconds, &c->second};

	if (c->samples & (c->samples - 1))
		return 0;
	for (unsigned k = 0; k < (c->row->second ? 3 : 2); k++) {
		double *more =
		    (double *)realloc(*each[k], (c->samples ? 2 * (size_t)c->samples : 1) * sizeof **each[k]);

		if (!more)
			return -GN_ENOMEM;
		*each[k] = more;
	}
	return 0;
}

static int read_sample(struct place *p, struct scope_read_cell *c)
{
	const char *word;
	double scale, *value;
	int rc = text_of(p, "time_unit", NULL, &word);

	if (rc || grow(c))
		return rc ? rc : gn_error_set(p->e, -GN_ENOMEM, "out of memory for the samples of a report");
	scale = unit_of_time(word);
	if (scale <= 0)
		return wrong(p, "time_unit", "must be ns, us, ms or s");
	value = &c->value[c->samples];
	rc = value_of(p, "real_time", scale, &c->seconds[c->samples]);
	if (c->row->unit == SCOPE_BANDWIDTH)
		rc = rc ? rc : value_of(p, "bytes_per_second", 1, value);
	else if (c->row->unit == SCOPE_RATE)
		rc = rc ? rc : value_of(p, "items_per_second", 1, value);
	else
		*value = c->seconds[c->samples];
	if (!rc && c->second) {
		const json_t *v = json_object_get(p->entry, c->row->second);

		c->second[c->samples] =
		    json_is_number(v) && fabs(json_number_value(v)) < most_value ? json_number_value(v) : 0;
	}
	c->samples += !rc;
	return rc;
}

/* Every entry that is no aggregate belongs to a cell that was measured. */
static int read_samples(const json_t *list, struct scope_read *r, json_t *places, struct gn_error *e)
{
	int rc = 0;

	for (size_t k = 0; k < json_array_size(list) && !rc; k++) {
		struct place p = {"benchmarks", k, json_array_get(list, k), e};
		const char *type = "", *name = "";
		const json_t *at;

		rc = text_of(&p, "run_type", "iteration", &type);
		if (rc || !strcmp(type, "aggregate"))
			continue;
		rc = text_of(&p, "name", NULL, &name);
		at = rc ? NULL : json_object_get(places, name);
		if (!rc && !at)
			rc = wrong(&p, "name", "must be the name of a measured cell");
		rc = rc ? rc : read_sample(&p, &r->cell[json_integer_value(at)]);
	}
	return rc;
}

/* ---- the whole ---- */

static int check_version(const json_t *report, struct gn_error *e)
{
	const json_t *context = json_object_get(report, "context"),
	             *version = json_object_get(context, "scope_version");

	if (!json_is_integer(version))
		return gn_error_set(e, -GN_EINVAL,
		                    "context.scope_version is missing: this is not a report of grapnel "
		                    "scope; give a file that grapnel scope --json wrote");
	if (json_integer_value(version) != SCOPE_VERSION)
		return gn_error_set(e, -GN_EINVAL,
		                    "the report has version %lld, but this program reads version %d; measure "
		                    "again, or use the grapnel that wrote the report",
		                    (long long)json_integer_value(version), SCOPE_VERSION);
	if (!json_is_array(json_object_get(report, "rows")) ||
	    !json_is_array(json_object_get(report, "cells")) ||
	    !json_is_array(json_object_get(report, "benchmarks")))
		return gn_error_set(
		    e, -GN_EINVAL,
		    "rows, cells and benchmarks must be arrays: the report is damaged; measure again");
	return 0;
}

/* How many samples a cell has must be what it says: a file that was cut and mended would show here. */
static int check_counts(const json_t *cells, struct scope_read *r, struct gn_error *e)
{
	for (uint32_t k = 0; k < r->cells; k++) {
		struct place p = {"cells", k, json_array_get(cells, k), e};
		struct scope_read_cell *c = &r->cell[k];

		if (c->status != SCOPE_MEASURED)
			continue;
		if ((json_int_t)c->samples != json_integer_value(json_object_get(p.entry, "samples")))
			return wrong(&p, "samples",
			             "must be the number of samples of this cell in benchmarks");
		if (scope_statistics_of_rounds(c->value, c->end, c->rounds, &c->s))
			return gn_error_set(e, -GN_ENOMEM, "out of memory for the samples of a report");
	}
	return 0;
}

static int fill(const json_t *report, struct scope_read *r, json_t *places, struct gn_error *e)
{
	const json_t *rows = json_object_get(report, "rows"), *cells = json_object_get(report, "cells");
	int rc = 0;

	for (; r->rows < json_array_size(rows) && !rc; r->rows++) {
		struct place p = {"rows", r->rows, json_array_get(rows, r->rows), e};

		rc = read_row(&p, &r->row[r->rows]);
	}
	for (; r->cells < json_array_size(cells) && !rc; r->cells++) {
		struct place p = {"cells", r->cells, json_array_get(cells, r->cells), e};

		rc = read_cell(&p, r, &r->cell[r->cells]);
		if (rc || r->cell[r->cells].status != SCOPE_MEASURED)
			continue;
		if (json_object_get(places, r->cell[r->cells].name))
			rc = wrong(&p, "name", "occurs twice");
		else if (json_object_set_new(places, r->cell[r->cells].name,
		                             json_integer((json_int_t)r->cells)))
			rc = gn_error_set(e, -GN_ENOMEM, "out of memory for a report");
	}
	rc = rc ? rc : read_samples(json_object_get(report, "benchmarks"), r, places, e);
	return rc ? rc : check_counts(cells, r, e);
}

int scope_read_make(const json_t *report, struct scope_read **out, struct gn_error *e)
{
	struct scope_read *r;
	json_t *places;
	int rc = check_version(report, e);

	*out = NULL;
	if (rc)
		return rc;
	r = (struct scope_read *)calloc(1, sizeof *r);
	places = json_object();
	if (r) {
		r->context = json_object_get(report, "context");
		r->row = (struct scope_read_row *)calloc(json_array_size(json_object_get(report, "rows")) + 1,
		                                         sizeof *r->row);
		r->cell = (struct scope_read_cell *)calloc(
		    json_array_size(json_object_get(report, "cells")) + 1, sizeof *r->cell);
	}
	rc = r && places && r->row && r->cell ? fill(report, r, places, e)
	                                      : gn_error_set(e, -GN_ENOMEM, "out of memory for a report");
	json_decref(places);
	if (rc)
		scope_read_free(r);
	else
		*out = r;
	return rc;
}

void scope_read_free(struct scope_read *r)
{
	for (uint32_t k = 0; r && r->cell && k < r->cells; k++) {
		free(r->cell[k].value);
		free(r->cell[k].second);
		free(r->cell[k].seconds);
	}
	if (r) {
		free(r->row);
		free(r->cell);
	}
	free(r);
}

int scope_write_read(const json_t *report, FILE *to, bool (*put)(FILE *to, const struct scope_read *r),
                     const char *what, struct gn_error *e)
{
	struct scope_read *r;
	int rc = scope_read_make(report, &r, e);

	if (rc)
		return rc;
	if (put(to, r))
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for %s of a report", what);
	else if (fflush(to) || ferror(to))
		rc = gn_error_set(e, -GN_EIO, "%s cannot be written; check the folder and its free space",
		                  what);
	scope_read_free(r);
	return rc;
}

/* ---- asking ---- */

const struct scope_read_cell *scope_read_next(const struct scope_read *r, const struct scope_read_row *row,
                                              const struct scope_read_cell *c)
{
	for (c = c ? c + 1 : r->cell; c < r->cell + r->cells; c++)
		if (c->status == SCOPE_MEASURED && (!row || c->row == row))
			return c;
	return NULL;
}

uint64_t scope_read_arg(const struct scope_read_cell *c, const char *name, uint64_t otherwise)
{
	for (uint32_t k = 0; k < c->args; k++)
		if (!strcmp(c->arg[k].name, name))
			return c->arg[k].value;
	return otherwise;
}

const json_t *scope_read_context(const struct scope_read *r, const char *path)
{
	const json_t *at = r->context;
	char step[64];

	while (at && *path) {
		const size_t n = strcspn(path, ".");

		snprintf(step, sizeof step, "%.*s", (int)n, path);
		at = json_is_array(at) ? json_array_get(at, (size_t)strtoul(step, NULL, 10))
		                       : json_object_get(at, step);
		path += n + (path[n] == '.');
	}
	return at;
}

double scope_read_number(const struct scope_read *r, const char *path, double otherwise)
{
	const json_t *v = scope_read_context(r, path);

	return json_is_number(v) ? json_number_value(v) : otherwise;
}

const char *scope_read_text(const struct scope_read *r, const char *path, const char *otherwise)
{
	const json_t *v = scope_read_context(r, path);

	return json_is_string(v) ? json_string_value(v) : otherwise;
}

bool scope_read_family(const struct scope_read_row *row, const char *family)
{
	const size_t n = strlen(family);

	return !strncmp(row->name, family, n) && row->name[n] == '/';
}
