#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the mode that gn_auto chooses come close to the best fixed one, whatever the accesses are?

Twelve access patterns, several launches each, in direct mode, through pages of 512 B, 4 KiB, 16 KiB and 64 KiB, and as
gn_auto chooses. Its time holds the looking, the deciding and the changes of mode. On a GPU: within 10 % of the best fixed
mode on each pattern. On the cpu machine, whose launches take milliseconds and share their cores with whatever else runs,
the choice itself is what counts: the last launch's mode is the best fixed one, or is as fast as it within a third.

    bench/auto.py [--machine cpu|cuda] [--data SIZE] [--cache SIZE] [--touches N] [--build DIR] [--json OUT]

Fixed modes with which a launch takes a hundred times as long are left out, and one that takes three times as long as gn_auto
is not run to its end. Every word read is checked by the program.
"""
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
    print(f"  {pattern['pattern']:11} {pattern['auto_over_best']:5.2f} of {pattern['best_fixed']}   {'  '.join(cells)} ms")


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--data", help="how much data, a power of two (default 64M, on a GPU 8G)")
    p.add_argument("--cache", help="bytes of cache (default one eighth of the data)")
    p.add_argument("--touches", help="scattered accesses of a launch (default one for each 32 words, on a GPU 4194304)")
    p.add_argument("--launches", default="12")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    command = [report.program(args, "tools", "grapnel"), "auto-bench", "--machine", args.machine, "--launches", args.launches,
               "--data", args.data or ("8G" if gpu else "64M"), "--json", "-"]
    command += ["--cache", args.cache] if args.cache else []
    command += ["--touches", args.touches or "4194304"] if args.touches or gpu else []
    result = report.run_json(command)
    print(f"{result['machine']['name']}, {result['path']}, cache {result['cache_bytes'] >> 20} MiB, {args.launches} launches")
    claims = []
    for pattern in result["patterns"]:
        show(pattern, result["launches"])
        if gpu:
            claims.append((f"{pattern['pattern']}: gn_auto over the best fixed mode", pattern["auto_over_best"], 1.1, False))
        else:
            over = rest(run_of(pattern, "auto")) / rest(run_of(pattern, pattern["best_fixed"]))
            claims.append((f"{pattern['pattern']}: late launches over those of the best fixed mode", over, 1.33, False))
    return report.save(args, f"auto-{'gpu' if gpu else 'cpu'}",
                       {"command": " ".join(["grapnel"] + command[1:]), "result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
