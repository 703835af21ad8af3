# SPDX-License-Identifier: Apache-2.0
"""Arrays: rows of a store, read and written in batches."""

from __future__ import annotations

import errno
import operator
import sys
import weakref
from math import prod

from . import _library as lib
from ._error import RangeError
from ._kind import Kind
from ._objects import Cache, Closable, Store, pieces

TYPE_CHECKING = False  # what importing typing would cost, every program would pay
if TYPE_CHECKING:
    from typing import Any, Sequence

    import numpy
    import torch

# Open arrays by handle, for the operators of grapnel.torch.
by_handle: "weakref.WeakValueDictionary[int, Array]" = weakref.WeakValueDictionary()


def is_tensor(x: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


class Array(Closable):
    """Rows of a store: what shape[0] counts. Made by grapnel.array() and grapnel.open().

    ``array[i]``, ``array[i:j]``, ``array[[3, 1]]`` read rows and give NumPy arrays, and assignments write them;
    ``len(array)`` counts rows. For batches of many rows use gather() and scatter(), which allocate nothing if they
    are given where the rows go.

    Args:
        store: where the rows are.
        dtype: of the elements, as NumPy or PyTorch know it.
        shape: of the array; one length may be -1.
        cache: a Cache of that store; None: without, for stores that are memory.
        offset: of row 0 in the store, in bytes.
    """

    def __init__(self, store: Store, dtype: Any, shape: "Sequence[int] | int" = -1, *,
                 cache: Cache | None = None, offset: int = 0):
        self._kind = Kind(dtype)
        self.store, self.cache, self.machine = store, cache, store.machine
        self.offset = operator.index(offset)
        self.shape = whole_shape(shape, max(0, store.capacity - self.offset) // self._kind.itemsize)
        self._row_shape = self.shape[1:]
        self._owned: tuple[Closable, ...] = ()
        self._device_index = self.machine.device_index
        if self.offset < 0:
            raise ValueError(f"offset {self.offset} is below 0")
        if not prod(self.shape):
            raise ValueError(f"an array of shape {self.shape} has no elements, and cannot be stored; {store.uri!r} has "
                             f"{store.capacity} bytes, and the array begins at byte {self.offset}")
        items = prod(self._row_shape) * (self._kind.itemsize // self._kind.element_bytes)
        if items >= 1 << 31:
            raise ValueError("a row has 1 GiB at most")
        self._own(lib.array(self.machine.handle, cache.handle if cache else 0, store.handle, self.offset,
                            self.shape[0], self._kind.element_bytes, items))
        by_handle[self._handle] = self

    # ---- what it is ----

    @property
    def dtype(self) -> Any:
        """The type of the elements, NumPy's or PyTorch's as it was given."""
        return self._kind.given

    @property
    def torch_dtype(self) -> "torch.dtype":
        """The type of the elements as PyTorch knows it."""
        return self._kind.torch

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of one row: shape[1:]."""
        return self._row_shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    @property
    def itemsize(self) -> int:
        return self._kind.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self._kind.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return (f"<grapnel.Array of {self.store.uri!r}, shape {self.shape}, {self.dtype}, on {self.machine.name}"
                f"{', closed' if self.closed and hasattr(self, '_finalizer') else ''}>")

    # ---- batches ----

    def gather(self, index: Any, out: Any = None, *, stream: int | None = None) -> Any:
        """Read the rows that index names.

        Args:
            index: row numbers, from 0 on: a tensor of int64, a NumPy array or a list of integers, or a CUDA array
                of int64 or uint64 of any library (``__cuda_array_interface__``).
            out: receives the rows, contiguous, of shape ``index.shape + row_shape``; None makes one.
            stream: the cudaStream_t for a CUDA index; None: the caller's current stream. With another stream than
                PyTorch's current one, index is contiguous and out is given.

        Returns:
            out: a tensor for a tensor, else a NumPy array.

        For indices on a GPU the call launches kernels on the stream and returns; it neither waits nor allocates (but
        for out=None), and may be captured in a CUDA graph. A row number that is past the end, or a row that cannot
        be read, then raises in check() or in the next call. For other indices the call waits, and raises itself.
        Rows that could not be read are 0 in out.
        """
        return self._move(index, out, stream, False)

    def scatter(self, index: Any, rows: Any, *, stream: int | None = None) -> None:
        """Write rows; if index names a row twice, the last counts. Arguments as for gather()."""
        self._move(index, rows, stream, True)

    def _move(self, index: Any, rows: Any, stream: int | None, scatter: bool) -> Any:
        if is_tensor(index):
            return self._move_tensor(index, rows, stream, scatter)
        if hasattr(index, "__cuda_array_interface__"):
            return self._move_cuda(index, rows, stream, scatter)
        if is_tensor(rows) or hasattr(rows, "__cuda_array_interface__"):
            raise TypeError("the rows are a tensor or of a GPU, but the index is not; give both alike")
        return self._move_host(_host_index(index), rows, scatter)

    def _move_host(self, index: "numpy.ndarray", rows: Any, scatter: bool) -> Any:
        shape = index.shape + self._row_shape
        if scatter:
            rows = self._rows_from(rows, shape)
        elif rows is None:
            rows = self._empty(shape)
        else:
            self._check_out(rows, shape)
        address = rows.data_ptr() if is_tensor(rows) else rows.__array_interface__["data"][0]
        move = lib.scatter_host if scatter else lib.gather_host
        if index.size:
            lib.must(move(self._handle, index.__array_interface__["data"][0], 0, 0, index.size, address))
        else:
            lib.must(lib.check(self._handle))
        return rows

    def _move_tensor(self, index: "torch.Tensor", rows: Any, stream: int | None, scatter: bool) -> Any:
        torch = sys.modules["torch"]
        device = index.device
        if index.dtype is not torch.int64:
            raise TypeError(f"the index is a tensor of {index.dtype}; give torch.int64")
        if device.type == "cuda":
            stream = self._stream_of(torch, index, rows, stream)
        if not index.is_contiguous():
            index = index.contiguous()
        shape = index.shape + self._row_shape
        if rows is None:
            rows = torch.empty(shape, dtype=self._kind.torch, device=device)
        else:
            self._check_tensor(torch, rows, shape, device, scatter)
            if rows.is_conj() or rows.is_neg():
                rows = rows.resolve_conj().resolve_neg()
        if device.type == "cpu":
            move = lib.scatter_host if scatter else lib.gather_host
            code = move(self._handle, index.data_ptr(), 0, 0, index.numel(), rows.data_ptr()) if index.numel() \
                else lib.check(self._handle)
        else:
            if device.type != "cuda" or device.index != self._device_index:
                raise ValueError(f"the index is on {device}, but the array on {self.machine.name}; move the index, "
                                 "or open the array there")
            code = (lib.scatter if scatter else lib.gather)(
                self._handle, stream, index.data_ptr(), index.numel(), rows.data_ptr())
        if code:
            raise lib.failed()
        return rows

    def _stream_of(self, torch: Any, index: Any, rows: Any, stream: int | None) -> int:
        """The stream of a batch. What PyTorch's allocator hands out is in use there until the batch has ended."""
        now = _current_stream(torch, index.device)
        if stream is None or stream == now:
            return now
        if rows is None or not index.is_contiguous():
            raise ValueError("on another stream than the current one, give a contiguous index and out=, or make that stream "
                             "the current one (torch.cuda.stream)")
        other = torch.cuda.ExternalStream(stream, device=index.device)
        for tensor in (index, rows):
            if isinstance(tensor, torch.Tensor) and tensor.device == index.device:
                tensor.record_stream(other)
        return stream

    def _check_tensor(self, torch: Any, rows: Any, shape: Any, device: Any, scatter: bool) -> None:
        what = "the rows" if scatter else "out"
        if not isinstance(rows, torch.Tensor):
            raise TypeError(f"the index is a tensor, but {what} is {type(rows).__name__}; give a tensor")
        if rows.dtype is not self._kind.torch:
            raise TypeError(f"{what} has type {rows.dtype}, but the array {self._kind.torch}")
        if rows.shape != shape:
            raise ValueError(f"{what} has shape {tuple(rows.shape)}, but needs {tuple(shape)}")
        if rows.device != device:
            raise ValueError(f"{what} is on {rows.device}, but the index on {device}; put both on one device")
        if not rows.is_contiguous():
            raise ValueError(f"{what} is not contiguous; give contiguous memory")
        if not scatter and (rows.is_conj() or rows.is_neg()):
            raise ValueError("out is a view that PyTorch conjugates or negates when it is read; give memory of its own")
        if not scatter and rows.requires_grad:
            raise ValueError("out requires a gradient, but rows come from the store and have none")

    def _move_cuda(self, index: Any, rows: Any, stream: int | None, scatter: bool) -> Any:
        """Arrays of CuPy, Numba and others."""
        if rows is None or not hasattr(rows, "__cuda_array_interface__"):
            raise TypeError("the index is of a GPU; give rows of the same GPU, too")
        numbers, shape, _ = _cuda_memory(index, "the index")
        address, rows_shape, kind = _cuda_memory(rows, "the rows")
        wanted = shape + self._row_shape
        if index.__cuda_array_interface__["typestr"][1:] not in ("i8", "u8"):
            raise TypeError("the index is not of 64-bit integers")
        if self._kind.numpy is None or kind != self._kind.numpy.str:
            raise TypeError(f"the rows have type {kind}, but the array {self.dtype}")
        if rows_shape != wanted:
            raise ValueError(f"the rows have shape {rows_shape}, but need {wanted}")
        if prod(shape) and any(lib.device_of(at) != self._device_index for at in (numbers, address)):
            raise ValueError(f"index and rows are not memory of {self.machine.name}, where the array is open")
        if self._device_index < 0:
            raise ValueError("the index is of a GPU, but the array is not; open it with machine='cuda'")
        if stream is None:
            stream = self._stream_told(index, rows)
        move = lib.scatter if scatter else lib.gather
        lib.must(move(self._handle, stream, numbers, prod(shape), address))
        return rows

    def _stream_told(self, index: Any, rows: Any) -> int:
        """The stream that the arrays' own library names, else the one on which the caller works."""
        told = {x.__cuda_array_interface__.get("stream") for x in (index, rows)} - {None}
        if len(told) > 1:
            raise ValueError("index and rows are of two streams; let one wait for the other, and give stream=")
        return told.pop() if told else self.machine._stream()

    # ---- memory of the host ----

    def _empty(self, shape: tuple[int, ...]) -> Any:
        if self._kind.numpy is not None:
            import numpy

            return numpy.empty(shape, self._kind.numpy)
        import torch

        return torch.empty(shape, dtype=self._kind.torch)

    def _rows_from(self, rows: Any, shape: tuple[int, ...]) -> Any:
        """Rows to write, of the array's type, contiguous."""
        import numpy

        if self._kind.numpy is None:
            raise TypeError(f"NumPy has no type for elements of type {self.dtype}; give tensors")
        given = rows if isinstance(rows, numpy.ndarray) else numpy.asarray(rows, self._kind.numpy)
        if given.dtype != self._kind.numpy:
            integers = given.dtype.kind in "iu" and self._kind.numpy.kind in "iu"
            exact = given.astype(self._kind.numpy, casting="unsafe" if integers else "same_kind")
            if integers and not (exact == given).all():
                raise OverflowError(f"rows of type {given.dtype} have numbers that {self._kind.numpy} has not")
            given = exact
        return numpy.ascontiguousarray(numpy.broadcast_to(given, shape))

    def _check_out(self, out: Any, shape: tuple[int, ...]) -> None:
        import numpy

        if not isinstance(out, numpy.ndarray):
            raise TypeError(f"out is {type(out).__name__}; give a NumPy array")
        if self._kind.numpy is None or out.dtype != self._kind.numpy:
            raise TypeError(f"out has type {out.dtype}, but the array {self.dtype}")
        if out.shape != shape:
            raise ValueError(f"out has shape {out.shape}, but needs {shape}")
        if not out.flags.c_contiguous or not out.flags.writeable:
            raise ValueError("out is not contiguous, or read-only; give contiguous memory, or leave out= out")

    def _run(self, first: int, step: int, count: int, rows: Any, scatter: bool) -> Any:
        """Rows first, first + step ... between the array and contiguous memory of the host, in pieces."""
        address = rows.data_ptr() if is_tensor(rows) else rows.__array_interface__["data"][0]
        move = lib.scatter_host if scatter else lib.gather_host
        row_bytes = self.nbytes // len(self)
        for at, some in pieces(count, row_bytes):
            lib.must(move(self._handle, None, first + at * step, step, some, address + at * row_bytes))
        return rows

    def _row(self, key: Any) -> int | None:
        """The number of a row, negative ones counted from the end; None: key names no single row."""
        if key is None or key is Ellipsis or isinstance(key, bool):
            raise TypeError(f"{key!r} is no index of rows; give a number, a slice, or row numbers")
        try:
            row = operator.index(key)
        except TypeError:
            return None
        if not -len(self) <= row < len(self):
            raise RangeError(f"row {row} is not one of the array's {len(self)} rows", -errno.ERANGE, "GN_ERANGE")
        return row % len(self)

    def __getitem__(self, key: Any) -> Any:
        rest: tuple = ()
        if isinstance(key, tuple):
            key, rest = (key[0], key[1:]) if key else (slice(None), ())
        if isinstance(key, slice):
            first, stop, step = key.indices(len(self))
            count = len(range(first, stop, step))
            rows = self._run(first, step, count, self._empty((count,) + self._row_shape), False)
            return rows[(slice(None),) + rest] if rest else rows
        if is_tensor(key) and key.ndim:
            return self.gather(key)[(slice(None),) * key.ndim + rest]
        row = self._row(key)
        if row is not None:
            return self._run(row, 1, 1, self._empty((1,) + self._row_shape), False)[(0,) + rest]
        index = self._wrapped(key)
        return self.gather(index)[(slice(None),) * index.ndim + rest]

    def __setitem__(self, key: Any, value: Any) -> None:
        if is_tensor(key) and key.ndim:
            self.scatter(key, value)
            return
        if is_tensor(value):
            value = value.detach().cpu().numpy()
        if isinstance(key, slice):
            first, stop, step = key.indices(len(self))
            count = len(range(first, stop, step))
            self._run(first, step, count, self._rows_from(value, (count,) + self._row_shape), True)
            return
        row = None if isinstance(key, tuple) else self._row(key)
        if row is not None:
            self._run(row, 1, 1, self._rows_from(value, (1,) + self._row_shape), True)
        elif isinstance(key, tuple):
            raise TypeError("whole rows are written; read the rows, change them, and write them back")
        else:
            self.scatter(self._wrapped(key), value)

    def _wrapped(self, key: Any) -> "numpy.ndarray":
        index = _host_index(key)
        return index + (index < 0) * len(self) if index.size and index.min() < 0 else index

    def __iter__(self) -> Any:
        each = max(1, (1 << 20) // max(1, self.nbytes // len(self)))
        for first in range(0, len(self), each):
            yield from self[first:first + each]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> "numpy.ndarray":
        if copy is False:
            raise ValueError("the array's rows are far away: as a NumPy array they are a copy")
        rows = self[:]
        return rows if dtype is None else rows.astype(dtype)

    # ---- the rest ----

    def host(self) -> "numpy.ndarray":
        """The array itself in host memory, for a ``host:`` store: flushed, and then a view of it.

        What the view writes, batches see after ``array.cache.invalidate()``; what batches write, the view sees after
        flush(). Store, cache and array stay open as long as the view is in use.
        """
        if self._kind.numpy is None:
            raise TypeError(f"NumPy has no type for elements of type {self.dtype}; use store.tensor()")
        self.flush()
        return self.store.numpy(self._kind.numpy, self.shape, self.offset)

    def prefetch(self, start: int = 0, stop: int | None = None, *, stream: int | None = None) -> None:
        """Fetch the pages of rows start to stop - 1 into the cache, as far as there is room. A hint."""
        first, last, _ = slice(start, stop).indices(len(self))
        if stream is None and self.machine.is_cuda:
            stream = self.machine._stream()
        lib.must(lib.prefetch(self._handle, stream or 0, first, max(0, last - first)))

    @property
    def struct(self) -> "numpy.ndarray":
        """The ``struct gn_array`` of this array, for kernels of your own, which take it by value.

        It is a NumPy array of one element, as CuPy's kernels take it. For others it is memory with the bytes of the struct:
        ``array.struct.ctypes.data`` is its address, ``array.struct.view("u1")`` has its bytes. The array keeps the memory
        to which it points until it is closed, and closing waits for kernels that run. Launch such a kernel with a grid
        and blocks of one dimension, on the array's GPU. What it could not read or write, check() and synchronize() raise.
        """
        import numpy

        size = lib.must(lib.view(self._handle, None, 0))
        struct = numpy.empty(1, f"V{size}")
        lib.must(lib.view(self._handle, struct.ctypes.data, size))
        return struct

    def check(self) -> None:
        """Raise the first failure of a batch on a GPU that no call has raised yet; waits for nothing."""
        lib.must(lib.check(self._handle))

    def synchronize(self) -> None:
        """Wait for all that the device has been given to do, then check()."""
        lib.must(lib.settle(self._handle))

    def flush(self) -> None:
        """Write what was changed to the store, after all that the device has been given to do."""
        lib.must(lib.flush(self._handle))

    def stats(self) -> dict[str, dict]:
        """What cache and store did, as Cache.stats() and Store.stats(); without a cache that is empty."""
        return {"cache": self.cache.stats() if self.cache else {}, "store": self.store.stats()}

    def _close(self, discard: int) -> None:
        if self._owned and self.store._handle and any(view() is not None for view in self.store._views):
            raise BufferError(f"{self!r} has views that are in use; delete them before you close it")
        if self._owned and self._handle and not discard:
            lib.must(lib.flush(self._handle))  # what cannot be written leaves all of it open, not only the cache
        super()._close(discard)
        for part in self._owned:
            part._close(discard)


def _current_stream(torch: Any, device: "torch.device") -> int:
    try:  # what torch's own compiler uses; it costs a third of the public way
        return torch._C._cuda_getCurrentRawStream(device.index)
    except AttributeError:
        return torch.cuda.current_stream(device).cuda_stream


def _host_index(index: Any) -> "numpy.ndarray":
    """Row numbers as contiguous int64; those above 2^63 - 1 become that, which is past the end of every array."""
    import numpy

    given = numpy.asarray(index)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"the index has type {given.dtype}; give integers (of a mask: numpy.flatnonzero(mask))")
    if given.dtype.kind == "u" and given.dtype.itemsize == 8:
        given = numpy.minimum(given, numpy.uint64(sys.maxsize))  # a larger one would be negative
    shape = given.shape
    return numpy.ascontiguousarray(given, dtype=numpy.int64).reshape(shape)


def _cuda_memory(x: Any, what: str) -> tuple[int, tuple[int, ...], str]:
    """Address, shape and type of contiguous memory of a GPU."""
    told = x.__cuda_array_interface__
    shape, strides = tuple(told["shape"]), told.get("strides")
    itemsize = int(told["typestr"][2:])
    if strides is not None and prod(shape):
        expected = itemsize
        for length, stride in zip(reversed(shape), reversed(strides)):
            if length > 1 and stride != expected:
                raise ValueError(f"{what} is not contiguous; give contiguous memory")
            expected *= length
    return told["data"][0] or 0, shape, told["typestr"]


def whole_shape(shape: Any, most: int) -> tuple[int, ...]:
    """A shape of integers; -1 in it becomes as many as there are elements for."""
    try:
        whole = (operator.index(shape),)
    except TypeError:
        whole = tuple(operator.index(length) for length in shape)
    if not whole or any(length < -1 for length in whole) or whole.count(-1) > 1:
        raise ValueError(f"{shape!r} is no shape of an array; give lengths from 0 on, and -1 once at most")
    if -1 in whole:
        others = prod(length for length in whole if length != -1)
        whole = tuple((most // others if others else 0) if length == -1 else length for length in whole)
    return whole
