#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the natural loop over a file: store read as fast as fio, and on cpu as fast as over mmap?

In a grid stride, by a cache with default pages, the page cache cold: the bytes of a file are added up by gn_read_u8, its 4-byte
words by gn_read_u32, and 1 is added to each 4-byte word of another file by gn_read_u32 and gn_write_u32. Claims: the loops that
read get at least 90 % of the best that fio reads in order with the loop's page size as block size, O_DIRECT, over several queue
depths and processes (left out where there is no fio); on cpu no loop is slower than a plain loop over mmap. Beside it, without a
claim: read(), and on cpu a range for each thread. All of them in turn, the median of each; the sums of all ways must be equal,
and the words must have grown by what was added. Other work on the machine falsifies the figures: the load before is kept.

    bench/file_loop.py [WORK...] [--machine cpu|cuda] [--build DIR] [--file FILE] [--size 1G] [--add-size 256M] [--cache MIB]
                       [--add-cache MIB] [--blocks N] [--threads 256] [--range-threads 16] [--runs 5] [--json OUT]

FILE is made if it is not there (in the build folder by default; written, not sparse), and only read. The file whose words are
changed is FILE.add, which must not be there, or have been made by this script: its size is --add-size. A file of another size than
was asked for is left alone, and the script ends.
"""
import array
import os
import shutil
import statistics
import sys

from support import disk, report

WORKS = {"count": "bytes added up by gn_read_u8", "sum": "words added up by gn_read_u32",
         "add": "1 added to each word by gn_read_u32 and gn_write_u32"}


def ways(args):
    return ("mmap", "read", "scalar") + (() if args.machine.startswith("cuda") else ("range",))


def run(args, program, work, way):
    path, cache = (args.file + ".add", args.add_cache) if work == "add" else (args.file, args.cache)
    grid = (args.blocks, args.range_threads) if way == "range" else (args.blocks, args.threads)
    return report.run_json([program, f"machine={args.machine}", f"file={path}", f"work={work}", f"way={way}", f"blocks={grid[0]}",
                            f"threads={grid[1]}", f"cache={cache}"])


def measure(args, program, work):
    runs = report.in_turn(args.runs, {way: lambda way=way: run(args, program, work, way) for way in ways(args)})
    if work != "add" and len({r["sum"] for way in runs for r in runs[way]}) != 1:
        sys.exit(f"file_loop: {work}: the sums differ")
    return {way: {"seconds": statistics.median(r["seconds"] for r in done), "all": [r["seconds"] for r in done],
                  **{k: done[0][k] for k in ("page_bytes", "path") if k in done[0]}} for way, done in runs.items()}


def fio(args, block, depth, jobs):
    """Bytes a second, in order, each process a part of the file of its own."""
    part = os.path.getsize(args.file) // jobs // block * block
    return disk.fio(args.file, "read", block, depth, f"--numjobs={jobs}", f"--size={part}", f"--offset_increment={part}",
                    "--group_reporting")["bw_bytes"]


def fio_best(args, block):
    found = {f"depth {depth}, {jobs} processes": statistics.median(fio(args, block, depth, jobs) for _ in range(3))
             for depth in (8, 32, 128) for jobs in (1, 2, 4)}
    return {"block_bytes": block, "bytes_per_second": max(found.values()), "all": found}


def words_of(path):
    """The sum of a file's words, and the first of them."""
    total, first = 0, None
    with open(path, "rb") as data:
        while piece := data.read(1 << 20):
            words = array.array("I", piece)
            first = first or words.tolist()[:1024]
            total += sum(words)
    return total & 0xffffffff, first


def grown(words, by, count):
    """What words_of says when each of count words has grown."""
    return (words[0] + by * count) & 0xffffffff, [(w + by) & 0xffffffff for w in words[1]]


def main():
    p = report.parser(__doc__)
    p.add_argument("works", nargs="*", metavar="WORK", help=f"of {', '.join(WORKS)} (default all)")
    p.add_argument("--machine", default="cuda" if os.path.exists("/dev/nvidia0") else "cpu")
    p.add_argument("--file", help="file that is read (default in the build folder)")
    p.add_argument("--size", default="1G", help="size of that file (default 1G)")
    p.add_argument("--add-size", default="256M", help="size of the file whose words are changed (default 256M)")
    p.add_argument("--cache", type=int, default=64, help="MiB of cache for reading (default 64)")
    p.add_argument("--add-cache", type=int, default=16, help="MiB of cache for adding (default 16)")
    p.add_argument("--blocks", type=int, help="blocks of the grid (default 4, on a GPU as many as it runs at once)")
    p.add_argument("--threads", type=int, default=256, help="threads of a block (default 256)")
    p.add_argument("--range-threads", type=int, default=16, help="threads of a block in the loops by ranges, each of which holds a page (default 16)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    args.blocks = args.blocks if args.blocks is not None else 0 if gpu else 4
    works = [work for work in WORKS if not args.works or work in args.works]
    program = report.program(args, "bench", "bench_file_loop")
    args.file = args.file or os.path.join(args.build, "file_loop.bin")
    disk.make_file(args.file, disk.units(args.size))
    disk.make_file(args.file + ".add", disk.units(args.add_size))
    before = words_of(args.file + ".add")
    load = os.getloadavg()[0]
    found = {work: measure(args, program, work) for work in works}
    if "add" in works and words_of(args.file + ".add") != grown(before, len(ways(args)) * args.runs, disk.units(args.add_size) // 4):
        sys.exit("file_loop: not every run added 1 to each word")
    for work in works:
        print(work, " ".join(f"{way} {found[work][way]['seconds']:.2f} s" for way in ways(args)))
    claims = [(f"{WORKS[work]}: time over that of a loop over mmap, cold", found[work]["scalar"]["seconds"] / found[work]["mmap"]["seconds"],
               1, False) for work in works if not gpu]
    reads = [work for work in works if work != "add"]
    limit = fio_best(args, found[reads[0]]["scalar"]["page_bytes"]) if reads and shutil.which("fio") else {}
    if limit:
        print(f"fio, blocks of {limit['block_bytes']}: {limit['bytes_per_second'] / 1e9:.3f} GB/s")
        claims += [(f"{WORKS[work]}: bytes a second, share of fio's best",
                    os.path.getsize(args.file) / found[work]["scalar"]["seconds"] / limit["bytes_per_second"], 0.9, True) for work in reads]
    shape = {"machine_name": args.machine, "size": args.size, "add_size": args.add_size, "grid": [args.blocks, args.threads],
             "load_before": load, "fio": limit}
    return report.save(args, "-".join(["file-loop", "gpu" if gpu else "cpu"]), {**shape, **found}, claims)


if __name__ == "__main__":
    sys.exit(main())
