/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/rows.h"

const struct scope_row *const scope_host_rows[] = {
    &scope_stream_rows[0].row, &scope_stream_rows[1].row, &scope_stream_rows[2].row, &scope_stream_rows[3].row,
    &scope_stream_rows[4].row, &scope_stream_rows[5].row, &scope_stream_rows[6].row, &scope_stream_rows[7].row,
    &scope_stream_rows[8].row, &scope_stream_rows[9].row, &scope_chase_rows[0].row, &scope_chase_rows[1].row,
    &scope_chase_rows[2].row, &scope_chase_rows[3].row, &scope_loaded_row, &scope_pingpong_row, &scope_file_rows[0].row,
    &scope_file_rows[1].row, &scope_file_rows[2].row, &scope_file_rows[3].row, &scope_file_rows[4].row, &scope_file_rows[5].row,
    NULL};
