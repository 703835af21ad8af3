/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.c - the members of a replica held against one another, and made equal. */
#include <store/set/replica_store.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 20 };

struct job {
	struct gn_list list;
	struct gn_replica_settings settings;
	struct gn_set set; /* the members, for their stores alone; no view of it is used */
	struct gn_replica_state state;
	int has_state;
	char *piece[2];
	struct gn_replica_report *report;
};

/* ---- opening ---- */

/* The state, or that of members of which nothing is known. @others  as gn_replica_state_take */
static int take_state(struct job *j, int others, struct gn_error *error)
{
	int rc = j->settings.state ? gn_replica_state_take(&j->state, j->settings.state, j->set.uri,
	                                                   j->set.members, others, error)
	                           : -GN_ENOENT;

	j->has_state = !rc;
	if (rc != -GN_ENOENT)
		return rc;
	return gn_replica_state_init(&j->state, j->set.uri, j->set.members, error);
}

static int begin(struct job *j, struct simt_machine *machine, const char *uri, struct gn_error *error)
{
	int rc = gn_list_parse(&j->list, uri, 0, error);

	j->set.base.ops = &gn_store_replica;
	j->set.base.machine = machine;
	for (int k = 0; k < 2; k++)
		j->piece[k] = (char *)malloc(PIECE);
	if (!j->piece[0] || !j->piece[1])
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	if (!rc && strcmp(j->list.scheme, "replica"))
		rc = gn_error_set(error, -GN_EINVAL,
		                  "%s: this is not a replica; give replica:state=FILE,URI,URI", uri);
	if (!rc)
		rc = gn_replica_settings_make(&j->settings, &j->list, error);
	if (!rc)
		rc = gn_set_init(&j->set, &j->list, error);
	return rc;
}

static void end(struct job *j)
{
	gn_replica_state_fini(&j->state);
	gn_set_close(&j->set);
	free(j->piece[0]);
	free(j->piece[1]);
	free(j);
}

static int open_member(struct job *j, unsigned k, int read_only, struct gn_error *error)
{
	struct gn_store_options o;
	int rc;

	memset(&o, 0, sizeof o);
	o.queue_count = 1;
	rc = gn_set_open_member(&j->set, k, &o, read_only, error);
	if (rc == -GN_ENOENT && !read_only)
		rc = gn_error_set(
		    error, rc,
		    "replica: member %u (%s) is not there; make it as long as the others (a file: "
		    "truncate -s), or leave it out of the URI, and the state has the others alone",
		    k + 1, j->set.uri[k]);
	return rc;
}

static uint64_t bytes_of(const struct job *j, unsigned k)
{
	return j->settings.size ? j->settings.size : j->set.member[k]->view.capacity_bytes;
}

/* ---- comparing ---- */

static uint64_t first_difference(const char *a, const char *b, size_t bytes)
{
	size_t k = 0;

	while (k < bytes && a[k] == b[k])
		k++;
	return k;
}

/*
 * Read a piece of both members. *differs is the first byte that does, or bytes.
 * @lenient  1: what cannot be read of k differs
 */
static int read_both(struct job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes, int lenient,
                     uint64_t *differs, struct gn_error *error)
{
	int rc = gn_store_read_host(j->set.member[source], offset, j->piece[0], bytes, error);

	*differs = bytes;
	if (rc)
		return rc;
	rc = gn_store_read_host(j->set.member[k], offset, j->piece[1], bytes, error);
	if (rc == -GN_EIO && lenient) {
		*differs = 0;
		return 0;
	}
	if (!rc && memcmp(j->piece[0], j->piece[1], bytes))
		*differs = first_difference(j->piece[0], j->piece[1], bytes);
	return rc;
}

/* What is done with a piece that differs. */
typedef int (*difference)(struct job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                          uint64_t first, struct gn_error *error);

static int compare(struct job *j, unsigned source, unsigned k, int lenient, difference act,
                   struct gn_error *error)
{
	const uint64_t all = bytes_of(j, source);
	int rc = gn_replica_check_size(&j->set, k, source, j->settings.size, error);

	for (uint64_t at = 0; at < all && !rc; at += PIECE) {
		const size_t bytes = all - at < PIECE ? (size_t)(all - at) : (size_t)PIECE;
		uint64_t first;

		rc = read_both(j, source, k, at, bytes, lenient, &first, error);
		if (!rc && first < bytes)
			rc = act(j, source, k, at, bytes, first, error);
	}
	return rc;
}

static int refuse_difference(struct job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                             uint64_t first, struct gn_error *error)
{
	(void)bytes;
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "replica: member %u (%s) differs from member %u (%s) at byte %llu; decide which is "
	    "right, then grapnel store rebuild --from its number",
	    k + 1, j->set.uri[k], source + 1, j->set.uri[source], (unsigned long long)(offset + first));
}

/* ---- verify ---- */

static int first_good(const struct job *j, unsigned *source, struct gn_error *error)
{
	for (*source = 0; *source < j->state.members; ++*source)
		if (!j->state.stale[*source])
			return 0;
	return gn_error_set(error, -GN_EBADMSG,
	                    "replica: every member is out of date by state=%s; decide which is right: remove "
	                    "that file, then grapnel store rebuild --from its number",
	                    j->settings.state);
}

static int verify(struct job *j, struct gn_error *error)
{
	unsigned source;
	int rc = take_state(j, 0, error);

	if (!rc)
		rc = first_good(j, &source, error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		if (!j->state.stale[k])
			rc = open_member(j, k, 1, error);
	if (rc)
		return rc;
	j->report->source = source + 1;
	j->report->bytes = bytes_of(j, source);
	for (unsigned k = source + 1; k < j->set.members && !rc; k++) {
		if (j->state.stale[k])
			continue;
		rc = compare(j, source, k, 0, refuse_difference, error);
		j->report->members++;
	}
	return rc;
}

static int run(int (*work)(struct job *, struct gn_error *), struct simt_machine *machine, const char *uri,
               unsigned from, struct gn_replica_report *report, struct gn_error *error)
{
	struct job *j = (struct job *)calloc(1, sizeof *j);
	int rc;

	if (!j)
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	memset(report, 0, sizeof *report);
	report->source = from;
	j->report = report;
	rc = begin(j, machine, uri, error);
	if (!rc)
		rc = work(j, error);
	end(j);
	return rc;
}

int gn_replica_verify(struct simt_machine *machine, const char *uri, struct gn_replica_report *report,
                      struct gn_error *error)
{
	return run(verify, machine, uri, 0, report, error);
}

/* ---- rebuild ---- */

/* The member that is right: the caller's choice, which must be up to date where that is known. */
static int choose_source(struct job *j, unsigned *source, struct gn_error *error)
{
	const unsigned from = j->report->source;

	if (!from && !j->has_state)
		return gn_error_set(error, -GN_EINVAL,
		                    "replica: nothing says which member is up to date; give --from with the "
		                    "number of the one that is right");
	if (!from)
		return first_good(j, source, error);
	if (from > j->set.members)
		return gn_error_set(error, -GN_EINVAL, "replica: there is no member %u; there are %u", from,
		                    j->set.members);
	*source = from - 1;
	if (!j->state.stale[*source])
		return 0;
	return gn_error_set(error, -GN_EINVAL,
	                    "replica: member %u (%s) is out of date by state=%s; take another, or, if it is "
	                    "right all the same, remove that file first",
	                    from, j->set.uri[*source], j->settings.state);
}

static int save(struct job *j, struct gn_error *error)
{
	return j->settings.state ? gn_replica_state_save(&j->state, j->settings.state, error) : 0;
}

/* Say in the file what a member is, if that is new. */
static int mark(struct job *j, unsigned k, int stale, struct gn_error *error)
{
	if (j->state.stale[k] == stale)
		return 0;
	j->state.stale[k] = stale;
	return save(j, error);
}

/* A member is stale from its first byte on that is changed. Until then it may be the only one that is whole.
 */
static int copy_difference(struct job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                           uint64_t first, struct gn_error *error)
{
	int rc = mark(j, k, 1, error);

	(void)source;
	(void)first;
	if (rc)
		return rc;
	j->report->copied_bytes += bytes;
	return gn_store_write_host(j->set.member[k], offset, j->piece[0], bytes, error);
}

/* Let the system forget what it has of a file, so that it is read from the medium. */
static void forget(const char *name)
{
	int fd = strncmp(name, "file:", 5) ? -1 : open(name + 5, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	close(fd);
}

static int refuse_copy(struct job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                       uint64_t first, struct gn_error *error)
{
	(void)source;
	(void)bytes;
	return gn_error_set(error, -GN_EBADMSG,
	                    "replica: member %u (%s) has not the byte at %llu that was written to it; "
	                    "replace the device behind it",
	                    k + 1, j->set.uri[k], (unsigned long long)(offset + first));
}

static int rebuild_one(struct job *j, unsigned source, unsigned k, struct gn_error *error)
{
	int rc = compare(j, source, k, 1, copy_difference, error);

	if (!rc)
		rc = gn_store_flush(j->set.member[k], error);
	if (rc)
		return rc;
	forget(j->state.name[k]);
	rc = compare(j, source, k, 0, refuse_copy, error);
	if (rc)
		return rc;
	j->report->members++;
	return mark(j, k, 0, error);
}

static int refuse_read_only(const struct job *j, struct gn_error *error)
{
	if (j->settings.read_only)
		return gn_error_set(error, -GN_EROFS, "replica: a rebuild writes the members; leave ro out");
	for (unsigned k = 0; k < j->set.members; k++)
		if (j->set.member[k]->view.read_only)
			return gn_error_set(error, -GN_EROFS,
			                    "replica: a rebuild writes the members; leave ro out of member "
			                    "%u (%s)",
			                    k + 1, j->set.uri[k]);
	return 0;
}

/* The copies are flushed, and what they are copies of must last as they do. */
static int rebuild_from(struct job *j, unsigned source, struct gn_error *error)
{
	int rc = save(j, error);

	if (!rc)
		rc = gn_store_flush(j->set.member[source], error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		if (k != source)
			rc = rebuild_one(j, source, k, error);
	if (rc)
		return rc;
	j->state.open = 0;
	return save(j, error);
}

/*
 * All members are opened to write, so that nobody else writes one of them meanwhile. Before that the state is
 * not read: a program that ends may still say there that a member is stale.
 */
static int rebuild(struct job *j, struct gn_error *error)
{
	unsigned source;
	int rc = 0;

	for (unsigned k = 0; k < j->set.members && !rc; k++)
		rc = open_member(j, k, 0, error);
	if (!rc)
		rc = refuse_read_only(j, error);
	if (!rc)
		rc = take_state(j, 1, error);
	if (!rc)
		rc = choose_source(j, &source, error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		rc = gn_replica_check_size(&j->set, k, source, j->settings.size, error);
	if (rc)
		return rc;
	j->report->source = source + 1;
	j->report->bytes = bytes_of(j, source);
	for (unsigned k = 0; k < j->set.members && !j->has_state; k++)
		j->state.stale[k] = k != source;
	return rebuild_from(j, source, error);
}

int gn_replica_rebuild(struct simt_machine *machine, const char *uri, unsigned from,
                       struct gn_replica_report *report, struct gn_error *error)
{
	return run(rebuild, machine, uri, from, report, error);
}
