# SPDX-License-Identifier: Apache-2.0
"""The examples run, and say that what they read is right."""

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import MACHINE

import grapnel

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples" / "python"


@pytest.mark.parametrize("options", [[], ["--file", "table.bin"]])
def test_table_lookup(tmp_path, options):
    if MACHINE != "cpu":
        pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")
    done = subprocess.run([sys.executable, "-P", EXAMPLES / "table_lookup.py", "--machine", MACHINE, "--rows", "20000",
                           "--batches", "20", *options], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "are right" in done.stdout, done.stderr
    assert (tmp_path / "table_lookup.png").exists() == bool(importlib.util.find_spec("matplotlib"))


def test_expert_cache(tmp_path):
    if MACHINE != "cpu":
        pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")
    done = subprocess.run([sys.executable, "-P", EXAMPLES / "expert_cache.py", "--machine", MACHINE, "--tokens", "60",
                           "--plot", "plot.png"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "the tokens are right" in done.stdout, done.stderr
    assert (tmp_path / "plot.png").exists() == bool(importlib.util.find_spec("matplotlib"))


def test_vector_search(tmp_path):
    pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")
    done = subprocess.run([sys.executable, "-P", EXAMPLES / "vector_search.py", "--machine", MACHINE, "--vectors", "4000",
                           "--queries", "100", "--plot", "plot.png"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and "recall" in done.stdout, done.stderr
    assert (tmp_path / "plot.png").exists() == bool(importlib.util.find_spec("matplotlib"))


@pytest.mark.parametrize("options", [[], ["--file", "links.bin"]][:1 if MACHINE == "cpu" else 2])
def test_own_kernel(tmp_path, options):
    from grapnel import kernels

    try:
        kernels.version()
    except grapnel.MissingError as why:
        pytest.skip(f"no kernel was compiled: {why.message}")
    if MACHINE != "cpu":
        pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")
    environment = dict(os.environ)
    if MACHINE == "cpu":
        # Nobody runs the kernel, also where there is a GPU, so it becomes PTX: the assembler takes most of half a minute.
        environment["CUDA_VISIBLE_DEVICES"] = ""
        options = ["--arch", "compute_90"]
    done = subprocess.run([sys.executable, "-P", EXAMPLES / "own_kernel.py", "--links", "100000", "--steps", "8", *options],
                          capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    if MACHINE == "cpu":
        assert "compiled for compute_90" in done.stdout
    else:
        assert "is right" in done.stdout and "outside raised: row 100000 is past the end" in done.stdout


@pytest.mark.parametrize("library", ["cupy", "numba"])
def test_kernels_of_other_libraries(library):
    done = subprocess.run([sys.executable, "-P", EXAMPLES / f"{library}_kernel.py", "--links", "100000", "--steps", "8"],
                          capture_output=True, text=True)
    if done.returncode == 0:
        assert "is right" in done.stdout
        return
    assert "Traceback" not in done.stderr and ("is not installed" in done.stderr or "no GPU here" in done.stderr), done.stderr
    pytest.skip(done.stderr.strip())


@pytest.mark.parametrize("store", ["host", "file"])
def test_graph_sage(tmp_path, store):
    pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed, so nothing of it was tested")
    options = []
    if importlib.util.find_spec("matplotlib"):
        options = ["--plot", tmp_path / "plot.svg"]
    done = subprocess.run([sys.executable, "-P", EXAMPLES / "graph_sage.py", "--machine", MACHINE, "--nodes", "3000",
                           "--epochs", "3", "--store", store, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    accuracy = [float(number) for number in re.findall(r"accuracy ([0-9.]+),", done.stdout)]
    assert len(accuracy) == 3 and accuracy[-1] > 0.25, done.stdout  # by chance: 0.0625
    assert not options or "<svg" in (tmp_path / "plot.svg").read_text()
