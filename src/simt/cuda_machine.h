/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_machine.h - what the sources of the cuda machine share. For nvcc only.
 */
#ifndef SIMT_CUDA_MACHINE_H
#define SIMT_CUDA_MACHINE_H

#include <stdio.h>

#include <simt/machine.h>

namespace {

struct cuda_stream {
	struct simt_stream base; /* first */
	cudaStream_t handle;
	int adopted;
};

struct cuda_machine {
	struct simt_machine base; /* first */
	struct cuda_stream own;
	int device;
	struct simt_info info;
	size_t managed_bytes; /* that managed memory has now */
};

const struct cuda_machine *of(const struct simt_machine *m)
{
	return (const struct cuda_machine *)m;
}

struct cuda_stream *of(struct simt_stream *s)
{
	return (struct cuda_stream *)s;
}

/* The calling thread works on this device until the end of the scope. */
class on_device {
      public:
	explicit on_device(int device)
	{
		if (cudaGetDevice(&before_) != cudaSuccess)
			before_ = -1;
		if (before_ == device)
			before_ = -1;
		else
			cudaSetDevice(device);
	}
	explicit on_device(const struct simt_machine *m) : on_device(of(m)->device)
	{
	}
	~on_device()
	{
		if (before_ >= 0)
			cudaSetDevice(before_);
	}

      private:
	int before_;
};

/* Turn an error of the cuda runtime into a Grapnel error, and clear the runtime's error if possible. */
int translate(struct gn_error *failure, cudaError_t rc, const char *what)
{
	if (rc == cudaSuccess)
		return 0;
	cudaGetLastError();
	switch (rc) {
	case cudaErrorMemoryAllocation:
		return gn_error_set(failure, -GN_ENOMEM, "cuda: %s: out of memory; ask for less", what);
	case cudaErrorNoKernelImageForDevice:
	case cudaErrorInvalidDeviceFunction:
		return gn_error_set(failure, -GN_ENODEV,
		                    "cuda: %s: the program was not compiled for this GPU; build it for the "
		                    "architecture of this GPU",
		                    what);
	default:
		return gn_error_set(failure, -GN_EIO,
		                    "cuda: %s: %s; after an illegal access or a failed assertion the program "
		                    "must be started again",
		                    what, cudaGetErrorString(rc));
	}
}

} // namespace

extern const struct simt_managed_ops simt__cuda_managed;

#endif
