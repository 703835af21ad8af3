# SPDX-License-Identifier: Apache-2.0
"""Tensors, operators, compiled code and CUDA graphs. With GN_TEST_MACHINE=cuda the tensors are of that GPU."""

import os
import threading
import time

import numpy as np
import pytest
from conftest import MACHINE
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")

import grapnel  # noqa: E402
import grapnel.torch  # noqa: E402

CUDA = MACHINE.startswith("cuda")
DEVICE = torch.device(MACHINE)
only_cuda = pytest.mark.skipif(not CUDA, reason="needs a GPU: GN_TEST_MACHINE=cuda")

TYPES = [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool,
         torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.int16]


def random_tensor(seed, dtype, *shape):
    random = torch.Generator().manual_seed(seed)
    bytes = torch.randint(0, 2 if dtype is torch.bool else 120, tuple(shape[:-1]) + (shape[-1] * dtype.itemsize,),
                          generator=random, dtype=torch.uint8)
    return bytes.view(dtype)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(
        a.cpu().contiguous().view(torch.uint8), b.cpu().contiguous().view(torch.uint8))


def on_device(*numbers):
    return torch.tensor(numbers, dtype=torch.int64, device=DEVICE)


def make(rows, cache="16K"):
    return grapnel.array(rows, cache=cache, machine=MACHINE, **({"page": 512} if cache else {}))


@pytest.fixture
def floats():
    """1000 rows of 16 numbers; the tensor and the array."""
    rows = random_tensor(3, torch.float32, 1000, 16).nan_to_num()
    rows = torch.arange(16000, dtype=torch.float32).reshape(1000, 16) / 7
    with make(rows) as array:
        yield rows, array


@given(st.sampled_from(TYPES), st.integers(1, 200), st.integers(1, 20), st.sampled_from(["16K", "64K", 0]), st.data())
def test_gather_and_scatter_are_pytorchs(dtype, count, width, cache, data):
    rows = random_tensor(1, dtype, count, width)
    index = torch.tensor(data.draw(st.lists(st.integers(0, count - 1), max_size=300)), dtype=torch.int64)
    with make(rows, cache) as array:
        assert array.torch_dtype is dtype
        got = array.gather(index.to(DEVICE))
        assert got.device.type == DEVICE.type and same(got, rows[index])
        out = torch.empty_like(got)
        assert array.gather(index.to(DEVICE), out) is out and same(out, rows[index])
        new = random_tensor(2, dtype, max(1, len(index)), width)[:len(index)]
        array.scatter(index.to(DEVICE), new.to(DEVICE))
        for k, row in enumerate(index.tolist()):
            rows[row] = new[k]
        array.synchronize()
        assert same(array.gather(torch.arange(count, device=DEVICE)), rows)
        assert same(array.gather(torch.arange(count)), rows)  # an index of the host, too
        array.check()


def test_shapes_and_keys(floats):
    rows, array = floats
    index = on_device(5, 999, 5, 0).reshape(2, 2)
    assert same(array.gather(index), rows[index.cpu()])
    assert same(array[index], rows[index.cpu()])
    assert same(array[index, :3], rows[index.cpu()][..., :3].contiguous())
    assert array[torch.tensor(7)].tolist() == rows[7].tolist()
    wide = torch.arange(20, device=DEVICE)[::2]
    assert same(array.gather(wide), rows[:20:2])
    array[on_device(3)] = torch.ones(1, 16, device=DEVICE)
    array[4] = torch.full((16,), 2.0)
    assert array[3].tolist() == [1.0] * 16 and array[4].tolist() == [2.0] * 16


def test_what_does_not_fit(floats):
    _, array = floats
    index = on_device(1, 2, 3)
    for out in [torch.empty(3, 15, device=DEVICE), torch.empty(2, 16, device=DEVICE),
                torch.empty(16, 3, device=DEVICE).T, torch.empty(3, 32, device=DEVICE)[:, ::2],
                torch.empty(3, 16, device="meta"), torch.empty(3, 16, device=DEVICE, requires_grad=True)]:
        with pytest.raises(ValueError):
            array.gather(index, out)
    for out in [torch.empty(3, 16, device=DEVICE, dtype=torch.float64), np.empty((3, 16), "f4"), [1]]:
        with pytest.raises(TypeError):
            array.gather(index, out)
    for bad in [index.int(), index.float(), index.bool()]:
        with pytest.raises(TypeError, match="int64"):
            array.gather(bad)
    with pytest.raises(TypeError, match="alike"):
        array.gather([1, 2, 3], torch.empty(3, 16))
    with pytest.raises(ValueError):
        array.gather(index.to("meta"))


@pytest.mark.parametrize("row", [1000, -1, 1 << 62])
def test_a_row_past_the_end(floats, row):
    rows, array = floats
    out = torch.full((3, 16), 7.0, device=DEVICE)
    with pytest.raises(grapnel.RangeError, match="rows 0 to 999"):
        array.gather(on_device(3, row, 4), out)
        array.synchronize()  # on a GPU it is known when the kernels have run
    assert out.tolist() == [rows[3].tolist(), [0.0] * 16, rows[4].tolist()]
    assert array.gather(on_device(3)).tolist() == [rows[3].tolist()]


def test_a_closed_array():
    array = make(torch.ones(5, 4))
    bag = grapnel.torch.EmbeddingBag(array)
    handle = array.handle
    array.close()
    out = torch.empty(1, 4, device=DEVICE)
    for call in [lambda: array.gather(on_device(1)), lambda: torch.ops.grapnel.gather(handle, on_device(1), out),
                 lambda: torch.ops.grapnel.gather(12345, on_device(1), out), lambda: bag(on_device(1), on_device(0)),
                 lambda: grapnel.torch.gather(array, on_device(1))]:
        with pytest.raises(grapnel.Error, match="closed"):
            call()


def test_views_of_the_store():
    with make(torch.arange(64, dtype=torch.bfloat16).reshape(8, 8)) as array:
        view = array.store.tensor(torch.bfloat16, (8, 8))
        assert view[3, 1] == 25 and view.is_pinned() == CUDA
        view[3, 1] = 5
        assert array.gather(on_device(3))[0, 1] == 5
        assert torch.from_dlpack(array.store).numel() == 128
        with pytest.raises(TypeError):
            array.host()
        del view


def test_conjugate_views():
    numbers = torch.complex(torch.arange(8.0), torch.arange(8.0) + 1).reshape(4, 2)
    with grapnel.array(numbers.conj(), machine=MACHINE) as array:
        assert torch.equal(array.gather(on_device(2, 1)).cpu(), numbers.conj()[[2, 1]])
        array.scatter(on_device(3), numbers[:1].to(DEVICE).conj())
        assert torch.equal(array.gather(on_device(3)).cpu(), numbers[:1].conj())
        with pytest.raises(ValueError, match="conjugates"):
            array.gather(on_device(0), torch.empty(1, 2, dtype=torch.complex64, device=DEVICE).conj())


def test_threads(floats):
    rows, array = floats
    wrong = []

    def work(seed):
        stream = torch.cuda.Stream(DEVICE) if CUDA else None
        for k in range(50):
            index = torch.randint(0, 1000, (200,), generator=torch.Generator().manual_seed(seed * 100 + k))
            with torch.cuda.stream(stream):
                if not same(array.gather(index.to(DEVICE)), rows[index]):
                    wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


# ---- operators ----


def test_opcheck(floats):
    rows, array = floats
    index = on_device(5, 5, 999)
    out, order = torch.zeros(3, 16, device=DEVICE), torch.zeros(1, device=DEVICE)
    torch.library.opcheck(torch.ops.grapnel.gather.default, (array.handle, index, out))
    torch.library.opcheck(torch.ops.grapnel.gather.default, (array.handle, index, out, order))
    torch.library.opcheck(torch.ops.grapnel.scatter.default, (array.handle, index, out + 1, order))


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_whole(floats, backend):
    rows, array = floats

    @torch.compile(fullgraph=True, backend=backend)
    def work(index, by):
        return grapnel.torch.gather(array, index) * by + 1

    for numbers in [(1, 2, 3), (999, 0, 999), tuple(range(50))]:
        index = on_device(*numbers)
        assert torch.allclose(work(index, 2.0).cpu(), rows[index.cpu()] * 2 + 1)


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiled_scatters_are_neither_dropped_nor_moved(floats, backend):
    rows, array = floats
    order = torch.zeros(1, device=DEVICE)

    @torch.compile(fullgraph=True, backend=backend)
    def work(index):
        old = grapnel.torch.gather(array, index, order=order)
        grapnel.torch.scatter(array, index, old + 1, order)
        new = grapnel.torch.gather(array, index, order=order)
        grapnel.torch.scatter(array, index, new * 2, order)
        return old, new

    index = on_device(7, 3)
    old, new = work(index)
    was = rows[index.cpu()]
    assert torch.equal(old.cpu(), was) and torch.equal(new.cpu(), was + 1)
    assert torch.equal(array.gather(index).cpu(), (was + 1) * 2)


# ---- embedding bags ----

bags = st.lists(st.lists(st.integers(0, 99), max_size=6), min_size=1, max_size=20)


@settings(max_examples=40)
@given(bags, st.sampled_from(["sum", "mean", "max"]), st.booleans(), st.booleans(), st.booleans())
def test_an_embedding_bag_is_pytorchs(bags, mode, weighted, last, narrow):
    rows = torch.randn(100, 8, generator=torch.Generator().manual_seed(4))
    input = torch.tensor([row for bag in bags for row in bag], dtype=torch.int32 if narrow else torch.int64)
    offsets = torch.tensor(np.cumsum([0] + [len(bag) for bag in bags]), dtype=input.dtype)
    offsets = offsets if last else offsets[:-1]
    weights = torch.rand(len(input)) if weighted and mode == "sum" else None
    ours_weights = None if weights is None else weights.to(DEVICE)
    expected = torch.nn.functional.embedding_bag(input, rows, offsets, mode=mode, per_sample_weights=weights,
                                                 include_last_offset=last)
    with make(rows) as array:
        bag = grapnel.torch.EmbeddingBag(array, mode, include_last_offset=last)
        got = bag(input.to(DEVICE), offsets.to(DEVICE), ours_weights)
        assert torch.allclose(got.cpu(), expected, atol=1e-5)
        array.synchronize()


def test_embedding_bags_of_equal_length(floats):
    rows, array = floats
    input = torch.randint(0, 1000, (7, 5))
    for mode in ["sum", "mean", "max"]:
        expected = torch.nn.functional.embedding_bag(input, rows, mode=mode)
        bag = grapnel.torch.EmbeddingBag(array, mode)
        assert torch.allclose(bag(input.to(DEVICE)).cpu(), expected)
        compiled = torch.compile(bag, fullgraph=True, backend="aot_eager")
        assert torch.allclose(compiled(input.to(DEVICE)).cpu(), expected)
    assert "mode='max'" in repr(bag)


def test_bags_that_cannot_be(floats):
    _, array = floats
    with pytest.raises(ValueError, match="mode"):
        grapnel.torch.EmbeddingBag(array, "median")
    with make(torch.arange(10)) as numbers, pytest.raises(ValueError, match="shape"):
        grapnel.torch.EmbeddingBag(numbers)


# ---- a GPU ----


@only_cuda
def test_a_graph_replays_under_eviction(floats):
    """Each replay reads the rows that the index names then, although the cache holds a quarter of them."""
    rows, array = floats
    index = torch.zeros(500, dtype=torch.int64, device=DEVICE)
    out = torch.empty(500, 16, device=DEVICE)
    far = rows.to(DEVICE)
    array.gather(index, out)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        array.gather(index, out)
    wrong = torch.zeros((), dtype=torch.int64, device=DEVICE)
    for _ in range(int(os.environ.get("GN_TEST_REPLAYS", "2000"))):
        index.random_(0, 1000)
        graph.replay()
        wrong += (out != far[index]).sum()
    assert wrong.item() == 0
    array.check()
    index.fill_(5000)
    graph.replay()
    with pytest.raises(grapnel.RangeError):
        array.synchronize()
    del graph


@only_cuda
def test_a_graph_beside_its_stream(floats):
    """A graph sorts in a workspace of its own, so a batch on the stream of its capture does not disturb it."""
    rows, array = floats
    far, capture, other = rows.to(DEVICE), torch.cuda.Stream(DEVICE), torch.cuda.Stream(DEVICE)
    index = torch.randint(0, 1000, (20000,), device=DEVICE)
    first, second = (torch.empty(20000, 16, device=DEVICE) for _ in range(2))
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=capture):
        array.gather(index, first)
    torch.cuda.synchronize()
    for _ in range(100):
        first.zero_(), second.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(other):
            graph.replay()
        with torch.cuda.stream(capture):
            array.gather(index, second)
        torch.cuda.synchronize()
        assert torch.equal(first, far[index]) and torch.equal(second, far[index])


@only_cuda
def test_a_graph_that_scatters(floats):
    rows, array = floats
    index, values = on_device(1, 2, 1), torch.zeros(3, 16, device=DEVICE)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        array.scatter(index, values)
    values.copy_(torch.arange(48.0).reshape(3, 16))
    graph.replay()
    array.flush()
    assert array.host()[1].tolist() == list(map(float, range(32, 48)))


@only_cuda
def test_many_captures(floats):
    _, array = floats
    index, out = on_device(1, 2), torch.empty(2, 16, device=DEVICE)
    array.machine.reserve(20)
    graphs = []
    for _ in range(20):
        graphs.append(torch.cuda.CUDAGraph())
        with torch.cuda.graph(graphs[-1]):
            array.gather(index, out)
    for graph in graphs:
        graph.replay()
    array.synchronize()
    assert out[1, 0] == 32 / 7


@only_cuda
def test_workspaces_of_graphs_come_back(floats):
    """More captures, one after the other, than there may be workspaces."""
    rows, _ = floats
    with grapnel.Machine(MACHINE, batch=64, streams=3) as machine, grapnel.array(rows, machine=machine) as array:
        index, out = on_device(1, 2), torch.empty(2, 16, device=DEVICE)
        for k in range(50):
            graph = torch.cuda.CUDAGraph()
            for _ in range(200):  # the end of a graph is told by another thread
                try:
                    with torch.cuda.graph(graph):
                        array.gather(index, out)
                    break
                except grapnel.Error as why:
                    assert why.name == "GN_ENOBUFS"
                    graph = torch.cuda.CUDAGraph()
                    time.sleep(0.01)
            index += 1
            graph.replay()
            torch.cuda.synchronize()
            assert torch.equal(out.cpu(), rows[k + 2:k + 4])
            del graph


@only_cuda
def test_a_capture_without_a_workspace(floats):
    rows, _ = floats
    with grapnel.Machine(MACHINE, batch=64, streams=0) as machine, grapnel.array(rows, machine=machine) as array:
        index, out = on_device(1, 2), torch.empty(2, 16, device=DEVICE)
        with pytest.raises(grapnel.Error, match="reserve"):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                array.gather(index, out)
        array.gather(index, out)
        machine.reserve(1)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            array.gather(index, out)
        graph.replay()
        array.synchronize()
        assert torch.equal(out.cpu(), rows[1:3])


@only_cuda
def test_no_allocation_and_no_wait(floats):
    """Calls return while the stream is held up, and take no memory."""
    _, array = floats
    index, out = torch.arange(1000, device=DEVICE), torch.empty(1000, 16, device=DEVICE)
    array.gather(index, out)
    torch.cuda.synchronize()
    before = torch.cuda.memory_stats(DEVICE)["allocation.all.allocated"]
    for cycles in [1 << 31, 1 << 33, 1 << 35]:  # longer ones for a busy host; calls that wait would outlast all
        held = torch.cuda.Event()
        torch.cuda._sleep(cycles)
        held.record()
        for _ in range(20):
            array.gather(index, out)
            array.prefetch(0, 100)
        if not held.query():
            break
    else:
        raise AssertionError("the calls have waited for the stream")
    assert torch.cuda.memory_stats(DEVICE)["allocation.all.allocated"] == before
    array.synchronize()


@only_cuda
def test_wrong_devices(floats):
    rows, array = floats
    with pytest.raises(ValueError, match="one device"):
        array.gather(on_device(1), torch.empty(1, 16))
    with pytest.raises(ValueError, match="one device"):
        array.gather(torch.tensor([1]), torch.empty(1, 16, device=DEVICE))
    with grapnel.array(rows, machine="cpu") as near, pytest.raises(ValueError, match="on cpu"):
        near.gather(on_device(1))
    if torch.cuda.device_count() > 1:
        other = torch.device("cuda", (DEVICE.index or 0) ^ 1)
        with pytest.raises(ValueError, match="open the array there"):
            array.gather(torch.tensor([1], device=other))


@only_cuda
def test_another_stream(floats):
    rows, array = floats
    stream = torch.cuda.Stream()
    index, out = on_device(0, 1, 2), torch.empty(3, 16, device=DEVICE)
    with pytest.raises(ValueError, match="out="):
        array.gather(index, stream=stream.cuda_stream)
    with pytest.raises(ValueError, match="contiguous"):
        array.gather(index[::2], out[:2], stream=stream.cuda_stream)
    stream.wait_stream(torch.cuda.current_stream())
    array.gather(index, out, stream=stream.cuda_stream)
    torch.cuda.current_stream().wait_stream(stream)
    assert torch.equal(out.cpu(), rows[:3])


@only_cuda
def test_cuda_arrays_of_any_library(floats):
    """By __cuda_array_interface__, as CuPy and Numba have it; tensors stand in for them."""
    rows, array = floats

    class Foreign:
        def __init__(self, tensor, **other):
            self.__cuda_array_interface__ = {**tensor.__cuda_array_interface__, **other}

    index, out = on_device(3, 4), torch.empty(2, 16, device=DEVICE)
    array.gather(Foreign(index), Foreign(out))
    assert torch.equal(out.cpu(), rows[3:5])
    array.scatter(Foreign(index), Foreign(out + 1))
    array.synchronize()
    assert torch.equal(array.gather(index).cpu(), rows[3:5] + 1)
    for bad in [Foreign(out, shape=(2, 15)), Foreign(out, typestr="<f8"), Foreign(out, strides=(4, 8))]:
        with pytest.raises((TypeError, ValueError)):
            array.gather(Foreign(index), bad)
    with pytest.raises(ValueError, match="not memory of"):
        array.gather(Foreign(index), Foreign(out, data=(np.empty(32, "f4").__array_interface__["data"][0], False)))


@only_cuda
def test_reduced_overhead(floats):
    rows, array = floats
    work = torch.compile(lambda index: grapnel.torch.gather(array, index) * 2, fullgraph=True, mode="reduce-overhead")
    for k in range(5):
        index = on_device(*range(k, k + 100))
        assert torch.allclose(work(index).cpu(), rows[k:k + 100] * 2)


def test_docstring_of_the_module():
    import doctest

    assert doctest.testmod(grapnel.torch).failed == 0
