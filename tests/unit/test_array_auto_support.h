/* SPDX-License-Identifier: Apache-2.0 */
/* test_array_auto_support.h - rates of a machine that is not here, and an object that chooses by them. */
#ifndef GN_TESTS_ARRAY_AUTO_SUPPORT_H
#define GN_TESTS_ARRAY_AUTO_SUPPORT_H

#include "test_cache_support.h"

#include <array/auto.h>

enum { COUNT = 1 << 19 /* words of 8 bytes: 4 MiB, 64 regions */, CACHE = 1 << 20, REGION_LINES = 512 };

/* Rates of a GPU behind PCIe: loads 0.7 G/s near and 43 M/s far, 51 GB/s; 12 M pages of 4 KiB a second. */
static inline struct gn_auto_rates gpu_rates(void)
{
	struct gn_auto_rates r;

	memset(&r, 0, sizeof r);
	r.measured = 1;
	r.line = 1.0e-9;
	r.sector = 0.375e-9;
	r.again = 0.1e-9;
	r.lost = 22e-9;
	r.hit = 0.04e-9;
	r.pin = 0.5e-9;
	r.held = 0.04e-9;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++) {
		r.together[p] = gn_auto_page_bytes[p] / 51e9;
		r.together[p] = r.together[p] > 30e-9 ? r.together[p] : 30e-9;
		r.alone[p] = 2 * r.together[p];
	}
	return r;
}

static inline struct gn_auto *open_choice(struct cache_test *t, uint64_t offset, uint64_t count, const struct gn_auto_rates *rates)
{
	struct gn_auto_rates copy = *rates;
	struct gn_auto *choice = NULL;
	struct gn_auto_config c;

	memset(&c, 0, sizeof c);
	c.cache_bytes = CACHE;
	c.offset = offset;
	c.count = count;
	c.element_bytes = 8;
	c.rates = &copy;
	if (gn_auto_open(&choice, t->machine, t->store, &c, &t->error))
		fail_msg("%s", t->error.text);
	return choice;
}

static inline void open_wide(struct cache_test *t, unsigned threads, unsigned width, const char *uri)
{
	close_store(t);
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(threads, width);
	t->held = (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_SHARED);
	if (gn_store_open(&t->store, t->machine, uri, NULL, &t->error))
		fail_msg("%s", t->error.text);
	fill_store(t, t->store);
}

#endif
