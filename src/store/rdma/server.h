/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.h - lends regions to stores of other machines: accepts their connections, and then is out of the
 * way.
 *
 * The device checks each access: the key, the bounds, and whether the region may be written. The server only
 * hears of connections and of flushes. Whoever reaches its port may read and write its regions.
 */
#ifndef GN_STORE_RDMA_SERVER_H
#define GN_STORE_RDMA_SERVER_H

#include <store/rdma/export.h>

enum { GN_SERVER_EXPORTS = 64, GN_SERVER_CONNECTIONS = 4096 };

/* 0: built without libibverbs and librdmacm; then store and server refuse to open. */
extern const int gn_rdma_is_built;

struct gn_server;

/*
 * gn_server_open - register the regions with the RDMA devices, and listen.
 * @export_  [count], borrowed until close
 * @address  to listen on; NULL: all
 * @say      is told of flushes that fail; any thread
 * Returns 0 or a negative code with the message set.
 */
int gn_server_open(struct gn_server **server, struct gn_export *export_, unsigned count, const char *address,
                   const char *port, void (*say)(const char *text), struct gn_error *error);

/* gn_server_devices - the names of the devices, with a comma between them. Borrowed until close. */
const char *gn_server_devices(const struct gn_server *server);

/*
 * gn_server_run - serve until the descriptor stop can be read. Clients that have asked for a flush by then
 * are told how it ends. Returns 0 or a negative code.
 */
int gn_server_run(struct gn_server *server, int stop, struct gn_error *error);

/* gn_server_close - end the connections. Then flush the exports: nobody writes to them any more. */
void gn_server_close(struct gn_server *server);

#endif
