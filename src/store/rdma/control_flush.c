/* SPDX-License-Identifier: Apache-2.0 */
/* The host asks the server to bring a region's memory into its file: a note goes, and notes come back. */
#include <store/rdma/control.h>

#include <string.h>
#include <time.h>

#include <grapnel/nvme.h>
#include <grapnel/simt.h>

#define PAUSE_NS 50000

static struct gn_link *link_of(const struct gn_control *c)
{
	return &c->engine->lane->link;
}

static char *note_at(const struct gn_control *c, uint32_t k)
{
	return c->buffer + GN_CONTROL_BUFFER + k * GN_HELLO_NOTE_BYTES;
}

/* ---- notes that arrive ---- */

/* Post the receive of a note. The link is not used by others, or its mutex is held. */
static int receive(const struct gn_control *c, struct gn_link *l, uint32_t k)
{
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge piece;

	memset(&wr, 0, sizeof wr);
	piece.addr = (uint64_t)(uintptr_t)note_at(c, k);
	piece.length = GN_HELLO_NOTE_BYTES;
	piece.lkey = c->engine->lane->memory->lkey;
	wr.wr_id = k;
	wr.sg_list = &piece;
	wr.num_sge = 1;
	return ibv_post_recv(l->qp, &wr, &bad) ? -GN_EIO : 0;
}

int gn_control_prepare(struct gn_link *link)
{
	struct gn_control *c = (struct gn_control *)link->user;
	struct ibv_wc old;
	int rc = 0;

	/* The receives of an earlier connection have ended; nobody may have taken that from the queue. */
	while (ibv_poll_cq(c->arrived, 1, &old) == 1)
		;
	for (uint32_t k = 0; k < GN_CONTROL_NOTES && !rc; k++)
		rc = receive(c, link, k);
	return rc;
}

static void take_note(struct gn_control *c, const struct ibv_wc *wc)
{
	struct gn_hello_note note;

	if (gn_hello_get_note(note_at(c, (uint32_t)wc->wr_id), wc->byte_len, &note))
		return;
	if (note.kind == GN_HELLO_WORKING)
		c->heard_ns = simt_clock_ns();
	/* Of the flush that is waited for alone: the end of one that was given up says nothing of it. */
	if (note.kind == GN_HELLO_DONE && note.number == c->flushes) {
		c->ended = note.number;
		c->code = note.code;
	}
}

void gn_control_hear(struct gn_link *link)
{
	struct gn_control *c = (struct gn_control *)link->user;
	struct ibv_wc wc;

	while (ibv_poll_cq(c->arrived, 1, &wc) == 1) {
		if (wc.status != IBV_WC_SUCCESS || wc.wr_id >= GN_CONTROL_NOTES ||
		    wc.qp_num != link->qp->qp_num)
			continue;
		take_note(c, &wc);
		if (link->state == GN_LINK_UP)
			receive(c, link, (uint32_t)wc.wr_id);
	}
}

/* ---- a flush ---- */

enum outcome { WAITS, ENDED, LOST, SILENT, LATE };

/* So long a server that works may say nothing: it says so every second or two. */
static uint64_t silence(const struct gn_control *c)
{
	const uint64_t least = 5000000000u;

	return c->peer->timeout_ns > least ? c->peer->timeout_ns : least;
}

/* How a flush stands that was asked for over this connection. */
static enum outcome look(struct gn_control *c, uint32_t connection, uint64_t deadline)
{
	struct gn_link *l = link_of(c);
	enum outcome what = WAITS;
	uint64_t now;

	pthread_mutex_lock(&l->mutex);
	if (l->state != GN_LINK_DOWN)
		gn_control_hear(l);
	now = simt_clock_ns();
	if (c->ended == c->flushes)
		what = ENDED;
	else if (l->state != GN_LINK_UP || l->connection != connection)
		what = LOST;
	else if (now > deadline)
		what = LATE;
	else if (now > c->heard_ns && now - c->heard_ns > silence(c))
		what = SILENT;
	pthread_mutex_unlock(&l->mutex);
	return what;
}

static enum outcome await_end(struct gn_control *c, uint32_t connection, uint64_t deadline)
{
	const struct timespec pause = {0, PAUSE_NS};
	enum outcome what;

	while ((what = look(c, connection, deadline)) == WAITS)
		nanosleep(&pause, NULL);
	return what;
}

/* The next flush has a number of its own; 0 is none. Notes are taken by whoever holds the link's mutex. */
static void begin_flush(struct gn_control *c)
{
	struct gn_link *l = link_of(c);

	pthread_mutex_lock(&l->mutex);
	c->flushes += c->flushes == UINT32_MAX ? 2 : 1;
	pthread_mutex_unlock(&l->mutex);
}

/* From now on the server has to be heard of. Returns the number of the connection. */
static uint32_t listen_from_now(struct gn_control *c)
{
	struct gn_link *l = link_of(c);
	uint32_t connection;

	pthread_mutex_lock(&l->mutex);
	c->heard_ns = simt_clock_ns();
	connection = l->connection;
	pthread_mutex_unlock(&l->mutex);
	return connection;
}

/* Send a note, and wait for what becomes of it. Returns a code if the note could not be sent. */
static int send_and_wait(struct gn_control *c, uint64_t deadline, enum outcome *what, struct gn_error *error)
{
	const struct gn_hello_note note = {GN_HELLO_FLUSH, c->flushes, 0};
	const uint32_t connection = listen_from_now(c);
	char *out = note_at(c, GN_CONTROL_NOTES);
	int rc;

	gn_hello_put_note((uint8_t *)out, &note);
	rc = gn_control_insist(c, GN_NVME_FLUSH, 0, out, GN_HELLO_NOTE_BYTES, error);
	if (rc)
		return rc;
	/* The connection may be another one by now: then the note may be lost with the old one. */
	listen_from_now(c);
	*what = await_end(c, connection, deadline);
	return 0;
}

static int verdict(const struct gn_control *c, enum outcome what, struct gn_error *error)
{
	if (what == SILENT)
		return gn_error_set(error, -GN_ETIMEDOUT,
		                    "%s: the server does not answer a flush; see whether 'grapnel serve' is "
		                    "stopped there, and flush again",
		                    c->peer->label);
	if (what == LOST)
		return gn_error_set(
		    error, -GN_ETIMEDOUT,
		    "%s: the connection was lost during a flush, and did not come back in %llu ms; "
		    "flush again later, or give it longer with flush=MS in the URI",
		    c->peer->label, (unsigned long long)(c->peer->flush_ns / 1000000));
	if (what != ENDED)
		return gn_error_set(error, -GN_ETIMEDOUT,
		                    "%s: a flush has not ended after %llu ms, and the server goes on with "
		                    "it; flush again later, or give it longer with flush=MS in the URI",
		                    c->peer->label, (unsigned long long)(c->peer->flush_ns / 1000000));
	if (c->code)
		return gn_error_set(error, c->code == -GN_ENOSPC ? -GN_ENOSPC : -GN_EIO,
		                    "%s: the server cannot write its file (%s); see what it printed",
		                    c->peer->label, gn_error_name(c->code));
	return 0;
}

/*
 * Ask the server to bring its memory into its file. If the connection is lost meanwhile the end may not have
 * been told: ask again over the next one. The same number is right for both, since both flush all that was
 * written before the first was asked for.
 */
static int ask(struct gn_control *c, struct gn_error *error)
{
	const uint64_t deadline = simt_clock_ns() + c->peer->flush_ns;
	enum outcome what = LOST;
	int rc;

	begin_flush(c);
	while (what == LOST) {
		if (simt_clock_ns() > deadline)
			break;
		rc = send_and_wait(c, deadline, &what, error);
		if (rc)
			return rc;
	}
	return verdict(c, what, error);
}

int gn_control_flush(struct gn_control *control, struct gn_error *error)
{
	int rc;

	pthread_mutex_lock(&control->mutex);
	/* A read pushes what was written before it out of the server's device and into memory. */
	rc = gn_control_insist(control, GN_NVME_READ, 0, control->buffer, 1, error);
	if (!rc && control->peer->region.flags & GN_HELLO_FILE &&
	    !(control->peer->region.flags & GN_HELLO_READ_ONLY))
		rc = ask(control, error);
	pthread_mutex_unlock(&control->mutex);
	return rc;
}
