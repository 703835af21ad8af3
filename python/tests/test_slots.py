# SPDX-License-Identifier: Apache-2.0
"""Slots: what a batch of keys gets, against a model that knows all rows of the slab; and what goes wrong."""

import copy
import doctest
import errno
import os
import threading

import numpy as np
import pytest
from conftest import MACHINE
from hypothesis import given, settings
from hypothesis import strategies as st

import grapnel

if MACHINE != "cpu":
    torch = pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")

WIDTH = 8  # numbers of 4 bytes in an item


def put(x, kind="int64"):
    """Numbers as the machine takes them."""
    x = np.array(x, dtype=kind)
    return x if MACHINE == "cpu" else torch.from_numpy(x).to(MACHINE)


def got(x):
    return x if isinstance(x, np.ndarray) else x.cpu().numpy()


def items_of(count):
    """Item k begins with 100 * k + 1."""
    return 1 + 100 * np.arange(count, dtype=np.int32)[:, None] + np.arange(WIDTH, dtype=np.int32)[None, :]


def write(slab, slot, value):
    slab[slot] = value if MACHINE == "cpu" else torch.from_numpy(value).to(MACHINE)


@pytest.fixture
def store():
    """1000 items."""
    with grapnel.Store(f"host:{1000 * WIDTH * 4}", MACHINE) as store:
        store.write(0, items_of(1000))
        yield store


def first_number(slots, key):
    """Of an item, as its slot has it."""
    slot = got(slots.lookup(put([key])))
    return got(slots.slab)[slot][0, 0]


def make(store, slots=16, **options):
    return grapnel.Slots(store, "int32", (WIDTH,), slots=slots, **options)


# ---- a model ----


class Model:
    """Which item each slot has is known, because each batch tells to which it gave a slot."""

    def __init__(self, slots, store, count, keep):
        self.slots, self.store, self.keep = slots, store, keep
        self.items = items_of(count)
        self.key_of, self.pins, self.lately = {}, {}, []

    def batch(self, keys, hints):
        resident = {key: slot for slot, key in self.key_of.items()}
        out, missed = put(np.full(len(keys), 77), "int32"), put(np.full(len(keys), 77), "uint8")
        try:
            assert self.slots.lookup(put(keys), out, missed=missed, **hints) is out
            self.slots.synchronize()
            told = None
        except grapnel.Error as why:
            told = why.code
        self.judge(keys, hints, got(out).tolist(), got(missed).tolist(), resident, told)

    def judge(self, keys, hints, out, missed, resident, told):
        count = len(self.items)
        wanted = {key for key in keys if 0 <= key < count}
        held = {slot for slot, pins in self.pins.items() if pins} | {s for b in self.lately[1 - self.keep:] for s in b
                                                                     if self.keep > 1}
        new = {} if hints.get("resident") else {key for key in wanted if key not in resident}
        kept = held | {resident[key] for key in wanted & set(resident)}
        room = len(self.slots) - len(kept)
        given = dict(zip(keys, out))
        past = any(key >= count for key in keys)
        assert told in ({-errno.ERANGE} if past else set()) | ({-errno.ENOBUFS} if len(new) > room else set()) | (
            set() if past or len(new) > room else {None})
        for key, slot, miss in zip(keys, out, missed):
            if key not in wanted:
                assert (slot, miss) == (-1, 0)
            elif key in resident:
                assert (slot, miss) == (resident[key], 0)
            elif hints.get("resident"):
                assert (slot, miss) == (-1, 0)
            else:
                assert given[key] == slot and miss == (slot >= 0) and slot not in kept
        assert sum(given[key] >= 0 for key in new) == min(len(new), room)
        used = [given[key] for key in wanted if given[key] >= 0]
        assert len(used) == len(set(used))
        self.key_of.update({slot: key for key, slot in given.items() if slot >= 0})
        self.lately.append(set(used))
        if hints.get("pin"):
            for slot in out:
                self.pins[slot] = self.pins.get(slot, 0) + (slot >= 0)
        if hints.get("overwrite"):
            self.change(used, False)
        self.compare()

    def change(self, slots, mark):
        for slot in slots:
            value = np.random.default_rng(slot).integers(-(1 << 31), 1 << 31, WIDTH).astype("i4")
            self.items[self.key_of[slot]] = value
            write(self.slots.slab, slot, value)
        if mark:
            self.slots.mark(put(list(slots) + [-1], "int32"))

    def unpin(self):
        numbers = [slot for slot, pins in self.pins.items() for _ in range(pins)]
        self.slots.unpin(put(numbers, "int32"))
        self.pins = {}

    def flush(self):
        self.slots.flush()
        self.slots.synchronize()
        assert self.store.read(0, self.items.nbytes) == self.items.tobytes()

    def compare(self):
        """Every row of the slab."""
        expected = np.zeros((len(self.slots), WIDTH), "i4")
        for slot, key in self.key_of.items():
            expected[slot] = self.items[key]
        assert np.array_equal(got(self.slots.slab), expected)


hints = st.fixed_dictionaries({}, optional={"pin": st.booleans(), "once": st.booleans(), "resident": st.booleans(),
                                            "overwrite": st.booleans(), "priority": st.integers(0, 3)})
keys = st.lists(st.integers(-2, 42), max_size=20)
steps = st.lists(st.one_of(st.tuples(st.just("batch"), keys, hints), st.sampled_from(["change", "unpin", "flush"])),
                 max_size=20)


@given(steps, st.integers(1, 30), st.sampled_from(["clock", "lru"]), st.integers(1, 3), st.sampled_from(["host", "file"]))
def test_slots_are_a_models(tmp_path_factory, steps, count, policy, keep, kind):
    path = tmp_path_factory.mktemp("store") / "items"
    path.write_bytes(items_of(40).tobytes())
    uri = f"host:{items_of(40).nbytes}" if kind == "host" else f"file:{path}?direct=0"
    with grapnel.Store(uri, MACHINE) as store:
        writes = kind == "host"  # items are not whole blocks of a file
        if writes:
            store.write(0, items_of(40))
        slots = make(store, count, policy=policy, keep=keep, most_keys=20, items=40)
        model = Model(slots, store, 40, keep)
        for step in steps:
            if step == "change" and writes and model.lately:
                model.change(model.lately[-1], True)
            elif step == "unpin":
                model.unpin()
            elif step == "flush":
                model.flush()
            elif isinstance(step, tuple):
                model.batch(step[1], step[2] if writes else {**step[2], "overwrite": False})
        slots.close()
        assert store.read(0, model.items.nbytes) == model.items.tobytes()


# ---- batches ----


def test_shapes_and_kinds_of_keys(store):
    with make(store) as slots:
        taken = slots.lookup(put([[5, 999, 5], [-1, 0, -7]]))
        assert tuple(taken.shape) == (2, 3) and str(taken.dtype).endswith("int32")
        a = got(taken)
        assert a[0, 0] == a[0, 2] and a[1, 0] == a[1, 2] == -1 and len({a[0, 0], a[0, 1], a[1, 1]}) == 3
        assert got(slots.slab)[a[0]][:, 0].tolist() == [501, 99901, 501]
        assert got(slots.lookup(put([]))).size == 0
        wide = put(np.arange(20))[::2]  # not contiguous
        taken = got(slots.lookup(wide))
        assert got(slots.slab)[taken][:, 0].tolist() == [1 + 200 * k for k in range(10)]
        slots.synchronize()
        if MACHINE == "cpu":
            assert slots.lookup([3, 4]).shape == (2,) and slots.lookup(7).shape == ()
            assert slots.lookup(np.array([3, 4], np.uint8)).tolist() == slots.lookup([3, 4]).tolist()
        assert len(slots) == slots.slots == 16 and slots.items == 1000 and slots.item_bytes == 32
        assert "16 of 1000 items" in repr(slots) and slots.metadata_bytes > 0 and slots.item_shape == (WIDTH,)


def test_two_steps(store):
    with make(store) as slots:
        slots.lookup(put([1, 2]))
        out, missed = put([0] * 3, "int32"), put([False] * 3, "bool")
        slots.resolve(put([1, 9, 2]), out, missed)
        assert got(missed).tolist() == [False, True, False]
        assert got(slots.slab)[got(out)[[0, 2]], 0].tolist() == [101, 201]  # hits have their bytes before the fill
        slots.fill()
        assert got(slots.slab)[got(out)[1], 0] == 901
        slots.fill()  # once more is nothing
        slots.synchronize()


def test_statistics(store):
    with make(store, 4, policy="lru") as slots:
        for batch in [[1, 2, 2], [1, 3, 4, 5], [-1]]:
            slots.lookup(put(batch))
        counted = slots.stats()
        assert {name: counted[name] for name in ("batches", "hits", "misses", "fetched", "evicted", "refused")} == {
            "batches": 3, "hits": 1, "misses": 6, "fetched": 5, "evicted": 1, "refused": 0}


def test_ways_to_say_what_an_item_is(store):
    with grapnel.Slots(store, item_bytes=32, bytes="1K") as slots:
        assert slots.slots == 32 and tuple(slots.slab.shape) == (32, 32) and slots.items == 1000
    with grapnel.Slots(store, "float64", (2, 2), bytes=100, offset=64, items=5) as slots:
        assert slots.slots == 3 and tuple(slots.slab.shape) == (3, 2, 2) and slots.items == 5
        at = got(slots.lookup(put([0])))[0]
        assert got(slots.slab)[at].tobytes() == items_of(3)[2].tobytes()
    with grapnel.Slots(store, "int32", 4, slots=2) as slots:
        assert slots.item_shape == (4,) and str(slots.dtype).endswith("int32")
    mine = put(np.zeros((5, WIDTH)), "int32")
    with grapnel.Slots(store, slab=mine) as slots:
        assert slots.slab is mine and slots.slots == 5
        at = got(slots.lookup(put([12])))[0]
        assert got(mine)[at, 0] == 1201


def test_a_slab_outlives_its_slots(store):
    slots = make(store)
    slab, at = slots.slab, got(slots.lookup(put([8])))[0]
    slots.close()
    with pytest.raises(ValueError, match="closed"):
        slots.slab
    assert got(slab)[at, 0] == 801


def test_pins_keep_items(store):
    with make(store, 4) as slots:
        pinned = slots.lookup(put([1, 2]), pin=True)
        for k in range(10, 30, 2):
            slots.lookup(put([k, k + 1]))
        assert got(slots.slab)[got(pinned), 0].tolist() == [101, 201]
        out = put([0] * 3, "int32")
        with pytest.raises(grapnel.Error, match="no slot") as caught:
            slots.lookup(put([50, 51, 52]), out)
            slots.synchronize()
        assert caught.value.code == -errno.ENOBUFS and sorted(got(out) >= 0) == [False, True, True]
        slots.pin(pinned), slots.unpin(pinned), slots.unpin(pinned)
        assert (got(slots.lookup(put([60, 61, 62, 63]))) >= 0).all()
        with pytest.raises(grapnel.ArgumentError, match="not pinned"):
            slots.unpin(pinned)
            slots.synchronize()
        with pytest.raises(grapnel.RangeError, match="past the end"):
            slots.pin(put([4], "int32"))
            slots.synchronize()


def test_changes_are_written(store):
    slots = make(store, 4)
    at = int(got(slots.lookup(put([7])))[0])
    write(slots.slab, at, np.full(WIDTH, -5, "i4"))
    slots.mark(put([at], "int32"))
    for k in range(20, 40, 4):  # it leaves its slot
        slots.lookup(put(range(k, k + 4)))
    slots.synchronize()
    assert np.frombuffer(store.read(7 * 32, 32), "i4").tolist() == [-5] * WIDTH
    at = int(got(slots.lookup(put([8]), overwrite=True))[0])
    write(slots.slab, at, np.full(WIDTH, -6, "i4"))
    slots.close()
    assert np.frombuffer(store.read(8 * 32, 32), "i4").tolist() == [-6] * WIDTH


def test_what_is_discarded_or_forgotten(store):
    for discard in [True, False]:
        slots = make(store, 4)
        at = int(got(slots.lookup(put([9])))[0])
        write(slots.slab, at, np.full(WIDTH, -7, "i4"))
        slots.mark(put([at], "int32"))
        if discard:
            slots.discard()
        else:
            del slots  # is flushed and closed
        assert np.frombuffer(store.read(9 * 32, 4), "i4")[0] == (901 if discard else -7)


def test_clear_sees_a_changed_store(store):
    with make(store) as slots:
        got(slots.lookup(put([3])))  # the item is there before the store changes
        store.write(3 * 32, np.full(WIDTH, 44, "i4"))
        assert first_number(slots, 3) == 301
        slots.clear()
        assert first_number(slots, 3) == 44


def test_items_of_a_megabyte(tmp_path):
    rows = np.random.default_rng(1).integers(0, 1 << 31, (6, 1 << 18)).astype("i4")
    rows.tofile(tmp_path / "experts")
    for kind in ["host", "file"]:
        with grapnel.Store(f"{kind}:{tmp_path}/experts?ro", MACHINE) as store:
            with grapnel.Slots(store, "int32", (512, 512), slots=3) as slots:
                for batch in [[0, 5, 3], [2, 3, 5], [1, 4, 0]]:
                    taken = got(slots.lookup(put(batch)))
                    assert np.array_equal(got(slots.slab)[taken].reshape(3, -1), rows[batch])


# ---- what goes wrong ----


@pytest.mark.parametrize("key", [1000, 1 << 40, (1 << 63) - 1])
def test_a_key_past_the_end(store, key):
    with make(store) as slots:
        out = put([7, 7, 7], "int32")
        with pytest.raises(grapnel.RangeError, match="past the end"):
            slots.lookup(put([3, key, 4]), out)
            slots.synchronize()
        taken = got(out)
        assert taken[1] == -1 and got(slots.slab)[taken[[0, 2]], 0].tolist() == [301, 401]
        slots.lookup(put([5]))  # it is told once
        slots.synchronize()


def test_a_resolve_before_the_fill(store):
    with make(store) as slots:
        first = slots.resolve(put([1]))
        with pytest.raises(grapnel.Error, match="fill") as caught:
            slots.resolve(put([2]))
            slots.synchronize()
        assert caught.value.code == -errno.EBUSY
        slots.fill()
        assert got(slots.slab)[got(first)][0, 0] == 101
        slots.lookup(put([2]))


def test_a_store_that_fails(tmp_path):
    path = tmp_path / "items"
    rows = np.arange(1 << 18, dtype="i4").reshape(256, 1024)
    rows.tofile(path)
    with grapnel.Store(f"file:{path}?ro", MACHINE) as store, grapnel.Slots(store, "int32", 1024, slots=8) as slots:
        os.truncate(path, 1 << 19)
        out = put([7] * 4, "int32")
        with pytest.raises(grapnel.Error, match="could not be read") as caught:
            slots.lookup(put([3, 200, 5, 200]), out, pin=True)
            slots.synchronize()
        assert caught.value.code == -errno.EIO
        taken = got(out)
        assert taken[[1, 3]].tolist() == [-1, -1] and np.array_equal(got(slots.slab)[taken[[0, 2]]], rows[[3, 5]])
        slots.unpin(out)
        os.truncate(path, 1 << 20)
        assert first_number(slots, 200) == 0  # it is tried again
        slots.synchronize()
        assert slots.stats()["failed"] == 1
        for call in [lambda: slots.mark(out), lambda: slots.lookup(put([3]), overwrite=True)]:
            with pytest.raises(grapnel.Error, match="read-only"):
                call()
        slots.flush()  # nothing is marked


def test_arguments_that_do_not_fit(store):
    with make(store, most_keys=100) as slots:
        keys = put([1, 2, 3])
        for bad in [put([1, 2, 3], "float64"), [0.5], put([True], "bool"), "x", None]:
            with pytest.raises((TypeError, ValueError)):
                slots.resolve(bad)
        for out in [put([0] * 3), put([0] * 3, "float32"), [0, 0, 0], 5]:
            with pytest.raises(TypeError):
                slots.resolve(keys, out)
        for out in [put([0] * 4, "int32"), put([[0] * 3], "int32"), put([0] * 6, "int32")[::2]]:
            with pytest.raises(ValueError):
                slots.resolve(keys, out)
        with pytest.raises(TypeError, match="bool or uint8"):
            slots.resolve(keys, missed=put([0] * 3, "int32"))
        for priority in [-1, 4]:
            with pytest.raises(ValueError, match="priority"):
                slots.resolve(keys, priority=priority)
        with pytest.raises(grapnel.ArgumentError, match="most_keys"):
            slots.resolve(put(np.zeros(101)))
        with pytest.raises(TypeError):
            slots.pin([0.5])
        slots.lookup(keys)
        assert slots.stats()["batches"] == 1


@pytest.mark.skipif(MACHINE != "cpu", reason="for NumPy's arrays")
def test_numbers_of_the_host_that_do_not_fit(store):
    with make(store) as slots:
        with pytest.raises(OverflowError):
            slots.resolve(np.array([1 << 63], "u8"))  # would be padding
        with pytest.raises(OverflowError):
            slots.pin(np.array([1 << 32]))
        frozen = np.zeros(1, "i4")
        frozen.flags.writeable = False
        with pytest.raises(ValueError, match="read-only"):
            slots.resolve([1], frozen)
        with pytest.raises(ValueError, match="read-only"):
            grapnel.Slots(store, slab=np.frombuffer(bytes(64), "i4").reshape(2, 8))


@pytest.mark.skipif(MACHINE == "cpu", reason="needs a GPU: GN_TEST_MACHINE=cuda")
def test_keys_of_the_host_are_refused_on_a_gpu(store):
    with make(store) as slots:
        for call in [lambda: slots.resolve(np.array([1])), lambda: slots.resolve([1]),
                     lambda: slots.pin(np.array([1], "i4"))]:
            with pytest.raises(TypeError, match="tensor there"):
                call()
        for call in [lambda: slots.resolve(torch.tensor([1])),
                     lambda: slots.resolve(put([1]), torch.zeros(1, dtype=torch.int32)),
                     lambda: grapnel.Slots(store, slab=torch.zeros(2, 8)),
                     lambda: grapnel.Slots(store, slab=np.zeros((2, 8)))]:
            with pytest.raises(ValueError, match="give a tensor there"):
                call()


def test_slots_that_cannot_be(store):
    for options in [{}, {"dtype": "i4"}, {"shape": 8}, {"dtype": "i4", "shape": 8, "item_bytes": 32, "slots": 2},
                    {"item_bytes": 24, "slots": 2}, {"item_bytes": 0, "slots": 2}, {"item_bytes": 32}, {"item_bytes": -16},
                    {"item_bytes": 32, "slots": 2, "bytes": 64}, {"item_bytes": 32, "slots": 0}, {"item_bytes": 32, "bytes": 31},
                    {"item_bytes": 32, "slots": -1}, {"item_bytes": 32, "slots": 1 << 32}, {"item_bytes": 128 << 20, "slots": 1},
                    {"dtype": "i4", "shape": (-1, 8), "slots": 2}, {"slab": put(np.zeros((2, 8)), "int32"), "slots": 2},
                    {"slab": put(np.zeros((0, 8)), "int32")}, {"slab": put(np.zeros((2, 3)), "int32")},
                    {"slab": put(np.zeros((4, 8)), "int32")[::2]}]:
        with pytest.raises(ValueError):
            grapnel.Slots(store, **options)
    for options in [{"policy": "best"}, {"keep": 0}, {"keep": 1 << 40}, {"keep": -1}, {"most_keys": 0}, {"most_keys": 1 << 40},
                    {"offset": 8}, {"offset": -16}, {"offset": 1 << 40}, {"items": 1001}, {"slots": 1.5}]:
        with pytest.raises((ValueError, TypeError)):
            make(store, **options)
    for options in [{"slab": [1, 2]}, {"slab": bytearray(64)}, {"dtype": object, "shape": 4, "slots": 2}]:
        with pytest.raises(TypeError):
            grapnel.Slots(store, **options)
    store.flush()  # nothing stands on it that was not made


def test_closed_slots(store):
    slots = make(store)
    with pytest.raises(grapnel.Error, match="close first"):
        store.close()
    numbers = slots.lookup(put([1]))
    slots.close()
    slots.close()  # once more is nothing
    for call in [lambda: slots.resolve(put([1])), slots.fill, lambda: slots.lookup(put([1])), lambda: slots.pin(numbers),
                 lambda: slots.unpin(numbers), lambda: slots.mark(numbers), slots.flush, slots.clear, slots.check,
                 slots.synchronize, slots.stats]:
        with pytest.raises(grapnel.ArgumentError, match="closed"):
            call()
    assert "closed" in repr(slots)
    with pytest.raises(TypeError, match="each process"):
        copy.copy(slots)


def test_handles_of_another_kind(store):
    from grapnel import _library as lib

    with make(store) as slots:
        assert lib.slots_fill(store.handle, 0) == lib.slots_check(store.machine.handle) == -errno.EINVAL
        assert lib.check(slots.handle) == -errno.EINVAL
        assert lib.slots_resolve(slots.handle, 0, None, None, None, 1, 0, 0) == -errno.EINVAL
        assert lib.slots_pin(slots.handle, 0, None, 1 << 32) == -errno.EINVAL


def test_a_batch_that_failed_keeps_its_memory(store):
    """What a later fill may write is not freed, even if nobody else holds it."""
    with make(store) as slots:
        slots.resolve(put([1, 2]))
        held = slots._batch
        for _ in range(3):
            try:
                slots.resolve(put([3]))
            except grapnel.Error:
                assert all(x is y for x, y in zip(slots._batch, held))
        slots.fill()
        try:
            slots.synchronize()
        except grapnel.Error as why:
            assert why.code == -errno.EBUSY


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.skipif(MACHINE != "cpu", reason="a process with a GPU is not forked")
def test_a_forked_process_is_told(store):
    with make(store) as slots:
        child = os.fork()
        if not child:
            told = 0
            try:
                for call in [lambda: slots.resolve([1]), slots.fill, slots.flush, slots.close]:
                    try:
                        call()
                    except grapnel.Error as why:
                        told += "forked" in str(why)
            finally:
                os._exit(0 if told == 4 else 1)
        assert os.waitpid(child, 0)[1] == 0
        slots.lookup([1])


@pytest.mark.skipif(MACHINE != "cpu", reason="calls of one GPU's slots are the business of one thread")
@settings(max_examples=5)
@given(st.integers(0, 1000))
def test_threads_with_slots_of_their_own(seed):
    wrong = []

    def work(number, store):
        random = np.random.default_rng(seed + number)
        with make(store, 64) as slots:
            for _ in range(20):
                keys = random.integers(0, 1000, 30)
                if not np.array_equal(slots.slab[slots.lookup(keys), 0], 1 + 100 * keys):
                    wrong.append(number)

    with grapnel.Store(f"host:{1000 * WIDTH * 4}") as store:
        store.write(0, items_of(1000))
        threads = [threading.Thread(target=work, args=(k, store)) for k in range(4)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
    assert not wrong


def test_docstring_of_the_class():
    import grapnel._slots

    assert doctest.testmod(grapnel._slots).failed == 0
