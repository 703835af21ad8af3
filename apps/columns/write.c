/* SPDX-License-Identifier: Apache-2.0 */
#include "write.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "graph/io.h"
#include "layout.h"
#include "parts.h"
#include "words.h"

enum { BUFFER = 1 << 17 };

/* A section that is written in order, while others of the file are, too. */
struct stream {
	uint64_t at; /* of the next byte that is written */
	uint32_t crc;
	uint32_t used;
	unsigned char *buffer; /* BUFFER */
};

struct column_writer {
	struct stream data, zones;
	struct gn_zone zone; /* of the rows since the last whole one */
	struct gn_words words;
};

struct gn_table_writer {
	struct gn_table_file file; /* what is being written; fd is not used */
	struct gn_output out;
	struct column_writer *columns;
	uint64_t rows; /* written so far */
	uint64_t end;  /* of all but the dictionaries */
};

/* ---- streams ---- */

static int flush(struct gn_table_writer *w, struct stream *s, struct gn_error *e)
{
	int err = gn__output_write_at(&w->out, s->at, s->buffer, s->used, e);

	s->crc = gn__part_crc(s->crc, s->buffer, s->used);
	s->at += s->used;
	s->used = 0;
	return err;
}

static int put(struct gn_table_writer *w, struct stream *s, const void *data, uint32_t bytes,
               struct gn_error *e)
{
	int err = s->used + bytes > BUFFER ? flush(w, s, e) : 0;

	memcpy(s->buffer + s->used, data, bytes);
	s->used += bytes;
	return err;
}

/* ---- begin ---- */

static int bad_column(const char *path, uint32_t k, const char *what, struct gn_error *e)
{
	return gn_error_set(e, -GN_EINVAL,
	                    "%s: the name of column %u %s; give every column a name of its own, of 1 to %d "
	                    "bytes",
	                    path, k + 1, what, (int)GN_COLUMN_MOST_NAME);
}

static int check_columns(const char *path, const struct gn_table_file *f, struct gn_error *e)
{
	for (uint32_t k = 0; k < f->column_count; k++) {
		const char *name = f->columns[k].name;

		if (!name[0])
			return bad_column(path, k, "is empty", e);
		if (gn_table_find(f, name, strlen(name)) < (int)k)
			return bad_column(path, k, "is that of another column", e);
	}
	return 0;
}

static int check_shape(const char *path, uint32_t count, uint64_t rows, struct gn_error *e)
{
	if (!count || count > GN_COLUMN_MOST)
		return gn_error_set(e, -GN_EINVAL, "%s: a table has 1 to %d columns, this one has %u", path,
		                    (int)GN_COLUMN_MOST, count);
	if (rows > GN_TABLE_MOST_ROWS)
		return gn_error_set(e, -GN_EFBIG, "%s: a table has at most %llu rows; split it", path,
		                    (unsigned long long)GN_TABLE_MOST_ROWS);
	return 0;
}

static int start_streams(struct gn_table_writer *w)
{
	for (uint32_t k = 0; k < w->file.column_count; k++) {
		struct column_writer *c = &w->columns[k];

		c->data.at = w->file.columns[k].data.at;
		c->zones.at = w->file.columns[k].zones.at;
		c->data.buffer = (unsigned char *)malloc(BUFFER);
		c->zones.buffer = (unsigned char *)malloc(BUFFER);
		if (!c->data.buffer || !c->zones.buffer)
			return -GN_ENOMEM;
	}
	return 0;
}

static int begin(struct gn_table_writer *w, const char *path, const struct gn_column *columns, uint32_t count,
                 uint64_t rows, struct gn_error *e)
{
	int err;

	w->out.fd = -1;
	w->file.rows = rows;
	w->file.column_count = count;
	w->file.columns = (struct gn_column *)calloc(count, sizeof *columns);
	w->columns = (struct column_writer *)calloc(count, sizeof *w->columns);
	if (!w->file.columns || !w->columns)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory for %u columns", path, count);
	memcpy(w->file.columns, columns, count * sizeof *columns);
	err = check_columns(path, &w->file, e);
	if (err)
		return err;
	w->end = gn__table_layout(&w->file);
	if (start_streams(w))
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory for %u columns", path, count);
	err = gn__output_begin(&w->out, path, w->end, e);
	if (!err && w->out.in_place)
		err = gn_error_set(e, -GN_EINVAL, "%s: the path is a device; name a file to write", path);
	return err;
}

int gn_table_writer_begin(struct gn_table_writer **w, const char *path, const struct gn_column *columns,
                          uint32_t count, uint64_t rows, struct gn_error *e)
{
	int err = check_shape(path, count, rows, e);

	*w = NULL;
	if (err)
		return err;
	*w = (struct gn_table_writer *)calloc(1, sizeof **w);
	if (!*w)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", path);
	err = begin(*w, path, columns, count, rows, e);
	if (err) {
		gn_table_writer_drop(*w);
		*w = NULL;
	}
	return err;
}

static void free_writer(struct gn_table_writer *w)
{
	for (uint32_t k = 0; w->columns && k < w->file.column_count; k++) {
		free(w->columns[k].data.buffer);
		free(w->columns[k].zones.buffer);
		gn__words_free(&w->columns[k].words);
	}
	free(w->columns);
	free(w->file.columns);
	free(w);
}

void gn_table_writer_drop(struct gn_table_writer *w)
{
	if (!w)
		return;
	gn__output_drop(&w->out);
	free_writer(w);
}

/* ---- rows ---- */

int gn_table_word(struct gn_table_writer *w, uint32_t column, const char *text, size_t length,
                  union gn_value *value, struct gn_error *e)
{
	uint32_t place = 0;
	int rc = gn__words_place(&w->columns[column].words, text, length, &place);

	value->exact = place;
	if (rc == -GN_EFBIG)
		return gn_error_set(
		    e, rc,
		    "column %s has more than %u different strings, or 4 GiB of them; leave it out by --types "
		    "%s=none, or give its numbers a type",
		    w->file.columns[column].name, GN_TABLE_MOST_WORDS, w->file.columns[column].name);
	return rc ? gn_error_set(e, rc, "out of memory for the strings of column %s",
	                         w->file.columns[column].name)
	          : 0;
}

int gn_cell_fits(uint32_t type, union gn_value value)
{
	switch (type) {
	case GN_COLUMN_I32: return value.exact > GN_MISSING_I32 && value.exact <= INT32_MAX;
	case GN_COLUMN_U32:
	case GN_COLUMN_STRING: return value.exact >= 0 && value.exact < GN_MISSING_U32;
	case GN_COLUMN_DECIMAL: return value.exact != GN_MISSING_I64;
	case GN_COLUMN_F32: return value.real - value.real == 0 && (float)value.real - (float)value.real == 0;
	default: return value.real - value.real == 0;
	}
}

static int put_value(struct gn_table_writer *w, uint32_t k, const struct gn_cell *cell, struct gn_error *e)
{
	const uint32_t type = w->file.columns[k].type;
	struct stream *s = &w->columns[k].data;
	const int64_t exact = cell->missing ? type == GN_COLUMN_I32       ? GN_MISSING_I32
	                                      : type == GN_COLUMN_DECIMAL ? GN_MISSING_I64
	                                                                  : GN_MISSING_U32
	                                    : cell->value.exact;
	const double real = cell->missing ? (double)NAN : cell->value.real;
	const float narrow = cell->missing ? NAN : gn_column_is_real(type) ? (float)real : 0;
	const uint32_t word = (uint32_t)exact;

	if (type == GN_COLUMN_F64)
		return put(w, s, &real, sizeof real, e);
	if (type == GN_COLUMN_F32)
		return put(w, s, &narrow, sizeof narrow, e);
	if (type == GN_COLUMN_DECIMAL)
		return put(w, s, &exact, sizeof exact, e);
	return put(w, s, &word, sizeof word, e);
}

/* What an f32 column says of its values is what it keeps of them. */
static union gn_value as_kept(uint32_t type, union gn_value value)
{
	if (type == GN_COLUMN_F32)
		value.real = (float)value.real;
	return value;
}

static int end_zone(struct gn_table_writer *w, uint32_t k, struct gn_error *e)
{
	struct column_writer *c = &w->columns[k];
	int err = put(w, &c->zones, &c->zone, sizeof c->zone, e);

	memset(&c->zone, 0, sizeof c->zone);
	return err;
}

int gn_table_writer_row(struct gn_table_writer *w, const struct gn_cell *cells, struct gn_error *e)
{
	const int last = (w->rows + 1) % GN_COLUMN_ZONE_ROWS == 0 || w->rows + 1 == w->file.rows;
	int err = 0;

	if (w->rows == w->file.rows)
		return gn_error_set(e, -GN_EINVAL, "%s: more rows than the %llu that were announced",
		                    w->out.path, (unsigned long long)w->rows);
	for (uint32_t k = 0; !err && k < w->file.column_count; k++) {
		const uint32_t type = w->file.columns[k].type;

		err = put_value(w, k, &cells[k], e);
		if (!cells[k].missing)
			gn_zone_add(&w->columns[k].zone, type, as_kept(type, cells[k].value));
		if (!err && last)
			err = end_zone(w, k, e);
	}
	w->rows++;
	return err;
}

/* ---- end ---- */

static void put_section(unsigned char *entry, unsigned at, const struct gn_table_section *s)
{
	gn__put_u64(entry, at + GN_PART_AT, s->at);
	gn__put_u64(entry, at + GN_PART_BYTES, s->bytes);
	gn__put_u32(entry, at + GN_PART_CRC, s->crc);
}

static void put_entry(unsigned char *entry, const struct gn_column *c)
{
	memcpy(entry + GN_ENTRY_NAME, c->name, strlen(c->name));
	gn__put_u32(entry, GN_ENTRY_TYPE, c->type);
	gn__put_u32(entry, GN_ENTRY_SCALE, c->scale);
	gn__put_u32(entry, GN_ENTRY_WORDS, c->words);
	put_section(entry, GN_ENTRY_DATA, &c->data);
	put_section(entry, GN_ENTRY_ZONES, &c->zones);
	put_section(entry, GN_ENTRY_DICTIONARY, &c->dictionary);
}

static void put_header(unsigned char *page, const struct gn_table_file *f, const unsigned char *directory,
                       uint64_t directory_bytes)
{
	memcpy(page + GN_TABLE_MAGIC, GN_TABLE_MAGIC_TEXT, 8);
	gn__put_u32(page, GN_TABLE_VERSION, GN_TABLE_FILE_VERSION);
	gn__put_u32(page, GN_TABLE_BYTE_ORDER, GN_TABLE_BYTE_ORDER_MARK);
	gn__put_u32(page, GN_TABLE_PAGE, GN_TABLE_FILE_PAGE);
	gn__put_u32(page, GN_TABLE_COLUMNS, f->column_count);
	gn__put_u64(page, GN_TABLE_ROWS, f->rows);
	gn__put_u32(page, GN_TABLE_ZONE_ROWS, GN_COLUMN_ZONE_ROWS);
	gn__put_u32(page, GN_TABLE_DIRECTORY_CRC, (uint32_t)crc32(0, directory, (uInt)directory_bytes));
	gn__put_u64(page, GN_TABLE_FILE_BYTES, f->bytes);
	gn__put_u32(page, GN_TABLE_CRC, gn__table_crc(page));
}

/* Header and directory: the last that is written. */
static int write_head(struct gn_table_writer *w, struct gn_error *e)
{
	const uint64_t bytes = gn__table_page_up((uint64_t)w->file.column_count * GN_ENTRY_WIDTH);
	unsigned char *head = (unsigned char *)calloc(1, GN_TABLE_FILE_PAGE + bytes);
	int err;

	if (!head)
		return gn_error_set(e, -GN_ENOMEM, "%s: out of memory", w->out.path);
	for (uint32_t k = 0; k < w->file.column_count; k++)
		put_entry(head + GN_TABLE_FILE_PAGE + (uint64_t)k * GN_ENTRY_WIDTH, &w->file.columns[k]);
	put_header(head, &w->file, head + GN_TABLE_FILE_PAGE, bytes);
	err = gn__output_write_at(&w->out, 0, head, GN_TABLE_FILE_PAGE + bytes, e);
	free(head);
	return err;
}

/* offsets and bytes of a dictionary, one behind the other */
static int write_dictionary(struct gn_table_writer *w, uint32_t k, struct gn_error *e)
{
	static const uint32_t none = 0;
	const struct gn_words *words = &w->columns[k].words;
	struct gn_column *c = &w->file.columns[k];
	const uint32_t *offsets = words->count ? words->offsets : &none;
	const uint64_t head = ((uint64_t)words->count + 1) * sizeof *offsets;
	int err;

	c->words = words->count;
	c->dictionary.bytes = c->type == GN_COLUMN_STRING ? head + offsets[words->count] : 0;
	w->file.bytes = gn__table_layout_dictionary(c, w->file.bytes);
	if (c->type != GN_COLUMN_STRING)
		return 0;
	c->dictionary.crc = gn__part_crc(gn__part_crc(0, offsets, head), words->bytes, offsets[words->count]);
	err = gn__output_write_at(&w->out, c->dictionary.at, offsets, head, e);
	return err ? err
	           : gn__output_write_at(&w->out, c->dictionary.at + head, words->bytes,
	                                 offsets[words->count], e);
}

static int end_columns(struct gn_table_writer *w, struct gn_error *e)
{
	int err = 0;

	w->file.bytes = w->end;
	for (uint32_t k = 0; !err && k < w->file.column_count; k++) {
		struct column_writer *c = &w->columns[k];

		err = flush(w, &c->data, e);
		if (!err)
			err = flush(w, &c->zones, e);
		w->file.columns[k].data.crc = c->data.crc;
		w->file.columns[k].zones.crc = c->zones.crc;
		if (!err)
			err = write_dictionary(w, k, e);
	}
	return err;
}

/* The padding of the last section makes the file as long as its header says; that of the others is a hole. */
static int pad(struct gn_table_writer *w, struct gn_error *e)
{
	return ftruncate(w->out.fd, (off_t)w->file.bytes)
	           ? gn_error_set(e, gn__code_of_errno(errno), "%s: writing failed (%s); check the disk",
	                          w->out.path, strerror(errno))
	           : 0;
}

int gn_table_writer_end(struct gn_table_writer *w, struct gn_error *e)
{
	int err = 0;

	if (w->rows != w->file.rows)
		err =
		    gn_error_set(e, -GN_EINVAL, "%s: %llu rows were written, but %llu were announced",
		                 w->out.path, (unsigned long long)w->rows, (unsigned long long)w->file.rows);
	if (!err)
		err = end_columns(w, e);
	if (!err)
		err = pad(w, e);
	if (!err)
		err = write_head(w, e);
	if (err) {
		gn_table_writer_drop(w);
		return err;
	}
	err = gn__output_end(&w->out, e);
	free_writer(w);
	return err;
}
