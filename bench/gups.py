#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is putting messages together by destination worth, between the processes of one machine, in one run?

Four processes under mpirun, table of 16 MiB each: random updates (xor and increment) combined into packets come at 5
times the rate of a packet a message and more. With --conveyors PROGRAM (bench/rivals/convey_gups.c, linked with an
installed conveyors library) the same updates by conveyors are run in turn with ours, and ours are at least as fast.
HPCC's legal form, at most 1024 updates of a process under way, is reported beside, and the direct route, where processes of
a host change each other's tables by themselves. Every table is verified.

    bench/gups.py [--processes N] [--launcher mpirun] [--conveyors PROGRAM] [--build DIR] [--json OUT]

The limit beside them: the same updates on one node, where no message is sent.
"""
import statistics
import sys

from support import report

TABLE = 16 << 20
UPDATES = {"combined": 4 << 20, "message-per-lane": 1 << 17, "legal": 1 << 19, "direct": 4 << 20}
FORMS = {"combined": ["--form", "combined"], "message-per-lane": ["--form", "message-per-lane"], "legal": ["--hold", "1024"],
         "direct": ["--route", "direct"]}


def ours(args, launch, op, form):
    return report.gups(args, ["--nodes", "1", "--op", op, *FORMS[form], "--table", str(TABLE), "--updates", str(UPDATES[form]),
                              "--threads", "1"], f"{op}, {form}", launch)


def theirs(args, launch, op):
    return report.updates([*launch, args.conveyors, str(TABLE // 8), str(UPDATES["combined"]), op], f"{op}, conveyors",
                          timeout=600)


def rates(results):
    return statistics.median(r["gups"] for r in results)


def measure(args, launch, op):
    """The median rates of each form, ours and theirs in turn."""
    mine, rival = [], []
    for _ in range(args.runs):
        mine.append(ours(args, launch, op, "combined"))
        if args.conveyors:
            rival.append(theirs(args, launch, op))
    row = {"op": op, "combined": rates(mine), "legal": rates([ours(args, launch, op, "legal")]),
           "direct": rates([ours(args, launch, op, "direct") for _ in range(args.runs)]),
           "message_per_lane": rates([ours(args, launch, op, "message-per-lane") for _ in range(args.runs)]),
           "one_node": rates([ours(args, [], op, "combined") for _ in range(args.runs)]),
           "mean_packet": mine[0]["net"]["mean_packet"],
           "bytes_of_a_message": mine[0]["net"]["packet_bytes"] / max(1, mine[0]["net"]["sent"])}
    if rival:
        row["conveyors"] = rates(rival)
    return row


def main():
    p = report.parser(__doc__)
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--launcher", default="mpirun")
    p.add_argument("--conveyors", help="program that was built from bench/rivals/convey_gups.c")
    args = p.parse_args()
    launch = report.launcher(args)
    rows, claims = [], []
    for op in ("xor", "inc"):
        row = measure(args, launch, op)
        rows.append(row)
        print(f"  {op}: " + ", ".join(f"{k} {v:.5g}" for k, v in row.items() if k != "op"))
        claims.append((f"{op}: combined over a packet a message", row["combined"] / row["message_per_lane"], 5, True))
        if args.conveyors:
            claims.append((f"{op}: combined over conveyors", row["combined"] / row["conveyors"], 1, True))
    return report.save(args, "gups", {"processes": args.processes, "table_bytes": TABLE, "unit": "giga-updates per second",
                                      "rows": rows}, claims)


if __name__ == "__main__":
    sys.exit(main())
