/* SPDX-License-Identifier: Apache-2.0 */
/*
 * io.h - files as readers and writers of data want them: regular, whole, or not at all. Private to apps/ and
 * tools/.
 */
#ifndef GN_GRAPH_IO_H
#define GN_GRAPH_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <grapnel/error.h>

/* The library's code for an errno value; -GN_EIO for what has no name of its own. */
int gn__code_of_errno(int error);

/*
 * gn__input_open - open a regular file for reading.
 * Does NOT block on a FIFO: whatever is not a regular file is refused with -GN_EINVAL.
 */
int gn__input_open(const char *path, int *fd, uint64_t *bytes, struct gn_error *e);

/* The size of an open file, refused with -GN_EINVAL unless it is regular. */
int gn__input_size(int fd, const char *name, uint64_t *bytes, struct gn_error *e);

/* A descriptor of its own for an open file, and the file's size; refused as above. */
int gn__input_again(int fd, const char *name, int *own, uint64_t *bytes, struct gn_error *e);

/*
 * gn__input_read - read exactly so many bytes at an offset.
 * The caller has held at + bytes against the size of the file, so an early end means that the file
 * shrank meanwhile: -GN_EBADMSG. Any thread.
 */
int gn__input_read(int fd, const char *name, uint64_t at, void *into, uint64_t bytes, struct gn_error *e);

/* A file that appears under its name when it is complete, or never. */
struct gn_output {
	int fd;
	bool in_place; /* a character device: written directly */
	bool unnamed;  /* has no name yet (O_TMPFILE), so a killed process leaves nothing */
	char *path;    /* where it shall appear, links resolved; owned */
	char *temp;    /* its name until then; owned */
	uint64_t written;
};

/*
 * gn__output_begin - start a file.
 * @bytes  what will be written, so that a full disk is known before the work
 * On failure nothing is left to drop.
 */
int gn__output_begin(struct gn_output *o, const char *path, uint64_t bytes, struct gn_error *e);

/* Append. On failure the caller drops o. */
int gn__output_write(struct gn_output *o, const void *data, uint64_t bytes, struct gn_error *e);

/*
 * gn__output_write_at - write at an offset, in any order; a file that is not a device. written stays as it
 * is. On failure the caller drops o.
 */
int gn__output_write_at(struct gn_output *o, uint64_t at, const void *data, uint64_t bytes,
                        struct gn_error *e);

/* Make it so many bytes long: cut it, or add bytes that are 0. A file that is not a device. */
int gn__output_resize(struct gn_output *o, uint64_t bytes, struct gn_error *e);

/* Bring the bytes to the disk, then give the file its name. Frees o whatever happens. */
int gn__output_end(struct gn_output *o, struct gn_error *e);

/* Give up: nothing of the file remains. */
void gn__output_drop(struct gn_output *o);

/* ---- numbers in the bytes of a file, which are this machine's ---- */

static inline uint32_t gn__get_u32(const unsigned char *page, uint64_t at)
{
	uint32_t value;

	memcpy(&value, page + at, sizeof value);
	return value;
}

static inline uint64_t gn__get_u64(const unsigned char *page, uint64_t at)
{
	uint64_t value;

	memcpy(&value, page + at, sizeof value);
	return value;
}

static inline void gn__put_u32(unsigned char *page, uint64_t at, uint32_t value)
{
	memcpy(page + at, &value, sizeof value);
}

static inline void gn__put_u64(unsigned char *page, uint64_t at, uint64_t value)
{
	memcpy(page + at, &value, sizeof value);
}

#endif
