# SPDX-License-Identifier: Apache-2.0
"""Slots with tensors, streams and CUDA graphs. With GN_TEST_MACHINE=cuda the tensors are of that GPU."""

import os

import numpy as np
import pytest
from conftest import MACHINE

torch = pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")

import grapnel  # noqa: E402
import grapnel.torch  # noqa: E402
from grapnel import _library  # noqa: E402

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


# ---- operators ----


def test_opcheck(floats):
    _, store = floats
    operators = torch.ops.grapnel
    with make(store, keep=2) as slots:
        keys, out = on_device(5, 5, 999, -1), torch.zeros(4, dtype=torch.int32, device=DEVICE)
        missed, order = torch.zeros(4, dtype=torch.bool, device=DEVICE), torch.zeros(1, device=DEVICE)
        slots.lookup(keys, out)
        torch.library.opcheck(operators.slots_lookup.default, (slots.handle, keys, out))
        torch.library.opcheck(operators.slots_lookup.default, (slots.handle, keys, out, missed, order), {"priority": 2})
        torch.library.opcheck(operators.slots_resolve.default, (slots.handle, keys, out, missed, order), {"once": True})
        torch.library.opcheck(operators.slots_fill.default, (slots.handle, out))
        torch.library.opcheck(operators.slots_fill.default, (slots.handle, out, order))
        slots.synchronize()


BACKENDS = pytest.mark.parametrize("backend", ["aot_eager", "inductor"])


@BACKENDS
def test_compiled_lookups(floats, backend):
    """Two in the same code, of which the compiler may put both before what reads the slab: hence keep=2."""
    items, store = floats
    with make(store, 140, keep=2) as slots:
        @torch.compile(fullgraph=True, backend=backend)
        def work(first, second):
            a = torch.index_select(slots.slab, 0, grapnel.torch.lookup(slots, first)) * 2
            b = slots.slab[grapnel.torch.lookup(slots, second, priority=1)]
            return a + 1, a.sum(1) + b.sum(1)

        for seed in range(6):
            random = torch.Generator().manual_seed(seed)
            first, second = (torch.randint(0, COUNT, (60 + seed,), generator=random).to(DEVICE) for _ in range(2))
            a, sums = work(first, second)
            assert torch.allclose(a, items[first] * 2 + 1)
            assert torch.allclose(sums, items[first].sum(1) * 2 + items[second].sum(1), rtol=1e-4)
        assert slots.stats()["evicted"] > 100
        slots.synchronize()


@BACKENDS
def test_compiled_steps(floats, backend):
    """resolve and fill, twice; between them the rows that are there already are read."""
    items, store = floats
    with make(store, 140, keep=2) as slots:
        @torch.compile(fullgraph=True, backend=backend)
        def work(first, second, order):
            missed, rows = torch.ones_like(first, dtype=torch.bool), []
            for keys in first, second:
                taken = grapnel.torch.resolve(slots, keys, missed=missed, order=order)
                early = torch.where(missed[:, None], 0, slots.slab[taken])
                rows += [early, torch.index_select(slots.slab, 0, grapnel.torch.fill(slots, taken, order))]
            return rows, missed

        for seed in range(6):
            random = torch.Generator().manual_seed(seed)
            first = torch.randint(0, COUNT, (60 + seed,), generator=random).to(DEVICE)
            second = torch.where(torch.arange(60 + seed, device=DEVICE) % 2 > 0, first, first.flip(0) // 2)
            rows, missed = work(first, second, torch.zeros(1, device=DEVICE))
            assert torch.equal(rows[1], items[first]) and torch.equal(rows[3], items[second])
            assert missed.any() and not missed.all()
            assert torch.equal(rows[2], torch.where(missed[:, None], 0, items[second]))
        slots.synchronize()


@pytest.mark.skipif(CUDA, reason="a file that fails is tested on cpu")
@BACKENDS
def test_compiled_steps_that_fail(tmp_path, backend):
    """The slot of an item that cannot be read is -1, also where the compiler has copied the numbers."""
    path = tmp_path / "items.bin"
    path.write_bytes(bytes(1 << 20))
    with grapnel.Store(f"file:{path}") as store, grapnel.Slots(store, torch.uint8, 4096, slots=8) as slots:
        taken = torch.zeros(3, dtype=torch.int32)

        @torch.compile(fullgraph=True, backend=backend)
        def resolve(keys):
            return grapnel.torch.resolve(slots, keys)

        @torch.compile(fullgraph=True, backend=backend)
        def fill(taken):
            return grapnel.torch.fill(slots, taken)

        os.truncate(path, 1 << 19)
        taken = resolve(torch.tensor([0, 200, 1]))
        assert len(set(taken.tolist())) == 3 and taken.min() >= 0
        copy = taken.clone()
        with pytest.raises(grapnel.Error):
            torch.ops.grapnel.slots_fill(slots.handle, copy)
        assert copy[1] == -1 and copy[0] >= 0 and copy[2] >= 0
        taken = resolve(torch.tensor([0, 201, 1]))
        with pytest.raises(grapnel.Error):
            fill(taken)
        os.truncate(path, 1 << 20)
        assert grapnel.torch.lookup(slots, torch.tensor([200])).item() >= 0


@pytest.mark.parametrize("told", [True, False])
def test_a_batch_that_is_refused_changes_no_other(floats, monkeypatch, told):
    """The first of two that were resolved is filled. told: the second call raises, as on cpu; a GPU refuses it later."""
    items, store = floats
    operators = torch.ops.grapnel

    def numbers(count):
        return torch.full((count,), 77, dtype=torch.int32, device=DEVICE)

    with make(store) as slots:
        for count in 3, 2:  # of the second batch
            for copied in False, True:
                first, second = numbers(3), numbers(count)
                slots.clear()  # so that the first batch has something to fetch, and the second comes too early
                operators.slots_resolve(slots.handle, on_device(1, 2, 3), first)
                with monkeypatch.context() as patch:
                    if not told:
                        patch.setattr(_library, "slots_resolve", lambda *arguments: 0)
                    try:
                        operators.slots_resolve(slots.handle, on_device(*range(5, 5 + count)), second)
                        assert CUDA or not told
                    except grapnel.Error:
                        assert told and not CUDA
                was, refused = first.clone(), second.clone()
                out = first.clone() if copied else first
                operators.slots_fill(slots.handle, out)
                assert torch.equal(out, was) and torch.equal(first, was) and torch.equal(second, refused)
                assert torch.equal(slots.slab[out.long()], items[1:4])
                if CUDA and told:
                    with pytest.raises(grapnel.Error):
                        slots.synchronize()
        operators.slots_resolve(slots.handle, on_device(9), numbers(1))
        slots.clear()
        taken = numbers(1)
        operators.slots_resolve(slots.handle, on_device(4), taken)
        operators.slots_fill(slots.handle, taken)
        assert torch.equal(slots.slab[taken.long()], items[4:5])
        slots.synchronize()


def test_a_compiler_knows_that_the_slab_stays_where_it_is(floats):
    _, store = floats
    marked = torch.zeros(1)
    torch._dynamo.mark_static_address(marked)
    for slab in None, torch.zeros(8, WIDTH, device=DEVICE):
        with make(store) if slab is None else grapnel.Slots(store, slab=slab) as slots:
            assert slots.slab._dynamo_static_input_type == marked._dynamo_static_input_type


def test_operators_on_what_does_not_fit(floats):
    _, store = floats
    slots, keys, out = make(store), on_device(1), torch.zeros(1, dtype=torch.int32, device=DEVICE)
    handle = slots.handle
    with pytest.raises(TypeError, match="int64"):
        torch.ops.grapnel.slots_lookup(handle, keys.int(), out)
    with pytest.raises(ValueError, match="priority"):
        grapnel.torch.lookup(slots, keys, priority=4)
    with grapnel.array(np.zeros(4), machine=MACHINE) as array, pytest.raises((grapnel.Error, ValueError)):
        torch.ops.grapnel.slots_lookup(array.handle, keys, out)
    slots.close()
    for call in [lambda: torch.ops.grapnel.slots_lookup(handle, keys, out), lambda: grapnel.torch.resolve(slots, keys),
                 lambda: torch.ops.grapnel.slots_fill(12345, out), lambda: grapnel.torch.fill(slots, out)]:
        with pytest.raises(grapnel.Error, match="closed"):
            call()


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


@only_cuda
def test_a_compiled_graph(floats):
    """mode reduce-overhead: the compiler captures a lookup and what reads the slab in one CUDA graph."""
    items, store = floats
    with make(store, 200) as slots:
        @torch.compile(fullgraph=True, mode="reduce-overhead")
        def work(keys):
            return torch.index_select(slots.slab, 0, grapnel.torch.lookup(slots, keys)) * 2

        for _ in range(30):
            keys = torch.randint(0, COUNT, (50,), device=DEVICE)
            assert torch.equal(work(keys), items[keys] * 2)
        slots.synchronize()
