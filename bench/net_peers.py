#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random updates of a table over several GPUs, each by the thread itself: Grapnel's direct route beside others' atomics.

`grapnel gups --route direct`, a node a GPU, tables far larger than any cache. With --nvshmem PROGRAM (bench/rivals/nvshmem_gups.cu,
linked with an installed NVSHMEM) the same updates by NVSHMEM's atomics and by CUDA's own (atomicAdd_system) are run in turn with
ours, which on 2 GPUs are no slower than either, and on 4 GPUs 1.3 times as fast. With --launcher mpirun, and a grapnel that is built
with an MPI, also by a process a GPU, which reach each other's memory as fast as nodes of one process do. Every table is verified.

    bench/net_peers.py [--gpus N] [--table BYTES] [--updates N] [--launcher mpirun] [--nvshmem PROGRAM] [--machine NAME] [--build DIR]
                       [--json OUT]

The limit beside them: the same updates on one node, where all atomics are local. --machine cpu shows that the counts are right.
"""
import os
import statistics
import sys

from support import report


def ours(args, op, *how, launch=()):
    return report.gups(args, ["--machine", args.machine, "--op", op, "--route", "direct", "--table", str(args.table), "--updates",
                              str(args.updates), *how], f"{op}, {' '.join([*launch, *how])}", launch)["gups"]


def theirs(args, op, *how):
    return report.updates([args.nvshmem, str(args.gpus), str(args.table // 8), str(args.updates), op, *how],
                          f"{op}, {args.nvshmem} {' '.join(how)}", timeout=120,
                          env={**os.environ, "NVSHMEM_DISABLE_NVLS": "1"})["gups"]


def measure(args, op):
    ways = {"direct": lambda: ours(args, op, "--nodes", str(args.gpus)), "local": lambda: ours(args, op, "--nodes", "1")}
    if args.launcher:
        ways["processes"] = lambda: ours(args, op, launch=report.launcher(args))
    if args.nvshmem:
        ways.update(nvshmem=lambda: theirs(args, op), cuda=lambda: theirs(args, op, "plain"))
    return {"op": op, **{name: statistics.median(all_) for name, all_ in report.in_turn(args.runs, ways).items()}}


def main():
    p = report.parser(__doc__)
    p.add_argument("--gpus", type=int, default=2)
    p.add_argument("--table", type=int, default=8 << 30, help="bytes of each node's part of the table, a power of two (default 8 GiB)")
    p.add_argument("--updates", type=int, default=1 << 31, help="updates by each node (default 2^31)")
    p.add_argument("--launcher", help="MPI launcher; if given, one process a GPU is run as well")
    p.add_argument("--nvshmem", help="program that was built from bench/rivals/nvshmem_gups.cu")
    p.add_argument("--machine", default="cuda")
    p.set_defaults(runs=3)
    args = p.parse_args()
    args.processes = args.gpus
    rows, claims = [], []
    least = 1.3 if args.gpus >= 4 else 1
    for op in ("inc", "xor"):
        row = measure(args, op)
        rows.append(row)
        print(f"  {op}, giga-updates per second: " + ", ".join(f"{k} {v:.4g}" for k, v in row.items() if k != "op"))
        if args.launcher:
            claims.append((f"{op}: a process a GPU over a node a GPU", row["processes"] / row["direct"], 0.9, True))
        if args.nvshmem:
            claims.append((f"{op}: direct over CUDA's own atomics", row["direct"] / row["cuda"], least, True))
            claims.append((f"{op}: direct over NVSHMEM", row["direct"] / row["nvshmem"], least, True))
    return report.save(args, f"net_peers-{args.gpus}", {"gpus": args.gpus, "table_bytes": args.table, "updates": args.updates,
                                                       "unit": "giga-updates per second", "rows": rows}, claims)


if __name__ == "__main__":
    sys.exit(main())
