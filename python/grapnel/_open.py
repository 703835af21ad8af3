# SPDX-License-Identifier: Apache-2.0
"""array() and open(): an array with the store and the cache that it needs."""

from __future__ import annotations

from math import prod

from . import _library as lib
from ._array import Array, is_tensor, whole_shape
from ._kind import Kind
from ._objects import Cache, Closable, Machine, Store, pieces

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from typing import Any, Sequence


def _make(store: Store, dtype: Any, shape: Any, offset: int, cache: Any, options: dict) -> Array:
    """An array over a store that it owns, with a cache that it owns."""
    made: list[Closable] = [store]
    try:
        if cache is None or isinstance(cache, str) or cache:
            made.insert(0, Cache(store, _cache_bytes(store, dtype, shape, cache, options), **options))
        elif options:
            raise ValueError(f"{', '.join(options)}: there is no cache; leave it out, or give cache=")
        array = Array(store, dtype, shape, cache=made[0] if len(made) > 1 else None, offset=offset)
    except BaseException:
        for part in made:
            part.discard()
        raise
    array._owned = tuple(made)
    return array


def _cache_bytes(store: Store, dtype: Any, shape: Any, cache: Any, options: dict) -> int:
    """What was asked for; or as large as the array, but at most an eighth of the machine's memory."""
    if cache is not None:
        return lib.parse_size(cache)
    kind = Kind(dtype)
    bytes = prod(whole_shape(shape, store.capacity // kind.itemsize)) * kind.itemsize
    return max(min(bytes, store.machine.memory_bytes // 8), 16 * lib.parse_size(options.get("page", 0)), 1 << 20)


def array(x: Any, cache: "int | str | None" = "1M", machine: "str | Machine" = "cpu", *, dtype: Any = None,
          **options: Any) -> Array:
    """Copy a NumPy array or a tensor to host memory, behind a cache in the machine's memory.

    Args:
        x: what NumPy makes an array of, or a tensor of any device.
        cache: bytes, such as ``"1M"``; 0: no cache, each access reaches host memory; None: as large as x, but
            at most an eighth of the machine's memory.
        machine: ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or a Machine.
        dtype: another type for the elements.
        options: page, policy, table, ways, budget, statistics, peers of the Cache.

    Returns:
        the Array. Close it, or use it in a with statement.
    """
    if is_tensor(x):
        rows = x.detach().to(device="cpu", dtype=dtype).contiguous().resolve_conj().resolve_neg()
        kind, address, bytes = rows.dtype, rows.data_ptr(), rows.numel() * rows.element_size()
    else:
        import numpy

        rows = numpy.asarray(x, dtype=dtype, order="C")
        kind, bytes = rows.dtype, rows.nbytes
        address = rows.__array_interface__["data"][0]
    if not rows.ndim or not bytes:
        raise ValueError(f"x has shape {tuple(rows.shape)} and so no rows; give at least one row")
    Kind(kind)  # a type that cannot be stored is refused before there is a store
    store = Store(f"host:{bytes}", machine)
    try:
        for at, count in pieces(bytes):
            lib.must(lib.store_write(store.handle, at, address + at, count))
    except BaseException:
        store.discard()
        raise
    return _make(store, kind, tuple(rows.shape), 0, cache, options)


def open(uri: "str | os.PathLike", dtype: Any, shape: "Sequence[int] | int" = -1, *,
         cache: "int | str | None" = None, offset: int = 0, machine: "str | Machine" = "cpu",
         **options: Any) -> Array:
    """Open bytes where they are as an array.

    Args:
        uri: of the store, such as ``"file:/data/table.bin?ro"`` or ``"host:8G"``.
        dtype: of the elements, as NumPy or PyTorch know it.
        shape: of the array; one length may be -1: as many as the store has.
        cache, machine, options: as for array(); by default the cache is as large as the data, but at most an
            eighth of the machine's memory. cache=0 is for stores that are memory.
        offset: of row 0 in the store, in bytes: of the data in a ``.npy`` file, say.

    Returns:
        the Array. Close it, or use it in a with statement.
    """
    Kind(dtype)
    return _make(Store(uri, machine), dtype, shape, offset, cache, options)
