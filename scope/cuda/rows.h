/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of this folder, for rows.cu to list. */
#ifndef GN_SCOPE_CUDA_ROWS_H
#define GN_SCOPE_CUDA_ROWS_H

#include "scope/cuda/transfer.h"

extern const struct scope_row_table scope_copies;      /* copy_rows.cu */
extern const struct scope_row_table scope_peers;       /* peer_rows.cu */
extern const struct scope_row_table scope_many;        /* many_rows.cu */
extern const struct scope_row_table scope_manageds;    /* managed_rows.cu */
extern const struct scope_row_table scope_allocations; /* allocation.cu */
extern const struct scope_row_table scope_calls;       /* calls.cu */

/* managed.cu: what managed_rows.cu makes rows of */
enum scope_how { SCOPE_DEMAND, SCOPE_PREFETCH, SCOPE_PREFETCH_BATCH, SCOPE_DISCARD_BATCH };
enum scope_where { SCOPE_AT_HOST, SCOPE_AT_GPU };

struct scope_managed_row {
	struct scope_row row; /* first: a pointer to it is one to this */
	enum scope_how how;
	enum scope_where from, to;
	bool both;
};

extern const struct scope_functions scope_managed;

/* managed_rows.cu */
int scope_managed_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p);

#endif
