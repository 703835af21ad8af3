/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory of the cuda machine: its pages move between host and device memory when they are touched.
 */
#include <mutex>

#include <simt/cuda_machine.h>

namespace {

#if CUDART_VERSION >= 13000
cudaMemLocation place(int device)
{
	cudaMemLocation l;

	l.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = device == cudaCpuDeviceId ? 0 : device;
	return l;
}

cudaError_t prefetch_to_host(void *memory, size_t bytes, cudaStream_t stream)
{
	return cudaMemPrefetchAsync(memory, bytes, place(cudaCpuDeviceId), 0, stream);
}
#else
int place(int device)
{
	return device;
}

cudaError_t prefetch_to_host(void *memory, size_t bytes, cudaStream_t stream)
{
	return cudaMemPrefetchAsync(memory, bytes, cudaCpuDeviceId, stream);
}
#endif

std::mutex total_mutex;

/*
 * Count bytes of new managed memory. All of it must have room on the device: a program that asks for more can
 * hang a GPU. An eighth of what is free stays for other memory.
 */
int take(struct cuda_machine *c, size_t bytes, struct gn_error *error)
{
	const std::lock_guard<std::mutex> lock(total_mutex);
	size_t free_bytes = 0, all = 0, most;
	int rc = translate(error, cudaMemGetInfo(&free_bytes, &all), "free memory");

	if (rc)
		return rc;
	most = free_bytes - free_bytes / 8;
	if (bytes > most || c->managed_bytes > most - bytes)
		return gn_error_set(
		    error, -GN_ENOMEM,
		    "cuda: %zu bytes of managed memory (%zu are in use) do not fit: the GPU "
		    "has %zu bytes free, of which at most %zu may be managed; give less data, "
		    "or use other memory",
		    bytes, c->managed_bytes, free_bytes, most);
	c->managed_bytes += bytes;
	return 0;
}

void give_back(struct cuda_machine *c, size_t bytes)
{
	const std::lock_guard<std::mutex> lock(total_mutex);

	c->managed_bytes -= bytes;
}

int to_host(struct cuda_machine *c, void *memory, size_t bytes, struct gn_error *error)
{
	cudaError_t rc = prefetch_to_host(memory, bytes, c->own.handle);

	return translate(error, rc == cudaSuccess ? cudaStreamSynchronize(c->own.handle) : rc,
	                 "managed memory to the host");
}

void release(struct simt_machine *m, void *memory, size_t bytes)
{
	simt_free(m, memory);
	give_back((struct cuda_machine *)m, bytes);
}

int allocate(struct simt_machine *m, size_t bytes, void **memory, struct gn_error *error)
{
	struct cuda_machine *c = (struct cuda_machine *)m;
	on_device here(m);
	int rc = take(c, bytes, error);

	if (rc)
		return rc;
	rc = translate(error, cudaMallocManaged(memory, bytes), "managed memory");
	if (rc) {
		give_back(c, bytes);
		return rc;
	}
	rc = to_host(c, *memory, bytes, error);
	if (rc)
		release(m, *memory, bytes);
	else
		memset(*memory, 0, bytes);
	return rc;
}

int settle(struct simt_machine *m, void *memory, size_t bytes, int read_mostly, struct gn_error *error)
{
	struct cuda_machine *c = (struct cuda_machine *)m;
	on_device here(m);
	int rc = to_host(c, memory, bytes, error);

	return rc ? rc
	          : translate(error,
	                      cudaMemAdvise(memory, bytes,
	                                    read_mostly ? cudaMemAdviseSetReadMostly
	                                                : cudaMemAdviseSetPreferredLocation,
	                                    place(c->device)),
	                      "a hint for managed memory");
}

} // namespace

const struct simt_managed_ops simt__cuda_managed = {allocate, release, settle};
