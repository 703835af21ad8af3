#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are whole jobs over data that are larger than their cache as fast as they should be?

By grapnel sweep, each job through caches of all, a third and a quarter of its data in host memory, beside the same kernels over all
data in the machine's memory (incore), in pinned host memory (zerocopy), in managed memory with its best hint (managed), and by tiles
that are copied. A search is the mean over several sources, and the cache stays between them; the other jobs begin with an empty one.
Each target says yes or no on a GPU; one that is missed stays. Managed memory is measured with free memory for all
data, so what it loses when data do not fit does not show here; for the first source its data are still in host memory (cold). On cpu the jobs are run, and nothing is claimed.

Beside the targets of jobs that read every edge once in each pass or search stands their limit. A cache that holds one part in four of
the edges finds at most that part of each pass but the first. All other edges cross the link. If two runs made other numbers of
passes, as Shiloach-Vishkin does, a run that made fewer passes than the baseline counts as long as it would take for as many.

    bench/jobs.py [JOB...] [--machine cpu|cuda] [--scale 25] [--sources N] [--data MIB] [--rows N] [--kind kron|urand] [--graph FILE]
                  [--verify] [--runs 1] [--build DIR] [--json OUT]

A JOB is one of those below; without one all are run. --data is the size of a matrix, of each array of add, and of a grid.
"""
import math
import os
import subprocess
import sys

from support import report, rows

THIRD, QUARTER = 3, 4
PASSES = ["bfs", "cc", "pagerank"]  # jobs that read every edge once in each pass or search
EDGE_BYTES = 4
GRAPHS = ["bfs", "bfs-direction", "cc", "afforest", "sssp", "pagerank"]
JOBS = GRAPHS + ["mvt", "atax", "bicg", "add", "stencil", "sort", "query"]
MANAGED = ["incore", "zerocopy", "managed"]


def jobs(args):
    """name: (arguments, baselines)"""
    wanted = args.jobs or JOBS
    path = report.graph(args, args.scale, path=args.graph, kind=args.kind) if set(wanted) & set(GRAPHS) else ""
    source = ["--sources", args.sources]
    side = str(math.isqrt(args.data << 18))
    matrix = ["--rows", side, "--columns", side]
    tiled = MANAGED + ["tiled"]
    found = {
        "bfs": (["bfs", path, "--trust", *source, "--algorithm", "top-down"], MANAGED),
        "bfs-direction": (["bfs", path, "--trust", *source, "--algorithm", "direction-optimising"], MANAGED),
        "cc": (["cc", path, "--trust", "--algorithm", "sv"], MANAGED),
        "afforest": (["cc", path, "--trust", "--algorithm", "afforest"], MANAGED),
        "sssp": (["sssp", path, "--trust", *source, "--most", "255"], MANAGED),
        "pagerank": (["pagerank", path, "--trust", "--algorithm", "pull"], MANAGED),
        "mvt": (["mvt", *matrix], tiled), "atax": (["atax", *matrix], tiled), "bicg": (["bicg", *matrix], tiled),
        "add": (["add", "--data", f"{args.data}M"], tiled), "stencil": (["stencil", *matrix, "--steps", "4"], tiled),
        "sort": (["sort", "--count", str(args.data << 18)], MANAGED),
    }
    if "query" in wanted:
        found["query"] = (["query", table(args), "--trust", "--where", "distance >= 30", "--sum", "total,surcharge"],
                          ["incore", "zerocopy"])
    return {name: job for name, job in found.items() if name in wanted}


def table(args):
    path = os.path.join(args.build, f"bench-taxis-{args.rows}.gnt")
    if not os.path.exists(path):
        subprocess.run([report.program(args, "tools", "grapnel"), "gen", "taxis", "--rows", args.rows, path], check=True)
    return path


def sweep(args, arguments, baselines):
    command = [report.program(args, "tools", "grapnel"), "sweep", "--json", "-", "--repeat", str(args.runs), "--pressure",
               f"1,{THIRD},{QUARTER}", "--baseline", ",".join(baselines), *(["--verify"] if args.verify else []), *arguments,
               "--store", "host", "--machine", args.machine]
    found = report.run_json(command)
    found["job"] = [os.path.basename(word) for word in found["job"]]
    return found


def row_of(found, name):
    """Of a baseline, or of the cache of a pressure; None if it was left out."""
    rows = {row["baseline"]: row for row in found["baselines"]} | {p["pressure"]: p for p in found["points"]}
    return rows[name] if name in rows and not rows[name]["left_out"] else None


def seconds(found, name):
    row = row_of(found, name)
    return row["seconds"] if row else None


def passes_more(found, name, other):
    """How many times as many passes over the edges one row made as another. Shiloach-Vishkin makes three or four, as threads meet."""
    one, two = row_of(found, name), row_of(found, other)
    edges = [row.get("edges_traversed") for row in (one, two) if row]
    return edges[0] / edges[1] if len(edges) == 2 and all(edges) else 1


def show(name, found):
    times = {"pressure 1": 1, "a third": THIRD, "a quarter": QUARTER}
    times |= {row["baseline"]: row["baseline"] for row in found["baselines"]}
    print(f"{name}: " + ", ".join(f"{what} {seconds(found, key):.4g} s" for what, key in times.items() if seconds(found, key)))


def over(found, baseline, job="", pressure=QUARTER):
    """The baseline's time over ours; None if one of them was left out."""
    theirs, ours = seconds(found[job or baseline[1]], baseline[0]), seconds(found[baseline[1]], pressure)
    if theirs and ours and baseline[1] in PASSES:
        ours *= max(1, passes_more(found[baseline[1]], baseline[0], pressure))  # fewer passes are no speed
    return theirs / ours if theirs and ours else None


def over_cold(found, job):
    """The time of managed memory for the first source, when all data are still with the host, over the mean of ours; None without it."""
    managed = next((row for row in found[job]["baselines"] if row["baseline"] == "managed"), {})
    ours = seconds(found[job], QUARTER)
    return managed["first_source_seconds"] / ours if managed.get("first_source_seconds") and ours else None


def ratios(args, found):
    """(what, measured or None, bound, at least) of the jobs that were run."""
    kron = args.kind == "kron"
    bounds = [("bfs", "zerocopy", 1.2 if kron else 1.0), ("bfs", "managed", 5), ("bfs-direction", "zerocopy", 1.0), ("cc", "zerocopy", 1.3),
              ("cc", "managed", 5), ("sssp", "zerocopy", 1.3), ("sssp", "managed", 5), ("pagerank", "zerocopy", 1.3),
              ("pagerank", "managed", 5)]
    bounds += [(job, "managed", 4) for job in ("mvt", "atax", "bicg", "add")]
    bounds += [(job, "tiled", 0.95) for job in ("mvt", "atax", "bicg", "add")]
    claims = [(f"{job}: times as fast as {baseline}", over(found, (baseline, job)), bound, True)
              for job, baseline, bound in bounds if job in found]
    claims += [(f"{job}: times as fast as managed, cold", over_cold(found, job), 5, True) for job in ("bfs", "sssp") if job in found]
    for job, other, what in [("bfs-direction", "bfs", "top-down zerocopy"), ("afforest", "cc", "zerocopy Shiloach-Vishkin")]:
        if (kron or job != "bfs-direction") and job in found and other in found:
            claims.append((f"{job}: times as fast as {what}", over(found, ("zerocopy", job), other), 3, True))
    return claims


def least_bytes(found, baseline, pressure):
    """(bytes that a job of PASSES reads in as many passes as the baseline made, those that a cache must fetch), over all sources."""
    wanted = row_of(found, baseline)["edges_traversed"] * EDGE_BYTES
    return wanted, wanted - wanted / pressure + row_of(found, pressure)["cache_bytes"]


def limits(args, found, bandwidth, claims):
    """
    The best value that claims of this run can have, by their names. Over zerocopy at the same rate of the link, which reads all
    edges in each pass; over others at the rate of a pinned copy.
    """
    best = {}
    for job in [job for job in PASSES if job in found and bandwidth]:
        rate = bandwidth * (int(args.sources) if job == "bfs" else 1)  # the times are a mean over the sources
        for name in [claim[0] for claim in claims if claim[0].startswith(f"{job}: time")]:
            what = name[len(job) + 2:]
            baseline = "incore" if "incore" in what else "managed" if "managed" in what else "zerocopy"
            wanted, fetched = least_bytes(found[job], baseline, THIRD if baseline == "incore" else QUARTER)
            row = row_of(found[job], baseline)
            theirs = row["first_source_seconds"] if "cold" in what else row["seconds"]
            best[name] = {"incore": fetched / rate / theirs, "managed": theirs * rate / fetched, "zerocopy": wanted / fetched}[baseline]
    return best


def slower(found, bound, passes=1):
    ours = seconds(found, THIRD)
    return ours * max(1, passes) / bound if ours and bound else None  # fewer passes are no speed


def slowdowns(found, bandwidth):
    claims = [(f"{job}: time with a cache of a third over incore", slower(found[job], seconds(found[job], "incore"),
               passes_more(found[job], "incore", THIRD) if job in PASSES else 1), 2, False)
              for job in GRAPHS if job in found]
    for job in ("mvt", "atax", "bicg"):
        if job in found and bandwidth:
            bound = found[job]["data_bytes"] / bandwidth
            claims.append((f"{job}: time with a cache of a third over that of the link", slower(found[job], bound), 2, False))
    return claims


def moved(found):
    point = next(p for p in found["query"]["points"] if p["pressure"] == QUARTER) if "query" in found else None
    return [("query: bytes moved over those of needed sectors", point["moved_over_needed"], 1.3, False)] if point else []


def link(args):
    """Bytes a second of a pinned copy to the GPU, of the same run."""
    found = report.run_json([report.program(args, "tools", "grapnel"), "bench", "sum", "--machine", args.machine, "--data", "1G",
                             "--repeat", "3", "--json", "-"])
    return 1e9 * rows.rates(found)["sum", "memcpy-in"]


def main():
    p = report.parser(__doc__)
    p.add_argument("jobs", nargs="*", metavar="JOB", help=f"of {', '.join(JOBS)} (default all)")
    p.add_argument("--machine", default="cuda" if os.path.exists("/dev/nvidia0") else "cpu")
    p.add_argument("--scale", help="of the graph (default 25 on a GPU, 12 on cpu)")
    p.add_argument("--sources", help="searches, and shortest paths, of a run, whose mean counts (default 32 on a GPU, 2 on cpu)")
    p.add_argument("--kind", choices=["kron", "urand"], default="kron",
                   help="GAP's graph: one bound of the search top-down and one of the direction-optimising search are for kron alone "
                        "(default kron)")
    p.add_argument("--graph", help="file of the graph (default: one is made in the build folder)")
    p.add_argument("--data", type=int, help="MiB of a matrix, an array or a grid (default 8192 on a GPU, 1 on cpu)")
    p.add_argument("--rows", help="of the table (default 100 million on a GPU, 100000 on cpu)")
    p.add_argument("--verify", action="store_true", help="verify the first run of each row")
    p.set_defaults(runs=1)
    args = p.parse_args()
    for job in args.jobs:
        if job not in JOBS:
            p.error(f"{job}: there is no such job")
    gpu = args.machine.startswith("cuda")
    args.scale = args.scale or ("25" if gpu else "12")
    args.sources = args.sources or ("32" if gpu else "2")
    args.data = args.data or (8192 if gpu else 1)
    args.rows = args.rows or ("100000000" if gpu else "100000")
    bandwidth = link(args) if gpu else None
    schema = "jobs-gpu" if gpu else "jobs-cpu"
    found = {}
    for name, (arguments, baselines) in jobs(args).items():
        found[name] = sweep(args, arguments, baselines)
        show(name, found[name])
        report.keep(args, schema, {"link_bytes_per_second": bandwidth, "sweeps": found})  # a run that is ended later keeps this
    claims = [c for c in ratios(args, found) + slowdowns(found, bandwidth) + moved(found) if gpu and c[1] is not None]
    best = limits(args, found, bandwidth, claims)
    for name, value in best.items():
        print(f"limit: {name}: {value:.3g}")
    return report.save(args, schema, {"link_bytes_per_second": bandwidth, "sweeps": found, "limits": best}, claims)


if __name__ == "__main__":
    sys.exit(main())
