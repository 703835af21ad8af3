/* SPDX-License-Identifier: Apache-2.0 */
/* replica_open.c - which members a replica has when it is opened. */
#include <store/set/replica_store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static int take_option(struct gn_replica_settings *s, struct gn_uri_option *o, struct gn_error *error)
{
	int rc = -GN_EINVAL;

	if (!strcmp(o->name, "ro") && !o->value)
		rc = !(s->read_only = 1);
	else if (!strcmp(o->name, "size") && o->value)
		rc = gn_size_parse(o->value, &s->size) || !s->size ? -GN_EINVAL : 0;
	else if (!strcmp(o->name, "state") && o->value && *o->value) {
		s->state = (char *)(uintptr_t)o->value;
		rc = gn_uri_decode(s->state);
	}
	if (!rc)
		return 0;
	return gn_error_set(
	    error, rc,
	    "replica: \"%.80s%s%.80s\" is neither the URI of a member, such as file:PATH, nor "
	    "an option; the options are state=FILE, size=SIZE (of each member) and ro",
	    o->name, o->value ? "=" : "", o->value ? o->value : "");
}

static int has_option(const struct gn_uri *uri, const char *name)
{
	for (unsigned k = 0; k < uri->options; k++)
		if (!strcmp(uri->option[k].name, name))
			return 1;
	return 0;
}

/* A member whose bytes are new whenever it is opened must not be taken for one that is up to date. */
static int check_member(const struct gn_replica_settings *s, const struct gn_uri *uri, unsigned k,
                        struct gn_error *error)
{
	if (has_option(uri, "create"))
		return gn_error_set(
		    error, -GN_EINVAL,
		    "replica: member %u (file:%s) has create=, which would put an empty file "
		    "in the place of one that is lost; make the file with truncate -s, and add "
		    "it with grapnel store rebuild",
		    k + 1, uri->path);
	if (s->state && !strcmp(uri->scheme, "memq"))
		return gn_error_set(error, -GN_EINVAL,
		                    "replica: member %u (memq:%s) forgets its bytes when it is closed, so no "
		                    "state can say that it is up to date; give file: or nvme: members, or "
		                    "memq: alone and no state=",
		                    k + 1, uri->path);
	return 0;
}

/* What no member can be called is said when it is opened. */
static int check_members(const struct gn_replica_settings *s, const struct gn_list *list,
                         struct gn_error *error)
{
	struct gn_uri *uri = (struct gn_uri *)malloc(sizeof *uri);
	int rc = uri ? 0 : gn_error_set(error, -GN_ENOMEM, "replica: out of memory");

	for (unsigned k = 0; k < list->members && !rc; k++)
		if (!gn_uri_parse(uri, list->member[k], NULL))
			rc = check_member(s, uri, k, error);
	free(uri);
	return rc;
}

int gn_replica_settings_make(struct gn_replica_settings *s, struct gn_list *list, struct gn_error *error)
{
	int rc = 0;

	memset(s, 0, sizeof *s);
	for (unsigned k = 0; k < list->options && !rc; k++)
		rc = take_option(s, &list->option[k], error);
	if (!rc && list->members < 2)
		rc = gn_error_set(error, -GN_EINVAL,
		                  "replica: there is one member (%s); name two or more, which get the same "
		                  "bytes",
		                  list->member[0]);
	return rc ? rc : check_members(s, list, error);
}

/* ---- members ---- */

/* Codes of a member that is gone. All others are for the caller to mend: the member may be well. */
static int is_lost(int code)
{
	return code == -GN_ENOENT || code == -GN_EIO || code == -GN_ENODEV || code == -GN_ETIMEDOUT;
}

static void leave_out(struct gn_replica *r, unsigned k, enum gn_store_member_use use, int code,
                      const char *text)
{
	struct gn_store_member *m = &r->about[k];

	m->use = use;
	m->why.code = code;
	snprintf(m->text, sizeof m->text, "%.*s", (int)sizeof m->text - 1, text);
}

int gn_replica_open_count(const struct gn_replica *r)
{
	int count = 0;

	for (unsigned k = 0; k < r->set.members; k++)
		count += r->set.member[k] != NULL;
	return count;
}

/*
 * A file or drive that has not the mark of the state may have any bytes. The state keeps the mark that it
 * has, until a rebuild.
 */
static void leave_out_another(struct gn_replica *r, unsigned k)
{
	struct gn_store *member = r->set.member[k];

	if (!r->path || !*r->state.mark[k] || !*member->mark || !strcmp(r->state.mark[k], member->mark))
		return;
	gn_store_close(member);
	r->set.member[k] = NULL;
	r->other[k] = 1;
	if (!gn_replica_open_count(r))
		memset(&r->set.base.view, 0, sizeof r->set.base.view); /* it was that of this member */
	leave_out(r, k, GN_MEMBER_STALE, -GN_EBADMSG,
	          "another file or drive than it was; gn_store_resync or grapnel store rebuild mends it");
}

static int open_member(struct gn_replica *r, unsigned k, const struct gn_store_options *options,
                       int read_only, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	int rc;

	if (r->path && r->state.stale[k]) {
		leave_out(r, k, GN_MEMBER_STALE, -GN_EBADMSG,
		          "out of date; gn_store_resync or grapnel store rebuild mends it");
		return 0;
	}
	if (r->path && r->state.open && gn_replica_open_count(r)) {
		leave_out(
		    r, k, GN_MEMBER_STALE, -GN_EBADMSG,
		    "perhaps out of date: a program writes it, or ended while it did; grapnel store rebuild "
		    "mends it");
		return 0;
	}
	rc = gn_set_open_member(&r->set, k, options, read_only, &why);
	if (rc && !is_lost(rc))
		return gn_error_set(error, rc, "%s", why.text);
	if (rc)
		leave_out(r, k, GN_MEMBER_MISSING, rc, why.text);
	else
		leave_out_another(r, k);
	return 0;
}

static int refuse_all(const struct gn_replica *r, struct gn_error *error)
{
	for (unsigned k = 0; k < r->set.members; k++)
		if (r->about[k].use == GN_MEMBER_MISSING)
			return gn_error_set(error, r->about[k].why.code,
			                    "replica: no member that is up to date can be opened: %.300s",
			                    r->about[k].text);
	for (unsigned k = 0; k < r->set.members; k++)
		if (r->other[k])
			return gn_error_set(
			    error, -GN_EBADMSG,
			    "replica: no member is up to date by state=%s, and member %u (%s) is "
			    "another file or drive than it was; put back the one that was there, "
			    "or decide which is right: remove that file, then grapnel store "
			    "rebuild --from its number",
			    r->path, k + 1, r->set.uri[k]);
	return gn_error_set(error, -GN_EBADMSG,
	                    "replica: every member is out of date by state=%s; decide which is right: remove "
	                    "that file, then grapnel store rebuild --from its number",
	                    r->path);
}

static int open_members(struct gn_replica *r, const struct gn_store_options *options, int read_only,
                        struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < r->set.members && !rc; k++)
		rc = open_member(r, k, options, read_only, error);
	return rc || gn_replica_open_count(r) ? rc : refuse_all(r, error);
}

int gn_replica_check_size(const struct gn_set *set, unsigned k, unsigned first, uint64_t size,
                          struct gn_error *error)
{
	const uint64_t has = set->member[k]->view.capacity_bytes;
	const uint64_t want = size ? size : set->member[first]->view.capacity_bytes;

	if (has == want || (size && has > size))
		return 0;
	return gn_error_set(
	    error, -GN_EINVAL,
	    "replica: member %u (%s) has %llu bytes, not %llu as %s; if one lost bytes, make it "
	    "as long as the others (a file: truncate -s %llu), then grapnel store rebuild --from "
	    "the number of a whole one; or give size=%llu to use so many bytes of each",
	    k + 1, set->uri[k], (unsigned long long)has, (unsigned long long)want,
	    size ? "size= says" : set->uri[first], (unsigned long long)(has > want ? has : want),
	    (unsigned long long)(has < want ? has : want));
}

static int check_sizes(struct gn_replica *r, uint64_t size, struct gn_error *error)
{
	unsigned first = 0;
	int rc = 0;

	while (!r->set.member[first])
		first++;
	for (unsigned k = first; k < r->set.members && !rc; k++)
		if (r->set.member[k])
			rc = gn_replica_check_size(&r->set, k, first, size, error);
	r->set.base.view.capacity_bytes = size ? size : r->set.member[first]->view.capacity_bytes;
	return rc;
}

/* Kernels of the cpu machine log in the file's own maps. A GPU has maps in its memory, which begin empty. */
static int make_maps(struct gn_replica *r, struct gn_store_health *health, struct gn_error *error)
{
	struct simt_machine *machine = r->set.base.machine;
	void *zeros;
	int rc;

	if (!r->log.map)
		return 0;
	health->region_log2 = r->log.region_log2;
	health->written = r->log.written;
	health->missed = r->log.missed;
	if (!r->is_cuda)
		return 0;
	r->maps = (uint32_t *)simt_alloc(machine, 2 * r->log.map_bytes, SIMT_DEVICE, NULL);
	zeros = calloc(2, r->log.map_bytes);
	rc = r->maps && zeros ? simt_move(machine, r->maps, zeros, 2 * r->log.map_bytes, error)
	                      : gn_error_set(error, -GN_ENOMEM, "out of memory for the log");
	free(zeros);
	health->written = r->maps;
	health->missed = r->maps + gn_replica_log_words(&r->log);
	return rc;
}

int gn_replica_log_fetch(struct gn_replica *r, struct gn_error *error)
{
	const size_t words = gn_replica_log_words(&r->log);
	uint32_t *got;
	int rc;

	if (!r->maps)
		return 0;
	got = (uint32_t *)malloc(2 * r->log.map_bytes);
	if (!got)
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	rc = simt_move(r->set.base.machine, got, r->maps, 2 * r->log.map_bytes, error);
	for (size_t k = 0; k < words && !rc; k++) {
		r->log.written[k] |= got[k];
		r->log.missed[k] |= got[words + k];
	}
	free(got);
	return gn_error_prefix(error, rc, "replica: the machine failed");
}

/* A GPU's warp copies a window at once, a piece a lane; on the cpu machine the host's thread does. */
static void choose_windows(struct gn_replica *r, struct gn_store_health *health)
{
	struct simt_info info;
	uint32_t width;

	simt_describe(r->set.base.machine, &info);
	r->lanes = info.warp_width;
	width = r->is_cuda ? r->lanes : 1;
	health->piece_log2 = GN_BACK_PIECE_MOST_LOG2;
	while (1u << health->piece_log2 > r->set.base.view.transfer_bytes)
		health->piece_log2--;
	health->window_log2 = (uint16_t)(health->piece_log2 + __builtin_ctz(width));
	r->window_log2 = health->window_log2;
}

static int make_health(struct gn_replica *r, struct gn_error *error)
{
	struct simt_machine *machine = r->set.base.machine;
	struct gn_store_view *view = &r->set.base.view;
	struct gn_store_health health;

	memset(&health, 0, sizeof health);
	for (unsigned k = 0; k < r->set.members; k++)
		health.turn |= (uint32_t)!r->set.member[k] << k;
	choose_windows(r, &health);
	if (make_maps(r, &health, error))
		return gn_error_prefix(error, -GN_ENOMEM, "replica");
	r->health = (struct gn_store_health *)simt_alloc(machine, sizeof *r->health, SIMT_DEVICE, error);
	r->news = (struct gn_back_shared *)simt_alloc(machine, sizeof *r->news, SIMT_PINNED, error);
	if (!r->health || !r->news || simt_move(machine, r->health, &health, sizeof health, error))
		return gn_error_prefix(error, -GN_ENOMEM, "replica");
	view->health = r->health;
	if (view->timeout_ns > INT64_MAX / view->members)
		view->timeout_ns = INT64_MAX / view->members;
	view->timeout_ns *= view->members; /* one after the other may fail */
	return 0;
}

/* ---- the state ---- */

static int is_durable(const char *uri)
{
	return strncmp(uri, "memq:", 5) != 0;
}

static int load_state(struct gn_replica *r, const struct gn_replica_settings *s, int read_only,
                      struct gn_error *error)
{
	if (s->state) {
		/* The whole path: the program may go to another folder. What is not there is refused below.
		 */
		r->path = realpath(s->state, NULL);
		if (!r->path)
			r->path = strdup(s->state);
		return r->path
		           ? gn_replica_state_take(&r->state, s->state, r->set.uri, r->set.members, 0, error)
		           : gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	}
	for (unsigned k = 0; k < r->set.members && !read_only; k++)
		if (is_durable(r->set.uri[k]))
			return gn_error_set(error, -GN_EINVAL,
			                    "replica: a replica that is written needs state=FILE, which "
			                    "keeps which members are "
			                    "up to date; make it with grapnel store rebuild, or give ro");
	return 0;
}

/*
 * The log goes on if it can be trusted. Else a new one begins, and of members that are stale by now nothing
 * is known. After a program that ended while it wrote, what it wrote may be missing from the members that are
 * not used. Who had the log before, with other members, may have changed the state.
 */
static int open_log(struct gn_replica *r, struct gn_error *error)
{
	const uint64_t capacity = r->set.base.view.capacity_bytes;
	const int trusted = gn_replica_state_trust(&r->state, &r->log, r->path, capacity, error);
	int rc = 0;

	if (trusted < 0)
		return trusted;
	for (unsigned k = 0; k < r->set.members; k++) {
		const int lost = r->state.stale[k] || (r->state.open && !r->set.member[k]);

		r->kind[k] = r->other[k] || r->state.stale[k] == GN_STALE_WHOLE || (lost && !trusted)
		                 ? GN_STALE_WHOLE
		                 : GN_STALE_LOGGED;
	}
	if (!trusted)
		rc = gn_replica_log_make(&r->log, r->path, capacity, error);
	if (!rc)
		rc = gn_replica_state_same(&r->state, r->path, r->set.uri, error);
	if (rc || !trusted)
		return rc;
	if (r->state.open)
		gn_replica_log_add(&r->log);
	gn_replica_log_begin(&r->log);
	return 0;
}

/* A part of a block would be written with bytes behind it that are not the replica's. */
static int check_blocks(const struct gn_replica *r, uint64_t size, struct gn_error *error)
{
	const uint32_t block = r->set.base.view.block_bytes;

	if (size % block == 0)
		return 0;
	return gn_error_set(
	    error, -GN_EINVAL,
	    "replica: size=%llu is not a multiple of the members' blocks, %u bytes; give %llu",
	    (unsigned long long)size, block, (unsigned long long)(size / block * block));
}

int gn_replica_open(struct gn_replica *r, const struct gn_list *list, const struct gn_replica_settings *s,
                    const struct gn_store_options *options, struct gn_error *error)
{
	const int read_only = s->read_only || (options && options->read_only);
	int rc = gn_set_init(&r->set, list, error);

	r->size = s->size;
	if (options)
		r->options = *options;
	r->options.faults = NULL;
	if (!rc && simt_prepare(r->set.base.machine, &gn_back_do_kernel, error))
		rc = gn_error_prefix(error, -GN_EIO, "replica: the machine failed");
	if (!rc)
		rc = load_state(r, s, read_only, error);
	if (!rc)
		rc = open_members(r, options, read_only, error);
	if (!rc && r->path)
		rc = gn_replica_state_same(&r->state, r->path, r->set.uri, error);
	if (!rc)
		rc = check_sizes(r, s->size, error);
	if (!rc)
		rc = check_blocks(r, s->size, error);
	if (!rc && r->path && !read_only)
		rc = open_log(r, error);
	if (!rc)
		rc = gn_set_join(&r->set, error);
	return rc ? rc : make_health(r, error);
}
