/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations of net between processes, in one way, in two, and in each other's memory. Started by an MPI
 * launcher.
 *
 *   mpi_cases        every case; the program has initialised MPI, and runs net again and again
 *   mpi_cases once   one of them; MPI is net's, and so cannot be had a second time
 *   mpi_cases fail   the last node's process exits in the middle: for the script to see that all ends
 */
#include "net_cases.h"
#include "node_check.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

/* The order of the direct route rests on fences, of which the thread sanitizer knows nothing. */
#ifdef __SANITIZE_THREAD__
enum { LAST_ROUTE = GN_NET_PACKETS };
#else
enum { LAST_ROUTE = GN_NET_DIRECT };
#endif

static int run(int (*node)(struct gn_net *, void *), enum gn_net_route route, uint32_t columns,
               uint32_t width, struct gn_error *error)
{
	struct gn_net_options options;

	memset(&options, 0, sizeof options); /* transport: what the launcher makes it */
	options.route = route;
	options.columns = columns;
	options.machine.name = net_machine_name();
	options.machine.warp_width = width;
	options.machine.threads = 1;
	options.heap_bytes = 1 << 20;
	options.timeout_ns = 60000000000;
	return gn_net_run(&options, node, NULL, error);
}

static void run_all(int (*node)(struct gn_net *, void *))
{
	static const uint32_t width[] = {4, 1};
	struct gn_error error = {0, ""};

	for (uint32_t route = GN_NET_PACKETS; route <= LAST_ROUTE; route++)
		for (uint32_t columns = 1; columns <= 2; columns++)
			if (run(node, (enum gn_net_route)route, columns, width[columns - 1], &error))
				fail_msg("route %u, %u columns: %s", route, columns, error.text);
}

#include "net_all.h" /* uses run_all */

/* What the calling thread may compute before others have a turn. */
static uint64_t slice_ns(void)
{
	uint64_t said[6] = {0, 0, 0, 0, 0, 0};

	syscall(SYS_sched_getattr, 0, said, sizeof said, 0);
	return said[3];
}

static void the_caller_has_the_slices_that_he_had(void **state)
{
	const uint64_t before = slice_ns();

	(void)state;
	run_all(net_together);
	assert_int_equal(slice_ns(), before);
}

static void teams_meet_at_the_same_time(void **state)
{
	(void)state;
	run_all(net_teams);
}

static void what_cannot_be_is_refused_and_kept(void **state)
{
	(void)state;
	run_all(net_refused);
}

static void freed_memory_is_given_again(void **state)
{
	(void)state;
	run_all(net_memory);
}

static int own_rank, size_of_world;

static int as_launched(struct gn_net *net, void *unused)
{
	(void)unused;
	CHECK_EQUAL(gn_net_node(net), own_rank);
	CHECK_EQUAL(gn_net_nodes(net), size_of_world);
	return 0;
}

static void nodes_are_the_processes_of_the_launcher(void **state)
{
	(void)state;
	run_all(as_launched);
}

static void nodes_that_are_not_configured_alike_hear_of_it(void **state)
{
	struct gn_error error;

	(void)state;
	assert_int_equal(run(as_launched, GN_NET_PACKETS, own_rank ? 1 : 2, 0, &error), -GN_EINVAL);
	assert_non_null(strstr(error.text, "the same options"));
	assert_int_equal(run(as_launched, own_rank ? GN_NET_PACKETS : GN_NET_DIRECT, 1, 0, &error),
	                 -GN_EINVAL);
	assert_non_null(strstr(error.text, "the same options"));
}

/* Each puts its number where all others have theirs, and no message is sent for it. */
static int in_each_others_memory(struct gn_net *net, void *unused)
{
	const struct gn_net_view *n = gn_net_host(net);
	uint64_t *number = (uint64_t *)gn_net_alloc(net, n->nodes * sizeof *number, NULL), before;

	(void)unused;
	CHECK_EQUAL(gn_net_barrier(n), 0);
	before = n->log->tail;
	for (uint32_t k = 0; k < n->nodes; k++) {
		CHECK(gn__net_mapped(n, k, (uint64_t)((char *)number - n->heap)));
		CHECK_EQUAL(gn_net_put_u64(n, k, &number[n->node], n->node + 1), 0);
	}
	CHECK_EQUAL(n->log->tail, before);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	for (uint32_t k = 0; k < n->nodes; k++)
		CHECK_EQUAL(number[k], k + 1);
	return 0;
}

static void processes_of_a_host_have_each_others_memory(void **state)
{
	struct gn_error error;

	(void)state;
	if (strcmp(net_machine_name(), "cpu")) /* there only kernels reach other nodes' memory */
		skip();
	if (run(in_each_others_memory, GN_NET_DIRECT, 1, 0, &error))
		fail_msg("%s", error.text);
}

static void *run_elsewhere(void *error)
{
	const int rc = run(as_launched, GN_NET_PACKETS, 0, 0, (struct gn_error *)error);

	return (void *)(intptr_t)rc;
}

static void only_the_thread_that_initialised_may_run(void **state)
{
	struct gn_error error;
	pthread_t thread;
	void *rc = NULL;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, run_elsewhere, &error), 0);
	assert_int_equal(pthread_join(thread, &rc), 0);
	assert_int_equal((int)(intptr_t)rc, -GN_EINVAL);
	assert_non_null(strstr(error.text, "another thread than the one that initialised MPI"));
}

static int all(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nodes_are_the_processes_of_the_launcher),
	    cmocka_unit_test(nodes_that_are_not_configured_alike_hear_of_it),
	    cmocka_unit_test(processes_of_a_host_have_each_others_memory),
	    cmocka_unit_test(only_the_thread_that_initialised_may_run),
	    cmocka_unit_test(changes_add_up_on_every_node),
	    cmocka_unit_test(fetched_values_are_those_before_the_change),
	    cmocka_unit_test(hosts_do_what_kernels_do),
	    cmocka_unit_test(bytes_of_any_number_and_alignment_arrive),
	    cmocka_unit_test(calls_run_where_they_go_and_may_call_on),
	    cmocka_unit_test(nodes_meet_and_tell_each_other),
	    cmocka_unit_test(teams_meet_at_the_same_time),
	    cmocka_unit_test(the_caller_has_the_slices_that_he_had),
	    cmocka_unit_test(what_cannot_be_is_refused_and_kept),
	    cmocka_unit_test(freed_memory_is_given_again),
	};
	int level, failed;

	MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size_of_world);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (!failed) /* it would wait for the others; the launcher ends them */
		MPI_Finalize();
	return failed;
}

static int once(void)
{
	struct gn_error error = {0, ""};
	int is_over = 0;

	if (run(net_together, GN_NET_PACKETS, 0, 0, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	MPI_Finalized(&is_over);
	assert_true(is_over);
	assert_int_equal(run(net_together, GN_NET_PACKETS, 0, 0, &error), -GN_ENOTSUP);
	assert_non_null(strstr(error.text, "a second time"));
	return 0;
}

static int last_exits(struct gn_net *net, void *unused)
{
	(void)unused;
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	if (gn_net_node(net) == gn_net_nodes(net) - 1)
		exit(1); /* as programs do whose assertion has failed: nobody is told */
	return gn_net_barrier(gn_net_host(net));
}

int main(int count, char **argument)
{
	struct gn_error error;

	if (count > 1 && !strcmp(argument[1], "once"))
		return once();
	if (count > 1 && !strcmp(argument[1], "fail"))
		return run(last_exits, GN_NET_PACKETS, 0, 0, &error) != 0;
	return all();
}
