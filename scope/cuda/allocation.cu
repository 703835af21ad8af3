/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocation.cu - what getting memory costs, and giving it back (the second variable), by size and by page
 * size.
 */
#include "scope/cuda/rows.h"
#include "scope/sampling.h"

namespace {

enum { PAGE = 4096, LARGE = 1 << 21, MOST_AT_ONCE = 64, QUICK = 16 << 20 };

enum owner {
	BY_MALLOC,         /* cudaMalloc */
	BY_POOL,           /* cudaMallocAsync from a pool that keeps what comes back */
	BY_RETURNING_POOL, /* the same of one that gives it back when the stream is synchronised */
	BY_HOST_ALLOC,     /* cudaHostAlloc */
	BY_MANAGED,        /* cudaMallocManaged */
	BY_REGISTER,       /* cudaHostRegister of memory that is there */
};

struct allocation_row {
	struct scope_row row; /* first */
	enum owner owner;
	enum scope_kind pages; /* of registered memory */
};

struct allocation {
	const struct allocation_row *row;
	uint32_t gpu;
	uint64_t bytes;
	cudaStream_t stream;
	cudaMemPool_t pool;
	struct scope_mapping mapped; /* host memory to register */
};

bool pooled(const struct allocation *a)
{
	return a->row->owner == BY_POOL || a->row->owner == BY_RETURNING_POOL;
}

cudaError_t get(const struct allocation *a, void **at)
{
	switch (a->row->owner) {
	case BY_MALLOC: return cudaMalloc(at, a->bytes);
	case BY_HOST_ALLOC: return cudaHostAlloc(at, a->bytes, cudaHostAllocPortable | cudaHostAllocMapped);
	case BY_MANAGED: return cudaMallocManaged(at, a->bytes);
	case BY_REGISTER:
		*at = a->mapped.at;
		return cudaHostRegister(a->mapped.at, a->bytes,
		                        cudaHostRegisterPortable | cudaHostRegisterMapped);
	default: return cudaMallocFromPoolAsync(at, a->bytes, a->pool, a->stream);
	}
}

cudaError_t put(const struct allocation *a, void *at)
{
	switch (a->row->owner) {
	case BY_HOST_ALLOC: return cudaFreeHost(at);
	case BY_REGISTER: return cudaHostUnregister(at);
	case BY_MALLOC:
	case BY_MANAGED: return cudaFree(at);
	default: return cudaFreeAsync(at, a->stream);
	}
}

/* Two clock readings an operation are 50 ns of microseconds. */
int once(const struct allocation *a, double *get_seconds, double *put_seconds, struct gn_error *e)
{
	void *at = NULL;
	const double begin = scope_clock();
	cudaError_t c = get(a, &at);
	const double middle = scope_clock();

	if (c != cudaSuccess)
		return scope_cuda_check(c, a->row->row.name, e);
	c = put(a, at);
	*get_seconds += middle - begin;
	*put_seconds += scope_clock() - middle;
	return scope_cuda_check(c, a->row->row.name, e);
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	const struct allocation *a = (const struct allocation *)state;
	int rc = scope_cuda_check(cudaSetDevice((int)a->gpu), "GPU", e);

	operations = operations < MOST_AT_ONCE ? operations : (uint64_t)MOST_AT_ONCE;
	s->seconds = s->second = 0;
	for (uint64_t k = 0; k < operations && !rc; k++)
		rc = once(a, &s->seconds, &s->second, e);
	s->second /= (double)operations;
	s->operations = operations;
	return rc || !pooled(a) ? rc : scope_cuda_check(cudaStreamSynchronize(a->stream), "pool", e);
}

/* Is it memory? Filled and read by the GPU, and by the host where it is the host's. */
int verify(void *state, struct gn_error *e)
{
	const struct allocation *a = (const struct allocation *)state;
	const bool host = a->row->owner == BY_HOST_ALLOC || a->row->owner == BY_REGISTER;
	void *at = NULL;
	int rc = scope_cuda_check(cudaSetDevice((int)a->gpu), "GPU", e);

	rc = rc ? rc : scope_cuda_check(get(a, &at), a->row->row.name, e);
	if (rc)
		return rc;
	rc = pooled(a) ? scope_cuda_check(cudaStreamSynchronize(a->stream), "pool", e) : 0;
	rc = rc ? rc : scope_gpu_fill(a->gpu, at, a->bytes, a->bytes, e);
	rc = rc ? rc : scope_gpu_check(a->gpu, at, a->bytes, a->bytes, e);
	rc = rc || !host ? rc : scope_host_check(at, a->bytes, a->bytes, e);
	const int last = scope_cuda_check(put(a, at), a->row->row.name, rc ? NULL : e);

	return rc ? rc : last;
}

void close_allocation(void *state)
{
	struct allocation *a = (struct allocation *)state;

	(void)cudaSetDevice((int)a->gpu);
	if (a->stream)
		(void)cudaStreamDestroy(a->stream);
	if (a->pool)
		(void)cudaMemPoolDestroy(a->pool);
	scope_mapping_release(&a->mapped);
	(void)cudaGetLastError();
}

int open_pool(struct allocation *a, struct gn_error *e)
{
	struct cudaMemPoolProps p = {};
	uint64_t keep = a->row->owner == BY_POOL ? UINT64_MAX : 0;
	int rc;

	p.allocType = cudaMemAllocationTypePinned;
	p.location.type = cudaMemLocationTypeDevice;
	p.location.id = (int)a->gpu;
	rc = scope_cuda_check(cudaStreamCreateWithFlags(&a->stream, cudaStreamNonBlocking), "stream", e);
	rc = rc ? rc : scope_cuda_check(cudaMemPoolCreate(&a->pool, &p), "pool", e);
	return rc ? rc
	          : scope_cuda_check(cudaMemPoolSetAttribute(a->pool, cudaMemPoolAttrReleaseThreshold, &keep),
	                             "pool", e);
}

int open_allocation(const struct scope_cell *c, const struct scope_machine *m, void *state,
                    struct gn_error *e)
{
	struct allocation *a = (struct allocation *)state;
	int rc;

	(void)m;
	a->row = (const struct allocation_row *)c->row;
	a->gpu = (uint32_t)scope_cell_arg(c, "gpu", 0);
	a->bytes = scope_cell_arg(c, "bytes", 0);
	rc = scope_cuda_use(a->gpu, e);
	rc = rc || !pooled(a) ? rc : open_pool(a, e);
	if (!rc && a->row->owner == BY_REGISTER)
		rc = scope_map(&a->mapped, a->row->pages, SCOPE_ANYWHERE, a->bytes, e);
	return rc;
}

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct allocation_row *r = (const struct allocation_row *)row;
	const bool large = r->owner == BY_REGISTER && r->pages != SCOPE_SMALL;
	const struct scope_arg args[] = {{"gpu", 0}, {NULL, 0}};
	uint64_t most = scope_most_bytes(m, 1, 1, m->effort == SCOPE_QUICK ? (uint64_t)QUICK : 4ull << 30);

	const char *missing;

	if (!m->gpus)
		return scope_plan_skip(p, NULL, "%s", m->no_gpu);
	if (r->owner == BY_MANAGED && !m->gpu[0].managed)
		return scope_plan_skip(p, NULL, "GPU 0 has no concurrent access to managed memory");
	if ((missing = scope_kind_missing(m, r->pages)))
		return scope_plan_skip(p, NULL, "%s", missing);
	if (r->pages == SCOPE_HUGE && m->huge_page_bytes < most)
		most = m->huge_page_bytes;
	return scope_plan_sizes(p, large ? (uint64_t)LARGE : (uint64_t)PAGE, most, args);
}

const struct scope_functions functions = {sizeof(struct allocation), plan, open_allocation, sample, verify,
                                          close_allocation};

constexpr struct allocation_row make(const char *name, const char *summary, enum owner owner,
                                     enum scope_kind pages = SCOPE_PAGEABLE)
{
	return allocation_row{{name, summary, NULL, "none", NULL, "give_back_seconds", SCOPE_LATENCY,
	                       SCOPE_HOST_CLOCK, &functions},
	                      owner,
	                      pages};
}

const struct allocation_row rows[] = {
    make("allocate/device", "cudaMalloc; second: cudaFree", BY_MALLOC),
    make("allocate/stream-ordered",
         "the call of cudaMallocAsync, from a pool that keeps; second: of cudaFreeAsync", BY_POOL),
    make("allocate/stream-ordered-returned",
         "the same from a pool that gives memory back at a synchronisation", BY_RETURNING_POOL),
    make("allocate/pinned", "cudaHostAlloc; second: cudaFreeHost", BY_HOST_ALLOC),
    make("allocate/managed", "cudaMallocManaged, untouched; second: cudaFree", BY_MANAGED),
    make("register/small-pages", "cudaHostRegister of touched 4 KiB pages; second: cudaHostUnregister",
         BY_REGISTER, SCOPE_SMALL),
    make("register/large-pages",
         "cudaHostRegister of touched transparent huge pages; second: cudaHostUnregister", BY_REGISTER,
         SCOPE_LARGE),
    make("register/huge-pages",
         "cudaHostRegister of touched explicit 2 MiB pages; second: cudaHostUnregister", BY_REGISTER,
         SCOPE_HUGE),
};

} // namespace

const struct scope_row_table scope_allocations = {rows, sizeof *rows, sizeof rows / sizeof *rows};
