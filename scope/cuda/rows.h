/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of this folder, for rows.cu to list. */
#ifndef GN_SCOPE_CUDA_ROWS_H
#define GN_SCOPE_CUDA_ROWS_H

#include "scope/cuda/transfer.h"

/* copy_rows.cu */
enum { SCOPE_COPY_ROWS = 26 };
extern const struct scope_transfer_row scope_copies[SCOPE_COPY_ROWS];

#endif
