#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is the natural loop over a file: store, on the cpu machine with default options, as fast as the same loop over mmap?

The bytes of a file are counted by gn_read_u8 in a grid stride, and 1 is added to each 4-byte word of another, the page cache
cold: neither may be slower than a plain loop over mmap. Beside it, without a claim: read(), and a range for each thread. All of
them in turn, the median of each; sums and words are compared. Other work on the machine falsifies the figures: the load is kept.

    bench/cpu_loop.py [--build DIR] [--file FILE] [--size 1G] [--add-size 256M] [--blocks 4] [--threads 256] [--runs 5] [--json OUT]

FILE is made if it is not there (in the build folder by default; written, not sparse); FILE.add is changed by the runs.
"""
import os
import statistics
import sys

from support import report

WAYS = ("mmap", "read", "scalar", "range")
WORKS = {"count": "bytes counted by gn_read_u8", "add": "1 added to each word by gn_read_u32 and gn_write_u32"}


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


def run(args, program, work, way):
    path, cache = (args.file, args.cache) if work == "count" else (args.file + ".add", args.add_cache)
    threads = args.range_threads if way == "range" else args.threads  # a range holds a page of the cache for each thread
    return report.run_json([program, path, work, way, str(args.blocks), str(threads), str(cache)])


def measure(args, program, work):
    runs = {way: [] for way in WAYS}
    for _ in range(args.runs):
        for way in WAYS:
            runs[way].append(run(args, program, work, way))
    if work == "count" and len({r["sum"] for way in WAYS for r in runs[way]}) != 1:
        sys.exit("cpu_loop: the sums differ")
    return {way: {"seconds": statistics.median(r["seconds"] for r in done), "all": [r["seconds"] for r in done],
                  **{k: done[0][k] for k in ("page_bytes", "path") if k in done[0]}} for way, done in runs.items()}


def first_words(path):
    with open(path, "rb") as data:
        return [int.from_bytes(data.read(4), "little") for _ in range(1024)]


def main():
    p = report.parser(__doc__)
    p.add_argument("--file", help="what is counted (default in the build folder)")
    p.add_argument("--size", default="1G", help="of it")
    p.add_argument("--add-size", default="256M", help="of the file whose words are changed")
    p.add_argument("--cache", type=int, default=64, help="MiB, for counting")
    p.add_argument("--add-cache", type=int, default=16, help="MiB, for adding")
    p.add_argument("--blocks", type=int, default=4, help="of the grid")
    p.add_argument("--threads", type=int, default=256, help="of a block")
    p.add_argument("--range-threads", type=int, default=16, help="of a block, by ranges")
    args = p.parse_args()
    program = report.program(args, "bench", "bench_cpu_loop")
    args.file = args.file or os.path.join(args.build, "cpu_loop.bin")
    make_file(args.file, units(args.size))
    make_file(args.file + ".add", units(args.add_size))
    before = first_words(args.file + ".add")
    load = os.getloadavg()[0]
    found = {work: measure(args, program, work) for work in WORKS}
    if first_words(args.file + ".add") != [(w + len(WAYS) * args.runs) & 0xffffffff for w in before]:
        sys.exit("cpu_loop: not every run added 1 to each word")
    for work in WORKS:
        print(work, " ".join(f"{way} {found[work][way]['seconds']:.2f} s" for way in WAYS))
    claims = [(f"{what}: time over that of a loop over mmap, cold", found[work]["scalar"]["seconds"] / found[work]["mmap"]["seconds"],
               1, False) for work, what in WORKS.items()]
    shape = {"size": args.size, "add_size": args.add_size, "grid": [args.blocks, args.threads], "load_before": load}
    return report.save(args, "cpu-loop", {**shape, **found}, claims)


if __name__ == "__main__":
    sys.exit(main())
