#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random updates between nodes of one or more GPUs by packets through the host: the way between GPUs that do not reach each other.

`grapnel gups`, the messages sorted by kernels, beside the same with the network threads sorting (--sort host), in one run.
Updates put together by destination come at 5 times the rate of a packet a message and more; on one GPU also at 5 times the
rate in the result of --before, when a network thread sorted and one block applied. With --gpus 2 and more nodes lie on
different GPUs, and the direct route, which changes words over NVLink, is at most twice as fast. Every word is compared.

    bench/net_packets.py [--gpus N] [--nodes N,N...] [--table BYTES] [--updates N] [--before JSON] [--machine NAME]
                         [--build DIR] [--json OUT]

It needs the targets tools/grapnel, bench_net_costs and bench_net_log.

The limit beside them: every update of another node's word crosses a GPU's link as 16 bytes, both ways at once; bench_net_log
measures what plain stores to the host's memory carry. And for --sort host what so many network threads sort when they do
nothing else (bench_net_costs). --machine cpu shows that the counts are right; kernels sort there too, emulated and slow.
"""
import json
import os
import statistics
import sys

from support import report

BEFORE = os.path.join(report.ROOT, "bench", "results", "h200-net-packets.json")
MESSAGE = 16  # bytes of an addition
DRAWN = 1 << 28  # numbers that all nodes draw together if every word is compared (apps/gups/check.h)


def rate(args, nodes, updates, *options):
    command = ["--machine", args.machine, "--nodes", str(nodes), "--op", "inc", "--table", str(args.table), "--updates", str(updates),
               *options]
    what = f"{nodes} nodes, {' '.join(options)}"
    runs = [report.gups(args, command, what) for _ in range(args.runs)]
    if any(run["compared"] != "words" for run in runs):
        sys.exit(f"{what}: not every word was compared; give fewer --updates")
    return statistics.median(run["gups"] for run in runs)


def link_limit(args, nodes):
    """Giga-updates a second if the links are full of messages; one in `nodes` updates is of the own node."""
    result = report.run_json([report.program(args, "bench", "bench_net_log"), f"machine={args.machine.split(':')[0]}",
                              f"megabytes={2000 if args.machine.startswith('cuda') else 16}"])
    stores = max(row["giga_per_second"] for row in result["rows"] if row["row"] == "stores")
    return min(args.gpus, nodes) * stores / MESSAGE * nodes / (nodes - 1)


def measure(args, nodes, sort_ns):
    updates = args.updates or DRAWN // nodes ** 2
    row = {"nodes": nodes, "updates": updates, "combined": rate(args, nodes, updates, "--sort", "kernel"),
           "host_sorts": rate(args, nodes, max(1, updates >> 4), "--sort", "host"),
           "message_per_lane": rate(args, nodes, max(1, updates >> 10), "--form", "message-per-lane"),
           "direct": rate(args, nodes, updates, "--route", "direct"),
           "sorting": nodes / sort_ns * (nodes / (nodes - 1)), "links": link_limit(args, nodes)}
    print("  " + ", ".join(f"{k} {v:.4g}" for k, v in row.items()))
    print(f"  {nodes} nodes: {row['combined'] / row['links']:.1%} of the links, {row['combined'] / row['host_sorts']:.3g} times the "
          f"network threads, which reach {row['host_sorts'] / row['sorting']:.1%} of what they sort")
    return row


def claims_of(args, row):
    nodes = row["nodes"]
    yield f"{nodes} nodes: combined over a packet a message", row["combined"] / row["message_per_lane"], 5, True
    if args.machine == "cpu":
        return
    if args.gpus > 1:
        yield f"{nodes} nodes on {args.gpus} GPUs: the direct route over packets", row["direct"] / row["combined"], 2, False
        return
    with open(args.before, encoding="utf-8") as file:
        before = {r["nodes"]: r["combined"] for r in json.load(file)["rows"]}
    if nodes in before:
        yield f"{nodes} nodes of one GPU: over what it was", row["combined"] / before[nodes], 5, True


def main():
    p = report.parser(__doc__)
    p.add_argument("--gpus", type=int, default=1, help="GPUs on which the nodes lie (default 1)")
    p.add_argument("--nodes", help="numbers of nodes, separated by commas, each at least 2 (default 2,4, or the number of GPUs)")
    p.add_argument("--table", type=int, default=16 << 20, help="bytes of each node's part, a power of two (default 16 MiB)")
    p.add_argument("--updates", type=int, help="updates by each node (default as many as can be compared word by word)")
    p.add_argument("--before", default=BEFORE, help="an earlier result on one GPU (default bench/results/h200-net-packets.json)")
    p.add_argument("--machine", help="machine of the nodes (default cuda:0 for one GPU, cuda for more)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    args.machine = args.machine or ("cuda:0" if args.gpus == 1 else "cuda")
    args.nodes = args.nodes or ("2,4" if args.gpus == 1 else str(args.gpus))
    sort_ns = report.run_json([report.program(args, "bench", "bench_net_costs")])["rows"][0]["sort_ns"]
    rows, claims = [], []
    for nodes in map(int, args.nodes.split(",")):
        rows.append(measure(args, nodes, sort_ns))
        claims += claims_of(args, rows[-1])
    return report.save(args, f"net-packets-{args.gpus}", {"runs": args.runs, "rows": rows, "sort_ns": sort_ns, "gpus": args.gpus, "table_bytes": args.table,
                                                          "unit": "giga-updates per second of all nodes", "on": args.machine}, claims)


if __name__ == "__main__":
    sys.exit(main())
