# SPDX-License-Identifier: Apache-2.0
"""The tests run on the machine that GN_TEST_MACHINE names: cpu (the default), cuda or cuda:N."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import grapnel

MACHINE = os.environ.get("GN_TEST_MACHINE", "cpu")

# No test fails because of time: the machine may be busy.
settings.register_profile("grapnel", deadline=None, max_examples=int(os.environ.get("GN_TEST_EXAMPLES", "60")),
                          suppress_health_check=list(HealthCheck), derandomize="CI" in os.environ)
settings.load_profile("grapnel")


@pytest.fixture
def machine():
    return MACHINE


@pytest.fixture
def table(machine):
    """1000 rows of 8 numbers behind a cache of a quarter of them; row k begins with 8 * k."""
    with grapnel.array(np.arange(8000, dtype=np.int32).reshape(1000, 8), cache="16K", page=512,
                       machine=machine) as array:
        yield array


@pytest.fixture
def file(tmp_path):
    """A file of 1 MiB: 16384 rows of 16 numbers."""
    path = tmp_path / "table.bin"
    np.arange(1 << 18, dtype=np.uint32).tofile(path)
    return path


def pytest_terminal_summary(terminalreporter):
    """What was left out, at the end, where it is read."""
    left = {}
    for report in terminalreporter.stats.get("skipped", []):
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        left[why] = left.get(why, 0) + 1
    for why, count in left.items():
        terminalreporter.write_line(f"left out: {count} (of a file or test): {why.removeprefix('Skipped: ')}")
