/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels.h - what the host hands to the kernel of a query.
 */
#ifndef GN_QUERY_KERNELS_H
#define GN_QUERY_KERNELS_H

#include <grapnel/array.h>
#include <grapnel/simt.h>

#include "program.h"

enum {
	GN_QUERY_CURSORS = 4,  /* columns of the condition that are read through one */
	GN_QUERY_SECTOR = 128, /* bytes: the least that the library moves */
	GN_QUERY_SOUND = 0,
	GN_QUERY_OVERFLOW = 1, /* a value does not fit its type */
	GN_QUERY_BAD_GROUP = 2 /* a value of the group's column that the zone maps do not have */
};

/* A column as the kernel reads it. */
struct gn_query_column {
	struct gn_array array;
	uint32_t type;     /* enum gn_column_type */
	uint32_t cursor;   /* its number; GN_QUERY_CURSORS: it has none */
	uint32_t *sectors; /* a bit for each sector: a value of it was read */
};

/*
 * What an expression comes to, over rows of a group. An exact sum is high * 2^32 + low.exact, and one
 * of doubles low.real. least and most are in an order of u64s (gn_query_key).
 */
struct gn_query_cell {
	uint64_t count; /* values that are not missing */
	union {
		uint64_t exact;
		double real;
	} low;
	uint64_t high;
	uint64_t least, most;
};

/* Words that all warps share; each counter on a line of its own. */
struct gn_query_shared {
	uint64_t taken; /* zones that warps have taken */
	uint64_t pad[15];
	uint32_t fault; /* GN_QUERY_*: the first one */
	uint32_t reserved;
	uint64_t fault_row;
};

struct gn_query_args {
	const struct gn_query_column *columns;
	uint32_t column_count;
	uint32_t slots;
	const struct gn_instruction *code;
	struct gn_program where; /* empty: every row matches */
	struct gn_program slot[GN_QUERY_SLOTS];
	uint32_t real;        /* bit k: slot k is a double */
	uint32_t counts_only; /* bit k: of slot k only the count is wanted */
	uint32_t has_group;
	uint32_t group_column; /* among columns */
	int64_t group_base;    /* its least value */
	uint64_t groups;       /* the last is that of missing values */
	const uint64_t *zones; /* those that cannot be skipped */
	uint64_t zone_count;
	uint64_t rows;
	uint32_t batch;              /* zones that a warp takes at once */
	uint64_t *group_rows;        /* [groups] */
	struct gn_query_cell *cells; /* [groups][slots] */
	struct gn_query_shared *shared;
};

/* The bits of a value in the order of values. */
SIMT_FN uint64_t gn_query_key(union gn_value value, int real)
{
	const uint64_t bits = (uint64_t)value.exact, sign = 1ull << 63;

	return real && bits & sign ? ~bits : bits ^ sign;
}

/* The value of a key. */
SIMT_FN union gn_value gn_query_of_key(uint64_t key, int real)
{
	const uint64_t sign = 1ull << 63;
	union gn_value value;

	value.exact = (int64_t)(real && !(key & sign) ? ~key : key ^ sign);
	return value;
}

/* Every row of the zones: does it match, and what do the expressions come to? */
SIMT_KERNEL_DECLARE(gn_query_rows);

#endif
