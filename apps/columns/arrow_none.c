/* SPDX-License-Identifier: Apache-2.0 */
/* What arrow.h says of a build without Arrow. */
#include "arrow.h"

const char *gn_arrow_version(void)
{
	return NULL;
}

int gn__arrow_open(struct gn_arrow **a, int fd, const char *name, int is_parquet,
                   const struct gn_progress *progress, struct gn_error *e)
{
	(void)fd;
	(void)progress;
	*a = NULL;
	return gn_error_set(
	    e, -GN_ENOTSUP,
	    "%s: this program was built without Apache Arrow, which reads %s files; build it where Arrow "
	    "is (docs/column-format.md says how), or write the table as a .csv file",
	    name, is_parquet ? "Parquet" : "Arrow");
}

int gn__arrow_next(struct gn_arrow *a, const struct gn_record **row, struct gn_error *e)
{
	(void)a;
	(void)row;
	(void)e;
	return 0;
}

int gn__arrow_column(const struct gn_arrow *a, uint32_t k, struct gn_column *c)
{
	(void)a;
	(void)k;
	(void)c;
	return 0;
}

const char *gn__arrow_type(const struct gn_arrow *a, uint32_t k)
{
	(void)a;
	(void)k;
	return "";
}

void gn__arrow_close(struct gn_arrow *a)
{
	(void)a;
}
