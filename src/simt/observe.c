/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.c - the functions that the compiler calls: the interfaces of its thread sanitizer and of its
 * coverage.
 */
#include <string.h>

#include <simt/observe.h>

__thread struct simt__observer *simt__observer;

static void see(enum simt__seen_kind kind, uint64_t address, size_t bytes, void *site, void *frame)
{
	const struct simt__fiber *f = simt__fiber_self();
	struct simt__seen seen;

	if (!simt__observer || !f)
		return;
	seen.site = (uint64_t)(uintptr_t)site;
	seen.depth = (uint32_t)((const char *)f - (const char *)frame);
	seen.kind = (uint8_t)kind;
	do {
		seen.address = address;
		seen.bytes = (uint16_t)(bytes < 16 ? bytes : 16);
		simt__observer->see(simt__observer, f, &seen);
		address += seen.bytes;
		bytes -= seen.bytes;
	} while (bytes);
}

#define SEE(kind, p, bytes)                                                                  \
	see(SIMT__SEEN_##kind, (uint64_t)(uintptr_t)(p), bytes, __builtin_return_address(0), \
	    __builtin_frame_address(0))

#ifdef __cplusplus
extern "C" {
#endif

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	SEE(BLOCK, NULL, 0);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
	(void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* ---- plain ---- */

#define PLAIN(size)                                 \
	void __tsan_read##size(void *p);            \
	void __tsan_read##size(void *p)             \
	{                                           \
		SEE(LOAD, p, size);                 \
	}                                           \
	void __tsan_write##size(void *p);           \
	void __tsan_write##size(void *p)            \
	{                                           \
		SEE(STORE, p, size);                \
	}                                           \
	void __tsan_unaligned_read##size(void *p);  \
	void __tsan_unaligned_read##size(void *p)   \
	{                                           \
		SEE(LOAD, p, size);                 \
	}                                           \
	void __tsan_unaligned_write##size(void *p); \
	void __tsan_unaligned_write##size(void *p)  \
	{                                           \
		SEE(STORE, p, size);                \
	}

PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

void __tsan_read_range(void *p, size_t bytes);
void __tsan_read_range(void *p, size_t bytes)
{
	SEE(LOAD, p, bytes);
}

void __tsan_write_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes)
{
	SEE(STORE, p, bytes);
}

/* ---- functions that clang 15 and later calls in place of the C library's ---- */

void *__tsan_memset(void *to, int byte, size_t bytes);
void *__tsan_memset(void *to, int byte, size_t bytes)
{
	SEE(STORE, to, bytes);
	return memset(to, byte, bytes);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
	SEE(LOAD, from, bytes);
	SEE(STORE, to, bytes);
	return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes)
{
	SEE(LOAD, from, bytes);
	SEE(STORE, to, bytes);
	return memmove(to, from, bytes);
}

/* ---- atomic: all are sequentially consistent, whatever order was asked for ---- */

#define CHANGE(bits, type, name)                                                    \
	type __tsan_atomic##bits##_##name(volatile type *p, type value, int order); \
	type __tsan_atomic##bits##_##name(volatile type *p, type value, int order)  \
	{                                                                           \
		(void)order;                                                        \
		SEE(UPDATE, p, sizeof *p);                                          \
		return __atomic_##name(p, value, __ATOMIC_SEQ_CST);                 \
	}

#define SWAP(bits, type, name)                                                                              \
	int __tsan_atomic##bits##_##name(volatile type *p, type *expected, type value, int order,           \
	                                 int failed);                                                       \
	int __tsan_atomic##bits##_##name(volatile type *p, type *expected, type value, int order,           \
	                                 int failed)                                                        \
	{                                                                                                   \
		const int done =                                                                            \
		    __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
                                                                                                            \
		(void)order;                                                                                \
		(void)failed;                                                                               \
		if (done)                                                                                   \
			SEE(UPDATE, p, sizeof *p);                                                          \
		else                                                                                        \
			SEE(LOAD, p, sizeof *p);                                                            \
		return done;                                                                                \
	}

/* Compare and swap in clang's form. */
#define SWAP_FOUND(bits, type)                                                                               \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value,         \
	                                                int order, int failed);                              \
	type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value,         \
	                                                int order, int failed)                               \
	{                                                                                                    \
		const int done =                                                                             \
		    __atomic_compare_exchange_n(p, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
                                                                                                             \
		(void)order;                                                                                 \
		(void)failed;                                                                                \
		if (done)                                                                                    \
			SEE(UPDATE, p, sizeof *p);                                                           \
		else                                                                                         \
			SEE(LOAD, p, sizeof *p);                                                             \
		return expected;                                                                             \
	}

#define ATOMIC(bits, type)                                                         \
	type __tsan_atomic##bits##_load(const volatile type *p, int order);        \
	type __tsan_atomic##bits##_load(const volatile type *p, int order)         \
	{                                                                          \
		(void)order;                                                       \
		SEE(LOAD, p, sizeof *p);                                           \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST);                       \
	}                                                                          \
	void __tsan_atomic##bits##_store(volatile type *p, type value, int order); \
	void __tsan_atomic##bits##_store(volatile type *p, type value, int order)  \
	{                                                                          \
		(void)order;                                                       \
		SEE(STORE, p, sizeof *p);                                          \
		__atomic_store_n(p, value, __ATOMIC_SEQ_CST);                      \
	}                                                                          \
	CHANGE(bits, type, fetch_add)                                              \
	CHANGE(bits, type, fetch_or)                                               \
	CHANGE(bits, type, fetch_and)                                              \
	CHANGE(bits, type, fetch_xor)                                              \
	SWAP(bits, type, compare_exchange_strong)                                  \
	SWAP(bits, type, compare_exchange_weak)                                    \
	SWAP_FOUND(bits, type)

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/*
 * ---- functions that make no access visible to the compiler; gn_observed renames their calls to these ----
 */

void simt__observed_block_sync(void);
void simt__observed_block_sync(void)
{
	SEE(BARRIER, NULL, 0);
	simt__block_sync();
}

void simt__observed_copy(void *to, const void *from, size_t bytes);
void simt__observed_copy(void *to, const void *from, size_t bytes)
{
	SEE(LOAD, from, bytes);
	SEE(STORE, to, bytes);
	simt__copy(to, from, bytes);
}

/* As on cuda, the lanes move pieces of 16 bytes in turn. */
void simt__observed_warp_copy(uint32_t mask, void *to, const void *from, size_t bytes);
void simt__observed_warp_copy(uint32_t mask, void *to, const void *from, size_t bytes)
{
	const size_t step = 16 * (size_t)simt_popcount(mask), first = 16 * (size_t)simt_rank(mask);

	for (size_t at = first; at < bytes; at += step) {
		SEE(LOAD, (const char *)from + at, 16);
		SEE(STORE, (char *)to + at, 16);
	}
	simt__warp_copy(mask, to, from, bytes);
}

#ifdef __cplusplus
}
#endif
