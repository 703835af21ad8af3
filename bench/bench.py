#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workloads on data in host memory, by Grapnel, by what a program does without it, and by the machine's limits.

    bench/bench.py [WORKLOAD...] [--machine cpu|cuda] [--data SIZE] [--add-data SIZE] [--build DIR] [--json OUT] [--svg OUT]

On a GPU: random pages of 4 and 16 KiB through a cold cache reach 95 % of the zero-copy stream and pages of 512 bytes
95 % of warp copies of the same pages; reading in order 98 % of the stream; C = A + B is as fast as tiles with
double-buffered copies; reads with reuse take at most 15 % more than their misses need on the link; managed memory, with its
best hint and the same work, is 7 times slower in order and 50 times slower at random. On cpu the ways are the same code on
ordinary memory, and the claim is that a cold cache costs at most half.
"""
import os
import sys

from support import report, rows


def measure(args, tool, workloads, data, svg=None):
    command = [tool, "bench", *workloads, "--machine", args.machine, "--repeat", str(args.runs), "--json", "-"]
    command += ["--data", data] if data else []
    return report.run_json(command + (["--svg", svg] if svg else []))


def best(rates, group, names):
    """The best rate of the rows of a group whose names begin so."""
    return max(rate for (g, row), rate in rates.items() if g == group and row.startswith(names))


def best_managed(rates, group):
    """Managed memory with the hint that is best for this; the row that is newly written each run is other work."""
    return max(rate for (g, row), rate in rates.items()
               if g == group and row.startswith("managed") and row != "managed-host-written")


def of(rates, group, ours, theirs):
    return best(rates, group, ours) / best(rates, group, theirs)


def claims_of_pages(r):
    return [(f"pages of {size}, of the zero-copy stream", of(r, f"pages-{size}", "paged", "stream"), 0.95, True)
            for size in ("4K", "16K")] + [
        ("pages of 512, of warp copies of the same", r["pages-512", "paged-batch"] / r["pages-512", "copy"], 0.95, True),
        ("pages of 512, of such copies that keep a table", r["pages-512", "paged-batch"] / r["pages-512", "copy-noted"], 0.95, True),
        ("pages of 4K, times managed memory with its best hint", r["pages-4K", "paged-batch"] / best_managed(r, "pages-4K"), 50,
         True)]


def claims_of_sequential(r):
    return [("in order through the cache, of the zero-copy stream", of(r, "sequential", "paged", "zero-copy"), 0.98, True),
            ("in order, times managed memory with its best hint",
             best(r, "sequential", "paged") / best_managed(r, "sequential"), 7, True)]


def claims_of_add(r):
    return [("C = A + B, of tiles with double-buffered copies", of(r, "add", "paged", "tiles"), 1.0, True),
            ("C = A + B, of its limit, the same by zero-copy", of(r, "add", "paged", "zero-copy"), 0.95, True)]


def claims_of_reuse(r):
    return [(f"reuse, cache {row[6:]} of the data: time over that of its misses on the link", r["reuse", "stream"] / rate,
             1.15, False) for (group, row), rate in r.items() if group == "reuse" and row.startswith("cache")]


def claims_of_cpu(r):
    return [(f"pages of {size} through a cold cache, of copies of the same", r[f"pages-{size}", "paged-batch"] / r[f"pages-{size}", "copy"], 0.5,
             True) for size in ("4K", "16K")]


WORKLOADS = {"sequential": claims_of_sequential, "pages": claims_of_pages, "words": lambda r: [], "reuse": claims_of_reuse,
             "add": claims_of_add}


def main():
    p = report.parser(__doc__)
    p.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=f"of {', '.join(WORKLOADS)} (default all)")
    p.add_argument("--machine", default="cuda" if os.path.exists("/dev/nvidia0") else "cpu")
    p.add_argument("--data", help="bytes of each array (default 256M, on a GPU 8G)")
    p.add_argument("--add-data", help="bytes of each array of C = A + B (default as --data, on a GPU 16G)")
    p.add_argument("--svg", help="write the drawing of all workloads but C = A + B to this file")
    p.set_defaults(runs=3)
    args = p.parse_args()
    tool = report.program(args, "tools", "grapnel")
    gpu = args.machine.startswith("cuda")
    chosen = args.workloads or list(WORKLOADS)
    one = [name for name in chosen if name != "add"]
    results = [measure(args, tool, one, args.data, args.svg)] if one else []
    if "add" in chosen:
        results.append(measure(args, tool, ["add"], args.add_data or ("16G" if gpu else args.data)))
    rates = {}
    for result in results:
        rows.show(result)
        rates.update(rows.rates(result))
    claims = [("every word was what it should be", int(all(r["context"]["bench"]["verified"] for r in results)), 1, True)]
    for name in chosen if gpu else []:
        claims += WORKLOADS[name](rates)
    if not gpu and "pages" in chosen:
        claims += claims_of_cpu(rates)
    name = "-".join(["bench", "gpu" if gpu else "cpu"] + args.workloads)
    return report.save(args, name, {"results": results}, claims)


if __name__ == "__main__":
    sys.exit(main())
