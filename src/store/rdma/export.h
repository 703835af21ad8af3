/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - the bytes of a region that a server lends: memory, or a copy of a file in memory.
 *
 * Other machines write the memory past the kernel, which would not know that a page of a mapped file has
 * changed. So a file is read into memory when the server starts, and a flush writes what differs.
 */
#ifndef GN_STORE_RDMA_EXPORT_H
#define GN_STORE_RDMA_EXPORT_H

#include <store/host/region.h>
#include <store/rdma/hello.h>

struct gn_export {
	char name[GN_HELLO_NAME + 1];
	char *path; /* NULL: memory */
	int fd;     /* -1: memory */
	int read_only;
	struct gn_region region;
	uint64_t bytes;
	int unsure;        /* 1: a sync failed: what the system has of the file may not be on the medium */
	uint64_t instance; /* random; of a file that nobody may write, derived from the file */
};

/*
 * gn_export_open - open what "NAME=FILE" or "NAME=memory:SIZE" says.
 * Returns 0 or a negative code with the message set.
 */
int gn_export_open(struct gn_export *export_, const char *text, int read_only, struct gn_error *error);

/* gn_export_flush - write what differs to the file, and wait until it is on the medium. One thread. */
int gn_export_flush(struct gn_export *export_, struct gn_error *error);

void gn_export_close(struct gn_export *export_);

#endif
