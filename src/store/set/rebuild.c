/* SPDX-License-Identifier: Apache-2.0 */
/* rebuild.c - the members of a replica made equal. */
#include <store/set/job.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 1: the state speaks of a file or drive with another mark. This one in its place may have any bytes. */
static int is_another(const struct gn_job *j, unsigned k)
{
	return j->has_state && *j->state.mark[k] && strcmp(j->state.mark[k], j->set.member[k]->mark) != 0;
}

static void doubt_others(struct gn_job *j)
{
	for (unsigned k = 0; k < j->set.members; k++)
		if (is_another(j, k))
			j->state.stale[k] = GN_STALE_WHOLE;
}

static int choose_first(const struct gn_job *j, unsigned *source, struct gn_error *error)
{
	int rc = gn_job_first_good(j, source, error);

	for (unsigned k = 0; k < j->set.members && rc; k++)
		if (is_another(j, k))
			return gn_error_set(error, rc,
			                    "replica: no member is up to date by state=%s, and member %u "
			                    "(%s) is another file "
			                    "or drive than it was; put back the one that was there, or "
			                    "decide which is right: "
			                    "remove that file, then grapnel store rebuild --from its number",
			                    j->settings.state, k + 1, j->set.uri[k]);
	return rc;
}

/* The member that is right: the caller's choice, which must be up to date where that is known. */
static int choose_source(struct gn_job *j, unsigned *source, struct gn_error *error)
{
	const unsigned from = j->report->source;

	if (!from && !j->has_state)
		return gn_error_set(error, -GN_EINVAL,
		                    "replica: nothing says which member is up to date; give --from with the "
		                    "number of the one that is right");
	if (!from)
		return choose_first(j, source, error);
	if (from > j->set.members)
		return gn_error_set(error, -GN_EINVAL, "replica: there is no member %u; there are %u", from,
		                    j->set.members);
	*source = from - 1;
	if (!j->state.stale[*source])
		return 0;
	return gn_error_set(
	    error, -GN_EINVAL,
	    "replica: member %u (%s) is %s by state=%s; take another, or, if it is right all the "
	    "same, remove that file first",
	    from, j->set.uri[*source],
	    is_another(j, *source) ? "another file or drive than it was" : "out of date", j->settings.state);
}

static int save(struct gn_job *j, struct gn_error *error)
{
	return j->settings.state ? gn_replica_state_save(&j->state, j->settings.state, error) : 0;
}

/* ---- one member ---- */

/* Say in the file what a member is, if that is new. */
static int mark(struct gn_job *j, unsigned k, int stale, struct gn_error *error)
{
	if (j->state.stale[k] == stale)
		return 0;
	j->state.stale[k] = stale;
	return save(j, error);
}

/*
 * 1: a member differs from those that are up to date in what the log has alone. Without a mark it may be
 * another one than it was.
 */
static int is_logged(const struct gn_job *j, unsigned k)
{
	return !j->whole && j->trusted && j->state.stale[k] != GN_STALE_WHOLE && *j->state.mark[k];
}

/* 1: the member is up to date by the state, and the caller trusts that. */
static int is_good(const struct gn_job *j, unsigned k)
{
	return !j->whole && !j->state.stale[k] && !j->state.open;
}

/* A member is stale from its first byte on that is changed. Until then it may be the only one that is whole.
 */
static int copy_difference(struct gn_job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                           uint64_t first, struct gn_error *error)
{
	int rc = mark(j, k, is_logged(j, k) ? GN_STALE_LOGGED : GN_STALE_WHOLE, error);

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

static int refuse_copy(struct gn_job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                       uint64_t first, struct gn_error *error)
{
	(void)source;
	(void)bytes;
	return gn_error_set(error, -GN_EBADMSG,
	                    "replica: member %u (%s) has not the byte at %llu that was written to it; "
	                    "replace the device behind it",
	                    k + 1, j->set.uri[k], (unsigned long long)(offset + first));
}

static int rebuild_one(struct gn_job *j, unsigned source, unsigned k, struct gn_error *error)
{
	const int logged = is_logged(j, k);
	int rc = gn_job_compare(j, source, k, logged, 1, copy_difference, error);

	if (!rc)
		rc = gn_store_flush(j->set.member[k], error);
	if (rc)
		return rc;
	forget(j->state.name[k]);
	rc = gn_job_compare(j, source, k, logged, 0, refuse_copy, error);
	if (rc)
		return rc;
	j->report->members++;
	j->report->logged += (unsigned)logged;
	memcpy(j->state.mark[k], j->set.member[k]->mark, sizeof *j->state.mark);
	return mark(j, k, 0, error);
}

/* ---- all members ---- */

static int refuse_read_only(const struct gn_job *j, struct gn_error *error)
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

/*
 * The log is removed when the file no longer names it: no member is stale then. One that was not opened may
 * be left by a program that was killed in between.
 */
static int finish(struct gn_job *j, struct gn_error *error)
{
	char *path = j->settings.state ? realpath(j->settings.state, NULL) : NULL;
	const int opened = j->log.map != NULL;
	int rc;

	j->state.open = 0;
	j->state.log = 0;
	rc = save(j, error);
	if (!rc)
		gn_replica_log_remove(&j->log);
	if (!rc && !opened && path)
		gn_replica_log_sweep(path);
	free(path);
	return rc;
}

/* The copies are flushed, and what they are copies of must last as they do. */
static int rebuild_from(struct gn_job *j, unsigned source, struct gn_error *error)
{
	int rc;

	memcpy(j->state.mark[source], j->set.member[source]->mark, sizeof *j->state.mark);
	rc = save(j, error);
	if (!rc)
		rc = gn_store_flush(j->set.member[source], error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		if (k != source && !is_good(j, k))
			rc = rebuild_one(j, source, k, error);
	return rc ? rc : finish(j, error);
}

/*
 * Open the log. After a program that ended while it wrote, what it wrote counts as missed by every member. If
 * the log cannot be trusted, nothing is known of the members that are stale.
 */
static int take_log(struct gn_job *j, unsigned source, struct gn_error *error)
{
	char *path = j->settings.state ? realpath(j->settings.state, NULL) : NULL;

	j->trusted =
	    path ? gn_replica_state_trust(&j->state, &j->log, path, gn_job_bytes(j, source), error) : 0;
	free(path);
	if (j->trusted < 0)
		return j->trusted;
	if (j->trusted && j->state.open)
		gn_replica_log_add(&j->log);
	for (unsigned k = 0; k < j->set.members && !j->trusted; k++)
		if (j->state.stale[k])
			j->state.stale[k] = GN_STALE_WHOLE;
	j->state.log = j->trusted ? j->state.log : 0;
	return 0;
}

/*
 * All members are opened to write, so that nobody else writes one of them meanwhile. Before that the state is
 * not read: a program that ends may still say there that a member is stale.
 */
static int rebuild(struct gn_job *j, struct gn_error *error)
{
	unsigned source;
	int rc = 0;

	for (unsigned k = 0; k < j->set.members && !rc; k++)
		rc = gn_job_open_member(j, k, 0, error);
	if (!rc)
		rc = refuse_read_only(j, error);
	if (!rc)
		rc = gn_job_take_state(j, 1, error);
	if (!rc)
		doubt_others(j);
	if (!rc)
		rc = choose_source(j, &source, error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		rc = gn_replica_check_size(&j->set, k, source, j->settings.size, error);
	if (!rc)
		rc = take_log(j, source, error);
	if (rc)
		return rc;
	j->report->source = source + 1;
	j->report->bytes = gn_job_bytes(j, source);
	for (unsigned k = 0; k < j->set.members && !j->has_state; k++)
		j->state.stale[k] = k != source ? GN_STALE_WHOLE : 0;
	return rebuild_from(j, source, error);
}

int gn_replica_rebuild(struct simt_machine *machine, const char *uri, unsigned from, int whole,
                       struct gn_replica_report *report, struct gn_error *error)
{
	memset(report, 0, sizeof *report);
	report->source = from;
	return gn_job_run(rebuild, machine, uri, whole || from, report, error);
}
