/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.h - a report's JSON as the writers see it: checked once, its samples beside their cells.
 *
 * Everything in it that is text is borrowed from the JSON. Values are above zero and finite, so that nothing
 * behind this need ask; a file that says otherwise is refused.
 */
#ifndef GN_SCOPE_READ_H
#define GN_SCOPE_READ_H

#include "scope/output.h"

/* What a report of this version says; the reader refuses others. */
enum { SCOPE_VERSION = 1 };

/* The names of units, timers and states in files, in the order of their enums. */
extern const char *const scope_unit_words[];
extern const char *const scope_timer_words[];
extern const char *const scope_status_words[];
extern const char *const scope_role_words[]; /* the first: none */

struct scope_read_row {
	const char *name, *summary, *paper, *direction, *limit, *second; /* "" for none, second NULL */
	enum scope_unit unit;
	enum scope_timer timer;
	enum scope_role role;
};

struct scope_read_cell {
	const struct scope_read_row *row;
	const char *name, *why;
	uint32_t args;
	struct scope_arg arg[SCOPE_MOST_ARGS];
	enum scope_status status;
	uint32_t samples;
	double *value;   /* in the row's unit */
	double *second;  /* of each sample, or NULL */
	double *seconds; /* of each sample's operation, by its clock */
	uint64_t operations, bytes;
	uint32_t rounds, end[SCOPE_MOST_ROUNDS]; /* samples up to the end of each round */
	struct scope_statistics s;               /* of value; 0 where there is none */
};

struct scope_read {
	const json_t *context;
	uint32_t rows, cells;
	struct scope_read_row *row;
	struct scope_read_cell *cell;
};

/* scope_read_make - check a report. Returns 0, GN_EINVAL with which entry and what is wrong, or GN_ENOMEM. */
int scope_read_make(const json_t *report, struct scope_read **out, struct gn_error *e);
void scope_read_free(struct scope_read *r);

/*
 * scope_write_read - read a report and write it by `put`, which returns whether it ran out of memory.
 * @what  is written, for a message
 */
int scope_write_read(const json_t *report, FILE *to, bool (*put)(FILE *to, const struct scope_read *r),
                     const char *what, struct gn_error *e);

/* scope_read_next - the measured cell of a row, or of any (NULL), behind c; NULL: the first; none: NULL. */
const struct scope_read_cell *scope_read_next(const struct scope_read *r, const struct scope_read_row *row,
                                              const struct scope_read_cell *c);

/* An argument's value; `otherwise` where the cell has none of that name. */
uint64_t scope_read_arg(const struct scope_read_cell *c, const char *name, uint64_t otherwise);

/* The context's member at a path such as "gpus.0.name", NULL where there is none. */
const json_t *scope_read_context(const struct scope_read *r, const char *path);
double scope_read_number(const struct scope_read *r, const char *path, double otherwise);
const char *scope_read_text(const struct scope_read *r, const char *path, const char *otherwise);

/* Is the row of that family, such as "copy"? */
bool scope_read_family(const struct scope_read_row *row, const char *family);

#endif
