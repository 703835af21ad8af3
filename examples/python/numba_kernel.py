#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""numba_kernel.py - how does a kernel in Python, compiled by Numba, read an array that is larger than the GPU's memory?

    python numba_kernel.py [--links 4000000] [--steps 32]

Each element of the array is a link, the number of another element, and each thread follows links, as in own_kernel.py. Numba compiles
the Python function, and links it with a device function in CUDA C++ that reads one element. Numba passes no struct by value, so the
array's C struct lies in memory of the GPU, and the kernel gets its address.

It needs a GPU and Numba (pip install numba-cuda[cu13]); own_kernel.py needs PyTorch instead.

Expected output:
    65536 threads followed 32 links each; where they ended is right
"""

import argparse
import os

import numpy as np

import grapnel

os.environ["NUMBA_CUDA_NVRTC_EXTRA_SEARCH_PATHS"] = grapnel.include()  # Numba reads it when it is imported

# A device function of Numba's: the result goes where the first argument says, and 0 says that it is there.
SOURCE = r"""
#include <grapnel/array.h>

extern "C" __device__ int read_link(int64_t *result, uint64_t array, int64_t index)
{
	*result = gn_read_i64((const struct gn_array *)array, index);
	return 0;
}
"""


def find_numba():
    try:
        from numba import cuda
    except ImportError:
        raise SystemExit("numba_kernel: Numba is not installed (pip install numba-cuda[cu13]); own_kernel.py does the same "
                         "without") from None
    return cuda


def make_kernel(cuda):
    read_link = cuda.declare_device("read_link", "int64(uint64, int64)", link=cuda.CUSource(SOURCE))

    def follow(array, start, end, steps):
        for k in range(cuda.grid(1), start.size, cuda.gridsize(1)):
            at = start[k]
            for _ in range(steps):
                at = read_link(array, at)
            end[k] = at

    return follow


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, default=4_000_000)
    parser.add_argument("--steps", type=int, default=32)
    options = parser.parse_args()
    cuda = find_numba()
    if not cuda.is_available():
        raise SystemExit("numba_kernel: Numba finds no GPU here, so nothing was run")

    random = np.random.default_rng(1)
    links = random.permutation(options.links)
    where = random.integers(0, options.links, 1 << 16)
    kernel = cuda.jit(make_kernel(cuda))
    with grapnel.array(links, cache=max(links.nbytes // 8, 1 << 20), machine="cuda") as table:
        struct = cuda.to_device(table.struct.view("u1"))  # as long as kernels run
        address = np.uint64(struct.__cuda_array_interface__["data"][0])
        start, end = cuda.to_device(where), cuda.device_array(len(where), np.int64)
        table.machine.reserve_stack(4096)  # more than such a kernel has: kernel.get_local_mem_per_thread() after a launch
        kernel[4 * table.machine.processors, 256](address, start, end, np.int32(options.steps))
        table.synchronize()  # waits, and raises what the kernel could not read
        for _ in range(options.steps):
            where = links[where]
        if not np.array_equal(end.copy_to_host(), where):
            raise SystemExit("numba_kernel: the links end elsewhere")
    print(f"{len(where)} threads followed {options.steps} links each; where they ended is right")


if __name__ == "__main__":
    main()
