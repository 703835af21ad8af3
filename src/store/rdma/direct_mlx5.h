/* SPDX-License-Identifier: Apache-2.0 */
/*
 * direct_mlx5.h - find the rings of a queue pair of an mlx5 device, and let threads of a machine reach them.
 * It has never run on hardware (direct.h).
 */
#ifndef GN_STORE_RDMA_DIRECT_MLX5_H
#define GN_STORE_RDMA_DIRECT_MLX5_H

#include <infiniband/verbs.h>

#include <store/rdma/direct.h>

enum { GN_DIRECT_MAPS = 5 };

/* Pages that the machine reaches. */
struct gn_direct_map {
	void *memory, *device;
	size_t bytes;
};

struct gn_direct_queue {
	struct gn_direct view; /* what kernels get */
	struct simt_machine *machine;
	struct gn_direct_map map[GN_DIRECT_MAPS];
	unsigned maps; /* two of the five may lie in one page */
};

/*
 * gn_direct_open - let kernels post to a connected queue pair. Nobody posts to it by verbs from then on, nor
 * polls its completion queue.
 * @qp   its work requests ask for no completion by themselves or all do; nothing was posted yet
 * @cq   of this queue pair alone, with room for a completion of each of its entries
 * Keys and the remote address of the view are the caller's to set. On a GPU the records of several queue
 * pairs lie in one page, which can be registered once: one queue pair a process. Returns 0, -GN_ENOTSUP
 * (another device, or rings of another kind), -GN_ENOMEM. To be closed also after a failure.
 */
int gn_direct_open(struct gn_direct_queue *queue, struct simt_machine *machine, struct ibv_qp *qp,
                   struct ibv_cq *cq, struct gn_error *error);

/* gn_direct_close - kernels do not use it any more. The queue pair stays. */
void gn_direct_close(struct gn_direct_queue *queue);

#endif
