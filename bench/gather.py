#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is a batch of rows worth, beside the same rows as they come and beside the link, in the same run?

On a GPU, data in 16 GiB of host memory, a cache of a tenth: 64 Mi random words of 4 bytes come at 14 times the rate of
plain loads; rows of 64, 512 and 1024 bytes, drawn uniformly, at 6, 3 and 1.6 times; drawn by Zipf's law with exponent
0.99 they come faster than the link could bring them. On the cpu machine a small run: no batch is slower than plain loads
as they come, and every word is right. Their times differ by a tenth from run to run, so that one may say no there.

    bench/gather.py [--machine cpu|cuda] [--table auto|direct|sets] [--data SIZE] [--build DIR] [--json OUT]

Rows as they come are read by plain loads in the order of the batch; "each in order" reads every row once, in
order of addresses, and is the limit of what order can give. Every word gathered is checked by the program.
"""
import sys

from support import report, rows

TIMES = {4: 14, 64: 6, 512: 3, 1024: 1.6}


def trials_of(result):
    """draw, bytes of a row, and its rows by name."""
    found = {}
    for row in rows.rows(result):
        found.setdefault(row["group"], {})[row["row"]] = row
    return [(*group.rsplit("-", 1), ways) for group, ways in found.items() if group != "stream"]


def claims_of_gpu(result):
    stream, claims = rows.rates(result)["stream", "stream"], []
    for draw, size, ways in trials_of(result):
        what, bytes_of_row = f"rows of {size} bytes, {draw}", int(size)
        if draw == "uniform" and bytes_of_row in TIMES:
            claims.append((f"{what}, times as they come", ways["gather"]["of_limit"], TIMES[bytes_of_row], True))
        elif draw == "zipf" and bytes_of_row >= 64:
            claims.append((f"{what}, output over the link's stream", ways["gather"]["giga_per_second"] * bytes_of_row / stream, 1, True))
    return claims


def claims_of_cpu(result):
    return [(f"rows of {size} bytes, {draw}, times as they come", ways["gather"]["of_limit"], 1, True)
            for draw, size, ways in trials_of(result)]


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--table", default="auto")
    p.add_argument("--data", help="bytes of data (default 64M, on a GPU 16G)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    command = [report.program(args, "tools", "grapnel"), "gather", "--machine", args.machine, "--table", args.table,
               "--data", args.data or ("16G" if gpu else "64M"), "--repeat", str(args.runs), "--json", "-"]
    command += [] if gpu else ["--rows", "4,64,512,1024,4096"]
    result = report.run_json(command)
    rows.show(result)
    claims = claims_of_gpu(result) if gpu else claims_of_cpu(result)
    claims.append(("every word right", int(result["context"]["bench"]["verified"] is True), 1, True))
    return report.save(args, f"gather-{'gpu' if gpu else 'cpu'}{'' if args.table == 'auto' else '-' + args.table}",
                       {"command": " ".join(["grapnel"] + command[1:]), "result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
