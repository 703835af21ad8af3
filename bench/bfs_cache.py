#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the cache cost a breadth-first search that finds everything in it?

Claim: at most 3 times the same kernels on plain pointers to the same bytes, every depth checked.

    bench/bfs_cache.py [--machine cpu|cuda] [--scale 20] [--build DIR] [--json OUT]
"""
import sys

from support import report


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--scale", default="20")
    args = p.parse_args()
    result = report.run_json([report.program(args, "bench", "bench_bfs_cache"), f"machine={args.machine}", f"scale={args.scale}",
                              f"runs={args.runs}"])
    print(f"{result['machine']}: {result['vertices']} vertices, {result['edges']} edges: {result['paged_seconds']:.4f} s "
          f"through the cache, {result['plain_seconds']:.4f} s on pointers")
    return report.save(args, "bfs-cache" + ("-gpu" if args.machine.startswith("cuda") else ""), {"result": result},
                       [("time of a search in cache over one on pointers", result["ratio"], 3, False)])


if __name__ == "__main__":
    sys.exit(main())
