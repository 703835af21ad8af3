#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do `grapnel scope` and NVIDIA's nvbandwidth measure the same on the same machine?

Both in turn, 512 MiB a copy: copies by the engines and by kernels, between the host and one GPU, within it, and where there are
several between two and among all. Each is within 3 % of the other, or the reason is in docs/performance.md.

    bench/scope_nvbandwidth.py --nvbandwidth PROGRAM [--runs N] [--build DIR] [--json OUT]
"""
import csv
import io
import statistics
import subprocess
import sys

from support import report

BYTES = 512 << 20
PAIRS = [  # a test of nvbandwidth, and a row of scope
    ("host_to_device_memcpy_ce", "copy/pinned-to-device"),
    ("device_to_host_memcpy_ce", "copy/device-to-pinned"),
    ("host_to_device_bidirectional_memcpy_ce", "copy/pinned-both-in"),
    ("device_to_host_bidirectional_memcpy_ce", "copy/pinned-both-out"),
    ("host_to_device_memcpy_sm", "kernel/pinned-to-device"),
    ("device_to_host_memcpy_sm", "kernel/device-to-pinned"),
    ("device_local_copy", "copy/device-local"),
    ("device_to_device_memcpy_read_ce", "peer/copy-pulled"),
    ("device_to_device_memcpy_write_ce", "peer/copy"),
    ("device_to_device_memcpy_read_sm", "kernel/peer-read"),
    ("device_to_device_memcpy_write_sm", "kernel/peer-write"),
    # all read from one: the data goes from one to all
    ("all_to_one_write_ce", "many/all-to-one"),
    ("all_to_one_read_ce", "many/one-to-all-pulled"),
    ("one_to_all_write_ce", "many/one-to-all"),
    ("one_to_all_read_ce", "many/all-to-one-pulled"),
    ("all_to_one_write_sm", "many/kernel-all-to-one-write"),
    ("all_to_one_read_sm", "many/kernel-one-to-all-read"),
    ("one_to_all_write_sm", "many/kernel-one-to-all-write"),
    ("one_to_all_read_sm", "many/kernel-all-to-one-read"),
]
ALL_HOST = [  # each GPU while all others do the same: their sum is ours
    ("all_to_host_memcpy_ce", "many/all-to-host"),
    ("host_to_all_memcpy_ce", "many/host-to-all"),
    ("all_to_host_bidirectional_memcpy_ce", "many/host-both-out"),
    ("host_to_all_bidirectional_memcpy_ce", "many/host-both-in"),
    ("all_to_host_memcpy_sm", "many/kernel-all-to-host"),
    ("host_to_all_memcpy_sm", "many/kernel-host-to-all"),
]
SECONDS = 500  # of either


def figure(test, matrix):
    """The first figure of a matrix that is one: from the host or GPU 0. Or the sum, of all GPUs with the host."""
    found = [float(cell) for row in matrix for cell in row if cell != "N/A"]
    return sum(found) if test in dict(ALL_HOST) else found[0] if found else None


def theirs(args):
    done = subprocess.run([args.nvbandwidth, "-j", "-b", str(BYTES >> 20), "-t"] + [test for test, _ in PAIRS + ALL_HOST],
                          stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    result = report.json.loads(done.stdout[done.stdout.index("{"):])
    return {case["name"]: figure(case["name"], case["bandwidth_matrix"]) for case in result["nvbandwidth"]["testcases"]
            if "bandwidth_matrix" in case}


def ours(args):
    filter_ = "^(" + "|".join(row for _, row in PAIRS + ALL_HOST) + f")/bytes:{BYTES}(/|$)"
    done = subprocess.run([report.program(args, "tools", "grapnel"), "scope", "--filter", filter_, "--csv", "-"],
                          stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    rates = {}
    for line in csv.DictReader(io.StringIO(done.stdout)):
        if line["status"] == "measured":  # of several GPUs or pairs the first, as there
            rates.setdefault(line["row"], float(line["median"]) / 1e9)
    return rates


def main():
    p = report.parser(__doc__)
    p.add_argument("--nvbandwidth", required=True, help="path of the nvbandwidth program")
    p.set_defaults(runs=3)
    args = p.parse_args()
    runs = [(theirs(args), ours(args)) for _ in range(args.runs)]
    rows, claims, left_out = [], [], []
    for test, row in PAIRS + ALL_HOST:
        a = [t[test] for t, _ in runs if t.get(test)]
        b = [o[row] for _, o in runs if o.get(row)]
        if not a or not b:
            print(f"  {test:40} {'' if a else 'not by nvbandwidth':20} {row} {'' if b else 'not by scope'}")
            left_out.append(test)
            continue
        ratio = statistics.median(b) / statistics.median(a)
        rows.append({"nvbandwidth": test, "scope": row, "theirs": a, "ours": b, "ratio": ratio})
        print(f"  {test:40} {statistics.median(a):8.2f}   {row:24} {statistics.median(b):8.2f} GB/s   {ratio:.3f}")
        claims.append((f"{row} against {test}, off by", abs(ratio - 1), 0.03, False))
    return report.save(args, "scope_nvbandwidth", {"bytes": BYTES, "unit": "GB/s", "rows": rows, "left_out": left_out}, claims)


if __name__ == "__main__":
    sys.exit(main())
