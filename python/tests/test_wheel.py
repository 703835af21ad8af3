# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: what its library needs and shows, and what importing it costs."""

import glob
import os
import re
import shutil
import subprocess
import sys

import pytest

import grapnel

LIBRARY = glob.glob(os.path.join(os.path.dirname(grapnel.__file__), "*.so"))

# Of manylinux (PEP 600), as far as this library may want them.
ALLOWED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libstdc++.so.6", "libgcc_s.so.1",
           "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def run(*command):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed (package binutils)")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def python(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_it_has_one_library():
    assert [os.path.basename(name) for name in LIBRARY] == ["libgrapnel_python.so"]
    assert os.path.exists(os.path.join(os.path.dirname(grapnel.__file__), "py.typed"))


def test_it_shows_the_flat_functions_alone():
    shown = [line.split()[-1] for line in run("nm", "-D", "--defined-only", *LIBRARY).splitlines()]
    assert len(shown) > 20 and all(name.startswith("gn_flat_") for name in shown), shown


def test_it_needs_only_what_every_system_has():
    lines = run("readelf", "-d", *LIBRARY).splitlines()
    needed = {line.split("[")[1].rstrip("]") for line in lines if "NEEDED" in line}
    assert "libc.so.6" in needed and needed <= ALLOWED, needed - ALLOWED
    assert not any("RUNPATH" in line for line in lines)


def test_it_runs_on_every_system_that_its_name_says():
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        tags = distribution("grapnel").read_text("WHEEL")
    except PackageNotFoundError:
        pytest.skip("the package is not installed from its wheel")
    name = re.search(r"manylinux_(\d+)_(\d+)", tags)
    if not name:
        pytest.skip("the wheel was built without auditwheel, for this system alone")
    wanted = {tuple(map(int, version)) for version in re.findall(r"GLIBC_(\d+)\.(\d+)", run("readelf", "-VW", *LIBRARY))}
    assert wanted and max(wanted) <= tuple(map(int, name.groups()))


def test_the_declarations_are_those_of_the_library():
    from grapnel import _library

    shown = run("nm", "-D", "--defined-only", *LIBRARY).splitlines()
    assert {line.split()[-1].removeprefix("gn_flat_") for line in shown} == set(_library._PROTOTYPES)


def test_importing_takes_in_neither_numpy_nor_pytorch():
    assert python("import sys, grapnel; print(sorted({'numpy', 'torch'} & set(sys.modules)))").strip() == "[]"


def test_what_importing_costs(capsys):
    """Said, not judged: the machine may be busy."""
    program = ("import time; t, c = time.perf_counter(), time.process_time(); import grapnel; "
               "print((time.perf_counter() - t) * 1e3, (time.process_time() - c) * 1e3)")
    passed, cpu = (min(times) for times in zip(*(map(float, python(program).split()) for _ in range(5))))
    with capsys.disabled():
        print(f"\nimport grapnel: {passed:.0f} ms, {cpu:.0f} ms of a processor")


def test_the_version_is_the_librarys():
    from importlib.metadata import PackageNotFoundError, version

    try:
        assert version("grapnel") == grapnel.__version__
    except PackageNotFoundError:
        pytest.skip("the package is not installed from its wheel")
