/* SPDX-License-Identifier: Apache-2.0 */
/* resync.c - a member of a replica is put back while the replica is in use: the host's part. */
#include <store/set/replica_store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOWS_AT_ONCE = 32 };

/* One call of gn_store_resync. */
struct resync {
	struct gn_replica *r;
	unsigned k;
	int stale;               /* 0: it only failed reads */
	struct gn_store *opened; /* just now; or NULL */
	struct gn_back_args *args;
};

/* ---- steps on the machine ---- */

/* On the cpu machine by this thread: its workers may all be busy as long as the program's kernels run. */
static int step(struct resync *s, enum gn_back_step step, struct gn_error *error)
{
	const struct gn_replica *r = s->r;
	const struct gn_back_launch launch = {r->back.shared, 0};
	const struct simt_grid grid = {1, 32, 0};
	int rc;

	s->args->step = step;
	memset(&s->args->result, 0, sizeof s->args->result);
	if (!r->is_cuda) {
		gn_back_do_on_host(s->args);
		return 0;
	}
	rc = simt_launch_on(r->back.stream, &gn_back_do_kernel, grid, &launch);
	if (!rc)
		rc = simt_stream_wait(r->back.stream);
	return rc ? gn_error_set(error, -GN_EIO, "replica: the machine failed: %s",
	                         simt_stream_message(r->back.stream))
	          : 0;
}

void gn_replica_back_free(struct gn_replica *r)
{
	struct simt_machine *machine = r->set.base.machine;

	simt_stream_destroy(r->back.stream);
	simt_free(machine, r->back.shared);
	simt_free(machine, r->back.buffer);
	simt_free(machine, r->back.old);
}

static int make(struct gn_replica *r, struct gn_error *error)
{
	struct simt_machine *machine = r->set.base.machine;
	struct gn_replica_back *b = &r->back;
	const size_t bytes = (size_t)(r->is_cuda ? 32 : 1) << GN_BACK_PIECE_MOST_LOG2;

	if (!b->buffer)
		b->buffer = (char *)simt_alloc(machine, bytes, SIMT_DEVICE);
	if (!b->shared)
		b->shared = (struct gn_back_shared *)simt_alloc(machine, sizeof *b->shared, SIMT_PINNED);
	if (r->maps && !b->old)
		b->old = (uint32_t *)simt_alloc(machine, r->log.map_bytes, SIMT_PINNED);
	if (!b->buffer || !b->shared || (r->maps && !b->old))
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	return r->is_cuda && !b->stream ? simt_stream_create(&b->stream, machine, error) : 0;
}

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
	if (r->set.base.view.read_only)
		return gn_error_set(
		    error, -GN_EROFS,
		    "replica: a member that is put back is written; open the replica without ro");
	if (r->back.busy)
		return gn_error_set(error, -GN_EBUSY,
		                    "replica: member %u is being put back; wait until that has ended",
		                    r->back.member + 1);
	return 0;
}

/* In the room: see what is to be done, and keep other calls out. */
static int reserve(struct resync *s, int *opens, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	uint64_t turn;
	int rc = refuse_busy(r, error);

	if (!rc)
		rc = gn_replica_turn(r, &turn, error);
	if (!rc)
		rc = make(r, error);
	if (rc)
		return rc;
	s->stale = (int)(turn >> s->k & 1);
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
	rc = step(s, GN_BACK_BEGINS, error);
	return rc || !s->args->result.code ? rc
	                                   : gn_error_set(error, s->args->result.code,
	                                                  "replica: member %u is not out of date", s->k + 1);
}

/* ---- copying ---- */

static int tell_failure(const struct resync *s, struct gn_error *error)
{
	const struct gn_store_status why = s->args->result.why;
	const int code = why.code ? why.code : -GN_EIO;

	return gn_error_set(error, code,
	                    "replica: member %u (%s) is out of use again: %s%s%s; mend it and try again",
	                    s->k + 1, s->r->set.uri[s->k],
	                    why.code ? gn_error_name(why.code) : "a write to it failed meanwhile",
	                    why.device ? ", " : "", why.device ? gn_nvme_status_text(why.device) : "");
}

static int copy(struct resync *s, struct gn_error *error)
{
	const struct gn_store_view *view = &s->r->set.base.view;
	const uint32_t log2 = s->r->window_log2;
	const uint64_t windows = (view->capacity_bytes + (1ull << log2) - 1) >> log2;
	int rc = 0;

	for (uint64_t w = 0; w < windows && !rc; w = s->args->end) {
		s->args->first = w;
		s->args->end = w + WINDOWS_AT_ONCE < windows ? w + WINDOWS_AT_ONCE : windows;
		gn_replica_enter(s->r);
		rc = step(s, GN_BACK_COPIES, error);
		if (!rc && s->args->result.code)
			rc = tell_failure(s, error);
		s->r->back.done = s->args->end < windows ? s->args->end << log2 : view->capacity_bytes;
		gn_replica_leave(s->r);
	}
	return rc;
}

/* ---- the end ---- */

/* The flush, by which the state gets the member, may fail at the member: then it is stale, as it was. */
static int check_use(struct resync *s, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	uint64_t turn;
	int rc = gn_replica_turn(r, &turn, error);

	if (rc)
		return rc;
	if (turn >> s->k & 1)
		return gn_error_set(
		    error, -GN_EIO,
		    "replica: member %u (%s) could not be flushed, or failed again meanwhile; mend "
		    "it and try again",
		    s->k + 1, r->set.uri[s->k]);
	r->kind[s->k] = GN_STALE_LOGGED;
	r->other[s->k] = 0;
	return 0;
}

/* In the room, so no flush of another thread says of the member that it is up to date before it is flushed.
 */
static int end(struct resync *s, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	int rc = step(s, s->stale ? GN_BACK_ENDS : GN_BACK_IS_SOUND, error);

	if (!rc && s->args->result.code)
		rc = tell_failure(s, error);
	if (rc)
		return rc;
	memset(&r->about[s->k], 0,
	       sizeof r->about[s->k]); /* from here on it is in use, or has failed in use */
	if (!s->stale)
		return 0;
	rc = gn_replica_flush_all(r, error);
	return rc ? rc : check_use(s, error);
}

static int run(struct resync *s, int opens, struct gn_error *error)
{
	struct gn_replica *r = s->r;
	int rc = opens ? gn_set_open_later(&r->set, s->k, &r->options, &s->opened, error) : 0;

	if (!rc && s->stale) {
		gn_replica_enter(r);
		rc = begin(s, error);
		gn_replica_leave(r);
		if (!rc)
			rc = copy(s, error);
	}
	gn_replica_enter(r);
	if (!rc)
		rc = end(s, error);
	r->back.busy = 0;
	gn_replica_leave(r);
	gn_store_close(s->opened);
	return rc;
}

int gn_replica_resync(struct gn_store *store, unsigned k, struct gn_error *error)
{
	struct resync s;
	int opens, rc;

	memset(&s, 0, sizeof s);
	s.r = (struct gn_replica *)store;
	s.k = k;
	gn_replica_enter(s.r);
	rc = reserve(&s, &opens, error);
	gn_replica_leave(s.r);
	return rc ? rc : run(&s, opens, error);
}
