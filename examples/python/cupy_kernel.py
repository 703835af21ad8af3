#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cupy_kernel.py - how does a kernel of CuPy's RawModule read an array that is larger than the GPU's memory?

    python cupy_kernel.py [--links 4000000] [--steps 32]

Each element of the array is a link, the number of another element, and each thread follows links, as in own_kernel.py. CuPy compiles
the kernel by NVRTC and launches it. Of Grapnel it gets the folder of the headers and, by value, the array's C struct.

It needs a GPU and CuPy (pip install cupy-cuda13x); own_kernel.py needs PyTorch instead.

Expected output:
    262144 threads followed 32 links each; where they ended is right
"""

import argparse

import numpy as np

import grapnel

SOURCE = r"""
#include <grapnel/array.h>

extern "C" __global__ void __launch_bounds__(1024, 1)
follow(const __grid_constant__ struct gn_array link, const int64_t *start, int64_t *end, int64_t count, int32_t steps)
{
	for (int64_t k = simt_global_thread(); k < count; k += simt_global_threads()) {
		int64_t at = start[k];

		for (int32_t step = 0; step < steps; step++)
			at = gn_read_i64(&link, at);
		end[k] = at;
	}
}
"""


def find_cupy():
    try:
        import cupy
    except ImportError:
        raise SystemExit("cupy_kernel: CuPy is not installed (pip install cupy-cuda13x); own_kernel.py does the same without") from None
    if not cupy.cuda.is_available():
        raise SystemExit("cupy_kernel: CuPy finds no GPU here, so nothing was run")
    return cupy


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, default=4_000_000)
    parser.add_argument("--steps", type=int, default=32)
    options = parser.parse_args()
    cupy = find_cupy()

    random = np.random.default_rng(1)
    links = random.permutation(options.links)
    where = random.integers(0, options.links, 1 << 18)
    module = cupy.RawModule(code=SOURCE, options=(f"-I{grapnel.include()}", "-std=c++17"))
    kernel = module.get_function("follow")
    with grapnel.array(links, cache=max(links.nbytes // 8, 1 << 20), machine="cuda") as table:
        table.machine.reserve_stack(kernel.local_size_bytes)
        start, end = cupy.asarray(where), cupy.empty(len(where), np.int64)
        kernel((4 * table.machine.processors,), (256,),
               (table.struct, start, end, np.int64(len(where)), np.int32(options.steps)))
        table.synchronize()  # waits, and raises what the kernel could not read
        for _ in range(options.steps):
            where = links[where]
        if not np.array_equal(cupy.asnumpy(end), where):
            raise SystemExit("cupy_kernel: the links end elsewhere")
    print(f"{len(where)} threads followed {options.steps} links each; where they ended is right")


if __name__ == "__main__":
    main()
