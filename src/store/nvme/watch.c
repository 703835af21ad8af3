/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/watch.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <store/nvme/admin.h>
#include <store/nvme/leave.h>
#include <store/nvme/renew.h>

#define IDLE_NS 10000000u    /* between two looks while all is well */
#define GRACE_NS 1000000000u /* for an Abort; from it to a reset; for one look at all commands */

/* ---- reset ---- */

static void hold_free_slots(const struct gn_nvmeq *q, struct gn_watched *p)
{
	uint32_t cid;

	while (p->held < q->depth - 1 && !gn__nvmeq_try_begin(q, &cid))
		p->slot[p->held++] = cid;
}

/*
 * Complete what is outstanding, and take every slot as it comes back. When all are here, no thread is between
 * begin and end, so nobody posts.
 */
static int collect(struct gn_watch *w)
{
	const uint64_t deadline = simt_clock_ns() + GN_WATCH_COLLECT_NS;
	uint32_t missing;

	do {
		gn_watch_answer_all(w);
		missing = 0;
		for (uint32_t k = 0; k < w->pairs; k++) {
			struct gn_nvmeq *q = gn_watch_queue(w, k);

			hold_free_slots(q, &w->pair[k]);
			missing += q->depth - 1 - w->pair[k].held;
		}
		if (missing)
			gn_watch_nap(GN_WATCH_BUSY_NS);
	} while (missing && simt_clock_ns() < deadline);
	return missing ? -GN_ETIMEDOUT : 0;
}

static void let_go(struct gn_watch *w)
{
	for (uint32_t k = 0; k < w->pairs; k++) {
		struct gn_watched *p = &w->pair[k];

		while (p->held)
			gn_nvmeq_end(gn_watch_queue(w, k), p->slot[--p->held]);
	}
}

static void forget(struct gn_watched *p, uint32_t depth)
{
	if (p->busy)
		memset(p->aborted, 0, depth * sizeof *p->aborted);
	p->busy = 0;
}

static int renew_queues(struct gn_watch *w)
{
	const uint64_t deadline = simt_clock_ns() + GN_WATCH_COLLECT_NS;

	for (uint32_t k = 0; k < w->pairs; k++) {
		struct gn_nvmeq *q = gn_watch_queue(w, k);

		if (gn_nvmeq_renew_all(q, deadline))
			return -GN_ETIMEDOUT;
		w->pair[k].silent = 0;
		forget(&w->pair[k], q->depth);
		memset(w->pair[k].answered, 0, q->depth * sizeof *w->pair[k].answered);
	}
	return 0;
}

static int bring_up(struct gn_watch *w, struct gn_error *why)
{
	struct gn_block *b = w->block;
	uint32_t queues = b->created;
	int rc = gn_drive_enable(b->drive, why);

	if (!rc)
		rc = gn_drive_ask_queues(b->drive, &queues, why);
	for (uint32_t id = 1; id <= b->created && !rc; id++)
		rc = gn_drive_create_pair(b->drive, id, &b->pair[id - 1], why);
	return rc;
}

static void reset(struct gn_watch *w)
{
	struct gn_drive *d = w->block->drive;
	struct gn_error why = {0, ""};
	int rc;

	simt_store_release_dev_u32(&d->resetting, 1);
	rc = gn_watch_hold_doorbells(w);
	if (rc)
		gn_error_set(&why, rc,
		             "%s: a thread of the program does not give a doorbell back; close the store",
		             d->name);
	else
		rc = gn_drive_disable(d, &why);
	if (!rc) {
		gn_watch_take_over(w);
		rc = collect(w);
		rc = rc ? rc : renew_queues(w);
		if (rc)
			gn_error_set(&why, rc,
			             "%s: the controller was reset because commands did not complete, but "
			             "threads of the program kept theirs; close the store and open it again",
			             d->name);
	}
	if (!rc)
		rc = bring_up(w, &why);
	simt_store_release_dev_u32(&w->resets, w->resets + 1);
	if (rc)
		gn_watch_fail(w, &why);
	simt_store_release_dev_u32(&d->resetting, 0);
	let_go(w);
}

/* ---- commands that were given up ---- */

static int stopping(const struct gn_watch *w)
{
	return simt_load_acquire_sys_u32(&w->stop) != 0;
}

static void count_timeout(struct gn_watch *w, uint32_t opcode)
{
	uint64_t *count = opcode == GN_NVME_READ ? &w->read_timeouts : &w->write_timeouts;

	simt_store_relaxed_dev_u64(count, *count + 1);
}

/* Returns 1 if the controller must be reset: a command was given up too long ago, or Abort is not answered.
 */
static int see_to(struct gn_watch *w, uint32_t k, uint32_t slot)
{
	const uint64_t word = simt_load_acquire_dev_u64(&gn_watch_queue(w, k)->slot[slot].word);
	const uint32_t cid = gn__nvmeq_cid(word);
	const uint32_t id = w->can_reset ? k + 1 : (uint32_t)(w->block->host - w->block->pair) + 1;
	struct gn_watched *p = &w->pair[k];
	int done;

	if (gn__nvmeq_slot_state(word) != GN__NVMEQ_ABANDONED) {
		p->aborted[slot] = 0;
		return 0;
	}
	p->busy = 1;
	if (p->aborted[slot] == cid + 1)
		return simt_clock_ns() - p->since_ns[slot] > GRACE_NS;
	p->aborted[slot] = cid + 1;
	p->since_ns[slot] = simt_clock_ns();
	count_timeout(w, simt_load_relaxed_dev_u32(&gn_watch_queue(w, k)->slot[slot].opcode));
	return gn_drive_abort(w->block->drive, id, cid, GRACE_NS, &done, NULL) == -GN_ETIMEDOUT;
}

/* Until a time: a controller that is slow to answer Abort must not keep us from the rest. Returns as see_to.
 */
static int look_after(struct gn_watch *w, uint32_t k, uint64_t until)
{
	struct gn_nvmeq *q = gn_watch_queue(w, k);
	int must = 0;

	if (simt_load_acquire_dev_u32(&q->state->abandoned))
		gn_watch_reap(q);
	if (!simt_load_acquire_dev_u32(&q->state->abandoned)) {
		forget(&w->pair[k], q->depth);
		return 0;
	}
	for (uint32_t slot = 0; slot + 1 < q->depth && !must; slot++) {
		if (stopping(w) || simt_clock_ns() > until)
			break;
		must = see_to(w, k, slot);
	}
	gn_watch_reap(q);
	return must;
}

static int look_after_all(struct gn_watch *w, uint64_t *pause)
{
	const uint64_t until = simt_clock_ns() + GRACE_NS;
	int must = 0;

	for (uint32_t k = 0; k < w->pairs && !must; k++) {
		must = look_after(w, k, until);
		*pause = w->pair[k].busy ? GN_WATCH_BUSY_NS : *pause;
	}
	return must && !stopping(w);
}

static void help(struct gn_watch *w)
{
	struct gn_error why = {0, ""};

	if (w->can_reset) {
		reset(w);
		return;
	}
	gn_error_set(&why, -GN_ETIMEDOUT,
	             "%s: commands did not complete, and Abort did not help; close the store and open it "
	             "again, which resets the controller",
	             w->block->drive->name);
	gn_watch_fail(w, &why);
}

/* One look. Returns the time until the next. */
static uint64_t look(struct gn_watch *w)
{
	struct gn_drive *d = w->block->drive;
	struct gn_error why = {0, ""};
	uint64_t pause = IDLE_NS;

	if (simt_load_acquire_dev_u32(&d->failed)) {
		if (gn_watch_is_wanted(w))
			gn_watch_give_back(w);
		gn_watch_settle(w, w->quiet || gn_watch_is_quiet(w));
		return GN_WATCH_BUSY_NS;
	}
	if (gn_watch_is_wanted(w)) {
		gn_watch_leave(w);
		gn_watch_give_back(w);
		return GN_WATCH_BUSY_NS;
	}
	if (gn_drive_health(d, &why)) {
		gn_watch_fail(w, &why);
		return GN_WATCH_BUSY_NS;
	}
	if (look_after_all(w, &pause))
		help(w);
	return pause;
}

static void *run(void *user)
{
	struct gn_watch *w = (struct gn_watch *)user;

	while (!stopping(w))
		gn_watch_nap(look(w));
	return NULL;
}

static int make_pair(struct gn_watched *p, uint32_t depth)
{
	p->since_ns = (uint64_t *)calloc(depth, sizeof *p->since_ns + 3 * sizeof *p->answered);
	if (!p->since_ns)
		return -GN_ENOMEM;
	p->answered = (uint32_t *)(void *)(p->since_ns + depth);
	p->aborted = p->answered + depth;
	p->slot = p->aborted + depth;
	return 0;
}

int gn_watch_start(struct gn_watch *w, struct simt_machine *machine, struct gn_error *error)
{
	struct simt_info info;
	sigset_t all, before;
	int rc = 0;

	simt_describe(machine, &info);
	w->can_reset = !info.is_cuda;
	w->pairs = w->can_reset ? w->block->created : 1;
	w->pair = (struct gn_watched *)calloc(w->pairs, sizeof *w->pair);
	for (uint32_t k = 0; w->pair && k < w->pairs && !rc; k++)
		rc = make_pair(&w->pair[k], gn_watch_queue(w, k)->depth);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!rc && w->pair)
		w->running = !pthread_create(&w->thread, NULL, run, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (w->running)
		return 0;
	gn_watch_stop(w);
	return gn_error_set(error, -GN_ENOMEM, "%s: out of memory, or of threads", w->block->drive->name);
}

void gn_watch_stop(struct gn_watch *w)
{
	simt_store_release_sys_u32(&w->stop, 1);
	if (w->running)
		pthread_join(w->thread, NULL);
	w->running = 0;
	for (uint32_t k = 0; w->pair && k < w->pairs; k++)
		free(w->pair[k].since_ns);
	free(w->pair);
	w->pair = NULL;
}
