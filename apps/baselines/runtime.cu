/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime.h"

#include <cuda_runtime.h>
#include <time.h>

namespace {

/* Arguments of a kernel of a tile: none is larger. */
const size_t most_argument_bytes = 1024;

int failed(struct gn_error *error, cudaError_t rc, const char *what)
{
	if (rc == cudaSuccess)
		return 0;
	cudaGetLastError();
	return gn_error_set(error, rc == cudaErrorMemoryAllocation ? -GN_ENOMEM : -GN_EIO, "cuda: %s: %s",
	                    what, cudaGetErrorString(rc));
}

double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int current_device()
{
	int device = 0;

	cudaGetDevice(&device);
	return device;
}

/* ---- where managed memory is told to go ---- */

#if CUDART_VERSION >= 13000
cudaMemLocation place(int device)
{
	cudaMemLocation l;

	l.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	l.id = device == cudaCpuDeviceId ? 0 : device;
	return l;
}

cudaError_t prefetch(void *memory, size_t bytes, int device)
{
	return cudaMemPrefetchAsync(memory, bytes, place(device), 0, 0);
}

cudaError_t advise(void *memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
	return cudaMemAdvise(memory, bytes, advice, place(device));
}
#else
cudaError_t prefetch(void *memory, size_t bytes, int device)
{
	return cudaMemPrefetchAsync(memory, bytes, device, 0);
}

cudaError_t advise(void *memory, size_t bytes, cudaMemoryAdvise advice, int device)
{
	return cudaMemAdvise(memory, bytes, advice, device);
}
#endif

/* No hint of an earlier run. */
cudaError_t forget_hints(void *memory, size_t bytes)
{
	const int device = current_device();
	cudaError_t rc = advise(memory, bytes, cudaMemAdviseUnsetReadMostly, device);

	if (rc == cudaSuccess)
		rc = advise(memory, bytes, cudaMemAdviseUnsetPreferredLocation, device);
	return rc == cudaSuccess ? advise(memory, bytes, cudaMemAdviseUnsetAccessedBy, device) : rc;
}

cudaError_t give_hint(void *memory, size_t bytes, enum gn_base_hint hint)
{
	const int device = current_device();
	cudaError_t rc;

	switch (hint) {
	case GN_BASE_READ_MOSTLY: return advise(memory, bytes, cudaMemAdviseSetReadMostly, device);
	case GN_BASE_PREFER_DEVICE: return advise(memory, bytes, cudaMemAdviseSetPreferredLocation, device);
	case GN_BASE_MAP_HOST:
		rc = advise(memory, bytes, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId);
		return rc == cudaSuccess ? advise(memory, bytes, cudaMemAdviseSetAccessedBy, device) : rc;
	default: return cudaSuccess;
	}
}

/* ---- tiles ---- */

struct slot {
	cudaStream_t stream;
	char *in[2], *out;
};

void give_buffers(const struct gn_base_tiling *t, struct slot *slots)
{
	char *at = t->buffer;

	for (unsigned s = 0; s < t->streams; s++) {
		for (int k = 0; k < 2; k++) {
			slots[s].in[k] = t->in[k] ? at : NULL;
			at += t->in[k] ? t->tile_bytes : 0;
		}
		slots[s].out = t->out ? at : NULL;
		at += t->out ? t->tile_bytes : 0;
	}
}

/* Everything of one tile, in its stream, behind the tile that had the buffers before. */
cudaError_t start_tile(const struct gn_base_tiling *t, const struct slot *slot, uint64_t at)
{
	const uint64_t bytes = t->bytes - at < t->tile_bytes ? t->bytes - at : t->tile_bytes;
	alignas(16) char arguments[most_argument_bytes];
	void *parameters[] = {arguments};
	cudaError_t rc = cudaSuccess;

	for (int k = 0; k < 2 && rc == cudaSuccess; k++)
		if (t->in[k])
			rc = cudaMemcpyAsync(slot->in[k], t->in[k] + at, bytes, cudaMemcpyHostToDevice,
			                     slot->stream);
	if (rc != cudaSuccess)
		return rc;
	t->arguments(t->user, arguments, at, bytes, slot->in, slot->out);
	rc = cudaLaunchKernel(t->kernel->cuda, dim3(t->grid.blocks), dim3(t->grid.block_threads), parameters,
	                      0, slot->stream);
	if (rc == cudaSuccess && t->out)
		rc = cudaMemcpyAsync(t->out + at, slot->out, bytes, cudaMemcpyDeviceToHost, slot->stream);
	return rc;
}

cudaError_t pass(const struct gn_base_tiling *t, const struct slot *slots)
{
	cudaError_t rc = cudaSuccess;
	unsigned turn = 0;

	for (uint64_t at = 0; at < t->bytes && rc == cudaSuccess; at += t->tile_bytes)
		rc = start_tile(t, &slots[turn++ % t->streams], at);
	for (unsigned s = 0; s < t->streams; s++) {
		cudaError_t end = cudaStreamSynchronize(slots[s].stream);

		rc = rc == cudaSuccess ? end : rc;
	}
	return rc;
}

/* ---- copies ---- */

double copy_seconds(char *host, char *device, uint64_t bytes, int in, int out, cudaError_t *rc)
{
	cudaStream_t stream[2];
	double begin;

	for (int k = 0; k < 2; k++)
		cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking);
	cudaDeviceSynchronize();
	begin = now();
	if (in)
		cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream[0]);
	if (out)
		cudaMemcpyAsync(host + (in ? bytes : 0), device + (in ? bytes : 0), bytes,
		                cudaMemcpyDeviceToHost, stream[1]);
	*rc = cudaDeviceSynchronize();
	begin = now() - begin;
	for (int k = 0; k < 2; k++)
		cudaStreamDestroy(stream[k]);
	return begin;
}

} // namespace

int gn_base_copies(char *host, char *device, uint64_t bytes, double rates[3], struct gn_error *error)
{
	for (int way = 0; way < 3; way++) {
		const int in = way != 1, out = way != 0;
		double best = 1e9;

		for (int run = 0; run < 3; run++) {
			cudaError_t rc;
			double seconds = copy_seconds(host, device, bytes, in, out, &rc);

			if (rc != cudaSuccess)
				return failed(error, rc, "copy");
			best = seconds < best ? seconds : best;
		}
		rates[way] = (double)bytes * (in + out) / best;
	}
	return 0;
}

int gn_base_tile(const struct gn_base_tiling *t, double *seconds, struct gn_error *error)
{
	struct slot slots[GN_BASE_STREAMS];
	cudaError_t rc = cudaSuccess;
	unsigned made = 0;

	if (!t->kernel->cuda || t->kernel->argument_bytes > most_argument_bytes ||
	    t->streams > GN_BASE_STREAMS)
		return gn_error_set(error, -GN_EINVAL, "tiles: kernel %s cannot run in tiles",
		                    t->kernel->name);
	give_buffers(t, slots);
	for (; made < t->streams && rc == cudaSuccess; made++)
		rc = cudaStreamCreateWithFlags(&slots[made].stream, cudaStreamNonBlocking);
	if (rc == cudaSuccess) {
		double begin = now();

		rc = pass(t, slots);
		*seconds = now() - begin;
	} else {
		made--;
	}
	while (made)
		cudaStreamDestroy(slots[--made].stream);
	return failed(error, rc, "tiles");
}

int gn_base_managed_alloc(void **memory, uint64_t bytes, struct gn_error *error)
{
	size_t free_bytes = 0, all = 0;
	cudaError_t rc = cudaMemGetInfo(&free_bytes, &all);

	*memory = NULL;
	if (rc == cudaSuccess && bytes > free_bytes / 2)
		return gn_error_set(
		    error, -GN_ENOMEM,
		    "managed memory: %llu bytes are more than half of the free memory of the GPU",
		    (unsigned long long)bytes);
	return failed(error, rc != cudaSuccess ? rc : cudaMallocManaged(memory, bytes), "managed memory");
}

void gn_base_managed_free(void *memory)
{
	cudaFree(memory);
	cudaGetLastError();
}

int gn_base_managed_cool(void *memory, uint64_t bytes, enum gn_base_hint hint, struct gn_error *error)
{
	cudaError_t rc = forget_hints(memory, bytes);

	if (rc == cudaSuccess)
		rc = prefetch(memory, bytes, cudaCpuDeviceId);
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	if (rc == cudaSuccess)
		rc = give_hint(memory, bytes, hint);
	return failed(error, rc, "managed memory");
}

int gn_base_managed_fetch(void *memory, uint64_t bytes, struct gn_error *error)
{
	cudaError_t rc = prefetch(memory, bytes, current_device());

	return failed(error, rc == cudaSuccess ? cudaDeviceSynchronize() : rc, "prefetch");
}
