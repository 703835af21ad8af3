/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text.h - lines and fields of a text file, plain or gzipped. Private to this folder.
 */
#ifndef GN_GRAPH_TEXT_H
#define GN_GRAPH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include <grapnel/error.h>

#include "progress.h"
#include "unpack.h"

enum { GN_TEXT_LINE_MAX = 1 << 16 };

struct gn_text {
	struct gn_unpack file;
	const char *name; /* borrowed */
	const struct gn_progress *progress;
	uint64_t file_bytes; /* of the file when it was opened, compressed or not */
	uint64_t line;       /* number of the line read last, from 1 */
	unsigned begin;      /* the unread part of buffer */
	unsigned end;
	bool ended;
	char buffer[2 * GN_TEXT_LINE_MAX];
};

/* Read from the start of fd, which stays the caller's; name and progress are borrowed until close. */
int gn__text_open(struct gn_text *t, int fd, const char *name, const struct gn_progress *progress,
                  struct gn_error *e);

void gn__text_close(struct gn_text *t);

/*
 * gn__text_line - the next line, without its end.
 * @line  receives it, terminated; valid until the next call
 * Returns 1, 0 after the last line, -GN_EBADMSG for a line that is too long or holds a zero byte, a
 * damaged or cut gzip stream and a file that shrank, or another code.
 */
int gn__text_line(struct gn_text *t, char **line, struct gn_error *e);

/*
 * gn__text_fail - the message for the line read last.
 * @line  quoted in the message, cut and made printable
 * @want  what a right line would be
 * Returns -GN_EBADMSG.
 */
int gn__text_fail(const struct gn_text *t, const char *line, const char *want, struct gn_error *e);

/* Skip blanks; true when that was all. */
bool gn__field_end(const char **p);

/* Read one number and the blanks before it. False, with *p anywhere, unless it is one that fits. */
bool gn__field_u64(const char **p, uint64_t *value);
bool gn__field_i32(const char **p, int32_t *value);
bool gn__field_f32(const char **p, float *value);

#endif
