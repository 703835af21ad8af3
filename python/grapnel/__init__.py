# SPDX-License-Identifier: Apache-2.0
"""Grapnel: arrays that are larger than the memory of the GPU, or of the machine, which reads them.

    >>> import grapnel, numpy
    >>> table = grapnel.array(numpy.arange(1_000_000, dtype="float32").reshape(-1, 10), cache="1M")
    >>> table.gather([7, 99_999, 7])[:, 0]
    array([7.0000e+01, 9.9999e+05, 7.0000e+01], dtype=float32)
    >>> table.close()

array() copies a NumPy array or a tensor to host memory, open() takes bytes where they are: a file, a drive, memory
of another machine. Both give an Array: rows, of which a batch is read by gather() and written by scatter(). With
``machine="cuda"`` the batches are tensors of that GPU, whose threads fetch the rows by themselves, on the current
stream, also inside CUDA graphs. Slots keep items, such as experts or rows of a KV cache, in a slab that kernels index.
Below them are Store (where bytes rest), Cache (pages of stores in fast memory) and Machine (what runs kernels).
grapnel.kernels compiles kernels of your own that use arrays,
grapnel.torch has operators and an EmbeddingBag for PyTorch, grapnel.pyg stores and a sampler for PyTorch Geometric.

Every failure is an Error with a message; see docs/python.md for more.
"""

from ._array import Array
from ._error import ArgumentError, DeadlineError, Error, MissingError, OutOfMemoryError, RangeError
from ._library import version as _version
from ._objects import Cache, Machine, Store
from ._open import array, open
from ._slots import Slots


def include() -> str:
    """The folder of Grapnel's C headers, for kernels of your own: ``-I`` of NVRTC and nvcc.

    A kernel includes ``<grapnel/array.h>`` and takes Array.struct by value. docs/python.md, "Own kernels", has more.
    """
    from os.path import dirname, join

    return join(dirname(__file__), "include")


__version__ = _version().decode()
__all__ = ["Array", "ArgumentError", "Cache", "DeadlineError", "Error", "Machine", "MissingError",
           "OutOfMemoryError", "RangeError", "Slots", "Store", "array", "include", "open"]
