/* SPDX-License-Identifier: Apache-2.0 */
/* replica.c - replica: stores: every member has all bytes. */
#include <store/set/look.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct gn_replica *replica_of(struct gn_store *store)
{
	return (struct gn_replica *)store;
}

/* ---- one host thread at a time ---- */

void gn_replica_enter(const struct gn_replica *r)
{
	struct gn_replica *mine = (struct gn_replica *)(uintptr_t)r;

	pthread_mutex_lock(&mine->door);
	pthread_mutex_lock(&mine->room);
	pthread_mutex_unlock(&mine->door);
}

int gn_replica_enter_soon(const struct gn_replica *r)
{
	struct gn_replica *mine = (struct gn_replica *)(uintptr_t)r;
	struct timespec until;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += until.tv_nsec >= 900000000;
	until.tv_nsec = (until.tv_nsec + 100000000) % 1000000000;
	if (pthread_mutex_timedlock(&mine->door, &until))
		return -GN_EBUSY;
	rc = pthread_mutex_timedlock(&mine->room, &until) ? -GN_EBUSY : 0;
	pthread_mutex_unlock(&mine->door);
	return rc;
}

void gn_replica_leave(const struct gn_replica *r)
{
	pthread_mutex_unlock(&((struct gn_replica *)(uintptr_t)r)->room);
}

/* ---- the state ---- */

/* How each member is now. A GPU's maps are lost if the program does not close the replica. */
static void take_state(const struct gn_replica *r, struct gn_replica_state *s, uint32_t stale, int open)
{
	s->open = open;
	s->log = r->log.id;
	*s->boot = '\0';
	if (open && !r->is_cuda)
		gn_replica_boot(&r->log, s->boot);
	for (unsigned k = 0; k < s->members; k++) {
		s->stale[k] = stale >> k & 1 ? r->kind[k] : 0;
		if (r->set.member[k])
			memcpy(s->mark[k], r->set.member[k]->mark, sizeof *s->mark);
	}
}

static int is_same(const struct gn_replica_state *a, const struct gn_replica_state *b)
{
	return a->open == b->open && a->log == b->log && !strcmp(a->boot, b->boot) &&
	       !memcmp(a->stale, b->stale, sizeof a->stale) && !memcmp(a->mark, b->mark, sizeof a->mark);
}

/* The log is needed as long as it is being written, or has what a member missed. */
static int needs_log(const struct gn_replica_state *s)
{
	int needs = s->open;

	for (unsigned k = 0; k < s->members; k++)
		needs |= s->stale[k] == GN_STALE_LOGGED;
	return needs;
}

/* Say in the file which members are stale. @open  1: the members are being written */
static int save_state(struct gn_replica *r, int open, struct gn_error *error)
{
	struct gn_replica_state s = r->state;
	struct gn_replica_look l;
	int rc;

	if (!r->path || r->set.base.view.read_only)
		return 0;
	rc = gn_replica_look_begin(r, &l, error);
	if (rc)
		return rc;
	take_state(r, &s, gn__replica_stale(&l.view), open);
	s.log = needs_log(&s) ? s.log : 0;
	if (is_same(&s, &r->state))
		return 0;
	rc = gn_replica_state_save(&s, r->path, error);
	if (!rc)
		r->state = s;
	return rc;
}

/* ---- the store ---- */

static void give_back(struct gn_replica *r)
{
	gn_replica_state_fini(&r->state);
	gn_replica_log_close(&r->log);
	gn_replica_back_free(r);
	simt_free(r->set.base.machine, r->maps);
	simt_free(r->set.base.machine, r->news);
	simt_free(r->set.base.machine, r->health);
	gn_set_close(&r->set);
	pthread_mutex_destroy(&r->door);
	pthread_mutex_destroy(&r->room);
	free(r->path);
	free(r);
}

static void describe(struct gn_replica *r)
{
	unsigned k = 0;

	while (!r->set.member[k])
		k++;
	snprintf(r->set.base.path, sizeof r->set.base.path, "replica of %u, %d in use: %.140s",
	         r->set.members, gn_replica_open_count(r), r->set.member[k]->path);
}

static int replica_join(struct gn_store **store, struct simt_machine *machine, struct gn_list *list,
                        const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_replica *r = (struct gn_replica *)calloc(1, sizeof *r);
	struct gn_replica_settings s;
	struct simt_info info;
	int rc;

	if (!r)
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	pthread_mutex_init(&r->door, NULL);
	pthread_mutex_init(&r->room, NULL);
	simt_describe(machine, &info);
	r->is_cuda = info.is_cuda;
	r->set.base.ops = &gn_store_replica;
	r->set.base.machine = machine;
	rc = gn_replica_settings_make(&s, list, error);
	if (!rc)
		rc = gn_replica_open(r, list, &s, options, error);
	if (!rc)
		rc = save_state(r, 1, error);
	if (rc) {
		give_back(r);
		return rc;
	}
	describe(r);
	*store = &r->set.base;
	return 0;
}

/* ---- transfers of the host ---- */

static int read_any(struct gn_replica *r, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	struct gn_store_status status = {0, 0};
	struct gn_error why = {0, ""}; /* of the last member that was tried */
	struct gn_replica_look l;
	uint32_t left, tried = 0;
	int rc = gn_replica_look_begin(r, &l, error);

	if (rc)
		return rc;
	while ((left = gn__replica_readers(&l.view, tried)) != 0) {
		const uint32_t member = gn__replica_choose(left, offset);

		status.code = gn_store_read_host(r->set.member[member], offset, to, bytes, &why);
		if (!gn__replica_again(&l.view, member, status))
			break;
		tried |= 1u << member;
	}
	rc = gn_replica_look_end(r, &l, error);
	return why.code && status.code ? gn_error_set(error, status.code, "%s", why.text)
	       : status.code           ? status.code
	                               : rc;
}

static int replica_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes,
                        struct gn_error *error)
{
	int rc;

	gn_replica_enter(replica_of(store));
	rc = read_any(replica_of(store), offset, to, bytes, error);
	gn_replica_leave(replica_of(store));
	return rc;
}

struct piece {
	uint64_t offset;
	const void *from;
	size_t bytes;
};

/*
 * Do something that changes bytes, or none, to every member that gets writes. In the room: so no copy of a
 * resync is under way.
 */
static int change(struct gn_replica *r,
                  int (*one)(struct gn_store *, const struct piece *, struct gn_error *),
                  const struct piece *what, struct gn_error *error)
{
	struct gn_store_status status = {0, 0};
	struct gn_error why = {0, ""}; /* of the first member that failed */
	struct gn_replica_look l;
	struct gn__replica_round *round = &l.round;
	int rc = gn_replica_look_begin(r, &l, error);

	if (rc)
		return rc;
	gn__replica_round_begins(&l.view, round);
	gn__replica_begins(&l.view, what->offset, what->bytes);
	for (unsigned k = 0; k < r->set.members; k++) {
		if (!gn__replica_gets(round, k))
			continue;
		status.code = one(r->set.member[k], what, round->bad ? NULL : &why);
		gn__replica_wrote(&l.view, round, k, status);
	}
	status = gn__replica_written(&l.view, round, what->offset, what->bytes);
	rc = gn_replica_look_end(r, &l, error);
	return why.code && status.code ? gn_error_set(error, status.code, "%s", why.text)
	       : status.code           ? status.code
	                               : rc;
}

static int write_one(struct gn_store *member, const struct piece *p, struct gn_error *error)
{
	return gn_store_write_host(member, p->offset, p->from, p->bytes, error);
}

static int replica_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                         struct gn_error *error)
{
	const struct piece p = {offset, from, bytes};
	int rc;

	gn_replica_enter(replica_of(store));
	rc = change(replica_of(store), write_one, &p, error);
	gn_replica_leave(replica_of(store));
	return rc;
}

static int flush_one(struct gn_store *member, const struct piece *none, struct gn_error *error)
{
	(void)none;
	return gn_store_flush(member, error);
}

static int flush_all(struct gn_replica *r, struct gn_error *error)
{
	const struct piece none = {0, NULL, 0};

	return change(r, flush_one, &none, error);
}

/* What was written is safe when it is on a member, and the file says of all members without it that they are
 * stale. */
int gn_replica_flush_all(struct gn_replica *r, struct gn_error *error)
{
	int rc = flush_all(r, error);

	return rc ? rc : save_state(r, 1, error);
}

static int replica_flush(struct gn_store *store, struct gn_error *error)
{
	int rc;

	gn_replica_enter(replica_of(store));
	rc = gn_replica_flush_all(replica_of(store), error);
	gn_replica_leave(replica_of(store));
	return rc;
}

/*
 * A member that became stale was not flushed since. If that fails, it may also lack writes that it took
 * before it became stale.
 */
static int finish_log(struct gn_replica *r)
{
	struct gn_replica_look l;
	int rc = gn_replica_look_begin(r, &l, NULL);

	if (!rc)
		rc = gn_replica_log_fetch(r, NULL);
	for (unsigned k = 0; k < r->set.members && !rc; k++)
		if (r->set.member[k] && gn__replica_stale(&l.view) >> k & 1 &&
		    gn_store_flush(r->set.member[k], NULL))
			gn_replica_log_add(&r->log);
	return rc ? rc : gn_replica_log_sync(&r->log);
}

/* After a log that failed nobody knows what the members lack, also if the state cannot be written either. */
static void close_state(struct gn_replica *r)
{
	if (finish_log(r)) {
		for (unsigned k = 0; k < r->set.members; k++)
			r->kind[k] = GN_STALE_WHOLE;
		gn_replica_log_void(&r->log);
	}
	if (!save_state(r, 0, NULL) && !r->state.log)
		gn_replica_log_remove(&r->log);
}

/* If the members cannot be flushed, the file goes on saying that they are being written. */
static void replica_close(struct gn_store *store)
{
	struct gn_replica *r = replica_of(store);

	if (r->path && !store->view.read_only && !flush_all(r, NULL))
		close_state(r);
	give_back(r);
}

/* ---- reports ---- */

static void replica_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	const struct gn_replica *r = (const struct gn_replica *)store;
	struct gn_replica_look l;

	gn_replica_enter(r);
	gn_set_statistics(store, statistics);
	if (!gn_replica_look_begin(r, &l, NULL))
		statistics->members_out = simt_popcount(gn__replica_out(&l.view));
	gn_replica_leave(r);
}

static void tell_failure(const struct gn_replica_look *l, unsigned k, struct gn_store_member *member)
{
	member->use = GN_MEMBER_FAILED;
	member->why.code = (int32_t)simt_load_relaxed_dev_u32((const uint32_t *)&l->view.health->why[k].code);
	member->why.device = simt_load_relaxed_dev_u32(&l->view.health->why[k].device);
	snprintf(member->text, sizeof member->text, "failed while in use%s: %s%s%s",
	         gn__replica_stale(&l->view) >> k & 1 ? ", and is out of date" : "",
	         gn_error_name(member->why.code), member->why.device ? ", " : "",
	         member->why.device ? gn_nvme_status_text(member->why.device) : "");
}

/* It did not fail: a resync of it did. */
static void tell_stale(struct gn_store_member *member)
{
	member->use = GN_MEMBER_STALE;
	member->why.code = -GN_EBADMSG;
	snprintf(member->text, sizeof member->text,
	         "out of date: it was not put back; gn_store_resync or grapnel store rebuild mends it");
}

static void tell_out(const struct gn_replica_look *l, unsigned k, struct gn_store_member *member)
{
	if (simt_load_relaxed_dev_u32((const uint32_t *)&l->view.health->why[k].code))
		tell_failure(l, k, member);
	else
		tell_stale(member);
}

static void tell_return(const struct gn_replica *r, struct gn_store_member *member)
{
	member->use = GN_MEMBER_RETURNING;
	member->why.code = -GN_EAGAIN;
	snprintf(member->text, sizeof member->text,
	         "is being put back: the copying has come past %llu of %llu bytes",
	         (unsigned long long)r->back.done, (unsigned long long)r->set.base.view.capacity_bytes);
}

static int replica_member(const struct gn_store *store, unsigned k, struct gn_store_member *member)
{
	const struct gn_replica *r = (const struct gn_replica *)store;
	struct gn_replica_look l;

	gn_replica_enter(r);
	*member = r->about[k];
	member->uri = r->set.uri[k];
	if (r->back.busy && r->back.member == k)
		tell_return(r, member);
	else if (member->use == GN_MEMBER_USED && !gn_replica_look_begin(r, &l, NULL) &&
	         gn__replica_out(&l.view) >> k & 1)
		tell_out(&l, k, member);
	gn_replica_leave(r);
	return 0;
}

const struct gn_store_ops gn_store_replica = {"replica",
                                              0,
                                              NULL,
                                              replica_join,
                                              replica_close,
                                              replica_read,
                                              replica_write,
                                              replica_flush,
                                              replica_statistics,
                                              replica_member,
                                              NULL,
                                              NULL,
                                              0,
                                              gn_replica_resync};
