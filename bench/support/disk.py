# SPDX-License-Identifier: Apache-2.0
"""Files to read from, and what fio reads of them."""
import json
import os
import shutil
import subprocess
import sys

from . import report


def units(text):
    """Bytes of a size such as 4096, 64K, 256M or 1G."""
    factor = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1].upper())
    return int(text[:-1]) * factor if factor else int(text)


def add_options(p, size):
    """Those of reading random pages of a file."""
    p.add_argument("--size", type=units, default=size)
    p.add_argument("--page", type=units, default="4096")
    p.add_argument("--depth", type=int, default=32)
    p.add_argument("--seconds", type=int, default=2)


def make_file(path, size):
    """Blocks that were never written are not read from the disk: write all of them. A file of another size is left alone."""
    if os.path.exists(path):
        if os.path.getsize(path) != size:
            sys.exit(f"{path} has {os.path.getsize(path)} bytes, not {size}; give its size, or another file")
        return
    with open(path, "wb") as out:
        for at in range(0, size, 1 << 20):
            out.write(os.urandom(min(1 << 20, size - at)))
        out.flush()
        os.fsync(out.fileno())


def need_fio(script):
    if not shutil.which("fio"):
        print(f"{script}: skipped: fio is missing", file=sys.stderr)
        sys.exit(report.SKIP)


def fio(path, rw, block, depth, *options):
    """What fio says of reading: by io_uring and O_DIRECT, rw in order (read) or at random (randread)."""
    done = subprocess.run(["fio", "--name=limit", f"--filename={path}", f"--rw={rw}", f"--bs={block}", "--direct=1", "--ioengine=io_uring",
                           f"--iodepth={depth}", "--readonly", "--output-format=json", *options],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(done[done.index("{"):])["jobs"][0]["read"]
