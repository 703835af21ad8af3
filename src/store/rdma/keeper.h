/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keeper.h - a thread that hears of connections that are lost, and connects them again.
 */
#ifndef GN_STORE_RDMA_KEEPER_H
#define GN_STORE_RDMA_KEEPER_H

#include <poll.h>

#include <store/rdma/engine.h>

enum { GN_KEEPER_ENGINES = 32 };

struct gn_keeper {
	struct gn_peer *peer;
	struct gn_rdma_engine *engine[GN_KEEPER_ENGINES];
	unsigned engines;
	pthread_t thread;
	int running;
	int stop;            /* an eventfd */
	struct pollfd *news; /* [1 + links]: stop, and the connection manager's descriptor of each link */
	unsigned links;
};

/* gn_keeper_start - look after the links of the engines. Returns 0 or -GN_ENOMEM. */
int gn_keeper_start(struct gn_keeper *keeper, struct gn_error *error);

/* gn_keeper_stop - end an attempt to connect that is under way, and the thread. Nothing if it was not
 * started. */
void gn_keeper_stop(struct gn_keeper *keeper);

#endif
