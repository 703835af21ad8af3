/* SPDX-License-Identifier: Apache-2.0 */
#include "section.h"

#include <zlib.h>

uint32_t gn__crc_of(const void *data, uint64_t bytes)
{
	enum { CHUNK = 1 << 22, CHUNKS = 64 };
	const unsigned char *from = (const unsigned char *)data;
	uLong crc = crc32(0, NULL, 0);

	while (bytes) {
		uLong part[CHUNKS];
		uint64_t step = gn__min_u64(bytes, (uint64_t)CHUNK * CHUNKS);
		uint64_t chunks = (step + CHUNK - 1) / CHUNK;

#pragma omp parallel for
		for (uint64_t k = 0; k < chunks; k++) {
			uint64_t n = gn__min_u64(step - k * CHUNK, CHUNK);

			part[k] = crc32(0, from + k * CHUNK, (uInt)n);
		}
		for (uint64_t k = 0; k < chunks; k++) {
			uint64_t n = gn__min_u64(step - k * CHUNK, CHUNK);

			crc = crc32_combine(crc, part[k], (z_off_t)n);
		}
		from += step;
		bytes -= step;
	}
	return (uint32_t)crc;
}

int gn__crc_check(const struct gn_graph_file *f, const struct gn_graph_section *s, const char *what,
                  uint32_t crc, struct gn_error *e)
{
	if (crc == s->crc)
		return 0;
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s: bytes %llu to %llu: the checksum of the %s is wrong, the file is damaged; copy or "
	    "convert it again",
	    f->name, (unsigned long long)s->at, (unsigned long long)(s->at + s->bytes), what);
}

static int bad_offset(const struct gn_graph_file *f, uint64_t i, uint64_t value, const char *what,
                      struct gn_error *e)
{
	return gn_error_set(
	    e, -GN_EBADMSG,
	    "%s: byte %llu: offset %llu is %llu, which %s; the file is damaged, convert the graph again",
	    f->name, (unsigned long long)(f->offsets.at + i * 8), (unsigned long long)i,
	    (unsigned long long)value, what);
}

int gn__offsets_check(const uint64_t *part, uint64_t first, uint64_t n, uint64_t previous,
                      const struct gn_graph_file *f, struct gn_error *e)
{
	if (first == 0 && part[0] != 0)
		return bad_offset(f, 0, part[0], "is not 0", e);
	for (uint64_t i = 0; i < n; i++) {
		if (part[i] < previous)
			return bad_offset(f, first + i, part[i], "is less than the offset before it", e);
		if (part[i] > f->edges)
			return bad_offset(f, first + i, part[i], "is past the last edge", e);
		previous = part[i];
	}
	if (first + n == f->vertices + 1 && previous != f->edges)
		return bad_offset(f, f->vertices, previous, "is not the number of edges", e);
	return 0;
}

int gn__neighbours_check(const void *part, uint64_t first, uint64_t n, const struct gn_graph_file *f,
                         struct gn_error *e)
{
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t vertex = gn__neighbour(part, i, f->id_bytes);

		if (vertex < f->vertices)
			continue;
		return gn_error_set(e, -GN_EBADMSG,
		                    "%s: byte %llu: neighbour %llu is %llu, but the graph has %llu vertices; "
		                    "the file is damaged, convert the graph again",
		                    f->name,
		                    (unsigned long long)(f->neighbours.at + (first + i) * f->id_bytes),
		                    (unsigned long long)(first + i), (unsigned long long)vertex,
		                    (unsigned long long)f->vertices);
	}
	return 0;
}

int gn__unsorted(const struct gn_graph_file *f, uint64_t i, struct gn_error *e)
{
	return gn_error_set(e, -GN_EBADMSG,
	                    "%s: byte %llu: neighbour %llu is less than the neighbour before it, but the "
	                    "file says that neighbours are sorted; convert the graph again",
	                    f->name, (unsigned long long)(f->neighbours.at + i * f->id_bytes),
	                    (unsigned long long)i);
}
