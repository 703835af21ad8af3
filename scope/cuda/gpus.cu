/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/gpus.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope/cuda/link.h"

namespace {

char why[160];

int attribute(cudaDeviceAttr a, uint32_t gpu)
{
	int value = 0;

	if (cudaDeviceGetAttribute(&value, a, (int)gpu) != cudaSuccess)
		(void)cudaGetLastError();
	return value;
}

void address_of(uint32_t gpu, char *text, int room)
{
	text[0] = '\0';
	if (cudaDeviceGetPCIBusId(text, room, (int)gpu) != cudaSuccess)
		(void)cudaGetLastError();
	for (char *p = text; *p; p++)
		*p = (char)tolower(*p);
}

/* A link that has nothing to do is slow to save power: it is looked at while copies run. */
struct scope_pcie link_busy(uint32_t gpu)
{
	enum { BYTES = 32 << 20, COPIES = 64 };
	char address[32];
	char *host = NULL, *device = NULL;
	struct scope_pcie link = {};

	address_of(gpu, address, sizeof address);
	link = scope_pcie_of(address); /* the first time takes longer than the copies do */
	if (cudaMallocHost((void **)&host, BYTES) == cudaSuccess &&
	    cudaMalloc((void **)&device, BYTES) == cudaSuccess) {
		memset(host, 1, BYTES);
		for (int k = 0; k < COPIES; k++)
			(void)cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, 0);
		link = scope_pcie_of(address);
		(void)cudaDeviceSynchronize();
	}
	(void)cudaFree(device);
	(void)cudaFreeHost(host);
	(void)cudaGetLastError();
	return link;
}

void find_peers(struct scope_machine *m, uint32_t gpu)
{
	for (uint32_t k = 0; k < m->gpus; k++) {
		int can = 0;

		if (k != gpu && cudaDeviceCanAccessPeer(&can, (int)gpu, (int)k) != cudaSuccess)
			(void)cudaGetLastError();
		m->gpu[gpu].peer[k] = can;
	}
}

bool find_one(struct scope_gpu *g, uint32_t gpu)
{
	static struct cudaDeviceProp p;
	size_t free_bytes = 0, bytes = 0;
	cudaError_t rc;

	if ((rc = cudaSetDevice((int)gpu)) != cudaSuccess ||
	    (rc = cudaGetDeviceProperties(&p, (int)gpu)) != cudaSuccess ||
	    (rc = cudaMemGetInfo(&free_bytes, &bytes)) != cudaSuccess) {
		(void)cudaGetLastError();
		snprintf(why, sizeof why, "GPU %u cannot be used: %s", gpu, cudaGetErrorString(rc));
		return false;
	}
	const struct scope_pcie link = link_busy(gpu);

	snprintf(g->name, sizeof g->name, "%.63s", p.name);
	g->memory_bytes = bytes;
	g->free_bytes = free_bytes;
	g->l2_bytes = (uint64_t)p.l2CacheSize;
	g->processors = (uint32_t)p.multiProcessorCount;
	g->compute = (uint32_t)(10 * p.major + p.minor);
	g->pcie_generation = link.generation;
	g->pcie_width = link.width;
	g->managed = attribute(cudaDevAttrConcurrentManagedAccess, gpu);
	return true;
}

int ascending(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/*
 * The least step between two times that events told apart; the runtime promises no better than half a
 * microsecond, which is what counts where the step is finer.
 */
double find_event_tick(void)
{
	enum { TRIES = 200 };
	const float promised = 0.0005f;
	float ms[TRIES] = {0}, least = 1;
	cudaEvent_t a, b;

	if (cudaSetDevice(0) != cudaSuccess || cudaEventCreate(&a) != cudaSuccess ||
	    cudaEventCreate(&b) != cudaSuccess)
		return 1e-6;
	for (int k = 0; k < TRIES; k++) {
		(void)cudaEventRecord(a, 0);
		(void)cudaEventRecord(b, 0);
		(void)cudaEventSynchronize(b);
		(void)cudaEventElapsedTime(&ms[k], a, b);
	}
	(void)cudaEventDestroy(a);
	(void)cudaEventDestroy(b);
	qsort(ms, TRIES, sizeof *ms, ascending);
	for (int k = 1; k < TRIES; k++)
		if (ms[k] - ms[k - 1] > 1e-7f && ms[k] - ms[k - 1] < least)
			least = ms[k] - ms[k - 1];
	return (double)(least > promised ? least : promised) * 1e-3;
}

/* ---- the environment ---- */

struct named {
	const char *name;
	cudaDeviceAttr attribute;
};

const struct named attributes[] = {
    {"clock_khz", cudaDevAttrClockRate},
    {"memory_clock_khz", cudaDevAttrMemoryClockRate},
    {"memory_bus_bits", cudaDevAttrGlobalMemoryBusWidth},
    {"ecc", cudaDevAttrEccEnabled},
    {"copy_engines", cudaDevAttrAsyncEngineCount},
    {"compute_mode", cudaDevAttrComputeMode},
    {"can_map_host_memory", cudaDevAttrCanMapHostMemory},
    {"managed_memory", cudaDevAttrManagedMemory},
    {"concurrent_managed_access", cudaDevAttrConcurrentManagedAccess},
    {"pageable_memory_access", cudaDevAttrPageableMemoryAccess},
    {"pageable_memory_access_by_host_page_tables", cudaDevAttrPageableMemoryAccessUsesHostPageTables},
    {"direct_managed_access_from_host", cudaDevAttrDirectManagedMemAccessFromHost},
    {"host_native_atomics", cudaDevAttrHostNativeAtomicSupported},
    {"host_register", cudaDevAttrHostRegisterSupported},
    {"memory_pools", cudaDevAttrMemoryPoolsSupported},
    {"gpudirect_rdma", cudaDevAttrGPUDirectRDMASupported},
    {"host_numa_id", cudaDevAttrHostNumaId},
};

json_t *gpu_environment(uint32_t gpu)
{
	char address[32];
	json_t *const all = json_object();

	address_of(gpu, address, sizeof address);
	const struct scope_pcie link = scope_pcie_of(address);

	json_object_set_new(all, "address", json_string(address));
	for (const struct named &n : attributes)
		json_object_set_new(all, n.name, json_integer(attribute(n.attribute, gpu)));
	json_object_set_new(all, "link",
	                    json_pack("{s:i, s:i, s:i, s:i, s:s?}", "generation_idle", (int)link.generation,
	                              "width_idle", (int)link.width, "most_generation",
	                              (int)link.most_generation, "most_width", (int)link.most_width, "source",
	                              link.source));
	return all;
}

} // namespace

void scope_machine_find_gpus(struct scope_machine *m)
{
	int count = 0;
	const cudaError_t rc = cudaGetDeviceCount(&count);

	m->gpus = 0;
	if (rc != cudaSuccess || !count) {
		(void)cudaGetLastError();
		snprintf(why, sizeof why, "no GPU: %s",
		         rc == cudaSuccess ? "there is none" : cudaGetErrorString(rc));
		m->no_gpu = why;
		return;
	}
	for (uint32_t k = 0; k < (uint32_t)count && m->gpus < SCOPE_MOST_GPUS && m->gpus == k; k++)
		m->gpus += find_one(&m->gpu[k], k);
	for (uint32_t k = 0; k < m->gpus; k++)
		find_peers(m, k);
	m->no_gpu = m->gpus ? NULL : why;
	m->event_tick = m->gpus ? find_event_tick() : 0;
}

json_t *scope_environment_gpus(const struct scope_machine *m)
{
	int driver = 0, runtime = 0;
	json_t *const list = json_array(), *const all = json_object();

	(void)cudaDriverGetVersion(&driver);
	(void)cudaRuntimeGetVersion(&runtime);
	for (uint32_t k = 0; k < m->gpus; k++)
		json_array_append_new(list, gpu_environment(k));
	json_object_set_new(all, "cuda_driver_version", json_integer(driver));
	json_object_set_new(all, "cuda_runtime_version", json_integer(runtime));
	json_object_set_new(all, "gpus", list);
	return all;
}
