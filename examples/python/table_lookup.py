#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table_lookup.py - how do I look up rows of 256 bytes in a table that is larger than the GPU's memory?

    python table_lookup.py [--machine cuda] [--rows 1000000] [--file table.bin] [--plot FILE]

The table lies in host memory, or in a file. Half of the rows that a batch asks for are in the first tenth of the table, which is
fetched into the cache before. The cache has an eighth of the table. The rows that come are checked. Where matplotlib is found,
a plot shows what the cache has fetched: from a file pages come and go. From host memory cpu reads the other rows alone. On a GPU
batches of few rows also fill the cache while it has free pages, and later now and then (docs/python.md, "Arrays").

Expected output, with about these numbers:
    100000 rows of 256 bytes, host memory; a cache of 3 MiB
    200 batches of 2048 rows are right; the cache counted 225549 hits and fetched 2 MiB
"""

import argparse

import numpy as np

import grapnel

ROW = 64  # numbers of 4 bytes


def make_table(options):
    """A table whose row k holds k, k + 1, ... k + 63."""
    rows = (np.arange(options.rows, dtype=np.uint32)[:, None] + np.arange(ROW, dtype=np.uint32)[None, :])
    cache = max(rows.nbytes // 8, 1 << 20)
    if not options.file:
        return grapnel.array(rows, cache=cache, machine=options.machine, statistics=True), "host memory"
    rows.tofile(options.file)
    table = grapnel.open(f"file:{options.file}?ro", "uint32", (-1, ROW), cache=cache, machine=options.machine,
                         statistics=True)
    return table, "a file"


def draw(random, rows, count):
    """Row numbers: half of them among the first tenth."""
    popular = random.integers(0, rows // 10, count)
    return np.where(random.random(count) < 0.5, popular, random.integers(0, rows, count))


def fetched(table):
    return table.stats()["cache"]["fetched_bytes"] / 2**20


def look_up(table, options):
    """MiB that the cache has fetched after each ten batches. On a GPU give tensors of that GPU: then only checks wait."""
    random = np.random.default_rng(1)
    out, points = np.empty((options.batch, ROW), np.uint32), []
    for k in range(options.batches):
        index = draw(random, options.rows, options.batch)
        table.gather(index, out)
        if not np.array_equal(out[:, 0], index) or not np.array_equal(out[:, -1], index + ROW - 1):
            raise SystemExit("table_lookup: wrong rows")
        if k % 10 == 9:
            points.append(fetched(table))
    return points


def look_up_tensors(table, options):
    import torch

    device = torch.device(options.machine)
    random = np.random.default_rng(1)
    out, points = torch.empty(options.batch, ROW, dtype=torch.uint32, device=device), []
    wrong = torch.zeros((), dtype=torch.int64, device=device)
    for k in range(options.batches):
        index = torch.from_numpy(draw(random, options.rows, options.batch)).to(device)
        table.gather(index, out)
        wrong += (out[:, 0].to(torch.int64) != index).sum() + (out[:, -1].to(torch.int64) != index + ROW - 1).sum()
        if k % 10 == 9:
            points.append(fetched(table))
    table.synchronize()
    if wrong.item():
        raise SystemExit("table_lookup: wrong rows")
    return points


def plot(path, points):
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    pyplot.plot(range(10, 10 * len(points) + 1, 10), points, marker="o"), pyplot.ylim(bottom=0)
    pyplot.xlabel("batches"), pyplot.ylabel("fetched into the cache, MiB"), pyplot.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="Look up rows of 256 bytes in a far table.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=2048, help="rows of a batch")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--file", help="where the table is written, and read from; default: host memory")
    parser.add_argument("--plot", default="table_lookup.png", help="the file for the plot")
    options = parser.parse_args()
    table, where = make_table(options)
    with table:
        print(f"{options.rows} rows of 256 bytes, {where}; a cache of {table.cache.stats()['frame_bytes'] >> 20} MiB")
        table.prefetch(0, options.rows // 10)  # on cpu, gathers from host memory leave the cache as it is
        points = (look_up if options.machine == "cpu" else look_up_tensors)(table, options)
        counted = table.stats()["cache"]
        print(f"{options.batches} batches of {options.batch} rows are right; the cache counted {counted['hits']} hits and "
              f"fetched {counted['fetched_bytes'] >> 20} MiB")
    plot(options.plot, points)


if __name__ == "__main__":
    main()
