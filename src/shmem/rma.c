/* SPDX-License-Identifier: Apache-2.0 */
/* rma.c - put and get, for every type and size, by two common functions each. */
#include <shmem/pe.h>

SHMEM__NAMES_RMA

/* A single word is stored atomically, because another PE may wait for it. */
static void put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;
	const uint32_t node = gn_shmem_node("put", ctx, pe);
	const int whole = (uintptr_t)dest % (bytes ? bytes : 1) == 0;
	uint32_t narrow;
	uint64_t wide;
	int rc = 0;

	if (bytes == 4 && whole) {
		memcpy(&narrow, source, 4);
		rc = gn_net_put_u32(n, node, (uint32_t *)dest, narrow);
	} else if (bytes == 8 && whole) {
		memcpy(&wide, source, 8);
		rc = gn_net_put_u64(n, node, (uint64_t *)dest, wide);
	} else if (bytes) {
		rc = gn_net_put(n, node, dest, source, bytes);
	}
	gn_shmem_check("put", rc, pe);
	if (bytes)
		gn_shmem_sent(ctx, dest, node);
}

/* Begin a get of bytes, for which gn_shmem_settle waits. */
static void get_begin(void *dest, const void *source, size_t bytes, uint32_t node, int pe)
{
	gn_shmem_check("get", gn_net_get_nb(gn_shmem.view, node, source, dest, bytes), pe);
}

static void get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
	const uint32_t node = gn_shmem_node("get", ctx, pe);

	if (!bytes)
		return;
	get_begin(dest, source, bytes, node, pe);
	gn_shmem_sent(ctx, source, node);
}

static void get_end(const void *source, uint32_t node)
{
	if (gn_shmem_by_message(source, node))
		gn_shmem_settle("get", node);
}

static void get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;
	const uint32_t node = gn_shmem_node("get", ctx, pe);
	const int whole = (uintptr_t)source % (bytes ? bytes : 1) == 0;
	uint32_t narrow;
	uint64_t wide;

	if (bytes == 4 && whole) {
		gn_shmem_check("get", gn_net_get_u32(n, node, (const uint32_t *)source, &narrow), pe);
		memcpy(dest, &narrow, 4);
	} else if (bytes == 8 && whole) {
		gn_shmem_check("get", gn_net_get_u64(n, node, (const uint64_t *)source, &wide), pe);
		memcpy(dest, &wide, 8);
	} else if (bytes) {
		get_begin(dest, source, bytes, node, pe);
		get_end(source, node);
	}
}

/* Strides are in elements. */
static void iput(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                 size_t bytes, int pe)
{
	for (ptrdiff_t k = 0; k < (ptrdiff_t)nelems; k++)
		put(ctx, dest + k * dst * (ptrdiff_t)bytes, source + k * sst * (ptrdiff_t)bytes, bytes, pe);
}

static void iget(shmem_ctx_t ctx, char *dest, const char *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,
                 size_t bytes, int pe)
{
	const uint32_t node = gn_shmem_node("get", ctx, pe);

	for (ptrdiff_t k = 0; k < (ptrdiff_t)nelems; k++)
		get_begin(dest + k * dst * (ptrdiff_t)bytes, source + k * sst * (ptrdiff_t)bytes, bytes, node,
		          pe);
	if (nelems)
		get_end(source, node);
}

/* Put, and change a word behind it: a direct change might overtake bytes that go by messages. */
static void put_signal(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, uint64_t *word,
                       uint64_t signal, int how, int pe)
{
	const struct gn_net_view *n = gn_shmem.view;
	const uint32_t node = gn_shmem_node("put_signal", ctx, pe);
	int rc = -GN_EINVAL;

	put(ctx, dest, source, bytes, pe);
	if (bytes && gn_shmem_by_message(dest, node) && !gn_shmem_by_message(word, node))
		gn_shmem_settle("put_signal", node);
	gn_net_fence(n);
	if (how == SHMEM_SIGNAL_SET)
		rc = gn_net_put_u64(n, node, word, signal);
	else if (how == SHMEM_SIGNAL_ADD)
		rc = gn_net_add_u64(n, node, word, signal);
	gn_shmem_check("put_signal", rc, pe);
	gn_shmem_sent(ctx, word, node);
}

/* ---- the names ---- */

/* clang-format off: macros of whole functions */
#define ARGUMENTS(...) __VA_ARGS__

/* Define a function and its form with a context. */
#define DEFINE(NAME, PARAMETERS, CALL)                               \
	void shmem_ctx_##NAME(shmem_ctx_t ctx, ARGUMENTS PARAMETERS) \
	{                                                            \
		CALL;                                                \
	}                                                            \
	void shmem_##NAME(ARGUMENTS PARAMETERS)                      \
	{                                                            \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;           \
                                                                     \
		CALL;                                                \
	}
#define MOVE(T) (T * dest, const T *source, size_t nelems, int pe)
#define SIGNAL(T) \
	(T * dest, const T *source, size_t nelems, uint64_t *sig_addr, uint64_t signal, int sig_op, int pe)
#define SIGNALLED(BYTES) (ctx, dest, source, nelems * (BYTES), sig_addr, signal, sig_op, pe)
#define STRIDE(T) (T * dest, const T *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems, int pe)
#define STRIDED(BYTES) (ctx, (char *)dest, (const char *)source, dst, sst, nelems, BYTES, pe)

#define TYPE(T, N)                                                                           \
	DEFINE(N##_put, MOVE(T), put(ctx, dest, source, nelems * sizeof(T), pe))             \
	DEFINE(N##_get, MOVE(T), get(ctx, dest, source, nelems * sizeof(T), pe))             \
	DEFINE(N##_put_nbi, MOVE(T), put(ctx, dest, source, nelems * sizeof(T), pe))         \
	DEFINE(N##_get_nbi, MOVE(T), get_nbi(ctx, dest, source, nelems * sizeof(T), pe))     \
	DEFINE(N##_put_signal, SIGNAL(T), put_signal SIGNALLED(sizeof(T)))                   \
	DEFINE(N##_put_signal_nbi, SIGNAL(T), put_signal SIGNALLED(sizeof(T)))               \
	DEFINE(N##_iput, STRIDE(T), iput STRIDED(sizeof(T)))                                 \
	DEFINE(N##_iget, STRIDE(T), iget STRIDED(sizeof(T)))                                 \
	DEFINE(N##_p, (T * dest, T value, int pe), put(ctx, dest, &value, sizeof value, pe)) \
	T shmem_ctx_##N##_g(shmem_ctx_t ctx, const T *source, int pe)                        \
	{                                                                                    \
		T value;                                                                     \
                                                                                             \
		get(ctx, &value, source, sizeof value, pe);                                  \
		return value;                                                                \
	}                                                                                    \
	T shmem_##N##_g(const T *source, int pe)                                             \
	{                                                                                    \
		return pshmem_ctx_##N##_g(SHMEM_CTX_DEFAULT, source, pe);                    \
	}

#define BYTES_MOVE(BYTES, N)                                                        \
	DEFINE(put##N, MOVE(void), put(ctx, dest, source, nelems *BYTES, pe))       \
	DEFINE(get##N, MOVE(void), get(ctx, dest, source, nelems *BYTES, pe))       \
	DEFINE(put##N##_nbi, MOVE(void), put(ctx, dest, source, nelems *BYTES, pe)) \
	DEFINE(put##N##_signal, SIGNAL(void), put_signal SIGNALLED(BYTES))          \
	DEFINE(put##N##_signal_nbi, SIGNAL(void), put_signal SIGNALLED(BYTES))      \
	DEFINE(get##N##_nbi, MOVE(void), get_nbi(ctx, dest, source, nelems *BYTES, pe))
#define SIZE(BYTES, N)                                     \
	BYTES_MOVE(BYTES, N)                               \
	DEFINE(iput##N, STRIDE(void), iput STRIDED(BYTES)) \
	DEFINE(iget##N, STRIDE(void), iget STRIDED(BYTES))

SHMEM__RMA_OWN(TYPE)
SHMEM__RMA_ALIAS(TYPE)
SHMEM__SIZES(SIZE)
BYTES_MOVE(1, mem)
/* clang-format on */
