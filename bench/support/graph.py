# SPDX-License-Identifier: Apache-2.0
"""What scripts read and write of a .gng file (docs/graph-format.md)."""
import array
import struct
import zlib

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


def write(path, offsets, neighbours):
    """A .gng file of an undirected graph without weights; its arrays are numpy's, u64 and u32, and each list ascends."""
    page = bytearray(HEADER)
    struct.pack_into("<8sIIIIII", page, 0, b"GNGRAPH\n", 1, 0x01020304, HEADER, 3, 0, 0)
    struct.pack_into("<QQ", page, 32, len(offsets) - 1, len(neighbours))
    at = HEADER
    with open(path, "wb") as out:
        for field, array_ in ((48, offsets), (72, neighbours)):
            data = memoryview(array_).cast("B")
            struct.pack_into("<QQI", page, field, at, len(data), zlib.crc32(data))
            out.seek(at)
            out.write(data)
            at += (len(data) + HEADER - 1) // HEADER * HEADER
        struct.pack_into("<QQI", page, 96, at, 0, 0)
        struct.pack_into("<Q", page, 120, at)
        struct.pack_into("<I", page, 128, zlib.crc32(page))
        out.truncate(at)
        out.seek(0)
        out.write(page)
