/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - sums, averages, least and most values, and counts of expressions over the rows of a table that
 * match a condition, on any machine; the table may be larger than its memory.
 */
#ifndef GN_QUERY_QUERY_H
#define GN_QUERY_QUERY_H

#include "columns/file.h"
#include "expression.h"
#include "kernels.h"

/* What is asked of an expression; several may be. */
enum gn_aggregate { GN_WANT_SUM = 1, GN_WANT_AVG = 2, GN_WANT_MIN = 4, GN_WANT_MAX = 8, GN_WANT_COUNT = 16 };

#define GN_QUERY_MOST_GROUPS 65536

/* One expression, in all its aggregates. */
struct gn_query_slot {
	struct gn_expression expression;
	uint32_t aggregates; /* enum gn_aggregate, or-ed */
};

/* Does an aggregate of the slot need the sum? */
static inline int gn_query_slot_sums(const struct gn_query_slot *s)
{
	return (s->aggregates & ((uint32_t)GN_WANT_SUM | (uint32_t)GN_WANT_AVG)) != 0;
}

/* A query that is ready to run. All 0 before gn_query_begin. */
struct gn_query {
	const struct gn_table_file *table;
	struct gn_expression *where; /* NULL: every row */
	struct gn_query_slot *slot[GN_QUERY_SLOTS];
	uint32_t slots;
	struct gn_compiler compiler; /* the code, and the columns that it loads */
	struct gn_program where_program, slot_program[GN_QUERY_SLOTS];
	unsigned char *in_where; /* by the table's columns: the condition reads it */
	int has_group;
	uint32_t group; /* of the table's columns */
	int64_t group_base;
	uint64_t groups; /* 1 without a group; else the last is that of missing values */
	/* zones that may have a matching row */
	uint64_t *zones;
	uint64_t zone_count;
	uint64_t pages, pages_skipped; /* of 4 KiB, of the columns of the condition */
	uint64_t map_bytes;            /* of zone maps that the host read */
};

/*
 * gn_query_begin - start a query over a table, which is borrowed until gn_query_end.
 * @where  the condition; NULL: every row
 * Returns 0 or a code of gn_expression_parse; -GN_ENOMEM. Call gn_query_end in any case.
 */
int gn_query_begin(struct gn_query *q, const struct gn_table_file *table, const char *where,
                   struct gn_error *e);

/*
 * gn_query_aggregate - ask for something of an expression; the same text may be given again.
 * @text  borrowed until gn_query_end
 * Returns 0, -GN_EINVAL (the expression; it is no number; too many expressions), -GN_ENOMEM.
 */
int gn_query_aggregate(struct gn_query *q, enum gn_aggregate what, const char *text, struct gn_error *e);

/*
 * gn_query_group - results for each value of a column: a string, or an exact one of few values.
 * Returns 0, -GN_EINVAL (which columns there are; more than GN_QUERY_MOST_GROUPS values between the least and
 * the most).
 */
int gn_query_group(struct gn_query *q, const char *column, struct gn_error *e);

/* gn_query_ready - compile, and find the zones that can be skipped. Then q->compiler.column says what is
 * read. */
int gn_query_ready(struct gn_query *q, struct gn_error *e);

void gn_query_end(struct gn_query *q);

/* What an expression comes to, over rows of a group. */
struct gn_query_total {
	uint64_t count; /* values that are not missing */
	__int128 exact; /* the sum */
	double real;    /* the sum, of doubles */
	double sizes;   /* the sum of what the doubles are without their signs; the reference's only */
	union gn_value least, most;
};

struct gn_query_result {
	uint64_t rows;                 /* that matched */
	uint64_t *group_rows;          /* [groups]; owned */
	struct gn_query_total *totals; /* [groups][slots]; owned */
	uint64_t needed_bytes;         /* sectors that hold a value which was read; of gn_query_run */
	double seconds;
};

/*
 * gn_query_run - run a query on a machine.
 * @arrays     one for each of q->compiler.columns, in their order, over the columns' values
 * @at_once    zones that one launch looks at; 0: as many as its sums have room for
 * @result     free it by gn_query_result_free, also after a failure
 * Exact sums are of 128 bits and cannot overflow. Doubles are added in any order: the sum is within
 * count * 2^-53 times the sum of the sizes of what is added. Host. Returns 0; -GN_ERANGE (a value does not
 * fit its type, with its row; a sum of doubles is too large); -GN_EBADMSG (a table whose zone maps are
 * wrong); -GN_ENOMEM; what an array could not read; what the machine failed with.
 */
int gn_query_run(const struct gn_query *q, struct simt_machine *machine, struct gn_array *arrays,
                 uint64_t at_once, struct gn_query_result *result, const struct gn_progress *progress,
                 struct gn_error *e);

/*
 * gn_query_reference - the same on the host: every row of the file, in order, by the expression itself.
 * Nothing is shared with the kernel, the compiler or the zone maps.
 */
int gn_query_reference(const struct gn_query *q, struct gn_query_result *result,
                       const struct gn_progress *progress, struct gn_error *e);

/*
 * gn_query_verify - compare a result with the reference's: exact sums, counts, least and most values must be
 * equal, sums of doubles as near as gn_query_run says, for both.
 * Returns 0 or -GN_EBADMSG: which expression, which group, both values.
 */
int gn_query_verify(const struct gn_query *q, const struct gn_query_result *got,
                    const struct gn_query_result *want, struct gn_error *e);

void gn_query_result_free(struct gn_query_result *result);

/* gn_query_result_init - room for a query's result, empty. */
int gn_query_result_init(struct gn_query_result *result, const struct gn_query *q, struct gn_error *e);

/* gn_query_total_add - put a part's total to the whole's. */
void gn_query_total_add(struct gn_query_total *to, const struct gn_query_total *from, int real);

#endif
