/* SPDX-License-Identifier: Apache-2.0 */
#include <store/nvme/drive.h>

#include <stdio.h>
#include <string.h>

#include <queue/attach.h>
#include <store/nvme/admin.h>

enum { ADMIN_DEPTH = 32 };
#define MARGIN_NS 1000000000u         /* CAP.TO may be 0, and this process may be late */
#define ADMIN_TIMEOUT_NS 30000000000u /* as long as Linux's waits for I/O; a namespace may wake up */
#define LOG_TIMEOUT_NS 5000000000u

uint32_t gn_drive_read(const struct gn_drive *d, unsigned offset)
{
	return simt_load_acquire_sys_u32((const uint32_t *)(const void *)(d->registers + offset));
}

void gn_drive_write(const struct gn_drive *d, unsigned offset, uint32_t value)
{
	simt_store_release_sys_u32((uint32_t *)(void *)(d->registers + offset), value);
}

/* Two halves are always allowed; an access of 64 bits is not (Base Specification 2.0, 3.1.3). */
static uint64_t read_wide(const struct gn_drive *d, unsigned offset)
{
	uint64_t low = gn_drive_read(d, offset);

	return low | (uint64_t)gn_drive_read(d, offset + 4) << 32;
}

static void write_wide(const struct gn_drive *d, unsigned offset, uint64_t value)
{
	gn_drive_write(d, offset, (uint32_t)value);
	gn_drive_write(d, offset + 4, (uint32_t)(value >> 32));
}

void gn_drive_fail(struct gn_drive *d, const struct gn_error *why)
{
	if (d->failed)
		return;
	d->why = *why;
	simt_store_release_dev_u32(&d->failed, 1);
}

/* What CSTS says: 0, or what is wrong. */
static int judge(const struct gn_drive *d, uint32_t status, struct gn_error *error)
{
	if (status == GN_CSTS_GONE)
		return gn_error_set(error, -GN_ENODEV,
		                    "%s: the controller is gone: its registers read as ones; check the drive "
		                    "and its slot",
		                    d->name);
	if (status & GN_CSTS_CFS)
		return gn_error_set(error, -GN_EIO,
		                    "%s: the controller reports a fatal status (CSTS.CFS); open it again to "
		                    "reset it, and power it off if that fails",
		                    d->name);
	return 0;
}

/* One thread at a time. */
static void set_enabled(struct gn_drive *d, uint32_t enabled)
{
	simt_store_release_dev_u32(&d->enabled, enabled);
	simt_store_release_dev_u32(&d->changes, d->changes + 1);
}

/*
 * The controller is enabled, and not ready. If this process stops it or starts it while we look, then what
 * we saw says nothing; the count of changes tells.
 */
static int has_stopped(const struct gn_drive *d, uint32_t *status)
{
	const uint32_t changes = simt_load_acquire_dev_u32(&d->changes);

	if (!simt_load_acquire_dev_u32(&d->enabled) || simt_load_acquire_dev_u32(&d->resetting))
		return 0;
	*status = gn_drive_read(d, GN_REG_CSTS);
	return !(*status & GN_CSTS_RDY) && simt_load_acquire_dev_u32(&d->changes) == changes;
}

int gn_drive_health(const struct gn_drive *d, struct gn_error *error)
{
	uint32_t status;
	int rc;

	if (simt_load_acquire_dev_u32(&d->failed))
		return gn_error_set(error, d->why.code, "%s", d->why.text);
	status = gn_drive_read(d, GN_REG_CSTS);
	rc = judge(d, status, error);
	if (rc || status & GN_CSTS_RDY || !has_stopped(d, &status))
		return rc;
	return gn_error_set(error, -GN_EIO,
	                    "%s: the controller has stopped (CSTS 0x%x): it was reset or switched off by "
	                    "something else; close the store and open it again",
	                    d->name, status);
}

/* Wait until the masked bits of CSTS are value. Fatal and gone controllers end the wait, if asked. */
static int await(const struct gn_drive *d, uint32_t mask, uint32_t value, uint64_t wait_ns, const char *what,
                 struct gn_error *error)
{
	const uint64_t deadline = simt_clock_ns() + wait_ns;

	for (;;) {
		uint32_t status = gn_drive_read(d, GN_REG_CSTS);

		if (status == GN_CSTS_GONE || (value && status & GN_CSTS_CFS))
			return judge(d, status, error);
		if ((status & mask) == value)
			return 0;
		if (simt_clock_ns() > deadline)
			return gn_error_set(error, -GN_ETIMEDOUT,
			                    "%s: the controller did not %s within %.1f s (CSTS 0x%x); power "
			                    "it off and on again",
			                    d->name, what, (double)wait_ns / 1e9, status);
		simt_relax();
	}
}

/* Only a thread that holds the lock sends admin commands: none is sent after this, or none is kept back. */
static void set_mute(struct gn_drive *d, uint32_t mute)
{
	pthread_mutex_lock(&d->lock);
	simt_store_relaxed_dev_u32(&d->mute, mute);
	pthread_mutex_unlock(&d->lock);
}

/*
 * After this no thread rings a doorbell of the admin queue. One that waits for the log polls without the
 * lock, and polling rings; it gives up when it sees that no command is sent.
 */
static void silence(struct gn_drive *d)
{
	set_mute(d, 1);
	pthread_mutex_lock(&d->asking);
	pthread_mutex_unlock(&d->asking);
}

/*
 * EN may only be cleared when RDY has followed the last time that it was set (Base Specification 2.0, figure
 * 46: CC).
 */
int gn_drive_disable(struct gn_drive *d, struct gn_error *error)
{
	uint64_t wait_ns = gn_cap_timeout_ns(d->cap) + MARGIN_NS;
	uint32_t config = gn_drive_read(d, GN_REG_CC);
	uint32_t status = gn_drive_read(d, GN_REG_CSTS);
	int rc = status == GN_CSTS_GONE ? judge(d, status, error) : 0;

	set_enabled(d, 0);
	silence(d);
	if (rc)
		return rc;
	if (config & GN_CC_EN) {
		if (!(gn_drive_read(d, GN_REG_CSTS) & (GN_CSTS_RDY | GN_CSTS_CFS)))
			await(d, GN_CSTS_RDY, GN_CSTS_RDY, wait_ns, "become ready", NULL);
		gn_drive_write(d, GN_REG_CC, config & ~(uint32_t)(GN_CC_EN | GN_CC_SHN_MASK));
	}
	return await(d, GN_CSTS_RDY, 0, wait_ns, "stop", error);
}

/* CAP.MQES is of I/O queues alone (Base Specification 2.0, 3.1.3.1); the admin queues hold up to 4096
 * (3.1.3.8). */
static int make_admin(struct gn_drive *d, struct gn_error *error)
{
	struct gn_nvmeq_options options = {ADMIN_DEPTH, GN_NVME_PAGE, 512, 1, 0};
	struct gn_nvmeq_attachment to;
	int rc;

	rc = gn_drive_make_queue(&d->admin, d->host, d->dma, &options, error);
	if (rc)
		return rc;
	to.sq_doorbell = (uint32_t *)(void *)(d->registers + gn_drive_doorbell(d, 0, 0));
	to.cq_doorbell = (uint32_t *)(void *)(d->registers + gn_drive_doorbell(d, 0, 1));
	to.buffer_bus = d->admin.buffer_bus;
	to.prp_list_bus = d->admin.list_bus;
	gn_nvmeq_attach(&d->admin.q, d->host, &to);
	return 0;
}

int gn_drive_enable(struct gn_drive *d, struct gn_error *error)
{
	uint32_t config = GN_CC_EN | GN_CC_IOSQES_64 | GN_CC_IOCQES_16;
	uint32_t last;
	int rc;

	gn_drive_free_queue(&d->admin); /* no other thread looks at it: no admin command is sent */
	rc = make_admin(d, error);
	if (rc)
		return rc;
	if (gn_cap_command_sets(d->cap) & 1 << 6)
		config |= GN_CC_CSS_ALL;
	last = d->admin.q.depth - 1;
	gn_drive_write(d, GN_REG_AQA, last << 16 | last);
	write_wide(d, GN_REG_ASQ, d->admin.sq_bus);
	write_wide(d, GN_REG_ACQ, d->admin.cq_bus);
	gn_drive_write(d, GN_REG_CC, config);
	rc = await(d, GN_CSTS_RDY, GN_CSTS_RDY, gn_cap_timeout_ns(d->cap) + MARGIN_NS, "become ready", error);
	if (rc)
		return rc;
	set_mute(d, 0);
	set_enabled(d, 1);
	return 0;
}

static int check_capabilities(struct gn_drive *d, struct gn_error *error)
{
	d->cap = read_wide(d, GN_REG_CAP);
	if (d->cap == UINT64_MAX)
		return judge(d, GN_CSTS_GONE, error);
	if (!(gn_cap_command_sets(d->cap) & (1 | 1 << 6)))
		return gn_error_set(error, -GN_ENOTSUP,
		                    "%s: the controller has no NVM command set; it is no disk", d->name);
	if (gn_cap_least_page(d->cap) > GN_NVME_PAGE)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "%s: the controller wants memory pages of %llu bytes or more; Grapnel "
		                    "uses %d",
		                    d->name, (unsigned long long)gn_cap_least_page(d->cap), GN_NVME_PAGE);
	return 0;
}

int gn_drive_open(struct gn_drive *d, struct gn_error *error)
{
	int rc;

	pthread_mutex_init(&d->asking, NULL);
	pthread_mutex_init(&d->lock, NULL);
	d->open = 1;
	if (!d->timeout_ns)
		d->timeout_ns = ADMIN_TIMEOUT_NS;
	if (!d->log_timeout_ns)
		d->log_timeout_ns = LOG_TIMEOUT_NS;
	rc = check_capabilities(d, error);
	if (!rc)
		rc = gn_drive_disable(d, error);
	if (!rc)
		rc = gn_drive_enable(d, error);
	if (!rc)
		rc = gn_drive_identify(d, error);
	if (rc)
		gn_drive_close(d);
	return rc;
}

/* A normal shutdown writes the drive's own cache to its medium (Base Specification 2.0, 3.6). */
void gn_drive_shut_down(struct gn_drive *d)
{
	uint32_t config = gn_drive_read(d, GN_REG_CC) & ~(uint32_t)GN_CC_SHN_MASK;

	if (config & GN_CC_EN)
		gn_drive_write(d, GN_REG_CC, config | GN_CC_SHN_NORMAL);
}

int gn_drive_is_down(const struct gn_drive *d)
{
	uint32_t status = gn_drive_read(d, GN_REG_CSTS);

	return (status & GN_CSTS_SHST_MASK) == GN_CSTS_SHST_DONE || status & GN_CSTS_CFS ||
	       !(gn_drive_read(d, GN_REG_CC) & GN_CC_EN);
}

void gn_drive_close(struct gn_drive *d)
{
	if (!d->open)
		return;
	if (!gn_drive_health(d, NULL) && gn_drive_read(d, GN_REG_CC) & GN_CC_EN) {
		gn_drive_shut_down(d);
		await(d, GN_CSTS_SHST_MASK, GN_CSTS_SHST_DONE, GN_DRIVE_SHUTDOWN_NS, "shut down", NULL);
	}
	gn_drive_disable(d, NULL);
	gn_drive_free_queue(&d->admin);
	pthread_mutex_destroy(&d->lock);
	pthread_mutex_destroy(&d->asking);
	d->open = 0;
}

size_t gn_drive_doorbell(const struct gn_drive *d, uint32_t queue, unsigned head)
{
	return GN_REG_DOORBELLS + (size_t)(2 * queue + head) * gn_cap_stride(d->cap);
}
