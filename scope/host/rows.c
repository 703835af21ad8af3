/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/rows.h"

const struct scope_row_table *const scope_host_rows[] = {
    &scope_stream_rows, &scope_chase_rows, &scope_loaded_rows, &scope_pingpong_rows, &scope_file_rows, NULL};
