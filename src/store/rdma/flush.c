/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flushes of a server: notes that ask for them, a thread that does them, and notes that answer. And
 * messages without bytes, which show whether a client is still there.
 */
#include <store/rdma/lend.h>

#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grapnel/simt.h>

#define SILENCE_NS \
	30000000000u /* of a client's device, at most, if the device here does not give up before */

/* A work request's id: place, generation of the place, 1 for a receive, which note. */
static uint64_t id_of(const struct gn_server *s, const struct gn_connection *c, int receives, uint32_t k)
{
	return (uint64_t)(c - s->connection) << 48 | (uint64_t)c->generation << 32 |
	       (uint64_t)(receives != 0) << 16 | k;
}

static char *note_at(const struct gn_server *s, const struct gn_connection *c, uint32_t k)
{
	return s->notes + (size_t)(c - s->connection) * GN_LEND_NOTE_BYTES + (size_t)k * GN_HELLO_NOTE_BYTES;
}

static void fill_piece(const struct gn_server *s, const struct gn_connection *c, uint32_t k,
                       struct ibv_sge *piece)
{
	piece->addr = (uint64_t)(uintptr_t)note_at(s, c, k);
	piece->length = GN_HELLO_NOTE_BYTES;
	piece->lkey = c->lender->notes->lkey;
}

static int receive(struct gn_server *s, struct gn_connection *c, uint32_t k)
{
	struct ibv_recv_wr wr, *bad;
	struct ibv_sge piece;

	fill_piece(s, c, k, &piece);
	memset(&wr, 0, sizeof wr);
	wr.wr_id = id_of(s, c, 1, k);
	wr.sg_list = &piece;
	wr.num_sge = 1;
	return ibv_post_recv(c->id->qp, &wr, &bad) ? -GN_EIO : 0;
}

int gn_server_post_receives(struct gn_server *s, struct gn_connection *c)
{
	int rc = 0;

	for (uint32_t k = 0; k < GN_LEND_NOTES && !rc; k++)
		rc = receive(s, c, k);
	return rc;
}

/* Notes are sent one after the other; one that finds no room is not sent. */
static int send_note(struct gn_server *s, struct gn_connection *c, uint32_t kind, int code)
{
	const struct gn_hello_note note = {kind, c->flush_number, code};
	struct ibv_send_wr wr, *bad;
	struct ibv_sge piece;

	if (c->sending)
		return -GN_EAGAIN;
	gn_hello_put_note((uint8_t *)note_at(s, c, GN_LEND_NOTES), &note);
	fill_piece(s, c, GN_LEND_NOTES, &piece);
	memset(&wr, 0, sizeof wr);
	wr.wr_id = id_of(s, c, 0, GN_LEND_NOTES);
	wr.sg_list = &piece;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(c->id->qp, &wr, &bad))
		return -GN_EIO;
	c->sending = 1;
	c->sent_ns = simt_clock_ns();
	return 0;
}

/* ---- notes that arrive ---- */

static void take_note(struct gn_server *s, struct gn_connection *c, const struct ibv_wc *wc)
{
	const uint32_t k = (uint32_t)wc->wr_id & 0xffff;
	struct gn_hello_note note;

	if (k >= GN_LEND_NOTES)
		return;
	if (!gn_hello_get_note(note_at(s, c, k), wc->byte_len, &note) && note.kind == GN_HELLO_FLUSH &&
	    !s->ending) {
		c->flush_number = note.number;
		c->flush = GN_FLUSH_WAITS;
	}
	receive(s, c, k);
}

/* Tell the end of a flush, now or when there is room. */
static void tell_end(struct gn_server *s, struct gn_connection *c)
{
	const int rc = send_note(s, c, GN_HELLO_DONE, c->flush_code);

	c->flush = !rc ? GN_FLUSH_TOLD : rc == -GN_EAGAIN ? GN_FLUSH_ENDED : GN_FLUSH_NONE;
}

static void end_sending(struct gn_server *s, struct gn_connection *c)
{
	c->sending = 0;
	if (c->flush == GN_FLUSH_TOLD)
		c->flush = GN_FLUSH_NONE;
	if (c->flush == GN_FLUSH_ENDED)
		tell_end(s, c);
}

static void take_completion(struct gn_server *s, const struct ibv_wc *wc)
{
	const uint32_t place = (uint32_t)(wc->wr_id >> 48);
	struct gn_connection *c = &s->connection[place];

	if (place >= GN_SERVER_CONNECTIONS || !c->id || (uint16_t)(wc->wr_id >> 32) != c->generation)
		return;
	if (wc->status != IBV_WC_SUCCESS) { /* the queue pair does nothing any more */
		c->dead = 1;
		c->flush = GN_FLUSH_NONE;
	} else if (wc->wr_id >> 16 & 1) {
		take_note(s, c, wc);
	} else {
		end_sending(s, c);
	}
}

void gn_server_take_notes(struct gn_server *s, struct gn_lender *lender)
{
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	while (!ibv_get_cq_event(lender->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
	ibv_req_notify_cq(lender->cq, 0);
	while (ibv_poll_cq(lender->cq, 1, &wc) == 1)
		take_completion(s, &wc);
	gn_server_flush_next(s);
}

/* ---- is the client there? ---- */

/*
 * The client's device answers a write of no bytes. Neither memory nor a program of the client takes part. If
 * nothing answers, the device here gives up after a while, and the write ends with an error.
 */
static void probe(const struct gn_server *s, struct gn_connection *c)
{
	struct ibv_send_wr wr, *bad;

	memset(&wr, 0, sizeof wr);
	wr.wr_id = id_of(s, c, 0, GN_LEND_NOTES + 1);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_SIGNALED;
	c->sending = !ibv_post_send(c->id->qp, &wr, &bad);
	c->sent_ns = simt_clock_ns();
}

static int is_gone(const struct gn_connection *c, uint64_t now)
{
	return c->dead || (c->sending && now > c->sent_ns && now - c->sent_ns > SILENCE_NS);
}

/*
 * Can messages leave here? Else the client says no goodbye that it could hear, and Soft-RoCE's connection
 * manager would not survive saying it.
 */
static int has_network(const struct gn_connection *c)
{
	struct ibv_port_attr port;

	return !ibv_query_port(c->id->verbs, c->id->port_num, &port) && port.state == IBV_PORT_ACTIVE;
}

void gn_server_probe(struct gn_server *s, uint64_t now)
{
	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++) {
		struct gn_connection *c = &s->connection[k];

		if (!c->id)
			continue;
		if (is_gone(c, now) && has_network(c))
			gn_server_drop(s, c);
		else if (c->established && !c->sending && !c->dead)
			probe(s, c);
	}
}

/* ---- the thread ---- */

static void *flush(void *user)
{
	struct gn_server *s = (struct gn_server *)user;
	const uint64_t one = 1;
	struct gn_error e = {0, ""};

	s->flush_code = gn_export_flush(&s->export_[s->flushed], &e);
	if (s->flush_code)
		s->say(e.text);
	if (write(s->done, &one, sizeof one) != (ssize_t)sizeof one)
		s->say("the end of a flush cannot be told");
	return NULL;
}

/* All who wait for this export are served by one flush. */
static void begin(struct gn_server *s, unsigned export_)
{
	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++)
		if (s->connection[k].id && s->connection[k].export_ == export_ &&
		    s->connection[k].flush == GN_FLUSH_WAITS)
			s->connection[k].flush = GN_FLUSH_RUNS;
	s->flushed = export_;
	s->works = !pthread_create(&s->worker, NULL, flush, s);
	if (!s->works) {
		s->say("the system starts no thread for a flush");
		s->flush_code = -GN_ENOMEM;
		gn_server_flush_done(s);
	}
}

void gn_server_flush_next(struct gn_server *s)
{
	const unsigned last = s->flushed;

	/* one region after the other: clients of one must not keep those of another waiting */
	for (unsigned n = 1; n <= s->exports && !s->works; n++)
		for (unsigned k = 0; k < GN_SERVER_CONNECTIONS && !s->works; k++)
			if (s->connection[k].id && s->connection[k].flush == GN_FLUSH_WAITS &&
			    s->connection[k].export_ == (last + n) % s->exports)
				begin(s, s->connection[k].export_);
}

void gn_server_flush_done(struct gn_server *s)
{
	uint64_t count;

	if (s->works) {
		pthread_join(s->worker, NULL);
		if (read(s->done, &count, sizeof count) < 0)
			count = 0; /* nobody asks how often it was told */
		s->works = 0;
	}
	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++) {
		struct gn_connection *c = &s->connection[k];

		if (!c->id || c->flush != GN_FLUSH_RUNS || c->export_ != s->flushed)
			continue;
		c->flush_code = s->flush_code;
		tell_end(s, c);
	}
}

enum gn_flush_state gn_server_waiting(const struct gn_server *s)
{
	enum gn_flush_state state = s->works ? GN_FLUSH_RUNS : GN_FLUSH_NONE;

	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS && state != GN_FLUSH_RUNS; k++) {
		const struct gn_connection *c = &s->connection[k];

		if (c->id && c->flush != GN_FLUSH_NONE)
			state = c->flush < GN_FLUSH_ENDED ? GN_FLUSH_RUNS : GN_FLUSH_TOLD;
	}
	return state;
}

void gn_server_still_working(struct gn_server *s)
{
	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++) {
		struct gn_connection *c = &s->connection[k];

		if (c->id && (c->flush == GN_FLUSH_WAITS || c->flush == GN_FLUSH_RUNS))
			send_note(s, c, GN_HELLO_WORKING, 0);
	}
}
