/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/counts.h>

#include <string.h>

#define UNIT_BYTES 512000u /* the drive counts bytes in thousands of 512 */

void gn_counts_begin(struct gn_counts *c, struct gn_drive *d)
{
	memset(c, 0, sizeof *c);
	c->has_log = !gn_drive_log_counts(d, &c->first, NULL);
	c->last = c->first;
}

void gn_counts_get(struct gn_counts *c, const struct gn_block *b, const struct gn_watch *w,
                   struct gn_store_statistics *statistics)
{
	/*
	 * During a reset, and after a failure, the drive tells nothing. One that does not answer is not asked
	 * again: each time would take as long, and keep a slot of the admin queue.
	 */
	if (c->has_log && gn_drive_log_counts(b->drive, &c->last, NULL) == -GN_ETIMEDOUT)
		c->has_log = 0;
	statistics->reads += c->last.reads - c->first.reads;
	statistics->writes += c->last.writes - c->first.writes;
	statistics->read_bytes += (c->last.read_units - c->first.read_units) * UNIT_BYTES;
	statistics->written_bytes += (c->last.written_units - c->first.written_units) * UNIT_BYTES;
	statistics->failed += simt_load_relaxed_dev_u64(&b->failed);
	statistics->retries += simt_load_relaxed_dev_u64(&b->retries);
	statistics->read_timeouts += simt_load_relaxed_dev_u64(&w->read_timeouts);
	statistics->write_timeouts += simt_load_relaxed_dev_u64(&w->write_timeouts);
	statistics->aborts += simt_load_relaxed_dev_u64(&b->drive->aborts);
	statistics->resets += simt_load_acquire_dev_u32(&w->resets);
}
