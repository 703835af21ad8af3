#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a GPU read the memory of another one (peer:) as fast as it can be read?

Two claims. Random pages of 4 KiB that come through a cache are at 0.95 of the rate at which a kernel copies such pages. A gather of
random words, for which the other GPU packs the answers, is at 3 times the rate of plain loads. The same rows with the data on both
GPUs in turn, and larger rows, stand beside them. Every word is checked by the programs.

    bench/peer.py [--peers 1] [--data 8G] [--words 64M] [--build DIR] [--json OUT]

The machine is cuda, which is GPU 0. It needs a second GPU whose memory it reaches (`grapnel doctor`). --machine cpu shows that the
programs run: there host memory stands for that of GPUs.
"""
import sys

from support import report, rows

SIZES = "4,8,16,32,64,128"


def grapnel(args, *words):
    return report.run_json([report.program(args, "tools", "grapnel"), *words, "--machine", args.machine, "--data", args.data,
                            "--repeat", str(args.runs), "--json", "-"])


def gathers(args, peers):
    found = grapnel(args, "gather", "--store", f"peer:{peers}", "--draw", "uniform", "--rows", SIZES, "--count", args.words,
                    "--out", args.out)
    rows.show(found)
    return found


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda")
    p.add_argument("--peers", default="1", help="GPUs that have the data, as in peer:1 (default 1)")
    p.add_argument("--data", help="bytes of data (default 8G, on cpu 16M)")
    p.add_argument("--words", help="rows of a gather (default 64 Mi, on cpu 64 Ki)")
    p.set_defaults(runs=3)
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    args.data = args.data or ("8G" if gpu else "16M")
    args.words = args.words or str((64 << 20) if gpu else (64 << 10))
    args.out = "4G" if gpu else "8M"
    pages = grapnel(args, "bench", "pages", "--store", f"peer:{args.peers}")
    rows.show(pages)
    there, both = gathers(args, args.peers), gathers(args, f"0+{args.peers}")
    rate, words = rows.rates(pages), rows.rates(there)
    paged = max(rate["pages-4K", "paged-pages"], rate["pages-4K", "paged-batch"])
    claims = [("random pages of 4 KiB through a cache, of a kernel's copies", paged / rate["pages-4K", "copy"], 0.95, True),
              ("gathered random words, times plain loads", words["uniform-4", "direct"] / words["uniform-4", "plain"], 3, True)]
    return report.save(args, f"peer-{'gpu' if gpu else 'cpu'}", {"pages": pages, "gather": there, "gather_in_turn": both},
                       claims if gpu else [])


if __name__ == "__main__":
    sys.exit(main())
