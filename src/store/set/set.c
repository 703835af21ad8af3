/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/set.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the same member twice ---- */

/* What a file: URI names. Returns 0 if it is no file, or none that is there. */
static int identify(const char *text, struct stat *st)
{
	struct gn_uri *uri = (struct gn_uri *)malloc(sizeof *uri);
	int found =
	    uri && !gn_uri_parse(uri, text, NULL) && !strcmp(uri->scheme, "file") && !stat(uri->path, st);

	free(uri);
	return found;
}

/* Files that are written are locked; of those that are only read nobody else would notice. */
static int refuse_twice(const struct gn_list *list, struct gn_error *error)
{
	struct stat a, b;

	for (unsigned k = 1; k < list->members; k++)
		for (unsigned other = 0; other < k; other++)
			if (identify(list->member[k], &a) && identify(list->member[other], &b) &&
			    a.st_dev == b.st_dev && a.st_ino == b.st_ino)
				return gn_error_set(
				    error, -GN_EINVAL,
				    "%s: members %u and %u are the same file (%s); name each file once",
				    list->scheme, other + 1, k + 1, list->member[k]);
	return 0;
}

/* ---- opening ---- */

int gn_set_init(struct gn_set *set, const struct gn_list *list, struct gn_error *error)
{
	int rc = refuse_twice(list, error);

	for (unsigned k = 0; k < list->members && !rc; k++) {
		set->uri[k] = strdup(list->member[k]);
		if (!set->uri[k])
			rc = gn_error_set(error, -GN_ENOMEM, "%s: out of memory", list->scheme);
	}
	set->members = list->members;
	return rc;
}

static const char *scheme_of(const struct gn_set *set)
{
	return set->base.ops->scheme;
}

static int refuse_kind(const struct gn_set *set, unsigned k, struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOTSUP,
	                    "%s: member %u (%s) has no queue pairs: threads load from it by themselves; "
	                    "take it alone, or give file:, nvme:, rdma: or memq: stores",
	                    scheme_of(set), k + 1, set->uri[k]);
}

static int refuse_nesting(const struct gn_set *set, unsigned k, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_ENOTSUP,
	    "%s: member %u (%s) has members itself, which a member cannot; give file:, nvme:, "
	    "rdma: or memq: stores",
	    scheme_of(set), k + 1, set->uri[k]);
}

/* Drives and files that are written refuse a second store by themselves, a server's region does not. */
static int refuse_same(const struct gn_set *set, unsigned k, const struct gn_store *member,
                       struct gn_error *error)
{
	for (unsigned other = 0; other < set->members; other++)
		if (member->identity && set->member[other] &&
		    set->member[other]->identity == member->identity)
			return gn_error_set(
			    error, -GN_EINVAL,
			    "%s: members %u and %u are the same region (%s); name each region "
			    "once",
			    scheme_of(set), other + 1, k + 1, set->uri[k]);
	return 0;
}

/* The state of a replica would say that it is up to date when its server has been started again. */
static int refuse_forgetful(const struct gn_set *set, unsigned k, struct gn_error *error)
{
	return gn_error_set(error, -GN_EINVAL,
	                    "%s: member %u (%s) is memory of a server, whose bytes are gone when that ends, "
	                    "and no state says so; lend a file there (grapnel serve --rdma NAME=FILE), or "
	                    "give ro",
	                    scheme_of(set), k + 1, set->uri[k]);
}

static void take_view(struct gn_store_view *to, const struct gn_store_view *member)
{
	if (!to->kind) {
		*to = *member;
		return;
	}
	to->read_only |= member->read_only;
	if (to->queue_count > member->queue_count)
		to->queue_count = member->queue_count;
	if (to->host_queues < member->host_queues)
		to->host_queues = member->host_queues;
	if (to->block_bytes < member->block_bytes)
		to->block_bytes = member->block_bytes;
	if (to->transfer_bytes > member->transfer_bytes)
		to->transfer_bytes = member->transfer_bytes;
	if (to->timeout_ns < member->timeout_ns)
		to->timeout_ns = member->timeout_ns;
}

/* Open a member that may be one. */
static int open_one(const struct gn_set *set, unsigned k, const struct gn_store_options *options,
                    int read_only, struct gn_store **opened, struct gn_error *error)
{
	struct gn_store *member = NULL;
	struct gn_store_options o;
	struct gn_error why = {0, ""};
	int rc;

	memset(&o, 0, sizeof o);
	if (options)
		o = *options;
	o.read_only |= read_only;
	if (o.faults && o.faults->members && !(o.faults->members >> k & 1))
		o.faults = NULL;
	rc = gn_store_open(&member, set->base.machine, set->uri[k], &o, &why);
	if (rc)
		return gn_error_set(error, rc, "%s: member %u of %u: %s", scheme_of(set), k + 1, set->members,
		                    why.text);
	if (member->view.kind != GN_STORE_QUEUES)
		rc = refuse_kind(set, k, error);
	else if (member->view.members)
		rc = refuse_nesting(set, k, error);
	else if (member->forgets && !member->view.read_only && set->base.ops == &gn_store_replica)
		rc = refuse_forgetful(set, k, error);
	else
		rc = refuse_same(set, k, member, error);
	if (rc)
		gn_store_close(member);
	else
		*opened = member;
	return rc;
}

int gn_set_open_member(struct gn_set *set, unsigned k, const struct gn_store_options *options, int read_only,
                       struct gn_error *error)
{
	const int rc = open_one(set, k, options, read_only, &set->member[k], error);

	if (!rc)
		take_view(&set->base.view, &set->member[k]->view);
	return rc;
}

/* Kernels have the view already. */
static int fits(const struct gn_store_view *view, const struct gn_store_view *member)
{
	return member->queue_count >= view->queue_count && member->host_queues <= view->host_queues &&
	       member->block_bytes <= view->block_bytes && member->transfer_bytes >= view->transfer_bytes;
}

int gn_set_open_later(const struct gn_set *set, unsigned k, const struct gn_store_options *options,
                      struct gn_store **member, struct gn_error *error)
{
	struct gn_store *opened = NULL;
	int rc = open_one(set, k, options, 0, &opened, error);

	*member = NULL;
	if (rc)
		return rc;
	if (opened->view.read_only)
		rc = gn_error_set(error, -GN_EROFS,
		                  "%s: member %u (%s) is opened read-only; open the store again "
		                  "without its ro",
		                  scheme_of(set), k + 1, set->uri[k]);
	else if (!fits(&set->base.view, &opened->view))
		rc = gn_error_set(
		    error, -GN_ENOTSUP,
		    "%s: member %u (%s) has fewer queues, larger blocks or smaller transfers than the "
		    "others, which kernels count on by now; close the store and open it again",
		    scheme_of(set), k + 1, set->uri[k]);
	if (rc)
		gn_store_close(opened);
	else
		*member = opened;
	return rc;
}

/* ---- queue pairs ---- */

/*
 * The queue pairs of a member, as many as of every other. One without queue pairs of the host repeats its
 * first: they serve only to ask for writes that timed out.
 */
static int copy_queues(struct gn_set *set, struct gn_nvmeq *to, const struct gn_store_view *member,
                       struct gn_error *error)
{
	const struct gn_store_view *view = &set->base.view;
	struct simt_machine *machine = set->base.machine;
	int rc = simt_move(machine, to, member->queue, view->queue_count * sizeof *to, error);

	for (uint32_t k = 0; k < view->host_queues && !rc; k++) {
		const uint32_t from = k < member->host_queues ? member->queue_count + k : 0;

		rc = simt_move(machine, &to[view->queue_count + k], &member->queue[from], sizeof *to, error);
	}
	return rc;
}

static const struct gn_store_view *view_of_open(const struct gn_set *set, unsigned k)
{
	for (unsigned other = 0; !set->member[k]; other++)
		if (set->member[other])
			k = other;
	return &set->member[k]->view;
}

int gn_set_join(struct gn_set *set, struct gn_error *error)
{
	struct gn_store_view *view = &set->base.view;
	const size_t each = view->queue_count + view->host_queues, bytes = each * sizeof *set->queues;
	int rc = 0;

	set->queues =
	    (struct gn_nvmeq *)simt_alloc(set->base.machine, set->members * bytes, SIMT_DEVICE, error);
	if (!set->queues)
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory for %zu queue pairs",
		                    scheme_of(set), set->members * each);
	for (unsigned k = 0; k < set->members && !rc; k++)
		rc = copy_queues(set, &set->queues[k * each], view_of_open(set, k), error);
	view->queue = set->queues;
	view->members = set->members;
	return gn_error_prefix(error, rc, "%s: the machine failed", scheme_of(set));
}

void gn_set_close(struct gn_set *set)
{
	for (unsigned k = 0; k < set->members; k++) {
		gn_store_close(set->member[k]);
		free(set->uri[k]);
	}
	simt_free(set->base.machine, set->queues);
	set->members = 0;
	set->queues = NULL;
}

/* ---- all members ---- */

void gn_set_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	const struct gn_set *set = (const struct gn_set *)store;
	struct gn_store_statistics one;

	for (unsigned k = 0; k < set->members; k++) {
		if (!set->member[k])
			continue;
		gn_store_get_statistics(set->member[k], &one);
		statistics->reads += one.reads;
		statistics->writes += one.writes;
		statistics->read_bytes += one.read_bytes;
		statistics->written_bytes += one.written_bytes;
		statistics->failed += one.failed;
		statistics->retries += one.retries;
		statistics->read_timeouts += one.read_timeouts;
		statistics->write_timeouts += one.write_timeouts;
		statistics->aborts += one.aborts;
		statistics->resets += one.resets;
	}
}

int gn_set_member(const struct gn_store *store, unsigned k, struct gn_store_member *member)
{
	member->uri = ((const struct gn_set *)store)->uri[k];
	return 0;
}

int gn_set_flush(struct gn_store *store, struct gn_error *error)
{
	struct gn_set *set = (struct gn_set *)store;
	int rc = 0;

	for (unsigned k = 0; k < set->members; k++) {
		const int now = set->member[k] ? gn_store_flush(set->member[k], rc ? NULL : error) : 0;

		rc = rc ? rc : now;
	}
	return rc;
}
