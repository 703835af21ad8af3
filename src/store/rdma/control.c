/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/control.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grapnel/nvme.h>
#include <grapnel/simt.h>

enum { PAGE = 4096, DEPTH = 8, ADDRESSES_MOST = 8 };
#define TURN_NS 1000000u
#define PAUSE_NS 10000000

static struct gn_lane *lane_of(const struct gn_control *c)
{
	return c->engine->lane;
}

static void pause_a_while(void)
{
	struct timespec pause = {0, PAUSE_NS};

	nanosleep(&pause, NULL);
}

/* ---- one request ---- */

/* Carry out a request on memory of the buffer. Returns its status. */
static uint32_t carry_out(struct gn_control *c, uint8_t opcode, uint64_t offset, char *memory, uint32_t bytes)
{
	struct gn_engine *engine = &c->engine->base;
	struct iovec segment = {memory, bytes};
	struct gn_request r;

	memset(&r, 0, sizeof r);
	r.opcode = opcode;
	r.offset = offset;
	r.bytes = r.moved_bytes = bytes;
	r.segment = &segment;
	r.segments = 1;
	engine->ops->start(engine, &r);
	do
		engine->ops->turn(engine, TURN_NS); /* ends it by the peer's timeout at the latest */
	while (!gn_request_pop(&engine->finished));
	return r.status;
}

static int failed(struct gn_control *c, uint32_t status, struct gn_error *error)
{
	return gn_error_set(
	    error, (status & GN_NVME_STATUS_MASK) == GN_NVME_ACCESS_DENIED ? -GN_EACCES : -GN_EIO,
	    "%s: the transfer failed: %s", c->peer->label, gn_nvme_status_text(status & GN_NVME_STATUS_MASK));
}

int gn_control_insist(struct gn_control *control, uint8_t opcode, uint64_t offset, char *memory,
                      uint32_t bytes, struct gn_error *error)
{
	struct gn_control *c = control;
	const uint64_t deadline = simt_clock_ns() + c->peer->timeout_ns;

	for (;;) {
		const uint32_t status = carry_out(c, opcode, offset, memory, bytes);

		if (!status)
			return 0;
		if ((status & GN_NVME_STATUS_MASK) != GN_NVME_HOST_PATH)
			return failed(c, status, error);
		if (gn_peer_is_gone(c->peer) || simt_clock_ns() > deadline)
			return gn_peer_say(c->peer, error);
		pause_a_while();
	}
}

/* ---- read, write ---- */

static uint32_t part_of(size_t bytes)
{
	return bytes < GN_CONTROL_BUFFER ? (uint32_t)bytes : (uint32_t)GN_CONTROL_BUFFER;
}

int gn_control_read(struct gn_control *control, uint64_t offset, void *to, size_t bytes,
                    struct gn_error *error)
{
	char *at = (char *)to;
	int rc = 0;

	pthread_mutex_lock(&control->mutex);
	for (uint32_t n; bytes && !rc; bytes -= n, offset += n, at += n) {
		n = part_of(bytes);
		rc = gn_control_insist(control, GN_NVME_READ, offset, control->buffer, n, error);
		if (!rc)
			memcpy(at, control->buffer, n);
	}
	pthread_mutex_unlock(&control->mutex);
	return rc;
}

int gn_control_write(struct gn_control *control, uint64_t offset, const void *from, size_t bytes,
                     struct gn_error *error)
{
	const char *at = (const char *)from;
	int rc = 0;

	pthread_mutex_lock(&control->mutex);
	for (uint32_t n; bytes && !rc; bytes -= n, offset += n, at += n) {
		n = part_of(bytes);
		memcpy(control->buffer, at, n);
		rc = gn_control_insist(control, GN_NVME_WRITE, offset, control->buffer, n, error);
	}
	pthread_mutex_unlock(&control->mutex);
	return rc;
}

/* ---- open, close ---- */

/* The device must be known before anything of it is made. */
static int find_device(struct gn_peer *peer, struct gn_error *error)
{
	struct gn_link probe;
	int rc;

	gn_link_init(&probe, peer, 0, 0);
	rc = gn_link_resolve(&probe, error);
	gn_link_fini(&probe);
	return rc;
}

static int make_notes(struct gn_control *c, struct gn_error *error)
{
	struct gn_link *l = &lane_of(c)->link;
	void *memory = NULL;

	c->arrived = ibv_create_cq(c->peer->verbs, 4 * GN_CONTROL_NOTES, NULL, NULL, 0);
	if (!c->arrived || posix_memalign(&memory, PAGE, GN_CONTROL_BUFFER + PAGE))
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", c->peer->label);
	memset(memory, 0, GN_CONTROL_BUFFER + PAGE);
	c->buffer = (char *)memory;
	l->flags = GN_HELLO_CONTROL;
	l->receive_cq = c->arrived;
	l->user = c;
	l->prepare = gn_control_prepare;
	l->part = gn_control_hear;
	return 0;
}

static int open_at(struct gn_control *c, struct gn_peer *peer, struct gn_error *error)
{
	struct gn_lane_memory memory;
	int rc;

	memset(c, 0, sizeof *c);
	c->peer = peer;
	pthread_mutex_init(&c->mutex, NULL);
	rc = find_device(peer, error);
	rc = rc ? rc : gn_rdma_engine_create(&c->engine, peer, 1, 0, DEPTH, error);
	rc = rc ? rc : make_notes(c, error);
	memory.base = c->buffer;
	memory.bytes = GN_CONTROL_BUFFER + PAGE;
	rc = rc ? rc : gn_rdma_engine_connect(c->engine, &memory, error);
	if (rc)
		gn_control_close(c);
	return rc;
}

/* Each address of the host is tried. One that no device reaches says the least. */
int gn_control_open(struct gn_control *control, struct gn_peer *peer, struct gn_error *error)
{
	struct gn_error why = {0, ""};
	int rc = gn_peer_find(peer, error), tried = 0;

	memset(control, 0, sizeof *control);
	if (rc)
		return rc;
	for (const struct addrinfo *at = peer->found; at && tried < ADDRESSES_MOST; at = at->ai_next) {
		struct gn_error last = {0, ""};

		gn_peer_use(peer, at);
		rc = open_at(control, peer, &last);
		if (!rc)
			return 0;
		if (!tried++ || why.code == -GN_ENODEV)
			why = last;
	}
	return gn_error_set(error, why.code, "%s", why.text);
}

void gn_control_close(struct gn_control *control)
{
	if (control->engine)
		gn_rdma_engine_close(&control->engine->base);
	if (control->arrived)
		ibv_destroy_cq(control->arrived);
	free(control->buffer);
	pthread_mutex_destroy(&control->mutex);
	memset(control, 0, sizeof *control);
}
