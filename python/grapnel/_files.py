# SPDX-License-Identifier: Apache-2.0
"""load(): arrays from files of NumPy, Parquet, or numbers alone."""

from __future__ import annotations

import os
from math import prod

from . import _open
from ._array import Array, whole_shape
from ._kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    import numpy


def load(source: Any, dtype: Any = None, shape: "Sequence[int] | int" = -1, *, columns: "Sequence[str] | None" = None,
         where: str = "host", **how: Any) -> Array:
    """An Array of what is in memory or in a file.

    Args:
        source: a NumPy array or tensor, which is copied to host memory; a file ``.npy``; a file ``.parquet`` (with
            pyarrow), whose columns become the columns of the rows; another file, whose numbers are those of dtype; or a
            URI of a store, such as ``"host:8G"``.
        dtype, shape: of the numbers of a file that does not say it. Those of a file ``.npy`` must be the file's. A
            Parquet file's numbers are made to be of dtype, by default of a type for all columns: floats are rounded,
            but no integer is changed; OverflowError says which one the type has not.
        columns: of a Parquet file: numbers, or lists of a fixed size; None: all.
        where: ``"host"``: a file is copied to host memory; ``"file"``: it is read where it is. A Parquet file is always
            copied, because its rows are compressed.
        how: machine, cache and their options, as for grapnel.open().
    """
    if where not in ("host", "file"):
        raise ValueError(f"where {where!r} does not exist; give 'host' or 'file'")
    if not isinstance(source, (str, os.PathLike)):
        if shape != -1 or columns is not None:
            raise ValueError("what is in memory has its shape; leave out shape and columns")
        return _open.array(source, dtype=dtype, **how)
    path = os.fspath(source)
    if path.endswith(".parquet"):
        return _parquet(path, dtype, shape, columns, how)
    if columns is not None:
        raise ValueError(f"{path} has no columns to choose from; leave out columns")
    if path.endswith(".npy"):
        return _npy(path, dtype, shape, where, how)
    if dtype is None:
        raise ValueError(f"{path} does not say of what type its numbers are; give dtype, and shape")
    if not os.path.exists(path) and ":" in path:
        return _open.open(path, dtype, shape, **how)
    return _numbers(path, dtype, shape, 0, where, how)


def _numbers(path: str, dtype: Any, shape: Any, offset: int, where: str, how: dict) -> Array:
    if where == "host":
        return _copied(path, dtype, shape, offset, how)
    if "?" in path:
        raise ValueError(f"{path}: its name has a '?', behind which stores have their options; rename the file")
    return _open.open(f"file:{path}?ro", dtype, shape, offset=offset, **how)


def _copied(path: str, dtype: Any, shape: Any, offset: int, how: dict) -> Array:
    """The numbers of a file in host memory."""
    kind = Kind(dtype)
    with open(path, "rb", buffering=0) as file:
        there = os.fstat(file.fileno()).st_size - offset
        whole = whole_shape(shape, there // kind.itemsize)
        bytes = prod(whole) * kind.itemsize
        if not 0 < bytes <= there:
            raise ValueError(f"{path} has {there} bytes of numbers, but shape {whole} of {dtype} needs {bytes}")
        array = _open.open(f"host:{bytes}", dtype, whole, **how)
        try:
            _read(file, offset, bytes, array.store)
        except BaseException:
            array.discard()
            raise
    return array


def _read(file: Any, offset: int, bytes: int, store: Any) -> None:
    """A file's bytes to the begin of a host: store."""
    file.seek(offset)
    with store.memory() as memory:
        got = 0
        while got < bytes:
            with memory[got:bytes] as rest:
                read = file.readinto(rest)
            if not read:
                raise ValueError(f"{file.name} has become shorter while it was read")
            got += read


def _npy(path: str, given: Any, given_shape: Any, where: str, how: dict) -> Array:
    from numpy.lib import format

    with open(path, "rb") as file:
        version = format.read_magic(file)
        read = format.read_array_header_1_0 if version == (1, 0) else format.read_array_header_2_0
        shape, fortran, dtype = read(file)
        offset = file.tell()
    if fortran and len(shape) > 1:
        raise ValueError(f"{path} has its numbers column by column; save numpy.ascontiguousarray(...)")
    if given is not None and Kind(given).numpy != dtype:
        raise ValueError(f"{path} has numbers of type {dtype}, not {given}; leave out dtype, or save the file anew")
    _same_shape(path, given_shape, shape)
    return _numbers(path, dtype, shape, offset, where, how)


def _same_shape(path: str, given: Any, shape: "tuple[int, ...]") -> None:
    """Refuse a shape that was given and is not the file's; -1 alone is what stands there if none is given."""
    if given != -1 and whole_shape(given, prod(shape)) != shape:
        raise ValueError(f"{path} has shape {shape}, not {given}; leave out shape")


def _parquet(path: str, dtype: Any, given_shape: Any, columns: Any, how: dict) -> Array:
    try:
        import pyarrow.parquet
    except ImportError:
        raise ImportError(f"{path}: Parquet files need pyarrow; install it: pip install pyarrow") from None
    import numpy

    with pyarrow.parquet.ParquetFile(path) as file:
        schema = file.schema_arrow
        names = list(schema.names if columns is None else columns)
        widths = [_width(path, schema.field(name)) for name in names]
        kind = _common(path, dtype, {name: numpy.dtype(_element(schema.field(name).type).to_pandas_dtype())
                                     for name in names})
        rows = file.metadata.num_rows
        shape = (rows,) if widths == [0] else (rows, sum(max(width, 1) for width in widths))
        _same_shape(path, given_shape, shape)
        array = _open.open(f"host:{max(1, int(numpy.prod(shape))) * kind.itemsize}", kind, shape, **how)
        try:
            first = 0
            for batch in file.iter_batches(1 << 16, columns=names):
                piece = numpy.concatenate([_cast(path, name, _values(path, batch.column(name), width), kind)
                                           for name, width in zip(names, widths)], axis=1).reshape(-1, *shape[1:])
                array.store.write(first * piece[0].nbytes, piece)
                first += len(piece)
        except BaseException:
            array.discard()
            raise
    return array


def _common(path: str, dtype: Any, there: dict) -> "numpy.dtype":
    """The type of the rows: dtype, or one for all columns. there: the type of each column."""
    import numpy

    kind = Kind(dtype).numpy if dtype is not None else numpy.result_type(*there.values())
    if kind is None or kind.kind not in "iufc":
        raise TypeError(f"{path}: rows of a Parquet file cannot have type {dtype}; give a type of numbers that NumPy has")
    for name, has in there.items():
        if has.kind == "f" and kind.kind in "iu":
            raise TypeError(f"{path}: column {name!r} has numbers of type {has}, which {kind} cannot hold; give a "
                            "type of floating-point numbers, or choose other columns")
    if dtype is None and kind.kind == "f" and all(has.kind in "iu" for has in there.values()):
        raise TypeError(f"{path}: no type of integers holds both int64 and uint64; give dtype, or choose columns")
    return kind


def _cast(path: str, name: str, values: Any, kind: "numpy.dtype") -> Any:
    """Values of a column as that type. Integers stay what they are, and floats finite; else OverflowError."""
    import numpy

    with numpy.errstate(over="ignore"):
        cast = values.astype(kind)
    if values.dtype.kind == "f":
        wrong = numpy.isinf(cast) & ~numpy.isinf(values)
    else:  # every integer of 64 bits is exact as long double
        wide = numpy.longdouble
        wrong = cast.astype(numpy.result_type(kind, wide), copy=False) != values.astype(wide)
    if wrong.any():
        raise OverflowError(f"{path}: column {name!r} has {values[wrong][0]}, which {kind} cannot hold; give another "
                            "dtype")
    return cast


def _element(kind: Any) -> Any:
    return kind.value_type if hasattr(kind, "list_size") else kind


def _width(path: str, field: Any) -> int:
    """Numbers of a column in a row; 0: one, which is not in a list."""
    import pyarrow

    element = _element(field.type)
    if not (pyarrow.types.is_integer(element) or pyarrow.types.is_floating(element)):
        raise TypeError(f"{path}: column {field.name!r} is of type {field.type}; choose columns of numbers, or of lists of "
                        "numbers of a fixed size")
    return getattr(field.type, "list_size", 0)


def _values(path: str, column: Any, width: int) -> Any:
    flat = column.flatten() if width else column
    if column.null_count or flat.null_count:
        raise ValueError(f"{path}: a column has rows without a value; fill them in")
    return flat.to_numpy(zero_copy_only=False).reshape(len(column), max(width, 1))
