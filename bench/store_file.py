#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a kernel that reads random pages through the queue pairs of a file: store keep the disk as busy as fio does?

Claim: at least 80 % of fio's random reads at queue depth 32 (io_uring, O_DIRECT), same file, same page size, in turn with it.

    bench/store_file.py [--file FILE] [--size 1G] [--page 4096] [--depth 32] [--options OPTIONS] [--build DIR] [--json OUT]

FILE is made if it is not there (in the build folder by default; written, not sparse) and kept for the next time.
"""
import os
import statistics
import sys

from support import disk, report


def main():
    p = report.parser(__doc__)
    p.add_argument("--file")
    disk.add_options(p, "1G")
    p.add_argument("--options", default="", help="more options of the store, for example &queues=1")
    args = p.parse_args()
    disk.need_fio("store_file")
    program = report.program(args, "bench", "bench_store_file")
    path = args.file or os.path.join(args.build, "bench_store_file.data")
    disk.make_file(path, args.size)
    limit, runs = [], []
    for _ in range(args.runs):
        limit.append(disk.fio(path, "randread", args.page, args.depth, f"--size={args.size}", "--time_based",
                              f"--runtime={args.seconds}")["iops"])
        runs.append(report.run_json([program, f"uri=file:{path}?ro{args.options}", f"page={args.page}", f"threads={args.depth}",
                                     f"seconds={args.seconds}"]))
    ours = [r["pages_per_second"] for r in runs]
    print(f"{runs[0]['path']}\n  fio {statistics.median(limit):.0f}, Grapnel {statistics.median(ours):.0f} pages/s")
    return report.save(args, "store_file",
                       {"file_bytes": args.size, "page_bytes": args.page, "depth": args.depth, "path": runs[0]["path"],
                        "fio_runs": limit, "store_runs": ours},
                       [("random pages a second, share of fio's", statistics.median(ours) / statistics.median(limit), 0.8, True)])


if __name__ == "__main__":
    sys.exit(main())
