/* SPDX-License-Identifier: Apache-2.0 */
/* rma.c - put and get, for every type and size, by two common functions each. */
#include <shmem/pe.h>

/* A single word is stored atomically, because another PE may wait for it. */
static void put(void *dest, const void *source, size_t bytes, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;
	const int whole = (uintptr_t)dest % (bytes ? bytes : 1) == 0;
	uint32_t narrow;
	uint64_t wide;
	int rc = 0;

	gn_shmem_sends(dest, pe);
	if (bytes == 4 && whole) {
		memcpy(&narrow, source, 4);
		rc = gn_net_put_u32(n, (uint32_t)pe, (uint32_t *)dest, narrow);
	} else if (bytes == 8 && whole) {
		memcpy(&wide, source, 8);
		rc = gn_net_put_u64(n, (uint32_t)pe, (uint64_t *)dest, wide);
	} else if (bytes) {
		rc = gn_net_put(n, (uint32_t)pe, dest, source, bytes);
	}
	gn_shmem_check("put", rc, pe);
}

static void get_nbi(void *dest, const void *source, size_t bytes, int pe)
{
	if (bytes)
		gn_shmem_check("get", gn_net_get_nb(gn_shmem.view, (uint32_t)pe, source, dest, bytes), pe);
}

static void get_quiet(int pe)
{
	if ((uint32_t)pe != gn_shmem.view->node)
		gn_shmem_quiet("get");
}

static void get(void *dest, const void *source, size_t bytes, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;
	const int whole = (uintptr_t)source % (bytes ? bytes : 1) == 0;
	uint32_t narrow;
	uint64_t wide;

	if (bytes == 4 && whole) {
		gn_shmem_check("get", gn_net_get_u32(n, (uint32_t)pe, (const uint32_t *)source, &narrow), pe);
		memcpy(dest, &narrow, 4);
	} else if (bytes == 8 && whole) {
		gn_shmem_check("get", gn_net_get_u64(n, (uint32_t)pe, (const uint64_t *)source, &wide), pe);
		memcpy(dest, &wide, 8);
	} else if (bytes) {
		get_nbi(dest, source, bytes, pe);
		get_quiet(pe);
	}
}

/* Strides are in elements. */
static void iput(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t bytes,
                 int pe)
{
	for (ptrdiff_t k = 0; k < (ptrdiff_t)nelems; k++)
		put(dest + k * dst * (ptrdiff_t)bytes, source + k * sst * (ptrdiff_t)bytes, bytes, pe);
}

static void iget(char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, size_t bytes,
                 int pe)
{
	for (ptrdiff_t k = 0; k < (ptrdiff_t)nelems; k++)
		get_nbi(dest + k * dst * (ptrdiff_t)bytes, source + k * sst * (ptrdiff_t)bytes, bytes, pe);
	if (nelems)
		get_quiet(pe);
}

/* ---- the names ---- */

/* clang-format off: macros of whole functions */
#define ARGUMENTS(...) __VA_ARGS__

/* Define a function and its form with a context. */
#define DEFINE(NAME, PARAMETERS, CALL)                               \
	void shmem_##NAME(ARGUMENTS PARAMETERS)                      \
	{                                                            \
		CALL;                                                \
	}                                                            \
	void shmem_ctx_##NAME(shmem_ctx_t ctx, ARGUMENTS PARAMETERS) \
	{                                                            \
		(void)ctx;                                           \
		CALL;                                                \
	}
#define MOVE(T) (T * dest, const T *source, size_t nelems, int pe)
#define STRIDE(T) (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
#define STRIDED(BYTES) ((char *)dest, (const char *)source, dst, sst, nelems, BYTES, pe)

#define TYPE(T, N)                                                                      \
	DEFINE(N##_put, MOVE(T), put(dest, source, nelems * sizeof(T), pe))             \
	DEFINE(N##_get, MOVE(T), get(dest, source, nelems * sizeof(T), pe))             \
	DEFINE(N##_put_nbi, MOVE(T), put(dest, source, nelems * sizeof(T), pe))         \
	DEFINE(N##_get_nbi, MOVE(T), get_nbi(dest, source, nelems * sizeof(T), pe))     \
	DEFINE(N##_iput, STRIDE(T), iput STRIDED(sizeof(T)))                            \
	DEFINE(N##_iget, STRIDE(T), iget STRIDED(sizeof(T)))                            \
	DEFINE(N##_p, (T * dest, T value, int pe), put(dest, &value, sizeof value, pe)) \
	T shmem_##N##_g(const T *source, int pe)                                        \
	{                                                                               \
		T value;                                                                \
                                                                                        \
		get(&value, source, sizeof value, pe);                                  \
		return value;                                                           \
	}                                                                               \
	T shmem_ctx_##N##_g(shmem_ctx_t ctx, const T *source, int pe)                   \
	{                                                                               \
		(void)ctx;                                                              \
		return shmem_##N##_g(source, pe);                                       \
	}

#define BYTES_MOVE(BYTES, N)                                                   \
	DEFINE(put##N, MOVE(void), put(dest, source, nelems *BYTES, pe))       \
	DEFINE(get##N, MOVE(void), get(dest, source, nelems *BYTES, pe))       \
	DEFINE(put##N##_nbi, MOVE(void), put(dest, source, nelems *BYTES, pe)) \
	DEFINE(get##N##_nbi, MOVE(void), get_nbi(dest, source, nelems *BYTES, pe))
#define SIZE(BYTES, N)                                     \
	BYTES_MOVE(BYTES, N)                               \
	DEFINE(iput##N, STRIDE(void), iput STRIDED(BYTES)) \
	DEFINE(iget##N, STRIDE(void), iget STRIDED(BYTES))

SHMEM__RMA_OWN(TYPE)
SHMEM__RMA_ALIAS(TYPE)
SHMEM__SIZES(SIZE)
BYTES_MOVE(1, mem)
/* clang-format on */
