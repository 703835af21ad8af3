/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/memory.h"

#include "scope/host/ring.h"

#if defined(__x86_64__)
#include <emmintrin.h>

int scope_lines_flush(const void *memory, uint64_t bytes, uint32_t line_bytes, struct gn_error *e)
{
	const char *at = (const char *)((uintptr_t)memory / line_bytes * line_bytes),
	           *end = (const char *)memory + bytes;

	(void)e;
	for (; at < end; at += line_bytes)
		_mm_clflush(at);
	_mm_mfence();
	return 0;
}
#else
int scope_lines_flush(const void *memory, uint64_t bytes, uint32_t line_bytes, struct gn_error *e)
{
	(void)memory;
	(void)bytes;
	(void)line_bytes;
	return gn_error_set(e, -GN_ENOTSUP, "flushing cache lines is supported on x86-64 only");
}
#endif

/*
 * Seconds of one round of the ring, the least of some: whoever else uses the caches can only make one longer.
 */
static int round_again(struct scope_ring *r, uint32_t line_bytes, bool flush, double *seconds,
                       struct gn_error *e)
{
	enum { TRIES = 9 };
	struct scope_statistics s;
	double value[TRIES];
	int rc = 0;

	for (unsigned k = 0; k < TRIES && !rc; k++) {
		double began;

		if (flush)
			rc = scope_lines_flush(r->memory.at, r->memory.bytes, line_bytes, e);
		began = scope_clock();
		scope_ring_chase(r, r->lines);
		value[k] = scope_clock() - began;
	}
	if (!rc)
		rc = scope_statistics_of(value, TRIES, &s);
	*seconds = rc ? 0 : s.least;
	return rc;
}

int scope_lines_check(uint32_t line_bytes, struct gn_error *e)
{
	struct scope_ring ring;
	double cached = 0, flushed = 0;
	int rc = scope_ring_open(&ring, 256 << 10, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, e);

	if (rc)
		return rc;
	rc = round_again(&ring, line_bytes, false, &cached, e);
	if (!rc)
		rc = round_again(&ring, line_bytes, true, &flushed, e);
	if (!rc && flushed < 1.5 * cached)
		rc = gn_error_set(e, -GN_EIO,
		                  "flushing cache lines has no effect: a load from a ring of 256 KiB takes "
		                  "%.3g ns after the flush, %.3g ns without it",
		                  1e9 * flushed / (double)ring.lines, 1e9 * cached / (double)ring.lines);
	scope_ring_close(&ring);
	return rc;
}
