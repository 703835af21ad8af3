#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a kernel that reads random pages through the queue pairs of a file: store keep the disk as busy as fio does?

Claim: at least 80 % of fio's random reads at queue depth 32 (io_uring, O_DIRECT), same file, same page size.
Runs fio and bench_store_file in turn, takes the median of each and prints both; --json keeps them.

    bench/store_file.py [--build DIR] [--file FILE] [--size 1G] [--page 4096] [--depth 32] [--runs 5] [--json OUT]

FILE is made if it is not there (in the build folder by default; written, not sparse) and kept for the next time.
Exit status: 0 the claim holds, 1 it does not or a run failed, 77 fio or the program is missing.
"""
import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys

CLAIM = 0.80


def units(text):
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1].upper())
    return int(text[:-1]) * factor if factor else int(text)


def make_file(path, size):
    """Blocks that were never written are not read from the disk: write all of them."""
    if os.path.exists(path) and os.path.getsize(path) == size:
        return
    chunk = os.urandom(1 << 20)
    with open(path, "wb") as out:
        for at in range(0, size, len(chunk)):
            out.write(chunk[: size - at])
        out.flush()
        os.fsync(out.fileno())


def run_fio(args):
    command = ["fio", "--name=limit", f"--filename={args.file}", f"--size={args.size}", "--rw=randread",
               f"--bs={args.page}", "--direct=1", "--ioengine=io_uring", f"--iodepth={args.depth}", "--readonly",
               "--time_based", f"--runtime={args.seconds}", "--output-format=json"]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(out[out.index("{"):])["jobs"][0]["read"]["iops"]


def run_store(args):
    command = [args.program, f"file:{args.file}?ro{args.options}", f"page={args.page}", f"threads={args.depth}",
               f"seconds={args.seconds}"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def machine():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return {"cpu": names[0] if names else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "load": os.getloadavg()[0]}


def measure(args):
    fio, ours, path = [], [], ""
    for _ in range(args.runs):
        fio.append(run_fio(args))
        result = run_store(args)
        if result["failed"]:
            sys.exit(f"store_file: {result['failed']} transfers failed")
        ours.append(result["pages_per_second"])
        path = result["path"]
    return {"schema": "grapnel.bench.store_file.1", "date": datetime.date.today().isoformat(), "commit": commit(),
            "machine": machine(), "file_bytes": args.size, "page_bytes": args.page, "depth": args.depth, "path": path,
            "fio_pages_per_second": statistics.median(fio), "fio_runs": fio,
            "store_pages_per_second": statistics.median(ours), "store_runs": ours,
            "share": statistics.median(ours) / statistics.median(fio), "claim": CLAIM}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "release"))
    parser.add_argument("--file")
    parser.add_argument("--size", type=units, default="1G")
    parser.add_argument("--page", type=units, default="4096")
    parser.add_argument("--depth", type=int, default=32)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--options", default="", help="more of the store's options, such as &queues=1")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.program = os.path.join(args.build, "bench", "bench_store_file")
    args.file = args.file or os.path.join(args.build, "bench_store_file.data")
    if not shutil.which("fio") or not os.path.exists(args.program):
        print("store_file: skipped: fio or", args.program, "is missing", file=sys.stderr)
        return 77
    make_file(args.file, args.size)
    result = measure(args)
    if args.json:
        with open(args.json, "w") as out:
            json.dump(result, out, indent=1)
            out.write("\n")
    print(f"{result['path']}\nrandom reads of {args.page} bytes, depth {args.depth}, median of {args.runs}:")
    print(f"  fio     {result['fio_pages_per_second']:10.0f} /s\n  Grapnel {result['store_pages_per_second']:10.0f} /s"
          f"  = {100 * result['share']:.0f} % (claim: {100 * CLAIM:.0f} %)")
    return 0 if result["share"] >= CLAIM else 1


if __name__ == "__main__":
    sys.exit(main())
