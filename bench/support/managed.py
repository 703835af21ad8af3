# SPDX-License-Identifier: Apache-2.0
"""Managed memory as tensors: host and GPU use the same address, and its pages move to the one that touches them. By the driver's own
functions, because PyTorch allocates none. On cpu it is any memory."""
import ctypes

import torch

MARGIN = 2 << 30  # that stays free on the GPU


class Managed:
    """Memory for a tensor; free() gives it back, when no tensor of it is used any more."""

    def __init__(self, where, shape, dtype):
        self.cuda, self.address = where.cuda, ctypes.c_uint64()
        count, item = torch.Size(shape).numel(), torch.empty(0, dtype=dtype).element_size()
        if not self.cuda:
            self.tensor = torch.zeros(shape, dtype=dtype)
            return
        self.driver = ctypes.CDLL("libcuda.so.1")
        self.call("cuMemAllocManaged", ctypes.byref(self.address), ctypes.c_size_t(count * item), 1)
        self.__cuda_array_interface__ = {"data": (self.address.value, False), "shape": (count * item,), "typestr": "|u1", "version": 3}
        self.tensor = torch.as_tensor(self, device=where.device).view(dtype).view(shape)

    def call(self, name, *arguments):
        code = getattr(self.driver, name)(*arguments)
        if code:
            raise RuntimeError(f"{name} returned {code}")

    def move(self, part, to_gpu):
        """A part of the tensor to the GPU or to the host, on the current stream."""
        if self.cuda:
            device = part.device.index if to_gpu else -1
            self.call("cuMemPrefetchAsync", ctypes.c_uint64(part.data_ptr()), ctypes.c_size_t(part.nbytes), device,
                      ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

    def free(self):
        self.tensor = None
        if self.cuda:
            self.call("cuMemFree_v2", self.address)


def has_room(where, size):
    """Is so much free on the GPU? More than is free must not be allocated: pages would go back and forth without an end."""
    return size <= where.free_bytes() - (MARGIN if where.cuda else 0)
