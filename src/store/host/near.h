/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near.h - memory of the machine's own for a host: store: the device's, or managed memory. Only for machines
 * whose memory is not the host's (ops->managed).
 */
#ifndef GN_STORE_HOST_NEAR_H
#define GN_STORE_HOST_NEAR_H

#include <store/settings.h>

struct gn_near {
	struct simt_machine *machine;
	enum gn_store_memory kind; /* DEVICE, MANAGED or READ_MOSTLY */
	char *memory;              /* device address; NULL: none */
	size_t bytes;              /* a multiple of 4096 */
};

/*
 * gn_near_allocate - zeroed memory of a kind. Returns 0 or -GN_ENOMEM: the message says how many bytes were
 * wanted and how many there are.
 */
int gn_near_allocate(struct gn_near *near, struct simt_machine *machine, uint64_t bytes,
                     enum gn_store_memory kind, struct gn_error *error);

/* gn_near_free - give it back, if there is any. */
void gn_near_free(struct gn_near *near);

/* gn_near_read, gn_near_write - copy from and to it, for the host. Device memory: as simt_move. */
int gn_near_read(const struct gn_near *near, uint64_t offset, void *to, size_t bytes, struct gn_error *error);
int gn_near_write(const struct gn_near *near, uint64_t offset, const void *from, size_t bytes,
                  struct gn_error *error);

/* gn_near_settle - managed memory comes back to the host, with its hint; else nothing. Returns 0, -GN_EIO. */
int gn_near_settle(const struct gn_near *near, struct gn_error *error);

#endif
