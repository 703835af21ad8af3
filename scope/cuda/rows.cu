/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/rows.h"

extern "C" const struct scope_row_table *const scope_cuda_rows[] = {
    &scope_copies, &scope_peers, &scope_many, &scope_manageds, &scope_allocations, &scope_calls, NULL};
