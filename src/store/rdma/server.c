/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/lend.h>

#include <grapnel/simt.h>

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

const int gn_rdma_is_built = 1;

enum { PAGE = 4096, BACKLOG = 128, TICK_MS = 1000 };
#define PROBE_NS 5000000000u  /* between two probes of a client */
#define ANSWER_NS 5000000000u /* the most that an answer to a client may take when the server ends */

/* ---- open ---- */

static int no_manager(struct gn_error *error)
{
	return gn_error_set(error, errno == EACCES || errno == EPERM ? -GN_EACCES : -GN_ENODEV,
	                    "this machine has no RDMA device, or its connection manager cannot be used (%s); "
	                    "'grapnel doctor' says which command puts that right",
	                    strerror(errno));
}

/* Returns 0 or an errno value. */
static int bind_to(struct gn_server *s, const char *address, const char *port, int family)
{
	struct addrinfo hints, *list = NULL;
	int rc;

	memset(&hints, 0, sizeof hints);
	hints.ai_flags = AI_PASSIVE;
	hints.ai_family = family;
	hints.ai_socktype = SOCK_STREAM;
	if (getaddrinfo(address, port, &hints, &list))
		return EADDRNOTAVAIL;
	rc = rdma_bind_addr(s->listener, list->ai_addr) ? errno : 0;
	freeaddrinfo(list);
	return rc;
}

static int listen_on(struct gn_server *s, const char *address, const char *port, struct gn_error *error)
{
	const char *where = address ? address : "all addresses";
	int rc = bind_to(s, address, port, address ? AF_UNSPEC : AF_INET6); /* :: takes IPv4, too */

	if (rc && rc != EADDRINUSE && !address)
		rc = bind_to(s, address, port, AF_INET);
	if (rc == EADDRINUSE)
		return gn_error_set(error, -GN_EBUSY, "%s: port %s is taken; give another with --port", where,
		                    port);
	if (rc)
		return gn_error_set(
		    error, -GN_ENODEV,
		    "%s: no RDMA device has this address (%s); 'rdma link' shows the devices and "
		    "their network interfaces",
		    where, strerror(rc));
	return 0;
}

static int add_device(struct gn_server *s, struct ibv_context *verbs, struct gn_error *error)
{
	struct gn_lender *l = &s->lender[s->lenders];
	const size_t used = strlen(s->devices), bytes = (size_t)GN_SERVER_CONNECTIONS * GN_LEND_NOTE_BYTES;
	int rc = gn_lender_open(l, verbs, s->export_, s->exports, s->notes, bytes, error);

	if (rc)
		return rc;
	snprintf(s->devices + used, sizeof s->devices - used, "%s%s", used ? ", " : "",
	         ibv_get_device_name(verbs->device));
	s->lenders++;
	return 0;
}

/* The devices through which connections can come: that of the address, or all that can be used. */
static int add_devices(struct gn_server *s, struct gn_error *error)
{
	struct ibv_context **list;
	int count = 0, rc = -GN_ENODEV;

	if (s->listener->verbs)
		return add_device(s, s->listener->verbs, error);
	list = rdma_get_devices(&count);
	if (!list || !count)
		gn_error_set(error, rc,
		             "this machine has no RDMA device; 'grapnel doctor' says what is missing");
	for (int k = 0; k < count && s->lenders < GN_LEND_DEVICES; k++) {
		struct gn_error why = {0, ""};

		rc = add_device(s, list[k], &why);
		if (!rc)
			continue;
		s->say(why.text);
		gn_error_set(error, rc, "%s", why.text);
	}
	if (list)
		rdma_free_devices(list);
	return s->lenders ? 0 : rc;
}

static int open_channel(struct gn_server *s, struct gn_error *error)
{
	s->channel = rdma_create_event_channel();
	if (!s->channel)
		return no_manager(error);
	fcntl(s->channel->fd, F_SETFL, fcntl(s->channel->fd, F_GETFL) | O_NONBLOCK);
	return rdma_create_id(s->channel, &s->listener, NULL, RDMA_PS_TCP) ? no_manager(error) : 0;
}

static int make_places(struct gn_server *s, struct gn_error *error)
{
	const size_t bytes = (size_t)GN_SERVER_CONNECTIONS * GN_LEND_NOTE_BYTES;
	void *notes = NULL;

	s->connection = (struct gn_connection *)calloc(GN_SERVER_CONNECTIONS, sizeof *s->connection);
	s->done = eventfd(0, EFD_CLOEXEC);
	if (!s->connection || s->done < 0 || posix_memalign(&notes, PAGE, bytes))
		return gn_error_set(error, -GN_ENOMEM, "out of memory for the connections");
	memset(notes, 0, bytes);
	s->notes = (char *)notes;
	return 0;
}

int gn_server_open(struct gn_server **server, struct gn_export *export_, unsigned count, const char *address,
                   const char *port, void (*say)(const char *text), struct gn_error *error)
{
	struct gn_server *s = (struct gn_server *)calloc(1, sizeof *s);
	int rc;

	if (!s)
		return gn_error_set(error, -GN_ENOMEM, "out of memory");
	s->export_ = export_;
	s->exports = count;
	s->say = say;
	s->done = -1;
	rc = make_places(s, error);
	rc = rc ? rc : open_channel(s, error);
	rc = rc ? rc : listen_on(s, address, port, error);
	rc = rc ? rc : add_devices(s, error);
	if (!rc && rdma_listen(s->listener, BACKLOG))
		rc = gn_error_set(error, -GN_EIO, "port %s: listening failed: %s", port, strerror(errno));
	if (rc)
		gn_server_close(s);
	else
		*server = s;
	return rc;
}

const char *gn_server_devices(const struct gn_server *server)
{
	return server->devices;
}

/* ---- run ---- */

/* As for a store, one that is established is not ended because a hardware address is asked for. */
static int ends(const struct gn_connection *c, enum rdma_cm_event_type type)
{
	return type != RDMA_CM_EVENT_ADDR_CHANGE && !(c->established && type == RDMA_CM_EVENT_UNREACHABLE);
}

static void handle(struct gn_server *s, struct rdma_cm_event *event)
{
	const enum rdma_cm_event_type type = event->event;
	struct gn_connection *c = (struct gn_connection *)event->id->context;
	struct rdma_cm_id *id = event->id;
	struct gn_hello_request request;
	int hello = 0;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		hello = gn_hello_get_request(event->param.conn.private_data,
		                             event->param.conn.private_data_len, &request);
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		gn_server_request(s, id, &request, hello);
	else if (c && type == RDMA_CM_EVENT_ESTABLISHED)
		c->established = 1;
	else if (c && ends(c, type))
		gn_server_drop(s, c);
}

enum { STOP, NEWS, DONE, DEVICES };

static unsigned list_descriptors(const struct gn_server *s, int stop, struct pollfd *p)
{
	const int first[] = {stop, s->channel->fd, s->done};

	for (unsigned k = 0; k < DEVICES + s->lenders; k++) {
		p[k].fd = k < DEVICES ? first[k] : s->lender[k - DEVICES].channel->fd;
		p[k].events = POLLIN;
		p[k].revents = 0;
	}
	return DEVICES + s->lenders;
}

static void serve(struct gn_server *s, const struct pollfd *p)
{
	struct rdma_cm_event *event;

	if (p[NEWS].revents)
		while (!rdma_get_cm_event(s->channel, &event))
			handle(s, event);
	if (p[DONE].revents)
		gn_server_flush_done(s);
	for (unsigned k = 0; k < s->lenders; k++)
		if (p[DEVICES + k].revents)
			gn_server_take_notes(s, &s->lender[k]);
	gn_server_flush_next(s);
}

/* Who has asked for a flush before now still hears of its end; nobody else is served. */
static void begin_to_end(struct gn_server *s, struct pollfd *p)
{
	for (unsigned k = 0; k < s->lenders; k++)
		gn_server_take_notes(s, &s->lender[k]);
	s->ending = 1;
	p[STOP].fd = -1; /* it stays readable */
	p[STOP].revents = 0;
}

/* Is the end here? A client that has vanished does not take its answer: that has a deadline. */
static int is_over(const struct gn_server *s, uint64_t *deadline)
{
	const enum gn_flush_state waiting = s->ending ? gn_server_waiting(s) : GN_FLUSH_RUNS;

	if (waiting == GN_FLUSH_RUNS)
		*deadline = simt_clock_ns() + ANSWER_NS;
	return waiting == GN_FLUSH_NONE || simt_clock_ns() > *deadline;
}

int gn_server_run(struct gn_server *server, int stop, struct gn_error *error)
{
	struct pollfd p[DEVICES + GN_LEND_DEVICES];
	const unsigned count = list_descriptors(server, stop, p);
	uint64_t deadline = 0, next = 0; /* when clients that wait for a flush hear again that it goes on */
	uint64_t probe = 0;

	while (!is_over(server, &deadline)) {
		const int n = poll(p, count, TICK_MS);

		if (n < 0 && errno != EINTR)
			return gn_error_set(error, -GN_EIO, "waiting failed: %s", strerror(errno));
		if (n > 0 && p[STOP].revents)
			begin_to_end(server, p);
		if (n > 0)
			serve(server, p);
		if (server->works && simt_clock_ns() >= next) {
			gn_server_still_working(server);
			next = simt_clock_ns() + TICK_MS * 1000000ull;
		}
		if (simt_clock_ns() >= probe) {
			gn_server_probe(server, simt_clock_ns());
			probe = simt_clock_ns() + PROBE_NS;
		}
	}
	return 0;
}

/* ---- close ---- */

void gn_server_close(struct gn_server *server)
{
	if (server->works)
		pthread_join(server->worker, NULL);
	for (unsigned k = 0; server->connection && k < GN_SERVER_CONNECTIONS; k++)
		if (server->connection[k].id)
			gn_server_drop(server, &server->connection[k]);
	if (server->listener)
		rdma_destroy_id(server->listener);
	for (unsigned k = 0; k < server->lenders; k++)
		gn_lender_close(&server->lender[k]);
	if (server->channel)
		rdma_destroy_event_channel(server->channel);
	if (server->done >= 0)
		close(server->done);
	free(server->connection);
	free(server->notes);
	free(server);
}
