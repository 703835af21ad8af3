# SPDX-License-Identifier: Apache-2.0
"""Machines, stores and caches."""

from __future__ import annotations

import atexit
import ctypes
import errno
import operator
import os
import sys
import threading
import warnings
import weakref

from . import _library as lib

TYPE_CHECKING = False  # what importing typing would cost, every program would pay
if TYPE_CHECKING:
    from typing import Any, Iterable

    import numpy
    import torch


PIECE = 64 << 20  # bytes that one call of the library moves at most; between two, Python serves an interrupt


def pieces(count: int, item_bytes: int = 1) -> Iterable[tuple[int, int]]:
    """Where each piece of so many items begins, and how many items it has."""
    most = max(1, PIECE // item_bytes)
    return ((at, min(most, count - at)) for at in range(0, count, most))


# Handle and name of what the program forgot, but what stands on it is still open, and memory that it uses until then.
_late: list[tuple[int, str, tuple]] = []


def _end(handle: int, process: int, what: str, *memory: Any) -> None:
    """Close what the program forgot: flushed if that is possible. It uses the memory until then."""
    if process == os.getpid():
        _late.append((handle, what, memory))
        _end_late()


def _end_late() -> None:
    """Close what can be closed: Python forgets what is in a cycle in any order, parents before children, too."""
    goes_on = True
    while goes_on:
        goes_on = False
        for forgotten in _late[:]:
            handle, what, _ = forgotten
            code = lib.close(handle, 0)
            why = lib.failed() if code else None
            if code == -errno.EBUSY or not any(late is forgotten for late in _late):
                continue
            _late[:] = [late for late in _late if late is not forgotten]
            goes_on = True
            if code and not lib.close(handle, 1):
                warnings.warn(f"{what} was not closed, and changes may be lost: {why}", ResourceWarning, stacklevel=2)


@atexit.register  # before any finalizer is made, so that it comes behind them
def _warn_of_late() -> None:
    for _, what, _ in _late:
        warnings.warn(f"{what} was not closed, because what stands on it is open; changes may be lost", ResourceWarning,
                      stacklevel=2)


class Closable:
    """What has to be closed: by close(), by discard(), or at the end of a with statement."""

    _handle = 0

    def _own(self, handle: int, *memory: Any) -> None:
        self._handle = lib.must(handle)
        self._finalizer = weakref.finalize(self, _end, handle, os.getpid(), repr(self), *memory)

    @property
    def handle(self) -> int:
        """The number by which the library knows the object; 0 when it is closed."""
        return self._handle

    @property
    def closed(self) -> bool:
        """Is it closed?"""
        return not self._handle

    def close(self) -> None:
        """Give it back. What was changed is written before. After a failure it is still open."""
        self._close(0)

    def discard(self) -> None:
        """Give it back without a flush: what was changed and not flushed may be lost."""
        self._close(1)

    def _close(self, discard: int) -> None:
        if self._handle:
            lib.must(lib.close(self._handle, discard))
            self._finalizer.detach()
            self._handle = 0
            if _late:
                _end_late()

    def __enter__(self):
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        if kind is None:
            self.close()
            return
        try:  # the exception that is under way counts
            self.close()
        except Exception:
            self.discard()

    def __reduce__(self):
        raise TypeError(f"{type(self).__name__} cannot be pickled; open it in each process")


_opening = threading.RLock()  # by finalizers that a thread runs meanwhile, too


class Machine(Closable):
    """What runs kernels: the threads of this host, or a GPU.

    Most programs name a machine, ``"cpu"``, ``"cuda"`` or ``"cuda:1"``; all that name the same one share it.

    Args:
        name: ``"cpu"``, ``"cuda"`` or ``"cuda:N"``.
        threads: of cpu: OS threads; 0 for one a core.
        batch: rows that are moved in one piece; larger batches are moved in several pieces.
        streams: workspaces to begin with. Each CUDA stream that moves batches takes one, and so does each
            capture into a graph. Each has 16 bytes of device memory for each row of a batch, and 1 MiB.
    """

    _shared: dict[str, "Machine"] = {}

    def __init__(self, name: str = "cpu", *, threads: int = 0, batch: int = 1 << 17, streams: int = 8):
        self.name = _machine_name(name)
        self._own(lib.machine(self.name.encode(), threads, batch, streams))
        text, value = ctypes.create_string_buffer(64), (ctypes.c_uint64 * 6)()
        lib.must(lib.machine_describe(self._handle, text, value))
        self.description = text.value.decode()
        self.is_cuda = bool(value[0])
        self.processors, self.memory_bytes, self.batch = value[1], value[2], value[5]
        self.device_index = value[4] if self.is_cuda else -1

    @classmethod
    def shared(cls, name: "str | Machine | torch.device") -> "Machine":
        """The machine of that name, which is opened once."""
        if isinstance(name, Machine):
            return name
        name = _machine_name(name)
        with _opening:
            machine = cls._shared.get(name)
            if machine is None or machine.closed:
                machine = cls._shared[name] = cls(name)
        return machine

    def reserve(self, streams: int) -> None:
        """Have so many workspaces that no stream has taken yet, before streams are captured."""
        lib.must(lib.reserve(self._handle, streams))

    def reserve_stack(self, frame: int) -> None:
        """Make room on the stack of the GPU's threads for a kernel of your own, before its first launch.

        Args:
            frame: bytes of the kernel's own local memory, ``local_size_bytes`` of a CuPy kernel. There is room for 1024
                without this call; a kernel that has more and was given no room overwrites memory.

        It may wait for the GPU. It is not for captured streams. On cpu it does nothing.
        """
        if operator.index(frame) < 0:
            raise ValueError(f"{frame} bytes are below 0")
        lib.must(lib.reserve_stack(self._handle, operator.index(frame)))

    def _stream(self) -> int:
        """The CUDA stream on which the caller works now."""
        torch = sys.modules.get("torch")
        if torch is not None and torch.cuda.is_initialized():
            return torch.cuda.current_stream(self.device_index).cuda_stream
        cupy = sys.modules.get("cupy")
        return cupy.cuda.get_current_stream(self.device_index).ptr if cupy is not None else 0

    def __repr__(self) -> str:
        return f"Machine({self.name!r})"


def _machine_name(name: Any) -> str:
    kind, colon, number = str(name).partition(":")
    if kind not in ("cpu", "cuda") or colon and (kind == "cpu" or not number.isdecimal()):
        raise ValueError(f"there is no machine {str(name)!r}; give 'cpu', 'cuda' or such as 'cuda:1'")
    return kind if kind == "cpu" else f"cuda:{int(number or 0)}"


# The threads of a machine do not come along into a forked process: that one opens its own.
os.register_at_fork(after_in_child=Machine._shared.clear)
os.register_at_fork(after_in_child=_late.clear)


_USES = ("used", "stale", "missing", "failed", "returning")


class Store(Closable):
    """Where bytes rest: host memory, a file, a drive, or memory of another machine, by its URI.

    ``host:8G`` is host memory, ``host:PATH`` a mapped file, ``file:PATH`` a file that threads of the machine
    read through queues. Options follow a ``?``: ``file:data.bin?ro``, ``file:new.bin?create=1G``.
    """

    def __init__(self, uri: str | os.PathLike, machine: "str | Machine" = "cpu"):
        self.uri = os.fspath(uri)
        self.machine = Machine.shared(machine)
        self._views: list[weakref.ref] = []
        if "\0" in self.uri:
            raise ValueError("a URI has no byte 0")
        self._own(lib.store(self.machine.handle, self.uri.encode()))
        text, value = ctypes.create_string_buffer(192), (ctypes.c_uint64 * 5)()
        lib.must(lib.store_describe(self._handle, text, value))
        self.path = text.value.decode()
        self.capacity, self.block_bytes = value[0], value[1]
        self.read_only, self.is_memory = bool(value[2]), bool(value[3])
        self._address = value[4]

    def __len__(self) -> int:
        return self.capacity

    def read(self, offset: int, count: int) -> bytes:
        """Bytes of the store. A cache may hold newer ones: flush it before."""
        self._inside(offset, count)
        to = bytearray(count)
        self.readinto(offset, to)
        return bytes(to)

    def readinto(self, offset: int, to: Any) -> None:
        """Fill a writable buffer with bytes of the store. An interrupt ends it between two pieces of 64 MiB."""
        with memoryview(to) as view:
            if view.readonly or not view.c_contiguous:
                raise ValueError("the buffer is read-only or not contiguous")
            self._inside(offset, view.nbytes)
            for at, count in pieces(view.nbytes):
                memory = (ctypes.c_char * count).from_buffer(view, at)
                lib.must(lib.store_read(self._handle, offset + at, ctypes.addressof(memory), count))
                del memory

    def write(self, offset: int, data: Any) -> None:
        """Write bytes. A cache may hold older ones: Cache.invalidate() drops them.

        An interrupt ends it between two pieces of 64 MiB; those before are written.
        """
        with memoryview(data) as view:
            whole = view.tobytes() if view.readonly or not view.c_contiguous else view
            self._inside(offset, view.nbytes)
            for at, count in pieces(view.nbytes):
                if isinstance(whole, bytes):
                    lib.must(lib.store_write(self._handle, offset + at, whole[at:at + count], count))
                else:
                    memory = (ctypes.c_char * count).from_buffer(whole, at)
                    lib.must(lib.store_write(self._handle, offset + at, ctypes.addressof(memory), count))
                    del memory

    def _inside(self, offset: int, count: int) -> None:
        if offset < 0 or count < 0 or offset + count > self.capacity:
            raise IndexError(f"{self!r}: bytes {offset} to {offset + count} are not within 0 to {self.capacity}")

    def flush(self) -> None:
        """Make what was written durable, if the store is."""
        lib.must(lib.store_flush(self._handle))

    def memory(self) -> memoryview:
        """The bytes themselves, of a ``host:`` store: a view, not a copy.

        The store cannot be closed while the view, or an array over it, is in use. Flush a cache before you
        read here, and drop its pages by Cache.invalidate() after you write.
        """
        if self.closed:
            raise ValueError(f"{self!r} is closed")
        if not self._address:
            raise TypeError(f"{self!r} is not host memory; use read() and write()")
        memory = (ctypes.c_ubyte * self.capacity).from_address(self._address)
        memory._store = self  # the view keeps the store open
        self._views = [view for view in self._views if view() is not None] + [weakref.ref(memory)]
        view = memoryview(memory).cast("B")
        return view.toreadonly() if self.read_only else view

    def numpy(self, dtype: Any = "uint8", shape: Any = -1, offset: int = 0) -> "numpy.ndarray":
        """A NumPy array over the bytes of a ``host:`` store, as memory()."""
        import numpy

        kind = numpy.dtype(dtype)
        count = -1 if shape == -1 else int(numpy.prod(shape))
        whole = (self.capacity - offset) // kind.itemsize if count == -1 else count
        return numpy.frombuffer(self.memory(), kind, whole, offset).reshape(shape)

    def tensor(self, dtype: "torch.dtype", shape: Any = -1, offset: int = 0) -> "torch.Tensor":
        """A tensor over the bytes of a ``host:`` store, as memory(); pinned where the machine is a GPU."""
        import torch

        view = self.memory()
        if view.readonly:
            raise TypeError(f"{self!r} is read-only, which a tensor cannot be; use numpy()")
        count = (self.capacity - offset) // dtype.itemsize if shape == -1 else torch.Size(
            [shape] if isinstance(shape, int) else shape).numel()
        return torch.frombuffer(view, dtype=dtype, count=count, offset=offset).reshape(shape)

    def __dlpack__(self, **arguments: Any) -> Any:
        return self.numpy().__dlpack__(**arguments)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def stats(self) -> dict[str, int]:
        """What the store's own end counted; all 0 for ``host:``, whose bytes nobody counts.

        A drive (``nvme:``) is asked, and this waits for its answer.
        """
        value = (ctypes.c_uint64 * 16)()
        lib.must(lib.store_statistics(self._handle, value))
        names = ("reads", "writes", "read_bytes", "written_bytes", "failed", "members_out",
                 "retries", "read_timeouts", "write_timeouts", "aborts", "resets",
                 "hits", "misses", "evictions", "write_backs", "unwritten")
        return dict(zip(names, value))

    def members(self) -> list[dict[str, str]]:
        """What the members of a ``stripe:``, ``replica:`` or ``tier:`` are good for; empty for other stores.

        Each has its ``uri``, its ``use``, one of ``"used"``, ``"stale"``, ``"missing"``, ``"failed"`` and
        ``"returning"``, and ``why`` in words, empty for one that is in use. A tier has its fast level and its slow
        store first, and then the members of the slow store.
        """
        members, uri, use = [], ctypes.c_char_p(), ctypes.c_int()
        text = ctypes.create_string_buffer(256)
        while lib.must(lib.store_member(self._handle, len(members), ctypes.byref(uri), ctypes.byref(use), text)):
            members.append({"uri": os.fsdecode(uri.value), "use": _USES[use.value],
                            "why": text.value.decode(errors="replace")})
        return members

    def resync(self, k: int) -> None:
        """Put a member of a ``replica:`` back that is out of use, while the replica is in use.

        Args:
            k: its place in members(), from 0; of a ``tier:`` over a replica from 2.

        What the member missed is copied to it, all bytes if that is not known, but not compared. Call it from a
        thread of its own, for one member at a time: it returns when the member is in use. Calls of other threads
        go on while it copies; on the same machine they wait while the member is opened, and while it is flushed at
        the end, on a GPU also until the warp that copies has room again: so end kernels that fill the GPU. If it raises, the member is out of use as before, and the call may be made again when the cause is
        removed.
        """
        if operator.index(k) < 0:
            raise IndexError(f"{k} is no member's place; they are counted from 0")
        lib.must(lib.store_resync(self._handle, operator.index(k)))

    def _close(self, discard: int) -> None:
        if self._handle and any(view() is not None for view in self._views):
            raise BufferError(f"{self!r} has views that are in use; delete them before you close it")
        super()._close(discard)

    def __repr__(self) -> str:
        return f"Store({self.uri!r})"


_POLICIES = {"clock": 0, "fifo": 1, "random": 2}
_TABLES = {"auto": 0, "direct": 1, "sets": 2}
_CACHE_NAMES = ("frames", "pages", "frame_bytes", "metadata_bytes", "page_bytes", "ways", "dirty_pages",
                "write_failures", "hits", "misses", "fetched", "written", "evicted", "bypassed",
                "fetched_bytes", "written_bytes")


class Cache(Closable):
    """Pages of stores in frames of the machine's memory.

    Args:
        stores: one store, or up to eight of one machine.
        bytes: of all frames together, a number or such as ``"64M"``.
        page: bytes of a page, a power of two from 512 to 2 MiB; 0 chooses.
        policy: which page leaves: ``"clock"``, ``"fifo"`` or ``"random"``.
        table: ``"auto"``, ``"direct"`` or ``"sets"``; ways: frames of a set, 0 chooses.
        budget: bytes for what the cache notes beyond 2 % of its size; 0 chooses.
        statistics: count hits and misses, which costs a little.
        peers: the GPUs whose memory has the frames, such as ``"0+1"``.
    """

    def __init__(self, stores: "Store | Iterable[Store]", bytes: int | str, *, page: int | str = 0,
                 policy: str = "clock", table: str = "auto", ways: int = 0, budget: int | str = 0,
                 statistics: bool = False, peers: str | None = None):
        self.stores = (stores,) if isinstance(stores, Store) else tuple(stores)
        if not self.stores:
            raise ValueError("a cache needs a store")
        self.machine = self.stores[0].machine
        self.statistics = bool(statistics)
        if any(store.machine is not self.machine for store in self.stores):
            raise ValueError("the stores of a cache are of one machine")
        if policy not in _POLICIES or table not in _TABLES:
            raise ValueError(f"policy is one of {', '.join(_POLICIES)}, and table one of {', '.join(_TABLES)}")
        handles = (ctypes.c_int64 * len(self.stores))(*(store.handle for store in self.stores))
        self._own(lib.cache(self.machine.handle, handles, len(self.stores), lib.parse_size(bytes),
                            lib.parse_size(page), _POLICIES[policy], _TABLES[table], ways,
                            lib.parse_size(budget), self.statistics, peers.encode() if peers else None))

    def flush(self) -> None:
        """Write what was changed to the stores, after all that the device has been given to do."""
        lib.must(lib.cache_flush(self._handle))

    def invalidate(self) -> None:
        """Drop all pages, so that the next access fetches them again. Flush before."""
        lib.must(lib.cache_invalidate(self._handle))

    def stats(self) -> dict[str, int | None]:
        """What the cache is and did. What is not counted, for want of statistics=True, is None."""
        value = (ctypes.c_uint64 * 16)()
        lib.must(lib.cache_describe(self._handle, value))
        counted: dict[str, int | None] = dict(zip(_CACHE_NAMES, value))
        if not self.statistics:
            counted.update(dict.fromkeys(_CACHE_NAMES[8:]))
        return counted

    def __repr__(self) -> str:
        return f"Cache({', '.join(map(repr, self.stores))})"
