# SPDX-License-Identifier: Apache-2.0
"""What goes wrong ends in an exception with a message, never in a crash or in wrong data."""

import copy
import errno
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

import grapnel


@pytest.mark.parametrize("row", [1000, -1, 1 << 40, (1 << 63) - 1, -(1 << 63)])
def test_a_row_past_the_end(table, row):
    out = np.full((3, 8), 77, "i4")
    with pytest.raises(grapnel.RangeError, match="rows 0 to 999") as caught:
        table.gather([3, row, 4], out)
    assert out[:, 0].tolist() == [24, 0, 32]  # the other rows are there, that one is 0
    why = caught.value
    assert why.code == -errno.ERANGE and why.name == "GN_ERANGE" and isinstance(why, IndexError)
    assert why.row == (row if 0 <= row < 1 << 60 else None)
    with pytest.raises(IndexError):
        table.scatter([3, row], np.zeros((2, 8), "i4"))
    assert table[3].sum() == 0  # rows that are there were written
    assert table.gather([5])[0, 0] == 40  # and the failure is told once


@pytest.mark.parametrize("row", [1 << 63, (1 << 64) - 1, (1 << 64) - 1000])
def test_unsigned_rows_from_2_to_the_63(table, row):
    """As int64 they would be negative, and those of table[...] would count from the end."""
    index = np.array([3, row], "u8")
    for read in [table.gather, table.__getitem__]:
        for given in [index, index.astype(">u8")]:
            with pytest.raises(grapnel.RangeError, match="past the end; the array has rows 0 to 999"):
                read(given)
    with pytest.raises(grapnel.RangeError, match="past the end"):
        table[index] = np.zeros((2, 8), "i4")
    assert table[-1][0] == 999 * 8 and table[0][0] == 0


@pytest.mark.parametrize("key", [1000, -1001, 1 << 70])
def test_keys_past_the_end(table, key):
    with pytest.raises(grapnel.RangeError, match=f"row {key} ") as caught:
        table[key]
    assert caught.value.code == -errno.ERANGE and isinstance(caught.value, IndexError)
    with pytest.raises(grapnel.RangeError):
        table[key] = 1


@pytest.mark.parametrize("key", [None, ..., True, 1.5, "x", [0.5], [[True]], slice(0.5)])
def test_keys_that_are_none(table, key):
    with pytest.raises(TypeError):
        table[key]


def test_results_that_do_not_fit(table):
    index = np.arange(4)
    good = np.empty((4, 8), "i4")
    frozen = good.copy()
    frozen.flags.writeable = False
    for out in [np.empty((4, 7), "i4"), np.empty((3, 8), "i4"), np.empty((8, 8), "i4")[::2], frozen,
                np.empty((4, 16), "i4")[:, ::2], np.empty((8, 4), "i4").T]:
        with pytest.raises(ValueError):
            table.gather(index, out)
    for out in [np.empty((4, 8), "f4"), np.empty((4, 8), ">i4"), bytearray(128), [0], 5]:
        with pytest.raises(TypeError):
            table.gather(index, out)
    for rows in [np.zeros((3, 8), "i4"), np.zeros(7, "i4")]:
        with pytest.raises(ValueError):
            table.scatter(index, rows)
    with pytest.raises(TypeError):
        table.scatter(index, np.zeros((4, 8), "f8"))  # would lose what is behind the point
    with pytest.raises(OverflowError):
        table.scatter(index, np.full((4, 8), 1 << 40))
    unaligned = np.frombuffer(bytearray(129), "u1")[1:].view("i4").reshape(4, 8)
    try:
        table.gather(index, unaligned)  # refused, or right
    except grapnel.Error:
        pass
    else:
        assert unaligned[3, 0] == 24


@pytest.mark.parametrize("index", [[0.5], ["a"], np.array([True]), np.array([1 + 0j]), [None], np.array(["M"], "S1")])
def test_indices_that_are_none(table, index):
    with pytest.raises((TypeError, ValueError)):
        table.gather(index)


def test_arrays_that_cannot_be(machine):
    for x in [[], 5, np.zeros((0, 3)), np.zeros((3, 0)), np.zeros(3, "V0")]:
        with pytest.raises((ValueError, TypeError)):
            grapnel.array(x, machine=machine)
    for x in [[object()], ["a", None]]:
        with pytest.raises(TypeError):
            grapnel.array(np.array(x, object), machine=machine)
    for shape in [(0,), (3, -2), (-1, -1), (), "x", 1.5, (1 << 62, 4)]:
        with pytest.raises((ValueError, TypeError, IndexError)):
            grapnel.open("host:1M", "u4", shape, machine=machine)
    with pytest.raises(ValueError):
        grapnel.open("host:1M", "u4", offset=-4, machine=machine)
    with pytest.raises(grapnel.Error):
        grapnel.open("host:1M", "u4", offset=3, machine=machine)


@pytest.mark.parametrize("uri", ["", "nope:1M", "host:", "host:1M?what=5", "file:/no/such/file", "file:/",
                                 "host:1M?ro=",
                                 "memq:1Q", "nvme:zz", "stripe:", "file:/etc/passwd?create=1M&queues=0x", "peer:99"])
def test_stores_that_are_not_there(uri, machine):
    with pytest.raises(grapnel.Error) as caught:
        grapnel.open(uri, "u1", machine=machine)
    assert len(caught.value.message) > 10 and caught.value.code < 0 and caught.value.name.startswith("GN_E")


def test_machines_that_are_not_there():
    for name in ["", "gpu", "cuda:77", "cuda:-1", "cpu:x"]:
        with pytest.raises((grapnel.Error, ValueError)):
            grapnel.Machine(name)
    with pytest.raises(grapnel.Error):
        grapnel.Machine("cpu", batch=0)


def test_closed_handles(machine):
    array = grapnel.array(np.arange(10), machine=machine)
    store, cache = array.store, array.cache
    array.close()
    array.close()  # once more is nothing
    calls = [lambda: array.gather([1]), lambda: array.scatter([1], [1]), lambda: array[1], lambda: array[:],
             lambda: array.flush(), lambda: array.prefetch(), lambda: array.check(), lambda: array.synchronize(),
             lambda: array.stats(), lambda: cache.flush(), lambda: cache.invalidate(), lambda: store.read(0, 1),
             lambda: store.write(0, b"x"), lambda: store.flush(), lambda: array.gather([]), lambda: array.host()]
    for call in calls:
        with pytest.raises(grapnel.Error, match="closed"):
            call()
    with pytest.raises(grapnel.Error, match="closed"):
        grapnel.Array(store, "u1")
    assert "closed" in repr(array)


def test_handles_of_another_kind_or_made_up(table):
    from grapnel import _library as lib

    for handle in [0, -5, 1, 1 << 40, (1 << 63) - 1, table.store.handle, table.handle + (1 << 20)]:
        assert lib.gather(handle, 0, None, 0, None) == -errno.EINVAL
        assert lib.flush(handle) == -errno.EINVAL
    assert lib.cache_flush(table.handle) == -errno.EINVAL
    assert table[1, 0] == 8


def test_a_file_that_was_shortened(file, machine):
    with grapnel.open(f"file:{file}?ro", "u4", (-1, 16), cache="64K", page=4096, machine=machine) as array:
        assert array[0, 1] == 1
        os.truncate(file, 1 << 19)
        with pytest.raises(grapnel.Error, match="shortened") as caught:
            array.gather(np.arange(16000, 16384))
        assert caught.value.code == -errno.EIO and caught.value.device and caught.value.row >= 8192
        assert array.gather([4000])[0, 0] == 64000
        os.truncate(file, 1 << 20)
        assert array.gather([16000])[0, 0] == 0  # a failed fetch is tried again


def test_what_cannot_be_written_is_told(file, machine):
    with grapnel.open(f"file:{file}?ro", "u4", machine=machine) as array:
        with pytest.raises(grapnel.Error, match="read-only"):
            array[3] = 5
        assert array[3] == 3


def test_a_second_writer_is_refused(file, machine):
    with grapnel.open(f"file:{file}", "u4", machine=machine):
        with pytest.raises(grapnel.Error) as caught:
            grapnel.open(f"file:{file}", "u4", machine=machine)
        assert caught.value.code == -errno.EBUSY


def test_errors_travel(table):
    with pytest.raises(grapnel.RangeError) as caught:
        table.gather([1000])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.message, again.row) == (caught.value.code, caught.value.message, 1000)
    for thing in [table, table.cache, table.store, table.machine]:
        with pytest.raises(TypeError, match="each process"):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            copy.copy(thing)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_is_told(table):
    child = os.fork()
    if not child:
        status = 1
        try:
            calls = [lambda: table.gather([1]), lambda: table[1], table.flush, table.close, table.cache.flush,
                     lambda: table.store.read(0, 1), lambda: grapnel.Array(table.store, "u1")]
            told = 0
            for call in calls:
                try:
                    call()
                except grapnel.Error as why:
                    told += "forked" in str(why)
            with grapnel.array(np.arange(5), machine="cpu") as own:  # a machine of its own
                status = 0 if told == len(calls) and own[3] == 3 else 2
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert table[1, 0] == 8


def test_threads_see_right_rows(table):
    rows = table[:]
    wrong = []

    def work(seed):
        random = np.random.default_rng(seed)
        for _ in range(40):
            index = random.integers(0, 1000, 300)
            if not np.array_equal(table.gather(index), rows[index]):
                wrong.append(seed)
            mine = seed * 100 + random.integers(0, 100, 20)
            table.scatter(mine, rows[mine])

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong and np.array_equal(table[:], rows)


def test_failures_are_those_of_their_thread_and_array(table, machine):
    wrong = []
    with grapnel.array(np.arange(10), machine=machine) as other:

        def work(array, bad, good):
            for _ in range(50):
                try:
                    array.gather([bad])
                    wrong.append("no failure")
                except grapnel.RangeError as why:
                    if why.row != bad:
                        wrong.append(str(why))
                array.gather([good])

        threads = [threading.Thread(target=work, args=args) for args in [(table, 1234, 7), (other, 4321, 7)] * 3]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert not wrong


def test_closing_while_others_read(machine):
    for _ in range(10):
        array = grapnel.array(np.arange(20000), cache="16K", machine=machine)
        ends = []

        def work():
            try:
                while True:
                    index = np.random.randint(0, 20000, 2000)
                    assert np.array_equal(array.gather(index), index)
            except grapnel.Error as why:
                ends.append("closed" in str(why))

        threads = [threading.Thread(target=work) for _ in range(3)]
        [thread.start() for thread in threads]
        while not array.closed:
            try:
                array.close()
            except grapnel.Error as why:
                assert why.code in (-errno.EBUSY, -errno.EINVAL)
        [thread.join() for thread in threads]
        assert ends == [True] * 3


def test_an_exception_inside_with_stays(machine):
    with pytest.raises(KeyError):
        with grapnel.array(np.arange(10), machine=machine) as array:
            raise KeyError
    assert array.closed


def test_the_end_of_a_program_that_closes_nothing(file, machine):
    program = ("import grapnel, sys\n"
               f"a = grapnel.open('file:{file}', 'u4', cache='64K', machine='{machine}')\n"
               "a[5] = 99\nb = grapnel.array([1, 2, 3]).host()\nprint(a[5])\n")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "99\n" and not done.stderr
    assert np.fromfile(file, "u4")[5] == 99
