/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pe.h - the internals of shmem.h: this process as a node of net.
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
	 * memory of the heap in place of pSync arrays that are static data, at the same offset as in the
	 * static data; NULL: there is too much static data
	 */
	char *meetings;
	uint64_t done; /* words of the log up to which messages are done */
	/* 1: a direct access of this PE to another PE's heap might overtake an earlier message to that PE */
	uint32_t behind;
};

extern struct gn_shmem gn_shmem;

/* gn_shmem_fail - print why the program cannot continue, and end all PEs. */
_Noreturn void gn_shmem_fail(const char *function, int code, int pe);

/* End the program if code is not 0: most functions of OpenSHMEM cannot return an error. */
static inline void gn_shmem_check(const char *function, int code, int pe)
{
	if (simt_unlikely(code))
		gn_shmem_fail(function, code, pe);
}

/* gn_shmem_quiet - shmem_quiet on behalf of the named function. */
void gn_shmem_quiet(const char *function);

/*
 * Note that something is sent to `dest` of PE pe. PEs of one host change each other's heaps directly, but
 * static data by messages. A later put into the heap behind a fence must not overtake such a message.
 */
static inline void gn_shmem_sends(const void *dest, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;

	if (n->mapped && (uint32_t)pe < n->nodes && n->mapped[pe] &&
	    (uint64_t)((const char *)dest - n->heap) >= n->heap_bytes)
		simt_store_relaxed_dev_u32(&gn_shmem.behind, 1);
}

#endif
