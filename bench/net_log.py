#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast is the log of messages by itself, and what does the way into the host's memory allow?

On a GPU, messages of 32 bytes: 100 GB/s where a warp of each block reads; 40 GB/s into the host's memory, or 95 % of plain stores
there. On the cpu machine it shows that the sums are right.

    bench/net_log.py [--machine cpu|cuda] [--megabytes N] [--build DIR] [--json OUT]
"""
import sys

from support import report


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--megabytes", help="megabytes of messages in a run (default 16, on a GPU 2000)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    command = [report.program(args, "bench", "bench_net_log"), f"machine={args.machine}",
               f"megabytes={args.megabytes or (2000 if gpu else 16)}"]
    result = report.run_json(command)
    best = {}
    for row in result["rows"]:
        print(f"  {row['row']:10} {row['blocks']:4} blocks of {row['warps']:2} warps, logs of {row['log_kib']:4} KiB "
              f"{row['giga_per_second']:8.3f} GB/s")
        best[row["row"]] = max(best.get(row["row"], 0), row["giga_per_second"])
    claims = []
    if gpu:
        claims = [("read by warps, GB/s", best["by-warps"], 100, True),
                  ("read by the host, GB/s", best["by-host"], min(40, 0.95 * best["stores"]), True)]
    return report.save(args, f"net_log-{'gpu' if gpu else 'cpu'}", {"result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
