#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is memory of another GPU worth it as a second level between a cache and a slower store (tier:)?

Random pages of 4 KiB of data that is four times as large as the cache and fits the second level: over the tier, and over the slow
store alone, which is host memory, and a file. Beside them stand the other GPU's memory alone, which is what the second level can give
at most, and a kernel that copies such pages from there and from host memory. Claims: twice the pages of host memory, five times those
of the file, half of those of the other GPU's memory alone. Every word that is read is checked.

    bench/tier.py [--fast peer:1] [--data 4G] [--file-data 1G] [--folder DIR] [--build DIR] [--json OUT]

The machine is cuda, which is GPU 0. It needs a second GPU whose memory it reaches (`grapnel doctor`). --machine cpu shows that the
programs run: there host memory stands for that of GPUs, and the numbers of the first two ways say nothing.
"""
import os
import sys
import tempfile

from support import disk, report, rows

PAGE = 4096
WARM = 4  # random touches of each page in a run, so that the run before the first that counts brings nearly all of them


def pages(args, what, store, data, touches):
    """The rows of random pages over a store, through a cache of a quarter of the data."""
    found = report.run_json([report.program(args, "tools", "grapnel"), "cache-bench", "--machine", args.machine, "--store", store,
                             "--data", str(data), "--cache", "1M", "--cold-cache", str(data // 4), "--page", str(PAGE), "--touches",
                             str(touches), "--repeat", str(args.runs), "--json", "-"])
    cold = [row for row in rows.rows(found) if row["group"] == "cold"]
    for row in cold:
        print(f"  {what:32} {row['row']:12} {row['giga_per_second']:10.4g} GB/s")
    return {row["row"]: row["giga_per_second"] for row in cold}


def fast(args, data):
    """The fast level's URI, with an eighth more than the data."""
    size = data + data // 8
    return f"{args.fast}?size={size}" if args.fast.startswith("peer:") else f"host:{size}"


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda")
    p.add_argument("--fast", help="the fast level: peer:GPUS (default peer:1, on cpu host)")
    p.add_argument("--data", help="bytes of data in host memory (default 4G, on cpu 64M)")
    p.add_argument("--file-data", help="bytes of data in the file (default 1G, on cpu 16M)")
    p.add_argument("--folder", help="where the file is made (default the folder of the build)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    args.fast = args.fast or ("peer:1" if gpu else "host")
    memory, slow = disk.units(args.data or ("4G" if gpu else "64M")), disk.units(args.file_data or ("1G" if gpu else "16M"))
    many, some = WARM * (memory // PAGE), slow // PAGE
    found = {"fast alone": pages(args, "fast level alone", fast(args, memory), memory, many),
             "host": pages(args, "host memory", f"host:{memory}", memory, many),
             "tier host": pages(args, "tier over host memory", f"tier:{fast(args, memory)},host:{memory}", memory, many)}
    with tempfile.TemporaryDirectory(dir=args.folder or args.build) as own:
        file = f"file:{os.path.join(own, 'data')}?create={slow}"
        found["file"] = pages(args, "file", file, slow, some)
        found["tier file"] = pages(args, "tier over the file", f"tier:{fast(args, slow)},{file}", slow, WARM * some)
    rate = {what: ways["cold-touch"] for what, ways in found.items()}
    claims = [("random pages of a tier over host memory, times those of host memory", rate["tier host"] / rate["host"], 2, True),
              ("random pages of a tier over host memory, of those of its fast level alone", rate["tier host"] / rate["fast alone"], 0.5,
               True),
              ("random pages of a tier over a file, times those of the file", rate["tier file"] / rate["file"], 5, True)]
    return report.save(args, f"tier-{'gpu' if gpu else 'cpu'}",
                       {"page_bytes": PAGE, "fast": args.fast, "data_bytes": memory, "file_bytes": slow,
                        "giga_bytes_per_second": found}, claims if gpu else claims[2:])


if __name__ == "__main__":
    sys.exit(main())
