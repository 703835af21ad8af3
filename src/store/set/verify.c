/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - the members of a replica held against one another. */
#include <store/set/job.h>

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

/* ---- opening ---- */

int gn_job_take_state(struct gn_job *j, int others, struct gn_error *error)
{
	int rc = j->settings.state ? gn_replica_state_take(&j->state, j->settings.state, j->set.uri,
	                                                   j->set.members, others, error)
	                           : -GN_ENOENT;

	j->has_state = !rc;
	if (rc != -GN_ENOENT)
		return rc;
	return gn_replica_state_init(&j->state, j->set.uri, j->set.members, error);
}

static int begin(struct gn_job *j, struct simt_machine *machine, const char *uri, struct gn_error *error)
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

static void end(struct gn_job *j)
{
	gn_replica_state_fini(&j->state);
	gn_replica_log_close(&j->log);
	gn_set_close(&j->set);
	free(j->piece[0]);
	free(j->piece[1]);
	free(j);
}

int gn_job_open_member(struct gn_job *j, unsigned k, int read_only, struct gn_error *error)
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

uint64_t gn_job_bytes(const struct gn_job *j, unsigned k)
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
static int read_both(struct gn_job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
                     int lenient, uint64_t *differs, struct gn_error *error)
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

/* The bytes from *at on that are to be compared; 0: no more. */
static uint64_t next_bytes(const struct gn_job *j, int logged, uint64_t all, uint64_t *at)
{
	return logged ? gn_replica_log_next(&j->log, at) : all - *at;
}

int gn_job_compare(struct gn_job *j, unsigned source, unsigned k, int logged, int lenient,
                   gn_job_difference act, struct gn_error *error)
{
	const uint64_t all = gn_job_bytes(j, source);
	int rc = gn_replica_check_size(&j->set, k, source, j->settings.size, error);
	uint64_t at = 0, left;

	while (!rc && (left = next_bytes(j, logged, all, &at)) != 0) {
		for (; left && !rc;) {
			const size_t bytes = left < PIECE ? (size_t)left : (size_t)PIECE;
			uint64_t first;

			rc = read_both(j, source, k, at, bytes, lenient, &first, error);
			if (!rc && first < bytes)
				rc = act(j, source, k, at, bytes, first, error);
			at += bytes;
			left -= bytes;
		}
	}
	return rc;
}

static int refuse_difference(struct gn_job *j, unsigned source, unsigned k, uint64_t offset, size_t bytes,
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

int gn_job_first_good(const struct gn_job *j, unsigned *source, struct gn_error *error)
{
	for (*source = 0; *source < j->state.members; ++*source)
		if (!j->state.stale[*source])
			return 0;
	return gn_error_set(error, -GN_EBADMSG,
	                    "replica: every member is out of date by state=%s; decide which is right: remove "
	                    "that file, then grapnel store rebuild --from its number",
	                    j->settings.state);
}

static int verify(struct gn_job *j, struct gn_error *error)
{
	unsigned source;
	int rc = gn_job_take_state(j, 0, error);

	if (!rc)
		rc = gn_job_first_good(j, &source, error);
	for (unsigned k = 0; k < j->set.members && !rc; k++)
		if (!j->state.stale[k])
			rc = gn_job_open_member(j, k, 1, error);
	if (rc)
		return rc;
	j->report->source = source + 1;
	j->report->bytes = gn_job_bytes(j, source);
	for (unsigned k = source + 1; k < j->set.members && !rc; k++) {
		if (j->state.stale[k])
			continue;
		rc = gn_job_compare(j, source, k, 0, 0, refuse_difference, error);
		j->report->members++;
	}
	return rc;
}

int gn_job_run(int (*work)(struct gn_job *, struct gn_error *), struct simt_machine *machine, const char *uri,
               int whole, struct gn_replica_report *report, struct gn_error *error)
{
	struct gn_job *j = (struct gn_job *)calloc(1, sizeof *j);
	int rc;

	if (!j)
		return gn_error_set(error, -GN_ENOMEM, "replica: out of memory");
	j->report = report;
	j->whole = whole;
	rc = begin(j, machine, uri, error);
	if (!rc)
		rc = work(j, error);
	end(j);
	return rc;
}

int gn_replica_verify(struct simt_machine *machine, const char *uri, struct gn_replica_report *report,
                      struct gn_error *error)
{
	memset(report, 0, sizeof *report);
	return gn_job_run(verify, machine, uri, 1, report, error);
}
