/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net_cases.h - node functions for gn_net_run; they return an error if something is wrong. For nodes in one
 * process and for processes of their own.
 */
#ifndef GN_TESTS_NET_CASES_H
#define GN_TESTS_NET_CASES_H

#include <grapnel/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The machine of all tests: "cpu", or what NET_MACHINE says. */
const char *net_machine_name(void);

/* On any number of nodes; a heap of 1 MiB. */
int net_changes(struct gn_net *net, void *unused);
int net_fetches(struct gn_net *net, void *unused);
int net_host_forms(struct gn_net *net, void *unused);
int net_bytes(struct gn_net *net, void *unused);
int net_calls(struct gn_net *net, void *unused);
int net_calls_of_kernels(struct gn_net *net, void *unused);
int net_together(struct gn_net *net, void *unused);
int net_teams(struct gn_net *net, void *unused);
int net_alignment(struct gn_net *net, void *unused);

/* From 2 nodes on. */
int net_refused(struct gn_net *net, void *unused);
int net_memory(struct gn_net *net, void *unused);

#ifdef __cplusplus
}
#endif

#endif
