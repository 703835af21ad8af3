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

#endif
