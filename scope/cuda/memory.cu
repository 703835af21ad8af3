/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "scope/pattern.h"

namespace {

enum { KEPT = 16, PAGE = 4096, HUGE_PAGE = 1 << 21, BIND = 2 /* MPOL_BIND */ };
const uint64_t MOST_KEPT = 320u << 20;

/* Memory that nobody uses at the moment. A cell that was given up may still have a thread. */
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct scope_memory kept[KEPT];
uint32_t kept_count, oldest;

uint64_t whole(uint64_t bytes, uint64_t page)
{
	return (bytes + page - 1) / page * page;
}

bool registered(enum scope_kind kind)
{
	return kind == SCOPE_SMALL || kind == SCOPE_LARGE || kind == SCOPE_HUGE;
}

/* ---- placing ---- */

int bind(char *at, uint64_t bytes, int32_t node, struct gn_error *e)
{
	unsigned long mask[SCOPE_MOST_NODES * 16 / 64] = {0};

	if (node == SCOPE_ANYWHERE)
		return 0;
	if ((size_t)node >= sizeof mask * 8)
		return gn_error_set(e, -GN_EINVAL, "node %d: the number is too large; the largest is %zu",
		                    node, sizeof mask * 8 - 1);
	mask[node / 64] = 1ul << node % 64;
	/*
	 * Not allowed in some containers; then the first touch decides, by threads that are there. It is
	 * looked at anyway.
	 */
	if (!syscall(SYS_mbind, at, bytes, BIND, mask, sizeof mask * 8, 0) || errno == EPERM)
		return 0;
	return gn_error_set(e, -GN_EIO, "memory cannot be bound to node %d: %s", node, strerror(errno));
}

/* Where do its pages lie? A few of them, over the whole. */
int placed(char *at, uint64_t bytes, int32_t node, struct gn_error *e)
{
	enum { PAGES = 64 };
	void *page[PAGES];
	int where[PAGES];
	const uint64_t pages = bytes / PAGE, count = pages < PAGES ? pages : (uint64_t)PAGES;

	if (node == SCOPE_ANYWHERE)
		return 0;
	for (uint64_t k = 0; k < count; k++)
		page[k] = at + k * (pages / count) * PAGE;
	if (syscall(SYS_move_pages, 0, count, page, NULL, where, 0))
		return gn_error_set(e, -GN_EIO, "the system does not say on which node memory is: %s",
		                    strerror(errno));
	for (uint64_t k = 0; k < count; k++)
		if (where[k] != node)
			return gn_error_set(e, -GN_EIO, "memory that was bound to node %d is on node %d",
			                    node, where[k]);
	return 0;
}

/* Of the mapping that begins at `at`: kB of a line of /proc/self/smaps. */
uint64_t smaps(const char *at, const char *key)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];
	uint64_t value = 0;
	bool inside = false;

	while (f && fgets(line, sizeof line, f)) {
		unsigned long long low, high;

		if (sscanf(line, "%llx-%llx ", &low, &high) == 2)
			inside = low <= (uintptr_t)at && (uintptr_t)at < high;
		else if (inside && !strncmp(line, key, strlen(key)))
			value = strtoull(line + strlen(key), NULL, 10);
	}
	if (f)
		fclose(f);
	return value;
}

/* What of a mapping stands before and behind a huge page's bound is given back. */
char *align(char *p, uint64_t bytes)
{
	char *const at = (char *)whole((uintptr_t)p, HUGE_PAGE);
	const uint64_t head = (uint64_t)(at - p);

	if (head)
		munmap(p, head);
	if (head < HUGE_PAGE)
		munmap(at + bytes, HUGE_PAGE - head);
	return at;
}

int map(enum scope_kind kind, uint64_t bytes, char **at, struct gn_error *e)
{
	const int flags =
	    MAP_PRIVATE | MAP_ANONYMOUS | (kind == SCOPE_HUGE ? MAP_HUGETLB | 21 << MAP_HUGE_SHIFT : 0);
	char *p = (char *)mmap(NULL, bytes + (kind == SCOPE_LARGE ? (uint64_t)HUGE_PAGE : 0),
	                       PROT_READ | PROT_WRITE, flags, -1, 0);

	if (p == MAP_FAILED)
		return gn_error_set(e, errno == ENOMEM ? -GN_ENOMEM : -GN_EIO,
		                    "%llu bytes%s cannot be mapped: %s", (unsigned long long)bytes,
		                    kind == SCOPE_HUGE ? " of huge pages" : "", strerror(errno));
	if (kind == SCOPE_LARGE)
		p = align(p, bytes);
	if (kind == SCOPE_SMALL)
		(void)madvise(p, bytes, MADV_NOHUGEPAGE);
	if (kind == SCOPE_LARGE)
		(void)madvise(p, bytes, MADV_HUGEPAGE);
	*at = p;
	return 0;
}

/* A system may have been told not to use huge pages. */
int page_size(enum scope_kind kind, const char *at, uint64_t bytes, struct gn_error *e)
{
	const uint64_t kb = kind == SCOPE_LARGE ? smaps(at, "AnonHugePages:") : 0;

	if (kind != SCOPE_LARGE || kb * 1024 >= bytes / 2)
		return 0;
	return gn_error_set(
	    e, -GN_ENOTSUP,
	    "only %llu of %llu KiB are in transparent huge pages; see /sys/kernel/mm/transparent_hugepage",
	    (unsigned long long)kb, (unsigned long long)(bytes / 1024));
}

/* ---- getting and giving back ---- */

int get_host(struct scope_memory *x, struct gn_error *e)
{
	const bool mapped = registered(x->kind) || x->node != SCOPE_ANYWHERE || x->kind == SCOPE_PAGEABLE;
	const unsigned flags = cudaHostAllocPortable | cudaHostAllocMapped |
	                       (x->kind == SCOPE_COMBINED ? cudaHostAllocWriteCombined : 0);
	int rc;

	if (!mapped)
		return scope_cuda_check(cudaHostAlloc((void **)&x->at, x->bytes, flags), "pinned memory", e);
	if ((rc = scope_map(x->kind, x->node, x->bytes, &x->at, e)) || x->kind == SCOPE_PAGEABLE)
		return rc;
	rc = scope_cuda_check(
	    cudaHostRegister(x->at, x->bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
	    "cudaHostRegister", e);
	if (rc) {
		scope_unmap(x->at, x->bytes);
		x->at = NULL;
	}
	return rc;
}

int get(struct scope_memory *x, struct gn_error *e)
{
	int rc;

	if ((rc = scope_cuda_check(cudaSetDevice((int)x->gpu), "GPU", e)))
		return rc;
	if (x->kind != SCOPE_DEVICE)
		return get_host(x, e);
	return scope_cuda_check(cudaMalloc((void **)&x->at, x->bytes), "device memory", e);
}

void put(const struct scope_memory *x)
{
	(void)cudaSetDevice((int)x->gpu);
	if (x->kind == SCOPE_DEVICE)
		(void)cudaFree(x->at);
	else if (x->kind == SCOPE_COMBINED || (x->kind == SCOPE_PINNED && x->node == SCOPE_ANYWHERE))
		(void)cudaFreeHost(x->at);
	else {
		if (x->kind != SCOPE_PAGEABLE)
			(void)cudaHostUnregister(x->at);
		scope_unmap(x->at, x->bytes);
	}
	(void)cudaGetLastError();
}

bool fits(const struct scope_memory *k, const struct scope_memory *want)
{
	return k->kind == want->kind && k->gpu == want->gpu && k->node == want->node &&
	       k->bytes >= want->bytes && k->bytes / 4 <= want->bytes;
}

bool take_kept(struct scope_memory *x)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (uint32_t k = 0; k < kept_count && !found; k++) {
		if (!fits(&kept[k], x))
			continue;
		*x = kept[k];
		kept[k] = kept[--kept_count];
		found = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

/* What must go to make room for x: the one that is next in turn. */
struct scope_memory keep(const struct scope_memory *x)
{
	struct scope_memory out = {};

	pthread_mutex_lock(&lock);
	if (kept_count == KEPT) {
		oldest = (oldest + 1) % KEPT;
		out = kept[oldest];
		kept[oldest] = *x;
	} else {
		kept[kept_count++] = *x;
	}
	pthread_mutex_unlock(&lock);
	return out;
}

bool drop_kept(void)
{
	struct scope_memory out = {};

	pthread_mutex_lock(&lock);
	if (kept_count)
		out = kept[--kept_count];
	pthread_mutex_unlock(&lock);
	if (out.at)
		put(&out);
	return out.at != NULL;
}

} // namespace

const char *scope_kind_missing(const struct scope_machine *m, enum scope_kind kind)
{
	char line[80] = "";

	if (kind == SCOPE_HUGE)
		return m->huge_page_bytes < (uint64_t)HUGE_PAGE
		           ? "no explicit huge page is free (/proc/sys/vm/nr_hugepages)"
		           : NULL;
	if (kind != SCOPE_LARGE)
		return NULL;
	FILE *const f = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");

	if (f && !fgets(line, sizeof line, f))
		line[0] = '\0';
	if (f)
		fclose(f);
	return !f || strstr(line, "[never]") ? "this system has no transparent huge pages" : NULL;
}

int scope_map(enum scope_kind kind, int32_t node, uint64_t bytes, char **at, struct gn_error *e)
{
	int rc;

	*at = NULL;
	if ((rc = map(kind, bytes, at, e)))
		return rc;
	if (!(rc = bind(*at, bytes, node, e))) {
		scope_host_poison(*at, bytes);
		if (!(rc = placed(*at, bytes, node, e)))
			rc = page_size(kind, *at, bytes, e);
	}
	if (rc)
		scope_unmap(*at, bytes);
	if (rc)
		*at = NULL;
	return rc;
}

void scope_unmap(char *at, uint64_t bytes)
{
	if (at)
		munmap(at, bytes);
}

int scope_memory_open(struct scope_memory *x, enum scope_kind kind, uint32_t gpu, int32_t node,
                      uint64_t bytes, struct gn_error *e)
{
	const bool large = kind == SCOPE_LARGE || kind == SCOPE_HUGE;
	int rc;

	*x = scope_memory{kind, gpu, node, NULL, whole(bytes, large ? HUGE_PAGE : PAGE)};
	if (take_kept(x))
		return 0;
	while ((rc = get(x, e)) == -GN_ENOMEM && drop_kept())
		;
	return rc;
}

void scope_memory_close(struct scope_memory *x)
{
	const struct scope_memory out = x->at && x->bytes <= MOST_KEPT ? keep(x) : *x;

	if (out.at)
		put(&out);
	*x = scope_memory{};
}

int scope_memory_fill(const struct scope_memory *x, uint64_t at, uint64_t bytes, uint64_t seed,
                      struct gn_error *e)
{
	if (x->kind != SCOPE_PAGEABLE)
		return scope_gpu_fill(x->gpu, x->at + at, bytes, seed + at / 8, e);
	scope_host_fill(x->at + at, bytes, seed + at / 8);
	return 0;
}

int scope_memory_poison(const struct scope_memory *x, uint64_t at, uint64_t bytes, struct gn_error *e)
{
	if (x->kind != SCOPE_PAGEABLE)
		return scope_gpu_poison(x->gpu, x->at + at, bytes, at / 8, e);
	scope_host_poison(x->at + at, bytes);
	return 0;
}

int scope_memory_check(const struct scope_memory *x, uint64_t at, uint64_t bytes, uint64_t seed,
                       struct gn_error *e)
{
	int rc = 0;

	if (x->kind != SCOPE_PAGEABLE)
		rc = scope_gpu_check(x->gpu, x->at + at, bytes, seed + at / 8, e);
	/* Reads of write-combined memory by the host take 100 times as long; the GPU's have to do. */
	if (rc || x->kind == SCOPE_DEVICE || x->kind == SCOPE_COMBINED)
		return rc;
	return scope_host_check(x->at + at, bytes, seed + at / 8, e);
}

/* ---- processors of a node ---- */

int scope_node_enter(struct scope_node_visit *v, int32_t node, struct gn_error *e)
{
	char path[80], list[1024] = "";
	cpu_set_t set;
	int low, high, used;
	FILE *f;

	v->moved = false;
	if (node == SCOPE_ANYWHERE)
		return 0;
	snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
	f = fopen(path, "r");
	if (!f || !fgets(list, sizeof list, f))
		list[0] = '\0';
	if (f)
		fclose(f);
	CPU_ZERO(&set);
	for (const char *p = list; sscanf(p, "%d%n", &low, &used) == 1; p += *p == ',') {
		p += used;
		high = low;
		if (*p == '-' && sscanf(p, "-%d%n", &high, &used) == 1)
			p += used;
		for (; low <= high && low < CPU_SETSIZE; low++)
			CPU_SET(low, &set);
	}
	/* A node without processors (memory only) is reached from anywhere. */
	if (!CPU_COUNT(&set))
		return 0;
	if (sched_getaffinity(0, sizeof v->before, &v->before) || sched_setaffinity(0, sizeof set, &set))
		return gn_error_set(e, -GN_EIO, "the thread cannot be moved to the processors of node %d: %s",
		                    node, strerror(errno));
	v->moved = true;
	return 0;
}

void scope_node_leave(struct scope_node_visit *v)
{
	if (v->moved)
		(void)sched_setaffinity(0, sizeof v->before, &v->before);
	v->moved = false;
}
