# SPDX-License-Identifier: Apache-2.0
"""Stores, caches, and views of host memory."""

import gc
import resource
import signal
import threading
import warnings

import numpy as np
import pytest

import grapnel


def test_a_file_keeps_what_was_written(file, machine):
    with grapnel.open(f"file:{file}", "u4", (-1, 16), cache="64K", machine=machine) as array:
        assert array.shape == (16384, 16) and array[100, 3] == 1603
        array.scatter([5, 16383], np.full((2, 16), 9))
        array.flush()
    rows = np.fromfile(file, "u4").reshape(-1, 16)
    assert rows[5].tolist() == rows[16383].tolist() == [9] * 16 and rows[6, 0] == 96


def test_closing_flushes_and_discarding_does_not_have_to(file, machine):
    array = grapnel.open(f"file:{file}", "u4", cache="64K", machine=machine)
    array[7] = 1234
    array.close()
    assert np.fromfile(file, "u4")[7] == 1234
    array = grapnel.open(f"file:{file}", "u4", cache="64K", machine=machine)
    array[7] = 4321
    array.discard()
    assert array.closed and np.fromfile(file, "u4")[7] in (1234, 4321)


def test_what_cannot_be_written_leaves_the_array_open(file, machine):
    array = grapnel.open(f"file:{file}?io=threads", "u4", cache="64K", machine=machine)
    array[200000] = 5
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        for call in (array.close, array.flush, array.close):
            with pytest.raises(grapnel.Error, match="stay in the cache"):
                call()
            assert not array.closed and array[200000] == 5
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    array.close()
    assert array.closed and np.fromfile(file, "u4")[200000] == 5


def test_what_is_forgotten_is_closed(file, machine):
    array = grapnel.open(f"file:{file}", "u4", cache="64K", machine=machine)
    array[7] = 1234
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del array
        gc.collect()
    assert np.fromfile(file, "u4")[7] == 1234
    grapnel.open(f"file:{file}", "u4", machine=machine).close()  # the lock of the file is free


def test_what_is_forgotten_in_a_cycle_is_closed(file, machine):
    class Model:
        pass

    model = Model()
    model.itself = model
    model.table = grapnel.open(f"file:{file}", "u4", cache="64K", machine=machine)
    model.table[7] = 4321
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        del model
        gc.collect()
    assert np.fromfile(file, "u4")[7] == 4321
    grapnel.open(f"file:{file}", "u4", machine=machine).close()


def test_an_offset_and_a_part_of_the_store(file, machine):
    with grapnel.open(f"file:{file}?ro", "u4", (10, 3), offset=64, machine=machine) as array:
        assert array[:].ravel().tolist() == list(range(16, 46))
    with pytest.raises(grapnel.RangeError, match="."):
        grapnel.open(f"file:{file}?ro", "u4", (1 << 18, 2), machine=machine)
    for offset in [1 << 20, 1 << 21]:
        with pytest.raises(ValueError, match=f"1048576 bytes, and the array begins at byte {offset}"):
            grapnel.open(f"file:{file}?ro", "u4", offset=offset, machine=machine)
        with pytest.raises(grapnel.RangeError, match="reach past the end"):
            grapnel.open(f"file:{file}?ro", "u4", 1, offset=offset, machine=machine)


def test_an_npy_file(tmp_path, machine):
    rows = np.random.default_rng(0).random((77, 5))
    np.save(tmp_path / "rows.npy", rows)
    offset = np.load(tmp_path / "rows.npy", mmap_mode="r").offset
    with grapnel.open(f"file:{tmp_path}/rows.npy?ro", "f8", rows.shape, offset=offset, machine=machine) as array:
        assert np.array_equal(array[:], rows)


def test_parts_by_hand(machine):
    with grapnel.Store("host:64K", machine) as store:
        assert store.capacity == len(store) == 65536 and store.is_memory and not store.read_only
        store.write(4, b"\1\2\3\4")
        store.write(8, np.array([7], "u4"))
        store.write(12, memoryview(bytearray(b"abcd"))[::-1])
        assert store.read(3, 6) == b"\0\1\2\3\4\7" and store.read(12, 4) == b"dcba" and store.read(9, 0) == b""
        with grapnel.Cache(store, "16K", page=512) as cache:
            a = grapnel.Array(store, "u4", cache=cache)
            b = grapnel.Array(store, "u1", (-1, 4), cache=cache, offset=8)
            a[2] = 0x01020304
            assert b[0].tolist() == [4, 3, 2, 1]  # one cache: each sees what the other wrote
            with pytest.raises(grapnel.Error, match="close first"):
                cache.close()
            with pytest.raises(grapnel.Error, match="close first"):
                store.close()
            a.close(), b.close()
        assert store.read(8, 1) == b"\4"


def test_a_cache_of_several_stores(machine):
    with grapnel.Store("host:64K", machine) as a, grapnel.Store("host:32K", machine) as b:
        with grapnel.Cache([a, b], "16K", page=512) as cache:
            with grapnel.Array(a, "u4", cache=cache) as x, grapnel.Array(b, "u4", cache=cache) as y:
                x[7], y[7] = 1, 2
                assert x[7] == 1 and y[7] == 2
        assert a.read(28, 4) == b"\1\0\0\0" and b.read(28, 4) == b"\2\0\0\0"
        for stores in [[], [a] * 9, [a, grapnel.Store("host:4K", grapnel.Machine("cpu"))]]:
            with pytest.raises((grapnel.Error, ValueError), match="."):
                grapnel.Cache(stores, "16K", page=512)
        with pytest.raises(grapnel.Error):
            grapnel.Array(b, "u4", cache=grapnel.Cache(a, "16K", page=512))


def test_views_are_the_memory(machine):
    array = grapnel.array(np.arange(100, dtype="f4").reshape(10, 10), cache="16K", machine=machine)
    array[3] = 5
    view = array.host()
    assert view[3, 0] == 5 and view.shape == (10, 10)
    view[4] = 6
    array.cache.invalidate()
    assert array[4, 0] == 6
    again = np.from_dlpack(array.store)
    assert again.view("f4")[40] == 6
    memory = array.store.memory()
    with pytest.raises(BufferError, match="in use"):
        array.close()
    del view
    with pytest.raises(BufferError, match="in use"):
        array.store.close()
    del memory, again
    array.close()
    with pytest.raises(ValueError, match="closed"):
        array.store.memory()


def test_a_view_keeps_the_store(machine):
    view = grapnel.array(np.arange(1000), machine=machine).host()
    gc.collect()
    assert view.sum() == 499500


def test_files_are_no_memory(file, machine):
    with grapnel.Store(f"file:{file}?ro", machine) as store:
        assert not store.is_memory and store.read_only
        with pytest.raises(TypeError, match="not host memory"):
            store.memory()
        with pytest.raises(grapnel.Error, match="."):
            store.write(0, b"x")
        assert store.read(4, 4) == b"\1\0\0\0"


def test_a_store_counts(file, machine):
    with grapnel.Store(f"file:{file}", machine) as store:
        assert set(store.stats().values()) == {0}
        with grapnel.Cache(store, "16K", page=4096) as cache, grapnel.Array(store, "u4", cache=cache) as array:
            for row in range(0, 5 * 1024, 1024):
                array[row]
            array[7] = 1
            array[2048] = 1
        counted = store.stats()
        assert counted["reads"] >= 5 and counted["read_bytes"] == 4096 * counted["reads"]
        assert counted["writes"] == 2 and counted["written_bytes"] == 2 * 512
        assert not any(counted[name] for name in ("failed", "members_out", "resets"))


def test_members_that_are_out_are_counted(tmp_path, machine):
    for name in "ab":
        grapnel.Store(f"file:{tmp_path}/{name}?create=64K", machine).close()
    (tmp_path / "b").unlink()
    with grapnel.Store(f"replica:ro,file:{tmp_path}/a,file:{tmp_path}/b", machine) as store:
        assert [name for name, value in store.stats().items() if value] == ["members_out"]


def replica(folder, uses):
    """The URI of a replica of files of 1 MiB of zeros, of which the state says this."""
    lines = []
    for k, use in enumerate(uses):
        with open(folder / f"member{k}", "wb") as member:
            member.truncate(1 << 20)
        lines.append(f"{use} file:{folder}/member{k}")
    (folder / "state").write_text("\n".join(["grapnel replica 2", "open 0", *lines, "end", ""]))
    return f"replica:state={folder}/state," + ",".join(line.split(" ")[1] for line in lines)


@pytest.mark.parametrize("tier, first", [("", 0), ("tier:host:64K?memory=device,", 2)])
def test_a_member_comes_back_while_others_use_the_replica(tmp_path, machine, tier, first):
    uri = replica(tmp_path, ["ok", "stale", "ok"])
    with grapnel.open(tier + uri, "u4", (-1, 16), cache="64K", machine=machine) as array:
        array.scatter(np.arange(8192), np.full((8192, 16), 7))
        array.flush()
        members = array.store.members()[first:]
        assert [member["use"] for member in members] == ["used", "stale", "used"]
        assert members[1]["uri"].endswith("member1") and "out of date" in members[1]["why"]
        assert array.store.stats()["members_out"] == 1
        failures = []

        def put_back():
            try:
                array.store.resync(first + 1)
            except BaseException as why:  # the thread's end would hide it
                failures.append(why)

        thread = threading.Thread(target=put_back, daemon=True)
        thread.start()
        rounds = 0
        while rounds < 4 or thread.is_alive() and rounds < 100_000:
            rows = np.arange(rounds % 16, 16384, 16)
            array.scatter(rows, np.full((1024, 16), rounds))
            assert (array.gather(rows) == rounds).all()
            rounds += 1
        thread.join(60)
        assert not thread.is_alive() and not failures
        assert [member["use"] for member in array.store.members()[first:]] == ["used"] * 3
        assert [member["why"] for member in array.store.members()[first:]] == [""] * 3
    contents = [(tmp_path / f"member{k}").read_bytes() for k in range(3)]
    assert contents[0] == contents[1] == contents[2] and any(contents[0])
    assert "stale" not in (tmp_path / "state").read_text()


def test_what_cannot_come_back_raises(tmp_path, machine):
    uri = replica(tmp_path, ["ok", "stale"])
    with grapnel.Store(uri, machine) as store:
        store.resync(0)  # it is in use
        with pytest.raises(IndexError, match="member 2"):
            store.resync(2)
        with pytest.raises(IndexError, match="-1"):
            store.resync(-1)
        (tmp_path / "member1").rename(tmp_path / "away")
        with pytest.raises(FileNotFoundError, match="member1"):
            store.resync(1)
        (tmp_path / "away").rename(tmp_path / "member1")
        store.resync(1)
        assert [member["use"] for member in store.members()] == ["used", "used"]
    with grapnel.Store("host:4K", machine) as store:
        assert store.members() == []
        with pytest.raises(grapnel.Error, match="no members"):
            store.resync(0)


def test_what_a_store_counts_has_the_names_of_the_library(machine, monkeypatch):
    names = ("reads writes read_bytes written_bytes failed members_out "
             "retries read_timeouts write_timeouts aborts resets "
             "hits misses evictions write_backs unwritten").split()

    def fill(_, value):
        value[:] = range(100, 116)
        return 0

    with grapnel.Store("host:4K", machine) as store:
        monkeypatch.setattr(grapnel._objects.lib, "store_statistics", fill)
        assert store.stats() == dict(zip(names, range(100, 116)))


def test_ranges_of_stores(machine):
    with grapnel.Store("host:100", machine) as store:
        for offset, count in [(-1, 1), (0, 101), (101, 0), (50, -1)]:
            with pytest.raises(IndexError):
                store.read(offset, count)
        with pytest.raises(IndexError):
            store.write(99, b"xy")
        with pytest.raises(ValueError, match="read-only"):
            store.readinto(0, b"xy")


def test_bad_options(machine):
    for options in [{"page": 700}, {"policy": "best"}, {"table": "x"}, {"ways": 99, "table": "sets"}, {"page": "x"}]:
        with pytest.raises((grapnel.Error, ValueError), match="."):
            grapnel.array([1, 2, 3], cache="16K", machine=machine, **options)
    with pytest.raises((grapnel.Error, ValueError), match="."):
        grapnel.array([1, 2, 3], cache="1 cow", machine=machine)
    with pytest.raises(ValueError, match="no cache"):
        grapnel.array([1, 2, 3], cache=0, page=512, machine=machine)
    with pytest.raises(grapnel.Error, match="direct"):
        grapnel.open("memq:1M", "u4", cache=0, machine=machine)


def test_a_tier_counts_hits_and_misses(machine):
    with grapnel.Store("tier:host:1M,host:4M", machine) as store:
        with grapnel.Cache(store, "16K", page=4096) as cache, grapnel.Array(store, "u4", cache=cache) as array:
            for _ in range(2):
                for row in range(0, 32 * 1024, 1024):
                    array[row]
            array[5] = 7
        store.flush()
        counted = store.stats()
        assert counted["misses"] >= 32 and counted["hits"] >= 16
        assert counted["write_backs"] == 1 and not counted["unwritten"]
        assert bytes(store.read(20, 4)) == b"\x07\0\0\0"


def test_long_copies_go_by_pieces(file, machine, monkeypatch):
    """An interrupt would end them between two pieces. The lengths are no multiples of a piece."""
    monkeypatch.setattr("grapnel._objects.PIECE", 1000)
    rows = np.random.default_rng(1).integers(0, 1 << 30, (777, 13), "i4")
    with grapnel.array(rows, "16K", machine) as array:
        assert np.array_equal(array[:], rows) and np.array_equal(array[700:5:-3], rows[700:5:-3])
        array[3:500:2] = -rows[3:500:2]
        rows[3:500:2] *= -1
        assert np.array_equal(array[2:600], rows[2:600])
    with grapnel.Store(f"file:{file}", machine) as store:
        for data in [rows.tobytes(), bytearray(rows.tobytes()), rows, rows.T]:
            store.write(37, bytes(rows.nbytes))
            store.write(37, data)
            assert store.read(37, rows.nbytes) == memoryview(data).tobytes()
        to = np.zeros_like(rows)
        store.write(37, rows)
        store.readinto(37, to)
        assert np.array_equal(to, rows)


def test_an_interrupt_between_pieces(machine, monkeypatch):
    monkeypatch.setattr("grapnel._objects.PIECE", 1000)
    calls = []

    def must(code, real=grapnel._objects.lib.must):
        real(code)
        calls.append(code)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)

    # A program that a shell starts in the background inherits SIGINT as ignored.
    inherited = signal.signal(signal.SIGINT, signal.default_int_handler)
    with grapnel.Store("host:64K", machine) as store:
        monkeypatch.setattr("grapnel._objects.lib.must", must)
        try:
            with pytest.raises(KeyboardInterrupt):
                store.write(0, b"x" * 10000)
        finally:
            signal.signal(signal.SIGINT, inherited)
        monkeypatch.undo()
        assert store.read(0, 10000).count(b"x") == 3000
