# SPDX-License-Identifier: Apache-2.0
"""Grapnel for PyTorch: operators, and an embedding bag over a far table.

    >>> import grapnel, grapnel.torch, torch
    >>> table = grapnel.array(torch.arange(20.0).reshape(10, 2), cache="1M")
    >>> grapnel.torch.gather(table, torch.tensor([3, 1]))
    tensor([[6., 7.],
            [2., 3.]])
    >>> bag = grapnel.torch.EmbeddingBag(table, mode="sum")
    >>> bag(torch.tensor([3, 1, 0]), torch.tensor([0, 2]))
    tensor([[ 8., 10.],
            [ 0.,  1.]])

The operators are torch.ops.grapnel.gather and torch.ops.grapnel.scatter. They take an array by its handle, an integer,
and never as a tensor, so that no compiler copies the table. torch.compile(fullgraph=True) and CUDA graphs take them.
"""

from __future__ import annotations

import torch
from torch import nn

from . import _array, _library

__all__ = ["EmbeddingBag", "gather", "scatter"]

_operators = torch.library.Library("grapnel", "DEF")
# Strides as the caller has them: the rows are packed. `order` is a tensor that each scatter claims to change and each
# gather may claim to read: so a compiler neither drops a scatter nor moves a gather across it.
_tags = (torch.Tag.needs_fixed_stride_order,)
_operators.define("gather(int array, Tensor index, Tensor(a!) out, Tensor? order=None) -> ()", tags=_tags)
_operators.define("scatter(int array, Tensor index, Tensor rows, Tensor(a!) order) -> ()", tags=_tags)


def _open(handle: int) -> _array.Array:
    found = _array.by_handle.get(handle)
    if found is None:
        _library.must(_library.check(handle))  # says what is wrong with the handle
        raise ValueError(f"{handle} is not the handle of an open array of this process")
    return found


def _gather(array: int, index: torch.Tensor, out: torch.Tensor, order: torch.Tensor | None = None) -> None:
    _open(array)._move_tensor(index, out, None, False)


def _scatter(array: int, index: torch.Tensor, rows: torch.Tensor, order: torch.Tensor) -> None:
    _open(array)._move_tensor(index, rows, None, True)


def _nothing(*arguments: object) -> None:
    """What the operators return when there is no data."""


for _name, _run in [("gather", _gather), ("scatter", _scatter)]:
    torch.library.impl(_operators, _name, "CompositeExplicitAutograd")(_run)
    torch.library.register_fake(f"grapnel::{_name}", _nothing, lib=_operators)


def gather(array: _array.Array, index: torch.Tensor, out: torch.Tensor | None = None,
           order: torch.Tensor | None = None) -> torch.Tensor:
    """Array.gather() as an operator, for code that torch.compile compiles.

    Args:
        array: of the device of index.
        index: row numbers, int64.
        out: receives the rows, contiguous; None makes a tensor.
        order: the tensor of the scatters that come before, if there are any in the same compiled code.

    Returns:
        out.
    """
    if out is None:
        out = torch.empty(tuple(index.shape) + array.row_shape, dtype=array.torch_dtype, device=index.device)
    torch.ops.grapnel.gather(array.handle, index, out, order)
    return out


def scatter(array: _array.Array, index: torch.Tensor, rows: torch.Tensor, order: torch.Tensor) -> None:
    """Array.scatter() as an operator, for code that torch.compile compiles.

    Args:
        array: of the device of index.
        index: row numbers, int64.
        rows: of the array's type, contiguous.
        order: any tensor, which stays as it is: give the same one to each gather that must see these rows.
    """
    torch.ops.grapnel.scatter(array.handle, index, rows, order)


class EmbeddingBag(nn.Module):
    """torch.nn.EmbeddingBag over an Array, which need not fit the device's memory. Forward only: nothing is learnt.

    Args:
        array: of shape (rows, width), of floating-point numbers. It stays the caller's, who closes it.
        mode: ``"sum"``, ``"mean"`` or ``"max"``.
        include_last_offset: offsets has the end of the last bag, too.
    """

    def __init__(self, array: _array.Array, mode: str = "mean", include_last_offset: bool = False):
        super().__init__()
        if len(array.shape) != 2 or not array.torch_dtype.is_floating_point:
            raise ValueError(f"{array!r}: an embedding bag needs rows of floating-point numbers, shape (rows, width)")
        if mode not in ("sum", "mean", "max"):
            raise ValueError(f"mode {mode!r} does not exist; give 'sum', 'mean' or 'max'")
        self.array = array
        self.mode = mode
        self.include_last_offset = include_last_offset
        self._handle, self._width, self._dtype = array.handle, array.shape[1], array.torch_dtype

    def forward(self, input: torch.Tensor, offsets: torch.Tensor | None = None,
                per_sample_weights: torch.Tensor | None = None) -> torch.Tensor:
        """The bags' sums, means or maxima, (bags, width).

        Args:
            input: row numbers, int64 or int32: (bags, n), or (n,) with offsets.
            offsets: of each bag's first row number in input.
            per_sample_weights: of input's shape, for mode sum.
        """
        index = input.to(torch.int64).contiguous()
        rows = torch.empty((index.numel(), self._width), dtype=self._dtype, device=index.device)
        torch.ops.grapnel.gather(self._handle, index.reshape(-1), rows)
        places = torch.arange(index.numel(), device=index.device).reshape(index.shape)
        return nn.functional.embedding_bag(
            places, rows, None if offsets is None else offsets.to(torch.int64), mode=self.mode,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset)

    def extra_repr(self) -> str:
        return f"{self.array!r}, mode={self.mode!r}"
