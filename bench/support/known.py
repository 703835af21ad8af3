# SPDX-License-Identifier: Apache-2.0
"""Tables whose rows are known, row numbers that are drawn from them, and what a call takes on a stream. It needs PyTorch."""
import time

import torch


def rows(index, width, prime):
    """Rows of these numbers as they must be, below a prime: so no row at a wrong power of two looks right."""
    return ((index[..., None] * 31 + torch.arange(width, device=index.device)) % prime).float()


def fill(table, device, prime):
    """All rows of a table, made on the device."""
    count, width = table.shape
    step = (1 << 26) // width
    for first in range(0, count, step):
        index = torch.arange(first, min(first + step, count), device=device)
        table[first:first + step].copy_(rows(index, width, prime))


def draw(law, count, most, device):
    """Row numbers; the frequent ones of Zipf's law (exponent 1.05) lie all over the table."""
    if law == "uniform":
        return torch.randint(0, most, (count,), device=device)
    u, less = torch.rand(count, device=device, dtype=torch.float64), 1 - 1.05
    rank = ((most**less - 1) * u + 1) ** (1 / less) - 1
    return rank.long().clamp_(0, most - 1) * 0x9E3779B1 % most


def seconds(device, call, *arguments):
    """Of a call, by the stream's clock; on cpu by the host's."""
    if device == "cpu":
        began = time.perf_counter()
        call(*arguments)
        return time.perf_counter() - began
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize()
    begin.record()
    call(*arguments)
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1e3


def median(numbers):
    return sorted(numbers)[len(numbers) // 2]
