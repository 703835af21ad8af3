/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.c - the symmetric heap: every PE makes the same calls, and a call that allocates ends with a
 * barrier.
 */
#include <shmem/pe.h>

#include <string.h>

SHMEM__NAMES_MEMORY

void *shmem_align(size_t alignment, size_t size)
{
	void *memory = size ? gn_net_alloc_aligned(gn_shmem.net, alignment, size, NULL) : NULL;

	if (size)
		pshmem_barrier_all();
	return memory;
}

void *shmem_malloc(size_t size)
{
	return pshmem_align(1, size);
}

void *shmem_malloc_with_hints(size_t size, long hints)
{
	(void)hints;
	return pshmem_malloc(size);
}

void *shmem_calloc(size_t count, size_t size)
{
	return size && count > SIZE_MAX / size
	           ? NULL
	           : pshmem_malloc(count * size); /* the memory is always zeroed */
}

void shmem_free(void *ptr)
{
	if (!ptr)
		return;
	pshmem_barrier_all(); /* no PE uses the memory any more */
	gn_net_free(gn_shmem.net, ptr);
}

void *shmem_realloc(void *ptr, size_t size)
{
	const uint64_t before = ptr ? gn_net_bytes(gn_shmem.net, ptr) : 0;
	void *memory;

	if (!size || !before) {
		pshmem_free(ptr);
		return pshmem_malloc(size);
	}
	if (size <= before && size > before / 2) {
		pshmem_barrier_all();
		return ptr;
	}
	pshmem_barrier_all(); /* all that other PEs sent to the old place has come */
	memory = gn_net_alloc(gn_shmem.net, size, NULL);
	if (memory) {
		memcpy(memory, ptr, size < before ? size : before);
		gn_net_free(gn_shmem.net, ptr);
	}
	pshmem_barrier_all();
	return memory;
}

/* ---- older names ---- */

void *shmalloc(size_t size)
{
	return pshmem_malloc(size);
}

void *shmemalign(size_t alignment, size_t size)
{
	return pshmem_align(alignment, size);
}

void *shrealloc(void *ptr, size_t size)
{
	return pshmem_realloc(ptr, size);
}

void shfree(void *ptr)
{
	pshmem_free(ptr);
}
