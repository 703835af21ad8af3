/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scope/host/parts.h"
#include "scope/system.h"

enum { HUGE_PAGE = 2 << 20, BIND = 2 /* MPOL_BIND */ };

static uint64_t up(uint64_t bytes, uint64_t to)
{
	return (bytes + to - 1) / to * to;
}

/* ---- where it lies ---- */

static int bind(struct scope_mapping *memory, uint32_t node, struct gn_error *e)
{
	unsigned long mask[16] = {0};
	const unsigned bits = 8 * sizeof *mask;

	if (node == SCOPE_ANY_NODE)
		return 0;
	if (node >= 16 * bits)
		return gn_error_set(e, -GN_ENOTSUP, "node %u: the number is too large", node);
	mask[node / bits] = 1ul << node % bits;
	/*
	 * Not allowed in some containers; then the first touch decides, by threads that are there. It is
	 * looked at anyway.
	 */
	if (!syscall(SYS_mbind, memory->mapping, memory->mapped, BIND, mask, 16 * bits + 1, 0) ||
	    errno == EPERM)
		return 0;
	return gn_error_set(e, -GN_ENOTSUP, "memory cannot be bound to node %u: %s", node, strerror(errno));
}

/* Of some pages all over it. */
static int check_node(const struct scope_mapping *memory, uint32_t node, struct gn_error *e)
{
	enum { PAGES = 64 };
	void *page[PAGES];
	int where[PAGES];

	if (node == SCOPE_ANY_NODE)
		return 0;
	for (uint64_t k = 0; k < PAGES; k++)
		page[k] = (char *)memory->at + memory->bytes / PAGES * k / 4096 * 4096;
	if (syscall(SYS_move_pages, 0, (unsigned long)PAGES, page, NULL, where, 0))
		return gn_error_set(e, -GN_ENOTSUP, "the system does not say on which node memory is: %s",
		                    strerror(errno));
	for (unsigned k = 0; k < PAGES; k++)
		if (where[k] != (int)node)
			return gn_error_set(e, -GN_ENOTSUP, "memory that was bound to node %u is on node %d",
			                    node, where[k]);
	return 0;
}

/* ---- which pages it has ---- */

const char *scope_pages_missing(const struct scope_machine *m, enum scope_pages pages)
{
	char setting[64];

	if (pages == SCOPE_PAGES_HUGE && !m->huge_page_bytes)
		return "no huge pages are free; the administrator reserves them with vm.nr_hugepages";
	if (pages != SCOPE_PAGES_TRANSPARENT)
		return NULL;
	scope_system_selected(setting, sizeof setting, "/sys/kernel/mm/transparent_hugepage/enabled");
	return !setting[0]         ? "transparent huge pages are not in this kernel"
	       : setting[0] == 'n' ? "transparent huge pages are switched off"
	                           : NULL;
}

static int map(struct scope_mapping *memory, enum scope_pages pages, struct gn_error *e)
{
	const bool huge = pages == SCOPE_PAGES_HUGE;
	const uint64_t mapped =
	    up(memory->bytes, huge ? HUGE_PAGE : 4096) + (pages == SCOPE_PAGES_TRANSPARENT ? HUGE_PAGE : 0);
	void *at = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB | 21 << MAP_HUGE_SHIFT : 0), -1, 0);

	if (at == MAP_FAILED)
		return gn_error_set(e, huge ? -GN_ENOTSUP : -GN_ENOMEM, "%" PRIu64 " bytes of %smemory: %s",
		                    mapped, huge ? "huge-page " : "", strerror(errno));
	memory->mapping = at;
	memory->mapped = mapped;
	memory->at =
	    (void *)(uintptr_t)up((uintptr_t)at, pages == SCOPE_PAGES_TRANSPARENT ? HUGE_PAGE : 4096);
	if (pages == SCOPE_PAGES_SMALL || pages == SCOPE_PAGES_TRANSPARENT)
		madvise(at, mapped, pages == SCOPE_PAGES_TRANSPARENT ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return 0;
}

/* Bytes of transparent huge pages in the mapping that begins at or before, and ends behind, this address. */
static uint64_t transparent_bytes(const void *at)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	uint64_t begin, end, kilobytes = 0;
	bool inside = false;
	char line[256];

	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &begin, &end) == 2)
			inside = begin <= (uintptr_t)at && (uintptr_t)at < end;
		else if (inside && sscanf(line, "AnonHugePages: %" SCNu64, &kilobytes) == 1)
			break;
	}
	if (f)
		fclose(f);
	return kilobytes << 10;
}

static int check_pages(const struct scope_mapping *memory, enum scope_pages pages, struct gn_error *e)
{
	const uint64_t wanted = memory->bytes / HUGE_PAGE * HUGE_PAGE;

	if (pages != SCOPE_PAGES_TRANSPARENT || transparent_bytes(memory->at) >= wanted)
		return 0;
	return gn_error_set(e, -GN_ENOTSUP,
	                    "the system gave %" PRIu64 " of %" PRIu64 " bytes as transparent huge pages",
	                    transparent_bytes(memory->at), wanted);
}

int scope_mapping_take(struct scope_mapping *memory, uint64_t bytes, enum scope_pages pages, uint32_t node,
                       struct gn_error *e)
{
	int rc;

	memset(memory, 0, sizeof *memory);
	memory->bytes = bytes;
	rc = map(memory, pages, e);
	if (!rc)
		rc = bind(memory, node, e);
	if (!rc) {
		scope_host_poison(memory->at, bytes);
		rc = check_node(memory, node, e);
	}
	if (!rc)
		rc = check_pages(memory, pages, e);
	if (rc)
		scope_mapping_release(memory);
	return rc;
}

void scope_mapping_release(struct scope_mapping *memory)
{
	if (memory->mapping)
		munmap(memory->mapping, memory->mapped);
	memset(memory, 0, sizeof *memory);
}
