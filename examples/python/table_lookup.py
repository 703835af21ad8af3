#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table_lookup.py - how do I look up rows of 256 bytes in a table that is larger than the GPU's memory?

    python table_lookup.py [--machine cuda] [--rows 1000000] [--file table.bin]

The table lies in host memory, or in a file. Half of the rows that a batch asks for are in the first tenth of the table, which is
fetched into the cache before. The cache has an eighth of the table. The rows that come are checked.

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


def look_up(table, options):
    """On a GPU give tensors of that GPU: then nothing waits but the check."""
    random = np.random.default_rng(1)
    out = np.empty((options.batch, ROW), np.uint32)
    for _ in range(options.batches):
        index = draw(random, options.rows, options.batch)
        table.gather(index, out)
        if not np.array_equal(out[:, 0], index) or not np.array_equal(out[:, -1], index + ROW - 1):
            raise SystemExit("table_lookup: wrong rows")


def look_up_tensors(table, options):
    import torch

    device = torch.device(options.machine)
    random = np.random.default_rng(1)
    out = torch.empty(options.batch, ROW, dtype=torch.uint32, device=device)
    wrong = torch.zeros((), dtype=torch.int64, device=device)
    for _ in range(options.batches):
        index = torch.from_numpy(draw(random, options.rows, options.batch)).to(device)
        table.gather(index, out)
        wrong += (out[:, 0].to(torch.int64) != index).sum() + (out[:, -1].to(torch.int64) != index + ROW - 1).sum()
    table.synchronize()
    if wrong.item():
        raise SystemExit("table_lookup: wrong rows")


def main():
    parser = argparse.ArgumentParser(description="Look up rows of 256 bytes in a far table.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--batch", type=int, default=2048, help="rows of a batch")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--file", help="where the table is written, and read from; default: host memory")
    options = parser.parse_args()
    table, where = make_table(options)
    with table:
        print(f"{options.rows} rows of 256 bytes, {where}; a cache of {table.cache.stats()['frame_bytes'] >> 20} MiB")
        table.prefetch(0, options.rows // 10)  # gathers from host memory leave the cache as it is
        (look_up if options.machine == "cpu" else look_up_tensors)(table, options)
        counted = table.stats()["cache"]
        print(f"{options.batches} batches of {options.batch} rows are right; the cache counted {counted['hits']} hits and "
              f"fetched {counted['fetched_bytes'] >> 20} MiB")


if __name__ == "__main__":
    main()
