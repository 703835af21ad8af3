/* SPDX-License-Identifier: Apache-2.0 */
/* resync.c - a member of a replica is put back while the replica is in use: the host's part. */
#include <store/set/warp.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES_AT_ONCE = 32 };

/* One call of gn_store_resync. */
struct resync {
	struct gn_replica *r;
	unsigned k;
	int stale;               /* 0: it only failed reads */
	struct gn_store *opened; /* just now; or NULL */
	struct gn_back_args *args;
	const struct gn_store_others *others; /* or NULL */
};

/* ---- the member ---- */

static int is_another(const struct gn_replica *r, unsigned k, const struct gn_store *member)
{
	return r->path && (!*r->state.mark[k] || strcmp(r->state.mark[k], member->mark) != 0);
}

/* Only what is known by the log to be missed is copied; of a member without a mark nothing is known. */
static void choose_bytes(struct resync *s)
{
	struct gn_replica *r = s->r;

	if (s->opened && is_another(r, s->k, s->opened))
		r->kind[s->k] = GN_STALE_WHOLE;
	s->args->back.whole = !r->log.map || r->kind[s->k] == GN_STALE_WHOLE ||
	                      r->set.base.view.block_bytes > 1u << r->log.region_log2;
}

static int check_size(struct resync *s, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	unsigned first = 0;

	while (!r->set.member[first] || first == s->k)
		first++;
	return gn_replica_check_size(&r->set, s->k, first, r->size, error);
}

/* Take the member that was opened just now. On failure it is the caller's again. */
static int take(struct resync *s, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	int rc;

	r->set.member[s->k] = s->opened;
	rc = check_size(s, error);
	if (rc) {
		r->set.member[s->k] = NULL;
		return rc;
	}
	memset(&r->about[s->k], 0, sizeof r->about[s->k]); /* it is open: from here on the health tells */
	s->args->queue = s->opened->view.queue;
	s->args->queue_count = s->opened->view.queue_count;
	s->args->host_queues = s->opened->view.host_queues;
	return 0;
}

/*
 * What a member took before it failed is in it if it can be flushed. Else nobody knows what the system or the
 * device has dropped.
 */
static int check_flush(struct resync *s, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	const int rc = gn_store_flush(s->r->set.member[s->k], &why);

	return rc ? gn_error_set(
	                error, rc,
	                "replica: member %u (%s) cannot be flushed, so it may have lost what it took; "
	                "close the replica, then grapnel store rebuild: %.200s",
	                s->k + 1, s->r->set.uri[s->k], why.text)
	          : 0;
}

/* ---- the begin ---- */

static int refuse_busy(struct gn_replica *r, struct gn_error *error)
{
	return r->back.busy ? gn_error_set(error, -GN_EBUSY,
	                                   "replica: member %u is being put back; wait until that has ended",
	                                   r->back.member + 1)
	                    : 0;
}

static int refuse_read_only(const struct resync *s, struct gn_error *error)
{
	return s->stale && s->r->set.base.view.read_only
	           ? gn_error_set(error, -GN_EROFS,
	                          "replica: member %u is out of date, and a member that is put back is "
	                          "written; open the replica without ro",
	                          s->k + 1)
	           : 0;
}

/* In the room: see what is to be done, and keep other calls out. */
static int reserve(struct resync *s, int *opens, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	uint64_t turn;
	int rc = refuse_busy(r, error);

	if (!rc)
		rc = gn_replica_turn(r, &turn, error);
	s->stale = !rc && turn >> s->k & 1;
	if (!rc)
		rc = refuse_read_only(s, error);
	if (!rc)
		rc = gn_replica_back_make(r, error);
	if (rc)
		return rc;
	*opens = s->stale && !r->set.member[s->k];
	s->args = &r->back.shared->args;
	memset(s->args, 0, sizeof *s->args);
	s->args->back.view = r->set.base.view;
	s->args->back.member = s->k;
	s->args->back.old = r->back.old;
	s->args->back.buffer = r->back.buffer;
	r->back.busy = 1;
	r->back.member = s->k;
	r->back.done = 0;
	return 0;
}

/*
 * What the host has logged so far, for a machine that does not reach the log. In the room in which the member
 * begins to be written: a write of the host before it is logged by then, and one behind it gets to the
 * member.
 */
static void take_log(struct gn_replica *r)
{
	if (r->maps)
		memcpy(r->back.old, r->log.missed, r->log.map_bytes);
}

/* In the room: from here on the member is written. */
static int begin(struct resync *s, struct gn_error *error)
{
	int rc = s->opened ? take(s, error) : check_flush(s, error);

	if (rc)
		return rc;
	choose_bytes(s);
	take_log(s->r);
	s->opened = NULL; /* the set's from now on */
	rc = gn_replica_step(s->r, GN_BACK_BEGINS, error);
	return rc || !s->args->result.code
	           ? rc
	           : gn_error_set(error, s->args->result.code,
	                          "replica: member %u (%s) is not out of date; nothing was done", s->k + 1,
	                          s->r->set.uri[s->k]);
}

/* ---- copying ---- */

/* Another write failed; or the copying had to end for one. */
static int tell_cancelled(const struct resync *s, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EIO,
	    "replica: member %u (%s) is out of use again: a write failed meanwhile, at it or at "
	    "the others; mend what gn_store_get_member names, and try again",
	    s->k + 1, s->r->set.uri[s->k]);
}

static int tell_failure(const struct resync *s, struct gn_error *error)
{
	const struct gn_back_result *result = &s->args->result;
	const struct gn_store_status why = result->why;
	const char *name = gn_error_name(why.code), *comma = why.device ? ", " : "";
	const char *text = why.device ? gn_nvme_status_text(why.device) : "";
	const char *uri = s->r->set.uri[s->k];

	if (result->end == GN_BACK_NOT_READ)
		return gn_error_set(error, why.code,
		                    "replica: member %u (%s) is as it was: no other member could be read: "
		                    "%s%s%s; mend those that gn_store_get_member names, and try again",
		                    s->k + 1, uri, name, comma, text);
	if (result->end != GN_BACK_NOT_WRITTEN)
		return tell_cancelled(s, error);
	return gn_error_set(error, why.code, "replica: member %u (%s) is out of use again: %s%s%s; %s",
	                    s->k + 1, uri, name, comma, text,
	                    why.code == -GN_EBUSY
	                        ? "a write to it timed out and may still land; try again when that has ended"
	                        : "mend it and try again");
}

static int copy_some(struct resync *s, uint64_t first, uint64_t end, struct gn_error *error)
{
	const uint64_t capacity = s->r->set.base.view.capacity_bytes, past = end << s->r->window_log2;
	int rc = gn_replica_warp_reenter(s->r, error);

	if (rc)
		return rc;
	s->args->first = first;
	s->args->end = end;
	rc = gn_replica_step(s->r, GN_BACK_COPIES, error);
	if (!rc && s->args->result.code)
		rc = tell_failure(s, error);
	s->r->back.done = past < capacity ? past : capacity;
	gn_replica_warp_leave(s->r);
	return rc;
}

static int copy_all(struct resync *s, struct gn_error *error)
{
	const uint64_t windows = gn__back_windows(&s->r->set.base.view, s->r->window_log2);
	const uint64_t most = s->r->is_cuda ? 1 : PIECES_AT_ONCE; /* windows; on cuda one has 32 pieces */
	uint64_t end;
	int rc = 0;

	for (uint64_t w = 0; w < windows && !rc; w = end) {
		end = w + most < windows ? w + most : windows;
		rc = copy_some(s, w, end, error);
	}
	return rc;
}

static int copy(struct resync *s, struct gn_error *error)
{
	int rc;

	if (s->others)
		s->others->let(s->others->user, 1);
	rc = copy_all(s, error);
	if (s->others)
		s->others->let(s->others->user, 0);
	return rc;
}

/* ---- the end ---- */

/*
 * The flush, by which the state gets the member, may fail at it: then it is stale, as it was. One that only
 * failed reads may have missed a write meanwhile.
 */
static int check_use(struct resync *s, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	uint64_t turn;
	int rc = gn_replica_turn(r, &turn, error);

	if (!rc && turn >> s->k & 1)
		rc = gn_error_set(error, -GN_EIO,
		                  "replica: member %u (%s) could not be flushed, or failed again meanwhile; "
		                  "mend it and try again",
		                  s->k + 1, r->set.uri[s->k]);
	if (rc || !s->stale)
		return rc;
	r->kind[s->k] = GN_STALE_LOGGED;
	r->other[s->k] = 0;
	return 0;
}

/* In the room, so no flush of another thread says of it that it is up to date before it is flushed. */
static int end(struct resync *s, struct gn_error *error)
{
	int rc = gn_replica_step(s->r, s->stale ? GN_BACK_ENDS : GN_BACK_IS_SOUND, error);

	if (!rc && s->args->result.code)
		rc = tell_cancelled(s, error);
	if (!rc && s->stale)
		rc = gn_replica_flush_all(s->r, error);
	return rc ? rc : check_use(s, error);
}

static int open_later(struct resync *s, struct gn_error *error)
{
	const int rc = gn_replica_warp_try(s->r, error);

	return rc ? rc : gn_set_open_later(&s->r->set, s->k, &s->r->options, &s->opened, error);
}

/* Begin, and copy. */
static int bring(struct resync *s, struct gn_error *error)
{
	int rc = gn_replica_warp_enter(s->r, error);

	if (rc)
		return rc;
	rc = begin(s, error);
	gn_replica_warp_leave(s->r);
	return rc ? rc : copy(s, error);
}

static int finish(struct resync *s, struct gn_error *error)
{
	int rc = s->stale ? gn_replica_warp_reenter(s->r, error) : gn_replica_warp_enter(s->r, error);

	if (rc)
		return rc;
	rc = end(s, error);
	gn_replica_warp_leave(s->r);
	return rc;
}

static int run(struct resync *s, int opens, struct gn_error *error)
{
	int rc = opens ? open_later(s, error) : 0;

	if (!rc && s->stale)
		rc = bring(s, error);
	if (!rc)
		rc = finish(s, error);
	gn_replica_enter(s->r);
	s->r->back.busy = 0;
	gn_replica_leave(s->r);
	gn_store_close(s->opened);
	return rc;
}

int gn_replica_resync(struct gn_store *store, unsigned k, const struct gn_store_others *others,
                      struct gn_error *error)
{
	struct resync s;
	int opens, rc;

	memset(&s, 0, sizeof s);
	s.r = (struct gn_replica *)store;
	s.k = k;
	s.others = others;
	gn_replica_enter(s.r);
	rc = reserve(&s, &opens, error);
	gn_replica_leave(s.r);
	return rc ? rc : run(&s, opens, error);
}
