/* SPDX-License-Identifier: Apache-2.0 */
/* The cuda machine: one device, one stream. */
#include <stdio.h>
#include <stdlib.h>

#include <simt/machine.h>

namespace
{

struct cuda_machine {
	struct simt_machine base;
	int device;
	cudaStream_t stream;
	struct simt_info info;
};

/* One registration of 512 GiB and more has been seen to fail and to leave an error behind. */
const size_t largest_piece = (size_t)64 << 30;

/* Every error of the runtime becomes one of ours here; the runtime's own is cleared where it can be. */
int translate(struct simt_machine *m, cudaError_t rc, const char *what)
{
	struct gn_error *failure = m ? &m->failure : NULL;

	if (rc == cudaSuccess)
		return 0;
	cudaGetLastError();
	switch (rc) {
	case cudaErrorMemoryAllocation:
		return gn_error_set(failure, -GN_ENOMEM, "cuda: %s: out of memory; ask for less", what);
	case cudaErrorNoKernelImageForDevice:
	case cudaErrorInvalidDeviceFunction:
		return gn_error_set(failure, -GN_ENODEV,
				    "cuda: %s: the program was not compiled for this device; build it for its architecture", what);
	default:
		return gn_error_set(failure, -GN_EIO, "cuda: %s: %s", what, cudaGetErrorString(rc));
	}
}

struct cuda_machine *of(struct simt_machine *m)
{
	return (struct cuda_machine *)m;
}

/* The runtime's own pinned allocations are not aligned to a memory page; what controllers reach must be. */
void *alloc_shared(struct simt_machine *m, size_t bytes)
{
	const size_t whole = (bytes + 4095) & ~(size_t)4095;
	void *memory = aligned_alloc(4096, whole);

	if (!memory)
		return NULL;
	memset(memory, 0, whole);
	if (translate(m, cudaHostRegister(memory, whole, cudaHostRegisterPortable | cudaHostRegisterMapped), "pinning")) {
		free(memory);
		return NULL;
	}
	return memory;
}

void *alloc_device(struct simt_machine *m, size_t bytes)
{
	void *memory = NULL;

	if (translate(m, cudaMalloc(&memory, bytes), "allocation"))
		return NULL;
	if (cudaMemsetAsync(memory, 0, bytes, of(m)->stream) != cudaSuccess ||
	    cudaStreamSynchronize(of(m)->stream) != cudaSuccess) {
		cudaFree(memory);
		return NULL;
	}
	return memory;
}

void *cuda_alloc(struct simt_machine *m, size_t bytes, enum simt_memory where)
{
	cudaSetDevice(of(m)->device);
	return where == SIMT_DEVICE ? alloc_device(m, bytes) : alloc_shared(m, bytes);
}

void cuda_free(struct simt_machine *m, void *memory)
{
	struct cudaPointerAttributes attributes;

	cudaSetDevice(of(m)->device);
	if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess && attributes.type == cudaMemoryTypeHost) {
		cudaHostUnregister(memory);
		free(memory);
	} else {
		cudaFree(memory);
	}
	cudaGetLastError();
}

int cuda_wait(struct simt_machine *m)
{
	cudaSetDevice(of(m)->device);
	return translate(m, cudaStreamSynchronize(of(m)->stream), "kernel");
}

int cuda_move(struct simt_machine *m, void *to, const void *from, size_t bytes)
{
	cudaSetDevice(of(m)->device);
	if (translate(m, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, of(m)->stream), "copy"))
		return -GN_EIO;
	return cuda_wait(m) ? -GN_EIO : 0;
}

void unpin(struct simt_machine *m, void *memory, size_t bytes)
{
	cudaSetDevice(of(m)->device);
	for (size_t at = 0; at < bytes; at += largest_piece)
		cudaHostUnregister((char *)memory + at);
	cudaGetLastError();
}

/* Memory that is mapped read-only can only be registered as such. */
cudaError_t register_piece(void *memory, size_t bytes)
{
	const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
	cudaError_t rc = cudaHostRegister(memory, bytes, flags);

	if (rc == cudaSuccess || rc == cudaErrorMemoryAllocation)
		return rc;
	cudaGetLastError();
	return cudaHostRegister(memory, bytes, flags | cudaHostRegisterReadOnly);
}

int pin(struct simt_machine *m, void *memory, size_t bytes, void **device, struct gn_error *error)
{
	cudaSetDevice(of(m)->device);
	for (size_t at = 0; at < bytes; at += largest_piece) {
		size_t piece = bytes - at < largest_piece ? bytes - at : largest_piece;
		cudaError_t rc = register_piece((char *)memory + at, piece);

		if (rc == cudaSuccess)
			continue;
		if (at)
			unpin(m, memory, at);
		cudaGetLastError();
		return gn_error_set(error, -GN_ENOMEM,
				    "cuda: %zu bytes of host memory cannot be pinned (%s at byte %zu); free memory or raise ulimit -l",
				    bytes, cudaGetErrorString(rc), at);
	}
	if (translate(m, cudaHostGetDevicePointer(device, memory, 0), "device address of host memory")) {
		unpin(m, memory, bytes);
		return gn_error_set(error, m->failure.code, "%s", m->failure.text);
	}
	return 0;
}

int launch(struct simt_machine *m, const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments)
{
	void *parameters[] = {(void *)arguments};

	if (!kernel->cuda)
		return gn_error_set(&m->failure, -GN_ENODEV, "cuda: kernel %s was not compiled by nvcc", kernel->name);
	cudaSetDevice(of(m)->device);
	return translate(m,
			 cudaLaunchKernel(kernel->cuda, dim3(grid.blocks), dim3(grid.block_threads), parameters,
					  grid.shared_bytes, of(m)->stream),
			 kernel->name);
}

void info(const struct simt_machine *m, struct simt_info *out)
{
	*out = ((const struct cuda_machine *)m)->info;
}

void close_machine(struct simt_machine *m)
{
	cudaSetDevice(of(m)->device);
	cudaStreamDestroy(of(m)->stream);
	cudaGetLastError();
	free(m);
}

const struct simt_machine_ops ops = {cuda_alloc, cuda_free, cuda_move, pin, unpin, launch, cuda_wait, info, close_machine};

int describe(struct cuda_machine *c)
{
	struct cudaDeviceProp properties;

	if (cudaGetDeviceProperties(&properties, c->device) != cudaSuccess)
		return -GN_ENODEV;
	snprintf(c->info.name, sizeof c->info.name, "%.63s", properties.name);
	c->info.is_cuda = 1;
	c->info.processors = (unsigned)properties.multiProcessorCount;
	c->info.warp_width = 32;
	c->info.memory_bytes = properties.totalGlobalMem;
	/* SIMT_KERNEL compiles for 64 registers a thread: 1024 threads a multiprocessor. */
	c->info.resident_threads = 1024u * c->info.processors;
	return 0;
}

/* "cuda" is device 0, "cuda:2" device 2. */
int device_of(const char *name)
{
	char *end;
	long device;

	if (name[4] == '\0')
		return 0;
	device = name[4] == ':' ? strtol(name + 5, &end, 10) : -1;
	return device < 0 || *end || end == name + 5 || device > 1024 ? -1 : (int)device;
}

} // namespace

extern "C" int simt__cuda_open(struct simt_machine **machine, const struct simt_config *config, struct gn_error *error)
{
	int device = device_of(config->name), count = 0;
	struct cuda_machine *c;
	cudaError_t rc;

	if (device < 0)
		return gn_error_set(error, -GN_EINVAL, "machine %s: not cuda or cuda:INDEX", config->name);
	rc = cudaGetDeviceCount(&count);
	cudaGetLastError();
	if (rc != cudaSuccess || device >= count)
		return gn_error_set(error, -GN_ENODEV,
				    "machine %s: no such GPU (%d found%s%s); use --machine cpu, or see grapnel doctor",
				    config->name, count, rc != cudaSuccess ? ": " : "",
				    rc != cudaSuccess ? cudaGetErrorString(rc) : "");
	c = (struct cuda_machine *)calloc(1, sizeof *c);
	if (!c)
		return gn_error_set(error, -GN_ENOMEM, "machine %s: out of memory", config->name);
	c->base.ops = &ops;
	c->device = device;
	cudaSetDevice(device);
	if (describe(c) || cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking) != cudaSuccess) {
		cudaGetLastError();
		free(c);
		return gn_error_set(error, -GN_ENODEV, "machine %s: the GPU cannot be used; see grapnel doctor", config->name);
	}
	*machine = &c->base;
	return 0;
}
