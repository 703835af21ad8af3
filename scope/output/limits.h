/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what bounds a row: the link's rate where it follows from its generation and width, else the best
 * that was measured over the same link in the same direction. Of a row whose limit is another row it is that.
 */
#ifndef GN_SCOPE_LIMITS_H
#define GN_SCOPE_LIMITS_H

#include "scope/output/read.h"

struct scope_limit {
	double rate;    /* bytes a second, or in the unit of the row that is the limit */
	bool physical;  /* from the link's own figures; otherwise measured */
	char text[128]; /* "PCIe 5 x16" or "best over host memory" */
};

/* scope_limit_of - false: there is none for that row, or nothing is known of it. */
bool scope_limit_of(const struct scope_read *r, const struct scope_read_row *row, struct scope_limit *limit);

/*
 * A row's link, told apart where one word means two, the memory of the host and that of a device, and of many
 * links at once; "" for none.
 */
const char *scope_link_of(const struct scope_read_row *row);

/* The largest of Google Benchmark's list of caches of the host; 0: not known. */
double scope_host_cache(const struct scope_read *r);

/* Do a cell's data lie beyond the caches before its link's memory? */
bool scope_beyond_caches(const struct scope_read *r, const struct scope_read_cell *c);

/* Both directions together? Then a link with a lane for each gives twice its rate. */
bool scope_is_duplex(const struct scope_read_row *row);

/*
 * scope_pcie_rate - bytes a second of a PCI Express link in one direction, after its line code; 0: not known.
 * Source: PCI Express Base Specification, 8b/10b up to generation 2, 128b/130b up to 5, 242 of the 256 bytes
 * of a flit in 6.
 */
double scope_pcie_rate(double generation, double width);

/*
 * scope_reach - how much memory behind a link address translation covers, as the latency of a chase or the
 * rate of random accesses over growing spans shows: the span before the step behind which all are a third
 * worse. Steps within twice the largest cache, or 64 MiB, are the caches'. 0: no such step was seen.
 */
double scope_reach(const struct scope_read *r, const char *link);

#endif
