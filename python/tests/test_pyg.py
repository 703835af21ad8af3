# SPDX-License-Identifier: Apache-2.0
"""Stores and samplers for PyTorch Geometric. With GN_TEST_MACHINE=cuda they are on that GPU."""

import subprocess
import sys

import numpy as np
import pytest
from conftest import MACHINE
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch", reason="PyTorch is not installed, so nothing of it was tested")
pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed, so nothing of it was tested")

from torch_geometric.data import TensorAttr  # noqa: E402
from torch_geometric.loader import LinkLoader, NodeLoader  # noqa: E402
from torch_geometric.nn import SAGEConv  # noqa: E402
from torch_geometric.sampler import NodeSamplerInput  # noqa: E402

import grapnel  # noqa: E402
from grapnel.pyg import FeatureStore, GraphStore, NeighborSampler, load  # noqa: E402

DEVICE = torch.device(MACHINE)


@pytest.fixture
def rows():
    return np.random.default_rng(3).standard_normal((500, 6)).astype("f4")


def random_graph(seed, nodes, edges):
    """Pointers of targets and sources of the edges; some nodes have no edge, some edges are there twice."""
    random = np.random.default_rng(seed)
    target, source = random.integers(0, nodes, (2, edges))
    target = np.sort(target // 3 * 3 % nodes)
    return np.searchsorted(target, np.arange(nodes + 1)), source


# ---- files ----


def test_files(tmp_path, rows):
    np.save(tmp_path / "x.npy", rows)
    rows.tofile(tmp_path / "x.bin")
    for where in "host", "file":
        for source, how in [("x.npy", {}), ("x.bin", {"dtype": "f4", "shape": (-1, 6)})]:
            with load(tmp_path / source, where=where, machine=MACHINE, cache="64K", **how) as array:
                assert array.store.uri.startswith(where) and array.shape == rows.shape
                assert np.array_equal(array[:], rows) and np.array_equal(array.gather([499, 0]), rows[[499, 0]])


@pytest.mark.parametrize("what, how, why", [
    ("x.bin", {}, "dtype"), ("x.bin", {"dtype": "f4", "shape": (1000, 6)}, "needs"), ("none.npy", {}, "No such file"),
    ("f.npy", {}, "column by column"), ("x.bin", {"columns": ["a"], "dtype": "f4"}, "columns"),
    ("x.bin", {"where": "moon"}, "moon"), ("a?b.npy", {"where": "file"}, "rename")])
def test_files_that_do_not_fit(tmp_path, rows, what, how, why):
    np.save(tmp_path / "f.npy", np.asfortranarray(rows)), np.save(tmp_path / "a?b.npy", rows)
    rows.tofile(tmp_path / "x.bin")
    with pytest.raises((ValueError, OSError), match=why):
        load(tmp_path / what, machine=MACHINE, **how)
    with pytest.raises(ValueError, match="has its shape"):
        load(rows, shape=(3000,))


def test_an_npy_file_says_what_it_has(tmp_path, rows):
    np.save(tmp_path / "x.npy", rows)
    for dtype, shape in [("f4", (500, 6)), (np.float32, (-1, 6)), (torch.float32, (500, -1)), (None, -1)]:
        with load(tmp_path / "x.npy", dtype, shape, machine=MACHINE) as array:
            assert array.shape == rows.shape and np.array_equal(array[:], rows)
    for where in "host", "file":
        for dtype in "f2", "i4", ">f4", torch.bfloat16:
            with pytest.raises(ValueError, match="float32"):
                load(tmp_path / "x.npy", dtype, machine=MACHINE, where=where)
        for shape in 3000, (-1,), (500, 7), (600, -1), (1000, 3):
            with pytest.raises(ValueError, match="500, 6"):
                load(tmp_path / "x.npy", shape=shape, machine=MACHINE, where=where)


def test_parquet(tmp_path, rows):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed, so no Parquet file was tested")
    import pyarrow.parquet as pq

    lists = pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), 6)
    numbers = np.arange(500, dtype="i4")
    table = pa.table({"x": lists, "n": numbers, "name": ["?"] * 500, "lack": [None, 1.5] * 250})
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=77)
    with load(tmp_path / "t.parquet", columns=["x"], machine=MACHINE) as array:
        assert array.dtype == np.float32 and np.array_equal(array[:], rows)
    with load(tmp_path / "t.parquet", "f4", columns=["n", "x"], machine=MACHINE) as array:
        assert np.array_equal(array[:], np.column_stack([numbers, rows]))
    with load(tmp_path / "t.parquet", columns=["n"], machine=MACHINE) as array:
        assert array.dtype == np.int32 and np.array_equal(array[:], numbers)
    with pytest.raises(TypeError, match="numbers"):
        load(tmp_path / "t.parquet", machine=MACHINE)
    with pytest.raises(ValueError, match="without a value"):
        load(tmp_path / "t.parquet", columns=["lack"], machine=MACHINE)
    with pytest.raises(ValueError, match="500, 6"):
        load(tmp_path / "t.parquet", shape=(3000,), columns=["x"], machine=MACHINE)


BIG = 2**53 + 1  # the least integer that float64 has not


@pytest.mark.parametrize("columns, dtype, what", [
    ("i", None, np.int64), ("u", None, np.uint64), ("u", "u8", np.uint64), ("is", None, np.int64), ("s", "f2", np.float16),
    ("s", "u1", np.uint8), ("f", "f8", np.float64), ("f", "f4", np.float32), ("s", "c8", np.complex64),
    ("s", torch.float32, np.float32), ("us", "i8", "18446744073709551615, which int64"), ("i", "u8", "-9223372036854775808"),
    ("i", "i4", f"'i' has {BIG}, which int32"), ("s", "i1", "200, which int8"), ("i", "f8", str(BIG)),
    ("u", "f8", "18446744073709551615"), ("if", None, str(BIG)), ("i", "f2", "which float16"), ("f", "f2", "1e.30, which float16"),
    ("iu", None, "no type of integers"), ("f", "i8", "'f' has numbers of type float64"), ("s", "bool", "bool"),
    ("s", "M8[s]", "M8"), ("s", torch.bfloat16, "bfloat16")])
def test_numbers_of_parquet_stay_what_they_are(tmp_path, columns, dtype, what):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed, so no Parquet file was tested")
    import pyarrow.parquet as pq

    has = {"i": np.array([1, 2, BIG, -2**63], "i8"), "u": np.array([1, 2, 3, 2**64 - 1], "u8"),
           "s": np.array([0, 1, 2, 200], "i8"), "f": np.array([1.5, np.inf, np.nan, 1e30])}
    pq.write_table(pa.table(has), tmp_path / "t.parquet")
    if isinstance(what, str):
        with pytest.raises(TypeError if "type" in what or what[0] in "bM" else OverflowError, match=what):
            load(tmp_path / "t.parquet", dtype, columns=list(columns), machine=MACHINE)
        return
    with load(tmp_path / "t.parquet", dtype, columns=list(columns), machine=MACHINE) as array:
        assert array.dtype == what
        got = np.atleast_2d(array[:].T)
        for name, values in zip(columns, got):
            assert np.array_equal(values, has[name].astype(what), equal_nan=values.dtype.kind == "f")


# ---- features ----


def test_features(tmp_path, rows):
    labels = torch.arange(500)
    np.save(tmp_path / "x.npy", rows)
    with FeatureStore(MACHINE) as store:
        store.add("x", tmp_path / "x.npy", where="file", cache="64K")
        assert store.put_tensor(labels, None, "y", None) and store.put_tensor(rows, "paper", "x", None)
        assert {(attr.group_name, attr.attr_name) for attr in store.get_all_tensor_attrs()} == {
            (None, "x"), (None, "y"), ("paper", "x")}
        index = torch.randint(0, 500, (70,), generator=torch.Generator().manual_seed(1))
        for at in index, index.to(DEVICE):
            x, y = store.multi_get_tensor([(None, "x", at), (None, "y", at)])
            assert x.device == y.device == at.device
            assert np.array_equal(x.cpu().numpy(), rows[index]) and torch.equal(y.cpu(), index)
        got = store._get_tensor(TensorAttr("paper", "x", index.numpy()))  # get_tensor() itself takes no NumPy array
        assert isinstance(got, np.ndarray) and np.array_equal(got, rows[index])
        assert np.array_equal(store["paper", "x", slice(3, 9)], rows[3:9])
        assert store.get_tensor_size("paper", "x") == (500, 6)
        assert np.array_equal(store["paper"].x[None], rows) and np.array_equal(store["paper", "x", 7], rows[7])
        assert store.put_tensor(torch.zeros(2, 6), "paper", "x", torch.tensor([5, 7]))
        assert not store["paper", "x", torch.tensor([7, 5])].any() and store["paper", "x", torch.tensor([6])].any()
        assert not store.put_tensor(rows, "paper", "new", torch.arange(500))
        assert store.remove_tensor("paper", "x", None) and not store.remove_tensor("paper", "x", None)
        with pytest.raises(KeyError):
            store.get_tensor("paper", "x", None)
        with pytest.raises(ValueError, match="already"):
            store.add("x", rows)
        with pytest.raises(grapnel.RangeError):
            store.get_tensor(None, "x", torch.tensor([500]))


def test_what_is_given_stays_open(rows):
    with grapnel.array(rows, machine=MACHINE) as array:
        with FeatureStore(MACHINE) as store:
            store.add("x", array)
            store.add("z", rows)
            mine = store.array("z")
        assert not array.closed and mine.closed
        with pytest.raises(ValueError, match="type and place"):
            store.add("x", array, dtype="f4")


# ---- edges ----


def test_edges():
    pointers, source = random_graph(1, 60, 200)
    target = np.repeat(np.arange(60), np.diff(pointers))
    with GraphStore(MACHINE) as store:
        store.add(pointers, source)
        store.put_edge_index((torch.from_numpy(target), torch.from_numpy(source)), ("a", "to", "a"), "coo", False, (60, 60))
        row, col = store.get_edge_index(None, "csc")
        assert np.array_equal(row, source) and np.array_equal(col, pointers)
        row, col, _ = store._edge_to_layout(store.get_all_edge_attrs()[0], store.get_all_edge_attrs()[1].layout)
        assert np.array_equal(row, source) and np.array_equal(col, target)
        assert [attr.size for attr in store.get_all_edge_attrs()] == [(60, 60)] * 2
        assert store.remove_edge_index(None, "csc") and not store.remove_edge_index(None, "csc")
        with pytest.raises(KeyError):
            store.get_edge_index(None, "csc")
        with pytest.raises(TypeError, match="int64"):
            store.add(pointers, source.astype("f4"))
        with pytest.raises(ValueError, match="last pointer"):
            store.add(pointers, source[1:])


# ---- samples ----

FAR = st.sampled_from(["near", "far"])


def sampled(graph, seeds, *arguments, **named):
    sampler = NeighborSampler(graph, *arguments, **named)
    return sampler.sample_from_nodes(NodeSamplerInput(None, torch.as_tensor(seeds)))


@settings(max_examples=60)
@given(st.integers(0, 1 << 20), st.integers(1, 80), st.integers(1, 400), st.lists(st.sampled_from([-1, 0, 1, 2, 5, 30]),
                                                                              max_size=4), st.booleans(), FAR)
def test_a_sample_is_of_the_graph(seed, nodes, edges, fanouts, replace, place):
    fanouts = [3 if replace and fanout == -1 else fanout for fanout in fanouts]
    pointers, source = random_graph(seed, nodes, edges)
    seeds = np.random.default_rng(seed).permutation(nodes)[:1 + nodes // 3]
    with GraphStore(MACHINE, cache="64K") as graph:
        near = grapnel.array(pointers, machine=MACHINE) if place == "far" else pointers
        graph.add(near, source.astype("i4") if seed % 2 else source)
        one, two = (sampled(graph, seeds, fanouts, replace, seed) for _ in range(2))
        if place == "far":
            near.close()
    for name in "node", "row", "col", "edge":
        assert torch.equal(getattr(one, name), getattr(two, name)) and getattr(one, name).device.type == DEVICE.type
    node, row, col, edge = (x.cpu().numpy() for x in (one.node, one.row, one.col, one.edge))
    # seeds first, each node once, every edge one of the graph, with the right places
    assert np.array_equal(node[:len(seeds)], seeds) and len(set(node)) == len(node)
    assert np.array_equal(node[row], source[edge])
    assert ((pointers[node[col]] <= edge) & (edge < pointers[node[col] + 1])).all()
    # hop for hop: each node that came new in the hop before has as many edges as it must
    assert len(node) == sum(one.num_sampled_nodes) and len(edge) == sum(one.num_sampled_edges)
    ends, at = np.cumsum([0, *one.num_sampled_nodes]), np.cumsum([0, *one.num_sampled_edges])
    for hop, fanout in enumerate(fanouts):
        came, part = node[ends[hop]:ends[hop + 1]], slice(at[hop], at[hop + 1])
        degree = pointers[came + 1] - pointers[came]
        wanted = degree if fanout == -1 else fanout * (degree > 0) if replace else np.minimum(degree, fanout)
        assert np.array_equal(np.bincount(col[part] - ends[hop], minlength=len(came))[:len(came)], wanted)
        assert (row[part] < ends[hop + 2]).all()
        assert set(range(ends[hop + 1], ends[hop + 2])) <= set(row[part])
    if not replace:
        assert len(set(edge)) == len(edge)


def test_every_neighbour_is_drawn_equally_often():
    """Ten neighbours, of which three are drawn 3000 times: each about 900 times, and each pair about 200 times."""
    with GraphStore(MACHINE) as graph:
        graph.add(np.arange(3001) * 10, np.tile(np.arange(10), 3000))
        for replace in False, True:
            out = sampled(graph, np.arange(3000), [3], replace, seed=5)
            drawn = out.edge.cpu().numpy().reshape(3000, 3) % 10
            assert abs(np.bincount(drawn.ravel(), minlength=10) - 900).max() < 150  # five deviations
            if not replace:
                pairs = np.zeros((10, 10), int)
                for a, b in [(0, 1), (0, 2), (1, 2)]:
                    np.add.at(pairs, (np.minimum(drawn[:, a], drawn[:, b]), np.maximum(drawn[:, a], drawn[:, b])), 1)
                assert abs(pairs[np.triu_indices(10, 1)] - 200).max() < 75
        other = sampled(graph, np.arange(3000), [3], seed=6).edge.cpu().numpy()
        assert not np.array_equal(other, sampled(graph, np.arange(3000), [3], seed=5).edge.cpu().numpy())


def test_seeds_twice_and_later_batches():
    pointers, source = random_graph(2, 50, 300)
    with GraphStore(MACHINE) as graph:
        graph.add(pointers, source)
        out = sampled(graph, [3, 0, 3], [-1])
        assert out.node[:3].tolist() == [3, 0, 3]
        degree = np.diff(pointers)[[3, 0, 3]]
        assert np.array_equal(np.bincount(out.col.cpu(), minlength=3), degree)
        samplers = [NeighborSampler(graph, [1], seed=9) for _ in range(2)]
        batches = [[sampler.sample(torch.arange(50)).edge.tolist() for _ in range(3)] for sampler in samplers]
        assert batches[0] == batches[1] and batches[0][0] != batches[0][1]
        assert len(sampled(graph, [], [2]).node) == 0
        for bad in [50, -1]:
            with pytest.raises(IndexError, match="50 nodes"):
                sampled(graph, [bad], [1])
        with pytest.raises(ValueError, match="num_neighbors"):
            NeighborSampler(graph, [-1], replace=True)
        with pytest.raises(ValueError, match="no edges"):
            NeighborSampler(graph, [1], edge_type=("a", "to", "b"))
        with pytest.raises(NotImplementedError):
            NeighborSampler(graph, [1]).sample_from_nodes(NodeSamplerInput(None, torch.tensor([1]), torch.tensor([1])))


def test_edges_that_are_not_sorted():
    random = np.random.default_rng(4)
    pair = torch.from_numpy(random.integers(0, 40, (2, 150)))
    pair[0, 0] = 45  # a node that is no target
    with GraphStore(MACHINE) as graph, FeatureStore(MACHINE) as features:
        graph.put_edge_index((pair[0], pair[1]), None, "coo")
        features.add("x", np.arange(46))
        batch = next(iter(NodeLoader((features, graph), NeighborSampler(graph, [-1, 2]), torch.arange(46), batch_size=46)))
        ends = torch.stack([batch.n_id[batch.edge_index[0]], batch.n_id[batch.edge_index[1]]]).cpu()
        assert torch.equal(ends, pair[:, batch.e_id.cpu()]) and len(ends[0]) == 150


# ---- loaders ----


def communities(seed, nodes=600, groups=4):
    """Nodes have neighbours of their own group nine times out of ten; features say little of it."""
    random = np.random.default_rng(seed)
    label = random.integers(0, groups, nodes)
    members = [np.flatnonzero(label == group) for group in range(groups)]
    source = np.array([random.choice(members[own] if random.random() < 0.9 else nodes, 8) for own in label]).ravel()
    x = random.standard_normal((nodes, 8)).astype("f4")
    x[np.arange(nodes), label] += 1
    return np.arange(nodes + 1) * 8, source, x, label


class Sage(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(8, 16), SAGEConv(16, 4)

    def forward(self, x, edge_index):
        return self.second(self.first(x, edge_index).relu(), edge_index)


def test_a_training_script(tmp_path):
    """NodeLoader as it is documented: only stores and sampler are Grapnel's."""
    pointers, source, x, label = communities(1)
    np.save(tmp_path / "x.npy", x), np.save(tmp_path / "source.npy", source)
    torch.manual_seed(1)
    with FeatureStore(MACHINE, cache="64K") as features, GraphStore(MACHINE, cache="64K") as graph:
        features.add("x", tmp_path / "x.npy", where="file")
        features.add("y", label)
        graph.add(pointers, tmp_path / "source.npy", where="file")
        data, train, test = (features, graph), torch.arange(400), torch.arange(400, 600)
        loader = NodeLoader(data, NeighborSampler(graph, [5, 5], seed=1), train, batch_size=64, shuffle=True)
        model = Sage().to(DEVICE)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(12):
            for batch in loader:
                assert np.array_equal(batch.x.cpu(), x[batch.n_id.cpu()]) and batch.x.device.type == DEVICE.type
                optimizer.zero_grad()
                out = model(batch.x, batch.edge_index)[:batch.batch_size]
                torch.nn.functional.cross_entropy(out, batch.y[:batch.batch_size]).backward()
                optimizer.step()
        right = 0
        for batch in NodeLoader(data, NeighborSampler(graph, [-1, -1]), test, batch_size=50):
            assert torch.equal(batch.n_id[:batch.batch_size].cpu(), test[batch.input_id])
            out = model(batch.x, batch.edge_index)[:batch.batch_size]
            right += int((out.argmax(1) == batch.y[:batch.batch_size]).sum())
    assert right / len(test) > 0.7, right  # by chance: 0.25


def test_a_link_loader():
    pointers, source, x, _ = communities(2)
    with FeatureStore(MACHINE) as features, GraphStore(MACHINE) as graph:
        features.add("x", x)
        graph.add(pointers, source)
        links = torch.stack([torch.from_numpy(source[::8].copy()), torch.arange(600)])
        for batch in LinkLoader((features, graph), NeighborSampler(graph, [3]), (None, links), neg_sampling_ratio=1.0,
                                batch_size=100):
            assert np.array_equal(batch.x.cpu(), x[batch.n_id.cpu()]) and batch.edge_label_index.shape == (2, 200)
            assert torch.equal(batch.n_id[batch.edge_label_index[:, :100]].cpu(), links[:, batch.input_id])


# ---- the module ----


def test_without_pytorch_geometric():
    program = "import sys; sys.modules['torch_geometric'] = sys.modules['torch_geometric.data'] = None; import grapnel.pyg"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode and "pip install torch torch_geometric" in done.stderr


def test_docstring_of_the_module():
    import doctest

    import grapnel.pyg

    assert doctest.testmod(grapnel.pyg).failed == 0
