#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the natural loop over a file: store, on the cpu machine with default options, as fast as the same loop over mmap?

Claim: counting the bytes of a file by gn_read_u8 in a grid stride is never slower than a loop over mmap, the page cache cold.
Beside it, without a claim: read(), a range for each thread, and the same with 1 added to each 4-byte word of the file.
All of them in turn, the median of each; sums are compared. Other work on the machine falsifies the figures: the load is kept.

    bench/cpu_loop.py [--build DIR] [--file FILE] [--size 1G] [--add-size 256M] [--blocks 4] [--threads 256] [--runs 5] [--json OUT]

FILE is made if it is not there (in the build folder by default; written, not sparse); FILE.add is changed by the runs.
Exit status: 0 the claim holds, 1 it does not or a run failed, 77 the program is missing.
"""
import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys

WAYS = ("mmap", "read", "scalar", "range")


def units(text):
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1].upper())
    return int(text[:-1]) * factor if factor else int(text)


def make_file(path, size):
    """Blocks that were never written are not read from the disk: write all of them."""
    if os.path.exists(path) and os.path.getsize(path) == size:
        return
    with open(path, "wb") as out:
        for at in range(0, size, 1 << 20):
            out.write(os.urandom(min(1 << 20, size - at)))
        out.flush()
        os.fsync(out.fileno())


def run(args, work, way):
    path, cache = (args.file, args.cache) if work == "count" else (args.file + ".add", args.add_cache)
    threads = args.range_threads if way == "range" else args.threads  # a range holds a page of the cache for each thread
    command = [args.program, path, work, way, str(args.blocks), str(threads), str(cache)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(args, work):
    runs = {way: [] for way in WAYS}
    for _ in range(args.runs):
        for way in WAYS:
            runs[way].append(run(args, work, way))
    if len({r["sum"] for way in WAYS for r in runs[way]} if work == "count" else {0}) != 1:
        sys.exit(f"cpu_loop: the sums of {work} differ")
    return {way: {"seconds": statistics.median(r["seconds"] for r in done), "all": [r["seconds"] for r in done],
                  **{k: done[0][k] for k in ("page_bytes", "path") if k in done[0]}} for way, done in runs.items()}


def first_words(path):
    with open(path, "rb") as data:
        return [int.from_bytes(data.read(4), "little") for _ in range(1024)]


def commit():
    here = os.path.dirname(os.path.abspath(__file__))
    return subprocess.run(["git", "-C", here, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--file")
    parser.add_argument("--size", default="1G")
    parser.add_argument("--add-size", default="256M")
    parser.add_argument("--cache", type=int, default=64, help="MiB")
    parser.add_argument("--add-cache", type=int, default=16, help="MiB")
    parser.add_argument("--blocks", type=int, default=4)
    parser.add_argument("--threads", type=int, default=256)
    parser.add_argument("--range-threads", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json")
    args = parser.parse_args()
    args.program = os.path.join(args.build, "bench", "bench_cpu_loop")
    args.file = args.file or os.path.join(args.build, "cpu_loop.bin")
    if not os.path.exists(args.program):
        print(f"cpu_loop: no {args.program}; build it first")
        return 77
    make_file(args.file, units(args.size))
    make_file(args.file + ".add", units(args.add_size))
    before = first_words(args.file + ".add")
    load = os.getloadavg()[0]
    result = {"claim": "gn_read_u8 in a grid stride is not slower than a loop over mmap, cold",
              "machine": platform.processor() or platform.machine(), "cores": os.cpu_count(), "load_before": load,
              "date": datetime.date.today().isoformat(), "commit": commit(), "size": args.size, "add_size": args.add_size,
              "grid": [args.blocks, args.threads], "count": measure(args, "count"), "add": measure(args, "add")}
    if first_words(args.file + ".add") != [(w + len(WAYS) * args.runs) & 0xffffffff for w in before]:
        sys.exit("cpu_loop: not every run added 1 to each word")
    for work in ("count", "add"):
        print(work, " ".join(f"{way} {result[work][way]['seconds']:.2f} s" for way in WAYS))
    result["holds"] = result["count"]["scalar"]["seconds"] <= result["count"]["mmap"]["seconds"]
    print(f"load {load:.1f}; the claim", "holds" if result["holds"] else "does NOT hold")
    if args.json:
        with open(args.json, "w") as out:
            json.dump(result, out, indent=1)
            out.write("\n")
    return 0 if result["holds"] else 1


if __name__ == "__main__":
    sys.exit(main())
