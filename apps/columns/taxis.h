/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taxis.h - a table of taxi trips that is drawn, with the shares of long trips that two papers state:
 * BaM (section 5.3, appendix B.1) of New York, DREAM (section 5.5) of Chicago.
 */
#ifndef GN_COLUMNS_TAXIS_H
#define GN_COLUMNS_TAXIS_H

#include "file.h"

enum {
	GN_TAXIS_FAR = 3333, /* one trip in so many has 30 miles or more: 0.03 % */
	GN_TAXIS_LONG = 1250 /* one trip in so many takes more than 9000 seconds: 0.08 % */
};

/*
 * gn_taxis_write - draw trips and write them as a .gnt file.
 * Row k depends on the seed and k alone. Of each GN_TAXIS_FAR rows side by side one is far, of each
 * GN_TAXIS_LONG one is long; which one is drawn. Pickups ascend. Returns as gn_table_writer_end.
 */
int gn_taxis_write(const char *path, uint64_t rows, uint64_t seed, const struct gn_progress *progress,
                   struct gn_error *e);

#endif
