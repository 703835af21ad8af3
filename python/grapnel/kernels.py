# SPDX-License-Identifier: Apache-2.0
"""Kernels of your own in CUDA C++, compiled while the program runs, that read and write arrays element by element.

    kernel = grapnel.kernels.Kernel(source, "follow")          # NVRTC compiles it for the GPU
    kernel(blocks, threads, table, starts, ends, numpy.int64(n))
    table.synchronize()                                        # raises what the kernel could not read

It needs the driver of CUDA 12.4 or later, and NVRTC of CUDA 12.8 or later, but of no newer major version than the driver's. The
CUDA toolkit, PyTorch for CUDA, and the packages nvidia-cuda-nvrtc and nvidia-cuda-nvrtc-cu12 have NVRTC. Nothing of it is needed
for CuPy, Numba and others that compile by themselves: give them include() and Array.struct.
"""

from __future__ import annotations

import ctypes
import errno
import glob
import operator
import os
import site
import sys
import threading
from math import prod

from . import _library as lib
from . import include
from ._array import Array, _cuda_memory, _current_stream, is_tensor
from ._error import ArgumentError, Error, MissingError
from ._objects import Machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Sequence

__all__ = ["Kernel", "compile", "version"]

OLDEST = (12, 8)  # whose PTX has the fences that the headers use

_rtc: ctypes.CDLL | None = None
_cuda: ctypes.CDLL | None = None
_loading = threading.Lock()


# ---- NVRTC ----

def _places() -> "list[str]":
    """Where NVRTC may be: what the program has loaded or the system knows, wheels, the toolkit."""
    folders = dict.fromkeys([*site.getsitepackages(), site.getusersitepackages(), *sys.path])
    found = [name for folder in folders for name in glob.glob(f"{glob.escape(folder)}/nvidia/*/lib/libnvrtc.so.1[23]")]
    toolkit = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH") or "/usr/local/cuda"
    found += glob.glob(f"{glob.escape(toolkit)}/lib64/libnvrtc.so.1[23]")
    return ["libnvrtc.so.13", "libnvrtc.so.12", *sorted(found, reverse=True)]


def _version_of(rtc: ctypes.CDLL) -> tuple[int, int]:
    major, minor = ctypes.c_int(), ctypes.c_int()
    rtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


def _driver_major() -> int | None:
    """The major version of CUDA that the driver has; None: there is no driver, and code is only compiled."""
    version = ctypes.c_int()
    try:
        _call("cuDriverGetVersion", ctypes.byref(version))
    except Error:
        return None
    return version.value // 1000 or None


def _none_suits(driver: int | None) -> MissingError:
    what, package = "NVRTC of CUDA %d.%d or later" % OLDEST, "nvidia-cuda-nvrtc"
    if driver is not None and driver <= OLDEST[0]:
        what, package = what + f", for a driver of CUDA {driver}", f"nvidia-cuda-nvrtc-cu{OLDEST[0]}"
    how = f"pip install {package}" if driver is None or driver >= OLDEST[0] else "update the driver"
    return MissingError(f"{what}, which compiles kernels, is not installed; {how}", -errno.ENOENT, "GN_ENOENT")


def _nvrtc() -> ctypes.CDLL:
    """The first NVRTC whose code the driver can load: a driver loads none of a newer major version."""
    global _rtc
    driver = None if _rtc else _driver_major()
    with _loading:
        for name in () if _rtc else _places():
            try:
                found = ctypes.CDLL(name)
            except OSError:
                continue
            if OLDEST <= _version_of(found) and (driver is None or _version_of(found)[0] <= driver):
                _rtc = found
                break
    if _rtc is None:
        raise _none_suits(driver)
    return _rtc


def version() -> tuple[int, int]:
    """The version of the NVRTC that compile() uses."""
    return _version_of(_nvrtc())


def _text(rtc: ctypes.CDLL, program: ctypes.c_void_p, what: str) -> bytes:
    size = ctypes.c_size_t()
    getattr(rtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(max(1, size.value))
    getattr(rtc, f"nvrtcGet{what}")(program, text)
    return text.raw[:size.value]


def compile(source: str, arch: str, options: "Sequence[str]" = ()) -> bytes:
    """Compile CUDA C++ for a GPU. It needs none.

    Args:
        source: it may include ``<grapnel/array.h>``, or ``<grapnel/grapnel.hpp>`` for ``gn::array<T>``.
        arch: ``"sm_90"``, or ``"compute_90"`` for PTX.
        options: more options of NVRTC.

    Returns:
        the code, which cuModuleLoadData takes.
    """
    rtc, program = _nvrtc(), ctypes.c_void_p()
    words = [f"-I{include()}", f"-arch={arch}", "-std=c++17", *options]
    code, log = rtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None), b""
    if not code:
        code = rtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*map(str.encode, words)))
        log = _text(rtc, program, "ProgramLog")
        result = b"" if code else _text(rtc, program, "PTX" if arch.startswith("compute") else "CUBIN")
        rtc.nvrtcDestroyProgram(ctypes.byref(program))
    if code:
        rtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        raise ArgumentError(f"NVRTC {'.'.join(map(str, version()))} does not compile the kernel "
                            f"({rtc.nvrtcGetErrorString(code).decode()}): {log.decode(errors='replace').rstrip(chr(0) + chr(10))}",
                            -errno.EINVAL, "GN_EINVAL")
    return result


# ---- the driver ----

def _driver() -> ctypes.CDLL:
    global _cuda
    if _cuda is None:
        try:
            _cuda = ctypes.CDLL("libcuda.so.1")
        except OSError as why:
            raise Error(f"CUDA's driver cannot be loaded ({why})", -errno.ENODEV, "GN_ENODEV") from why
    return _cuda


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_driver(), name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        _driver().cuGetErrorString(code, ctypes.byref(text))
        raise Error(f"{name}: {(text.value or b'error %d' % code).decode()}", -errno.EIO, "GN_EIO")


class _Context:
    """The context of a GPU that Grapnel, PyTorch and CuPy share: the thread works there within a with statement."""

    def __init__(self, device: int):
        self._context = ctypes.c_void_p()
        _call("cuInit", 0)
        _call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)

    def __enter__(self) -> None:
        _call("cuCtxPushCurrent_v2", self._context)

    def __exit__(self, *why: object) -> None:
        _call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


def _arch(device: int) -> str:
    """The architecture of a GPU, such as sm_90."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _call("cuDeviceGetAttribute", ctypes.byref(major), 75, device)
    _call("cuDeviceGetAttribute", ctypes.byref(minor), 76, device)
    return f"sm_{major.value}{minor.value}"


# ---- kernels ----

def _parameter(argument: Any, machine: Machine) -> Any:
    """What goes by value, as ctypes or NumPy have it."""
    import numpy

    if isinstance(argument, Array):
        if argument.machine.device_index != machine.device_index:
            raise ValueError(f"{argument!r} is not on {machine.name}, where the kernel was compiled; open it there")
        lib.must(lib.check(argument.handle))
        return argument.struct
    if is_tensor(argument):
        if argument.device.type != "cuda" or argument.device.index != machine.device_index:
            raise ValueError(f"a tensor is on {argument.device}, but the kernel on {machine.name}; move the tensor")
        if not argument.is_contiguous():
            raise ValueError("a tensor is not contiguous; give contiguous memory")
        return ctypes.c_void_p(argument.data_ptr())
    if hasattr(argument, "__cuda_array_interface__"):
        address, shape, _ = _cuda_memory(argument, "an argument")
        if prod(shape) and lib.device_of(address) != machine.device_index:
            raise ValueError(f"an argument is not memory of {machine.name}, where the kernel was compiled")
        return ctypes.c_void_p(address)
    if isinstance(argument, (ctypes._SimpleCData, ctypes.Structure)):
        return argument
    if isinstance(argument, numpy.generic) or isinstance(argument, numpy.ndarray) and argument.size == 1:
        return numpy.array(argument)
    raise TypeError(f"an argument is {type(argument).__name__}; give arrays, memory of the GPU, and numbers such as "
                    "numpy.int64(5), of the types that the kernel declares")


def _number(what: str, given: Any, least: int, most: int) -> int:
    """A number of the launch, which the driver would take modulo 2 to the 32nd."""
    number = operator.index(given)
    if not least <= number <= most:
        raise ValueError(f"{what} is {number}, but may be {least} to {most}")
    return number


def _stream_of(arguments: "Sequence[Any]", machine: Machine) -> int:
    """The stream that the arguments' own libraries name, else the one on which the caller works."""
    tensor = next((x for x in arguments if is_tensor(x)), None)
    told = {x.__cuda_array_interface__.get("stream") for x in arguments
            if not is_tensor(x) and hasattr(x, "__cuda_array_interface__")} - {None}
    if tensor is not None:
        told.add(_current_stream(sys.modules["torch"], tensor.device))
    if 1 in told:  # the default stream has two names
        told.discard(0)
    if len(told) > 1:
        raise ValueError("the arguments are of two streams; let one wait for the other, and give stream=")
    return told.pop() if told else machine._stream()


def _address(value: Any) -> tuple[int, int]:
    """Where a value is, and its bytes."""
    if isinstance(value, (ctypes._SimpleCData, ctypes.Structure)):
        return ctypes.addressof(value), ctypes.sizeof(value)
    return value.ctypes.data, value.nbytes


class Kernel:
    """A kernel of a source in CUDA C++, compiled for one GPU, where it stays loaded until the program ends.

    Args:
        source: it may include ``<grapnel/array.h>``, or ``<grapnel/grapnel.hpp>`` for ``gn::array<T>``.
        name: of a function ``extern "C" __global__ void``. It takes an array as ``const __grid_constant__ struct
            gn_array``; by ``__launch_bounds__(1024, 1)`` so many of its threads as wait well for far data are resident.
        machine: the GPU, by name or as Machine.
        options: more options of NVRTC.
    """

    def __init__(self, source: str, name: str, machine: "str | Machine" = "cuda", options: "Sequence[str]" = ()):
        self.name, self.machine = name, Machine.shared(machine)
        if not self.machine.is_cuda:
            raise ValueError(f"kernels in CUDA C++ run on a GPU, and not on {self.machine.name}; compile() needs none")
        if not hasattr(_driver(), "cuFuncGetParamInfo"):  # else a launch reads behind too few arguments
            raise Error("CUDA's driver is older than 12.4 and does not tell what a kernel takes; update the driver",
                        -errno.ENOTSUP, "GN_ENOTSUP")
        self._context = _Context(self.machine.device_index)
        self.arch = _arch(self.machine.device_index)
        code = compile(source, self.arch, options)
        module, self._function, local = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        with self._context:
            _call("cuModuleLoadData", ctypes.byref(module), code)
            _call("cuModuleGetFunction", ctypes.byref(self._function), module, name.encode())
            _call("cuFuncGetAttribute", ctypes.byref(local), 3, self._function)
        self.local_bytes = local.value
        self.machine.reserve_stack(self.local_bytes)
        self._sizes = self._parameter_sizes()

    def _parameter_sizes(self) -> "list[int]":
        """The bytes of each parameter."""
        sizes: list[int] = []
        offset, size = ctypes.c_size_t(), ctypes.c_size_t()
        with self._context:
            while not _driver().cuFuncGetParamInfo(self._function, ctypes.c_size_t(len(sizes)), ctypes.byref(offset),
                                                   ctypes.byref(size)):
                sizes.append(size.value)
        return sizes

    def __call__(self, blocks: int, threads: int, *arguments: Any, stream: int | None = None, shared: int = 0) -> None:
        """Launch it, and return: the call does not wait.

        Args:
            blocks: of the grid, which has one dimension.
            threads: of a block, up to 1024.
            arguments: an Array goes by value, as ``struct gn_array``; a tensor or other memory of the GPU as a pointer; a
                number is NumPy's or ctypes', of the type that the kernel declares.
            stream: a cudaStream_t, which may be in capture; None: the stream that other memory of the GPU names (CuPy's does),
                else the caller's current stream.
            shared: bytes of dynamic shared memory, up to 48 KiB.

        What an earlier kernel or batch of an array could not read or write raises here, and nothing is launched. For this
        kernel check(), synchronize() or close() of the array raise. While the call runs, the arrays cannot be closed by another
        thread: that raises. Once it has returned, close() waits for the kernel. After that no graph with it may be launched.
        """
        blocks, threads = _number("blocks", blocks, 1, 2**31 - 1), _number("threads", threads, 1, 1024)
        shared = _number("shared", shared, 0, 48 << 10)
        held: list[int] = []
        try:  # no other thread closes an array before the kernel is on its way: then close() waits for it
            for array in arguments:
                if isinstance(array, Array):
                    handle = array.handle
                    lib.must(lib.hold(handle))
                    held.append(handle)
            self._launch(blocks, threads, arguments, stream, shared)
        finally:
            for handle in held:
                lib.let_go(handle)

    def _launch(self, blocks: int, threads: int, arguments: "Sequence[Any]", stream: int | None, shared: int) -> None:
        values = [_parameter(argument, self.machine) for argument in arguments]
        places = [_address(value) for value in values]
        sizes = [size for _, size in places]
        if sizes != self._sizes:
            raise TypeError(f"{self.name} has parameters of {self._sizes} bytes, but the arguments have {sizes}; give numbers "
                            "of the types that the kernel declares")
        if stream is None:
            stream = _stream_of(arguments, self.machine)
        at = (ctypes.c_void_p * max(1, len(places)))(*(address for address, _ in places))
        with self._context:
            _call("cuLaunchKernel", self._function, blocks, 1, 1, threads, 1, 1, shared, ctypes.c_void_p(stream), at, None)

    def __repr__(self) -> str:
        return f"<grapnel.kernels.Kernel {self.name} on {self.machine.name}>"
