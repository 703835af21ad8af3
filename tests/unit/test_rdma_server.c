/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server of rdma: regions over a device that is faked below the verbs: what it tells clients that wait
 * for a flush when it is told to end, and that it notices clients that have vanished.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grapnel/simt.h>
#include <store/rdma/lend.h>

#include "unit.h"

enum { CONNECTIONS = 3, ENTRIES = 64, BYTES = 100000 };

/* ---- the device ---- */

static struct {
	struct ibv_context verbs;
	struct ibv_cq cq;
	struct ibv_comp_channel channel;
	struct rdma_event_channel news;
	struct ibv_qp qp[CONNECTIONS];
	enum ibv_port_state port;
	struct rdma_cm_id id[CONNECTIONS];
	struct ibv_mr mr;
	struct ibv_wc wc[ENTRIES];
	unsigned completions, taken;
	enum ibv_wc_status ends[CONNECTIONS]; /* how what is sent to a client ends */
	int silent;                           /* nothing that is sent ends */
	unsigned probes[CONNECTIONS], dropped[CONNECTIONS];
	/* The last note to each client. */
	struct gn_hello_note note[CONNECTIONS];
	uint64_t received[CONNECTIONS]; /* id of a receive */
	void *memory[CONNECTIONS];      /* of that receive */
} fake;

static struct gn_server *server;
static struct gn_export lent;
static struct gn_error error;
static char path[32];

static unsigned number_of(const struct ibv_qp *qp)
{
	return (unsigned)(qp - fake.qp);
}

static void complete(uint64_t id, enum ibv_wc_status status, uint32_t bytes)
{
	struct ibv_wc *wc = &fake.wc[fake.completions++];
	const uint64_t one = 1;

	assert_true(fake.completions <= ENTRIES);
	memset(wc, 0, sizeof *wc);
	wc->wr_id = id;
	wc->status = status;
	wc->byte_len = bytes;
	assert_int_equal(write(fake.channel.fd, &one, sizeof one), sizeof one);
}

static int fake_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const unsigned k = number_of(qp);

	(void)bad;
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		fake.probes[k] += !wr->num_sge;
	else
		assert_int_equal(gn_hello_get_note((void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length,
		                                   &fake.note[k]),
		                 0);
	if (!fake.silent)
		complete(wr->wr_id, fake.ends[k], 0);
	return 0;
}

static int fake_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	fake.received[number_of(qp)] = wr->wr_id;
	fake.memory[number_of(qp)] = (void *)(uintptr_t)wr->sg_list->addr;
	return 0;
}

static int fake_poll(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	(void)cq;
	assert_int_equal(most, 1);
	if (fake.taken == fake.completions)
		return 0;
	*wc = fake.wc[fake.taken++];
	return 1;
}

static int fake_notify(struct ibv_cq *cq, int solicited)
{
	(void)cq;
	(void)solicited;
	return 0;
}

/* ---- the libraries ---- */

#ifdef __cplusplus
extern "C" {
#endif
int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context);
void __wrap_ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events);
int __wrap_ibv_query_port(struct ibv_context *verbs, uint8_t number, struct _compat_ibv_port_attr *port);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
int __wrap_rdma_disconnect(struct rdma_cm_id *id);
void __wrap_rdma_destroy_qp(struct rdma_cm_id *id);
int __wrap_rdma_destroy_id(struct rdma_cm_id *id);
#ifdef __cplusplus
}
#endif

int __wrap_ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
	uint64_t events;

	*cq = &fake.cq;
	*context = NULL;
	return read(channel->fd, &events, sizeof events) < 0 ? -1 : 0;
}

void __wrap_ibv_ack_cq_events(struct ibv_cq *cq, unsigned int events)
{
	assert_true(cq == &fake.cq && events == 1);
}

int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	assert_ptr_equal(channel, &fake.news);
	*event = NULL;
	errno = EAGAIN;
	return -1;
}

int __wrap_ibv_query_port(struct ibv_context *verbs, uint8_t number, struct _compat_ibv_port_attr *port)
{
	(void)number;
	assert_ptr_equal(verbs, &fake.verbs);
	((struct ibv_port_attr *)(void *)port)->state = fake.port;
	return 0;
}

int __wrap_rdma_disconnect(struct rdma_cm_id *id)
{
	fake.dropped[number_of(id->qp)]++;
	return 0;
}

void __wrap_rdma_destroy_qp(struct rdma_cm_id *id)
{
	assert_non_null(id->qp);
}

int __wrap_rdma_destroy_id(struct rdma_cm_id *id)
{
	assert_non_null(id->qp);
	return 0;
}

/* ---- a server that lends a file to three connections ---- */

static void make_file(void)
{
	char text[64];
	int fd;

	strcpy(path, "/tmp/rdma_server_XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BYTES), 0);
	close(fd);
	snprintf(text, sizeof text, "f=%s", path);
	assert_int_equal(gn_export_open(&lent, text, 0, &error), 0);
}

static void connect_place(unsigned k)
{
	struct gn_connection *c = &server->connection[k];

	fake.qp[k].context = &fake.verbs;
	fake.id[k].qp = &fake.qp[k];
	fake.id[k].verbs = &fake.verbs;
	c->id = &fake.id[k];
	c->lender = server->lender;
	c->session = 7 + k;
	c->established = 1;
}

static void complain(const char *text)
{
	fail_msg("%s", text);
}

static int open_server(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.verbs.ops.post_send = fake_send;
	fake.verbs.ops.post_recv = fake_receive;
	fake.verbs.ops.poll_cq = fake_poll;
	fake.verbs.ops.req_notify_cq = fake_notify;
	fake.cq.context = &fake.verbs;
	fake.port = IBV_PORT_ACTIVE;
	fake.channel.fd = eventfd(0, EFD_NONBLOCK);
	fake.news.fd = eventfd(0, 0);
	make_file();
	server = (struct gn_server *)calloc(1, sizeof *server);
	server->export_ = &lent;
	server->exports = server->lenders = 1;
	server->channel = &fake.news;
	server->lender[0].verbs = &fake.verbs;
	server->lender[0].channel = &fake.channel;
	server->lender[0].cq = &fake.cq;
	server->lender[0].notes = &fake.mr;
	server->connection =
	    (struct gn_connection *)calloc(GN_SERVER_CONNECTIONS, sizeof *server->connection);
	server->notes = (char *)calloc(GN_SERVER_CONNECTIONS, GN_LEND_NOTE_BYTES);
	server->done = eventfd(0, 0);
	server->say = complain;
	for (unsigned k = 0; k < CONNECTIONS; k++)
		connect_place(k);
	return 0;
}

static int close_server(void **state)
{
	(void)state;
	gn_export_close(&lent);
	unlink(path);
	close(fake.channel.fd);
	close(fake.news.fd);
	close(server->done);
	free(server->connection);
	free(server->notes);
	free(server);
	return 0;
}

/* The server is told to end before it has looked at anything else. */
static void run_to_the_end(void)
{
	const int stop = eventfd(1, 0);

	assert_int_equal(gn_server_run(server, stop, &error), 0);
	close(stop);
}

static int file_ends_with(char wanted)
{
	const int fd = open(path, O_RDONLY);
	char last = 0;

	assert_int_equal(pread(fd, &last, 1, BYTES - 1), 1);
	close(fd);
	return last == wanted;
}

static void ask_for_flush(unsigned k, uint32_t number)
{
	server->connection[k].flush = GN_FLUSH_WAITS;
	server->connection[k].flush_number = number;
}

/* A client sends a note. */
static void send_request(unsigned k, uint32_t number)
{
	const struct gn_hello_note note = {GN_HELLO_FLUSH, number, 0};

	if (!fake.memory[k])
		assert_int_equal(gn_server_post_receives(server, &server->connection[k]), 0);
	gn_hello_put_note((uint8_t *)fake.memory[k], &note);
	complete(fake.received[k], IBV_WC_SUCCESS, GN_HELLO_NOTE_BYTES);
}

static void who_waits_for_a_flush_hears_of_its_end(void **state)
{
	(void)state;
	lent.region.memory[BYTES - 1] = 'z';
	ask_for_flush(0, 11);
	ask_for_flush(2, 13);
	run_to_the_end();
	assert_true(file_ends_with('z'));
	for (unsigned k = 0; k < CONNECTIONS; k += 2) {
		assert_int_equal(fake.note[k].kind, GN_HELLO_DONE);
		assert_int_equal(fake.note[k].number, 11 + k);
		assert_int_equal(fake.note[k].code, 0);
	}
	assert_int_equal(fake.note[1].kind, 0);
}

static void a_request_that_came_before_counts(void **state)
{
	(void)state;
	lent.region.memory[BYTES - 1] = 'y';
	send_request(1, 5);
	run_to_the_end();
	assert_true(file_ends_with('y'));
	assert_int_equal(fake.note[1].kind, GN_HELLO_DONE);
	assert_int_equal(fake.note[1].number, 5);
}

static void a_request_that_comes_too_late_does_not(void **state)
{
	(void)state;
	server->ending = 1;
	send_request(1, 5);
	run_to_the_end();
	gn_server_take_notes(server, server->lender);
	assert_false(server->works);
	assert_int_equal(fake.note[1].kind, 0);
}

/* What is no request begins no flush, and takes no receive away from those that come after it. */
static void nonsense_from_a_client_is_passed_over(void **state)
{
	static const struct {
		uint32_t kind, bytes;
		unsigned at; /* a byte that is wrong; 99: none */
	} cases[] = {
	    {GN_HELLO_FLUSH, GN_HELLO_NOTE_BYTES, 0},
	    {GN_HELLO_FLUSH, GN_HELLO_NOTE_BYTES, 3},
	    {GN_HELLO_FLUSH, 0, 99},
	    {GN_HELLO_FLUSH, GN_HELLO_NOTE_BYTES - 1, 99},
	    {GN_HELLO_FLUSH, GN_HELLO_NOTE_BYTES + 1, 99},
	    {0, GN_HELLO_NOTE_BYTES, 99},
	    {GN_HELLO_WORKING, GN_HELLO_NOTE_BYTES, 99},
	    {GN_HELLO_DONE, GN_HELLO_NOTE_BYTES, 99},
	    {UINT32_MAX, GN_HELLO_NOTE_BYTES, 99},
	};

	(void)state;
	assert_int_equal(gn_server_post_receives(server, &server->connection[1]), 0);
	for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
		const struct gn_hello_note note = {cases[k].kind, 7, 0};
		uint8_t *to = (uint8_t *)fake.memory[1];

		gn_hello_put_note(to, &note);
		if (cases[k].at != 99)
			to[cases[k].at] ^= 0x80;
		complete(fake.received[1], IBV_WC_SUCCESS, cases[k].bytes);
		gn_server_take_notes(server, server->lender);
		assert_int_equal(server->connection[1].flush, GN_FLUSH_NONE);
		assert_false(server->connection[1].dead);
		assert_false(server->works);
	}
	lent.region.memory[BYTES - 1] = 'w';
	send_request(1, 8);
	run_to_the_end();
	assert_true(file_ends_with('w'));
	assert_int_equal(fake.note[1].number, 8);
}

/* Completions of places and notes that there are not, and of a connection that was there before. */
static void completions_of_nobody_are_passed_over(void **state)
{
	(void)state;
	send_request(1, 5);
	complete((uint64_t)UINT16_MAX << 48 | 1 << 16, IBV_WC_SUCCESS, GN_HELLO_NOTE_BYTES);
	complete(fake.received[1] + ((uint64_t)1 << 32), IBV_WC_SUCCESS, GN_HELLO_NOTE_BYTES);
	complete(fake.received[1] + ((uint64_t)1 << 32), IBV_WC_WR_FLUSH_ERR, 0);
	complete(fake.received[1] | 0xffff, IBV_WC_SUCCESS, GN_HELLO_NOTE_BYTES);
	gn_server_take_notes(server, server->lender);
	run_to_the_end();
	assert_int_equal(fake.note[1].number, 5);
	assert_int_equal(fake.note[1].code, 0);
	assert_false(server->connection[1].dead);
}

/* Nobody takes what is sent: the server ends all the same. */
static void a_client_that_vanished_does_not_keep_the_server(void **state)
{
	(void)state;
	fake.silent = 1;
	ask_for_flush(0, 1);
	run_to_the_end();
	assert_false(server->works);
}

/*
 * Only the connection whose client's device does not answer is dropped, and its place is free. It is not
 * dropped as long as the server has no network.
 */
static void a_client_that_vanished_loses_its_place(void **state)
{
	(void)state;
	fake.ends[1] = IBV_WC_RETRY_EXC_ERR;
	gn_server_probe(server, simt_clock_ns());
	gn_server_take_notes(server, server->lender);
	fake.port = IBV_PORT_DOWN;
	gn_server_probe(server, simt_clock_ns());
	gn_server_take_notes(server, server->lender);
	assert_int_equal(fake.dropped[1], 0);
	fake.port = IBV_PORT_ACTIVE;
	gn_server_probe(server, simt_clock_ns());
	gn_server_take_notes(server, server->lender);
	for (unsigned k = 0; k < CONNECTIONS; k++) {
		assert_int_equal(fake.probes[k], k == 1 ? 1 : 3);
		assert_int_equal(fake.dropped[k], k == 1);
		assert_int_equal(server->connection[k].id == NULL, k == 1);
	}
}

static void one_probe_goes_at_a_time(void **state)
{
	(void)state;
	fake.silent = 1;
	server->connection[2].established = 0;
	gn_server_probe(server, simt_clock_ns());
	gn_server_probe(server, simt_clock_ns());
	assert_int_equal(fake.probes[0], 1);
	assert_int_equal(fake.probes[2], 0);
}

/* The device here does not give up: the server does. */
static void no_answer_for_long_is_the_end(void **state)
{
	(void)state;
	fake.silent = 1;
	gn_server_probe(server, simt_clock_ns());
	fake.silent = 0;
	gn_server_probe(server, simt_clock_ns() + 29000000000u);
	assert_int_equal(fake.dropped[1], 0);
	gn_server_probe(server, simt_clock_ns() + 31000000000u);
	for (unsigned k = 0; k < CONNECTIONS; k++)
		assert_int_equal(fake.dropped[k], 1);
}

/* A probe is on its way when a flush ends: the answer goes when the probe has arrived. */
static void an_answer_waits_for_a_probe(void **state)
{
	(void)state;
	gn_server_probe(server, simt_clock_ns());
	ask_for_flush(0, 4);
	run_to_the_end();
	assert_int_equal(fake.note[0].kind, GN_HELLO_DONE);
	assert_int_equal(fake.note[0].number, 4);
}

static void a_server_that_runs_probes(void **state)
{
	(void)state;
	fake.ends[1] = IBV_WC_RETRY_EXC_ERR;
	ask_for_flush(0, 4);
	run_to_the_end();
	assert_int_equal(fake.probes[2], 1);
	assert_true(server->connection[1].dead);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(who_waits_for_a_flush_hears_of_its_end),
	    CASE(a_request_that_came_before_counts),
	    CASE(a_request_that_comes_too_late_does_not),
	    CASE(nonsense_from_a_client_is_passed_over),
	    CASE(completions_of_nobody_are_passed_over),
	    CASE(a_client_that_vanished_does_not_keep_the_server),
	    CASE(a_client_that_vanished_loses_its_place),
	    CASE(one_probe_goes_at_a_time),
	    CASE(no_answer_for_long_is_the_end),
	    CASE(an_answer_waits_for_a_probe),
	    CASE(a_server_that_runs_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
