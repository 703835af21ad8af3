#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many commands a second do the threads of a GPU submit and complete?

50 million with a controller that runs on the GPU itself and does nothing, which is what the queue's own code can do. 10 million with
threads of the host that copy 512 bytes for each. One queue pair alone stands beside 128.

    bench/queue_rate.py [--machine cuda] [--each N] [--build DIR] [--json OUT]
"""
import sys

from support import report


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda")
    p.add_argument("--each", help="commands of a thread (default 256, on cpu 64)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    each = [f"each={args.each}"] if args.each else []
    result = report.run_json([report.program(args, "bench", "bench_queue_rate"), f"machine={args.machine}", f"runs={args.runs}", *each])
    for row in result["rows"]:
        print(f"  {row['controller']:8} {row['queues']:4} queue pairs {row['mega_per_second']:9.3f} M commands/s")
    most = {name: max(row["mega_per_second"] for row in result["rows"] if row["controller"] == name) for name in ("nothing", "copies")}
    claims = [("M commands a second, controller on the GPU that does nothing", most["nothing"], 50, True),
              ("M commands a second, threads of the host that copy 512 bytes", most["copies"], 10, True)]
    return report.save(args, f"queue-rate-{'gpu' if gpu else 'cpu'}", {"result": result}, claims if gpu else [])


if __name__ == "__main__":
    sys.exit(main())
