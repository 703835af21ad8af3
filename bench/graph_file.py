#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a job over a graph in a file beat the same kernels on the mapped file?

Claim: with a cache of one eighth of the graph, and nothing of the file in the system's page cache, each of bfs, cc, sssp and pagerank
takes at most half of the time that the same kernels take on the mapped file with random advice, in turn with them in the same run.
Both ways give the same bytes, and each job is verified once through the command. Beside each claim is its limit: the time of the
mapped file over that of the same kernels when all of the file is in memory. No cache makes a job much faster than that.

    bench/graph_file.py [--scale 20] [--page 0] [--share 8] [--build DIR] [--json OUT]
"""
import os
import statistics
import sys

from support import graph, report

WORKS = ("bfs", "cc", "sssp", "pagerank")
WAYS = ("cache", "mmap", "memory")
BY_VERTICES = "cache, by vertices"  # of pagerank, whose passes go by chunks of edges


def verify(args, path):
    """Each job once through the command, which compares it with an independent reference."""
    for work in WORKS:
        source = ["--source", args.source] if work in ("bfs", "sssp") else []
        command = [report.program(args, "tools", "grapnel"), work, path, *source, "--store", "file", "--verify", "--json", "-"]
        if report.run_json(command)["verified"] is not True:
            sys.exit(f"graph_file: {work} is not verified")


def measure(args, path, work):
    """Runs of both ways in turn."""
    bench = report.program(args, "bench", "bench_graph_file")
    common = [bench, f"file={path}", f"work={work}", f"source={args.source}", f"share={args.share}", f"page={args.page}"]
    ways = {way: [f"way={way}"] for way in WAYS}
    if work == "pagerank":
        ways[BY_VERTICES] = ["way=cache", "layout=csr"]
    runs = report.in_turn(args.runs, {way: lambda way=way: report.run_json([*common, *ways[way]]) for way in ways})
    if len({run["crc"] for way in ways for run in runs[way]}) != 1:
        sys.exit(f"graph_file: {work}: results differ")
    return runs


def main():
    p = report.parser(__doc__)
    p.add_argument("--scale", default="20")
    p.add_argument("--page", type=int, default=0, help="bytes of a page of the cache; 0 (default): the library chooses")
    p.add_argument("--share", type=int, default=8, help="the cache has the size of the graph divided by this number (default 8)")
    args = p.parse_args()
    path = report.graph(args, args.scale)
    args.source = str(graph.first_source(path))
    verify(args, path)
    found, limits, graph_reads, claims = {}, {}, {}, []
    for work in WORKS:
        found[work] = runs = measure(args, path, work)
        seconds = {way: statistics.median(run["seconds"] for run in runs[way]) for way in runs}
        moved = {way: runs[way][0]["read_bytes"] / runs[way][0]["graph_bytes"] for way in runs}
        graph_reads[work] = moved
        limits[work] = seconds["mmap"] / seconds["memory"]
        print(f"{work}: cache {seconds['cache']:.2f} s, reads the graph {moved['cache']:.1f} times; "
              f"mmap {seconds['mmap']:.2f} s, {moved['mmap']:.1f} times; in memory {seconds['memory']:.2f} s, "
              f"so at most {limits[work]:.2f}")
        if BY_VERTICES in runs:
            print(f"  {BY_VERTICES}: {seconds[BY_VERTICES]:.2f} s, reads the graph {moved[BY_VERTICES]:.1f} times")
        claims.append((f"{work}: time of the mapped file over ours", seconds["mmap"] / seconds["cache"], 2.0, True))
    return report.save(args, "graph-file", {"scale": args.scale, "source": args.source, "page_bytes": args.page, "cache_share": args.share,
                                            "graph_bytes": os.path.getsize(path), "limits": limits, "graph_reads": graph_reads,
                                            "runs": found}, claims)


if __name__ == "__main__":
    sys.exit(main())
