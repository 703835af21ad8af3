/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - shmem.h from inside: this process as a node of net.
 *
 * One thread runs net and, with MPI, makes all of its calls (pe.c); the program's threads use the host's view.
 */
#ifndef GN_SHMEM_PE_H
#define GN_SHMEM_PE_H

#include <grapnel/net.h>
#include <shmem.h>

struct gn_shmem {
	struct gn_net *net;
	const struct gn_net_view *view;
	int threads; /* the level that the program asked for */
};

extern struct gn_shmem gn_shmem;

/* gn_shmem_fail - this cannot go on: say why, and end the process; the launcher ends the others. */
_Noreturn void gn_shmem_fail(const char *function, int code, int pe);

/* Most functions have no way to say that they failed. */
static inline void gn_shmem_check(const char *function, int code, int pe)
{
	if (simt_unlikely(code))
		gn_shmem_fail(function, code, pe);
}

#endif
