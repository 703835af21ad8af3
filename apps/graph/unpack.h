/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unpack.h - the bytes of a file; those of a gzipped file unpacked, of all its members (RFC 1952). zlib's
 * gzread leaves out what stands behind a member and does not begin as another one does. Here that is an
 * error: a table or a graph must not lose its end without a word. Private to apps/.
 */
#ifndef GN_GRAPH_UNPACK_H
#define GN_GRAPH_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include <zlib.h>

#include <grapnel/error.h>

struct gn_unpack {
	uint64_t taken;  /* bytes of the file so far */
	const char *why; /* behind a failed read: what is wrong */
	bool packed;     /* the file is gzipped */
	/* private */
	bool is_open, between; /* between: where a member may begin, or the file may end */
	int fd;
	z_stream z;
	unsigned char input[1 << 16];
};

/*
 * gn__unpack_open - from the start of fd, which stays the caller's and open until close.
 * Returns 0, a code of lseek(2) or read(2), or -GN_ENOMEM; why says what. Close in any case.
 */
int gn__unpack_open(struct gn_unpack *u, int fd);

void gn__unpack_close(struct gn_unpack *u);

/*
 * gn__unpack_read - the next bytes, at most so many and at least one.
 * @got  receives how many; 0 at the end
 * Returns 0; -GN_EBADMSG (a stream that is cut or damaged, or has other bytes behind it); a code of read(2).
 */
int gn__unpack_read(struct gn_unpack *u, void *to, uint32_t bytes, uint32_t *got);

#endif
