#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the loop that a user writes first as fast as plain loads of the same host memory, and faster where there is reuse?

    bench/natural.py [PART...] [--machine cpu|cuda] [--data SIZE] [--page SIZE] [--before JSON] [--graph FILE] [--build DIR]
                     [--json OUT]

A part is a workload of `grapnel bench` (sum, which is always run, rows, random, hot-rows, few-frames, search, stores, patterns)
or bfs; without one all are run. Each target says yes or no on a GPU; one that is missed stays. A figure over plain is over the
fastest of several plain loops of the same run, and stands beside the machine's limits of that run: pinned copies and the
zero-copy stream. On cpu the sums are verified and nothing else is claimed.

With --before, the JSON of an earlier run, patterns that are read again are set beside what they were then.
"""
import json
import os
import statistics
import sys

from support import report, rows

# (group, row, share of plain at least, what)
TARGETS = [
    ("sum", "paged-read", 0.95, "sum with gn_read"),
    ("sum", "paged-view", 0.95, "sum with []"),
    ("sum", "paged-cursor", 0.95, "sum with a cursor"),
    ("rows", "paged-cold", 0.85, "rows of 128 bytes"),
    ("random", "paged-cold", 0.8, "random words"),
    ("hot-rows", "paged-cold", 1.15, "scattered hot rows, the first time"),
    ("hot-rows", "paged-again", 20, "scattered hot rows, the second time"),
    ("search", "paged-1/8", 3, "binary search, cache an eighth of the keys"),
    ("few-frames", "paged-cold", 0.5, "random words through 512 frames"),
    ("stores", "direct-write", 0.95, "direct writes"),
]
PATTERN = 0.8  # of plain, any pattern, cold
REUSE = 0.97   # of what it was before: runs differ by so much
SEARCHES = {"paged": 1.15, "auto": 1.1}  # time over that of direct, at most
WORKLOADS = ["sum", "rows", "random", "hot-rows", "few-frames", "search", "stores", "patterns"]


def measure(args, tool, parts):
    command = [tool, "bench", *parts, "--machine", args.machine, "--repeat", str(args.runs), "--json", "-"]
    command += ["--data", args.data] if args.data else []
    command += ["--page", args.page] if args.page else []
    return report.run_json(command)


def limits(r):
    """What the link to host memory gave in this run, giga bytes a second. Only a GPU has one."""
    found = {"zero-copy stream": r["sum", "plain"], "zero-copy stores": r.get(("stores", "plain"))}
    found.update({f"pinned {name}": r.get(("sum", name)) for name in ("memcpy-in", "memcpy-out", "memcpy-both")})
    return {name: rate for name, rate in found.items() if rate}


def claims_of_loops(r):
    claims = [(f"{what}, of plain", r[group, row] / r[group, "plain"], bound, True)
              for group, row, bound, what in TARGETS if (group, row) in r]
    return claims + [(f"{group[8:]} cold, of plain", rate / r[group, "plain"], PATTERN, True)
                     for (group, row), rate in r.items() if group.startswith("pattern-") and row == "paged-cold"]


def claims_of_reuse(r, before):
    """Patterns that are faster the second time have reuse."""
    return [(f"{group} again, of what it was", rate / before[group, row], REUSE, True)
            for (group, row), rate in r.items()
            if row == "paged-again" and (group, row) in before and before[group, row] > before[group, "paged-cold"]]


# ---- bfs ----

def searches(args, tool):
    """One search a process, each with a cold cache; the ways take turns."""
    graph = report.graph(args, args.scale, path=args.graph)
    quarter = ["--cache", str(os.path.getsize(graph) // 4)]
    ways = {"direct": ["--mode", "direct"], "paged": quarter + (["--page", args.page] if args.page else []),
            "auto": ["--mode", "auto"] + quarter}
    command = [tool, "bfs", graph, "--source", "1", "--algorithm", "top-down", "--machine", args.machine, "--store", "host", "--trust",
               "--json", "-"]
    found = {way: [] for way in ways}
    for run in range(args.runs):
        for way, options in ways.items():
            found[way].append(report.run_json(command + options + (["--verify"] if not run else [])))
            found[way][-1]["graph"]["path"] = os.path.basename(graph)
    for way, runs in found.items():
        print(f"bfs {way:7} {statistics.median(r['seconds'] for r in runs):8.4f} s  ({runs[0]['path']})")
    return found


def claims_of_searches(found):
    seconds = {way: statistics.median(r["seconds"] for r in runs) for way, runs in found.items()}
    return [(f"breadth-first search, {way}, cache a quarter: time over direct", seconds[way] / seconds["direct"], bound, False)
            for way, bound in SEARCHES.items()]


# ---- keeping it ----

def default_json(result):
    """A whole run on a GPU is a result of the project."""
    name = result["context"]["bench"]["machine"]["name"].lower().replace("nvidia", "").split()
    return os.path.join(report.ROOT, "bench", "results", f"{name[0] if name else 'gpu'}-natural.json")


def main():
    p = report.parser(__doc__)
    p.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(WORKLOADS)}, bfs (default all)")
    p.add_argument("--machine", default="cuda" if os.path.exists("/dev/nvidia0") else "cpu")
    p.add_argument("--data", help="bytes of data in host memory (default 16G on a GPU, 16M on cpu)")
    p.add_argument("--page", help="bytes of a page (default as the library chooses)")
    p.add_argument("--before", help="JSON of an earlier run; the patterns that are read again are compared with it")
    p.add_argument("--graph", help="file of the graph for the search (default: one is made in the build folder)")
    p.add_argument("--scale", help="scale of the graph that is made (default 25 on a GPU, 14 on cpu)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    args.data = args.data or ("16G" if gpu else "16M")
    args.scale = args.scale or ("25" if gpu else "14")
    for part in args.parts:
        if part not in [*WORKLOADS, "bfs"]:
            p.error(f"{part}: there is no such part")
    tool = report.program(args, "tools", "grapnel")
    parts = args.parts or [*WORKLOADS, "bfs"]
    result = measure(args, tool, ["sum"] + [name for name in parts if name not in ("sum", "bfs")])
    rows.show(result)
    found = searches(args, tool) if "bfs" in parts else {}
    r = rows.rates(result)
    claims = [("every sum was what it should be", int(result["context"]["bench"]["verified"]), 1, True)]
    if found:
        claims.append(("every depth was what it should be", int(all(runs[0]["verified"] for runs in found.values())), 1, True))
    if gpu:
        print("limits of this run: " + ", ".join(f"{name} {rate:.4g} GB/s" for name, rate in limits(r).items()))
        claims += claims_of_loops(r) + (claims_of_searches(found) if found else [])
    if gpu and args.before:
        with open(args.before) as before:
            claims += claims_of_reuse(r, rows.rates(json.load(before)["loops"]))
    if gpu and not args.parts:
        args.json = args.json or default_json(result)
    name = "-".join(["natural", "gpu" if gpu else "cpu"] + args.parts)
    return report.save(args, name, {"limits": limits(r) if gpu else {}, "loops": result, "searches": found}, claims)


if __name__ == "__main__":
    sys.exit(main())
