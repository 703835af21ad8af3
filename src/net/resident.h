/* SPDX-License-Identifier: Apache-2.0 */
/* resident.h - a kernel that stays for the whole run, with a machine and a stream of its own. */
#ifndef GN_NET_RESIDENT_H
#define GN_NET_RESIDENT_H

#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gn_net;

struct gn_resident {
	struct simt_machine *machine; /* the machine that runs the kernel: the node's, or own */
	struct simt_machine *own;     /* on cpu: a machine with an OS thread of its own */
	struct simt_stream *stream;
	uint32_t started;
};

/* gn__resident_open - codes of simt_open and simt_stream_create. */
int gn__resident_open(struct gn_resident *r, const struct gn_net *net, struct gn_error *error);
void gn__resident_close(struct gn_resident *r);

/*
 * gn__resident_start - launch the kernel. Returns 0, or the code of the launch, which is the network's
 * failure.
 */
int gn__resident_start(struct gn_resident *r, struct gn_net *net, const struct simt_kernel *kernel,
                       struct simt_grid grid, const void *args);

/*
 * gn__resident_wait - wait until the kernel, which was told to end, has ended. Its failure is the network's.
 */
void gn__resident_wait(struct gn_resident *r, struct gn_net *net);

#ifdef __cplusplus
}
#endif

#endif
