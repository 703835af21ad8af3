/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the little that the flat functions ask of CUDA's runtime themselves. */
#include "object.h"

#include <stdlib.h>

void gn__term_end(struct gn__term *term)
{
	if (term && simt_add_acq_rel_dev_u32(&term->ended, 1))
		free(term);
}

#ifdef GN_CUDA
#include <cuda_runtime_api.h>

static int failed(cudaError_t rc)
{
	cudaGetLastError();
	return gn__failed(-GN_EIO, 0, -1, cudaGetErrorString(rc));
}

static cudaError_t capture_info(uint64_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                cudaGraph_t *graph)
{
	const cudaStream_t handle = (cudaStream_t)(uintptr_t)stream;

#if CUDART_VERSION >= 13000
	return cudaStreamGetCaptureInfo(handle, status, id, graph, NULL, NULL, NULL);
#else
	return cudaStreamGetCaptureInfo_v2(handle, status, id, graph, NULL, NULL);
#endif
}

int gn__capture_of(uint64_t stream, uint64_t *capture)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	unsigned long long id = 0;
	const cudaError_t rc = capture_info(stream, &status, &id, NULL);

	*capture = status == cudaStreamCaptureStatusNone ? 0 : id + 1;
	return rc == cudaSuccess ? 0 : failed(rc);
}

static void CUDART_CB graph_has_ended(void *term)
{
	gn__term_end((struct gn__term *)term);
}

/* The graph, and all that is made of it, hold an object of the user's: its end is theirs. */
struct gn__term *gn__term_of(uint64_t stream)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	struct gn__term *term = (struct gn__term *)calloc(1, sizeof *term);
	unsigned long long id;
	cudaUserObject_t held;
	cudaGraph_t graph;

	if (term && capture_info(stream, &status, &id, &graph) == cudaSuccess &&
	    status == cudaStreamCaptureStatusActive &&
	    cudaUserObjectCreate(&held, term, graph_has_ended, 1, cudaUserObjectNoDestructorSync) ==
	        cudaSuccess) {
		if (cudaGraphRetainUserObject(graph, held, 1, cudaGraphUserObjectMove) == cudaSuccess)
			return term;
		gn__term_end(term); /* the release ends it for the second time */
		cudaUserObjectRelease(held, 1);
		term = NULL;
	}
	cudaGetLastError();
	free(term);
	return NULL;
}

int gn__device_wait(int device)
{
	int before = 0;
	cudaError_t rc = cudaGetDevice(&before);

	if (rc == cudaSuccess)
		rc = cudaSetDevice(device);
	if (rc == cudaSuccess)
		rc = cudaDeviceSynchronize();
	cudaSetDevice(before);
	return rc == cudaSuccess ? 0 : failed(rc);
}

void *gn__host_address(void *address)
{
	struct cudaPointerAttributes what;

	if (cudaPointerGetAttributes(&what, address) != cudaSuccess) {
		cudaGetLastError();
		return NULL;
	}
	return what.type == cudaMemoryTypeHost ? what.hostPointer : NULL;
}

int gn_flat_device_of(const void *address)
{
	struct cudaPointerAttributes what;

	if (cudaPointerGetAttributes(&what, address) != cudaSuccess) {
		cudaGetLastError();
		return -1;
	}
	return what.type == cudaMemoryTypeDevice || what.type == cudaMemoryTypeManaged ? what.device : -1;
}

#else

int gn__capture_of(uint64_t stream, uint64_t *capture)
{
	(void)stream;
	*capture = 0;
	return 0;
}

struct gn__term *gn__term_of(uint64_t stream)
{
	(void)stream;
	return NULL;
}

int gn__device_wait(int device)
{
	(void)device;
	return 0;
}

void *gn__host_address(void *address)
{
	return address;
}

int gn_flat_device_of(const void *address)
{
	(void)address;
	return -1;
}
#endif
