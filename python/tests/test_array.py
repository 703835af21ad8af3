# SPDX-License-Identifier: Apache-2.0
"""Arrays against NumPy."""

import numpy as np
import pytest
from conftest import MACHINE
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

import grapnel

# Every size from 1 to 16 bytes, and some above; some without a power of two, some with the other order of bytes.
DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "c8", "c16", ">i4", ">f8",
          "M8[s]", "U1", "U3", "V20", "V32", [("x", "u1"), ("y", "f4")], [("x", "f8"), ("y", "i4")]]
DTYPES += [f"S{size}" for size in range(1, 17)]

dtypes = st.sampled_from(DTYPES).map(np.dtype)
row_shapes = st.lists(st.integers(1, 5), max_size=3).map(tuple)


def random_rows(seed, dtype, shape):
    """Rows of random bytes."""
    raw = np.random.default_rng(seed).bytes(int(np.prod(shape)) * dtype.itemsize)
    if dtype == bool:
        return (np.frombuffer(raw, np.uint8) & 1).astype(bool).reshape(shape)
    return np.frombuffer(raw, dtype).reshape(shape).copy()


def same(a, b):
    """Equal bytes: so also not-a-number, and bytes behind the end of a text."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def as_bytes(rows):
    """The rows' bytes: NumPy's assignment of one element need not keep those that say nothing."""
    return rows.view("u1").reshape(len(rows), rows.nbytes // max(1, len(rows)))


def make(rows, cache):
    return grapnel.array(rows, cache=cache, machine=MACHINE, **({"page": 512} if cache else {}))


@given(dtypes, st.integers(1, 300), row_shapes, st.sampled_from(["16K", "64K", 0]), st.data())
def test_gather_is_numpys_take(dtype, count, row_shape, cache, data):
    rows = random_rows(data.draw(st.integers(0, 99)), dtype, (count,) + row_shape)
    index = data.draw(st.lists(st.integers(0, count - 1), max_size=400))
    shaped = np.array(index, np.int64).reshape(data.draw(st.sampled_from([(-1,), (1, -1), (-1, 1)])))
    with make(rows, cache) as array:
        assert same(array.gather(shaped), rows[shaped])
        out = np.empty(shaped.shape + row_shape, dtype)
        assert array.gather(shaped, out) is out and same(out, rows[shaped])


@given(dtypes, st.integers(1, 200), row_shapes, st.sampled_from(["16K", 0]), st.data())
def test_scatter_writes_the_last_of_equal_rows(dtype, count, row_shape, cache, data):
    rows = random_rows(1, dtype, (count,) + row_shape)
    index = data.draw(st.lists(st.integers(0, count - 1), max_size=300))
    new = random_rows(2, dtype, (len(index),) + row_shape)
    with make(rows, cache) as array:
        array.scatter(np.array(index, np.int64), new)
        for k, row in enumerate(index):
            as_bytes(rows)[row] = as_bytes(new)[k]
        assert same(array[:], rows)
        assert same(array.host(), rows)


@given(st.integers(1, 100), row_shapes, st.data())
def test_keys_are_numpys(count, row_shape, data):
    rows = np.arange(count * int(np.prod(row_shape)), dtype="i4").reshape((count,) + row_shape)
    ends = st.one_of(st.none(), st.integers(-count - 3, count + 3))
    key = data.draw(st.one_of(
        st.integers(-count, count - 1),
        st.builds(slice, ends, ends, st.one_of(st.none(), st.integers(-5, 5).filter(bool))),
        st.lists(st.integers(-count, count - 1), min_size=1, max_size=9)))
    with make(rows, "16K") as array:
        assert same(array[key], rows[key])
        if row_shape:
            assert same(array[key, -1], rows[key, -1])
            assert same(array[key, ..., :2], rows[key, ..., :2])
        array[key] = 7
        rows[key] = 7
        assert same(array[:], rows)


@given(st.data())
def test_indices_of_all_kinds(data):
    rows = np.arange(256, dtype="u2")
    kind = data.draw(st.sampled_from(["i1", "u1", "i2", "u4", "i8", "u8", ">i8"]))
    wide = np.array(data.draw(st.lists(st.integers(0, 127), max_size=50)), kind)
    strided = np.repeat(wide, 3)[::3]
    with make(rows, "16K") as array:
        assert same(array.gather(strided), rows[strided])
        assert same(array.gather(strided[::-1]), rows[strided[::-1]])
        assert same(array.gather(wide.tolist()), rows[wide])
        assert same(array.gather(range(3, 90, 4)), rows[3:90:4])


class AsNumPy(RuleBasedStateMachine):
    """Any sequence of accesses leaves what it leaves in a NumPy array."""

    @initialize(width=st.integers(1, 40), rows=st.integers(1, 500))
    def open(self, width, rows):
        self.rows = np.zeros((rows, width), "u4")
        self.array = make(self.rows, "16K")

    @rule(seed=st.integers(0, 999), count=st.integers(0, 200))
    def gather(self, seed, count):
        index = np.random.default_rng(seed).integers(0, len(self.rows), count)
        assert same(self.array.gather(index), self.rows[index])

    @rule(seed=st.integers(0, 999), count=st.integers(0, 200))
    def scatter(self, seed, count):
        random = np.random.default_rng(seed)
        index = random.permutation(len(self.rows))[:count]
        new = random.integers(0, 1 << 32, (len(index), self.rows.shape[1])).astype("u4")
        self.array.scatter(index, new)
        self.rows[index] = new

    @rule(row=st.integers(-500, 499), value=st.integers(0, 99))
    def set(self, row, value):
        row %= len(self.rows)
        self.array[row] = self.rows[row] = value

    @rule(first=st.integers(0, 500), last=st.integers(0, 500))
    def prefetch(self, first, last):
        self.array.prefetch(first, last)

    @rule()
    def flush(self):
        self.array.flush()
        assert self.array.stats()["cache"]["dirty_pages"] == 0

    @rule(row=st.integers(0, 499), value=st.integers(0, 99))
    def by_the_host(self, row, value):
        row %= len(self.rows)
        self.array.host()[row] = self.rows[row] = value
        self.array.cache.invalidate()

    def teardown(self):
        if hasattr(self, "array"):
            assert same(self.array.host(), self.rows)
            self.array.close()


TestAsNumPy = AsNumPy.TestCase


def test_what_it_is(table):
    assert table.shape == (1000, 8) and len(table) == 1000 and table.ndim == 2 and table.row_shape == (8,)
    assert table.dtype == np.dtype("i4") and table.size == 8000 and table.nbytes == 32000 and table.itemsize == 4
    assert "1000" in repr(table) and "int32" in repr(table)
    assert np.asarray(table).sum() == 8000 * 7999 // 2
    assert [row[0] for row in table][:3] == [0, 8, 16]
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, it meant: if that is possible
        with pytest.raises(ValueError, match="copy"):
            np.array(table, copy=False)


def test_a_large_batch_is_moved_in_pieces(machine):
    small = grapnel.Machine(machine, batch=64, streams=2)
    rows = np.arange(3000, dtype="i8").reshape(1000, 3)
    with small, grapnel.array(rows, cache="16K", machine=small) as array:
        index = np.random.default_rng(5).integers(0, 1000, 777)
        assert same(array.gather(index), rows[index])
        array.scatter(np.full(500, 9), np.arange(1500).reshape(500, 3))
        assert array[9].tolist() == [1497, 1498, 1499]


def test_rows_that_are_larger_than_the_stage(machine):
    rows = np.arange(3 << 20, dtype="u4").reshape(3, -1)
    with grapnel.array(rows, cache="1M", machine=machine) as array:
        assert same(array[::-1], rows[::-1])


def test_the_cache_counts(machine):
    with grapnel.array(np.arange(1 << 16, dtype="f8"), cache="64K", machine=machine, statistics=True) as array:
        array.prefetch(0, 1000)
        array.gather(np.arange(1000))
        counted = array.stats()["cache"]
        assert counted["hits"] > 0 and counted["page_bytes"] >= 512 and counted["frame_bytes"] == 1 << 16
    with grapnel.array([1, 2], machine=machine) as array:
        assert array.stats()["cache"]["hits"] is None


def test_docstring_of_the_package():
    import doctest

    assert doctest.testmod(grapnel).failed == 0
    for thing in [grapnel] + [getattr(grapnel, name) for name in grapnel.__all__]:
        assert thing.__doc__, f"{thing} has no help"
