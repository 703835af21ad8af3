/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of the cpu machine: each in order, several at the same time, waited for and failing one by one. */
#include <pthread.h>

#include "test_simt_support.h"

enum { STREAMS = 3, LAUNCHES = 40 };

static struct simt_stream *new_stream(struct simt_machine *machine)
{
	struct simt_stream *stream;
	struct gn_error error;

	if (simt_stream_create(&stream, machine, &error))
		fail_msg("%s", error.text);
	return stream;
}

/* ---- a launch that goes on until the host says so ---- */

struct gate {
	uint32_t *entered, *open;
};

SIMT_FN void stand_at_gate(const struct gate *a)
{
	simt_store_release_sys_u32(a->entered, 1);
	while (!simt_load_acquire_sys_u32(a->open))
		simt_relax();
}
SIMT_KERNEL(stand_at_gate, struct gate)

struct count {
	uint32_t *count;
};

SIMT_FN void count_thread(const struct count *a)
{
	simt_add_relaxed_dev_u32(a->count, 1);
}
SIMT_KERNEL(count_thread, struct count)

/* While one stream stands, another's launches and moves and those of the machine's own come to their end. */
static void a_stream_waits_for_itself_only(void **state)
{
	struct simt_machine *machine = open_cpu(2, 1);
	struct simt_stream *standing = new_stream(machine), *going = new_stream(machine);
	uint32_t *memory = (uint32_t *)simt_alloc(machine, 4096, SIMT_PINNED, NULL), seen = 0;
	struct gate gate = {memory, memory + 1};
	struct count count = {memory + 2};
	struct simt_grid one = {1, 1, 0}, many = {10, 10, 0};

	(void)state;
	assert_int_equal(simt_launch_on(standing, &stand_at_gate_kernel, one, &gate, NULL), 0);
	while (!simt_load_acquire_sys_u32(gate.entered))
		simt_relax();
	assert_int_equal(simt_launch_on(going, &count_thread_kernel, many, &count, NULL), 0);
	assert_int_equal(simt_stream_wait(going, NULL), 0);
	assert_int_equal(simt_launch_on(going, &count_thread_kernel, many, &count, NULL), 0);
	assert_int_equal(simt_stream_move(going, &seen, count.count, sizeof seen, NULL), 0);
	assert_int_equal(seen, 200);
	assert_int_equal(simt_launch(machine, &count_thread_kernel, many, &count, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	assert_int_equal(*count.count, 300);
	simt_store_release_sys_u32(gate.open, 1);
	assert_int_equal(simt_stream_wait(standing, NULL), 0);
	simt_stream_destroy(standing);
	simt_stream_destroy(going);
	simt_free(machine, memory);
	simt_close(machine);
}

/* ---- host threads, each with a stream ---- */

struct order {
	uint32_t *ended; /* of this stream: the threads of its launches that ended */
	uint32_t *wrong;
	uint32_t launch, threads;
};

SIMT_FN void follow_in_order(const struct order *a)
{
	uint32_t ended = simt_add_relaxed_dev_u32(a->ended, 1);

	if (ended < a->launch * a->threads || ended >= (a->launch + 1) * a->threads)
		simt_add_relaxed_dev_u32(a->wrong, 1);
}
SIMT_KERNEL(follow_in_order, struct order)

struct user {
	struct simt_stream *stream;
	struct order order;
	int rc;
};

static void *use_stream(void *argument)
{
	struct user *u = (struct user *)argument;
	struct simt_grid grid = {7, 16, 0};

	u->order.threads = 7 * 16;
	for (u->order.launch = 0; u->order.launch < LAUNCHES && !u->rc; u->order.launch++)
		u->rc = simt_launch_on(u->stream, &follow_in_order_kernel, grid, &u->order, NULL);
	if (!u->rc)
		u->rc = simt_stream_wait(u->stream, NULL);
	return NULL;
}

static void check_users(unsigned workers, unsigned width)
{
	struct simt_machine *machine = open_cpu(workers, width);
	uint32_t *memory = (uint32_t *)simt_alloc(machine, 4096, SIMT_PINNED, NULL);
	struct user user[STREAMS];
	pthread_t thread[STREAMS];

	memset(user, 0, sizeof user);
	for (unsigned k = 0; k < STREAMS; k++) {
		user[k].stream = new_stream(machine);
		assert_ptr_equal(simt_stream_machine(user[k].stream), machine);
		user[k].order.ended = memory + 1 + k;
		user[k].order.wrong = memory;
		assert_int_equal(pthread_create(&thread[k], NULL, use_stream, &user[k]), 0);
	}
	for (unsigned k = 0; k < STREAMS; k++) {
		pthread_join(thread[k], NULL);
		assert_int_equal(user[k].rc, 0);
		assert_int_equal(memory[1 + k], LAUNCHES * 7 * 16);
		simt_stream_destroy(user[k].stream);
	}
	assert_int_equal(memory[0], 0);
	simt_free(machine, memory);
	simt_close(machine);
}

static void each_host_thread_has_its_stream(void **state)
{
	(void)state;
	check_users(1, 1);
	check_users(2, 1);
	check_users(2, 32);
	check_users(5, 8);
}

/* ---- failures ---- */

struct nothing {
	uint32_t unused;
};

/* The first lane waits for one that has ended. */
SIMT_FN void wait_for_the_dead(const struct nothing *a)
{
	(void)a;
	if (simt_lane() == 0)
		simt_warp_sync(3);
}
SIMT_KERNEL(wait_for_the_dead, struct nothing)

static void a_failure_is_its_streams(void **state)
{
	struct simt_machine *machine = open_cpu(2, 2);
	struct simt_stream *bad = new_stream(machine), *good = new_stream(machine);
	uint32_t *memory = (uint32_t *)simt_alloc(machine, 4096, SIMT_PINNED, NULL);
	struct count count = {memory};
	struct nothing nothing = {0};
	struct simt_grid grid = {1, 2, 0}, none = {0, 1, 0};
	struct gn_error error = {0, ""};

	(void)state;
	assert_int_equal(simt_launch_on(bad, &wait_for_the_dead_kernel, grid, &nothing, NULL), 0);
	assert_int_equal(simt_launch_on(good, &count_thread_kernel, grid, &count, NULL), 0);
	assert_int_equal(simt_stream_wait(good, &error), 0);
	assert_int_equal(simt_wait(machine, &error), 0);
	assert_string_equal(error.text, ""); /* of another stream */
	assert_int_equal(simt_stream_wait(bad, &error), -GN_EDEADLK);
	assert_non_null(strstr(error.text, "wait_for_the_dead"));
	assert_int_equal(simt_launch_on(bad, &wait_for_the_dead_kernel, grid, &nothing, NULL), 0);
	error.text[0] = '\0';
	assert_int_equal(simt_stream_move(bad, memory + 8, memory, 4, &error), -GN_EIO);
	assert_int_equal(error.code, -GN_EIO);
	assert_non_null(strstr(error.text, "wait_for_the_dead")); /* a move does not take the failure away */
	assert_int_equal(simt_stream_wait(bad, NULL), -GN_EDEADLK);
	assert_int_equal(simt_launch_on(bad, &count_thread_kernel, none, &count, NULL), -GN_EINVAL);
	assert_int_equal(simt_launch_on(bad, &count_thread_kernel, grid, &count, NULL), 0); /* it goes on */
	assert_int_equal(simt_stream_wait(bad, NULL), 0);
	assert_int_equal(*count.count, 4);
	simt_stream_destroy(bad);
	simt_stream_destroy(good);
	simt_free(machine, memory);
	simt_close(machine);
}

static void foreign_streams_are_cudas(void **state)
{
	struct simt_machine *machine = open_cpu(1, 1);
	struct simt_stream *stream;
	struct gn_error error;

	(void)state;
	assert_int_equal(simt_stream_adopt(&stream, machine, NULL, &error), -GN_ENOTSUP);
	assert_null(stream);
	assert_non_null(strstr(error.text, "simt_stream_create"));
	stream = new_stream(machine);
	assert_null(simt_stream_handle(stream));
	assert_int_equal(simt_prepare(machine, &count_thread_kernel, &error), 0);
	assert_int_equal(simt_reserve_stack(machine, 1 << 20, &error), 0);
	simt_stream_destroy(stream);
	simt_stream_destroy(NULL);
	simt_close(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_stream_waits_for_itself_only),
	    cmocka_unit_test(each_host_thread_has_its_stream),
	    cmocka_unit_test(a_failure_is_its_streams),
	    cmocka_unit_test(foreign_streams_are_cudas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
