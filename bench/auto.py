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

The median over the runs counts, and all are printed and kept: where pages come to lie changes from cache to cache, and with it
how fast a fixed mode is, by as much as a tenth. Fixed modes with which a launch takes a hundred times as long are left out, and one that takes half as long again as the
best is not run to its end. Every word read, gathered or written is checked by the program.
"""
import statistics
import sys

from support import report


def run_of(pattern, mode):
    return next(run for run in pattern["runs"] if run["mode"] == mode)


def rest(run):
    """The median of the second half of the launches: what it is like once the choice is made."""
    late = sorted(run["seconds"][len(run["seconds"]) // 2:])
    return late[len(late) // 2]


def show(pattern, launches):
    cells = []
    for run in pattern["runs"]:
        cut = ">" if run["launches"] < launches else " "
        cells.append(f"{run['mode']} {cut}{1e3 * run['total_seconds']:.1f}")
    print(f"  {pattern['pattern']:11} {pattern['auto_over_best']:5.2f} of {pattern['best']}   {'  '.join(cells)} ms"
          f"   advice: {pattern['advice']}")


def late_over_best(pattern):
    return rest(run_of(pattern, "auto")) / rest(run_of(pattern, pattern["best"]))


def auto_over_own(pattern):
    """At most this, where no mode of the kernel was run to its end: each takes longer than the part of it that was."""
    if pattern["best_own"]:
        return pattern["auto_over_best_own"]
    parts = [r["total_seconds"] for r in pattern["runs"] if r["mode"] not in ("auto", "gather") and r["launches"]]
    return run_of(pattern, "auto")["total_seconds"] / min(parts)


def ratios_of(pattern, gpu):
    late = (f"{pattern['pattern']}: late launches over those of the best mode", late_over_best(pattern))
    own = (f"{pattern['pattern']}: gn_auto over the best mode of the same kernel", auto_over_own(pattern))
    return [own, late] if gpu else [late]


def medians(runs):
    """runs: for each the same list of (what, ratio). Prints what differs, and returns (what, median over the runs)."""
    found = []
    for several in zip(*runs):
        ratios = [ratio for _, ratio in several]
        found.append((several[0][0], statistics.median(ratios)))
        if len(runs) > 1:
            print(f"  {several[0][0]}: " + " ".join(f"{ratio:.3f}" for ratio in ratios))
    return found


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--data", help="how much data, a power of two (default 64M, on a GPU 2G)")
    p.add_argument("--cache", help="bytes of cache (default one eighth of the data)")
    p.add_argument("--touches", help="scattered accesses of a launch (default one for each 32 words, on a GPU 1048576)")
    p.add_argument("--launches", help="launches of a run (default 12, on a GPU 32)")
    p.add_argument("--pattern", help="only this one")
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
    result = results[0]
    print(f"{result['machine']['name']}, {result['path']}, cache {result['cache_bytes'] >> 20} MiB, {launches} launches")
    for several in zip(*(r["patterns"] for r in results)):
        for pattern in several:
            show(pattern, result["launches"])
    found = medians([[ratio for pattern in r["patterns"] for ratio in ratios_of(pattern, gpu)] for r in results])
    return report.save(args, f"auto-{'gpu' if gpu else 'cpu'}",
                       {"command": " ".join(["grapnel"] + command[1:]), "results": results},
                       [(what, ratio, 1.1 if gpu else 1.33, False) for what, ratio in found])


if __name__ == "__main__":
    sys.exit(main())
