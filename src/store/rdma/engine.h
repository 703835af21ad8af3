/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the engine of an rdma: store: requests become one-sided reads and writes of the server's memory.
 *
 * Each submission queue has a link of its own. All requests of a queue that arrive together are chained into
 * one list of work requests, which the device gets by one call and one doorbell (DREAM, section 3.2).
 * Completions are polled. A request in flight is a flight; its number and the link's generation are the work
 * request's id, so that a completion of an earlier connection is recognised.
 */
#ifndef GN_STORE_RDMA_ENGINE_H
#define GN_STORE_RDMA_ENGINE_H

#include <store/controller/engine.h>
#include <store/rdma/link.h>

/* The most work requests of one chain. */
enum { GN_RDMA_CHAIN = 64 };

struct gn_flight {
	struct gn_request *request; /* NULL: free */
	uint32_t bytes;             /* that the work request moves */
	uint32_t next;              /* free flight */
};

/* A link with what its engine knows of it. */
struct gn_lane {
	struct gn_link link;
	struct gn_request_list todo;
	struct gn_flight *flight; /* [link.depth] */
	uint32_t free;            /* first free flight; link.depth: none */
	uint16_t generation;      /* of the queue pair */
	uint64_t progress_ns;  /* when the last completion came, or the first request of a silence went out */
	struct ibv_mr *memory; /* of the requests */
};

struct gn_rdma_engine {
	struct gn_engine base; /* first */
	struct gn_peer *peer;
	struct ibv_cq *cq;
	uint32_t lanes, ready;   /* ready: links that are open */
	uint64_t chains, posted; /* calls of the device, and work requests that they carried */
	struct gn_lane *lane;    /* [lanes] */
	struct ibv_send_wr work[GN_RDMA_CHAIN];
	struct ibv_sge *piece; /* [GN_RDMA_CHAIN][peer->pieces] */
};

/* The memory of a lane's requests. */
struct gn_lane_memory {
	void *base;
	size_t bytes;
};

/*
 * gn_rdma_engine_create - make an engine whose links are down; the peer has its device.
 * @first  index of the first link in the store
 * @depth  requests in flight on a lane, at most
 * Returns 0 or a negative code with the message set.
 */
int gn_rdma_engine_create(struct gn_rdma_engine **engine, struct gn_peer *peer, uint32_t lanes,
                          uint16_t first, uint32_t depth, struct gn_error *error);

/*
 * gn_rdma_engine_connect - register the memory of the lanes, and connect their links.
 * @memory  [lanes], borrowed until close
 */
int gn_rdma_engine_connect(struct gn_rdma_engine *engine, const struct gn_lane_memory *memory,
                           struct gn_error *error);

/*
 * gn_lane_settle - end what is in flight on a link that is broken. The engine's thread; or any thread if
 * nothing is in flight. Returns 1 if the link is down afterwards.
 */
int gn_lane_settle(struct gn_rdma_engine *engine, struct gn_lane *lane);

/* gn_rdma_status - the status field of a request whose work request ended so (enum ibv_wc_status). */
uint32_t gn_rdma_status(enum ibv_wc_status status);

/* The functions of struct gn_engine_ops, for tests. */
void gn_rdma_engine_start(struct gn_engine *engine, struct gn_request *r);
void gn_rdma_engine_turn(struct gn_engine *engine, uint64_t wait_ns);
void gn_rdma_engine_close(struct gn_engine *engine);

#endif
