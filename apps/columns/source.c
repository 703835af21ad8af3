/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int ends_in(const char *path, const char *suffix)
{
	const size_t n = strlen(path), m = strlen(suffix);

	return n > m && !strcasecmp(path + n - m, suffix);
}

enum gn_table_source gn_table_source_of(const char *path)
{
	if (ends_in(path, ".csv") || ends_in(path, ".csv.gz"))
		return GN_SOURCE_CSV;
	if (ends_in(path, ".arrow") || ends_in(path, ".feather"))
		return GN_SOURCE_ARROW;
	return ends_in(path, ".parquet") ? GN_SOURCE_PARQUET : GN_SOURCE_NONE;
}

int gn__source_open(struct gn_source *s, int fd, const char *name, const struct gn_progress *progress,
                    struct gn_error *e)
{
	if (s->kind != GN_SOURCE_CSV)
		return gn__arrow_open(&s->arrow, fd, name, s->kind == GN_SOURCE_PARQUET, progress, e);
	s->csv = (struct gn_csv *)calloc(1, sizeof *s->csv);
	if (!s->csv)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", name);
	s->row = &s->csv->row;
	return gn_csv_open(s->csv, fd, name, progress, e);
}

int gn__source_next(struct gn_source *s, struct gn_error *e)
{
	return s->csv ? gn_csv_next(s->csv, e) : gn__arrow_next(s->arrow, &s->row, e);
}

void gn__source_close(struct gn_source *s)
{
	gn__arrow_close(s->arrow);
	if (s->csv)
		gn_csv_close(s->csv);
	free(s->csv);
	s->arrow = NULL;
	s->csv = NULL;
	s->row = NULL;
}
