#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random updates of a table over several GPUs: handed over by lines (relay), or each by the thread itself (direct)?

`grapnel gups`, a node a GPU, tables far larger than any cache, both routes in turn. On 2 GPUs the better route is no slower than
direct atomics; on 4 the relay is 1.3 times as fast. With --nvshmem PROGRAM (bench/rivals/nvshmem_gups.cu, linked with an
installed NVSHMEM) the same updates by its atomics are run in turn with ours. Every table is verified.

    bench/net_peers.py [--gpus N] [--table BYTES] [--updates N] [--nvshmem PROGRAM] [--machine NAME] [--build DIR] [--json OUT]

The limit beside them: the same updates on one node, where all atomics are local. --machine cpu shows that the counts are right.
"""
import os
import statistics
import subprocess
import sys

from support import report


def ours(args, op, nodes, route):
    result = report.run_json([report.program(args, "tools", "grapnel"), "gups", "--machine", args.machine, "--nodes", str(nodes),
                              "--op", op, "--route", route, "--table", str(args.table), "--updates", str(args.updates),
                              "--json", "-"])
    if not result["verified"]:
        sys.exit(f"{op}, {route}, {nodes} nodes: {result['wrong']} words are wrong")
    return result["gups"]


def theirs(args, op):
    done = subprocess.run([args.nvshmem, str(args.gpus), str(args.table // 8), str(args.updates), op], stdout=subprocess.PIPE,
                          text=True, timeout=120, env={**os.environ, "NVSHMEM_DISABLE_NVLS": "1"})
    if done.returncode or "{" not in done.stdout:
        sys.exit(f"{args.nvshmem}: exit status {done.returncode}")
    result = report.json.loads(done.stdout[done.stdout.index("{"):])
    if result["wrong"]:
        sys.exit(f"{op}, NVSHMEM: {result['wrong']} words are wrong")
    return result["gups"]


def measure(args, op):
    rates = {"direct": [], "relay": [], "local": [], "nvshmem": []}
    for _ in range(args.runs):
        for route in ("direct", "relay"):
            rates[route].append(ours(args, op, args.gpus, route))
        if args.nvshmem:
            rates["nvshmem"].append(theirs(args, op))
        rates["local"].append(ours(args, op, 1, "direct"))
    return {"op": op, **{name: statistics.median(all_) for name, all_ in rates.items() if all_}}


def main():
    p = report.parser(__doc__)
    p.add_argument("--gpus", type=int, default=2)
    p.add_argument("--table", type=int, default=8 << 30, help="bytes of a node, a power of two (default 8 GiB)")
    p.add_argument("--updates", type=int, default=1 << 31, help="of a node (default 2^31)")
    p.add_argument("--nvshmem", help="a program made of bench/rivals/nvshmem_gups.cu")
    p.add_argument("--machine", default="cuda")
    p.set_defaults(runs=3)
    args = p.parse_args()
    rows, claims = [], []
    for op in ("inc", "xor"):
        row = measure(args, op)
        rows.append(row)
        print(f"  {op}, giga-updates per second: " + ", ".join(f"{k} {v:.4g}" for k, v in row.items() if k != "op"))
        if args.machine == "cpu":
            continue
        claims.append((f"{op}: the better route over direct atomics", max(row["direct"], row["relay"]) / row["direct"],
                       1.3 if args.gpus >= 4 else 1, True))
        if args.nvshmem:
            claims.append((f"{op}: the better route over NVSHMEM", max(row["direct"], row["relay"]) / row["nvshmem"], 1, True))
    return report.save(args, f"net_peers-{args.gpus}", {"gpus": args.gpus, "table_bytes": args.table, "updates": args.updates,
                                                       "unit": "giga-updates per second", "rows": rows}, claims)


if __name__ == "__main__":
    sys.exit(main())
