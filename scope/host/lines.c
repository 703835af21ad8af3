/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/memory.h"

#include "scope/host/words.h"
#include "scope/sampling.h"

#if defined(__x86_64__)
#include <emmintrin.h>

int scope_lines_flush(const void *memory, uint64_t bytes, uint32_t line_bytes, struct gn_error *e)
{
	const char *at = (const char *)((uintptr_t)memory / line_bytes * line_bytes), *end = (const char *)memory + bytes;

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
	return gn_error_set(e, -GN_ENOTSUP, "flushing cache lines is only known on x86-64");
}
#endif

/* Seconds of reading it, the median of some. */
static int read_again(const struct scope_memory *memory, uint32_t line_bytes, bool flush, double *seconds, struct gn_error *e)
{
	enum { TRIES = 9 };
	struct scope_statistics s;
	double value[TRIES];
	int rc = 0;

	for (unsigned k = 0; k < TRIES && !rc; k++) {
		double began;

		if (flush)
			rc = scope_lines_flush(memory->at, memory->bytes, line_bytes, e);
		began = scope_clock();
		scope_words_sum(memory->at, memory->bytes);
		value[k] = scope_clock() - began;
	}
	if (!rc)
		rc = scope_statistics_of(value, TRIES, &s);
	*seconds = rc ? 0 : s.median;
	return rc;
}

int scope_lines_check(uint32_t line_bytes, struct gn_error *e)
{
	struct scope_memory memory;
	double cached = 0, flushed = 0;
	int rc = scope_memory_take(&memory, 1 << 20, SCOPE_PAGES_SMALL, SCOPE_ANY_NODE, e);

	if (rc)
		return rc;
	rc = read_again(&memory, line_bytes, false, &cached, e);
	if (!rc)
		rc = read_again(&memory, line_bytes, true, &flushed, e);
	scope_memory_release(&memory);
	if (!rc && flushed < 1.5 * cached)
		rc = gn_error_set(e, -GN_EIO, "flushing lines does not work: 1 MiB is read in %.3g us after it, in %.3g us without",
				  1e6 * flushed, 1e6 * cached);
	return rc;
}
