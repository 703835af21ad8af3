#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do lookups of 256-byte rows in a file run inside one CUDA graph, and how fast beside a mapped file?

A table of rows of 256 bytes lies in a file; a cache of an eighth of it is on the GPU, in pages of 4 KiB. One CUDA graph holds a
whole step: a gather of 8192 rows, sums of bags of 32 rows, and a matrix product on them. Nobody on the host takes part in a replay
but the threads of the store, which read the pages that kernels ask for. Row numbers are drawn uniformly, and by Zipf's law over
the whole table. Beside it is what works without Grapnel, but not in a graph: numpy.memmap, torch.index_select by all cores, and a
copy; with the file's pages dropped from the system's memory before (as the store's reads bypass it), and kept there (`warm`),
where the file is no more than host memory. The system drops no page that is mapped: so each cold batch has a mapping of its own, and
mincore must find none of the file's pages before it. All rows and all results are compared with those that must come.

The two do not begin alike: the cache keeps an eighth of the table from one replay to the next, but the mapped file begins cold. Of
uniform rows that is an eighth of the reads, and the claim is about them. Of rows by Zipf's law the cache has most, so that this
comparison is printed without a claim.

    bench/table_lookup.py [--machine cuda|cpu] [--file PATH] [--data 4G] [--replays 40] [--json OUT]

It needs the wheel with CUDA and PyTorch with CUDA. The file is made, and removed at the end. Rows of host memory are in
bench/python_rows.py.
"""
import ctypes
import functools
import mmap
import os
import sys
import time

from support import place, report

try:
    import grapnel
    import numpy
    import torch
    from support import known
except ImportError as missing:
    print(f"{missing}; install the wheel (./run wheel) and PyTorch", file=sys.stderr)
    sys.exit(report.SKIP)

WIDTH, BAG = 64, 32  # 256 bytes
rows_as_they_must_be = functools.partial(known.rows, width=WIDTH, prime=4093)  # sums and products are exact as float32


def write(path, count, device):
    with open(path, "wb") as out:
        for first in range(0, count, 1 << 20):
            rows = rows_as_they_must_be(torch.arange(first, min(first + (1 << 20), count), device=device))
            rows.cpu().numpy().tofile(out)
        out.flush()
        os.fsync(out.fileno())


class Step:
    """What follows the lookup: bags are added up and go through a matrix."""

    def __init__(self, where, count):
        self.index = torch.zeros(count, dtype=torch.int64, device=where.device)
        self.rows = torch.zeros(count, WIDTH, device=where.device)
        self.weight = (torch.arange(WIDTH * WIDTH, device=where.device) % 3).float().reshape(WIDTH, WIDTH)
        self.out = torch.zeros(count // BAG, WIDTH, device=where.device)

    def after(self, rows):
        return rows.reshape(-1, BAG, WIDTH).sum(1) @ self.weight

    def work(self):
        self.out.copy_(self.after(self.rows))


def in_graph(where, array, step, batches, warm):
    """Seconds of a replay, what the cache did, and how many numbers were wrong."""
    def lookup():
        array.gather(step.index, out=step.rows)
        step.work()

    lookup()
    graph, took, wrong = where.graph(lookup), [], 0
    for k, batch in enumerate(batches):
        step.index.copy_(batch)
        took.append(where.seconds(graph.replay))
        must = rows_as_they_must_be(batch)
        wrong += int((step.rows != must).sum()) + int((step.out != step.after(must)).sum())
        if k == warm - 1:
            before = array.cache.stats()
    array.synchronize()
    after, took = array.cache.stats(), took[warm:]
    return {"seconds": known.median(took), "replays": len(batches), "wrong": wrong,
            "fetched_bytes": (after["fetched_bytes"] - before["fetched_bytes"]) / len(took)}


def map_file(path):
    """A tensor over a new mapping, which ends with it."""
    table = numpy.memmap(path, numpy.float32, "c").reshape(-1, WIDTH)
    table._mmap.madvise(mmap.MADV_RANDOM)  # read no pages ahead
    return torch.from_numpy(table)


def mapped(where, path, step, batches, cold):
    """Seconds of a batch by numpy.memmap, without Grapnel; and the most pages that were in memory before a cold one."""
    rows, took, there, source = where.pinned(len(batches[0]), WIDTH, dtype=torch.float32), [], 0, None
    for batch in batches:
        if cold:
            source = None  # no page that is mapped is dropped
            drop(path)
            there = max(there, resident(path))
        source = map_file(path) if source is None else source

        def lookup():
            torch.index_select(source, 0, batch.cpu(), out=rows)
            step.rows.copy_(rows, non_blocking=True)
            step.work()

        took.append(where.seconds(lookup))
    return known.median(took), there


def drop(path):
    """Let the system forget the file's pages."""
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def resident(path):
    """How many of the file's pages are in the system's memory."""
    table = numpy.memmap(path, numpy.uint8, "c")
    pages = numpy.zeros(-(-len(table) // mmap.PAGESIZE), numpy.uint8)
    address, length = ctypes.c_void_p(table.ctypes.data), ctypes.c_size_t(len(table))
    if ctypes.CDLL(None, use_errno=True).mincore(address, length, ctypes.c_void_p(pages.ctypes.data)):
        raise OSError(ctypes.get_errno(), "mincore", path)
    return int(numpy.count_nonzero(pages & 1))


def measure(where, args, path, law, array):
    step = Step(where, args.lookups)
    batches = [known.draw(law, args.lookups, len(array), where.device) for _ in range(args.replays)]
    row = {"law": law, "lookups": args.lookups, "graph": in_graph(where, array, step, batches, args.replays // 2)}
    row["memmap"], row["resident_pages"] = mapped(where, path, step, batches[-8:], True)
    row["memmap warm"], _ = mapped(where, path, step, batches[-1:] * 3, False)
    print(f"  {law:8} {1e3 * row['graph']['seconds']:9.2f} ms a replay of {args.lookups} rows, "
          f"{row['graph']['fetched_bytes'] / row['graph']['seconds'] / 1e9:.2f} GB/s from the file; memmap "
          f"{1e3 * row['memmap']:.2f} ms cold ({row['memmap'] / row['graph']['seconds']:.2f} times), warm "
          f"{1e3 * row['memmap warm']:.2f} ms; {row['graph']['wrong']} wrong", flush=True)
    return row


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda", help="cuda, or cpu for a trial")
    p.add_argument("--file", default="table_lookup.bin", help="the file that is made (default in this folder)")
    p.add_argument("--data", help="bytes of the table (default 4G, on cpu 32M)")
    p.add_argument("--lookups", type=int, default=8192, help="of a step (default 8192)")
    p.add_argument("--replays", type=int, default=40, help="of the graph, half of them to fill the cache (default 40)")
    args = p.parse_args()
    where = place.Place(args.machine)
    size = grapnel._library.parse_size(args.data or ("4G" if where.cuda else "32M"))
    torch.manual_seed(1)
    if os.path.exists(args.file):
        sys.exit(f"{args.file} exists; give another --file")
    began, rows = time.perf_counter(), []
    try:
        write(args.file, size // (4 * WIDTH), where.device)
        print(f"  {size >> 20} MiB written after {time.perf_counter() - began:.0f} s", flush=True)
        drop(args.file)
        for law in ("uniform", "zipf"):
            with grapnel.open(f"file:{os.path.abspath(args.file)}?ro", torch.float32, (-1, WIDTH), cache=size // 8, page=4096,
                              machine=args.machine, statistics=True) as array:
                path = array.store.path
                print(f"  {path}")
                rows.append(measure(where, args, args.file, law, array))
    finally:
        os.unlink(args.file)
    result = {"gpu": where.name, "torch": torch.__version__, "data": size, "cache": size // 8, "path": path, "rows": rows}
    print("  the cache keeps its pages from replay to replay, and the mapped file begins cold: no claim for Zipf's law")
    claims = [(f"file, {r['law']}: times a mapped file", r["memmap"] / r["graph"]["seconds"], 1, True)
              for r in rows if where.cuda and r["law"] == "uniform"]
    claims.append(("pages of the file in memory before a cold batch", max(r["resident_pages"] for r in rows), 0, False))
    claims.append(("numbers that were not what they should be", sum(r["graph"]["wrong"] for r in rows), 0, False))
    return report.save(args, "table-lookup", result, claims)


if __name__ == "__main__":
    sys.exit(main())
