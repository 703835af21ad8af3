/* SPDX-License-Identifier: Apache-2.0 */
/* How a link comes up: resolve, make a queue pair, say hello. */
#include <store/rdma/link.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include <grapnel/simt.h>

enum { RESOLVE_MS = 2000 };
enum { PIECES_MOST = 4 };
/*
 * A packet that is not acknowledged is sent again after 4.096 us * 2^18 = 1.1 s or up to four times that, six
 * times. Then the connection is lost, unless the time-out of the store passes before. The server's device
 * tries as often. Soft-RoCE takes seven for no end, as all do where the other side is not ready to receive.
 */
enum { RETRIES = 6, RETRIES_NOT_READY = 7 };
enum { ACK_TIMEOUT = 18 };
/* Reasons of a refusal by the connection manager (InfiniBand specification, 12.6.7.2). */
enum { REJECT_NO_LISTENER = 8, REJECT_BY_SERVER = 28 };

/* ---- events of the connection manager ---- */

/* Wait for news, no longer than to the deadline, and not if the store is being closed. */
static int wait_for_news(const struct gn_link *l, uint64_t deadline)
{
	struct pollfd p[2] = {{l->channel->fd, POLLIN, 0}, {l->stop, POLLIN, 0}};

	for (;;) {
		const uint64_t now = simt_clock_ns();

		if (now >= deadline)
			return -GN_ETIMEDOUT;
		if (poll(p, 2, (int)((deadline - now) / 1000000) + 1) > 0)
			return p[1].revents ? -GN_ETIMEDOUT : 0;
	}
}

/* The next event, which the caller acknowledges; NULL when there is none in time. */
static struct rdma_cm_event *next_event(struct gn_link *l, uint64_t deadline)
{
	struct rdma_cm_event *event;

	for (;;) {
		if (!rdma_get_cm_event(l->channel, &event))
			return event;
		if (errno != EAGAIN && errno != EINTR)
			return NULL;
		if (wait_for_news(l, deadline))
			return NULL;
	}
}

static int no_answer(const struct gn_link *l, struct gn_error *error)
{
	const struct gn_rdma_address *a = &l->peer->address;

	return gn_error_set(error, -GN_ETIMEDOUT,
	                    "%s: %s does not answer; check that it runs and that its network is up (ping, "
	                    "'rdma link' there)",
	                    l->peer->label, a->host);
}

static int unreachable(const struct gn_link *l, int code, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_ENODEV,
	    "%s: no RDMA device of this machine reaches %s (%s); 'rdma link' shows the devices and their "
	    "network interfaces, 'grapnel doctor' says what is missing",
	    l->peer->label, l->peer->address.host, strerror(code < 0 ? -code : code));
}

static int rejected(const struct gn_link *l, const struct rdma_cm_event *event, struct gn_error *error)
{
	const struct gn_rdma_address *a = &l->peer->address;
	char text[GN_HELLO_TEXT + 1];

	if (event->status == REJECT_NO_LISTENER)
		return gn_error_set(
		    error, -GN_ENOENT,
		    "%s: no server listens on port %s of %s; start one there with 'grapnel serve "
		    "--rdma %s=FILE --port %s', or name the port on which it listens",
		    l->peer->label, a->port, a->host, a->name, a->port);
	if (!gn_hello_get_refusal(event->param.conn.private_data, event->param.conn.private_data_len, text))
		return gn_error_set(error, -GN_ENOENT, "%s: the server refuses: %s", l->peer->label, text);
	return gn_error_set(error, -GN_EIO,
	                    "%s: %s refuses the connection (reason %d) and is no server of Grapnel's; check "
	                    "the port",
	                    l->peer->label, a->host, event->status);
}

static int explain(const struct gn_link *l, const struct rdma_cm_event *event, struct gn_error *error)
{
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
		return event->status == -ETIMEDOUT ? no_answer(l, error)
		                                   : unreachable(l, event->status, error);
	case RDMA_CM_EVENT_UNREACHABLE: return no_answer(l, error);
	case RDMA_CM_EVENT_REJECTED: return rejected(l, event, error);
	default:
		return gn_error_set(error, -GN_EIO, "%s: connecting failed: %s (%d); try again",
		                    l->peer->label, rdma_event_str(event->event), event->status);
	}
}

/* Wait for the event that ends a step. With answer, read it from the event. */
static int await(struct gn_link *l, enum rdma_cm_event_type wanted, struct gn_hello_answer *answer,
                 struct gn_error *error)
{
	struct rdma_cm_event *event = next_event(l, simt_clock_ns() + l->patience_ms * (uint64_t)1000000);
	int rc = 0;

	if (!event)
		return no_answer(l, error);
	if (event->event != wanted)
		rc = explain(l, event, error);
	else if (answer)
		rc = gn_hello_get_answer(event->param.conn.private_data, event->param.conn.private_data_len,
		                         answer);
	if (rc && event->event == wanted)
		gn_error_set(
		    error, rc,
		    "%s: the answer is not one of this version of Grapnel; run the same version on both "
		    "sides",
		    l->peer->label);
	rdma_ack_cm_event(event);
	return rc;
}

/* ---- resolve ---- */

static int no_manager(const struct gn_link *l, int code, struct gn_error *error)
{
	return gn_error_set(
	    error, code == EACCES || code == EPERM ? -GN_EACCES : -GN_ENODEV,
	    "%s: this machine has no RDMA device, or its connection manager cannot be used (%s); "
	    "'grapnel doctor' says which command puts that right",
	    l->peer->label, strerror(code));
}

static int open_id(struct gn_link *l, struct gn_error *error)
{
	l->channel = rdma_create_event_channel();
	if (!l->channel)
		return no_manager(l, errno, error);
	fcntl(l->channel->fd, F_SETFL, fcntl(l->channel->fd, F_GETFL) | O_NONBLOCK);
	return rdma_create_id(l->channel, &l->id, l, RDMA_PS_TCP) ? no_manager(l, errno, error) : 0;
}

/* All links use one device: their memory is registered with it. */
static int adopt_device(struct gn_link *l, struct gn_error *error)
{
	struct gn_peer *p = l->peer;
	struct ibv_device_attr attributes;
	int rc;

	if (p->verbs)
		return p->verbs == l->id->verbs
		           ? 0
		           : gn_error_set(error, -GN_ENODEV,
		                          "%s: the server is now reached by another RDMA device; close the "
		                          "store and open it again",
		                          p->label);
	p->pd = ibv_alloc_pd(l->id->verbs);
	if (!p->pd || ibv_query_device(l->id->verbs, &attributes)) {
		rc = errno;
		if (p->pd)
			ibv_dealloc_pd(p->pd);
		p->pd = NULL; /* another address of the host may be tried */
		return gn_error_set(error, -GN_EIO, "%s: the RDMA device %s cannot be used: %s", p->label,
		                    ibv_get_device_name(l->id->verbs->device), strerror(rc));
	}
	p->work = (uint32_t)attributes.max_qp_wr;
	p->entries = (uint32_t)attributes.max_cqe;
	p->pieces = attributes.max_sge > PIECES_MOST ? (uint32_t)PIECES_MOST : (uint32_t)attributes.max_sge;
	p->verbs = l->id->verbs;
	return 0;
}

static int resolve_to(struct gn_link *l, struct sockaddr *to, struct gn_error *error)
{
	int rc = open_id(l, error);

	if (rc)
		return rc;
	if (rdma_resolve_addr(l->id, NULL, to, RESOLVE_MS))
		return unreachable(l, errno, error);
	rc = await(l, RDMA_CM_EVENT_ADDR_RESOLVED, NULL, error);
	if (rc)
		return rc;
	if (rdma_resolve_route(l->id, RESOLVE_MS))
		return unreachable(l, errno, error);
	rc = await(l, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL, error);
	return rc ? rc : adopt_device(l, error);
}

int gn_link_resolve(struct gn_link *link, struct gn_error *error)
{
	int rc = resolve_to(link, link->peer->at->ai_addr, error);

	if (rc)
		gn_link_close(link);
	return rc;
}

/* ---- join ---- */

static int make_queue_pair(struct gn_link *l, struct gn_error *error)
{
	struct ibv_qp_init_attr a;

	memset(&a, 0, sizeof a);
	a.send_cq = l->cq;
	a.recv_cq = l->receive_cq ? l->receive_cq : l->cq;
	a.cap.max_send_wr = l->depth;
	a.cap.max_recv_wr = 4;
	a.cap.max_send_sge = l->peer->pieces;
	a.cap.max_recv_sge = 1;
	a.qp_type = IBV_QPT_RC;
	if (rdma_create_qp(l->id, l->peer->pd, &a))
		return gn_error_set(
		    error, -GN_ENOMEM,
		    "%s: the RDMA device makes no queue pair of %u requests: %s; give fewer with "
		    "queues=N or depth=N in the URI",
		    l->peer->label, l->depth, strerror(errno));
	l->qp = l->id->qp;
	if (l->prepare && l->prepare(l))
		return gn_error_set(error, -GN_EIO, "%s: the RDMA device takes no receive", l->peer->label);
	return 0;
}

static int say_hello(struct gn_link *l, struct gn_error *error)
{
	struct gn_hello_request request;
	struct rdma_conn_param param;
	uint8_t data[GN_HELLO_REQUEST_BYTES], ack = ACK_TIMEOUT;

	memset(&request, 0, sizeof request);
	memset(&param, 0, sizeof param);
	request.session = l->peer->session;
	request.index = l->index;
	request.flags = l->flags;
	memcpy(request.name, l->peer->address.name, sizeof request.name);
	gn_hello_put_request(data, &request);
	param.private_data = data;
	param.private_data_len = sizeof data;
	param.initiator_depth = RDMA_MAX_INIT_DEPTH;
	param.retry_count = RETRIES;
	param.rnr_retry_count = RETRIES_NOT_READY;
	/* Not every system has this option; the device's own time-out is then longer. */
	rdma_set_option(l->id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack, sizeof ack);
	return rdma_connect(l->id, &param) ? gn_error_set(error, -GN_EIO, "%s: connecting failed: %s",
	                                                  l->peer->label, strerror(errno))
	                                   : 0;
}

/* The region must be the one that the store was opened with. */
static int accept_answer(struct gn_link *l, const struct gn_hello_answer *answer, struct gn_error *error)
{
	struct gn_hello_answer *region = &l->peer->region;

	l->address = answer->address;
	l->key = answer->key;
	if (!region->bytes) {
		*region = *answer;
		return 0;
	}
	if (region->instance == answer->instance && region->bytes == answer->bytes &&
	    region->block == answer->block && region->flags == answer->flags)
		return 0;
	gn_peer_give_up(l->peer, "the server was started again");
	return gn_peer_say(l->peer, error);
}

int gn_link_join(struct gn_link *link, struct gn_error *error)
{
	struct gn_hello_answer answer;
	int rc = make_queue_pair(link, error);

	rc = rc ? rc : say_hello(link, error);
	rc = rc ? rc : await(link, RDMA_CM_EVENT_ESTABLISHED, &answer, error);
	rc = rc ? rc : accept_answer(link, &answer, error);
	if (rc) {
		gn_link_close(link);
		return rc;
	}
	gn_link_rise(link);
	return 0;
}
