/* SPDX-License-Identifier: Apache-2.0 */
#include "unpack.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "io.h"

/* Take a piece of the file; none is left at its end. */
static int take(struct gn_unpack *u)
{
	ssize_t n;

	do
		n = read(u->fd, u->input, sizeof u->input);
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		u->why = strerror(errno);
		return gn__code_of_errno(errno);
	}
	u->z.next_in = u->input;
	u->z.avail_in = (unsigned)n;
	u->taken += (uint64_t)n;
	return 0;
}

int gn__unpack_open(struct gn_unpack *u, int fd)
{
	int rc;

	memset(u, 0, offsetof(struct gn_unpack, input));
	u->fd = fd;
	if (lseek(fd, 0, SEEK_SET)) {
		u->why = strerror(errno);
		return gn__code_of_errno(errno);
	}
	rc = take(u);
	u->packed = u->z.avail_in > 1 && u->input[0] == 0x1f && u->input[1] == 0x8b;
	if (rc || !u->packed)
		return rc;
	u->is_open = inflateInit2(&u->z, 16 + MAX_WBITS) == Z_OK; /* gzip's header and checksum */
	u->why = "out of memory";
	return u->is_open ? 0 : -GN_ENOMEM;
}

void gn__unpack_close(struct gn_unpack *u)
{
	if (u->is_open)
		inflateEnd(&u->z);
	u->is_open = false;
}

static int read_plain(struct gn_unpack *u, void *to, uint32_t bytes, uint32_t *got)
{
	const int rc = u->z.avail_in ? 0 : take(u);

	*got = u->z.avail_in < bytes ? u->z.avail_in : bytes;
	memcpy(to, u->z.next_in, *got);
	u->z.next_in += *got;
	u->z.avail_in -= *got;
	return rc;
}

static int fail(struct gn_unpack *u, const char *why)
{
	u->why = why;
	return -GN_EBADMSG;
}

/* Unpack some of the input. */
static int step(struct gn_unpack *u)
{
	int rc;

	if (u->between) /* every byte behind a member belongs to another one */
		inflateReset(&u->z);
	u->between = false;
	rc = inflate(&u->z, Z_NO_FLUSH);
	u->between = rc == Z_STREAM_END;
	if (rc == Z_MEM_ERROR) {
		u->why = "out of memory";
		return -GN_ENOMEM;
	}
	return rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR
	           ? 0
	           : fail(u, u->z.msg ? u->z.msg : "it needs a dictionary");
}

int gn__unpack_read(struct gn_unpack *u, void *to, uint32_t bytes, uint32_t *got)
{
	int rc = 0;

	*got = 0;
	if (!u->packed)
		return read_plain(u, to, bytes, got);
	u->z.next_out = (unsigned char *)to;
	u->z.avail_out = bytes;
	while (!rc && u->z.avail_out == bytes) {
		if (!u->z.avail_in)
			rc = take(u);
		if (!rc && !u->z.avail_in) /* the file ends */
			return u->between ? 0 : fail(u, "unexpected end of file");
		if (!rc)
			rc = step(u);
	}
	*got = bytes - u->z.avail_out;
	return rc;
}
