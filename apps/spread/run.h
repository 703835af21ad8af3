/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - what the host of a node does again and again: launch a kernel that sends, count what it sent, meet
 * the others.
 */
#ifndef GN_SPREAD_RUN_H
#define GN_SPREAD_RUN_H

#include <grapnel/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * spread_launch - run a kernel on the node's machine and wait for it.
 * @threads  of the grid; 0: what keeps the machine busy. Blocks are whole warps, of up to 256 threads
 * Returns 0, the machine's code, or the first failure of an operation on net.
 */
int spread_launch(struct gn_net *net, const struct simt_kernel *kernel, uint32_t threads,
                  const void *arguments, struct gn_error *error);

enum { SPREAD_MOST_COUNTS = 2 };

/*
 * spread_launch_counting - spread_launch of a kernel that adds something up, in the machine's own memory:
 * additions to the host's would cross the link one by one.
 * @count    [counts], from simt_alloc(SIMT_DEVICE): set to 0, then added to by the kernel
 * @counted  [counts], receives them; 0 on failure
 */
int spread_launch_counting(struct gn_net *net, const struct simt_kernel *kernel, uint32_t threads,
                           const void *arguments, uint64_t *count, uint32_t counts, uint64_t *counted,
                           struct gn_error *error);

/* spread_threads - of the grid that spread_launch makes of 0 threads. */
uint32_t spread_threads(struct gn_net *net);

/*
 * spread_until_still - run a kernel on all nodes until it changes nothing on any. All nodes call it.
 *
 * A node launches it again while it changes something there. Then the nodes meet; what they had sent has been
 * done everywhere. When no kernel has changed anything since the last meeting, nothing was sent either: all
 * is still.
 * @changes  a count as for spread_launch_counting: the kernel adds how much it has changed
 * @total    receives the changes of this node
 * @rounds   receives how often the nodes met
 * Returns 0 or a code of spread_launch, gn_net_barrier, gn_net_reduce_u64.
 */
int spread_until_still(struct gn_net *net, const struct simt_kernel *kernel, const void *arguments,
                       uint64_t *changes, uint64_t *total, uint64_t *rounds, struct gn_error *error);

/* spread_count_begin, spread_count_end - the statistics of what lies between, of this node. */
void spread_count_begin(const struct gn_net *net, struct gn_net_statistics *stats);
void spread_count_end(const struct gn_net *net, struct gn_net_statistics *stats);

/* spread_clock - seconds of a clock that only goes forward. */
double spread_clock(void);

#ifdef __cplusplus
}
#endif

#endif
