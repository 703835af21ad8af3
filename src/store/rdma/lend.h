/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lend.h (private to the server) - its devices, and its connections.
 */
#ifndef GN_STORE_RDMA_LEND_H
#define GN_STORE_RDMA_LEND_H

#include <pthread.h>

#include <rdma/rdma_cma.h>

#include <store/rdma/server.h>

enum { GN_LEND_DEVICES = 16, GN_LEND_NOTES = 4 };

/* An RDMA device, with the regions registered. */
struct gn_lender {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_mr *region[GN_SERVER_EXPORTS];
	struct ibv_mr *notes;
};

/* How a flush that a connection has asked for stands. */
enum gn_flush_state {
	GN_FLUSH_NONE,
	GN_FLUSH_WAITS, /* for the thread */
	GN_FLUSH_RUNS,
	GN_FLUSH_ENDED, /* and the answer waits for room */
	GN_FLUSH_TOLD   /* the answer is being sent */
};

struct gn_connection {
	struct rdma_cm_id *id; /* NULL: free */
	struct gn_lender *lender;
	unsigned export_; /* index */
	uint64_t session;
	uint16_t index, flags;
	int established;
	int dead;            /* something that was sent or received has failed */
	uint16_t generation; /* counts the uses of this place */
	enum gn_flush_state flush;
	uint32_t flush_number;
	int flush_code;   /* of GN_FLUSH_ENDED */
	uint32_t sending; /* 1: a note or a probe is being sent, */
	uint64_t sent_ns; /* since then */
};

/*
 * gn_lender_open - make what connections over a device share, and register the regions.
 * @notes  [bytes] memory of the notes
 */
int gn_lender_open(struct gn_lender *lender, struct ibv_context *verbs, struct gn_export *export_,
                   unsigned count, char *notes, size_t bytes, struct gn_error *error);
void gn_lender_close(struct gn_lender *lender);

/* The bytes of one connection's notes: those that arrive, and behind them those that are sent. */
enum { GN_LEND_NOTE_BYTES = 2 * GN_LEND_NOTES * GN_HELLO_NOTE_BYTES };

struct gn_server {
	struct gn_export *export_; /* [exports] */
	unsigned exports;
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	struct gn_lender lender[GN_LEND_DEVICES];
	unsigned lenders;
	char devices[GN_LEND_DEVICES * 20];
	struct gn_connection *connection; /* [GN_SERVER_CONNECTIONS] */
	char *notes;                      /* [GN_SERVER_CONNECTIONS][GN_LEND_NOTE_BYTES] */
	void (*say)(const char *text);
	/* A thread that flushes an export; one at a time. */
	pthread_t worker;
	int works;        /* it was started and not yet joined */
	unsigned flushed; /* the export */
	int flush_code;   /* valid once done can be read */
	int done;         /* an eventfd */
	int ending;       /* no flush is begun for who asks from now on */
};

/* gn_server_request - accept or refuse a connection. hello: 0 or the code with which the request was read. */
void gn_server_request(struct gn_server *s, struct rdma_cm_id *id, const struct gn_hello_request *request,
                       int hello);

/* gn_server_drop - end a connection. */
void gn_server_drop(struct gn_server *s, struct gn_connection *c);

/* gn_server_post_receives - for the notes of a connection. Returns 0 or -GN_EIO. */
int gn_server_post_receives(struct gn_server *s, struct gn_connection *c);

/*
 * gn_server_probe - send a message without bytes to each client that nothing is being sent to. Drop the
 * connections of those whose devices did not answer the last one, and have failed or been silent for 30
 * seconds.
 */
void gn_server_probe(struct gn_server *s, uint64_t now);

/* gn_server_take_notes - take what has arrived over a device, and how sending has ended. */
void gn_server_take_notes(struct gn_server *s, struct gn_lender *lender);

/* gn_server_flush_next - start the next flush that is wanted, if none is running. */
void gn_server_flush_next(struct gn_server *s);

/* gn_server_flush_done - the worker has ended: tell those who wait. */
void gn_server_flush_done(struct gn_server *s);

/*
 * gn_server_waiting - does anybody wait for a flush (GN_FLUSH_RUNS), or for the answer alone (GN_FLUSH_TOLD)?
 * Else GN_FLUSH_NONE.
 */
enum gn_flush_state gn_server_waiting(const struct gn_server *s);

/* gn_server_still_working - tell those who wait that their flush goes on. */
void gn_server_still_working(struct gn_server *s);

#endif
