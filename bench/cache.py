#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do hits and misses of the cache cost, beside the limits of the same machine in the same run?

On a GPU: random pages of 4 KiB through a cold cache over host memory reach 90 % of the zero-copy stream; hot coalesced
scalar reads reach 1 TB/s, reads by page reference 3 TB/s. On the cpu machine (one thread, warp width 1): a scalar read
of consecutive elements that hits costs at most 25 ns.

    bench/cache.py [--machine cpu|cuda] [--table auto|direct|sets] [--page SIZE] [--build DIR] [--json OUT]

Both look-ups (direct table and sets), optimistic and pinned reads stand in the rows: they are what the choice of the
optimistic read and of the direct table rests on. Every word read is checked by the program.
"""
import sys

from support import report, rows


def claims_of_gpu(found):
    def share(row, limit):
        return found[row]["giga_per_second"] / found[limit]["giga_per_second"] if limit in found else 0

    return [("hot coalesced scalar reads, share of the same loop over a plain pointer", share("hot-scalar", "plain-one"), 0.35, True),
            ("hot reads through a cursor, share of the same loop over a plain pointer", share("hot-cursor", "plain-run"), 0.85, True),
            ("hot reads by page reference, a page for each lane pinned together, share of the same loop over a plain pointer",
             share("hot-pages", "plain-range"), 0.93, True),
            ("hot reads by a loop over a range, share of the same over a plain pointer", share("hot-range", "plain-range"), 0.93, True),
            ("random pages through a cold cache, share of the zero-copy stream", found["cold-touch"]["of_limit"], 0.90, True),
            ("hot coalesced scalar reads, GB/s", found["hot-scalar"]["giga_per_second"], 1000, True),
            ("hot reads by page reference, GB/s", found["hot-page"]["giga_per_second"], 3000, True)]


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu")
    p.add_argument("--table", default="auto")
    p.add_argument("--page", help="bytes of a page (default 4K)")
    p.add_argument("--data", help="bytes of data (default 256M, on a GPU 12G)")
    p.add_argument("--cache", help="bytes of cache (default 32M, on a GPU 8G)")
    args = p.parse_args()
    gpu = args.machine.startswith("cuda")
    # One thread in all on cpu: its reads are consecutive, and no other shares its core.
    shape = [] if gpu else ["--threads", "1", "--blocks", "1", "--block-threads", "1"]
    command = [report.program(args, "tools", "grapnel"), "cache-bench", "--machine", args.machine, "--table", args.table,
               "--data", args.data or ("12G" if gpu else "256M"), "--cache", args.cache or ("8G" if gpu else "32M"),
               "--repeat", str(args.runs), "--json", "-"] + (["--page", args.page] if args.page else []) + shape
    result = report.run_json(command)
    found = {row["row"]: row for row in rows.rows(result)}
    print(f"{args.table} table, pages of {args.page or '4K'}")
    rows.show(result)
    if not gpu:
        reads = found["hot-scalar"]["amount"] / 4
        claims = [("scalar read that hits, ns", 1e9 * found["hot-scalar"]["seconds"] / reads, 25, False)]
    else:
        claims = [c for c in claims_of_gpu(found) if args.table != "sets" or c[0].startswith("random pages")]
    parts = ["cache", "gpu" if gpu else "cpu"] + ([] if args.table == "auto" else [args.table]) + ([args.page.lower()] if args.page else [])
    return report.save(args, "-".join(parts),
                       {"command": " ".join(["grapnel"] + command[1:]), "result": result}, claims)


if __name__ == "__main__":
    sys.exit(main())
