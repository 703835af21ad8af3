/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counts.h - what a drive has done for a store, by the drive's own counters: those see the commands of
 * kernels too, also of kernels on a GPU, and cost these nothing.
 */
#ifndef GN_STORE_NVME_COUNTS_H
#define GN_STORE_NVME_COUNTS_H

#include <grapnel/store.h>
#include <store/nvme/admin.h>
#include <store/nvme/watch.h>

struct gn_counts {
	struct gn_drive_log first, last; /* when the store was opened; when it was asked last */
	int has_log;                     /* the drive tells, as far as we know */
};

/* gn_counts_begin - after the drive was opened. A drive that does not tell is none the worse for it. */
void gn_counts_begin(struct gn_counts *c, struct gn_drive *d);

/*
 * gn_counts_get - add what was counted to the statistics. Of a drive that has failed: what was known before.
 * Any thread, one at a time.
 */
void gn_counts_get(struct gn_counts *c, const struct gn_block *b, const struct gn_watch *w,
                   struct gn_store_statistics *statistics);

#endif
