/* SPDX-License-Identifier: Apache-2.0 */
/* none.c - in the place of store and server where the library was built without libibverbs and librdmacm. */
#include <store/rdma/server.h>
#include <store/store.h>

static int refuse(const char *what, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_ENOTSUP,
	    "%s: this program was built without RDMA; install the package librdmacm-dev, then "
	    "configure and build Grapnel again",
	    what);
}

static int none_open(struct gn_store **store, struct simt_machine *machine, const struct gn_uri *uri,
                     const struct gn_store_settings *settings, struct gn_error *error)
{
	(void)store;
	(void)machine;
	(void)uri;
	(void)settings;
	return refuse("rdma", error);
}

const struct gn_store_ops gn_store_rdma = {
    "rdma", GN_OPTION_RO | GN_OPTIONS_QUEUES | GN_OPTION_FLUSH, none_open, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL};

const int gn_rdma_is_built = 0;

int gn_server_open(struct gn_server **server, struct gn_export *export_, unsigned count, const char *address,
                   const char *port, void (*say)(const char *text), struct gn_error *error)
{
	(void)server;
	(void)export_;
	(void)count;
	(void)address;
	(void)port;
	(void)say;
	return refuse("serve --rdma", error);
}

const char *gn_server_devices(const struct gn_server *server)
{
	(void)server;
	return "";
}

int gn_server_run(struct gn_server *server, int stop, struct gn_error *error)
{
	(void)server;
	(void)stop;
	return refuse("serve --rdma", error);
}

void gn_server_close(struct gn_server *server)
{
	(void)server;
}
