/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the link by which the host itself reads, writes and flushes a region.
 *
 * It is an engine with one lane, and one thread at a time uses it.
 */
#ifndef GN_STORE_RDMA_CONTROL_H
#define GN_STORE_RDMA_CONTROL_H

#include <store/rdma/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GN_CONTROL_NOTES = 4 };

struct gn_control {
	struct gn_peer *peer;
	struct gn_rdma_engine *engine;
	char *buffer;           /* of transfers; behind it notes that arrive, and one that is sent */
	struct ibv_cq *arrived; /* completions of receives */
	pthread_mutex_t mutex;  /* one thread at a time */
	uint32_t flushes;
};

/* gn_control_open - find the device and connect. Sets the peer's region. Returns 0 or a negative code. */
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
 * Waits as long as the server says that it is working.
 */
int gn_control_flush(struct gn_control *control, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
