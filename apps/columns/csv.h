/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - records of a file of comma-separated values, plain or gzipped, as RFC 4180 has them: a field in
 * quotes may hold commas, line ends and doubled quotes. Lines end with LF or CR LF.
 */
#ifndef GN_COLUMNS_CSV_H
#define GN_COLUMNS_CSV_H

#include <stddef.h>
#include <stdint.h>

#include <grapnel/error.h>

#include "fields.h"
#include "graph/progress.h"
#include "graph/unpack.h"

enum { GN_CSV_MOST_RECORD = 16 << 20, GN_CSV_INPUT = 1 << 18 };

struct gn_csv {
	struct gn_unpack file;
	const char *name; /* borrowed */
	const struct gn_progress *progress;
	uint64_t file_bytes;
	struct gn_record row; /* the record read last; its fields are text */
	/* private */
	uint64_t next_line;
	uint32_t field_room;
	char *record;
	size_t used, room;
	uint32_t begin, end;
	unsigned char input[GN_CSV_INPUT];
};

/* gn_csv_open - from the start of fd, which stays the caller's; name and progress are borrowed until close.
 */
int gn_csv_open(struct gn_csv *c, int fd, const char *name, const struct gn_progress *progress,
                struct gn_error *e);

void gn_csv_close(struct gn_csv *c);

/*
 * gn_csv_next - read the next record.
 * A record with a quote in a wrong place, or a zero byte, sets fault; reading goes on behind its line.
 * Returns 1; 0 after the last one; -GN_EBADMSG for a quote that is never closed, a record of more than
 * GN_CSV_MOST_RECORD bytes and a damaged gzip stream; -GN_ENOMEM; -GN_EIO.
 */
int gn_csv_next(struct gn_csv *c, struct gn_error *e);

#endif
