#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the mode that gn_auto chooses come close to the best fixed one, whatever the accesses are?

Twelve access patterns, several launches each, in direct mode, through pages of 512 B, 4 KiB, 16 KiB and 64 KiB, as batches of
rows (gather) where what is read is known ahead, and as gn_auto chooses; where it advises to gather, its launches are made of
batches from then on. Its time holds the looking, the deciding and the changes of mode. On a GPU: within 10 % of the best mode
in which the pattern's own kernel runs, and, once the choice is made (the later half of the launches), within 10 % of the best
of all, batches among them. On the cpu machine, whose launches take milliseconds and share their cores with whatever else
runs, the choice itself is what counts: the later launches are as fast as those of the best mode of all within a third.

    bench/auto.py [--machine cpu|cuda] [--data SIZE] [--cache SIZE] [--touches N] [--runs N] [--build DIR] [--json OUT]

The median of each mode over the runs counts, and all are printed and kept: where pages come to lie changes from cache to cache,
and with it how fast a mode is, by as much as a tenth in the pattern hot-set. Fixed modes with which a launch takes a hundred
times as long are left out, and one that takes half as long again as the best is not run to its end. Every word read,
gathered or written is checked by the program.
"""
import math
import statistics
import sys

from support import report, rows


def rest(run):
    """The median of the second half of the launches: what it is like once the choice is made."""
    late = sorted(run["seconds"][len(run["seconds"]) // 2:])
    return late[len(late) // 2]


def medians(runs, seconds):
    """Of each mode the median over the runs, of which one that was not run to its end is the slowest. runs: those of one pattern"""
    of_mode = {}
    for pattern in runs:
        most = max(run["launches"] for run in pattern["runs"])
        for run in pattern["runs"]:
            of_mode.setdefault(run["mode"], []).append(seconds(run) if run["launches"] == most else math.inf)
    return {mode: found for mode, found in ((m, statistics.median_low(s)) for m, s in of_mode.items()) if found < math.inf}


def patterns_of(result):
    """Each with its runs, one a mode, and what gn_auto advised."""
    found = {}
    for (pattern, mode), seconds in rows.seconds(result).items():
        found.setdefault(pattern, []).append({"mode": mode, "launches": len(seconds), "seconds": seconds, "total_seconds": sum(seconds)})
    said = result["context"]["bench"]["patterns"]
    return [{"pattern": pattern, "runs": runs, "advice": said[pattern]["advice"]} for pattern, runs in found.items()]


def claims_of(runs, gpu):
    """runs: those of one pattern"""
    total, late = medians(runs, lambda run: run["total_seconds"]), medians(runs, rest)
    own = {mode: found for mode, found in total.items() if mode not in ("auto", "gather")}
    best = min((mode for mode in total if mode != "auto"), key=total.get)
    name, bound = runs[0]["pattern"], 1.1 if gpu else 1.33
    claims = [(f"{name}: late launches over those of the best mode, {best}", late["auto"] / late[best], bound, False)]
    if gpu and own:
        what = f"{name}: gn_auto over the best mode of the same kernel, {min(own, key=own.get)}"
        claims.insert(0, (what, total["auto"] / min(own.values()), bound, False))
    elif gpu:  # at most this: each takes longer than the part of it that was run
        parts = [r["total_seconds"] for p in runs for r in p["runs"] if r["mode"] not in ("auto", "gather") and r["launches"]]
        claims.insert(0, (f"{name}: gn_auto over the best mode of the same kernel, at most", total["auto"] / min(parts), bound, False))
    return claims


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--data", help="bytes of data, a power of two (default 64M, on a GPU 2G)")
    p.add_argument("--cache", help="bytes of cache (default one eighth of the data)")
    p.add_argument("--touches", help="scattered accesses of a launch (default one for each 32 words, on a GPU 1048576)")
    p.add_argument("--launches", help="launches of a run (default 12, on a GPU 32)")
    p.add_argument("--pattern", help="run this pattern only")
    p.set_defaults(runs=None)
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    launches = args.launches or ("32" if gpu else "12")
    command = [report.program(args, "tools", "grapnel"), "auto-bench", "--machine", args.machine, "--launches", launches,
               "--data", args.data or ("2G" if gpu else "64M"), "--json", "-"]
    command += ["--cache", args.cache] if args.cache else []
    command += ["--touches", args.touches or "1048576"] if args.touches or gpu else []
    command += ["--pattern", args.pattern] if args.pattern else []
    results = [report.run_json(command) for _ in range(args.runs or (3 if gpu else 1))]
    claims = []
    for result in results:
        rows.show(result)
    for runs in zip(*(patterns_of(r) for r in results)):
        claims += claims_of(runs, gpu)
    return report.save(args, f"auto-{'gpu' if gpu else 'cpu'}",
                       {"command": " ".join(["grapnel"] + command[1:]), "results": results}, claims)


if __name__ == "__main__":
    sys.exit(main())
