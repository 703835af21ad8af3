/* SPDX-License-Identifier: Apache-2.0 */
/* memory_cpu.c - memory of the cpu machine: mappings of its own, with huge pages where that pays. */
#include <simt/engine.h>
#include <simt/machine_cpu.h>

#include <sys/mman.h>

enum { PAGE = 4096, HUGE = 2 << 20 };

/* Lies in the page before the memory. */
struct mapping {
	void *base;
	size_t bytes;
};

void *simt__cpu_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where)
{
	size_t align = bytes >= HUGE ? HUGE : PAGE;
	size_t total = bytes + align + PAGE;
	struct mapping *mapping;
	char *base, *memory;

	(void)machine;
	(void)where;
	if (total < bytes)
		return NULL;
	base = (char *)mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (base == (char *)MAP_FAILED)
		return NULL;
	memory = (char *)(((uintptr_t)base + PAGE + align - 1) / align * align);
	if (align == HUGE)
		madvise(memory, bytes, MADV_HUGEPAGE);
	mapping = (struct mapping *)(void *)(memory - PAGE);
	mapping->base = base;
	mapping->bytes = total;
	return memory;
}

void simt__cpu_free(struct simt_machine *machine, void *memory)
{
	const struct mapping *mapping = (const struct mapping *)(const void *)((char *)memory - PAGE);

	(void)machine;
	munmap(mapping->base, mapping->bytes);
}
