/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net.h - what the subcommands that run on many nodes share: their options, and what is said of the network.
 *
 * Nodes are threads of this process, or the processes that a launcher started; then node 0 speaks.
 */
#ifndef GN_TOOL_NET_H
#define GN_TOOL_NET_H

#include <grapnel/net.h>

#include "tool.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TOOL_NET_MATRIX = 32 };

/* What the options say. Zero is nothing said, but for config.nodes, which tool_net_argp makes 2. */
struct tool_net {
	struct gn_net_options config;
	const char *json;
	/* nodes of the wait matrix that tool_net_gather found; 0: none, or more than TOOL_NET_MATRIX */
	uint32_t waits;
	uint64_t waited_ns[TOOL_NET_MATRIX * TOOL_NET_MATRIX]; /* row: who waited, column: for whom */
};

extern const char *const tool_net_forms[]; /* enum gn_net_form */

/*
 * tool_net_argp - the options of net, as a child of a subcommand's own. Its parser hands a struct tool_net
 * over when it gets ARGP_KEY_INIT: state->child_inputs[0] = &request->net.
 */
extern const struct argp tool_net_argp;

/*
 * tool_net_gather - the statistics of all nodes become one, and node 0 puts who waited for whom into t. All
 * nodes call it. Codes of gn_net_reduce_u64.
 */
int tool_net_gather(struct gn_net *net, struct tool_net *t, struct gn_net_statistics *stats);

/*
 * tool_net_run - gn_net_run, and a message for every failure.
 * @subcommand  begins the messages
 * @node        what a node does; its failure is told with what the network says of it
 */
int tool_net_run(const char *subcommand, const struct tool_net *net,
                 int (*node)(struct gn_net *net, void *argument), void *argument, struct gn_error *e);

/* tool_net_print - a line on stdout: messages and packets. */
void tool_net_print(const struct gn_net_statistics *s);

/*
 * tool_net_json - the same, and more, as a new JSON object; NULL: no memory.
 * @t  whose wait matrix; NULL: there is none
 */
json_t *tool_net_json(const struct tool_net *t, const struct gn_net_statistics *s);

#ifdef __cplusplus
}
#endif

#endif
