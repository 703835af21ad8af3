/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/admin.h>

#include <stdio.h>
#include <string.h>

#include <queue/attach.h>

#define ADMIN_FAILED "%s: %s failed: %s (status 0x%03x)"

static uint32_t word_at(const unsigned char *data, size_t at, unsigned bytes)
{
	uint32_t word = 0;

	while (bytes--)
		word = word << 8 | data[at + bytes];
	return word;
}

static uint64_t wide_at(const unsigned char *data, size_t at)
{
	return word_at(data, at, 4) | (uint64_t)word_at(data, at + 4, 4) << 32;
}

/* Text of the specification: ASCII, filled with spaces. */
static void text_at(char *to, const unsigned char *data, size_t at, size_t bytes)
{
	size_t length = bytes;

	while (length && (data[at + length - 1] == ' ' || !data[at + length - 1]))
		length--;
	for (size_t k = 0; k < length; k++)
		to[k] = data[at + k] >= 32 && data[at + k] < 127 ? (char)data[at + k] : '?';
	to[length] = '\0';
}

/*
 * Dword 0 of a completion that was reaped a moment ago. While a command that has such a result runs, at most
 * one other command does, so the controller has not written over it.
 */
static uint32_t result_of(const struct gn_nvmeq *q, uint32_t cid)
{
	const uint32_t head = simt_load_acquire_dev_u32(&q->state->head); /* another thread may reap, too */

	for (uint32_t k = 0; k < q->depth; k++) {
		const uint32_t at = (head - 1 - k) & (q->depth - 1);
		const uint32_t *word = (const uint32_t *)(const void *)&q->cq[at].cid;

		/* The controller may be writing another entry. */
		if ((simt_load_acquire_sys_u32(word) & 0xffff) == cid)
			return q->cq[at].result;
	}
	return 0;
}

/* An admin command. */
struct task {
	const char *what;
	uint64_t timeout_ns;
	struct gn_nvme_command command;
	void *data;       /* 4096 bytes that the controller returns, or NULL */
	uint32_t *result; /* or NULL */
	int yields;       /* it is given up for a reset, and one that is not answered keeps no other back */
};

/* 0, or why the command will not complete: the controller is gone or fatal, or is reset now or soon. */
static int hindrance(const struct gn_drive *d, const struct task *t, struct gn_error *error)
{
	if (t->yields && (simt_load_relaxed_dev_u32(&d->mute) || simt_load_acquire_dev_u32(&d->resetting)))
		return gn_error_set(error, -GN_EBUSY, "%s: %s is not sent: the controller must be reset",
		                    d->name, t->what);
	return gn_drive_health(d, error);
}

static int await_command(struct gn_drive *d, const struct task *t, uint32_t cid, uint64_t deadline,
                         uint32_t *status, struct gn_error *error)
{
	int rc, why = 0;

	do {
		rc = gn_nvmeq_poll(&d->admin.q, cid, why ? 0 : deadline, status);
		if (rc == -GN_EAGAIN && !why)
			why = hindrance(d, t, error);
	} while (rc == -GN_EAGAIN);
	return rc == -GN_ETIMEDOUT && why ? why : rc;
}

static int take_slot(struct gn_drive *d, const struct task *t, uint64_t deadline, uint32_t *cid,
                     struct gn_error *error)
{
	int rc = hindrance(d, t, error);

	if (rc)
		return rc;
	rc = simt_load_relaxed_dev_u32(&d->mute) ? -GN_ETIMEDOUT : gn_nvmeq_begin(&d->admin.q, deadline, cid);
	if (rc)
		return gn_error_set(error, rc,
		                    "%s: %s was not sent: an earlier admin command never completed, or the "
		                    "controller is being reset",
		                    d->name, t->what);
	return rc;
}

static int post(struct gn_drive *d, const struct task *t, uint64_t deadline, uint32_t *cid,
                struct gn_error *error)
{
	struct gn_nvmeq *q = &d->admin.q;
	struct gn_nvme_command c = t->command;
	int rc = take_slot(d, t, deadline, cid, error);

	if (rc)
		return rc;
	if (t->data)
		c.prp1 = q->prp_list[*cid & (q->depth - 1)];
	gn__nvmeq_post_command(q, *cid, &c);
	if (c.opcode == GN_ADMIN_ABORT)
		simt_store_relaxed_dev_u64(&d->aborts, d->aborts + 1);
	return 0;
}

/* The slot of a command that did not complete stays with the queue. */
static int finish(struct gn_drive *d, const struct task *t, uint64_t deadline, uint32_t cid,
                  struct gn_error *error)
{
	struct gn_nvmeq *q = &d->admin.q;
	struct gn_error reason = {0, ""};
	uint32_t status = 0;
	int rc = await_command(d, t, cid, deadline, &status, &reason);

	if (!t->yields)
		simt_store_relaxed_dev_u32(&d->mute, rc == -GN_ETIMEDOUT);
	if (rc == -GN_ETIMEDOUT)
		return gn_error_set(error, rc, "%s: %s did not complete within %.1f s", d->name, t->what,
		                    (double)t->timeout_ns / 1e9);
	if (reason.code && rc == reason.code)
		return gn_error_set(error, rc, "%s", reason.text);
	if (!rc && t->data)
		memcpy(t->data, gn_nvmeq_buffer(q, cid), GN_NVME_PAGE);
	if (!rc && t->result)
		*t->result = result_of(q, cid);
	gn_nvmeq_end(q, cid);
	return rc ? gn_error_set(error, gn_nvme_status_code(status), ADMIN_FAILED, d->name, t->what,
	                         gn_nvme_status_text(status), status)
	          : 0;
}

/* One at a time of the commands that do not yield. */
static int run_alone(struct gn_drive *d, const struct task *t, struct gn_error *error)
{
	uint32_t cid = 0;
	uint64_t deadline;
	int rc;

	pthread_mutex_lock(&d->lock);
	deadline = simt_clock_ns() + t->timeout_ns;
	rc = post(d, t, deadline, &cid, error);
	rc = rc ? rc : finish(d, t, deadline, cid, error);
	pthread_mutex_unlock(&d->lock);
	return rc;
}

/*
 * One at a time of those that yield. It is not posted while another command runs, so at most one of them
 * completes then. The others do not wait for its answer.
 */
static int run_beside(struct gn_drive *d, const struct task *t, struct gn_error *error)
{
	uint32_t cid = 0;
	uint64_t deadline;
	int rc;

	pthread_mutex_lock(&d->asking);
	pthread_mutex_lock(&d->lock);
	deadline = simt_clock_ns() + t->timeout_ns;
	rc = post(d, t, deadline, &cid, error);
	pthread_mutex_unlock(&d->lock);
	rc = rc ? rc : finish(d, t, deadline, cid, error);
	pthread_mutex_unlock(&d->asking);
	return rc;
}

int gn_drive_command(struct gn_drive *d, const char *what, const struct gn_nvme_command *command, void *data,
                     uint32_t *result, struct gn_error *error)
{
	const struct task t = {what, d->timeout_ns, *command, data, result, 0};

	return run_alone(d, &t, error);
}

/* An admin command; its dwords 10 and 11 lie where I/O commands have the block address. */
static struct gn_nvme_command make(uint32_t opcode, uint32_t nsid, uint32_t cdw10, uint32_t cdw11)
{
	struct gn_nvme_command c;

	memset(&c, 0, sizeof c);
	c.opcode = (uint8_t)opcode;
	c.nsid = nsid;
	c.lba = cdw10 | (uint64_t)cdw11 << 32;
	return c;
}

int gn_drive_identify(struct gn_drive *d, struct gn_error *error)
{
	struct gn_nvme_command c = make(GN_ADMIN_IDENTIFY, 0, GN_IDENTIFY_CONTROLLER, 0);
	struct gn_drive_identity *i = &d->identity;
	unsigned char data[GN_NVME_PAGE];
	int rc = gn_drive_command(d, "Identify Controller", &c, data, NULL, error);

	if (rc)
		return rc;
	i->vendor = (uint16_t)word_at(data, 0, 2);
	text_at(i->serial, data, 4, 20);
	text_at(i->model, data, 24, 40);
	text_at(i->firmware, data, 64, 8);
	/* MDTS counts in pages of CAP.MPSMIN. */
	i->transfer_bytes = data[77] && data[77] < 32 ? gn_cap_least_page(d->cap) << data[77] : 0;
	i->id = (uint16_t)word_at(data, 78, 2);
	i->version = gn_drive_read(d, GN_REG_VS);
	i->aborts = data[258] + 1u;
	i->namespaces = word_at(data, 516, 4);
	i->has_deallocate = word_at(data, 520, 2) >> 2 & 1;
	i->has_cache = data[525] & 1;
	return 0;
}

int gn_drive_list(struct gn_drive *d, uint32_t ids[1024], uint32_t *count, struct gn_error *error)
{
	struct gn_nvme_command c = make(GN_ADMIN_IDENTIFY, 0, GN_IDENTIFY_ACTIVE, 0);
	unsigned char data[GN_NVME_PAGE];
	int rc = gn_drive_command(d, "Identify (active namespaces)", &c, data, NULL, error);

	if (rc)
		return rc;
	for (*count = 0; *count < 1024; (*count)++) {
		ids[*count] = word_at(data, 4 * (size_t)*count, 4);
		if (!ids[*count])
			break;
	}
	return 0;
}

static int no_namespace(struct gn_drive *d, uint32_t nsid, struct gn_error *error)
{
	uint32_t ids[1024], count = 0;
	char text[120] = "none";
	size_t used = 0;

	if (gn_drive_list(d, ids, &count, NULL))
		count = 0;
	for (uint32_t k = 0; k < count && used + 20 < sizeof text; k++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%u", k ? ", " : "", ids[k]);
	return gn_error_set(error, -GN_ENOENT,
	                    "%s: the controller has no active namespace %u; there %s: %s; choose one with "
	                    "?ns=N",
	                    d->name, nsid, count == 1 ? "is" : "are", text);
}

int gn_drive_namespace_of(struct gn_drive *d, uint32_t nsid, struct gn_drive_namespace *ns,
                          struct gn_error *error)
{
	struct gn_nvme_command c = make(GN_ADMIN_IDENTIFY, nsid, GN_IDENTIFY_NAMESPACE, 0);
	unsigned char data[GN_NVME_PAGE];
	uint32_t format, index, shift;
	int rc;

	memset(ns, 0, sizeof *ns);
	if (!nsid || nsid > d->identity.namespaces)
		return no_namespace(d, nsid, error);
	rc = gn_drive_command(d, "Identify Namespace", &c, data, NULL, error);
	if (rc)
		return rc;
	ns->blocks = wide_at(data, 0);
	if (!ns->blocks)
		return no_namespace(d, nsid, error);
	index = (data[26] & 15u) | (data[25] > 16 ? (data[26] >> 5 & 3u) << 4 : 0);
	format = word_at(data, 128 + 4 * (size_t)index, 4);
	shift = format >> 16 & 0xff;
	ns->metadata_bytes = format & 0xffff;
	ns->protected_ = (data[29] & 7) != 0;
	ns->block_bytes = shift < 9 || shift > 16 ? 0 : 1u << shift;
	if (!ns->block_bytes || ns->metadata_bytes || ns->protected_)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "%s: namespace %u has blocks of 2^%u bytes, %u bytes of metadata and %s "
		                    "protection; Grapnel needs blocks of 512 to 65536 bytes without both: "
		                    "format it with nvme format --lbaf",
		                    d->name, nsid, shift, ns->metadata_bytes, ns->protected_ ? "" : "no");
	return 0;
}

int gn_drive_ask_queues(struct gn_drive *d, uint32_t *count, struct gn_error *error)
{
	uint32_t asked = (*count - 1) | (*count - 1) << 16, result = 0;
	struct gn_nvme_command c = make(GN_ADMIN_SET_FEATURES, 0, GN_FEATURE_QUEUES, asked);
	int rc = gn_drive_command(d, "Set Features (number of queues)", &c, NULL, &result, error);
	uint32_t submission = (result & 0xffff) + 1, completion = (result >> 16) + 1;

	if (rc)
		return rc;
	if (submission < *count)
		*count = submission;
	if (completion < *count)
		*count = completion;
	return 0;
}

int gn_drive_create_pair(struct gn_drive *d, uint32_t id, const struct gn_drive_queue *queue,
                         struct gn_error *error)
{
	const uint32_t size = id | (queue->q.depth - 1) << 16;
	const uint32_t contiguous = 1;
	struct gn_nvme_command c = make(GN_ADMIN_CREATE_CQ, 0, size, contiguous);
	int rc;

	c.prp1 = queue->cq_bus;
	rc = gn_drive_command(d, "Create I/O Completion Queue", &c, NULL, NULL, error);
	if (rc)
		return rc;
	c = make(GN_ADMIN_CREATE_SQ, 0, size, contiguous | id << 16);
	c.prp1 = queue->sq_bus;
	rc = gn_drive_command(d, "Create I/O Submission Queue", &c, NULL, NULL, error);
	if (rc) {
		c = make(GN_ADMIN_DELETE_CQ, 0, id, 0);
		gn_drive_command(d, "Delete I/O Completion Queue", &c, NULL, NULL, NULL);
	}
	return rc;
}

int gn_drive_delete_pair(struct gn_drive *d, uint32_t id, struct gn_error *error)
{
	struct gn_nvme_command c = make(GN_ADMIN_DELETE_SQ, 0, id, 0);
	int rc = gn_drive_command(d, "Delete I/O Submission Queue", &c, NULL, NULL, error);

	c = make(GN_ADMIN_DELETE_CQ, 0, id, 0);
	return rc ? rc : gn_drive_command(d, "Delete I/O Completion Queue", &c, NULL, NULL, error);
}

/* Log page 2 (Base Specification 2.0, 5.16.1.3); of its numbers of 16 bytes the lower halves. */
int gn_drive_log_counts(struct gn_drive *d, struct gn_drive_log *log, struct gn_error *error)
{
	const uint32_t dwords = 512 / 4 - 1; /* less one, as the specification wants it */
	unsigned char data[GN_NVME_PAGE];
	const struct task t = {"Get Log Page",
	                       d->log_timeout_ns,
	                       make(GN_ADMIN_GET_LOG_PAGE, 0xffffffffu, GN_LOG_HEALTH | dwords << 16, 0),
	                       data,
	                       NULL,
	                       1};
	int rc = run_beside(d, &t, error);

	if (rc)
		return rc;
	log->read_units = wide_at(data, 32);
	log->written_units = wide_at(data, 48);
	log->reads = wide_at(data, 64);
	log->writes = wide_at(data, 80);
	return 0;
}

int gn_drive_abort(struct gn_drive *d, uint32_t queue, uint32_t cid, uint64_t timeout_ns, int *done,
                   struct gn_error *error)
{
	uint32_t result = 1;
	const struct task t = {"Abort", timeout_ns, make(GN_ADMIN_ABORT, 0, queue | cid << 16, 0),
	                       NULL,    &result,    0};
	int rc = run_alone(d, &t, error);

	*done = !rc && !(result & 1);
	return rc;
}
