# SPDX-License-Identifier: Apache-2.0
"""Reads a column file by docs/column-format.md alone, so that the format is judged, too."""
import struct

I32, U32, DECIMAL, F32, F64, STRING = 1, 2, 3, 4, 5, 6
CODES = {I32: "i", U32: "I", DECIMAL: "q", F32: "f", F64: "d", STRING: "I"}
MISSING = {I32: -(2**31), U32: 2**32 - 1, DECIMAL: -(2**63), STRING: 2**32 - 1}


def read_column(data, entry):
    """Name, scale and values of a column, from its entry in the directory."""
    name = data[entry : entry + 128].rstrip(b"\0").decode()
    kind, scale, words = struct.unpack_from("<III", data, entry + 128)
    at, length = struct.unpack_from("<QQ", data, entry + 144)
    size = struct.calcsize(CODES[kind])
    values = [v if v == v and v != MISSING.get(kind) else None for v in struct.unpack_from(f"<{length // size}{CODES[kind]}", data, at)]
    if kind == STRING:
        at, length = struct.unpack_from("<QQ", data, entry + 192)
        offsets = struct.unpack_from(f"<{words + 1}I", data, at)
        begin = at + 4 * (words + 1)
        strings = [data[begin + a : begin + b].decode() for a, b in zip(offsets, offsets[1:])]
        values = [None if v is None else strings[v] for v in values]
    return name, scale, values


def read_table(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"GNTABLE\n"
    columns = struct.unpack_from("<I", data, 20)[0]
    return [read_column(data, 4096 + 256 * k) for k in range(columns)]
