# SPDX-License-Identifier: Apache-2.0
"""Slots with tensors, streams and CUDA graphs. With GN_TEST_MACHINE=cuda the tensors are of that GPU."""

import os

import numpy as np
import pytest
from conftest import MACHINE

torch = pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")

import grapnel  # noqa: E402

CUDA = MACHINE.startswith("cuda")
DEVICE = torch.device(MACHINE)
only_cuda = pytest.mark.skipif(not CUDA, reason="needs a GPU: GN_TEST_MACHINE=cuda")
COUNT, WIDTH = 1000, 16


def on_device(*numbers):
    return torch.tensor(numbers, dtype=torch.int64, device=DEVICE)


@pytest.fixture
def floats():
    """1000 items of 16 numbers; the tensor, on the device, and the store."""
    items = torch.arange(COUNT * WIDTH, dtype=torch.float32).reshape(COUNT, WIDTH) / 7
    with grapnel.Store(f"host:{items.nbytes}", MACHINE) as store:
        store.write(0, items.numpy())
        yield items.to(DEVICE), store


def make(store, slots=64, **options):
    return grapnel.Slots(store, torch.float32, (WIDTH,), slots=slots, **options)


def test_slots_of_tensors(floats):
    items, store = floats
    with make(store) as slots:
        assert isinstance(slots.slab, torch.Tensor) and slots.slab.device.type == DEVICE.type
        for seed in range(30):
            keys = torch.randint(0, COUNT, (3, 20), generator=torch.Generator().manual_seed(seed)).to(DEVICE)
            taken = slots.lookup(keys)
            assert taken.dtype is torch.int32 and taken.shape == keys.shape and taken.device == keys.device
            assert torch.equal(torch.index_select(slots.slab, 0, taken.reshape(-1)), items[keys.reshape(-1)])
        out, missed = torch.zeros(2, dtype=torch.int32, device=DEVICE), torch.zeros(2, dtype=torch.bool, device=DEVICE)
        assert slots.resolve(keys[0, :1].repeat(2), out, missed) is out and not missed.any()
        slots.fill()
        slots.pin(out), slots.unpin(out)
        slots.synchronize()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.uint8, torch.bool])
def test_types_of_items(dtype):
    raw = torch.randint(0, 2, (50, 64), dtype=torch.uint8)
    items = raw.view(dtype)
    with grapnel.Store(f"host:{raw.nbytes}", MACHINE) as store:
        store.write(0, raw.numpy())
        with grapnel.Slots(store, dtype, tuple(items.shape[1:]), bytes="1K") as slots:
            taken = slots.lookup(on_device(49, 3, 7))
            assert slots.slab.dtype is dtype and slots.slots == 16
            assert torch.equal(slots.slab[taken.long()].cpu().view(torch.uint8), raw[[49, 3, 7]])


def test_a_slab_of_the_caller(floats):
    items, store = floats
    slab = torch.zeros(10, 4, 4, device=DEVICE)
    with grapnel.Slots(store, slab=slab) as slots:
        taken = slots.lookup(on_device(5, 999))
        assert torch.equal(slab[taken.long()].reshape(2, -1), items[[5, 999]])
    for bad in [slab[::2], slab.transpose(1, 2), slab.to("meta"), torch.zeros(2, 4, device=DEVICE, requires_grad=True)]:
        with pytest.raises(ValueError):
            grapnel.Slots(store, slab=bad)


def test_changes_are_written(floats):
    items, store = floats
    with make(store, 4) as slots:
        taken = slots.lookup(on_device(3, 4))
        slots.slab.index_add_(0, taken, torch.ones(2, WIDTH, device=DEVICE))
        slots.mark(taken)
        slots.flush()
        slots.synchronize()
        kept = np.frombuffer(store.read(3 * WIDTH * 4, 2 * WIDTH * 4), "f4").reshape(2, WIDTH)
        assert np.array_equal(kept, (items[3:5] + 1).cpu().numpy())


def test_what_does_not_fit(floats):
    _, store = floats
    with make(store) as slots:
        keys = on_device(1, 2, 3)
        for bad in [keys.int(), keys.float(), keys.bool()]:
            with pytest.raises(TypeError, match="int64"):
                slots.resolve(bad)
        for out in [torch.zeros(3, dtype=torch.int64, device=DEVICE), np.zeros(3, "i4"), [0]]:
            with pytest.raises(TypeError):
                slots.resolve(keys, out)
        for out in [torch.zeros(2, dtype=torch.int32, device=DEVICE), torch.zeros(6, dtype=torch.int32, device=DEVICE)[::2],
                    torch.zeros(3, dtype=torch.int32, device="meta")]:
            with pytest.raises(ValueError):
                slots.resolve(keys, out)
        with pytest.raises(ValueError, match="meta"):
            slots.resolve(keys.to("meta"))
        with pytest.raises(TypeError, match="int32"):
            slots.pin(keys)
        slots.lookup(keys)


# ---- a GPU ----


@only_cuda
def test_a_graph_replays_under_eviction(floats):
    """resolve, fill and a kernel that indexes the slab, in one graph: each replay has the keys of that time."""
    items, store = floats
    keys, taken = on_device(*[0] * 50), torch.zeros(50, dtype=torch.int32, device=DEVICE)
    with make(store, 200) as slots:
        def step():
            slots.resolve(keys, taken)
            slots.fill()
            return torch.index_select(slots.slab, 0, taken)

        step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            rows = step()
        wrong = torch.zeros((), dtype=torch.int64, device=DEVICE)
        for _ in range(int(os.environ.get("GN_TEST_REPLAYS", "2000"))):
            keys.random_(0, COUNT)
            graph.replay()
            wrong += (rows != items[keys]).sum()
        assert wrong.item() == 0 and slots.stats()["evicted"] > 1000
        slots.check()
        keys[0], keys[1] = COUNT, -1
        # index_select refuses -1, so only the two calls
        slots.lookup(keys, taken)
        with pytest.raises(grapnel.RangeError):
            slots.synchronize()
        assert taken[:2].tolist() == [-1, -1]
        del graph


@only_cuda
def test_fills_beside_compute(floats):
    """keep=2: a stream moves the next batch while another one uses this one."""
    items, store = floats
    moves = torch.cuda.Stream(DEVICE)
    batches = [torch.randint(0, COUNT, (50,), device=DEVICE) for _ in range(200)]
    out = [torch.zeros(50, dtype=torch.int32, device=DEVICE) for _ in range(2)]
    used = [torch.cuda.Event() for _ in range(2)]
    wrong = torch.zeros((), dtype=torch.int64, device=DEVICE)
    with make(store, 150, keep=2) as slots:
        torch.cuda.synchronize()
        for k, keys in enumerate(batches):
            with torch.cuda.stream(moves):
                used[k % 2].wait()
                slots.lookup(keys, out[k % 2])
                there = torch.cuda.Event()
                there.record()
            there.wait()
            wrong += (torch.index_select(slots.slab, 0, out[k % 2]) != items[keys]).sum()
            used[k % 2].record()
        slots.synchronize()
    assert wrong.item() == 0


@only_cuda
def test_no_allocation_and_no_wait(floats):
    """Calls return while the stream is held up, and take no memory."""
    _, store = floats
    keys, out = torch.arange(60, device=DEVICE), torch.zeros(60, dtype=torch.int32, device=DEVICE)
    with make(store) as slots:
        slots.lookup(keys, out)
        slots.pin(out), slots.unpin(out), slots.mark(out), slots.flush()
        torch.cuda.synchronize()
        before = torch.cuda.memory_stats(DEVICE)["allocation.all.allocated"]
        for cycles in [1 << 31, 1 << 33, 1 << 35]:  # longer ones for a busy host; calls that wait would outlast all
            held = torch.cuda.Event()
            torch.cuda._sleep(cycles)
            held.record()
            for _ in range(20):
                slots.lookup(keys, out, pin=True)
                slots.unpin(out), slots.mark(out), slots.flush()
            if not held.query():
                break
        else:
            raise AssertionError("the calls have waited for the stream")
        assert torch.cuda.memory_stats(DEVICE)["allocation.all.allocated"] == before
        slots.synchronize()


@only_cuda
def test_a_failure_is_raised_once(floats):
    """By the next resolve, which then is not launched."""
    _, store = floats
    with make(store) as slots:
        slots.lookup(on_device(COUNT))
        torch.cuda.synchronize()
        with pytest.raises(grapnel.RangeError):
            slots.lookup(on_device(1))
        slots.lookup(on_device(1))
        slots.synchronize()
        assert slots.stats()["batches"] == 2
