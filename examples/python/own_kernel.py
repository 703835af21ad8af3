#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""own_kernel.py - how does a CUDA kernel of my own read an array that is larger than the GPU's memory?

    python own_kernel.py [--links 4000000] [--steps 32] [--file links.bin] [--arch sm_90]

Each element of the array is a link: the number of another element. The array lies in host memory or in a file, and the cache has an
eighth of it. Each thread of the kernel follows links. Where it reads next it knows only when it has read, so no batch of row numbers
could be given. The kernel takes the array's C struct by value. NVRTC compiles it while the program runs (docs/python.md, "Own kernels").
The ends are compared with NumPy's. Then one thread begins outside of the array, which raises.

It needs a GPU, and PyTorch for the memory that the kernel writes. Without a GPU it only compiles. cupy_kernel.py and numba_kernel.py
do the same with CuPy and Numba.

Expected output, on an H100:
    compiled for sm_90 by NVRTC 13.0: 0 bytes of local memory
    65536 threads followed 32 links each; where they ended is right
    a link that leads outside raised: row 4000000 is past the end; the array has rows 0 to 3999999 [GN_ERANGE]
"""

import argparse

import numpy as np

import grapnel
import grapnel.kernels

SOURCE = r"""
#include <grapnel/array.h>

extern "C" __global__ void __launch_bounds__(1024, 1)
follow(const __grid_constant__ struct gn_array link, const int64_t *start, int64_t *end, int64_t count, int32_t steps)
{
	for (int64_t k = simt_global_thread(); k < count; k += simt_global_threads()) {
		int64_t at = start[k];

		for (int32_t step = 0; step < steps; step++)
			at = gn_read_i64(&link, at); /* 0 if it cannot be read: the array keeps why */
		end[k] = at;
	}
}
"""


def gpu():
    """PyTorch with a GPU, or None."""
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def nvrtc():
    return ".".join(map(str, grapnel.kernels.version()))


def open_links(links, options):
    if not options.file:
        return grapnel.array(links, cache=max(links.nbytes // 8, 1 << 20), machine="cuda")
    links.tofile(options.file)
    return grapnel.open(f"file:{options.file}?ro", "int64", -1, cache=max(links.nbytes // 8, 1 << 20), machine="cuda")


def follow(kernel, torch, table, start, options):
    """Where the links from start end."""
    begin = torch.from_numpy(start).cuda()
    end = torch.empty_like(begin)
    kernel(4 * table.machine.processors, 256, table, begin, end, np.int64(len(start)), np.int32(options.steps))
    table.synchronize()  # waits, and raises what the kernel could not read; check() would not wait
    return end.cpu().numpy()


def judge(start, links, steps):
    at = start
    for _ in range(steps):
        at = links[at]
    return at


def run(torch, options):
    random = np.random.default_rng(1)
    links = random.permutation(options.links)
    start = random.integers(0, options.links, 1 << 16)
    kernel = grapnel.kernels.Kernel(SOURCE, "follow", "cuda")
    print(f"compiled for {kernel.arch} by NVRTC {nvrtc()}: {kernel.local_bytes} bytes of local memory")
    with open_links(links, options) as table:
        if not np.array_equal(follow(kernel, torch, table, start, options), judge(start, links, options.steps)):
            raise SystemExit("own_kernel: the links end elsewhere")
        print(f"{len(start)} threads followed {options.steps} links each; where they ended is right")
        start[777] = options.links
        try:
            follow(kernel, torch, table, start, options)
        except grapnel.RangeError as why:
            print(f"a link that leads outside raised: {why}")
        else:
            raise SystemExit("own_kernel: a link that leads outside raised nothing")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--links", type=int, default=4_000_000)
    parser.add_argument("--steps", type=int, default=32)
    parser.add_argument("--file", help="put the links into this file, and read them there")
    parser.add_argument("--arch", default="sm_90", help="for which GPU to compile, where there is none")
    options = parser.parse_args()
    torch = gpu()
    if torch:
        run(torch, options)
    else:
        grapnel.kernels.compile(SOURCE, options.arch)
        print(f"compiled for {options.arch} by NVRTC {nvrtc()}; PyTorch has no GPU here, so the kernel was not run")


if __name__ == "__main__":
    main()
