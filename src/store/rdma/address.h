/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - the parts of the path of an rdma: URI: //HOST[:PORT]/NAME.
 */
#ifndef GN_STORE_RDMA_ADDRESS_H
#define GN_STORE_RDMA_ADDRESS_H

#include <grapnel/error.h>
#include <store/rdma/hello.h>

enum { GN_RDMA_HOST = 256, GN_RDMA_PORT = 7474 };

struct gn_rdma_address {
	char host[GN_RDMA_HOST];      /* a name or an address, without the brackets of an IPv6 address */
	char port[6];                 /* decimal */
	char name[GN_HELLO_NAME + 1]; /* of the region */
};

/*
 * gn_rdma_address_parse - split a path such as "//node7/data", "//10.0.0.7:7474/data" or
 * "//[fe80::1%eth0]/data".
 * Returns 0 or -GN_EINVAL; the message shows what such a URI looks like.
 */
int gn_rdma_address_parse(struct gn_rdma_address *address, const char *path, struct gn_error *error);

#endif
