/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - shmem.h from inside: this process as a node of net.
 *
 * One thread runs net and, with MPI, makes all of its calls (pe.c); the program's threads use the host's
 * view.
 */
#ifndef GN_SHMEM_PE_H
#define GN_SHMEM_PE_H

#include <grapnel/net.h>
#include <shmem.h>

struct gn_shmem {
	struct gn_net *net;
	const struct gn_net_view *view;
	int threads; /* the level that the program asked for */
	/*
	 * of the heap: for pSync arrays that are static data, at the same distance; NULL: there is too much
	 * of that
	 */
	char *meetings;
	uint64_t done; /* of the log: messages up to here are done */
	/* 1: a message may yet be behind what this PE does itself in the same other's heap */
	uint32_t behind;
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

/* gn_shmem_quiet - shmem_quiet, for a function of that name. */
void gn_shmem_quiet(const char *function);

/*
 * Something is sent to `dest` of PE pe. PEs of one host change each other's heaps themselves, but static data
 * by messages: who then puts into the heap behind a fence must not overtake them.
 */
static inline void gn_shmem_sends(const void *dest, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;

	if (n->mapped && (uint32_t)pe < n->nodes && n->mapped[pe] &&
	    (uint64_t)((const char *)dest - n->heap) >= n->heap_bytes)
		simt_store_relaxed_dev_u32(&gn_shmem.behind, 1);
}

#endif
