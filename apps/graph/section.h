/* SPDX-License-Identifier: Apache-2.0 */
/*
 * section.h - checks of the arrays of a graph, part by part, and their checksums. Private to this
 * folder.
 */
#ifndef GN_GRAPH_SECTION_H
#define GN_GRAPH_SECTION_H

#include <stdint.h>

#include "file.h"

/* zlib's crc32 of memory of any length, on OpenMP's threads. */
uint32_t gn__crc_of(const void *data, uint64_t bytes);

/*
 * gn__offsets_check - whether a stretch of offsets is sound.
 * @part      n offsets, the first of them number first
 * @previous  the offset before part; 0 before the first of all
 * @edges     where they must not lead past, and where the last of vertices + 1 must lead
 */
int gn__offsets_check(const uint64_t *part, uint64_t first, uint64_t n, uint64_t previous,
                      const struct gn_graph_file *f, struct gn_error *e);

/* Neighbour i of a part of the section. */
static inline uint64_t gn__neighbour(const void *part, uint64_t i, uint32_t id_bytes)
{
	return id_bytes == 8 ? ((const uint64_t *)part)[i] : ((const uint32_t *)part)[i];
}

/* gn__neighbours_check - whether n neighbours, the first of them number first, are vertices. */
int gn__neighbours_check(const void *part, uint64_t first, uint64_t n, const struct gn_graph_file *f,
                         struct gn_error *e);

/* The message for neighbour number i that is smaller than the one before it in a sorted row. */
int gn__unsorted(const struct gn_graph_file *f, uint64_t i, struct gn_error *e);

/* The message for a section whose checksum is not what the header says. */
int gn__crc_check(const struct gn_graph_file *f, const struct gn_graph_section *s, const char *what,
                  uint32_t crc, struct gn_error *e);

#endif
