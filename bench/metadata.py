#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the tables of a cache stay bounded whatever the size of the data?

Claim: at most 2 % of the cache plus a fixed budget (1/64 of the machine's memory), from 1 GiB to a sparse file of 10 TB
behind a cache of 64 MiB, at pages of 512 B and 4 KiB; the far end of each file is read through the cache.

    bench/metadata.py [--build DIR] [--json OUT]
"""
import sys

from support import report


def main():
    args = report.parser(__doc__).parse_args()
    result = report.run_json([report.program(args, "bench", "bench_metadata"), f"folder={args.build}"])
    for row in result["rows"]:
        print(f"  {row['data_bytes'] / 2**30:10.0f} GiB, pages of {row['page_bytes']:5}: {row['table']:6} table, "
              f"{row['metadata_bytes'] / 2**20:8.2f} MiB of at most {row['bound_bytes'] / 2**20:.2f}")
    worst = max(row["metadata_bytes"] / row["bound_bytes"] for row in result["rows"])
    return report.save(args, "metadata", {"result": result}, [("tables over their bound, worst case", worst, 1, False)])


if __name__ == "__main__":
    sys.exit(main())
