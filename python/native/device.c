/* SPDX-License-Identifier: Apache-2.0 */
/* device.c - the little that the flat functions ask of CUDA's runtime themselves. */
#include "object.h"

#ifdef GN_CUDA
#include <cuda_runtime_api.h>

static int failed(cudaError_t rc)
{
	cudaGetLastError();
	return gn__failed(-GN_EIO, 0, -1, cudaGetErrorString(rc));
}

int gn__capture_of(uint64_t stream, uint64_t *capture)
{
	enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	unsigned long long id = 0;
#if CUDART_VERSION >= 13000
	const cudaError_t rc =
	    cudaStreamGetCaptureInfo((cudaStream_t)(uintptr_t)stream, &status, &id, NULL, NULL, NULL, NULL);
#else
	const cudaError_t rc =
	    cudaStreamGetCaptureInfo_v2((cudaStream_t)(uintptr_t)stream, &status, &id, NULL, NULL, NULL);
#endif

	*capture = status == cudaStreamCaptureStatusNone ? 0 : id + 1;
	return rc == cudaSuccess ? 0 : failed(rc);
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
