#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does a batch of keys cost that asks for slots, and do missing items come at the rate of the link?

On a GPU: 2048 keys that are all resident are resolved in 15 us, waited for, launched one behind another, and in a graph; fills of
items of 4 KiB to 16 MiB come at 95 % of a kernel's plain copy of as many bytes in the same run; a graph of keys drawn on
the device, resolve, fill and a comparison of every word is replayed a million times under eviction, and no word is
wrong. On cpu the program runs on little data, and the claim is that every word is right.

    bench/slots.py [--machine cpu|cuda] [--data SIZE] [--replays N] [--build DIR] [--json OUT]
"""
import sys

from support import report


def show(result):
    for row in result["hits"]:
        print(f"  {row['keys']} keys, all hits, {row['way']:10} {'resolve and fill' if row['fill'] else 'resolve':16} "
              f"{row['microseconds']:9.2f} us")
    fills = result["fills"]
    print(f"  plain copy {fills['plain_copy_gb_per_second']:.2f} GB/s, cudaMemcpyAsync {fills['memcpy_gb_per_second']:.2f} GB/s")
    for row in fills["rows"]:
        print(f"  {row['items']:7} items of {row['item_bytes']:9} B {row['gb_per_second']:8.2f} GB/s, resolved in "
              f"{row['resolve_microseconds']:9.1f} us")
    if result["replays"]:
        print("  {replays} replays, {microseconds:.1f} us each, {evicted} items evicted, {hits} hits".format(**result["replays"]))


def claims_of(result, replays):
    claims = [(f"us for 2048 keys, all hits, resolved, {row['way']}", row["microseconds"], 15, False)
              for row in result["hits"] if not row["fill"]]
    plain = result["fills"]["plain_copy_gb_per_second"]
    claims += [(f"items of {row['item_bytes']} bytes, of the plain copy", row["gb_per_second"] / plain, 0.95, True)
               for row in result["fills"]["rows"]]
    return claims + [("replays of a graph under eviction", result["replays"]["replays"], replays, True)]


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--data", help="bytes of data, rounded down to a power of two (default 64M, on a GPU 4G)")
    p.add_argument("--replays", type=int, default=1000000, help="of the graph (default 1000000)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    command = [report.program(args, "bench", "bench_slots"), f"machine={args.machine}", f"runs={args.runs}",
               f"replays={args.replays}"]
    result = report.run_json(command + ([f"data={args.data}"] if args.data else []))
    show(result)
    claims = claims_of(result, args.replays) if gpu else []
    claims.append(("words that were not what they should be", result["wrong"], 0, False))
    return report.save(args, f"slots-{'gpu' if gpu else 'cpu'}", {"result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
