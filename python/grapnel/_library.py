# SPDX-License-Identifier: Apache-2.0
"""The shared library, and its functions as native/flat.h declares them."""

from __future__ import annotations

import ctypes
import os

from ._error import CLASSES, Error


class _Failure(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_int32),
        ("device", ctypes.c_uint32),
        ("row", ctypes.c_int64),
        ("text", ctypes.c_char * 600),
    ]


_i, _u, _u32, _I, _U, _p, _s = (
    ctypes.c_int,
    ctypes.c_uint,
    ctypes.c_uint32,
    ctypes.c_int64,
    ctypes.c_uint64,
    ctypes.c_void_p,
    ctypes.c_char_p,
)

# name: (result, arguments...)
_PROTOTYPES = {
    "failure": (ctypes.POINTER(_Failure),),
    "code_name": (_s, _i),
    "version": (_s,),
    "size": (_i, _s, _p),
    "device_of": (_i, _p),
    "machine": (_I, _s, _u, _U, _u),
    "reserve": (_i, _I, _u),
    "reserve_stack": (_i, _I, _U),
    "machine_describe": (_i, _I, _p, _p),
    "store": (_I, _I, _s),
    "store_describe": (_i, _I, _p, _p),
    "store_statistics": (_i, _I, _p),
    "store_read": (_i, _I, _U, _p, _U),
    "store_write": (_i, _I, _U, _p, _U),
    "store_flush": (_i, _I),
    "store_member": (_i, _I, _u32, _p, _p, _s),
    "store_resync": (_i, _I, _u32),
    "cache": (_I, _I, _p, _u, _U, _u32, _i, _i, _u32, _U, _i, _s),
    "cache_describe": (_i, _I, _p),
    "cache_flush": (_i, _I),
    "cache_invalidate": (_i, _I),
    "array": (_I, _I, _I, _I, _U, _U, _u32, _u32),
    "gather": (_i, _I, _U, _p, _U, _p),
    "scatter": (_i, _I, _U, _p, _U, _p),
    "gather_host": (_i, _I, _p, _I, _I, _U, _p),
    "scatter_host": (_i, _I, _p, _I, _I, _U, _p),
    "prefetch": (_i, _I, _U, _U, _U),
    "hold": (_i, _I),
    "let_go": (_i, _I),
    "check": (_i, _I),
    "settle": (_i, _I),
    "flush": (_i, _I),
    "view": (_I, _I, _p, _U),
    "slots": (_I, _I, _U, _U, _U, _U, _U, _i, _U, _U, _p),
    "slots_describe": (_i, _I, _p),
    "slots_resolve": (_i, _I, _U, _p, _p, _p, _U, _u32, _u32),
    "slots_fill": (_i, _I, _U),
    "slots_pin": (_i, _I, _U, _p, _U),
    "slots_unpin": (_i, _I, _U, _p, _U),
    "slots_mark": (_i, _I, _U, _p, _U),
    "slots_flush": (_i, _I, _U),
    "slots_clear": (_i, _I, _U),
    "slots_check": (_i, _I),
    "slots_settle": (_i, _I),
    "slots_statistics": (_i, _I, _U, _p),
    "close": (_i, _I, _i),
}

_file = os.path.join(os.path.dirname(__file__), "libgrapnel_python.so")
try:
    _library = ctypes.CDLL(_file)
except OSError as why:
    raise ImportError(
        f"{_file} cannot be loaded ({why}); install grapnel from its wheel, which has it"
    ) from why

for _name, (_result, *_arguments) in _PROTOTYPES.items():
    _function = getattr(_library, "gn_flat_" + _name)
    _function.restype = _result
    _function.argtypes = _arguments
    globals()[_name] = _function


def failed() -> Error:
    """The exception for the last failure of this thread."""
    why = failure().contents  # noqa: F821 - one of _PROTOTYPES
    name = code_name(why.code).decode()  # noqa: F821
    row = why.row if why.row >= 0 else None
    text = why.text.decode(errors="replace")
    return CLASSES.get(why.code, Error)(text, why.code, name, why.device, row)


def must(code: int) -> int:
    """The code, if it is none of a failure."""
    if code < 0:
        raise failed()
    return code


def parse_size(what: int | str) -> int:
    """Bytes of 4096, "64K", "1M" or "8G"."""
    if isinstance(what, str):
        value = ctypes.c_uint64()
        if size(what.encode(), ctypes.byref(value)):  # noqa: F821
            raise ValueError(f"{what!r} is not a size; give a number of bytes, or such as '64K', '1M', '8G'")
        return value.value
    value = int(what)
    if value < 0:
        raise ValueError(f"{value} is not a size; give a number of bytes from 0 on")
    return value
