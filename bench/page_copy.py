#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Copies of pages by a warp's loads and stores are as fast as bulk copies through shared memory (cp.async.bulk), for
random pages of 512 bytes to 64 KiB, from pinned host memory to device memory and back.

    bench/page_copy.py [--data MIB] [--moved MIB] [--build DIR] [--json OUT]

That is why the cache copies with simt_copy, which needs no shared memory and no architecture of its own.
"""
import os
import sys

from support import report


def main():
    p = report.parser(__doc__)
    p.set_defaults(build=os.path.join(report.ROOT, "build", "cuda"))
    p.add_argument("--data", default="8192", help="MiB of pinned host memory, a power of two")
    p.add_argument("--moved", default="512", help="MiB moved in one run, a power of two")
    args = p.parse_args()
    result = report.run_json([report.program(args, "bench", "bench_page_copy"), args.data, args.moved])
    best = {}
    print(f"{result['device']}: random pages of {args.data} MiB of host memory")
    for row in result["rows"]:
        print(f"  {row['way']:7} {row['direction']:4} {row['page_bytes']:6} B {row['gb_per_second']:8.2f} GB/s  "
              f"from {row['enough_per_processor']} a multiprocessor")
        best[row["direction"], row["page_bytes"], row["way"]] = row["gb_per_second"]
    claims = [("words that were not what they should be", result["wrong"], 0, False)]
    for (direction, page, way), rate in best.items():
        if way == "bulk":
            claims.append((f"pages of {page} bytes, {direction}: warp copies of bulk copies",
                           best[direction, page, "warp"] / rate, 0.98, True))
    return report.save(args, "page-copy", {"result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
