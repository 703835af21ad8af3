/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.h - expressions as the kernel runs them: a machine with a small stack. Jumps lead forward only, so
 * a program ends after as many steps as it has instructions.
 */
#ifndef GN_QUERY_PROGRAM_H
#define GN_QUERY_PROGRAM_H

#include <stdint.h>

#include "columns/types.h"

enum {
	GN_QUERY_STACK = 16,
	GN_QUERY_COLUMNS = 24, /* that one query loads */
	GN_QUERY_SLOTS = 16,   /* expressions that it aggregates */
	GN_QUERY_CODE = 1024   /* instructions of all its programs */
};

/* What may hold between two values. */
enum { GN_LESS = 1, GN_EQUAL = 2, GN_GREATER = 4 };

enum gn_operation {
	GN_OP_LOAD,     /* push column `argument` of this row */
	GN_OP_CONSTANT, /* push value */
	GN_OP_SCALE, /* exact: the one `argument` below the top times value, if the two topmost are there */
	GN_OP_REAL,  /* exact to double: divided by value, a power of ten */
	GN_OP_NEGATE,
	GN_OP_ADD,
	GN_OP_SUBTRACT,
	GN_OP_MULTIPLY,
	GN_OP_COMPARE, /* push whether a relation of `argument` holds */
	GN_OP_REAL_NEGATE,
	GN_OP_REAL_ADD,
	GN_OP_REAL_SUBTRACT,
	GN_OP_REAL_MULTIPLY,
	GN_OP_REAL_DIVIDE,
	GN_OP_REAL_COMPARE,
	GN_OP_SKIP_FALSE, /* go to `argument` if the top is false, which stays */
	GN_OP_SKIP_TRUE,
	GN_OP_AND,
	GN_OP_OR,
	GN_OP_NOT,
	GN_OP_IS_NULL
};

struct gn_instruction {
	uint32_t operation;
	uint32_t argument;
	union gn_value value;
};

/* Instructions begin to end - 1; what is on the stack then is the value. */
struct gn_program {
	uint32_t begin, end;
};

#endif
