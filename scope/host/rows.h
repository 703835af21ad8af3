/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of the host, by the file that has them; rows.c lists them all. */
#ifndef GN_SCOPE_HOST_ROWS_H
#define GN_SCOPE_HOST_ROWS_H

#include "scope/host/fixture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum scope_stream { SCOPE_COPY, SCOPE_READ, SCOPE_WRITE };

/* stream.c: memory from end to end. */
struct scope_stream_row {
	struct scope_row row; /* first */
	enum scope_stream kind;
	enum scope_pages pages;
	bool nodes;   /* swept over pairs of nodes */
	bool flushed; /* no cache of the host holds a line when a sample begins */
};

/* chase.c: latency. */
struct scope_chase_row {
	struct scope_row row; /* first */
	enum scope_pages pages;
	bool nodes;
};

enum scope_file_way { SCOPE_PREAD, SCOPE_MMAP, SCOPE_URING };

/* file.c: reads at random places of a file. */
struct scope_file_row {
	struct scope_row row; /* first */
	enum scope_file_way way;
	bool direct; /* O_DIRECT */
	bool cold;   /* no page of it is in the page cache when a sample begins */
};

enum { SCOPE_STREAM_ROWS = 10, SCOPE_CHASE_ROWS = 4, SCOPE_FILE_ROWS = 6 };

extern const struct scope_stream_row scope_stream_rows[SCOPE_STREAM_ROWS];
extern const struct scope_chase_row scope_chase_rows[SCOPE_CHASE_ROWS];
extern const struct scope_file_row scope_file_rows[SCOPE_FILE_ROWS];
extern const struct scope_row scope_loaded_row;   /* loaded.c: latency while others read */
extern const struct scope_row scope_pingpong_row; /* pingpong.c: a line between two processors */

#ifdef __cplusplus
}
#endif

#endif
