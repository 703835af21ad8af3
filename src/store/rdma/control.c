/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/control.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <grapnel/nvme.h>
#include <grapnel/simt.h>

enum { BUFFER = 1 << 20, PAGE = 4096, DEPTH = 8 };
#define TURN_NS 1000000u
#define PAUSE_NS 10000000

static struct gn_lane *lane_of(const struct gn_control *c)
{
	return c->engine->lane;
}

static char *note_at(const struct gn_control *c, uint32_t k)
{
	return c->buffer + BUFFER + k * GN_HELLO_NOTE_BYTES;
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

/* The same until it succeeds: a connection that is lost may come back. */
static int insist(struct gn_control *c, uint8_t opcode, uint64_t offset, char *memory, uint32_t bytes,
                  struct gn_error *error)
{
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
	return bytes < BUFFER ? (uint32_t)bytes : (uint32_t)BUFFER;
}

int gn_control_read(struct gn_control *control, uint64_t offset, void *to, size_t bytes,
                    struct gn_error *error)
{
	char *at = (char *)to;
	int rc = 0;

	pthread_mutex_lock(&control->mutex);
	for (uint32_t n; bytes && !rc; bytes -= n, offset += n, at += n) {
		n = part_of(bytes);
		rc = insist(control, GN_NVME_READ, offset, control->buffer, n, error);
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
		rc = insist(control, GN_NVME_WRITE, offset, control->buffer, n, error);
	}
	pthread_mutex_unlock(&control->mutex);
	return rc;
}

/* ---- flush ---- */

/* Post the receive of a note. The link is not used by others, or its mutex is held. */
static int receive(struct gn_control *c, struct gn_link *l, uint32_t k)
{
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge piece;

	memset(&wr, 0, sizeof wr);
	piece.addr = (uint64_t)(uintptr_t)note_at(c, k);
	piece.length = GN_HELLO_NOTE_BYTES;
	piece.lkey = lane_of(c)->memory->lkey;
	wr.wr_id = k;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	return ibv_post_recv(l->qp, &wr, &bad) ? -GN_EIO : 0;
}

static int prepare(struct gn_link *l)
{
	struct gn_control *c = (struct gn_control *)l->user;
	struct ibv_wc old;
	int rc = 0;

	/* The receives of an earlier connection have ended; nobody may have taken that from the queue. */
	while (ibv_poll_cq(c->arrived, 1, &old) == 1)
		;
	for (uint32_t k = 0; k < GN_CONTROL_NOTES && !rc; k++)
		rc = receive(c, l, k);
	return rc;
}

/* Take a note that has arrived. Returns 1 if there was one. */
static int take_note(struct gn_control *c, struct gn_hello_note *note)
{
	struct gn_link *l = &lane_of(c)->link;
	struct ibv_wc wc;
	int rc = -GN_EBADMSG;

	if (ibv_poll_cq(c->arrived, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS ||
	    wc.wr_id >= GN_CONTROL_NOTES)
		return 0;
	pthread_mutex_lock(&l->mutex);
	if (l->state == GN_LINK_UP && l->qp && l->qp->qp_num == wc.qp_num) {
		rc = gn_hello_get_note(note_at(c, (uint32_t)wc.wr_id), wc.byte_len, note);
		receive(c, l, (uint32_t)wc.wr_id);
	}
	pthread_mutex_unlock(&l->mutex);
	return !rc;
}

static int is_up(struct gn_control *c)
{
	struct gn_link *l = &lane_of(c)->link;
	int up;

	pthread_mutex_lock(&l->mutex);
	up = l->state == GN_LINK_UP;
	pthread_mutex_unlock(&l->mutex);
	return up;
}

/* Wait for the end of this flush. Returns 1 if there is one, with its code. */
static int await_done(struct gn_control *c, int32_t *code)
{
	uint64_t deadline = simt_clock_ns() + c->peer->timeout_ns;
	struct gn_hello_note note;

	while (is_up(c) && simt_clock_ns() < deadline) {
		if (!take_note(c, &note)) {
			struct timespec pause = {0, 50000};

			nanosleep(&pause, NULL);
		} else if (note.number == c->flushes && note.kind == GN_HELLO_DONE) {
			*code = note.code;
			return 1;
		} else if (note.kind == GN_HELLO_WORKING) {
			deadline = simt_clock_ns() + c->peer->timeout_ns;
		}
	}
	return 0;
}

static int no_end(struct gn_control *c, struct gn_error *error)
{
	struct gn_link *l = &lane_of(c)->link;

	pthread_mutex_lock(&l->mutex);
	gn_link_break(l, "the server did not answer a flush in time");
	pthread_mutex_unlock(&l->mutex);
	return gn_peer_say(c->peer, error);
}

static int verdict(struct gn_control *c, int32_t code, struct gn_error *error)
{
	return code ? gn_error_set(error, code == -GN_ENOSPC ? -GN_ENOSPC : -GN_EIO,
	                           "%s: the server cannot write its file (%s); see what it printed",
	                           c->peer->label, gn_error_name(code))
	            : 0;
}

/* Ask the server to bring its memory into its file; again if the connection is lost meanwhile. */
static int ask(struct gn_control *c, struct gn_error *error)
{
	const uint64_t deadline = simt_clock_ns() + c->peer->timeout_ns;
	const struct gn_hello_note note = {GN_HELLO_FLUSH, ++c->flushes, 0};
	char *out = note_at(c, GN_CONTROL_NOTES);
	int32_t code = 0;

	do {
		int rc;

		gn_hello_put_note((uint8_t *)out, &note);
		rc = insist(c, GN_NVME_FLUSH, 0, out, GN_HELLO_NOTE_BYTES, error);
		if (rc)
			return rc;
		if (await_done(c, &code))
			return verdict(c, code, error);
	} while (!is_up(c) && simt_clock_ns() < deadline);
	return no_end(c, error);
}

int gn_control_flush(struct gn_control *control, struct gn_error *error)
{
	int rc;

	pthread_mutex_lock(&control->mutex);
	/* A read pushes what was written before it out of the server's device and into memory. */
	rc = insist(control, GN_NVME_READ, 0, control->buffer, 1, error);
	if (!rc && control->peer->region.flags & GN_HELLO_FILE &&
	    !(control->peer->region.flags & GN_HELLO_READ_ONLY))
		rc = ask(control, error);
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
	if (!c->arrived || posix_memalign(&memory, PAGE, BUFFER + PAGE))
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory", c->peer->label);
	memset(memory, 0, BUFFER + PAGE);
	c->buffer = (char *)memory;
	l->flags = GN_HELLO_CONTROL;
	l->receive_cq = c->arrived;
	l->user = c;
	l->prepare = prepare;
	return 0;
}

int gn_control_open(struct gn_control *control, struct gn_peer *peer, struct gn_error *error)
{
	struct gn_lane_memory memory;
	int rc;

	memset(control, 0, sizeof *control);
	control->peer = peer;
	pthread_mutex_init(&control->mutex, NULL);
	rc = find_device(peer, error);
	rc = rc ? rc : gn_rdma_engine_create(&control->engine, peer, 1, 0, DEPTH, error);
	rc = rc ? rc : make_notes(control, error);
	if (rc)
		return rc;
	memory.base = control->buffer;
	memory.bytes = BUFFER + PAGE;
	return gn_rdma_engine_connect(control->engine, &memory, error);
}

void gn_control_close(struct gn_control *control)
{
	if (control->engine)
		gn_rdma_engine_close(&control->engine->base);
	if (control->arrived)
		ibv_destroy_cq(control->arrived);
	free(control->buffer);
	pthread_mutex_destroy(&control->mutex);
}
