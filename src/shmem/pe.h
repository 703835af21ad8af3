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
#include <pshmem.h>

/*
 * Of the two names of a function that of shmem.h is weak: a tool may define its own. So the library calls
 * functions by their other names. A source has the list of those that it defines.
 */
#undef SHMEM__NAME
#define SHMEM__NAME(NAME)                                   \
	extern __typeof__(NAME) NAME __attribute__((weak)); \
	extern __typeof__(NAME) p##NAME __attribute__((alias(#NAME)));

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

/* ---- waiting ---- */

/* gn_shmem_wait_on - pause in a wait. If a PE has failed, or after the deadline, end the program on all PEs.
 */
void gn_shmem_wait_on(const char *function, uint32_t tries, uint64_t *deadline);

/* clang-format off: a macro of a whole function */
#define GN_SHMEM_COMPARE(T, N)                                                                        \
	static int compare_##N(T is, int cmp, T value)                                                \
	{                                                                                             \
		switch (cmp) {                                                                        \
		case SHMEM_CMP_EQ: return is == value;                                                \
		case SHMEM_CMP_NE: return is != value;                                                \
		case SHMEM_CMP_GT: return is > value;                                                 \
		case SHMEM_CMP_GE: return is >= value;                                                \
		case SHMEM_CMP_LT: return is < value;                                                 \
		case SHMEM_CMP_LE: return is <= value;                                                \
		default: gn_shmem_fail("shmem_test: no such comparison", -GN_EINVAL, pshmem_my_pe()); \
		}                                                                                     \
	}
/* clang-format on */

/* ---- teams (team.c) ---- */

enum { GN_SHMEM_MOST_TEAMS = 64, GN_SHMEM_TEAMS_BYTES = GN_SHMEM_MOST_TEAMS * sizeof(struct gn_net_group) };

struct shmem__team {
	struct gn_net_team net;
	int contexts; /* shmem_team_config_t's num_contexts */
};

/* gn_shmem_teams_begin - make the predefined teams; on all PEs. */
int gn_shmem_teams_begin(struct gn_net *net);

/* gn_shmem_ctx_destroy_of - destroy the contexts that were created from a team. */
void gn_shmem_ctx_destroy_of(shmem_team_t team);

/* ---- contexts (context.c); SHMEM_CTX_DEFAULT is no object ---- */

/* gn_shmem_ctx_node - gn_shmem_node for a context that is not the default one. */
uint32_t gn_shmem_ctx_node(const char *function, shmem_ctx_t ctx, int pe);

/* gn_shmem_ctx_sent - note that a message of this context was sent to a node. */
void gn_shmem_ctx_sent(shmem_ctx_t ctx, uint32_t node);

/* gn_shmem_ctx_discard_all - destroy all contexts, behind a barrier, which waits for all that they sent. */
void gn_shmem_ctx_discard_all(void);

/* gn_shmem_settle - wait until all that this thread has sent to one node is done, and replied to. */
void gn_shmem_settle(const char *function, uint32_t node);

/* The node that is PE pe of a context. Returns a number that no node has if there is no such PE. */
static inline uint32_t gn_shmem_node(const char *function, shmem_ctx_t ctx, int pe)
{
	return simt_likely(ctx == SHMEM_CTX_DEFAULT) ? (uint32_t)pe : gn_shmem_ctx_node(function, ctx, pe);
}

/* Does this PE reach a node's symmetric memory by messages alone? PEs of one host reach each other's heaps.
 */
static inline int gn_shmem_by_message(const void *symmetric, uint32_t node)
{
	const struct gn_net_view *n = gn_shmem.view;

	if (node == n->node)
		return 0;
	return !n->mapped || !n->mapped[node] ||
	       (uint64_t)((const char *)symmetric - n->heap) >= n->heap_bytes;
}

/*
 * Note that something was sent to symmetric memory of a node. A quiet of the context waits for it. A later
 * put into the heap behind a fence must not overtake a message to static data of a node that this PE reaches.
 */
static inline void gn_shmem_sent(shmem_ctx_t ctx, const void *dest, uint32_t node)
{
	if (!gn_shmem_by_message(dest, node))
		return;
	if (ctx != SHMEM_CTX_DEFAULT)
		gn_shmem_ctx_sent(ctx, node);
	else if (gn_shmem.view->mapped && gn_shmem.view->mapped[node])
		simt_store_relaxed_dev_u32(&gn_shmem.behind, 1);
}

#endif
