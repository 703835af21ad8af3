#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random updates between nodes of one GPU by packets through the host: the way between GPUs that do not reach each other.

`grapnel gups`, all nodes on the GPU of this machine, updates put together by destination come at 5 times the rate of a packet
a message and more. Every table is verified.

    bench/net_packets.py [--nodes N,N...] [--updates N] [--machine NAME] [--build DIR] [--json OUT]

The limit beside them: what the hosts' threads of so many nodes sort when they do nothing else (bench_net_sort), and the same
updates by the threads' own atomics. --machine cpu shows that the counts are right.
"""
import statistics
import sys

from support import report


def rate(args, nodes, updates, *options):
    command = ["--machine", args.machine, "--nodes", str(nodes), "--op", "inc", "--updates", str(updates), *options]
    what = f"{nodes} nodes, {' '.join(options)}"
    return statistics.median(report.gups(args, command, what)["gups"] for _ in range(args.runs))


def main():
    p = report.parser(__doc__)
    p.add_argument("--nodes", default="2,4", help="numbers of nodes, separated by commas, each at least 2 (default 2,4)")
    p.add_argument("--updates", type=int, default=1 << 24, help="updates by each node (default 2^24)")
    p.add_argument("--machine", default="cuda")
    p.set_defaults(runs=3)
    args = p.parse_args()
    sort_ns = report.run_json([report.program(args, "bench", "bench_net_sort")])["rows"][0]["sort_ns"]
    rows, claims = [], []
    for nodes in map(int, args.nodes.split(",")):
        row = {"nodes": nodes, "combined": rate(args, nodes, args.updates, "--form", "combined"),
               "message_per_lane": rate(args, nodes, max(1, args.updates >> 8), "--form", "message-per-lane"),
               "direct": rate(args, nodes, args.updates, "--route", "direct"),
               "sorting": nodes / sort_ns * (nodes / (nodes - 1))}  # an update to the own node is not sorted
        rows.append(row)
        print("  " + ", ".join(f"{k} {v:.4g}" for k, v in row.items()))
        claims.append((f"{nodes} nodes: combined over a packet a message", row["combined"] / row["message_per_lane"], 5, True))
    return report.save(args, "net-packets", {"rows": rows, "sort_ns": sort_ns, "unit": "giga-updates per second of all nodes",
                                             "updates": args.updates, "on": args.machine}, claims)


if __name__ == "__main__":
    sys.exit(main())
