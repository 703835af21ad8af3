/* SPDX-License-Identifier: Apache-2.0 */
/* The whole file is read once and proved sound. */
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "graph/graph.h"
#include "graph/io.h"
#include "layout.h"
#include "parts.h"

/* Rows that are looked at in one go: whole zones. */
enum { PART_ROWS = 1 << 18, PART_ZONES = PART_ROWS / GN_COLUMN_ZONE_ROWS };

struct checking {
	const struct gn_table_file *f;
	const struct gn_progress *progress;
	const struct gn_column *column;
	void *values;          /* PART_ROWS */
	struct gn_zone *zones; /* PART_ZONES */
	struct gn_error *e;
};

static int bad_value(const struct checking *c, uint64_t row, const char *what)
{
	const uint64_t at = c->column->data.at + row * gn_column_width(c->column->type);

	return gn_error_set(c->e, -GN_EBADMSG,
	                    "%s: byte %llu: row %llu of column %s %s; the file is damaged, convert the table "
	                    "again",
	                    c->f->name, (unsigned long long)at, (unsigned long long)row, c->column->name,
	                    what);
}

static int is_finite(double x)
{
	return x - x == 0;
}

/* The zone that the values of rows first to first + n - 1 make; part is where they lie among the values read.
 */
static int make_zone(const struct checking *c, uint64_t first, uint64_t part, uint64_t n,
                     struct gn_zone *zone)
{
	memset(zone, 0, sizeof *zone);
	for (uint64_t k = 0; k < n; k++) {
		union gn_value value;

		if (!gn_column_value(c->column->type, c->values, part + k, &value))
			continue;
		if (c->column->type == GN_COLUMN_STRING && value.exact >= c->column->words)
			return bad_value(c, first + k, "is not in the dictionary");
		if (gn_column_is_real(c->column->type) && !is_finite(value.real))
			return bad_value(c, first + k, "is infinite");
		gn_zone_add(zone, c->column->type, value);
	}
	return 0;
}

static int same(const struct gn_zone *a, const struct gn_zone *b, uint32_t type)
{
	if (a->present != b->present || b->reserved)
		return 0;
	if (gn_column_is_real(type)) /* 0 and -0 are the same */
		return a->least.real == b->least.real && a->most.real == b->most.real;
	return a->least.exact == b->least.exact && a->most.exact == b->most.exact;
}

static int check_zones(const struct checking *c, uint64_t first, uint64_t rows)
{
	for (uint64_t at = 0; at < rows; at += GN_COLUMN_ZONE_ROWS) {
		const uint64_t n = gn__min_u64(rows - at, GN_COLUMN_ZONE_ROWS);
		struct gn_zone zone;
		int err = make_zone(c, first + at, at, n, &zone);

		if (err)
			return err;
		if (!same(&zone, &c->zones[at / GN_COLUMN_ZONE_ROWS], c->column->type))
			return bad_value(c, first + at, "begins a zone whose map says what is not so");
	}
	return 0;
}

static int read_part(const struct checking *c, const struct gn_table_section *s, uint64_t done, void *into,
                     uint64_t bytes, uint32_t *crc)
{
	int err = gn__input_read(c->f->fd, c->f->name, s->at + done, into, bytes, c->e);

	*crc = gn__part_crc(*crc, into, bytes);
	return err;
}

static int check_padding(const struct checking *c, const struct gn_table_section *s)
{
	const uint64_t end = s->at + s->bytes, next = s->at + gn__table_page_up(s->bytes);
	unsigned char page[GN_TABLE_FILE_PAGE];
	int err = gn__input_read(c->f->fd, c->f->name, end, page, next - end, c->e);

	for (uint64_t k = 0; !err && k < next - end; k++)
		if (page[k])
			err = gn_error_set(c->e, -GN_EBADMSG,
			                   "%s: byte %llu: padding behind column %s is not zero; the file is "
			                   "damaged, convert the table again",
			                   c->f->name, (unsigned long long)(end + k), c->column->name);
	return err;
}

static int check_dictionary(const struct checking *c)
{
	struct gn_dictionary d;
	int err;

	if (c->column->type != GN_COLUMN_STRING)
		return 0;
	err = gn_table_dictionary(c->f, c->column, &d, c->e);
	if (!err)
		free(d.memory);
	return err ? err : check_padding(c, &c->column->dictionary);
}

static int check_column(const struct checking *c)
{
	const struct gn_column *column = c->column;
	const uint64_t rows = c->f->rows, width = gn_column_width(column->type);
	uint32_t data = 0, zones = 0;
	int err = 0;

	for (uint64_t at = 0; at < rows && !err; at += PART_ROWS) {
		const uint64_t n = gn__min_u64(rows - at, PART_ROWS);
		const uint64_t n_zones = (n + GN_COLUMN_ZONE_ROWS - 1) / GN_COLUMN_ZONE_ROWS;

		gn_progress_step(c->progress, "checking", column->data.at + at * width, c->f->bytes);
		err = read_part(c, &column->data, at * width, c->values, n * width, &data);
		if (!err)
			err = read_part(c, &column->zones, at / GN_COLUMN_ZONE_ROWS * sizeof *c->zones,
			                c->zones, n_zones * sizeof *c->zones, &zones);
		if (!err)
			err = check_zones(c, at, n);
	}
	if (!err && data != column->data.crc)
		err = gn__part_damaged(c->f, column, &column->data, "values", c->e);
	if (!err && zones != column->zones.crc)
		err = gn__part_damaged(c->f, column, &column->zones, "zone maps", c->e);
	if (!err)
		err = check_padding(c, &column->data);
	if (!err)
		err = check_padding(c, &column->zones);
	return err ? err : check_dictionary(c);
}

int gn_table_check(const struct gn_table_file *f, const struct gn_progress *progress, struct gn_error *e)
{
	struct checking c = {f,
	                     progress,
	                     NULL,
	                     malloc((size_t)PART_ROWS * 8),
	                     (struct gn_zone *)malloc(PART_ZONES * sizeof(struct gn_zone)),
	                     e};
	int err = 0;

	if (!c.values || !c.zones)
		err = gn_error_set(e, -GN_ENOMEM, "%s: out of memory to check the file (2 MiB)", f->name);
	for (uint32_t k = 0; !err && k < f->column_count; k++) {
		c.column = &f->columns[k];
		err = check_column(&c);
	}
	gn_progress_step(progress, "checking", f->bytes, f->bytes);
	free(c.values);
	free(c.zones);
	return err;
}
