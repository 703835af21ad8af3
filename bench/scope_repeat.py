#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does `grapnel scope --quick` say the same again?

So many quick runs in a row. Of each bandwidth of more than 1 MiB the largest median is divided by the least; those beyond 3 %
are printed by what they share: a link of their own repeats, memory that others use too repeats as far as the others do: then the best
samples (p95) of the runs are nearer to each other than their medians. How far that is here says a plain memmove, timed before, between and behind the runs by none of scope's code.
A figure's stated spread, its 95 % interval, should hold what another run says: those that it does not hold are counted, too.

    bench/scope_repeat.py [--runs N] [--filter REGEX] [--keep FOLDER] [--build DIR] [--json OUT]
"""
import ctypes
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from support import report

LEAST_BYTES = 1 << 20  # rows above that count
NEAR = 1.03
SECONDS = 120
REFERENCE_BYTES = 64 << 20
KINDS = [  # the first that matches a cell's name says what its figure hangs on
    ("files and disk", "^file/"),
    ("messages between processes", "^mpi/"),
    ("managed memory", "^(managed|prefetch)/"),
    ("pageable memory, staged copies", "pageable|staged"),
    ("threads of the host and its memory", "^(memory|grapnel-cpu)/"),
    ("allocation and registration", "^(allocate|register)/"),
    ("the library on the GPU", "^grapnel-gpu/"),
    ("pinned memory, links and kernels", ""),
]


def kind(name):
    return next(words for words, pattern in KINDS if re.search(pattern, name))


def reference():
    """GB/s of a plain memmove, the median of a second's."""
    to, source = ctypes.create_string_buffer(REFERENCE_BYTES), ctypes.create_string_buffer(REFERENCE_BYTES)
    times, end = [], time.monotonic() + 1
    ctypes.memset(source, 1, REFERENCE_BYTES)
    while time.monotonic() < end or len(times) < 5:
        began = time.monotonic()
        ctypes.memmove(to, source, REFERENCE_BYTES)
        times.append(time.monotonic() - began)
    return REFERENCE_BYTES / statistics.median(times[1:]) / 1e9


def run(args, folder):
    """One quick run: its seconds, the bytes of its report, and the report."""
    path = os.path.join(folder, "run.json")
    command = [report.program(args, "tools", "grapnel"), "scope", "--quick", "--json", path]
    command += ["--filter", args.filter] if args.filter else []
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, timeout=600)
    seconds = time.monotonic() - began
    if done.returncode not in (0, 1):  # 1: a cell failed, which the report says
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    with open(path) as text:
        return seconds, os.path.getsize(path), report.json.load(text)


def counts(cell, unit):
    """Is this one of the figures that have to repeat?"""
    return cell["status"] == "measured" and unit == "bytes_per_second" and cell["arguments"].get("bytes", 0) > LEAST_BYTES


def outside(runs):
    """Names of figures whose interval in one run does not hold their median in another."""
    low, high, median = ([figures(one, statistic) for _, _, one in runs] for statistic in ("low", "high", "median"))
    every = range(len(runs))
    return [name for name in median[0] if all(name in m for m in median)
            and any(not low[a][name] <= median[b][name] <= high[a][name] for a in every for b in every)]


def figures(one, statistic):
    units = {row["name"]: row["unit"] for row in one["rows"]}
    return {c["name"]: c["statistics"][statistic] / 1e9 for c in one["cells"] if counts(c, units[c["row"]])}


def cut(one):
    return [c["name"] for c in one["cells"] if c["status"] == "skipped" and "time for all" in c["why"]]


def failed(one):
    return [f"{c['name']}: {c['why']}" for c in one["cells"] if c["status"] == "failed"]


def compare(runs):
    """Each figure that every run has: its GB/s, and the largest by the least; the same of what its best samples reach."""
    each = [figures(one, "median") for _, _, one in runs]
    best = [figures(one, "p95") for _, _, one in runs]
    rows = []
    for name in each[0]:
        values, high = [e[name] for e in each if name in e], [e[name] for e in best if name in e]
        if len(values) == len(runs):
            rows.append({"name": name, "kind": kind(name), "GB_per_s": [round(v, 4) for v in values],
                         "ratio": round(max(values) / min(values), 4), "ratio_of_p95": round(max(high) / min(high), 4)})
    return sorted(rows, key=lambda row: -row["ratio"])


def tell(rows):
    for words, _ in KINDS:
        these = [row for row in rows if row["kind"] == words]
        beyond = [row for row in these if row["ratio"] > NEAR]
        if these:
            typical = [statistics.median(r[of] for r in these) for of in ("ratio", "ratio_of_p95")]
            print(f"  {words}: {len(beyond)} of {len(these)} beyond 3 %; half of them within {typical[0]:.3f}, their best samples within "
                  f"{typical[1]:.3f}")
        for row in beyond:
            print(f"    {row['ratio']:6.3f}  {row['name']:60} " + "  ".join(f"{v:.4g}" for v in row["GB_per_s"]))


def main():
    p = report.parser(__doc__)
    p.add_argument("--filter", help="measure only cells whose name matches this regular expression")
    p.add_argument("--keep", help="folder for the whole reports")
    p.set_defaults(runs=3)
    args = p.parse_args()
    runs, references = [], [reference()]
    with tempfile.TemporaryDirectory() as folder:
        for k in range(args.runs):
            runs.append(run(args, folder))
            references.append(reference())
            if args.keep:
                shutil.copy(os.path.join(folder, "run.json"), os.path.join(args.keep, f"run-{k}.json"))
    rows = compare(runs)
    tell(rows)
    for seconds, size, one in runs:
        share = one["context"].get("others_share")
        print(f"  a run of {seconds:.0f} s, {len(one['cells'])} cells, {size / 1e6:.1f} MB; others used "
              + (f"{100 * share:.0f} % of the processors" if share is not None else "what they did"))
    slack = max(references) / min(references)
    print(f"  a plain memmove meanwhile: {'  '.join(f'{v:.4g}' for v in references)} GB/s, {slack:.3f}")
    claims = [("figures above 1 MiB that differ by more than 3 %", sum(row["ratio"] > NEAR for row in rows), 0, False),
              ("share of them whose stated interval does not hold what another run says", len(outside(runs)) / max(len(rows), 1), 0.1,
               False),
              ("cells that were left out", max(len(cut(one)) for _, _, one in runs), 0, False),
              ("cells that failed", max(len(failed(one)) for _, _, one in runs), 0, False),
              ("seconds of the longest run", max(seconds for seconds, _, _ in runs), SECONDS, False)]
    result = {"runs": [{"seconds": round(seconds, 1), "report_bytes": size, "left_out": cut(one), "failed": failed(one),
                        "others_share": one["context"].get("others_share")}
                       for seconds, size, one in runs],
              "reference": {"GB_per_s": [round(v, 4) for v in references], "ratio": round(slack, 4)}, "outside_stated": outside(runs), "rows": rows}
    return report.save(args, "scope_repeat", result, claims)


if __name__ == "__main__":
    sys.exit(main())
