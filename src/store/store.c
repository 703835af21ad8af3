/* SPDX-License-Identifier: Apache-2.0 */
#include <store/set/list.h>
#include <store/store.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gn_store_ops *const schemes[] = {&gn_store_host,   &gn_store_file,    &gn_store_memq,
                                                     &gn_store_nvme,   &gn_store_rdma,    &gn_store_peer,
                                                     &gn_store_stripe, &gn_store_replica, &gn_store_tier};
enum { SCHEMES = sizeof schemes / sizeof schemes[0] };

static const struct gn_store_ops *find_scheme(const char *name)
{
	for (unsigned k = 0; k < SCHEMES; k++)
		if (!strcmp(schemes[k]->scheme, name))
			return schemes[k];
	return NULL;
}

static int unknown_scheme(const char *name, struct gn_error *error)
{
	char list[80];
	size_t used = 0;

	list[0] = '\0';
	for (unsigned k = 0; k < SCHEMES && used < sizeof list; k++)
		used += (size_t)snprintf(list + used, sizeof list - used, "%s%s:", k ? ", " : "",
		                         schemes[k]->scheme);
	return gn_error_set(error, -GN_ENOTSUP, "store %s: this kind of store does not exist; use one of %s",
	                    name, list);
}

/* A copy of the first bytes of a text; NULL: no memory. */
static char *copy_text(const char *text, size_t bytes)
{
	char *copy = (char *)malloc(bytes + 1);

	if (copy) {
		memcpy(copy, text, bytes);
		copy[bytes] = '\0';
	}
	return copy;
}

static char *quote_name(const struct gn_uri *uri)
{
	size_t length = strlen(uri->scheme) + strlen(uri->path) + 2;
	char *name = (char *)malloc(length);

	if (name)
		snprintf(name, length, "%s:%s", uri->scheme, uri->path);
	return name;
}

static int open_parsed(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                       const struct gn_store_options *options, struct gn_error *error)
{
	const struct gn_store_ops *ops = find_scheme(uri->scheme);
	struct gn_store_settings settings;
	char *name;
	int rc;

	if (!ops)
		return unknown_scheme(uri->scheme, error);
	rc = gn_store_settings_make(&settings, options, uri, ops->options, error);
	if (rc)
		return rc;
	name = quote_name(uri);
	if (!name)
		return gn_error_set(error, -GN_ENOMEM, "store %s: out of memory", uri->scheme);
	rc = ops->open(store, machine, uri, &settings, error);
	if (rc) {
		free(name);
		return rc;
	}
	(*store)->name = name;
	/* Also for a memory store: a cache derives from it how long its threads wait for each other. */
	(*store)->view.timeout_ns = settings.options.timeout_ns;
	return 0;
}

static int open_single(struct gn_store **store, struct simt_machine *machine, const char *uri,
                       const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_uri *parsed = (struct gn_uri *)malloc(sizeof *parsed);
	int rc;

	if (!parsed)
		return gn_error_set(error, -GN_ENOMEM, "store: out of memory");
	rc = gn_uri_parse(parsed, uri, error);
	if (!rc)
		rc = open_parsed(store, machine, parsed, options, error);
	free(parsed);
	return rc;
}

/* Open a store over other stores. */
static int open_joined(struct gn_store **store, struct simt_machine *machine, const struct gn_store_ops *ops,
                       const char *uri, const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_list *list = (struct gn_list *)malloc(sizeof *list);
	char *name = copy_text(uri, strlen(uri));
	int rc;

	if (!list || !name)
		rc = gn_error_set(error, -GN_ENOMEM, "store %s: out of memory", ops->scheme);
	else
		rc = gn_list_parse(list, uri, ops->takes_rest, error);
	if (!rc)
		rc = ops->join(store, machine, list, options, error);
	free(list);
	if (rc)
		free(name);
	else
		(*store)->name = name;
	return rc;
}

int gn_store_open(struct gn_store **store, struct simt_machine *machine, const char *uri,
                  const struct gn_store_options *options, struct gn_error *error)
{
	char *scheme = copy_text(uri, gn_uri_scheme_length(uri));
	const struct gn_store_ops *ops = scheme ? find_scheme(scheme) : NULL;
	int rc;

	free(scheme);
	rc = ops && ops->join ? open_joined(store, machine, ops, uri, options, error)
	                      : open_single(store, machine, uri, options, error);
	if (!rc)
		pthread_mutex_init(&(*store)->flushing, NULL);
	return rc;
}

void gn_store_close(struct gn_store *store)
{
	char *name;

	if (!store)
		return;
	name = store->name;
	pthread_mutex_destroy(&store->flushing);
	store->ops->close(store);
	free(name);
}

const struct gn_store_view *gn_store_view_of(const struct gn_store *store)
{
	return &store->view;
}

const char *gn_store_path(const struct gn_store *store)
{
	return store->path;
}

static int check_range(const struct gn_store *store, uint64_t offset, size_t bytes, struct gn_error *error)
{
	uint64_t capacity = store->view.capacity_bytes;

	if (offset <= capacity && bytes <= capacity - offset)
		return 0;
	return gn_error_set(error, -GN_ERANGE,
	                    "%s: %zu bytes at byte %llu reach past the end of the store at byte %llu; give "
	                    "fewer",
	                    store->name, bytes, (unsigned long long)offset, (unsigned long long)capacity);
}

int gn_store_read_host(struct gn_store *store, uint64_t offset, void *to, size_t bytes,
                       struct gn_error *error)
{
	int rc = check_range(store, offset, bytes, error);

	return rc ? rc : store->ops->read(store, offset, to, bytes, error);
}

int gn_store_write_host(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                        struct gn_error *error)
{
	int rc = check_range(store, offset, bytes, error);

	if (rc)
		return rc;
	if (store->view.read_only)
		return gn_error_set(error, -GN_EROFS,
		                    "%s: the store is opened read-only; open it without ?ro to write",
		                    store->name);
	return store->ops->write(store, offset, from, bytes, error);
}

/*
 * The system reports bytes that it could not write only once; a second sync returns success. So only one
 * thread syncs at a time, and a failure is kept for all later calls.
 */
int gn_store_flush(struct gn_store *store, struct gn_error *error)
{
	int rc;

	pthread_mutex_lock(&store->flushing);
	if (store->unsure && !store->flushes_again)
		gn_error_set(
		    error, store->unsure,
		    "%s: an earlier attempt to make the data durable failed, and bytes written before it may "
		    "be lost; open the store again, check the data, and write the lost bytes again",
		    store->name);
	else
		store->unsure = store->ops->flush(store, error);
	rc = store->unsure;
	pthread_mutex_unlock(&store->flushing);
	return rc;
}

int gn_store_share(struct gn_store *store, struct simt_machine *machine, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	int rc;

	if (machine == store->machine)
		return 0;
	if (!store->ops->share)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "%s: kernels of one machine alone can use this kind of store; several use "
		    "host: and peer:",
		    store->name);
	rc = store->ops->share(store, machine, &why);
	return rc ? gn_error_set(error, rc, "%s: %.400s", store->name, why.text) : 0;
}

int gn_store_check_machine(const struct gn_store *store, struct simt_machine *machine, struct gn_error *error)
{
	if (machine == store->machine || !store->ops->is_open || store->ops->is_open(store, machine))
		return 0;
	return gn_error_set(
	    error, -GN_ENOTSUP,
	    "%s: the store was opened on another machine; call gn_store_share for this one first",
	    store->name);
}

void gn_store_get_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	memset(statistics, 0, sizeof *statistics);
	if (store->ops->statistics)
		store->ops->statistics(store, statistics);
}

int gn_store_get_member(const struct gn_store *store, uint32_t k, struct gn_store_member *member)
{
	memset(member, 0, sizeof *member);
	if (k >= store->view.members)
		return -GN_ERANGE;
	return store->ops->member(store, k, member);
}

int gn_store_resync(struct gn_store *store, uint32_t k, struct gn_error *error)
{
	return gn_store_resync_beside(store, k, NULL, error);
}

int gn_store_resync_beside(struct gn_store *store, uint32_t k, const struct gn_store_others *others,
                           struct gn_error *error)
{
	if (!store->ops->resync)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "%s: this store has no members that can be put back; those of a replica: can",
		    store->name);
	if (k >= store->view.members)
		return gn_error_set(error, -GN_ERANGE, "%s: there is no member %u; they are 0 to %u",
		                    store->name, k, store->view.members - 1);
	return store->ops->resync(store, k, others, error);
}

int gn_store_code(int error_number)
{
	switch (error_number) {
	case EDQUOT: return -GN_ENOSPC;
	case ENOTDIR: return -GN_ENOENT;
	case ENAMETOOLONG:
	case ELOOP: return -GN_EINVAL;
	case EPERM:
	case ENOENT:
	case EACCES:
	case EBUSY:
	case EINVAL:
	case ENOMEM:
	case ENOSPC:
	case EROFS:
	case EFBIG: return -error_number;
	default: return -GN_EIO;
	}
}
