#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A search of a large graph on a GPU, through a cache of one quarter of it, verified; beside direct mode and the
zero-copy stream.

    bench/bfs_large.py [--scale 25] [--degree 16] [--machine cuda] [--graph FILE] [--build DIR] [--json OUT]
"""
import os
import statistics
import sys

from support import report


def search(tool, graph, args, options, runs):
    command = [tool, "bfs", graph, "--source", args.source, "--algorithm", "top-down", "--machine", args.machine, "--json", "-"] + options
    results = [report.run_json(command + ["--trust"]) for _ in range(runs)]
    median = statistics.median(r["seconds"] for r in results)
    return next(r for r in results if r["seconds"] == median)


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda")
    p.add_argument("--scale", default="25")
    p.add_argument("--degree", default="16")
    p.add_argument("--source", default="1")
    p.add_argument("--graph", help="file of the graph (default in the build folder)")
    args = p.parse_args()
    tool = report.program(args, "tools", "grapnel")
    graph = report.graph(args, args.scale, args.degree, args.graph)
    quarter = ["--cache", str(os.path.getsize(graph) // 4)]
    verified = report.run_json([tool, "bfs", graph, "--source", args.source, "--algorithm", "top-down", "--machine", args.machine, "--store", "host",
                                "--verify", "--json", "-"] + quarter)
    results = {"paged": search(tool, graph, args, ["--store", "host"] + quarter, args.runs),
               "direct": search(tool, graph, args, ["--store", "host", "--mode", "direct"], args.runs),
               "file": search(tool, graph, args, ["--store", "file"] + quarter, 1)}
    for name, r in results.items():
        moved = f", {r['counters']['fetched_bytes'] / 1e9:.2f} GB fetched" if r["counters"] else ""
        print(f"  {name:7} {r['seconds']:8.3f} s  {r['teps'] / 1e6:9.1f} M edges/s{moved}  ({r['path']})")
    return report.save(args, f"bfs-large-{args.scale}-{args.degree}", {"verified_run": verified, **results},
                       [("every depth verified", int(verified["verified"] is True), 1, True),
                        ("share of the vertices that was reached", verified["reached"] / verified["graph"]["vertices"],
                         0.25, True)])


if __name__ == "__main__":
    sys.exit(main())
