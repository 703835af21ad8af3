/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the link by which the host itself reads, writes and flushes a region.
 *
 * It is an engine with one lane, and one thread at a time uses it.
 */
#ifndef GN_STORE_RDMA_CONTROL_H
#define GN_STORE_RDMA_CONTROL_H

#include <store/rdma/engine.h>

enum { GN_CONTROL_BUFFER = 1 << 20, GN_CONTROL_NOTES = 4 };

struct gn_control {
	struct gn_peer *peer;
	struct gn_rdma_engine *engine;
	char *buffer;           /* of transfers; behind it notes that arrive, and one that is sent */
	struct ibv_cq *arrived; /* completions of receives */
	pthread_mutex_t mutex;  /* one thread at a time */
	uint32_t flushes;       /* the number of the last flush */
	/* The mutex of the link guards these. */
	uint32_t ended;    /* the number of the last flush whose end the server has told, and */
	int32_t code;      /* how it ended */
	uint64_t heard_ns; /* when the server last said that it works */
};

/*
 * gn_control_open - find the host's addresses, and connect to the first that has a server with the region.
 * Sets the peer's device and region; all links use this address. Returns 0 or a negative code; then nothing
 * is open.
 */
int gn_control_open(struct gn_control *control, struct gn_peer *peer, struct gn_error *error);
void gn_control_close(struct gn_control *control);

/*
 * Any thread. Wait for a transfer, and for a connection that is lost to come back, no longer than the peer's
 * timeout each. Return 0, -GN_EIO, -GN_EACCES.
 */
int gn_control_read(struct gn_control *control, uint64_t offset, void *to, size_t bytes,
                    struct gn_error *error);
int gn_control_write(struct gn_control *control, uint64_t offset, const void *from, size_t bytes,
                     struct gn_error *error);
/*
 * gn_control_flush - every byte that was written is in the region, and in the server's file if it has one.
 * Waits as long as the server says that it is working, but no longer than the peer's flush_ns. Returns 0,
 * -GN_EIO, -GN_ENOSPC, -GN_ETIMEDOUT. After a failure it may be tried again: one that succeeds has flushed
 * all.
 */
int gn_control_flush(struct gn_control *control, struct gn_error *error);

/* ---- between the two files of it ---- */

/*
 * gn_control_insist - carry out a request on memory of the buffer, again if the connection is lost, until the
 * peer's timeout is over. GN_NVME_FLUSH sends the memory. The mutex is held. Returns 0, -GN_EIO, -GN_EACCES.
 */
int gn_control_insist(struct gn_control *control, uint8_t opcode, uint64_t offset, char *memory,
                      uint32_t bytes, struct gn_error *error);

/*
 * Called for the control connection. gn_control_prepare posts the receives of a new queue pair.
 * gn_control_hear takes the notes that have arrived; it is also called before a queue pair is destroyed.
 */
int gn_control_prepare(struct gn_link *link);
void gn_control_hear(struct gn_link *link);

#endif
