/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_all.h - the test cases of nodes in one process and of processes of their own. Who includes it has
 * defined run_all, which runs a node function on all shapes.
 */
#ifndef GN_TESTS_NET_ALL_H
#define GN_TESTS_NET_ALL_H

static void changes_add_up_on_every_node(void **state)
{
	(void)state;
	run_all(net_changes);
}

static void fetched_values_are_those_before_the_change(void **state)
{
	(void)state;
	run_all(net_fetches);
}

static void hosts_do_what_kernels_do(void **state)
{
	(void)state;
	run_all(net_host_forms);
}

static void bytes_of_any_number_and_alignment_arrive(void **state)
{
	(void)state;
	run_all(net_bytes);
}

static void calls_run_where_they_go_and_may_call_on(void **state)
{
	(void)state;
	run_all(net_calls);
	run_all(net_calls_of_kernels);
}

static void nodes_meet_and_tell_each_other(void **state)
{
	(void)state;
	run_all(net_together);
}

#endif
