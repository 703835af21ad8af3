# SPDX-License-Identifier: Apache-2.0
"""Types of elements."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    import numpy
    import torch

# Types of tensors that NumPy has under the same name. Others, such as bfloat16, only tensors have.
_COMMON = {"bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32",
           "float64", "complex64", "complex128"}


class Kind:
    """A type of elements, as NumPy and as PyTorch know it."""

    def __init__(self, dtype: Any):
        torch = sys.modules.get("torch")
        if isinstance(dtype, str) and dtype not in _COMMON and torch_type(dtype) is not None:
            dtype = torch_type(dtype)
        self.given = dtype
        if torch is not None and isinstance(dtype, torch.dtype):
            self.name = str(dtype).partition(".")[2]
            self.itemsize = dtype.itemsize
            self._numpy = None
        else:
            import numpy

            self.given = self._numpy = numpy.dtype(dtype)
            self.name = self._numpy.name if self._numpy.isnative else ""
            self.itemsize = self._numpy.itemsize
            if self._numpy.hasobject or not self.itemsize:
                raise TypeError(f"elements of type {self._numpy} cannot be stored; give a type of fixed size")
        self.element_bytes = min(self.itemsize & -self.itemsize, 16)

    @property
    def numpy(self) -> "numpy.dtype | None":
        if self._numpy is None and self.name in _COMMON:
            import numpy

            self._numpy = numpy.dtype(self.name)
        return self._numpy

    @property
    def torch(self) -> "torch.dtype":
        import torch

        found = self.given if isinstance(self.given, torch.dtype) else None
        if found is None and self.name in _COMMON:
            found = getattr(torch, self.name)
        if found is None:
            raise TypeError(f"PyTorch has no type for elements of type {self.given}")
        return found


def torch_type(name: str) -> "torch.dtype | None":
    """A type that only tensors have, by its name."""
    if not name.startswith(("bfloat", "float8")):
        return None
    import torch

    found = getattr(torch, name, None)
    return found if isinstance(found, torch.dtype) else None
