/* SPDX-License-Identifier: Apache-2.0 */
/* collect.c - barrier, broadcast, collect, all to all. */
#include <shmem/team.h>

#include <stdlib.h>

SHMEM__NAMES_COLLECT

static void check(const char *function, int code)
{
	gn_shmem_check(function, code, pshmem_my_pe());
}

void shmem_barrier_all(void)
{
	gn_shmem_quiet("shmem_barrier_all");
	pshmem_sync_all();
}

void shmem_sync_all(void)
{
	const struct gn_net_team all = gn_net_team_world(gn_shmem.view);

	check("shmem_sync_all", gn_net_team_sync(gn_shmem.view, &all));
}

void shmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	gn_shmem_quiet("shmem_barrier");
	pshmem_sync(PE_start, logPE_stride, PE_size, pSync);
}

void(shmem_sync)(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	const struct gn_net_team team = gn_shmem_team(PE_start, logPE_stride, PE_size, pSync);

	check("shmem_sync", gn_net_team_sync(gn_shmem.view, &team));
}

static int broadcast(struct gn_net_team team, int root, void *dest, const void *source, size_t bytes)
{
	return gn_net_team_broadcast(gn_shmem.view, &team, (uint32_t)root, dest, source, bytes);
}

/* A team's broadcast also sets dest of the root. */
static int broadcast_to_all(struct gn_net_team team, int root, void *dest, const void *source, size_t bytes)
{
	const int rc = broadcast(team, root, dest, source, bytes);

	if (!rc && dest != source && gn_net_team_node(&team, (uint32_t)root) == gn_shmem.view->node)
		memcpy(dest, source, bytes);
	return rc;
}

static int fcollect(struct gn_net_team team, void *dest, const void *source, size_t bytes)
{
	return gn_net_team_all_gather(gn_shmem.view, &team, dest, source, bytes);
}

/* Each PE has its own number of bytes: a PE's bytes begin behind the bytes of all PEs before it. */
static int collect(struct gn_net_team team, char *dest, const void *source, size_t bytes)
{
	const struct gn_net_view *n = gn_shmem.view;
	uint64_t *sizes = (uint64_t *)calloc(team.nodes ? team.nodes : 1, sizeof *sizes);
	uint32_t rank = 0;
	uint64_t at = 0;
	int rc = sizes ? gn_net_team_rank(n, &team, &rank) : -GN_ENOMEM;

	if (rc) {
		free(sizes);
		return rc;
	}
	sizes[rank] = bytes;
	/* all PEs have come, so their memory may be overwritten */
	rc = gn_net_team_reduce_u64(n, &team, GN_ADD, sizes, team.nodes);
	for (uint32_t k = 0; k < rank; k++)
		at += sizes[k];
	for (uint32_t k = 0; bytes && !rc && k < team.nodes; k++)
		rc =
		    gn_net_put(n, gn_net_team_node(&team, (rank + k) % team.nodes), dest + at, source, bytes);
	if (!rc)
		rc = gn_net_team_barrier(n, &team);
	free(sizes);
	return rc;
}

/* Put to each PE its block, at the place that the strides give. */
static int alltoalls(struct gn_net_team team, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst,
                     size_t nelems, size_t bytes)
{
	const struct gn_net_view *n = gn_shmem.view;
	uint32_t rank = 0;
	int rc = gn_net_team_rank(n, &team, &rank);

	if (!rc)
		rc =
		    gn_net_team_barrier(n, &team); /* all PEs have come, so their memory may be overwritten */
	for (uint32_t k = 0; !rc && k < team.nodes; k++) {
		const uint32_t to = (rank + k) % team.nodes;

		for (size_t e = 0; !rc && e < nelems; e++)
			rc = gn_net_put(n, gn_net_team_node(&team, to),
			                dest + (rank * nelems + e) * (size_t)dst * bytes,
			                source + (to * nelems + e) * (size_t)sst * bytes, bytes);
	}
	return rc ? rc : gn_net_team_barrier(n, &team);
}

/* alltoalls with blocks without gaps, as one element each. */
static int alltoall(struct gn_net_team team, char *dest, const char *source, size_t bytes)
{
	return alltoalls(team, dest, source, 1, 1, bytes ? 1 : 0, bytes);
}

/* ---- the names: of active sets, and of teams ---- */

/* clang-format off: macros of whole functions */
#define SET gn_shmem_team(PE_start, logPE_stride, PE_size, pSync)
#define SIZE(BYTES, N)                                                                                       \
	void shmem_broadcast##N(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,    \
	                        int logPE_stride, int PE_size, long *pSync)                                  \
	{                                                                                                    \
		check("shmem_broadcast", broadcast(SET, PE_root, dest, source, nelems *BYTES));              \
	}                                                                                                    \
	void shmem_collect##N(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
	                      int PE_size, long *pSync)                                                      \
	{                                                                                                    \
		check("shmem_collect", collect(SET, (char *)dest, source, nelems *BYTES));                   \
	}                                                                                                    \
	void shmem_fcollect##N(void *dest, const void *source, size_t nelems, int PE_start,                  \
	                       int logPE_stride, int PE_size, long *pSync)                                   \
	{                                                                                                    \
		check("shmem_fcollect", fcollect(SET, dest, source, nelems *BYTES));                         \
	}                                                                                                    \
	void shmem_alltoall##N(void *dest, const void *source, size_t nelems, int PE_start,                  \
	                       int logPE_stride, int PE_size, long *pSync)                                   \
	{                                                                                                    \
		check("shmem_alltoall", alltoall(SET, (char *)dest, (const char *)source, nelems *BYTES));   \
	}                                                                                                    \
	void shmem_alltoalls##N(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, \
	                        int PE_start, int logPE_stride, int PE_size, long *pSync)                    \
	{                                                                                                    \
		check("shmem_alltoalls",                                                                     \
		      alltoalls(SET, (char *)dest, (const char *)source, dst, sst, nelems, BYTES));          \
	}
SHMEM__COLLECTIVE_SIZES(SIZE)

/* @NAME  the name of the function for elements of BYTES bytes */
#define OF_TEAM(NAME, PARAMETERS, CALL)                                \
	int shmem_##NAME(shmem_team_t team, ARGUMENTS PARAMETERS)      \
	{                                                              \
		return team == SHMEM_TEAM_INVALID ? -GN_EINVAL : CALL; \
	}
#define ARGUMENTS(...) __VA_ARGS__
#define MOVE(T) (T * dest, const T *source, size_t nelems)
#define MOVES(T, BEFORE, BEHIND, BYTES)                                                                    \
	OF_TEAM(BEFORE##broadcast##BEHIND, (T * dest, const T *source, size_t nelems, int PE_root),        \
	        broadcast_to_all(team->net, PE_root, dest, source, nelems *BYTES))                         \
	OF_TEAM(BEFORE##collect##BEHIND, MOVE(T), collect(team->net, (char *)dest, source, nelems *BYTES)) \
	OF_TEAM(BEFORE##fcollect##BEHIND, MOVE(T), fcollect(team->net, dest, source, nelems *BYTES))       \
	OF_TEAM(BEFORE##alltoall##BEHIND, MOVE(T),                                                         \
	        alltoall(team->net, (char *)dest, (const char *)source, nelems *BYTES))                    \
	OF_TEAM(BEFORE##alltoalls##BEHIND,                                                                 \
	        (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems),                  \
	        alltoalls(team->net, (char *)dest, (const char *)source, dst, sst, nelems, BYTES))
#define TYPE(T, N) MOVES(T, N##_, , sizeof(T))
SHMEM__RMA_OWN(TYPE)
SHMEM__RMA_ALIAS(TYPE)
MOVES(void, , mem, 1)
/* clang-format on */
