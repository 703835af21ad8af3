# SPDX-License-Identifier: Apache-2.0
"""Kernels of the user's own: the headers under NVRTC, the struct of an array, and what happens when such a kernel runs."""

import ctypes
import errno
import pathlib
import re
import types
from unittest import mock

import numpy as np
import pytest
from conftest import MACHINE

import grapnel
from grapnel import kernels

on_gpu = pytest.mark.skipif(MACHINE == "cpu", reason="there is no GPU, so no kernel of the user's own was run")
INCLUDE = pathlib.Path(grapnel.include())
HEADERS = sorted(str(header.relative_to(INCLUDE)) for header in INCLUDE.rglob("*.h*"))
HOST_ONLY = {"grapnel/detail/array/gather_few.h"}  # for the library's own kernel

ADD = r"""
#include <grapnel/array.h>

extern "C" __global__ void __launch_bounds__(1024, 1)
add(const __grid_constant__ struct gn_array array, const int64_t *index, int32_t *before, int64_t count, int32_t by)
{
	for (int64_t k = simt_global_thread(); k < count; k += simt_global_threads()) {
		before[k] = gn_read_i32(&array, index[k]);
		gn_write_i32(&array, index[k], before[k] + by);
	}
}
"""


@pytest.fixture(scope="module")
def nvrtc():
    try:
        return kernels.version()
    except grapnel.MissingError as why:
        pytest.skip(f"no kernel was compiled: {why.message}")


def quickly(version):
    """Options for a kernel that nobody runs: it takes an eighth of the time, from CUDA 12.9 on. Tests on a GPU have none of them."""
    return ["--Ofast-compile=max"] if version >= (12, 9) else []


# ---- what is compiled ----

def test_every_header_compiles_alone(nvrtc):
    assert len(HEADERS) > 40
    for header in set(HEADERS) - HOST_ONLY:
        kernels.compile(f"#include <{header}>\n#include <{header}>\n", "compute_80")


def test_a_kernel_compiles(nvrtc):
    code = kernels.compile(ADD, "sm_90", quickly(nvrtc))
    assert b"add" in code and code.startswith(b"\x7fELF")


def test_the_view_of_cxx_compiles(nvrtc):
    code = kernels.compile(r"""
#include <grapnel/grapnel.hpp>

struct scale_args { gn::array<float> x; float by; };

SIMT_FN void scale(const struct scale_args *a)
{
	gn::array<float> x = a->x;

	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads())
		x[i] *= a->by;
}

SIMT_KERNEL(scale, struct scale_args)
""", "compute_80")
    assert b".entry scale_kernel" in code  # PTX


def test_the_integers_are_those_of_libcudacxx(nvrtc):
    """What cuda/std/cstdint declares under NVRTC: a program that includes both has one type of each name."""
    same = "".join(f"using {sign}int{bits}_t = {word} {of};\n" for sign, word in [("", "signed"), ("u", "unsigned")]
                   for bits, of in [(8, "char"), (16, "short"), (32, "int"), (64, "long long")])
    kernels.compile("#include <grapnel/array.h>\n" + same, "compute_80")
    kernels.compile(same + "#include <grapnel/array.h>\n", "compute_80")


def test_what_does_not_compile_says_where(nvrtc):
    with pytest.raises(grapnel.ArgumentError, match=r"(?s)kernel\.cu\(2\).*wrong"):
        kernels.compile("\nwrong", "sm_90")
    with pytest.raises(grapnel.ArgumentError, match="(?i)arch"):
        kernels.compile("", "sm_1")


def test_where_there_is_no_compiler_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr(kernels, "_rtc", None)
    monkeypatch.setattr(kernels, "_places", lambda: ["libnvrtc_of_nobody.so"])
    with pytest.raises(grapnel.MissingError, match="pip install nvidia-cuda-nvrtc"):
        kernels.compile("", "sm_90")


class Driver:
    """A driver that keeps what it is told, and has no GPU."""

    def __init__(self, version=13000):
        self.version, self.launched = version, []

    def cuDriverGetVersion(self, version):
        version._obj.value = self.version
        return 0

    def cuCtxPushCurrent_v2(self, context):
        return 0

    def cuCtxPopCurrent_v2(self, context):
        return 0

    def cuLaunchKernel(self, function, *how):
        self.launched.append(how)
        return 0


class Nvrtc:
    def __init__(self, major, minor):
        self.version = major, minor

    def nvrtcVersion(self, major, minor):
        major._obj.value, minor._obj.value = self.version
        return 0


@pytest.mark.parametrize("driver, found, wanted", [
    (13000, [(13, 0), (12, 9)], (13, 0)),
    (12090, [(13, 0), (12, 6), (12, 9)], (12, 9)),
    (12090, [(13, 0)], "pip install nvidia-cuda-nvrtc-cu12"),
    (13000, [(12, 6)], "pip install nvidia-cuda-nvrtc$"),
    (11080, [(12, 9)], "update the driver"),
    (None, [(13, 0), (12, 9)], (13, 0)),
])
def test_nvrtc_is_no_newer_than_the_driver(monkeypatch, driver, found, wanted):
    def no_driver():
        raise grapnel.Error("none", -19, "GN_ENODEV")

    monkeypatch.setattr(kernels, "_rtc", None)
    monkeypatch.setattr(kernels, "_driver", no_driver if driver is None else lambda: Driver(driver))
    monkeypatch.setattr(kernels, "_places", lambda: found)
    monkeypatch.setattr(kernels.ctypes, "CDLL", lambda version: Nvrtc(*version))
    if isinstance(wanted, tuple):
        assert kernels.version() == wanted
    else:
        with pytest.raises(grapnel.MissingError) as why:
            kernels.version()
        assert re.search(wanted, why.value.message)


# ---- the struct ----

def test_the_struct_has_the_size_of_the_header(nvrtc, table):
    assert table.struct.shape == (1,) and table.struct.dtype.kind == "V"
    size = table.struct.nbytes
    kernels.compile(f'#include <grapnel/array.h>\nstatic_assert(sizeof(struct gn_array) == {size}, "");', "compute_80")
    with pytest.raises(grapnel.ArgumentError):
        kernels.compile(f'#include <grapnel/array.h>\nstatic_assert(sizeof(struct gn_array) != {size}, "");', "compute_80")


def test_the_struct_is_of_this_array(table):
    words = table.struct.view("u8")
    assert words[0] == table.size  # count, the first member
    words[:] = 0
    assert table.struct.view("u8")[0] == table.size  # each is a copy
    assert table.struct.ctypes.data % 8 == 0


def test_a_closed_array_has_no_struct():
    array = grapnel.array(np.arange(10), cache="64K", machine=MACHINE)
    array.close()
    with pytest.raises(grapnel.ArgumentError, match="closed"):
        array.struct


# ---- arguments ----

def test_arguments_are_of_declared_types(table):
    machine = table.machine
    assert bytes(kernels._parameter(table, machine)) == bytes(table.struct)
    assert kernels._parameter(np.float32(1.5), machine).nbytes == 4
    assert kernels._address(kernels._parameter(ctypes.c_int16(7), machine))[1] == 2
    for wrong in (5, 1.5, True, None, "x", np.arange(3), [1]):
        with pytest.raises(TypeError, match="numpy.int64"):
            kernels._parameter(wrong, machine)


class Memory:
    """Memory of a GPU as CuPy tells of it."""

    def __init__(self, address=4096, stream=None, shape=(8,), strides=None):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<i4", "data": (address, False), "strides": strides,
                                         "version": 3, **({} if stream is None else {"stream": stream})}


def fake(monkeypatch, table, current=5):
    """A kernel of a driver that launches nothing, on the table's machine; all memory is of that one but address 512."""
    kernel, driver = object.__new__(kernels.Kernel), Driver()
    monkeypatch.setattr(kernels, "_driver", lambda: driver)
    monkeypatch.setattr(kernels.lib, "device_of", lambda address: 9 if address == 512 else table.machine.device_index)
    monkeypatch.setattr(type(table.machine), "_stream", lambda machine: current)
    kernel.name, kernel.machine, kernel._function, kernel._sizes = "fake", table.machine, None, mock.ANY
    kernel._context = object.__new__(kernels._Context)
    kernel._context._context = None
    return kernel, driver


@pytest.mark.parametrize("streams, wanted", [([], 5), ([None, None], 5), ([None, 7], 7), ([7, 7], 7), ([1], 1)])
def test_a_kernel_runs_on_the_stream_of_its_memory(monkeypatch, table, streams, wanted):
    kernel, driver = fake(monkeypatch, table)
    kernel(1, 32, table, *(Memory(stream=stream) for stream in streams))
    assert driver.launched[-1][7].value == wanted


@pytest.mark.parametrize("wrong", [(0, 32), (-1, 32), (2**31, 32), (2**32 + 1, 32), (1, 0), (1, 1025), (1, 2**32 + 32),
                                   (1, 32, -1), (1, 32, 49153), (1, 32, 2**32)])
def test_a_launch_has_numbers_of_the_gpu(monkeypatch, table, wrong):
    kernel, driver = fake(monkeypatch, table)
    blocks, threads, *shared = wrong
    with pytest.raises(ValueError, match="but may be"):
        kernel(blocks, threads, table, **({"shared": shared[0]} if shared else {}))
    with pytest.raises(TypeError):
        kernel(1.5, 32, table)
    assert not driver.launched
    kernel(2**31 - 1, 1024, table, shared=48 << 10)
    assert [driver.launched[0][k] for k in (0, 3, 6)] == [2**31 - 1, 1024, 48 << 10]


def test_a_launch_has_all_arguments(monkeypatch, table):
    kernel, driver = fake(monkeypatch, table)
    kernel._sizes = [table.struct.nbytes, 8]
    kernel(1, 32, table, np.int64(1))
    for wrong in ([table], [table, np.int32(1)], [table, np.int64(1), np.int64(1)]):
        with pytest.raises(TypeError, match="parameters of"):
            kernel(1, 32, *wrong)
    assert len(driver.launched) == 1


def test_a_driver_that_tells_no_parameters_is_refused(monkeypatch):
    monkeypatch.setattr(kernels, "_driver", Driver)
    machine = types.SimpleNamespace(is_cuda=True, name="cuda:0")
    monkeypatch.setattr(kernels, "Machine", types.SimpleNamespace(shared=lambda name: machine))
    with pytest.raises(grapnel.Error, match="12.4.*update the driver"):
        kernels.Kernel(ADD, "add", "cuda")


def test_an_array_stays_open_while_it_is_launched(monkeypatch, table):
    kernel, driver = fake(monkeypatch, table)
    raised = []

    def close_meanwhile(*launch):
        with pytest.raises(grapnel.Error, match="another thread uses the array") as why:
            table.close()
        raised.append(why.value.code)
        return 0

    driver.cuLaunchKernel = close_meanwhile
    kernel(1, 32, table, table)
    assert raised == [-errno.EBUSY]
    with pytest.raises(TypeError):
        kernel(1, 32, table, "no number")
    table.close()  # whether a launch succeeded or not
    with pytest.raises(grapnel.ArgumentError, match="closed"):
        kernel(1, 32, table)


def test_memory_of_two_streams_needs_a_word(monkeypatch, table):
    kernel, driver = fake(monkeypatch, table)
    with pytest.raises(ValueError, match="stream="):
        kernel(1, 32, Memory(stream=7), Memory(stream=8))
    assert not driver.launched
    kernel(1, 32, Memory(stream=7), Memory(stream=8), stream=9)
    assert driver.launched[-1][7].value == 9


def test_memory_of_elsewhere_is_refused(monkeypatch, table):
    kernel, driver = fake(monkeypatch, table)
    with pytest.raises(ValueError, match="not memory of"):
        kernel(1, 32, Memory(512))
    with pytest.raises(ValueError, match="not contiguous"):
        kernel(1, 32, Memory(strides=(8,)))
    assert not driver.launched
    kernel(1, 32, Memory(0, shape=(0,)))  # none at all is of no GPU


class Tensor:
    """What a kernel asks a tensor of PyTorch."""

    def __init__(self, machine, contiguous=True):
        self.device, self.contiguous = types.SimpleNamespace(type="cuda", index=machine.device_index), contiguous

    def data_ptr(self):
        return 4096

    def is_contiguous(self):
        return self.contiguous


def test_tensors_are_contiguous_and_name_a_stream(monkeypatch, table):
    kernel, driver = fake(monkeypatch, table)
    current = [0]
    monkeypatch.setattr(kernels, "is_tensor", lambda x: isinstance(x, Tensor))
    monkeypatch.setattr(kernels, "_current_stream", lambda torch, device: current[0])
    monkeypatch.setitem(kernels.sys.modules, "torch", types.ModuleType("torch"))
    with pytest.raises(ValueError, match="not contiguous"):
        kernel(1, 32, Tensor(table.machine, False))
    kernel(1, 32, Tensor(table.machine), Memory())
    kernel(1, 32, Tensor(table.machine), Memory(stream=1))  # both name the default stream
    assert [how[7].value for how in driver.launched] == [None, 1]
    current[0] = 7
    with pytest.raises(ValueError, match="stream="):
        kernel(1, 32, Tensor(table.machine), Memory(stream=1))


def test_stack_is_a_number_of_bytes(table):
    table.machine.reserve_stack(2000)
    with pytest.raises(ValueError):
        table.machine.reserve_stack(-1)
    with pytest.raises(TypeError):
        table.machine.reserve_stack(1.5)


def test_kernels_are_not_for_cpu():
    with pytest.raises(ValueError, match="cpu"):
        kernels.Kernel(ADD, "add", "cpu")


# ---- on a GPU ----

@pytest.fixture(scope="module")
def add(nvrtc):
    pytest.importorskip("torch", reason="PyTorch is not installed, so no kernel of the user's own was run")
    return kernels.Kernel(ADD, "add", MACHINE)


def launch(kernel, array, index, by=1, **how):
    import torch

    before = torch.full((len(index),), -1, dtype=torch.int32, device=index.device)
    kernel(32, 256, array, index, before, np.int64(len(index)), np.int32(by), **how)
    return before


def numbers(device, *which):
    import torch

    return torch.tensor(which, dtype=torch.int64, device=device)


@pytest.fixture
def device():
    return MACHINE if ":" in MACHINE else "cuda:0"


@on_gpu
@pytest.mark.parametrize("cache", ["16K", 0])
def test_a_kernel_reads_and_writes(add, device, cache):
    import torch

    with grapnel.array(np.arange(8000, dtype=np.int32), cache=cache, machine=MACHINE) as array:
        index = torch.randperm(8000, device=device)
        assert torch.equal(launch(add, array, index, 5).cpu(), index.cpu().int())
        array.synchronize()
        assert np.array_equal(array[:], np.arange(8000, dtype=np.int32) + 5)
        array.flush()
        assert np.array_equal(array.host(), np.arange(8000, dtype=np.int32) + 5)


@on_gpu
def test_a_kernel_reads_and_writes_a_file(add, device, file):
    import torch

    with grapnel.open(f"file:{file}", "int32", -1, cache="64K", machine=MACHINE) as array:
        index = torch.arange(0, len(array), 7, device=device)
        assert torch.equal(launch(add, array, index).cpu(), index.cpu().int())
    expected = np.arange(1 << 18, dtype=np.int32)
    expected[::7] += 1
    assert np.array_equal(np.fromfile(file, np.int32), expected)


@on_gpu
def test_batches_and_kernels_follow_one_another(add, device):
    import torch

    with grapnel.array(np.arange(4096, dtype=np.int32), cache="16K", machine=MACHINE) as array, \
            torch.cuda.stream(torch.cuda.Stream(device)):
        index = torch.arange(4096, device=device)
        launch(add, array, index, 100)  # on the current stream, as the gather is
        assert torch.equal(array.gather(index).cpu(), torch.arange(4096, dtype=torch.int32) + 100)


@on_gpu
def test_what_a_kernel_cannot_reach_raises(add, device, table):
    before = launch(add, table, numbers(device, 8, 8000, 16))  # elements are counted, not rows: 8000 is behind the last
    with pytest.raises(grapnel.RangeError, match="row 1000 is past the end"):
        table.synchronize()
    assert before.tolist() == [8, 0, 16]
    launch(add, table, numbers(device, 8000))
    import torch

    torch.cuda.synchronize()
    with pytest.raises(grapnel.RangeError):
        launch(add, table, numbers(device, 8))
    assert launch(add, table, numbers(device, 8)).tolist() == [9]  # it was not launched


@on_gpu
def test_an_element_of_another_size_raises(add, device):
    with grapnel.array(np.arange(64, dtype=np.int64), cache="64K", machine=MACHINE) as array:
        launch(add, array, numbers(device, 3))
        with pytest.raises(grapnel.ArgumentError):
            array.synchronize()


@on_gpu
def test_a_kernel_is_captured(add, device):
    import torch

    with grapnel.array(np.zeros(1000, np.int32), cache="16K", machine=MACHINE) as array:
        index, before = torch.arange(1000, device=device), torch.zeros(1000, dtype=torch.int32, device=device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            add(8, 256, array, index, before, np.int64(1000), np.int32(1))
        for _ in range(3):
            graph.replay()
        array.synchronize()
        assert before.tolist() == [2] * 1000 and (array[:] == 3).all()


@on_gpu
def test_arguments_that_do_not_fit_are_refused(add, device, table):
    index = numbers(device, 1)
    with pytest.raises(TypeError, match="parameters of"):
        add(1, 32, table, index, index, np.int32(1), np.int32(1))
    with pytest.raises(TypeError, match="parameters of"):
        add(1, 32, table, index)
    with pytest.raises(ValueError, match="cpu"):
        add(1, 32, table, index.cpu(), index, np.int64(1), np.int32(1))
    with grapnel.array(np.arange(8), cache="64K") as other, pytest.raises(ValueError, match="open it there"):
        add(1, 32, other, index, index, np.int64(1), np.int32(1))


@on_gpu
def test_large_local_arrays_have_room(nvrtc, device):
    """Its own frame is larger than the room that each kernel has; the calls of a miss go on top of it."""
    import torch

    kernel = kernels.Kernel(r"""
#include <grapnel/array.h>

extern "C" __global__ void total(const __grid_constant__ struct gn_array array, const int32_t *order, int32_t *out)
{
	int32_t value[3000];
	int32_t sum = 0;

	for (int32_t k = 0; k < 3000; k++)
		value[order[k]] = gn_read_i32(&array, (uint64_t)(k + simt_global_thread() % 64) % gn_count(&array));
	for (int32_t k = 0; k < 3000; k++)
		sum += value[order[2999 - k]];
	out[simt_global_thread()] = sum;
}
""", "total", MACHINE)
    assert kernel.local_bytes >= 12000
    with grapnel.array(np.arange(4000, dtype=np.int32), cache="16K", page=512, machine=MACHINE) as array:
        order = torch.randperm(3000, device=device, dtype=torch.int32)
        out = torch.zeros(64 * 64, dtype=torch.int32, device=device)
        kernel(64, 64, array, order, out)
        array.synchronize()
        assert out.tolist() == [sum(range(k, k + 3000)) for k in range(64)] * 64


@on_gpu
def test_the_struct_goes_by_address_to_pytorchs_own_compiler(nvrtc, device):
    import torch

    if not hasattr(torch.cuda, "_compile_kernel"):
        pytest.skip("this PyTorch does not compile kernels")
    kernel = torch.cuda._compile_kernel(r"""
#include <grapnel/array.h>

extern "C" __global__ void first(const struct gn_array *array, int *out)
{
	out[simt_global_thread()] = gn_read_i32(array, simt_global_thread());
}
""", "first", cuda_include_dirs=[grapnel.include()])
    with grapnel.array(np.arange(256, dtype=np.int32), cache="16K", machine=MACHINE) as array:
        struct = torch.from_numpy(array.struct.view("u1")).to(device)
        out = torch.zeros(256, dtype=torch.int32, device=device)
        kernel((2, 1, 1), (128, 1, 1), [struct, out])
        array.synchronize()
        assert out.tolist() == list(range(256))
