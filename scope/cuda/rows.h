/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of this folder, for rows.cu to list. */
#ifndef GN_SCOPE_CUDA_ROWS_H
#define GN_SCOPE_CUDA_ROWS_H

#include "scope/cuda/transfer.h"

/* copy_rows.cu */
enum { SCOPE_COPY_ROWS = 26 };
extern const struct scope_transfer_row scope_copies[SCOPE_COPY_ROWS];

/* peer_rows.cu */
enum { SCOPE_PEER_ROWS = 17 };
extern const struct scope_transfer_row scope_peers[SCOPE_PEER_ROWS];

/* many_rows.cu */
enum { SCOPE_MANY_ROWS = 5 };
extern const struct scope_transfer_row scope_many[SCOPE_MANY_ROWS];

/* managed.cu */
enum scope_how { SCOPE_DEMAND, SCOPE_PREFETCH, SCOPE_PREFETCH_BATCH, SCOPE_DISCARD_BATCH };
enum scope_where { SCOPE_AT_HOST, SCOPE_AT_GPU };

struct scope_managed_row {
	struct scope_row row; /* first: a pointer to it is one to this */
	enum scope_how how;
	enum scope_where from, to;
	bool both;
};

enum { SCOPE_MANAGED_ROWS = 13 };
extern const struct scope_managed_row scope_manageds[SCOPE_MANAGED_ROWS];

#endif
