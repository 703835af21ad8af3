#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a search of a graph that does not fit the cache keep the disk busy?

Claim: it fetches pages from the file at 80 % or more of the rate fio reaches with random reads of the page size at queue
depth 32 on the same file (io_uring, O_DIRECT), in turn with it in the same run. Every search is verified.

    bench/bfs_disk.py [--scale 22] [--page 4096] [--cache-share 8] [--build DIR] [--json OUT]
"""
import os
import statistics
import sys

from support import disk, report


def main():
    p = report.parser(__doc__)
    p.add_argument("--scale", default="22")
    p.add_argument("--page", type=int, default=4096)
    p.add_argument("--cache-share", type=int, default=8, help="the cache has the size of the graph divided by this number (default 8)")
    p.add_argument("--source", default="1")
    args = p.parse_args()
    disk.need_fio("bfs_disk")
    tool = report.program(args, "tools", "grapnel")
    graph = report.graph(args, args.scale)
    cache = os.path.getsize(graph) // args.cache_share
    command = [tool, "bfs", graph, "--source", args.source, "--algorithm", "top-down", "--store", "file",
               "--page", str(args.page), "--cache", str(cache), "--trust", "--json", "-"]
    limit, ours, runs = [], [], []
    for turn in range(args.runs):
        limit.append(disk.fio(graph, "randread", args.page, 32, "--time_based", "--runtime=2")["bw_bytes"])
        runs.append(report.run_json(command + (["--verify"] if turn == 0 else [])))
        ours.append(runs[-1]["store"]["read_bytes"] / runs[-1]["seconds"])
    result = runs[0]
    if result["verified"] is not True:
        sys.exit("bfs_disk: the search is not verified")
    share = statistics.median(o / l for o, l in zip(ours, limit))
    print(f"{result['path']}\n  fio {statistics.median(limit) / 1e6:.0f} MB/s, search {statistics.median(ours) / 1e6:.0f} MB/s, "
          f"{result['seconds']:.2f} s, moved over needed {result['counters']['fetched_bytes'] / result['needed_bytes']:.2f}")
    return report.save(args, "bfs-disk", {"fio_bytes_per_second": limit, "search_bytes_per_second": ours, "result": result},
                       [("bytes a second from the file, share of fio's", share, 0.80, True)])


if __name__ == "__main__":
    sys.exit(main())
