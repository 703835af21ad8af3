/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - one reliable connection of a store to its server.
 *
 * A link is up, broken or down. A thread that sees a failure marks it as broken. A broken link still has its
 * queue pair, and the device may still move data of its transfers. When the queue pair is destroyed the
 * device moves no more. Then the link is down, and can be connected again.
 *
 * What has left the device may still be in the network, and land as long as the server's queue pair is there.
 * So a link that breaks with writes in flight is in doubt until it is up again: the server destroys the old
 * queue pair before it accepts the same link anew. While a link is in doubt no link of the store writes.
 * A write that was broken off ends after its link is in doubt, and a queue's writes are held against the
 * doubts after they were fetched. So whoever knows that the old write has failed posts a newer one too late
 * to pass: it is refused until the old one can no longer land.
 */
#ifndef GN_STORE_RDMA_LINK_H
#define GN_STORE_RDMA_LINK_H

#include <netdb.h>
#include <pthread.h>

#include <rdma/rdma_cma.h>

#include <store/rdma/address.h>

/* The server of a store and what the links to it share. */
struct gn_peer {
	struct gn_rdma_address address;
	char label[360];  /* as messages name it: rdma://HOST:PORT/NAME */
	uint64_t session; /* random */
	uint64_t timeout_ns, flush_ns;
	struct addrinfo *found;        /* the addresses that the host had when the store was opened */
	const struct addrinfo *at;     /* the one in use; the resolver is not asked again */
	uint32_t patience_ms;          /* for an answer of the server, when a link comes up the first time */
	struct gn_hello_answer region; /* as the first link found it */
	struct ibv_context *verbs;     /* of all links; NULL until the first is resolved */
	struct ibv_pd *pd;
	uint32_t pieces;  /* of memory in one work request, at most */
	uint32_t work;    /* requests of one queue pair, at most */
	uint32_t entries; /* of one completion queue, at most */
	/* Guarded by the mutex: why the last link broke; "" before. */
	pthread_mutex_t mutex;
	char lost[300];
	uint32_t
	    gone; /* 1: another instance of the region is there, or none: the store must be opened again */
	uint32_t doubts; /* links in doubt; those who only look hold no mutex */
};

enum gn_link_state { GN_LINK_DOWN, GN_LINK_UP, GN_LINK_BROKEN };

struct gn_link {
	struct gn_peer *peer;
	uint16_t index; /* in the store */
	uint16_t flags; /* of the request */
	/* The mutex guards the state, the queue pair, and what is posted to it. */
	pthread_mutex_t mutex;
	enum gn_link_state state;
	uint32_t in_flight;  /* work requests that were posted and did not complete */
	uint32_t writes;     /* that were posted and did not succeed */
	uint32_t in_doubt;   /* 1: it broke with writes in flight, and was not up since */
	uint32_t connection; /* counts how often it was up */
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_qp *qp;
	struct ibv_cq *cq, *receive_cq; /* receive_cq NULL: the same */
	uint32_t patience_ms;           /* for each step of connecting */
	int stop;                       /* a descriptor: connecting fails when it can be read; -1: none */
	uint32_t depth;                 /* work requests in flight, at most */
	uint64_t address;               /* of the region in the server's memory */
	uint32_t key;
	void *user;
	/* Called when the queue pair is new and not yet connected, to post receives; NULL: nothing to do. */
	int (*prepare)(struct gn_link *link);
	/* Called before the queue pair is destroyed, which may drop what has arrived; NULL: nothing to do. */
	void (*part)(struct gn_link *link);
};

/*
 * gn_peer_init - set all but verbs, pd and addresses. gn_peer_fini frees those, too. Returns 0 or -GN_EIO.
 */
int gn_peer_init(struct gn_peer *peer, const struct gn_rdma_address *address, uint64_t timeout_ns,
                 uint64_t flush_ns, struct gn_error *error);
void gn_peer_fini(struct gn_peer *peer);

/*
 * gn_peer_find - ask the resolver for the host's addresses, if it was not asked before. It may take as long
 * as the resolver does. Returns 0, or -GN_ENOENT.
 */
int gn_peer_find(struct gn_peer *peer, struct gn_error *error);

/* gn_peer_use - from now on links use this one of the addresses. There is no link. */
void gn_peer_use(struct gn_peer *peer, const struct addrinfo *at);

/* gn_peer_lost - remember why a link broke. Any thread. */
void gn_peer_lost(struct gn_peer *peer, const char *why);

/* gn_peer_give_up - the server no longer has what the store has read and written: only a new store goes on.
 */
void gn_peer_give_up(struct gn_peer *peer, const char *why);

/* gn_peer_say - a message about a connection that is lost: why, and what to do. Returns -GN_EIO. */
int gn_peer_say(struct gn_peer *peer, struct gn_error *error);

/* gn_peer_is_gone - must the store be opened again? Any thread. */
int gn_peer_is_gone(const struct gn_peer *peer);

/* gn_peer_doubt - count a link that is in doubt now (1) or no longer (-1). Any thread. */
void gn_peer_doubt(struct gn_peer *peer, int change);

/* gn_peer_is_in_doubt - may a write of a broken link still land? Any thread; it has fetched what it asks for.
 */
int gn_peer_is_in_doubt(const struct gn_peer *peer);

void gn_link_init(struct gn_link *link, struct gn_peer *peer, uint16_t index, uint16_t flags);

/*
 * gn_link_resolve - find the device that reaches the address in use. The first link of a peer sets verbs and
 * pd. gn_link_join - connect; cq and depth are set. The link is up. If another instance of the region
 * answers, the peer is gone. Both wait no longer than patience_ms for each of three steps. Return 0 or a
 * negative code with the message set; then the link is down. The link is the caller's alone.
 */
int gn_link_resolve(struct gn_link *link, struct gn_error *error);
int gn_link_join(struct gn_link *link, struct gn_error *error);

/* gn_link_rise - the server has accepted the link: it is up, and what an earlier connection sent has ended.
 */
void gn_link_rise(struct gn_link *link);

/* gn_link_break - from now on nothing is posted. Only the first reason is kept. The mutex is held. */
void gn_link_break(struct gn_link *link, const char *why);

/*
 * gn_link_cut - destroy the queue pair: no byte moves any more. The mutex is held. What was in flight is
 * the caller's to end; it sets in_flight to 0.
 */
void gn_link_cut(struct gn_link *link);

/* gn_link_close - destroy what the link has. It is down. The link is the caller's alone. */
void gn_link_close(struct gn_link *link);
void gn_link_fini(struct gn_link *link);

/* gn_link_watch - take the connection manager's news, without waiting; break the link if it is lost. */
void gn_link_watch(struct gn_link *link);

#endif
