/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - the bytes of a .gng header (docs/graph-format.md). Private to this folder.
 */
#ifndef GN_GRAPH_LAYOUT_H
#define GN_GRAPH_LAYOUT_H

#include <stdint.h>

#include "file.h"
#include "io.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "graph files are little-endian and read without conversion; this machine is not"
#endif

/* Where each field lies in the header page. */
enum {
	GN_HEADER_MAGIC = 0,
	GN_HEADER_VERSION = 8,
	GN_HEADER_BYTE_ORDER = 12,
	GN_HEADER_PAGE = 16,
	GN_HEADER_FLAGS = 20,
	GN_HEADER_WEIGHT = 24,
	GN_HEADER_RESERVED = 28,
	GN_HEADER_VERTICES = 32,
	GN_HEADER_EDGES = 40,
	GN_HEADER_OFFSETS = 48,
	GN_HEADER_NEIGHBOURS = 72,
	GN_HEADER_WEIGHTS = 96,
	GN_HEADER_FILE_BYTES = 120,
	GN_HEADER_CRC = 128,
	GN_HEADER_END = 132
};

/* Inside a section's 24 bytes. */
enum {
	GN_SECTION_AT = 0,
	GN_SECTION_BYTES = 8,
	GN_SECTION_CRC = 16,
	GN_SECTION_RESERVED = 20,
	GN_SECTION_WIDTH = 24
};

#define GN_HEADER_MAGIC_TEXT "GNGRAPH\n"
#define GN_HEADER_BYTE_ORDER_MARK UINT32_C(0x01020304)

static inline uint64_t gn__page_up(uint64_t bytes)
{
	return (bytes + GN_GRAPH_FILE_PAGE - 1) / GN_GRAPH_FILE_PAGE * GN_GRAPH_FILE_PAGE;
}

/*
 * gn__layout_fill - place the sections that vertices, edges and weight of f ask for; checksums stay.
 * Version 1 knows one layout: offsets, neighbours, weights, each from the next page on. The counts
 * are within GN_GRAPH_MAX_*, so nothing overflows.
 */
void gn__layout_fill(struct gn_graph_file *f);

/* gn__header_put - the header page of a file whose sections are placed and have their checksums. */
void gn__header_put(unsigned char *page, const struct gn_graph_file *f);

/* zlib's crc32 of a header page, its own checksum counted as zero. */
uint32_t gn__header_crc(const unsigned char *page);

#endif
