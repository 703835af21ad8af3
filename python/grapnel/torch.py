# SPDX-License-Identifier: Apache-2.0
"""Grapnel for PyTorch: operators for arrays and slots, and an embedding bag over a far table.

    >>> import grapnel, grapnel.torch, torch
    >>> table = grapnel.array(torch.arange(20.0).reshape(10, 2), cache="1M")
    >>> grapnel.torch.gather(table, torch.tensor([3, 1]))
    tensor([[6., 7.],
            [2., 3.]])
    >>> bag = grapnel.torch.EmbeddingBag(table, mode="sum")
    >>> bag(torch.tensor([3, 1, 0]), torch.tensor([0, 2]))
    tensor([[ 8., 10.],
            [ 0.,  1.]])

The operators are torch.ops.grapnel.gather and scatter for arrays, and slots_resolve, slots_fill and slots_lookup for
slots. They take an array or slots by the handle, an integer, and never the store or the slab as a tensor, so that no
compiler copies it. torch.compile(fullgraph=True) and CUDA graphs take them.
"""

from __future__ import annotations

import torch
from torch import nn

from . import _array, _library, _slots

__all__ = ["EmbeddingBag", "fill", "gather", "lookup", "resolve", "scatter"]

_operators = torch.library.Library("grapnel", "DEF")
# Strides as the caller has them: the rows are packed. `order` is a tensor that each scatter claims to change and each
# gather may claim to read: so a compiler neither drops a scatter nor moves a gather across it.
_tags = (torch.Tag.needs_fixed_stride_order,)
_operators.define("gather(int array, Tensor index, Tensor(a!) out, Tensor? order=None) -> ()", tags=_tags)
_operators.define("scatter(int array, Tensor index, Tensor rows, Tensor(a!) order) -> ()", tags=_tags)
# What reads the slab by slot numbers depends on these, and so comes after the operator that changes them.
_batch = "(int slots, Tensor keys, Tensor(a!) out, Tensor(b!)? missed=None, Tensor(c!)? order=None, *, bool pin=False, " \
         "bool once=False, bool resident=False, bool overwrite=False, int priority=0) -> ()"
_operators.define("slots_resolve" + _batch, tags=_tags)
_operators.define("slots_lookup" + _batch, tags=_tags)
_operators.define("slots_fill(int slots, Tensor(a!) out, Tensor(b!)? order=None) -> ()", tags=_tags)


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


def _open_slots(handle: int) -> _slots.Slots:
    found = _slots.by_handle.get(handle)
    if found is None:
        _library.must(_library.slots_check(handle))
        raise ValueError(f"{handle} is not the handle of open slots of this process")
    return found


def _slots_resolve(slots: int, keys: torch.Tensor, out: torch.Tensor, missed: torch.Tensor | None = None,
                   order: torch.Tensor | None = None, **how: int) -> None:
    _open_slots(slots).resolve(keys, out, missed, **how)


def _slots_fill(slots: int, out: torch.Tensor, order: torch.Tensor | None = None) -> None:
    found = _open_slots(slots)
    was = found._copied(out)  # where fill() puts -1 for what cannot be read
    try:
        found.fill()
    finally:
        if was is not None:
            out.copy_(was)
        found._batch = ()  # all of it is of one stream, whose allocator keeps the memory until the fill has ended


def _slots_lookup(slots: int, keys: torch.Tensor, out: torch.Tensor, missed: torch.Tensor | None = None,
                  order: torch.Tensor | None = None, **how: int) -> None:
    found = _open_slots(slots)
    found.lookup(keys, out, missed=missed, **how)
    found._batch = ()


def _nothing(*arguments: object, **named: object) -> None:
    """What the operators return when there is no data."""


for _name, _run in [("gather", _gather), ("scatter", _scatter), ("slots_resolve", _slots_resolve),
                    ("slots_fill", _slots_fill), ("slots_lookup", _slots_lookup)]:
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


def lookup(slots: _slots.Slots, keys: torch.Tensor, out: torch.Tensor | None = None,
           missed: torch.Tensor | None = None, order: torch.Tensor | None = None, **how: int) -> torch.Tensor:
    """Slots.lookup() as an operator, for code that torch.compile compiles.

    A compiler knows that what indexes ``slots.slab`` by the result comes after this. It does not know that another
    lookup changes the slab: for n lookups in the same compiled code, make the slots with keep=n.

    Args:
        slots: of the device of keys, with a slab that is a tensor.
        keys, out, missed: as for Slots.resolve().
        order: as for resolve().
        how: pin, once, resident, overwrite, priority of Slots.resolve().

    Returns:
        out.
    """
    if out is None:
        out = torch.empty(keys.shape, dtype=torch.int32, device=keys.device)
    torch.ops.grapnel.slots_lookup(slots.handle, keys, out, missed, order, **how)
    return out


def resolve(slots: _slots.Slots, keys: torch.Tensor, out: torch.Tensor | None = None,
            missed: torch.Tensor | None = None, order: torch.Tensor | None = None, **how: int) -> torch.Tensor:
    """Slots.resolve() as an operator; fill() must follow. Arguments as for lookup().

    Args:
        order: any tensor, which stays as it is: give the same one to each resolve() and fill() of the same compiled
            code, if there are several, so that they keep their order.
    """
    if out is None:
        out = torch.empty(keys.shape, dtype=torch.int32, device=keys.device)
    torch.ops.grapnel.slots_resolve(slots.handle, keys, out, missed, order, **how)
    return out


def fill(slots: _slots.Slots, out: torch.Tensor, order: torch.Tensor | None = None) -> torch.Tensor:
    """Slots.fill() as an operator.

    Args:
        slots: as given to resolve().
        out: what resolve() returned.
        order: as for resolve().

    Returns:
        out. What indexes the slab by it comes after this.
    """
    torch.ops.grapnel.slots_fill(slots.handle, out, order)
    return out


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
