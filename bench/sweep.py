#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much slower do jobs become as the cache shrinks from all of the data to a sixteenth of it?

By grapnel sweep, over data in a file: a search of a Kronecker graph, both products of a matrix in one pass (mvt), and atax, whose
second product needs the first. Claims: the search takes at most 3 times as long with a cache of an eighth, and moves at most 3 times
the graph; mvt is at most a quarter slower with a sixteenth, and moves the matrix once; atax moves it at most twice. Times are ratios
of the same run. The first run of each point is verified.

    bench/sweep.py [--machine cpu|cuda] [--scale 20] [--rows 4000] [--pressure LIST] [--runs 3] [--build DIR] [--json OUT]
"""
import os
import sys

from support import graph, report


def jobs(args):
    path = report.graph(args, args.scale)
    matrix = ["--rows", args.rows, "--columns", args.rows]
    return {"bfs": ["bfs", os.path.relpath(path), "--source", str(graph.first_source(path))], "mvt": ["mvt", *matrix],
            "atax": ["atax", *matrix]}


def sweep(args, job):
    found = report.run_json([report.program(args, "tools", "grapnel"), "sweep", "--json", "-", "--verify", "--repeat", str(args.runs),
                             "--pressure", args.pressure, *job, "--store", "file", "--machine", args.machine])
    print(f"{' '.join(found['job'])}:")
    for p in found["points"]:
        print(f"  pressure {p['pressure']:g}: " + ("left out" if p["left_out"] else
              f"{p['seconds']:.3f} s, slowdown {p['slowdown']:.2f}, reads the data {p['read_bytes'] / found['data_bytes']:.2f} times"))
    return found


def at(found, pressure, what):
    point = next(p for p in found["points"] if p["pressure"] == pressure)
    return point["slowdown"] if what == "slowdown" else point["read_bytes"] / found["data_bytes"]


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--scale", default="20")
    p.add_argument("--rows", default="4000", help="rows and columns of the matrix (default 4000)")
    p.add_argument("--pressure", default="1,2,3,4,8,16", help="as of grapnel sweep; 8 and 16 among them (default 1,2,3,4,8,16)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    found = {name: sweep(args, job) for name, job in jobs(args).items()}
    return report.save(args, "sweep", {"sweeps": found}, [
        ("bfs: slowdown with a cache of an eighth", at(found["bfs"], 8, "slowdown"), 3, False),
        ("bfs: times the graph is read, an eighth", at(found["bfs"], 8, "read"), 3, False),
        ("mvt: slowdown with a cache of a sixteenth", at(found["mvt"], 16, "slowdown"), 1.25, False),
        ("mvt: times the matrix is read, a sixteenth", at(found["mvt"], 16, "read"), 1.05, False),
        ("atax: times the matrix is read, a sixteenth", at(found["atax"], 16, "read"), 2.05, False)])


if __name__ == "__main__":
    sys.exit(main())
