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

from support import report

TIMES = {4: 14, 64: 6, 512: 3, 1024: 1.6}


def claims_of_gpu(result):
    stream = result["stream_giga_bytes_per_second"]
    claims = []
    for trial in result["trials"]:
        what = f"rows of {trial['row_bytes']} bytes, {trial['draw']}"
        if trial["draw"] == "uniform" and trial["row_bytes"] in TIMES:
            claims.append((f"{what}, times as they come", trial["of_plain"], TIMES[trial["row_bytes"]], True))
        elif trial["draw"] == "zipf" and trial["row_bytes"] >= 64:
            claims.append((f"{what}, output over the link's stream", trial["giga_bytes_per_second"] / stream, 1, True))
    return claims


def claims_of_cpu(result):
    return [(f"rows of {t['row_bytes']} bytes, {t['draw']}, times as they come", t["of_plain"], 1, True) for t in result["trials"]]


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--table", default="auto")
    p.add_argument("--data", help="how much data (default 64M, on a GPU 16G)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    command = [report.program(args, "tools", "grapnel"), "gather", "--machine", args.machine, "--table", args.table,
               "--data", args.data or ("16G" if gpu else "64M"), "--repeat", str(args.runs), "--json", "-"]
    command += [] if gpu else ["--rows", "4,64,512,1024,4096"]
    result = report.run_json(command)
    print(f"{result['machine']['name']}, {result['path']}, stream {result['stream_giga_bytes_per_second']:.2f} GB/s")
    for t in result["trials"]:
        print(f"  {t['row_bytes']:5} bytes {t['draw']:8} {t['mega_rows_per_second']:9.1f} M rows/s "
              f"{t['giga_bytes_per_second']:8.2f} GB/s  {t['of_plain']:5.1f} x as they come, each in order "
              f"{1e-6 * t['reads'] / t['ordered_seconds']:.1f} M/s")
    claims = claims_of_gpu(result) if gpu else claims_of_cpu(result)
    claims.append(("every word right", int(result["verified"] is True), 1, True))
    return report.save(args, f"gather-{'gpu' if gpu else 'cpu'}{'' if args.table == 'auto' else '-' + args.table}",
                       {"command": " ".join(["grapnel"] + command[1:]), "result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
