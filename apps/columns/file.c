/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "graph/io.h"
#include "layout.h"

static uint64_t place(struct gn_table_section *s, uint64_t at, uint64_t bytes)
{
	s->at = at;
	s->bytes = bytes;
	return at + gn__table_page_up(bytes);
}

uint64_t gn__table_layout(struct gn_table_file *f)
{
	uint64_t at = GN_TABLE_FILE_PAGE + gn__table_page_up((uint64_t)f->column_count * GN_ENTRY_WIDTH);

	for (uint32_t k = 0; k < f->column_count; k++) {
		struct gn_column *c = &f->columns[k];

		at = place(&c->data, at, f->rows * gn_column_width(c->type));
		at = place(&c->zones, at, gn_table_zone_count(f) * sizeof(struct gn_zone));
	}
	return at;
}

uint64_t gn__table_layout_dictionary(struct gn_column *c, uint64_t at)
{
	return place(&c->dictionary, at, c->dictionary.bytes);
}

uint32_t gn__table_crc(const unsigned char *page)
{
	static const unsigned char zero[4] = {0};
	uLong crc = crc32(0, page, GN_TABLE_CRC);

	crc = crc32(crc, zero, sizeof zero);
	return (uint32_t)crc32(crc, page + GN_TABLE_END, GN_TABLE_FILE_PAGE - GN_TABLE_END);
}

/* ---- the header page ---- */

/* Everything that can be said without knowing what the numbers mean. */
static int check_frame(const unsigned char *page, const char *name, struct gn_error *e)
{
	if (memcmp(page, GN_TABLE_MAGIC_TEXT, 8))
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte 0: this is not a Grapnel column file; make one with 'grapnel "
		                    "convert TABLE.csv TABLE.gnt'",
		                    name);
	if (gn__get_u32(page, GN_TABLE_BYTE_ORDER) != GN_TABLE_BYTE_ORDER_MARK)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: byte %d: the file was written in another byte order; convert the "
		                    "table on this machine",
		                    name, (int)GN_TABLE_BYTE_ORDER);
	if (gn__get_u32(page, GN_TABLE_VERSION) != GN_TABLE_FILE_VERSION)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: byte %d: the format has version %u, but this program reads version "
		                    "%d; update this program or convert the table again",
		                    name, (int)GN_TABLE_VERSION, gn__get_u32(page, GN_TABLE_VERSION),
		                    (int)GN_TABLE_FILE_VERSION);
	if (gn__get_u32(page, GN_TABLE_CRC) != gn__table_crc(page))
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte %d: the checksum of the header is wrong, the file is damaged; "
		                    "copy or convert it again",
		                    name, (int)GN_TABLE_CRC);
	return 0;
}

static int bad_field(const char *name, uint64_t at, const char *what, uint64_t value, struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: byte %llu: %s of %llu is not possible; copy or convert the file again", name,
	                    (unsigned long long)at, what, (unsigned long long)value);
}

static int get_counts(struct gn_table_file *f, const unsigned char *page, const char *name,
                      struct gn_error *e)
{
	f->column_count = gn__get_u32(page, GN_TABLE_COLUMNS);
	f->rows = gn__get_u64(page, GN_TABLE_ROWS);
	f->bytes = gn__get_u64(page, GN_TABLE_FILE_BYTES);
	if (gn__get_u32(page, GN_TABLE_PAGE) != GN_TABLE_FILE_PAGE)
		return bad_field(name, GN_TABLE_PAGE, "a page size", gn__get_u32(page, GN_TABLE_PAGE), e);
	if (gn__get_u32(page, GN_TABLE_ZONE_ROWS) != GN_COLUMN_ZONE_ROWS)
		return bad_field(name, GN_TABLE_ZONE_ROWS, "rows of a zone",
		                 gn__get_u32(page, GN_TABLE_ZONE_ROWS), e);
	if (!f->column_count || f->column_count > GN_COLUMN_MOST)
		return bad_field(name, GN_TABLE_COLUMNS, "a number of columns", f->column_count, e);
	if (f->rows > GN_TABLE_MOST_ROWS)
		return bad_field(name, GN_TABLE_ROWS, "a number of rows", f->rows, e);
	for (uint64_t at = GN_TABLE_END; at < GN_TABLE_FILE_PAGE; at++)
		if (page[at]) /* a later version may give these bytes a meaning, which this one would miss */
			return bad_field(name, at, "a reserved byte", page[at], e);
	return 0;
}

static int read_header(struct gn_table_file *f, const char *name, uint64_t bytes, unsigned char *page,
                       struct gn_error *e)
{
	int err;

	if (bytes < GN_TABLE_FILE_PAGE)
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: the file ends at byte %llu, inside a header of 4096 bytes: it is no "
		                    "whole Grapnel column file; copy it again, or make one with 'grapnel "
		                    "convert TABLE.csv TABLE.gnt'",
		                    name, (unsigned long long)bytes);
	err = gn__input_read(f->fd, name, 0, page, GN_TABLE_FILE_PAGE, e);
	if (!err)
		err = check_frame(page, name, e);
	if (!err)
		err = get_counts(f, page, name, e);
	if (!err && bytes != f->bytes)
		err = gn_error_set(e, -GN_EBADMSG,
		                   "%s: the file has %llu bytes, but its header says %llu: it is %s; copy or "
		                   "convert it again",
		                   name, (unsigned long long)bytes, (unsigned long long)f->bytes,
		                   bytes < f->bytes ? "truncated" : "oversized");
	return err;
}

/* ---- the directory ---- */

/* An entry of the directory, and where it lies. */
struct entry {
	const unsigned char *bytes;
	uint64_t at;
	const char *name; /* of the file */
};

static int get_section(const struct entry *d, uint64_t at, struct gn_table_section *s, struct gn_error *e)
{
	const uint64_t begin = gn__get_u64(d->bytes, at + GN_PART_AT);
	const uint64_t bytes = gn__get_u64(d->bytes, at + GN_PART_BYTES);

	if (begin != s->at)
		return bad_field(d->name, d->at + at + GN_PART_AT, "a section start", begin, e);
	if (bytes != s->bytes)
		return bad_field(d->name, d->at + at + GN_PART_BYTES, "a section length", bytes, e);
	if (gn__get_u32(d->bytes, at + GN_PART_RESERVED))
		return bad_field(d->name, d->at + at + GN_PART_RESERVED, "a reserved word",
		                 gn__get_u32(d->bytes, at + GN_PART_RESERVED), e);
	s->crc = gn__get_u32(d->bytes, at + GN_PART_CRC);
	return 0;
}

static int get_name(const struct entry *d, struct gn_column *c, struct gn_error *e)
{
	size_t length;

	memcpy(c->name, d->bytes + GN_ENTRY_NAME, sizeof c->name);
	length = strnlen(c->name, sizeof c->name);
	for (size_t k = length; k < sizeof c->name; k++)
		if (c->name[k] || length > GN_COLUMN_MOST_NAME)
			return bad_field(d->name, d->at + k, "a byte behind a column's name",
			                 (unsigned char)c->name[k], e);
	return length ? 0 : bad_field(d->name, d->at, "the length of a column's name", 0, e);
}

static int get_type(const struct entry *d, struct gn_column *c, struct gn_error *e)
{
	c->type = gn__get_u32(d->bytes, GN_ENTRY_TYPE);
	c->scale = gn__get_u32(d->bytes, GN_ENTRY_SCALE);
	c->words = gn__get_u32(d->bytes, GN_ENTRY_WORDS);
	if (!c->type || c->type >= GN_COLUMN_TYPES)
		return bad_field(d->name, d->at + GN_ENTRY_TYPE, "a column's type", c->type, e);
	if (c->scale > (c->type == GN_COLUMN_DECIMAL ? GN_COLUMN_MOST_SCALE : 0))
		return bad_field(d->name, d->at + GN_ENTRY_SCALE, "a column's scale", c->scale, e);
	if (c->words && (c->type != GN_COLUMN_STRING || c->words > GN_TABLE_MOST_WORDS))
		return bad_field(d->name, d->at + GN_ENTRY_WORDS, "a number of strings", c->words, e);
	for (uint64_t at = GN_ENTRY_RESERVED; at < GN_ENTRY_WIDTH; at++)
		if ((at < GN_ENTRY_DATA || at >= GN_ENTRY_END) && d->bytes[at])
			return bad_field(d->name, d->at + at, "a reserved byte", d->bytes[at], e);
	return 0;
}

static struct entry entry_of(const unsigned char *directory, uint32_t k, const char *name)
{
	struct entry d = {directory + (uint64_t)k * GN_ENTRY_WIDTH,
	                  GN_TABLE_FILE_PAGE + (uint64_t)k * GN_ENTRY_WIDTH, name};

	return d;
}

/* Dictionaries lie behind all columns, in the columns' order. */
static int get_dictionary(const struct entry *d, struct gn_column *c, uint64_t *end, uint64_t file_bytes,
                          struct gn_error *e)
{
	const uint64_t bytes = gn__get_u64(d->bytes, GN_ENTRY_DICTIONARY + GN_PART_BYTES);
	const uint64_t least = c->type == GN_COLUMN_STRING ? ((uint64_t)c->words + 1) * 4 : 0;

	if (bytes < least || (c->type != GN_COLUMN_STRING && bytes) || bytes > file_bytes)
		return bad_field(d->name, d->at + GN_ENTRY_DICTIONARY + GN_PART_BYTES, "a section length",
		                 bytes, e);
	c->dictionary.bytes = bytes;
	*end = gn__table_layout_dictionary(c, *end);
	return get_section(d, GN_ENTRY_DICTIONARY, &c->dictionary, e);
}

static int get_sections(struct gn_table_file *f, const unsigned char *directory, const char *name,
                        struct gn_error *e)
{
	uint64_t end = gn__table_layout(f);
	int err = 0;

	for (uint32_t k = 0; !err && k < f->column_count; k++) {
		const struct entry d = entry_of(directory, k, name);

		err = get_section(&d, GN_ENTRY_DATA, &f->columns[k].data, e);
		if (!err)
			err = get_section(&d, GN_ENTRY_ZONES, &f->columns[k].zones, e);
		if (!err)
			err = get_dictionary(&d, &f->columns[k], &end, f->bytes, e);
	}
	if (!err && end != f->bytes)
		err = bad_field(name, GN_TABLE_FILE_BYTES, "a file size", f->bytes, e);
	return err;
}

static int check_names(const struct gn_table_file *f, const char *name, struct gn_error *e)
{
	for (uint32_t k = 1; k < f->column_count; k++) {
		const int before = gn_table_find(f, f->columns[k].name, strlen(f->columns[k].name));

		if (before < (int)k)
			return gn_error_set(e, -GN_EBADMSG,
			                    "%s: columns %d and %u have the same name, \"%s\"; convert the "
			                    "table again",
			                    name, before, k, f->columns[k].name);
	}
	return 0;
}

static int get_columns(struct gn_table_file *f, const unsigned char *directory, const char *name,
                       struct gn_error *e)
{
	int err = 0;

	for (uint32_t k = 0; !err && k < f->column_count; k++) {
		const struct entry d = entry_of(directory, k, name);

		err = get_name(&d, &f->columns[k], e);
		if (!err)
			err = get_type(&d, &f->columns[k], e);
	}
	if (!err)
		err = check_names(f, name, e);
	return err ? err : get_sections(f, directory, name, e);
}

static int check_directory(const struct gn_table_file *f, const unsigned char *page,
                           const unsigned char *directory, uint64_t bytes, const char *name,
                           struct gn_error *e)
{
	if (gn__get_u32(page, GN_TABLE_DIRECTORY_CRC) != (uint32_t)crc32(0, directory, (uInt)bytes))
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: bytes %d to %llu: the checksum of the directory is wrong, the file "
		                    "is damaged; copy or convert it again",
		                    name, (int)GN_TABLE_FILE_PAGE,
		                    (unsigned long long)(GN_TABLE_FILE_PAGE + bytes));
	for (uint64_t at = (uint64_t)f->column_count * GN_ENTRY_WIDTH; at < bytes; at++)
		if (directory[at])
			return bad_field(name, GN_TABLE_FILE_PAGE + at, "a byte of padding", directory[at],
			                 e);
	return 0;
}

static int read_directory(struct gn_table_file *f, const unsigned char *page, const char *name,
                          struct gn_error *e)
{
	const uint64_t bytes = gn__table_page_up((uint64_t)f->column_count * GN_ENTRY_WIDTH);
	unsigned char *directory;
	int err;

	if (bytes > f->bytes - GN_TABLE_FILE_PAGE)
		return bad_field(name, GN_TABLE_FILE_BYTES, "a file size", f->bytes, e);
	directory = (unsigned char *)malloc(bytes);
	f->columns = (struct gn_column *)calloc(f->column_count, sizeof *f->columns);
	if (directory && f->columns)
		err = gn__input_read(f->fd, name, GN_TABLE_FILE_PAGE, directory, bytes, e);
	else
		err = gn_error_set(e, -GN_ENOMEM, "%s: out of memory to open the file", name);
	if (!err)
		err = check_directory(f, page, directory, bytes, name, e);
	if (!err)
		err = get_columns(f, directory, name, e);
	free(directory);
	return err;
}

/* ---- open and close ---- */

/* Takes fd over, whatever happens. */
static int open_owned(struct gn_table_file *f, int fd, const char *name, uint64_t bytes, struct gn_error *e)
{
	unsigned char page[GN_TABLE_FILE_PAGE];
	int err;

	f->fd = fd;
	f->name = strdup(name);
	err = f->name ? read_header(f, name, bytes, page, e)
	              : gn_error_set(e, -GN_ENOMEM, "%s: out of memory to open the file", name);
	if (!err)
		err = read_directory(f, page, name, e);
	if (err)
		gn_table_close(f);
	return err;
}

int gn_table_open(struct gn_table_file *f, const char *path, struct gn_error *e)
{
	uint64_t bytes;
	int fd, err;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	err = gn__input_open(path, &fd, &bytes, e);
	return err ? err : open_owned(f, fd, path, bytes, e);
}

int gn_table_open_fd(struct gn_table_file *f, int fd, const char *name, struct gn_error *e)
{
	uint64_t bytes;
	int err, own;

	memset(f, 0, sizeof *f);
	f->fd = -1;
	err = gn__input_again(fd, name, &own, &bytes, e);
	return err ? err : open_owned(f, own, name, bytes, e);
}

void gn_table_close(struct gn_table_file *f)
{
	if (f->name || f->fd > 0)
		close(f->fd);
	free(f->name);
	free(f->columns);
	memset(f, 0, sizeof *f);
	f->fd = -1;
}

/* ---- columns ---- */

int gn_table_find(const struct gn_table_file *f, const char *name, size_t length)
{
	for (uint32_t k = 0; k < f->column_count; k++)
		if (strlen(f->columns[k].name) == length && !memcmp(f->columns[k].name, name, length))
			return (int)k;
	return -1;
}

uint64_t gn_table_zone_count(const struct gn_table_file *f)
{
	return (f->rows + GN_COLUMN_ZONE_ROWS - 1) / GN_COLUMN_ZONE_ROWS;
}

const char *gn_column_type_name(uint32_t type)
{
	static const char *const names[] = {"?", "i32", "u32", "decimal", "f32", "f64", "string"};

	return names[type < GN_COLUMN_TYPES ? type : 0];
}
