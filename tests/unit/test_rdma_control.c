/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flushes of an rdma: store over a device that is faked below the verbs: what the host asks of the server,
 * and what becomes of a flush when the connection goes, when the server goes, is silent or needs too long.
 */
#include <stdlib.h>
#include <string.h>

#include <grapnel/simt.h>
#include <store/rdma/control.h>

#include "unit.h"
#include "test_rdma_wrap.h"

enum { POSTED = 8, NOTES = 16, QP = 5 };

/* ---- the device, and the server behind it ---- */

static struct {
	struct ibv_context verbs;
	struct ibv_cq sends, arrivals;
	struct ibv_qp qp;
	struct ibv_mr mr;
	uint64_t id[POSTED]; /* of what was posted and has not completed */
	unsigned posted;
	void *memory[GN_CONTROL_NOTES]; /* of receives; NULL: none is posted */
	uint8_t note[NOTES][GN_HELLO_NOTE_BYTES];
	uint32_t bytes[NOTES]; /* that arrive of a note; 0: all */
	unsigned notes, heard; /* of note: that the server has sent, and that have arrived */
	/* What the server does with a request to flush; the mutex of the link is held. */
	void (*serve)(uint32_t number);
	unsigned asked;
} fake;

static struct gn_peer peer;
static struct gn_control control;

struct ibv_cq *__wrap_ibv_create_cq(struct ibv_context *verbs, int entries, void *context,
                                    struct ibv_comp_channel *channel, int vector)
{
	(void)entries;
	(void)context;
	(void)channel;
	(void)vector;
	fake.sends.context = verbs;
	return &fake.sends;
}

int __wrap_ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_ptr_equal(cq, &fake.sends);
	return 0;
}

static void say(uint32_t kind, uint32_t number, int32_t code)
{
	const struct gn_hello_note note = {kind, number, code};

	assert_true(fake.notes < NOTES);
	gn_hello_put_note(fake.note[fake.notes++], &note);
}

static int fake_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct gn_hello_note note;

	(void)bad;
	assert_true(qp == &fake.qp && !wr->next && fake.posted < POSTED);
	fake.id[fake.posted++] = wr->wr_id;
	if (wr->opcode != IBV_WR_SEND)
		return 0;
	assert_int_equal(gn_hello_get_note((void *)(uintptr_t)wr->sg_list->addr, wr->sg_list->length, &note),
	                 0);
	assert_int_equal(note.kind, GN_HELLO_FLUSH);
	fake.asked++;
	fake.serve(note.number);
	return 0;
}

static int fake_receive(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)bad;
	assert_true(qp == &fake.qp && wr->wr_id < GN_CONTROL_NOTES);
	fake.memory[wr->wr_id] = (void *)(uintptr_t)wr->sg_list->addr;
	return 0;
}

static int give_note(struct ibv_wc *wc)
{
	for (unsigned k = 0; k < GN_CONTROL_NOTES && fake.heard < fake.notes; k++) {
		if (!fake.memory[k])
			continue;
		memcpy(fake.memory[k], fake.note[fake.heard], GN_HELLO_NOTE_BYTES);
		fake.memory[k] = NULL;
		memset(wc, 0, sizeof *wc);
		wc->wr_id = k;
		wc->qp_num = QP;
		wc->byte_len =
		    fake.bytes[fake.heard] ? fake.bytes[fake.heard] : (uint32_t)GN_HELLO_NOTE_BYTES;
		fake.heard++;
		return 1;
	}
	return 0;
}

static int fake_poll(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
	(void)most;
	if (cq == &fake.arrivals)
		return give_note(wc);
	if (!fake.posted)
		return 0;
	memset(wc, 0, sizeof *wc);
	wc->wr_id = fake.id[--fake.posted];
	return 1;
}

/* ---- a connection that is up ---- */

static struct gn_link *link_of_control(void)
{
	return &control.engine->lane->link;
}

static void connect_again(void)
{
	struct gn_link *link = link_of_control();

	link->qp = &fake.qp;
	assert_int_equal(gn_control_prepare(link), 0);
	gn_link_rise(link);
}

static int open_control(void **state)
{
	static const struct gn_rdma_address address = {"h", "1", "x"};

	(void)state;
	memset(&fake, 0, sizeof fake);
	memset(&control, 0, sizeof control);
	fake.verbs.ops.post_send = fake_post;
	fake.verbs.ops.post_recv = fake_receive;
	fake.verbs.ops.poll_cq = fake_poll;
	fake.arrivals.context = fake.qp.context = &fake.verbs;
	fake.qp.qp_num = QP;
	assert_int_equal(gn_peer_init(&peer, &address, 60000000000u, 60000000000u, NULL), 0);
	peer.verbs = &fake.verbs;
	peer.pieces = peer.work = 8;
	peer.entries = 64;
	peer.region.flags = GN_HELLO_FILE;
	control.peer = &peer;
	control.arrived = &fake.arrivals;
	control.buffer = (char *)calloc(1, GN_CONTROL_BUFFER + 4096);
	pthread_mutex_init(&control.mutex, NULL);
	assert_int_equal(gn_rdma_engine_create(&control.engine, &peer, 1, 0, 8, NULL), 0);
	control.engine->lane->memory = &fake.mr;
	link_of_control()->user = &control;
	link_of_control()->part = gn_control_hear;
	connect_again();
	return 0;
}

static int close_control(void **state)
{
	(void)state;
	control.engine->lane->memory = NULL;
	link_of_control()->state = GN_LINK_DOWN;
	gn_rdma_engine_close(&control.engine->base);
	pthread_mutex_destroy(&control.mutex);
	free(control.buffer);
	gn_peer_fini(&peer);
	return 0;
}

/* ---- flushes ---- */

static struct gn_error error;

static void serve_at_once(uint32_t number)
{
	say(GN_HELLO_WORKING, number, 0);
	say(GN_HELLO_DONE, number, 0);
}

static void a_flush_ends_when_the_server_says_so(void **state)
{
	(void)state;
	fake.serve = serve_at_once;
	for (unsigned k = 1; k <= 4; k++) {
		assert_int_equal(gn_control_flush(&control, &error), 0);
		assert_int_equal(fake.asked, k);
	}
}

static void serve_full(uint32_t number)
{
	say(GN_HELLO_DONE, number, -GN_ENOSPC);
}

static void a_failure_of_the_server_is_told(void **state)
{
	(void)state;
	fake.serve = serve_full;
	assert_int_equal(gn_control_flush(&control, &error), -GN_ENOSPC);
	assert_non_null(strstr(error.text, "cannot write its file"));
	fake.serve = serve_at_once;
	assert_int_equal(gn_control_flush(&control, &error), 0);
}

/* The first request is lost with its connection, the second is served. */
static void serve_the_second(uint32_t number)
{
	if (fake.asked == 2)
		say(GN_HELLO_DONE, number, 0);
}

/* As the keeper does it: the connection is lost, and there again, before the one who waits has looked. */
static void *replace_connection(void *user)
{
	struct gn_link *link = link_of_control();
	int lost = 0;

	while (!lost) {
		pthread_mutex_lock(&link->mutex);
		lost = fake.asked && !link->in_flight;
		if (lost)
			gn_link_break(link, "the network was away");
		pthread_mutex_unlock(&link->mutex);
	}
	assert_true(gn_lane_settle(control.engine, control.engine->lane));
	connect_again();
	return user;
}

static void a_flush_goes_on_over_the_next_connection(void **state)
{
	pthread_t keeper;

	(void)state;
	fake.serve = serve_the_second;
	assert_int_equal(pthread_create(&keeper, NULL, replace_connection, NULL), 0);
	assert_int_equal(gn_control_flush(&control, &error), 0);
	pthread_join(keeper, NULL);
	assert_int_equal(fake.asked, 2);
}

/* The server has answered, and ends. */
static void serve_and_end(uint32_t number)
{
	serve_at_once(number);
	gn_link_break(link_of_control(), "the server closed it");
}

static void the_last_words_of_a_server_count(void **state)
{
	(void)state;
	fake.serve = serve_and_end;
	assert_int_equal(gn_control_flush(&control, &error), 0);
	assert_int_equal(fake.asked, 1);
}

static void *settle_when_broken(void *user)
{
	while (!gn_lane_settle(control.engine, control.engine->lane))
		;
	return user;
}

/* The same when the queue pair is destroyed at once, with all that lies in the completion queue. */
static void they_count_without_a_queue_pair(void **state)
{
	pthread_t keeper;

	(void)state;
	fake.serve = serve_and_end;
	assert_int_equal(pthread_create(&keeper, NULL, settle_when_broken, NULL), 0);
	assert_int_equal(gn_control_flush(&control, &error), 0);
	pthread_join(keeper, NULL);
	assert_null(link_of_control()->qp);
}

static void serve_for_ever(uint32_t number)
{
	say(GN_HELLO_WORKING, number, 0);
}

/* The end of a flush that took too long is not that of the next one. */
static void serve_late(uint32_t number)
{
	say(GN_HELLO_DONE, number - 1, -GN_EIO);
	say(GN_HELLO_DONE, number, 0);
}

static void a_flush_has_a_deadline(void **state)
{
	(void)state;
	fake.serve = serve_for_ever;
	peer.flush_ns = 20000000;
	assert_int_equal(gn_control_flush(&control, &error), -GN_ETIMEDOUT);
	assert_non_null(strstr(error.text, "not ended after 20 ms"));
	assert_non_null(strstr(error.text, "flush=MS"));
	fake.serve = serve_late;
	peer.flush_ns = 60000000000u;
	assert_int_equal(gn_control_flush(&control, &error), 0);
}

static void a_server_that_is_silent_is_noticed(void **state)
{
	(void)state;
	fake.serve = serve_the_second;
	peer.timeout_ns = 20000000;
	assert_int_equal(gn_control_flush(&control, &error), -GN_ETIMEDOUT);
	assert_non_null(strstr(error.text, "does not answer"));
	peer.timeout_ns = 60000000000u;
	assert_int_equal(gn_control_flush(&control, &error), 0);
}

/* Notes that are none, and more of them than there are receives; then the right one. */
static void serve_nonsense(uint32_t number)
{
	for (unsigned k = 0; k < 3; k++) {
		say(GN_HELLO_DONE, number, -GN_EIO);
		fake.note[fake.notes - 1][k] ^= 0x80; /* another program's */
	}
	for (uint32_t bytes = 1; bytes < 2 * GN_HELLO_NOTE_BYTES; bytes += GN_HELLO_NOTE_BYTES - 2) {
		say(GN_HELLO_DONE, number, -GN_EIO);
		fake.bytes[fake.notes - 1] = bytes;
	}
	say(GN_HELLO_FLUSH, number, -GN_EIO); /* a server asks for none */
	say(0, number, -GN_EIO);
	say(UINT32_MAX, number, -GN_EIO);
	say(GN_HELLO_DONE, number + 1, -GN_EIO); /* of a flush that nobody has asked for */
	say(GN_HELLO_DONE, number, 0);
}

static void nonsense_from_the_server_is_passed_over(void **state)
{
	(void)state;
	fake.serve = serve_nonsense;
	assert_int_equal(gn_control_flush(&control, &error), 0);
	assert_int_equal(fake.heard, fake.notes);
	fake.notes = fake.heard = 0;
	memset(fake.bytes, 0, sizeof fake.bytes);
	fake.serve = serve_at_once;
	assert_int_equal(gn_control_flush(&control, &error), 0);
}

/* The end of a flush that was given up comes behind that of the right one, before anybody has looked. */
static void serve_and_repeat(uint32_t number)
{
	say(GN_HELLO_DONE, number, 0);
	say(GN_HELLO_DONE, number - 1, -GN_EIO);
}

static void an_old_end_does_not_hide_the_right_one(void **state)
{
	(void)state;
	fake.serve = serve_and_repeat;
	for (unsigned k = 0; k < 3; k++)
		assert_int_equal(gn_control_flush(&control, &error), 0);
}

/* Numbers wrap around, and 0 is the number of no flush. */
static void numbers_wrap_around(void **state)
{
	(void)state;
	fake.serve = serve_at_once;
	control.flushes = UINT32_MAX - 2;
	for (unsigned k = 0; k < 4; k++)
		assert_int_equal(gn_control_flush(&control, &error), 0);
	assert_int_equal(control.flushes, 2);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, open_control, close_control)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    CASE(a_flush_ends_when_the_server_says_so),     CASE(a_failure_of_the_server_is_told),
	    CASE(a_flush_goes_on_over_the_next_connection), CASE(the_last_words_of_a_server_count),
	    CASE(they_count_without_a_queue_pair),          CASE(a_flush_has_a_deadline),
	    CASE(a_server_that_is_silent_is_noticed),       CASE(nonsense_from_the_server_is_passed_over),
	    CASE(an_old_end_does_not_hide_the_right_one),   CASE(numbers_wrap_around),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
