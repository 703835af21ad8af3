# SPDX-License-Identifier: Apache-2.0
"""What scripts read of a .gng file (docs/graph-format.md)."""
import array
import struct

HEADER = 4096


def offsets_of(path):
    """Where the list of each vertex begins, and the number of edges."""
    with open(path, "rb") as f:
        header = f.read(HEADER)
        if header[:8] != b"GNGRAPH\n":
            raise SystemExit(f"{path}: this is not a .gng file; make one with grapnel convert")
        at, length = struct.unpack_from("<QQ", header, 48)
        offsets = array.array("Q")
        f.seek(at)
        offsets.frombytes(f.read(length))
    return offsets


def first_source(path, degree=3):
    """The first vertex with so many edges: a search from a vertex without edges shows nothing."""
    offsets = offsets_of(path)
    return next(v for v in range(len(offsets) - 1) if offsets[v + 1] - offsets[v] >= degree)
