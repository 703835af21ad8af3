#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast is the simulated machine, and in how much memory?

Every workload of the DualOpt paper, in the sizes of `grapnel sim paper`, as it is and with all of DualOpt, each alone on one
core: lines of vector instructions and wavefront instructions for a second of processor time, with all that a run does (input,
kernels, timing, and the reference on the host that its results are compared with). Then with its GPUs on two threads: how many
times as soon all that is over; the counts are the same. The best of --runs counts: the machine may be shared. There is no limit
of the hardware beside it, but events: each costs the host a few lines of its memory.

    bench/sim_speed.py [--runs N] [--build DIR] [--json OUT] [--against GRAPNEL] [--one]

--against: another grapnel, an older one, does the same in turns; its seconds of processor time are kept beside. --one: on one thread alone.
"""
import json
import os
import statistics
import subprocess
import sys
import time

from support import report

SIZES = {"atax": "1024", "bfs": "65536,16", "bicg": "1024", "pr": "8192,.002,4", "spmv": "16384,.001", "km": "16384,1", "mm": "512",
         "mt": "1024", "st": "1024", "bs": "65536", "sc": "1022", "aes": "1048576", "fir": "1048576"}
RATIOS = {"two_threads_as_fast": "two threads", "times_as_fast": "over the other"}
MGPUSIM_LINES, MGPUSIM_INSTRUCTIONS = 3e3, 10e3  # a second, v3.0.3 on one core


def once(command):
    """What a run counted, its seconds of processor time, MB at their peak, and how long it took."""
    begin = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    text = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    return json.loads(text), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, time.monotonic() - begin


def measure(args, workload, opt):
    command = [report.program(args, "tools", "grapnel"), "sim", "run", workload, "--size", SIZES[workload], "--opt", opt, "--config",
               "dualopt.conf", "--json", "-"]
    other = [args.against or command[0], *command[1:]]
    runs, on_two, others = zip(*[(once(command), None if args.one else once(command + ["--threads", "2"]), once(other) if args.against else None)
                                 for _ in range(args.runs)])
    counted = runs[0][0]
    if not counted["verified"] or any(r[0]["kernel_cycles"] != counted["kernel_cycles"] for r in runs + on_two if r):
        sys.exit(f"{workload}: wrong results, or other cycles in another run")
    seconds = min(r[1] for r in runs)
    row = {"workload": workload, "size": SIZES[workload], "opt": opt, "seconds": round(seconds, 3), "peak_mb": round(max(r[2] for r in runs)),
           "lines_per_second": (counted["vector_reads"] + counted["vector_writes"]) / seconds,
           "instructions_per_second": counted["wavefront_instructions"] / seconds, "events_per_second": counted["events"] / seconds}
    if not args.one:
        row["two_threads_as_fast"] = min(r[3] for r in runs) / min(r[3] for r in on_two)
    if args.against:
        row["seconds_of_the_other"] = round(min(r[1] for r in others), 3)
        row["times_as_fast"] = row["seconds_of_the_other"] / seconds
    print(f"  {workload:5} {opt:8} {seconds:5.2f} s, {row['peak_mb']:4} MB: {row['lines_per_second'] / 1e6:5.2f} M lines/s, "
          f"{row['instructions_per_second'] / 1e6:5.2f} M instructions/s, {row['events_per_second'] / 1e6:5.1f} M events/s"
          + "".join(f"; {text} {row[key]:.2f}x" for key, text in RATIOS.items() if key in row), flush=True)
    return row


def main():
    parser = report.parser(__doc__)
    parser.add_argument("--against")
    parser.add_argument("--one", action="store_true")
    args = parser.parse_args()
    rows = [measure(args, w, opt) for w in SIZES for opt in ("none", "dualopt")]

    def of(key):
        return [r[key] for r in rows]

    # a line of a vector load or store is a transaction of memory; a workload that computes has few of them
    lines = of("lines_per_second")
    faster = [("times as fast as the other program: median", statistics.median(of("times_as_fast")), 1, True),
              ("times as fast as the other program: least", min(of("times_as_fast")), 0.95, True)] if args.against else []
    two = [] if args.one else [
        ("two threads, times as fast as one: median", statistics.median(of("two_threads_as_fast")), 1, True),
        ("two threads, times as fast as one: most", max(of("two_threads_as_fast")), 1.5, True)]
    return report.save(args, "sim-speed", {"rows": rows}, [
        ("M lines/s, median", statistics.median(lines) / 1e6, 1, True),
        ("M lines/s, least", min(lines) / 1e6, 1, True),
        ("runs of 26 with fewer than a million lines a second", sum(x < 1e6 for x in lines), 0, False),
        ("M instructions/s, median", statistics.median(of("instructions_per_second")) / 1e6, 1, True),
        ("lines/s over MGPUSim's: least", min(lines) / MGPUSIM_LINES, 100, True),
        ("instructions/s over MGPUSim's: least", min(of("instructions_per_second")) / MGPUSIM_INSTRUCTIONS, 10, True),
        ("MB at their peak: most", max(of("peak_mb")), 200, False), *two, *faster])


if __name__ == "__main__":
    sys.exit(main())
