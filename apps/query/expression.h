/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expression.h - expressions over the columns of a table: parsed, typed, and compiled for the kernel.
 *
 *     distance >= 30 and not (vendor = 'CMT' or tolls is null)
 *     total / distance
 *
 * Columns by their names, those that are not a plain word in double quotes; numbers; strings in single
 * quotes;
 * + - * /, comparisons (= == != <> < <= > >=), and, or, not, is null, is not null, parentheses. Words are as
 * in SQL, and so are missing values: an operation on one is missing, `false and missing` is false, and a row
 * matches where the condition is true.
 *
 * Numbers are exact (an i64 with decimal places that are known before the run) or doubles. + - * of exact
 * ones are exact, and it is an error if a value does not fit; / gives a double, and a missing value where the
 * divisor is 0. A number with an exponent is a double.
 */
#ifndef GN_QUERY_EXPRESSION_H
#define GN_QUERY_EXPRESSION_H

#include "columns/file.h"
#include "program.h"

enum {
	GN_EXPRESSION_NODES = 256,
	GN_EXPRESSION_DEPTH = 64 /* of parentheses, not and signs */
};

enum gn_node_kind {
	GN_NODE_NUMBER,
	GN_NODE_TEXT,
	GN_NODE_COLUMN,
	GN_NODE_NEGATE,
	GN_NODE_ADD,
	GN_NODE_SUBTRACT,
	GN_NODE_MULTIPLY,
	GN_NODE_DIVIDE,
	GN_NODE_COMPARE,
	GN_NODE_AND,
	GN_NODE_OR,
	GN_NODE_NOT,
	GN_NODE_IS_NULL
};

enum gn_node_type { GN_TYPE_EXACT, GN_TYPE_REAL, GN_TYPE_TEXT, GN_TYPE_TRUTH };

/* Children are places in the expression's nodes; they come before their parents. */
struct gn_node {
	enum gn_node_kind kind;
	enum gn_node_type type;
	uint32_t scale; /* exact: decimal places */
	uint32_t at;    /* in the text, from 1 */
	uint16_t left, right;
	uint32_t relation; /* compare: GN_LESS and so on, or-ed */
	uint32_t column;   /* of the table */
	union gn_value
	    value;        /* number; text beside a column: its place in the dictionary, -1 if it has none */
	const char *text; /* string: within the expression's text, doubled quotes as they are */
	uint32_t length;
};

struct gn_expression {
	const char *text; /* borrowed */
	const char *what; /* names it in messages: "where", say; borrowed */
	uint32_t count, root;
	struct gn_node node[GN_EXPRESSION_NODES];
};

/*
 * gn_expression_parse - read a text, over the columns of a table.
 * @what  names it in messages
 * Returns 0, or -GN_EINVAL: what is wrong, at which position of the text; which columns there are.
 * -GN_EBADMSG and others, where a dictionary cannot be read.
 */
int gn_expression_parse(struct gn_expression *x, const struct gn_table_file *table, const char *text,
                        const char *what, struct gn_error *e);

/* Where instructions go, and the columns that they load. */
struct gn_compiler {
	struct gn_instruction code[GN_QUERY_CODE];
	uint32_t count;
	uint32_t column[GN_QUERY_COLUMNS]; /* of the table */
	uint32_t columns;
	/* private */
	uint32_t depth;
	const struct gn_expression *expression;
	struct gn_error *e;
};

/*
 * gn_expression_compile - append the program of an expression.
 * @program  receives where it lies
 * Returns 0 or -GN_EINVAL: it needs too many instructions, columns or places on the stack.
 */
int gn_expression_compile(const struct gn_expression *x, struct gn_compiler *c, struct gn_program *program,
                          struct gn_error *e);

/* The place of a column of the table among those that programs load; it is put in. -1: there is no room. */
int gn_compiler_column(struct gn_compiler *c, uint32_t column);

/* gn_relation_mirrored - what holds between two values after they changed sides. */
uint32_t gn_relation_mirrored(uint32_t relation);

/* What is known of a zone: can the condition be true for a row of it, can it be false? */
struct gn_may {
	int yes, no;
};

/*
 * gn_expression_may - what the zone maps say of a condition.
 * @zones   by the table's columns: the zone of each; NULL for those whose maps were not read
 * @rows    of the zone
 * Never says that something cannot be which is.
 */
struct gn_may gn_expression_may(const struct gn_expression *x, const struct gn_table_file *table,
                                const struct gn_zone *const *zones, uint64_t rows);

/* gn_expression_uses - 1 for each of the table's columns that the expression names. */
void gn_expression_uses(const struct gn_expression *x, unsigned char *uses);

#endif
