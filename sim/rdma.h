/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.h - a GPU's way to the lines of others: requests out, requests of others in to the local L2, replies
 * back.
 */
#ifndef SIM_RDMA_H
#define SIM_RDMA_H

#include <sim/access.h>

/*
 * sim_rdma_enter - an access to a remote line has left L1: through the cache of remote data, or out (an
 * event).
 */
void sim_rdma_enter(struct sim_domain *m, struct sim_event *e);

/* sim_rdma_request - an access goes to the GPU that holds its line. */
void sim_rdma_request(struct sim_domain *m, struct sim_access *a);

/* sim_rdma_answer - the home's L2 is done with it. */
void sim_rdma_answer(struct sim_domain *m, struct sim_access *a);

/*
 * sim_rdma_reply - a reply of its own for an access: of words if fine, else of the line, or an
 * acknowledgement.
 */
void sim_rdma_reply(struct sim_domain *m, struct sim_access *a);

/* sim_rdma_back - a reply, or a packet of replies, is at the GPU that asked (an event). */
void sim_rdma_back(struct sim_domain *m, struct sim_event *e);

#endif
