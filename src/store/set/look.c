/* SPDX-License-Identifier: Apache-2.0 */
/* look.c - the host sees which members of a replica are in use, and tells the device of those that fail. */
#include <store/set/look.h>

/* If the machine failed, nobody knows any more which members did. */
static int machine_failed(struct gn_error *error)
{
	return gn_error_prefix(error, -GN_EIO, "replica: the machine failed");
}

int gn_replica_look_begin(const struct gn_replica *r, struct gn_replica_look *l, struct gn_error *error)
{
	memset(&l->round, 0, sizeof l->round);
	l->view = r->set.base.view;
	if (!r->is_cuda)
		return 0;
	l->view.health = &l->copy;
	if (simt_move(r->set.base.machine, &l->copy, r->health, sizeof l->copy, error))
		return machine_failed(error);
	l->copy.written = r->log.written;
	l->copy.missed = r->log.missed;
	l->failed = l->copy.failed;
	return 0;
}

/* The device does it, by a swap of the words, because kernels change them too. */
static int tell_device(const struct gn_replica *r, const struct gn_replica_look *l, struct gn_error *error)
{
	struct gn_back_shared *shared = r->news;
	const struct gn_back_launch launch = {shared, 0};
	const struct simt_grid grid = {1, r->lanes, 0};
	struct gn_back_args *a = &shared->args;

	memset(a, 0, sizeof *a);
	a->back.view = r->set.base.view;
	a->step = GN_BACK_NEWS;
	a->news.failed = l->copy.failed & ~l->failed;
	a->news.bad = l->round.bad;
	a->news.ok = l->round.ok;
	memcpy(a->news.why, l->copy.why, sizeof a->news.why);
	if (simt_launch(r->set.base.machine, &gn_back_do_kernel, grid, &launch, error) ||
	    simt_wait(r->set.base.machine, error))
		return machine_failed(error);
	return 0;
}

int gn_replica_look_end(const struct gn_replica *r, const struct gn_replica_look *l, struct gn_error *error)
{
	int rc;

	if (!r->is_cuda || (!l->round.bad && l->copy.failed == l->failed))
		return 0;
	rc = tell_device(r, l, error);
	if (rc || !l->round.bad || l->round.ok & ~r->news->args.news.stale)
		return rc;
	return gn_error_set(
	    error, -GN_EIO,
	    "replica: every member that is up to date has missed this; compare them (grapnel store "
	    "verify), and copy the one that is right (grapnel store rebuild)");
}

int gn_replica_turn(const struct gn_replica *r, uint64_t *turn, struct gn_error *error)
{
	struct gn_replica_look l;
	const int rc = gn_replica_look_begin(r, &l, error);

	*turn = rc ? 0 : gn__replica_turn(&l.view);
	return rc;
}
