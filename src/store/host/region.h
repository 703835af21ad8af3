/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - a piece of host memory for a host: store: anonymous, or a file's.
 */
#ifndef GN_STORE_HOST_REGION_H
#define GN_STORE_HOST_REGION_H

#include <stdint.h>

#include <grapnel/error.h>

struct gn_region {
	char *memory; /* page-aligned */
	size_t bytes; /* a multiple of 4096 (or of the huge page) */
	void *base;   /* for munmap */
	size_t base_bytes;
	const char *pages; /* "huge pages", "transparent huge pages" or "4 KiB pages" */
};

/*
 * gn_region_allocate - allocate zeroed memory, all of it backed by pages when this returns.
 * @bytes  rounded up
 * Uses huge pages if the system has enough of them, else transparent huge pages if it gives them. Several
 * threads populate a large region. Returns 0 or -GN_ENOMEM (the message says how much memory there is).
 */
int gn_region_allocate(struct gn_region *region, uint64_t bytes, struct gn_error *error);

/*
 * gn_region_map - map a file.
 * @write  1: map it shared and writable; 0: readable
 * An empty file becomes one page of zeros. Returns 0 or -GN_ENOMEM.
 */
int gn_region_map(struct gn_region *region, int fd, uint64_t bytes, int write, struct gn_error *error);

/* gn_region_free - unmap. */
void gn_region_free(struct gn_region *region);

#endif
