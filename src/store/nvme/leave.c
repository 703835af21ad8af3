/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/leave.h>

#include <time.h>

#include <store/nvme/renew.h>

struct gn_nvmeq *gn_watch_queue(const struct gn_watch *w, uint32_t k)
{
	struct gn_block *b = w->block;

	return !w->can_reset ? &b->host->q : &b->pair[k].q;
}

void gn_watch_nap(uint64_t ns)
{
	struct timespec pause = {0, (long)ns};

	nanosleep(&pause, NULL);
}

void gn_watch_reap(const struct gn_nvmeq *q)
{
	for (uint32_t k = 0; k < q->depth && gn_nvmeq_reap(q); k++)
		;
}

void gn_watch_answer_all(struct gn_watch *w)
{
	for (uint32_t k = 0; k < w->pairs; k++) {
		struct gn_nvmeq *q = gn_watch_queue(w, k);

		gn_nvmeq_answer(q, &w->pair[k].tail, w->pair[k].answered,
		                GN_NVME_HOST_ABORTED | GN_NVME_DO_NOT_RETRY);
		gn_watch_reap(q);
	}
}

void gn_watch_take_over(struct gn_watch *w)
{
	for (uint32_t k = 0; k < w->pairs; k++)
		w->pair[k].tail = gn_nvmeq_posted(gn_watch_queue(w, k));
}

int gn_watch_hold_doorbells(struct gn_watch *w)
{
	const uint64_t deadline = simt_clock_ns() + GN_WATCH_COLLECT_NS;
	int rc = 0;

	for (uint32_t k = 0; k < w->pairs && !rc; k++) {
		if (!w->pair[k].silent)
			rc = gn_nvmeq_hold_doorbells(gn_watch_queue(w, k), deadline);
		w->pair[k].silent = !rc;
	}
	return rc;
}

/*
 * The controller was told to stop. Does it move no data any more? If it does not stop, cut it off. One that
 * is gone moves nothing; it is cut off too, in case that only its registers are.
 */
int gn_watch_is_quiet(const struct gn_watch *w)
{
	struct gn_drive *d = w->block->drive;
	const uint32_t status = gn_drive_read(d, GN_REG_CSTS);
	int cut;

	if (!(status & GN_CSTS_RDY))
		return 1;
	cut = d->dma->cut && !d->dma->cut(d->dma);
	return cut || status == GN_CSTS_GONE;
}

/* A command must not end, and its buffer not be used again, while the controller may still move its data. */
void gn_watch_settle(struct gn_watch *w, int quiet)
{
	if (quiet && !w->quiet)
		gn_watch_take_over(w);
	w->quiet |= quiet;
	if (w->quiet)
		gn_watch_answer_all(w);
}

void gn_watch_fail(struct gn_watch *w, const struct gn_error *why)
{
	gn_drive_fail(w->block->drive, why);
	gn_watch_hold_doorbells(w); /* if a thread does not give one back, the store fails all the same */
	gn_watch_settle(w, !gn_drive_disable(w->block->drive, NULL) || gn_watch_is_quiet(w));
}

/* The drive completes nothing any more. */
static int has_died(const struct gn_watch *w)
{
	const uint32_t status = gn_drive_read(w->block->drive, GN_REG_CSTS);

	return status == GN_CSTS_GONE || status & GN_CSTS_CFS || !(status & GN_CSTS_RDY);
}

/* With the doorbells held, wait until the controller has done what it was told. 1: it has, and does no more.
 */
static int finish(struct gn_watch *w)
{
	const uint64_t deadline = simt_clock_ns() + (w->finish_ns ? w->finish_ns : GN_WATCH_COLLECT_NS);
	uint32_t busy;

	do {
		busy = 0;
		for (uint32_t k = 0; k < w->pairs; k++) {
			gn_watch_reap(gn_watch_queue(w, k));
			busy += !w->pair[k].silent || !gn_nvmeq_is_idle(gn_watch_queue(w, k));
		}
		if (busy)
			gn_watch_nap(GN_WATCH_BUSY_NS);
	} while (busy && simt_clock_ns() < deadline && !has_died(w));
	return !busy;
}

/* Commands that come meanwhile do not wait for it. */
static void shut_down(struct gn_watch *w)
{
	const uint64_t deadline = simt_clock_ns() + GN_DRIVE_SHUTDOWN_NS;

	gn_drive_shut_down(w->block->drive);
	while (!gn_drive_is_down(w->block->drive) && simt_clock_ns() < deadline) {
		gn_watch_answer_all(w);
		gn_watch_nap(GN_WATCH_BUSY_NS);
	}
}

/*
 * The system wants a drive that is well. It is not stopped in the middle of commands: those end with the
 * drive's own answer, and only those that it was not told of are aborted.
 */
void gn_watch_leave(struct gn_watch *w)
{
	struct gn_error why = {0, ""};

	gn_error_set(&why, -GN_ENODEV,
	             "%s: the system takes the drive away (it is being removed or unbound); close the store",
	             w->block->drive->name);
	gn_drive_fail(w->block->drive, &why);
	if (!gn_watch_hold_doorbells(w) && finish(w)) {
		gn_watch_settle(w, 1);
		shut_down(w);
	}
	gn_watch_settle(w, !gn_drive_disable(w->block->drive, NULL) || gn_watch_is_quiet(w));
}

/* The system wants the device. Without it nothing moves. */
void gn_watch_give_back(struct gn_watch *w)
{
	w->owed = w->release(w->user) != 0;
	gn_watch_settle(w, !w->owed);
}

int gn_watch_is_wanted(struct gn_watch *w)
{
	return w->owed || (w->wanted && w->wanted(w->user));
}
