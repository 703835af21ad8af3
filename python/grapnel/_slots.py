# SPDX-License-Identifier: Apache-2.0
"""Slots: items of a store in numbered places of the machine's memory."""

from __future__ import annotations

import ctypes
import errno
import operator
import sys
import weakref
from math import prod

from . import _library as lib
from ._array import _current_stream, is_tensor
from ._error import Error
from ._kind import Kind
from ._objects import Closable, Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

    import numpy

# Open slots by handle, for the operators of grapnel.torch.
by_handle: "weakref.WeakValueDictionary[int, Slots]" = weakref.WeakValueDictionary()

_POLICIES = {"clock": 0, "lru": 1}
_COUNTED = ("batches", "hits", "misses", "fetched", "evicted", "no_slot", "refused", "failed", "written", "examined")


class Slots(Closable):
    """Items of a store in numbered slots of the machine's memory: keys in, slot numbers out.

    A store holds items of one size, such as the weights of experts or rows of a KV cache; item k begins at byte
    offset + k * item_bytes. The slab has room for some of them: ``slab[s]`` is slot s. For each batch of keys
    resolve() gives a slot to each, and fill() copies the items that are missing from the store; lookup() does both.
    Then kernels index the slab: ``slab[slots]``, or ``torch.index_select(slab, 0, slots)``.

        >>> import grapnel, numpy
        >>> store = grapnel.Store("host:4K")
        >>> store.numpy("float32")[:] = numpy.arange(1024) // 8
        >>> slots = grapnel.Slots(store, "float32", (8,), slots=16)
        >>> taken = slots.lookup([100, 3, 100])
        >>> slots.slab[taken][:, 0]
        array([100.,   3., 100.], dtype=float32)
        >>> slots.close(), store.close()
        (None, None)

    The slots of a batch keep their items until the next resolve(), with keep=2 until the one after it, and longer if
    they are pinned. On a GPU all calls but close(), stats() and synchronize() launch kernels on the caller's current
    stream and return; they neither wait nor allocate (but for out=None), and may be captured in a CUDA graph. What
    fails then raises in check(), in synchronize() or in the next resolve(). On cpu a call raises itself.

    Args:
        store: where the items are.
        dtype: of the elements of an item, as NumPy or PyTorch know it.
        shape: of an item.
        item_bytes: instead of dtype and shape: items are so many bytes. A multiple of 16, up to 64 MiB.
        slots: how many; or
        bytes: of the slab, a number or such as ``"1G"``.
        policy: which slot is given away: ``"clock"`` or ``"lru"`` (for up to some ten thousand slots).
        keep: so many batches hold their slots.
        most_keys: of a batch.
        offset: of item 0 in the store, in bytes, a multiple of 16.
        items: how many the store has; 0: as many as there is room for.
        fill_blocks: of a GPU, blocks of the kernel that copies; 0: one a multiprocessor.
        slab: memory of the machine for the slots, of shape ``(slots, *shape)``: a contiguous tensor or, on cpu, NumPy
            array. None makes one: a tensor on a GPU, or if dtype is PyTorch's, else a NumPy array.
    """

    def __init__(self, store: Store, dtype: Any = None, shape: "Sequence[int] | int | None" = None, *,
                 item_bytes: int | None = None, slots: int | None = None, bytes: int | str | None = None,
                 policy: str = "clock", keep: int = 1, most_keys: int = 4096, offset: int = 0, items: int = 0,
                 fill_blocks: int = 0, slab: Any = None):
        self.store, self.machine = store, store.machine
        self._device_index = self.machine.device_index
        self._batch: tuple = ()  # memory that the next fill() still uses
        self._unfilled = False  # a batch was resolved and waits for its fill()
        self._waiting: Any = None  # the out of the first batch that waits, of which all later ones are refused
        if policy not in _POLICIES:
            raise ValueError(f"policy {policy!r} does not exist; give one of {', '.join(_POLICIES)}")
        numbers = [_number(what, value) for what, value in [("items", items), ("offset", offset),
                                                            ("most_keys", most_keys), ("keep", keep),
                                                            ("fill_blocks", fill_blocks)]]
        if not keep or not most_keys:
            raise ValueError("keep and most_keys are 1 at least")
        if slab is None:
            self._kind, self.item_shape = _item(dtype, shape, item_bytes)
            size = prod(self.item_shape) * self._kind.itemsize
            slab = self._new_slab(_slots(slots, bytes, size), size)
        else:
            if (dtype, shape, item_bytes, slots, bytes) != (None,) * 5:
                raise ValueError("the slab says what items and how many slots there are; leave out the rest")
            self._kind, self.item_shape = self._given_slab(slab)
            size = prod(self.item_shape) * self._kind.itemsize
        self._slab = slab
        if is_tensor(slab):  # as torch._dynamo.mark_static_address: else the CUDA graphs of a compiler read a copy of it,
            slab._dynamo_static_input_type = "unguarded"  # made before the graph begins and so before a lookup in it
        self._own(lib.slots(store.handle, size, numbers[0], numbers[1], slab.shape[0], numbers[2], _POLICIES[policy],
                            numbers[3], numbers[4], _address(slab)), slab)
        by_handle[self._handle] = self
        value = (ctypes.c_uint64 * 6)()
        lib.must(lib.slots_describe(self._handle, value))
        self.item_bytes, self.items, self.slots, self.most_keys, self.metadata_bytes = value[1:]

    # ---- the slab ----

    def _new_slab(self, slots: int, item_bytes: int) -> Any:
        if not 16 <= item_bytes <= 64 << 20 or item_bytes % 16:
            raise ValueError(f"items of {item_bytes} bytes are not possible; give a multiple of 16 from 16 to 64 MiB")
        shape = (slots, *self.item_shape)
        torch = sys.modules.get("torch")
        if not self.machine.is_cuda and not (torch and isinstance(self._kind.given, torch.dtype)):
            import numpy

            return numpy.zeros(shape, self._kind.numpy)
        try:
            import torch
        except ImportError:
            raise TypeError("the slab on a GPU is a tensor, but PyTorch is not installed; install it") from None
        device = torch.device("cuda", self._device_index) if self.machine.is_cuda else "cpu"
        slab = torch.zeros(shape, dtype=self._kind.torch, device=device)
        if self.machine.is_cuda:  # kernels of other streams may be the first that write there
            torch.cuda.current_stream(device).synchronize()
        return slab

    def _given_slab(self, slab: Any) -> tuple[Kind, tuple[int, ...]]:
        self._check_place(slab, "the slab")
        if not slab.shape or not slab.shape[0]:
            raise ValueError(f"the slab has shape {tuple(slab.shape)}; its first length is the number of slots")
        if not is_tensor(slab) and not slab.flags.writeable:
            raise ValueError("the slab is read-only")
        if is_tensor(slab) and slab.requires_grad:
            raise ValueError("the slab requires a gradient, but its items come from the store; give slab.detach()")
        return Kind(slab.dtype), tuple(slab.shape[1:])

    @property
    def slab(self) -> Any:
        """The memory of the slots, of shape ``(slots, *item_shape)``: a tensor or a NumPy array, not a copy."""
        if self.closed:
            raise ValueError(f"{self!r} are closed, and so the slab has no items")
        return self._slab

    @property
    def dtype(self) -> Any:
        """The type of the elements, NumPy's or PyTorch's as it was given."""
        return self._kind.given

    def __len__(self) -> int:
        return self.slots

    def __repr__(self) -> str:
        count = f"{self.slots} of {self.items} items, " if hasattr(self, "slots") else ""
        return (f"<grapnel.Slots of {self.store.uri!r}, {count}item shape {self.item_shape}, {self.dtype}, "
                f"on {self.machine.name}{', closed' if hasattr(self, '_finalizer') and self.closed else ''}>")

    # ---- batches ----

    def resolve(self, keys: Any, out: Any = None, missed: Any = None, *, pin: bool = False, once: bool = False,
                resident: bool = False, overwrite: bool = False, priority: int = 0) -> Any:
        """Give a slot to each key. fill() must follow, also if this raised.

        Args:
            keys: numbers of items: an int64 tensor of the machine's device; on cpu also a NumPy array or a list of
                integers. A negative key is padding and gets slot -1.
            out: receives the slot numbers, int32, contiguous, of the shape of keys; None makes it.
            missed: receives 1 where the slot has its bytes only after fill(), else 0: bool or uint8, of that shape.
            pin: each key with a slot pins it once; unpin() ends that. Give out= then, for this call may raise.
            once: the items will not be wanted again soon.
            resident: fetch nothing: an item that has no slot gets -1, which is no failure.
            overwrite: kernels will write all bytes of the items: they are not fetched, and are marked.
            priority: 0 to 3; "lru" gives away the slots of least priority first, "clock" those of higher later.

        Returns:
            out: a tensor for a tensor, else a NumPy array. A key that is past the last item, or for which no slot is
            to be had since all are held, gets -1, and raises; all other keys get their slots all the same.
        """
        hints = bool(pin) | bool(once) << 1 | bool(resident) << 2 | bool(overwrite) << 3
        priority = operator.index(priority)
        if not 0 <= priority <= 3:
            raise ValueError(f"a priority of {priority} is not possible; give 0 to 3")
        keys = self._numbers(keys, "int64", "the keys")
        out = self._result(keys, out)
        if missed is not None:
            self._check_result(missed, keys, ("bool", "uint8"), "missed")
        used = (keys, out, missed)
        code = lib.slots_resolve(self._handle, self._stream(), _address(keys), _address(out),
                                 None if missed is None else _address(missed), _size(keys), hints, priority)
        # One that is refused leaves the batch before it, whose fill is to come. A GPU refuses later than this call.
        self._batch = self._batch + used if code or self._unfilled else used
        self._unfilled = True
        if self._waiting is None and (not code or self._device_index < 0 and -code in (errno.ERANGE, errno.ENOBUFS)):
            self._waiting = out
        if code:
            raise lib.failed()
        return out

    def fill(self) -> None:
        """Fetch what the batch that was resolved last is missing; then its slots have their bytes.

        If an item cannot be read, its slot number in out becomes -1, and that raises.
        """
        if self._filled():
            raise lib.failed()

    def _filled(self) -> int:
        code = lib.slots_fill(self._handle, self._stream())
        if not code:
            self._unfilled = False
        if not code or self._device_index < 0:
            self._waiting = None
        if self._device_index < 0:
            self._batch = ()
        return code

    def _copied(self, out: Any) -> Any:
        """The slot numbers that fill() may change, if out can be a compiler's copy of them, else None."""
        was = self._waiting
        if not is_tensor(was) or was.shape != out.shape or any(_address(x) == _address(out) for x in self._batch[1::3]):
            return None
        return was

    def lookup(self, keys: Any, out: Any = None, **arguments: Any) -> Any:
        """resolve() and fill(); arguments as of resolve(). The slots have their bytes."""
        try:
            out = self.resolve(keys, out, **arguments)
        except Error:  # what has got a slot has its bytes all the same, and the next batch may come
            self._filled()
            raise
        self.fill()
        return out

    def pin(self, slots: Any) -> None:
        """Let slots keep their items until unpin(): slot numbers as resolve() gave them; -1 is left out.

        Call it while they are held, that is after fill() and before the next resolve(). Pins are counted.
        """
        self._change(lib.slots_pin, slots)

    def unpin(self, slots: Any) -> None:
        """End one pin of each slot."""
        self._change(lib.slots_unpin, slots)

    def mark(self, slots: Any) -> None:
        """The bytes of slots were changed: write them to the store before the slots are given away.

        Call it while they are held. Without it, changes are lost when a slot is given away.
        """
        self._change(lib.slots_mark, slots)

    def flush(self) -> None:
        """Write all marked slots to the store; on a GPU synchronize() then says whether that was done."""
        lib.must(lib.slots_flush(self._handle, self._stream()))

    def clear(self) -> None:
        """Forget all items: the store has other bytes now. Pins end, and marked changes are lost."""
        lib.must(lib.slots_clear(self._handle, self._stream()))
        self._waiting = None

    def check(self) -> None:
        """Raise the first failure on a GPU that no call has raised yet; waits for nothing."""
        lib.must(lib.slots_check(self._handle))

    def synchronize(self) -> None:
        """Wait for all that the device has been given to do, then check()."""
        lib.must(lib.slots_settle(self._handle))

    def stats(self) -> dict[str, int]:
        """What was done since the beginning, after all work of the current stream, for which it waits.

        hits and misses count keys; fetched, evicted, written, failed and no_slot items; refused keys past the end.
        """
        value = (ctypes.c_uint64 * 10)()
        lib.must(lib.slots_statistics(self._handle, self._stream(), value))
        return dict(zip(_COUNTED, value))

    def _change(self, call: Any, slots: Any) -> None:
        slots = self._numbers(slots, "int32", "the slots")
        lib.must(call(self._handle, self._stream(), _address(slots), _size(slots)))

    def _close(self, discard: int) -> None:
        super()._close(discard)
        self._slab, self._batch, self._waiting = None, (), None

    # ---- numbers of the caller ----

    def _stream(self) -> int:
        if self._device_index < 0:
            return 0
        torch = sys.modules["torch"]  # the slab is a tensor
        return _current_stream(torch, torch.device("cuda", self._device_index))

    def _check_place(self, x: Any, what: str) -> None:
        """Is it contiguous memory of the machine?"""
        tensor = is_tensor(x)
        if not tensor and not hasattr(x, "__array_interface__"):
            raise TypeError(f"{what} is {type(x).__name__}; give a tensor{self._or_array()}")
        device = (x.device.type, x.device.index if x.device.type == "cuda" else -1) if tensor else ("cpu", -1)
        if device != ("cuda" if self.machine.is_cuda else "cpu", self._device_index):
            raise ValueError(f"{what} is {'on ' + str(x.device) if tensor else 'a NumPy array'}, but the slots are on "
                             f"{self.machine.name}; give a tensor there{self._or_array()}")
        if not (x.is_contiguous() if tensor else x.flags.c_contiguous):
            raise ValueError(f"{what} is not contiguous; give contiguous memory")

    def _or_array(self) -> str:
        return "" if self.machine.is_cuda else ", or a NumPy array"

    def _numbers(self, x: Any, kind: str, what: str) -> Any:
        """Contiguous integers of that kind."""
        if is_tensor(x):
            if x.dtype is not getattr(sys.modules["torch"], kind):
                raise TypeError(f"{what} are a tensor of {x.dtype}; give torch.{kind}")
            x = x.contiguous()
        elif not self.machine.is_cuda:
            x = _host_numbers(x, kind, what)
        else:
            raise TypeError(f"{what} are {type(x).__name__}, but the slots are on {self.machine.name}; give an {kind} "
                            "tensor there")
        self._check_place(x, what)
        return x

    def _result(self, keys: Any, out: Any) -> Any:
        if out is not None:
            self._check_result(out, keys, ("int32",), "out")
            return out
        if is_tensor(keys):
            torch = sys.modules["torch"]
            return torch.empty(keys.shape, dtype=torch.int32, device=keys.device)
        import numpy

        return numpy.empty(keys.shape, numpy.int32)

    def _check_result(self, x: Any, keys: Any, kinds: tuple[str, ...], what: str) -> None:
        if is_tensor(x) != is_tensor(keys):
            raise TypeError(f"{what} is {type(x).__name__}, but the keys are not; give both alike")
        self._check_place(x, what)
        if str(x.dtype).removeprefix("torch.") not in kinds:
            raise TypeError(f"{what} has type {x.dtype}; give {' or '.join(kinds)}")
        if tuple(x.shape) != tuple(keys.shape):
            raise ValueError(f"{what} has shape {tuple(x.shape)}, but the keys {tuple(keys.shape)}")
        if not is_tensor(x) and not x.flags.writeable:
            raise ValueError(f"{what} is read-only")


def _address(x: Any) -> int:
    return x.data_ptr() if is_tensor(x) else x.__array_interface__["data"][0]


def _size(x: Any) -> int:
    return x.numel() if is_tensor(x) else x.size


def _number(what: str, value: Any) -> int:
    value = operator.index(value)
    if not 0 <= value < 1 << 63:
        raise ValueError(f"{what} is {value}; give a number from 0 on")
    return value


def _item(dtype: Any, shape: Any, item_bytes: Any) -> tuple[Kind, tuple[int, ...]]:
    """Type and shape of an item."""
    if item_bytes is not None:
        if dtype is not None or shape is not None:
            raise ValueError("give item_bytes, or dtype and shape, not both")
        return Kind("uint8"), (_number("item_bytes", item_bytes),)
    if dtype is None or shape is None:
        raise ValueError("give dtype and shape of an item, or item_bytes, or a slab")
    try:
        lengths = (operator.index(shape),)
    except TypeError:
        lengths = tuple(operator.index(length) for length in shape)
    if any(length < 0 for length in lengths):
        raise ValueError(f"{shape!r} is no shape of an item; give lengths from 0 on")
    return Kind(dtype), lengths


def _slots(slots: Any, bytes: Any, item_bytes: int) -> int:
    if (slots is None) == (bytes is None):
        raise ValueError("give either slots, or bytes for all of them")
    count = _number("slots", slots) if bytes is None else lib.parse_size(bytes) // max(item_bytes, 1)
    if not 0 < count <= 1 << 30:
        raise ValueError(f"{count} slots are not possible; give 1 to {1 << 30}, or bytes for so many")
    return count


def _host_numbers(x: Any, kind: str, what: str) -> "numpy.ndarray":
    import numpy

    given = numpy.asarray(x)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"{what} have type {given.dtype}; give integers")
    exact = numpy.ascontiguousarray(given, dtype=kind).reshape(given.shape)
    if given.dtype != exact.dtype and given.size and not (exact == given).all():
        raise OverflowError(f"{what} of type {given.dtype} have numbers that {kind} has not")
    return exact
