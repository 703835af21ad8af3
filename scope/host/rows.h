/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of the host, by the file that has them; rows.c lists them all. */
#ifndef GN_SCOPE_HOST_ROWS_H
#define GN_SCOPE_HOST_ROWS_H

#include "scope/host/fixture.h"

extern const struct scope_row_table scope_stream_rows;   /* stream.c: memory from end to end */
extern const struct scope_row_table scope_chase_rows;    /* chase.c: latency */
extern const struct scope_row_table scope_loaded_rows;   /* loaded.c: latency while others read */
extern const struct scope_row_table scope_pingpong_rows; /* pingpong.c: a line between two processors */
extern const struct scope_row_table scope_file_rows;     /* file.c: reads at random places of a file */

#endif
