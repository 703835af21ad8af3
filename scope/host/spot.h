/* SPDX-License-Identifier: Apache-2.0 */
/* spot.h - a file to read from: it has no name, is filled with a pattern, and goes when it is closed. */
#ifndef GN_SCOPE_HOST_SPOT_H
#define GN_SCOPE_HOST_SPOT_H

#include "scope/scope.h"

struct scope_spot {
	int fd; /* through the page cache, or around it */
	uint64_t bytes;
	void *mapping; /* of all of it, or NULL */
};

enum { SCOPE_SPOT_SEED = 5 };

/* scope_spot_bytes - how large it is for this machine's effort. */
uint64_t scope_spot_bytes(const struct scope_machine *m);

/*
 * scope_spot_open - make one in the machine's directory; it is on the disk when this returns, and in the page
 * cache too unless it is `direct`. 0; -GN_ENOTSUP: no O_DIRECT there; -GN_ENOSPC, -GN_EACCES, -GN_EIO.
 */
int scope_spot_open(struct scope_spot *s, const struct scope_machine *m, bool direct, bool mapped,
                    struct gn_error *e);
void scope_spot_close(struct scope_spot *s);

/* scope_spot_cool - nothing of it is in the page cache. -GN_ENOTSUP: the system does not let go of it. */
int scope_spot_cool(const struct scope_spot *s, struct gn_error *e);

#endif
