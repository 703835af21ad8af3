#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do reads of random pages add up over the members of a stripe?

Claims: a stripe of one file reads at least 0.9 of the pages of the file alone; a stripe over several disks at least 0.8 times as many
pages as it has disks. Same bytes, same page size, in turn; every page is checked to be the one that was wanted.

    bench/stripe.py [--folders A,B,...] [--size 256M] [--page 4096] [--depth 32] [--build DIR] [--json OUT]

Members are made in the folders in turn (default: all in the build folder, which is one disk), and removed.
"""
import os
import statistics
import struct
import subprocess
import sys
import tempfile

from support import disk, report

UNIT = 65536


def numbered_file(path, size, page):
    with open(path, "wb") as out:
        for number in range(size // page):
            out.write(struct.pack("<Q", number) + os.urandom(page - 8))
        out.flush()
        os.fsync(out.fileno())


def make_stripe(args, data, folders, count):
    """A stripe of that many files with the bytes of data: its URI without the scheme, and its number of disks."""
    paths = [os.path.join(folders[k % len(folders)], f"stripe{count}.{k}") for k in range(count)]
    for path in paths:
        with open(path, "wb") as out:
            out.truncate(-(-args.size // (count * UNIT)) * UNIT)
    uri = ",".join(f"file:{path}" for path in paths)
    subprocess.run([report.program(args, "tools", "grapnel"), "store", "write", f"stripe:{uri}", "--file", data, "--overwrite"],
                   check=True)
    return f"ro,{uri}", len({os.stat(path).st_dev for path in paths})


def measure(args, uri):
    program = report.program(args, "bench", "bench_store_file")
    return report.run_json([program, f"uri={uri}", f"page={args.page}", f"threads={args.depth}", f"seconds={args.seconds}",
                            "numbered=1"])["pages_per_second"]


def main():
    p = report.parser(__doc__)
    p.add_argument("--folders")
    disk.add_options(p, "256M")
    args = p.parse_args()
    if args.size % UNIT or args.page > UNIT or UNIT % args.page:
        sys.exit("stripe.py: --size must be a multiple of 64K, and --page a power of two up to 64K")
    with tempfile.TemporaryDirectory(dir=args.build) as own:
        folders = [tempfile.mkdtemp(dir=folder) for folder in args.folders.split(",")] if args.folders else [own]
        try:
            return compare(args, own, folders)
        finally:
            for folder in folders if args.folders else []:
                for name in os.listdir(folder):
                    os.unlink(os.path.join(folder, name))
                os.rmdir(folder)


def compare(args, own, folders):
    data = os.path.join(own, "data")
    numbered_file(data, args.size, args.page)
    stripes = {count: make_stripe(args, data, folders, count) for count in (1, 2, 4)}
    uris = {"file": f"file:{data}?ro", **{f"stripe of {count}": f"stripe:{uri}" for count, (uri, _) in stripes.items()}}
    runs = report.in_turn(args.runs, {what: lambda uri=uri: measure(args, uri) for what, uri in uris.items()})
    pages = {what: statistics.median(one) for what, one in runs.items()}
    for what, median in pages.items():
        print(f"  {what}: {median:.0f} pages/s")
    claims = [("random pages a second of a stripe of 1, share of the file's", pages["stripe of 1"] / pages["file"], 0.9, True)]
    claims += [(f"random pages a second of a stripe of {count} on {disks} disks, over the file's",
                pages[f"stripe of {count}"] / pages["file"], 0.8 * disks, True) for count, (_, disks) in stripes.items() if disks > 1]
    return report.save(args, "stripe", {"file_bytes": args.size, "page_bytes": args.page, "depth": args.depth,
                                        "disks": {str(count): disks for count, (_, disks) in stripes.items()}, "runs": runs}, claims)


if __name__ == "__main__":
    sys.exit(main())
