# SPDX-License-Identifier: Apache-2.0
"""Rows of a table in pinned host memory, read by the GPU's own loads (UVA): what gathers are compared with. Needs Triton."""
import triton
import triton.language as tl


@triton.jit
def load_rows(table, index, out, count, W: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    col = tl.arange(0, W)
    there = row < count
    at = tl.load(index + row, mask=there, other=0)
    here = there[:, None] & (col[None, :] < W)
    rows = tl.load(table + at[:, None] * W + col[None, :], mask=here)
    tl.store(out + row[:, None] * W + col[None, :], rows, mask=here)
