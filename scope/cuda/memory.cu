/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/memory.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "scope/host/team.h"

namespace {

enum { KEPT = 16, PAGE = 4096, HUGE_PAGE = 1 << 21 };
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

enum scope_pages pages_of(enum scope_kind kind)
{
	switch (kind) {
	case SCOPE_SMALL: return SCOPE_PAGES_SMALL;
	case SCOPE_LARGE: return SCOPE_PAGES_TRANSPARENT;
	case SCOPE_HUGE: return SCOPE_PAGES_HUGE;
	default: return SCOPE_PAGES_ANY;
	}
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
	if ((rc = scope_map(&x->mapping, x->kind, x->node, x->bytes, e)))
		return rc;
	x->at = (char *)x->mapping.at;
	if (x->kind == SCOPE_PAGEABLE)
		return 0;
	rc = scope_cuda_check(
	    cudaHostRegister(x->at, x->bytes, cudaHostRegisterPortable | cudaHostRegisterMapped),
	    "cudaHostRegister", e);
	if (rc) {
		scope_mapping_release(&x->mapping);
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

void put(struct scope_memory *x)
{
	(void)cudaSetDevice((int)x->gpu);
	if (x->kind == SCOPE_DEVICE)
		(void)cudaFree(x->at);
	else if (x->kind == SCOPE_COMBINED || (x->kind == SCOPE_PINNED && x->node == SCOPE_ANYWHERE))
		(void)cudaFreeHost(x->at);
	else {
		if (x->kind != SCOPE_PAGEABLE)
			(void)cudaHostUnregister(x->at);
		scope_mapping_release(&x->mapping);
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
	return scope_pages_missing(m, pages_of(kind));
}

int scope_map(struct scope_mapping *to, enum scope_kind kind, int32_t node, uint64_t bytes,
              struct gn_error *e)
{
	return scope_mapping_take(to, bytes, pages_of(kind), (uint32_t)node, e);
}

int scope_memory_open(struct scope_memory *x, enum scope_kind kind, uint32_t gpu, int32_t node,
                      uint64_t bytes, struct gn_error *e)
{
	const bool large = kind == SCOPE_LARGE || kind == SCOPE_HUGE;
	int rc;

	*x = scope_memory{kind, gpu, node, NULL, whole(bytes, large ? HUGE_PAGE : PAGE), {}};
	if (take_kept(x))
		return 0;
	while ((rc = get(x, e)) == -GN_ENOMEM && drop_kept())
		;
	return rc;
}

void scope_memory_close(struct scope_memory *x)
{
	/* Reserved huge pages are few, and rows of the host want them too. */
	const bool again = x->at && x->bytes <= MOST_KEPT && x->kind != SCOPE_HUGE;
	struct scope_memory out = again ? keep(x) : *x;

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
	uint32_t cpu[CPU_SETSIZE];
	const uint32_t cpus = node == SCOPE_ANYWHERE ? 0 : scope_cpus((uint32_t)node, cpu, CPU_SETSIZE);
	cpu_set_t set;

	v->moved = false;
	/* A node without processors (memory only) is reached from anywhere. */
	if (!cpus)
		return 0;
	CPU_ZERO(&set);
	for (uint32_t k = 0; k < cpus; k++)
		CPU_SET(cpu[k], &set);
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
