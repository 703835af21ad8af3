/* SPDX-License-Identifier: Apache-2.0 */
#include "csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/io.h"

/* What get and peek return instead of a byte. */
enum { END = -1, FAILED = -2 };

int gn_csv_open(struct gn_csv *c, int fd, const char *name, const struct gn_progress *progress,
                struct gn_error *e)
{
	int err;

	memset(c, 0, offsetof(struct gn_csv, input));
	c->name = name;
	c->progress = progress;
	c->next_line = 1;
	err = gn__input_size(fd, name, &c->file_bytes, e);
	if (err)
		return err;
	err = gn__unpack_open(&c->file, fd);
	return err ? gn_error_set(e, err, "%s: the file cannot be read as text (%s)", name, c->file.why) : 0;
}

void gn_csv_close(struct gn_csv *c)
{
	gn__unpack_close(&c->file);
	free(c->row.field);
	free(c->record);
	memset(c, 0, offsetof(struct gn_csv, input));
}

static int refill(struct gn_csv *c, struct gn_error *e)
{
	int code;

	gn_progress_step(c->progress, "reading", c->file.taken, c->file_bytes);
	c->begin = 0;
	code = gn__unpack_read(&c->file, c->input, sizeof c->input, &c->end);
	if (code) {
		gn_error_set(e, code,
		             "%s: reading fails behind line %llu (%s); the file is cut or damaged, or the "
		             "disk is: copy it again",
		             c->name, (unsigned long long)c->next_line, c->file.why);
		return FAILED;
	}
	return c->end ? 0 : END;
}

static int peek(struct gn_csv *c, struct gn_error *e)
{
	if (c->begin == c->end) {
		const int rc = refill(c, e);

		if (rc)
			return rc;
	}
	return c->input[c->begin];
}

static int get(struct gn_csv *c, struct gn_error *e)
{
	const int byte = peek(c, e);

	if (byte >= 0)
		c->begin++;
	c->next_line += byte == '\n';
	return byte;
}

/* Fields are kept as offsets until the record is whole, since its memory may move. */
static int keep(struct gn_csv *c, int byte, struct gn_error *e)
{
	if (!byte)
		c->row.fault = "has a zero byte";
	if (c->used == c->room) {
		const size_t room = c->room ? 2 * c->room : 4096;
		char *record = room > GN_CSV_MOST_RECORD ? NULL : (char *)realloc(c->record, room);

		if (!record)
			return room > GN_CSV_MOST_RECORD
			           ? gn_error_set(e, -GN_EBADMSG,
			                          "%s: line %llu: the row has more than %d bytes; is a quote "
			                          "missing?",
			                          c->name, (unsigned long long)c->row.line,
			                          (int)GN_CSV_MOST_RECORD)
			           : gn_error_set(e, -GN_ENOMEM, "%s: out of memory for a row", c->name);
		c->record = record;
		c->room = room;
	}
	c->record[c->used++] = (char)byte;
	return 0;
}

static int begin_field(struct gn_csv *c, struct gn_error *e)
{
	if (c->row.fields == c->field_room) {
		const uint32_t room = c->field_room ? 2 * c->field_room : 32;
		struct gn_field *field =
		    (struct gn_field *)realloc(c->row.field, room * sizeof *c->row.field);

		if (!field)
			return gn_error_set(e, -GN_ENOMEM, "%s: out of memory for a row", c->name);
		c->row.field = field;
		c->field_room = room;
	}
	memset(&c->row.field[c->row.fields], 0, sizeof *c->row.field);
	c->row.field[c->row.fields].length = c->used;
	c->row.fields++;
	return 0;
}

/* Behind an opening quote: up to and with the closing one. */
static int read_quoted(struct gn_csv *c, struct gn_error *e)
{
	int rc = 0;

	while (!rc) {
		int byte = get(c, e);

		if (byte == '"') {
			if (peek(c, e) != '"')
				return 0;
			get(c, e);
		}
		if (byte == FAILED)
			return e ? e->code : -GN_EBADMSG;
		if (byte == END)
			return gn_error_set(e, -GN_EBADMSG,
			                    "%s: line %llu: a quote of this row is never closed; close it",
			                    c->name, (unsigned long long)c->row.line);
		rc = keep(c, byte, e);
	}
	return rc;
}

static int is_line_end(struct gn_csv *c, int byte, struct gn_error *e)
{
	if (byte == '\r' && peek(c, e) == '\n') {
		get(c, e);
		return 1;
	}
	return byte == '\n' || byte == END || (byte == '\r' && peek(c, e) == END);
}

/* One field; *more is 1 if another follows in this record. */
static int read_field(struct gn_csv *c, int *more, struct gn_error *e)
{
	int rc = begin_field(c, e);

	*more = 0;
	if (!rc && peek(c, e) == '"') {
		get(c, e);
		c->row.field[c->row.fields - 1].quoted = 1;
		rc = read_quoted(c, e);
	}
	while (!rc) {
		const int byte = get(c, e);

		if (byte == FAILED)
			return e ? e->code : -GN_EBADMSG;
		if (byte == ',' || is_line_end(c, byte, e)) {
			*more = byte == ',';
			return 0;
		}
		if (byte == '"' && !c->row.field[c->row.fields - 1].quoted)
			c->row.fault = "has a quote inside a field that is not in quotes";
		else if (c->row.field[c->row.fields - 1].quoted)
			c->row.fault = "has text behind a closing quote";
		rc = keep(c, byte, e);
	}
	return rc;
}

static void place_fields(struct gn_csv *c)
{
	size_t end = c->used;

	for (uint32_t k = c->row.fields; k--;) {
		const size_t begin = c->row.field[k].length;

		c->row.field[k].text = c->record ? c->record + begin : "";
		c->row.field[k].length = end - begin;
		end = begin;
	}
}

static void skip_mark(struct gn_csv *c)
{
	static const unsigned char mark[3] = {0xef, 0xbb, 0xbf}; /* of UTF-8's byte order */

	if (c->end - c->begin >= 3 && !memcmp(c->input + c->begin, mark, 3))
		c->begin += 3;
}

int gn_csv_next(struct gn_csv *c, struct gn_error *e)
{
	const int first = peek(c, e);
	int more = 1, rc = 0;

	c->row.line = c->next_line;
	c->row.fields = 0;
	c->used = 0;
	c->row.fault = NULL;
	if (first == END)
		return 0;
	if (first == FAILED)
		return e ? e->code : -GN_EBADMSG;
	if (c->row.line == 1)
		skip_mark(c);
	while (!rc && more)
		rc = read_field(c, &more, e);
	if (!rc)
		place_fields(c);
	return rc ? rc : 1;
}
