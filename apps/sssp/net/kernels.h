/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - one look at all vertices of a node. */
#ifndef GN_SSSP_NET_KERNELS_H
#define GN_SSSP_NET_KERNELS_H

#include "spread/graph.h"

struct sssp_args {
	struct gn_net_view net;
	struct spread_graph graph;
	uint64_t *length;  /* symmetric: of this node's vertices, so far */
	uint64_t *sent;    /* what they were when they were last sent */
	uint64_t *changes; /* the kernel adds the vertices that sent */
};

SIMT_KERNEL_DECLARE(sssp_relax);

#endif
