/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may connect to a server of rdma: regions: what a client is told of a region, and whom the server
 * refuses. The connection manager is faked; nothing is sent.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <store/rdma/lend.h>

#include "unit.h"

enum { KEY = 4711, NOTES = 12 };

static struct {
	struct ibv_context verbs, other;
	struct ibv_cq cq;
	struct ibv_pd pd;
	struct ibv_mr mr[2], notes;
	struct ibv_qp qp;
	struct rdma_conn_param param; /* of the last that was accepted */
	uint8_t answer[GN_HELLO_ANSWER_BYTES];
	char refusal[GN_HELLO_TEXT + 1];
	struct ibv_qp_init_attr attributes;
	unsigned accepts, refusals, pairs, ids_destroyed, disconnects, receives;
	int no_pairs, no_accept, no_receives;
	char order[64]; /* what was done: accept a, create c, receive r, disconnect d, destroy a queue pair q,
	                   an id i */
} fake;

static void note(char what)
{
	const size_t length = strlen(fake.order);

	if (length + 1 < sizeof fake.order)
		fake.order[length] = what;
}

static struct gn_server *server;
static struct gn_export lent[2];
static struct gn_error error;

#ifdef __cplusplus
extern "C" {
#endif
int __wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param);
int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t bytes);
int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes);
int __wrap_rdma_disconnect(struct rdma_cm_id *id);
void __wrap_rdma_destroy_qp(struct rdma_cm_id *id);
int __wrap_rdma_destroy_id(struct rdma_cm_id *id);
#ifdef __cplusplus
}
#endif

int __wrap_rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
	assert_non_null(id->qp);
	if (fake.no_accept)
		return -1;
	assert_int_equal(param->private_data_len, sizeof fake.answer);
	memcpy(fake.answer, param->private_data, sizeof fake.answer);
	fake.accepts++;
	note('a');
	return 0;
}

int __wrap_rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t bytes)
{
	(void)id;
	assert_int_equal(gn_hello_get_refusal(data, bytes, fake.refusal), 0);
	fake.refusals++;
	return 0;
}

int __wrap_rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
	assert_ptr_equal(pd, &fake.pd);
	if (fake.no_pairs)
		return -1;
	fake.attributes = *attributes;
	id->qp = &fake.qp;
	fake.pairs++;
	note('c');
	return 0;
}

int __wrap_rdma_disconnect(struct rdma_cm_id *id)
{
	assert_non_null(id->qp);
	fake.disconnects++;
	note('d');
	return 0;
}

void __wrap_rdma_destroy_qp(struct rdma_cm_id *id)
{
	assert_non_null(id->qp);
	id->qp = NULL;
	fake.pairs--;
	note('q');
}

int __wrap_rdma_destroy_id(struct rdma_cm_id *id)
{
	assert_null(id->qp); /* or the queue pair would be lost */
	fake.ids_destroyed++;
	note('i');
	return 0;
}

/* ibv_post_recv calls it. */
static int post_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	assert_ptr_equal(qp, &fake.qp);
	assert_int_equal(wr->num_sge, 1);
	assert_int_equal(wr->sg_list->lkey, NOTES);
	if (fake.no_receives)
		return ENOMEM;
	if (!fake.receives++)
		note('r');
	return 0;
}

static int open_server(void **state)
{
	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.cq.cqe = GN_SERVER_CONNECTIONS;
	fake.mr[0].rkey = KEY;
	fake.mr[1].rkey = KEY + 1;
	fake.notes.lkey = NOTES;
	fake.verbs.ops.post_recv = post_receive;
	fake.qp.context = &fake.verbs;
	assert_int_equal(gn_export_open(&lent[0], "first=memory:64K", 0, &error), 0);
	assert_int_equal(gn_export_open(&lent[1], "second=memory:1M", 1, &error), 0);
	server = (struct gn_server *)calloc(1, sizeof *server);
	server->export_ = lent;
	server->exports = 2;
	server->lenders = 1;
	server->lender[0].verbs = &fake.verbs;
	server->lender[0].pd = &fake.pd;
	server->lender[0].cq = &fake.cq;
	server->lender[0].region[0] = &fake.mr[0];
	server->lender[0].region[1] = &fake.mr[1];
	server->lender[0].notes = &fake.notes;
	server->notes = (char *)calloc(GN_SERVER_CONNECTIONS, GN_LEND_NOTE_BYTES);
	server->connection =
	    (struct gn_connection *)calloc(GN_SERVER_CONNECTIONS, sizeof *server->connection);
	return 0;
}

static int close_server(void **state)
{
	(void)state;
	gn_export_close(&lent[0]);
	gn_export_close(&lent[1]);
	free(server->notes);
	free(server->connection);
	free(server);
	return 0;
}

/* A client asks for a region, over a device. */
static void ask_for(struct rdma_cm_id *id, struct ibv_context *verbs, const char *name, uint64_t session,
                    uint16_t index, uint16_t flags)
{
	struct gn_hello_request request;

	memset(&request, 0, sizeof request);
	memset(id, 0, sizeof *id);
	id->verbs = verbs;
	request.session = session;
	request.index = index;
	request.flags = flags;
	snprintf(request.name, sizeof request.name, "%s", name);
	gn_server_request(server, id, &request, 0);
}

static void ask(struct rdma_cm_id *id, struct ibv_context *verbs, const char *name, uint64_t session,
                uint16_t index)
{
	ask_for(id, verbs, name, session, index, 0);
}

static void expect_refusal(const char *text)
{
	assert_int_equal(fake.refusals, 1);
	assert_non_null(strstr(fake.refusal, text));
	assert_int_equal(fake.accepts, 0);
	assert_int_equal(fake.pairs, 0);
	assert_int_equal(fake.ids_destroyed, 1);
	assert_null(server->connection[0].id);
}

/* A client gets the key and the bounds of the region that it named, and of no other. */
static void an_answer_has_key_and_bounds(void **state)
{
	static struct rdma_cm_id id[2];
	struct gn_hello_answer a;

	(void)state;
	ask(&id[0], &fake.verbs, "second", 7, 0);
	assert_int_equal(fake.accepts, 1);
	assert_int_equal(gn_hello_get_answer(fake.answer, sizeof fake.answer, &a), 0);
	assert_int_equal(a.key, KEY + 1);
	assert_int_equal(a.bytes, 1 << 20);
	assert_ptr_equal((void *)(uintptr_t)a.address, lent[1].region.memory);
	assert_int_equal(a.flags, GN_HELLO_READ_ONLY);
	assert_int_equal(a.block, 512);
	assert_int_equal(a.instance, lent[1].instance);
	ask(&id[1], &fake.verbs, "first", 7, 1);
	assert_int_equal(gn_hello_get_answer(fake.answer, sizeof fake.answer, &a), 0);
	assert_int_equal(a.key, KEY);
	assert_int_equal(a.bytes, 64 << 10);
	assert_int_equal(a.flags, 0);
	assert_int_equal(fake.attributes.qp_type, IBV_QPT_RC);
	assert_int_equal(fake.attributes.cap.max_recv_wr, 1);
	assert_int_equal(fake.receives, 0);
}

/* A region that is a file says so, and in which blocks its bytes move. */
static void an_answer_names_a_file(void **state)
{
	static struct rdma_cm_id id;
	struct gn_hello_answer a;

	(void)state;
	lent[0].path = (char *)"a file";
	ask(&id, &fake.verbs, "first", 7, 0);
	lent[0].path = NULL;
	assert_int_equal(gn_hello_get_answer(fake.answer, sizeof fake.answer, &a), 0);
	assert_int_equal(a.flags, GN_HELLO_FILE);
	assert_int_equal(a.block, 512);
}

/* A connection that carries flushes can receive notes before its client is told that it may send them. */
static void a_control_connection_receives_notes(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	ask_for(&id, &fake.verbs, "first", 7, 0, GN_HELLO_CONTROL);
	assert_int_equal(fake.accepts, 1);
	assert_int_equal(fake.receives, GN_LEND_NOTES);
	assert_int_equal(fake.attributes.cap.max_recv_wr, GN_LEND_NOTES);
	assert_int_equal(fake.attributes.cap.max_send_wr, GN_LEND_NOTES);
	assert_string_equal(fake.order, "cra");
}

static void a_control_connection_that_cannot_receive_is_refused(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	fake.no_receives = 1;
	ask_for(&id, &fake.verbs, "first", 7, 0, GN_HELLO_CONTROL);
	expect_refusal("no more queue pairs");
}

/* It may have a completion for each note, and one for what is being sent. */
static void a_control_connection_wants_more_room(void **state)
{
	static struct rdma_cm_id id[4];

	(void)state;
	fake.cq.cqe = 2 * (GN_LEND_NOTES + 1);
	ask_for(&id[0], &fake.verbs, "first", 7, 0, GN_HELLO_CONTROL);
	ask(&id[1], &fake.verbs, "first", 7, 1);
	ask_for(&id[2], &fake.verbs, "first", 7, 2, GN_HELLO_CONTROL);
	assert_int_equal(fake.accepts, 2);
	assert_non_null(strstr(fake.refusal, "no room for more connections"));
	ask(&id[3], &fake.verbs, "first", 7, 3);
	assert_int_equal(fake.accepts, 3);
}

static void an_unknown_region_is_refused(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	ask(&id, &fake.verbs, "third", 7, 0);
	expect_refusal("it has no region third; it has: first, second");
}

static void another_version_is_refused(void **state)
{
	static struct rdma_cm_id id;
	struct gn_hello_request request;

	(void)state;
	memset(&request, 0, sizeof request);
	id.verbs = &fake.verbs;
	gn_server_request(server, &id, &request, -GN_ENOTSUP);
	expect_refusal("another version");
}

static void a_server_that_ends_refuses(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	server->ending = 1;
	ask(&id, &fake.verbs, "first", 7, 0);
	expect_refusal("it is ending");
}

static void a_device_without_regions_is_refused(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	ask(&id, &fake.other, "first", 7, 0);
	expect_refusal("does not lend through this RDMA device");
}

static void a_device_without_queue_pairs_is_refused(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	fake.no_pairs = 1;
	ask(&id, &fake.verbs, "first", 7, 0);
	expect_refusal("no more queue pairs");
}

static void an_answer_that_cannot_be_sent_leaves_nothing(void **state)
{
	static struct rdma_cm_id id;

	(void)state;
	fake.no_accept = 1;
	ask(&id, &fake.verbs, "first", 7, 0);
	expect_refusal("no more queue pairs");
}

/* The table is full: one more is refused, and has a place when another has gone. */
static void a_full_table(void **state)
{
	struct rdma_cm_id *id = (struct rdma_cm_id *)calloc(GN_SERVER_CONNECTIONS + 1, sizeof *id);

	(void)state;
	for (unsigned k = 0; k < GN_SERVER_CONNECTIONS; k++)
		ask(&id[k], &fake.verbs, "first", 1000 + k, 0);
	assert_int_equal(fake.accepts, GN_SERVER_CONNECTIONS);
	ask(&id[GN_SERVER_CONNECTIONS], &fake.verbs, "first", 7, 0);
	assert_int_equal(fake.accepts, GN_SERVER_CONNECTIONS);
	assert_int_equal(fake.refusals, 1);
	assert_non_null(strstr(fake.refusal, "no room for more connections"));
	gn_server_drop(server, &server->connection[123]);
	ask(&id[GN_SERVER_CONNECTIONS], &fake.verbs, "first", 7, 0);
	assert_int_equal(fake.accepts, GN_SERVER_CONNECTIONS + 1);
	assert_ptr_equal(server->connection[123].id, &id[GN_SERVER_CONNECTIONS]);
	assert_int_equal(fake.pairs, GN_SERVER_CONNECTIONS);
	free(id);
}

/* The completion queue must have room for all that a connection may cause. */
static void a_full_completion_queue(void **state)
{
	static struct rdma_cm_id id[3];

	(void)state;
	fake.cq.cqe = 2;
	for (unsigned k = 0; k < 3; k++)
		ask(&id[k], &fake.verbs, "first", 7, (uint16_t)k);
	assert_int_equal(fake.accepts, 2);
	assert_non_null(strstr(fake.refusal, "no room for more connections"));
	assert_int_equal(fake.pairs, 2);
}

/* A client that connects again gets its old place, after its old queue pair is gone. */
static void a_connection_is_replaced(void **state)
{
	static struct rdma_cm_id id[3];

	(void)state;
	ask(&id[0], &fake.verbs, "first", 7, 3);
	ask(&id[1], &fake.verbs, "first", 7, 4); /* another connection of the same store */
	assert_int_equal(fake.disconnects, 0);
	ask(&id[2], &fake.verbs, "first", 7, 3);
	assert_int_equal(fake.accepts, 3);
	assert_int_equal(fake.disconnects, 1);
	assert_null(id[0].qp);
	assert_non_null(id[1].qp);
	assert_ptr_equal(server->connection[0].id, &id[2]);
	assert_int_equal(server->connection[0].generation, 1);
	assert_string_equal(fake.order, "cacadqica");
	assert_int_equal(fake.pairs, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_server, close_server)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(an_answer_has_key_and_bounds),
	    CASE(an_answer_names_a_file),
	    CASE(a_control_connection_receives_notes),
	    CASE(a_control_connection_that_cannot_receive_is_refused),
	    CASE(a_control_connection_wants_more_room),
	    CASE(an_unknown_region_is_refused),
	    CASE(another_version_is_refused),
	    CASE(a_server_that_ends_refuses),
	    CASE(a_device_without_regions_is_refused),
	    CASE(a_device_without_queue_pairs_is_refused),
	    CASE(an_answer_that_cannot_be_sent_leaves_nothing),
	    CASE(a_full_table),
	    CASE(a_full_completion_queue),
	    CASE(a_connection_is_replaced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
