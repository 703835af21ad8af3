# SPDX-License-Identifier: Apache-2.0
"""Grapnel for PyTorch Geometric: features and edges far away, and a sampler of neighbours that reads them there.

    >>> import grapnel.pyg, torch
    >>> from torch_geometric.loader import NodeLoader
    >>> features, graph = grapnel.pyg.FeatureStore(), grapnel.pyg.GraphStore()
    >>> features.add("x", torch.arange(8.0).reshape(4, 2))
    >>> graph.add(torch.tensor([0, 2, 3, 3, 4]), torch.tensor([1, 2, 0, 3]))
    >>> loader = NodeLoader((features, graph), grapnel.pyg.NeighborSampler(graph, [2]), torch.tensor([0]))
    >>> next(iter(loader)).x[0]
    tensor([0., 1.])
    >>> features.close(), graph.close()
    (None, None)

With ``machine="cuda"`` sampling and fetching run on that GPU, and the batches of the loader are there. Samplers and
stores do not survive a fork: give the loader no workers (num_workers=0).
"""

from __future__ import annotations

from typing import Any

try:
    import torch
    import torch_geometric.data as data
    from torch_geometric.data.graph_store import EdgeAttr, EdgeLayout
    from torch_geometric.sampler import BaseSampler, SamplerOutput
    from torch_geometric.sampler.neighbor_sampler import edge_sample
except ImportError as why:
    raise ImportError(f"grapnel.pyg needs PyTorch and PyTorch Geometric ({why}); install them: "
                      "pip install torch torch_geometric") from why

from ._array import Array, is_tensor
from ._files import load
from ._objects import Machine

__all__ = ["FeatureStore", "GraphStore", "NeighborSampler", "load"]


class _Far:
    """How a store makes its arrays, and which of them it has to close."""

    def __init__(self, machine: "str | Machine", cache: "int | str | None", where: str, options: dict):
        self.machine = Machine.shared(machine)
        self.device = torch.device(self.machine.name)
        self._how = {"machine": self.machine, "cache": cache, "where": where, **options}
        self._own: set[Array] = set()

    def make(self, source: Any, **how: Any) -> Array:
        if not isinstance(source, Array):
            array = load(source, **{**self._how, **how})
            self._own.add(array)
            return array
        if how:
            raise ValueError(f"{', '.join(how)}: the source is an Array, which has its type and place")
        if source.machine is not self.machine:
            raise ValueError(f"{source!r} is on another machine than {self.machine.name}; open both on one")
        return source

    def drop(self, array: Any) -> None:
        if array in self._own:
            array.close()
            self._own.discard(array)

    def close(self) -> None:
        for array in list(self._own):
            self.drop(array)


class _Closing:
    """Stores are closed, or used in a with statement."""

    _far: _Far

    def close(self) -> None:
        """Close the arrays that the store has made; those that it was given stay open."""
        self._far.close()
        self._forget()

    def __enter__(self):
        return self

    def __exit__(self, *why: Any) -> None:
        self.close()


class FeatureStore(_Closing, data.FeatureStore):
    """torch_geometric's FeatureStore over Arrays.

    Args:
        machine: of the arrays: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` or a Machine.
        cache: bytes of fast memory for each array, such as ``"64M"``; None: as for grapnel.open().
        where: ``"host"``: what is added is copied to host memory; ``"file"``: files are read where they are.
        options: of the caches.
    """

    def __init__(self, machine: "str | Machine" = "cpu", cache: "int | str | None" = "64M", where: str = "host",
                 **options: Any):
        super().__init__()
        self._far = _Far(machine, cache, where, options)
        self._arrays: dict[tuple, Array] = {}

    def add(self, name: str, source: Any, group: Any = None, **how: Any) -> None:
        """Add the features of all nodes of a type: an Array, NumPy array, tensor or file.

        Args:
            name: of the attribute of the batches, such as ``"x"``.
            source: what grapnel.pyg.load() takes, or an Array, which stays the caller's.
            group: the type of the nodes; None in a graph that has one.
            how: of load(): dtype, shape, columns, and where, cache and others for this one.
        """
        if (group, name) in self._arrays:
            raise ValueError(f"there are features {name!r} of {group!r} already; remove them first")
        self._arrays[group, name] = self._far.make(source, **how)

    def array(self, name: str, group: Any = None) -> Array:
        """The Array of these features."""
        return self._arrays[group, name]

    def _forget(self) -> None:
        self._arrays.clear()

    def _put_tensor(self, tensor: Any, attr: data.TensorAttr) -> bool:
        array = self._arrays.get((attr.group_name, attr.attr_name))
        if array is not None:
            rows = torch.as_tensor(tensor).to(array.torch_dtype)
            index = _numbers(attr.index, len(array)).to(rows.device)
            array.scatter(index, rows.expand(index.shape + array.row_shape).contiguous())
        elif attr.index is None or isinstance(attr.index, slice) and attr.index == slice(None):
            self.add(attr.attr_name, tensor, attr.group_name)
        else:
            return False
        return True

    def _get_tensor(self, attr: data.TensorAttr) -> Any:
        array = self._arrays.get((attr.group_name, attr.attr_name))
        if array is None:
            raise KeyError(f"there are no features {attr.attr_name!r} of {attr.group_name!r}")
        if isinstance(attr.index, torch.Tensor):
            return _rows(array, _numbers(attr.index, len(array)))
        index = slice(None) if attr.index is None else attr.index
        rows = array[index]
        return rows if hasattr(index, "__array__") else torch.as_tensor(rows)

    def _remove_tensor(self, attr: data.TensorAttr) -> bool:
        array = self._arrays.pop((attr.group_name, attr.attr_name), None)
        self._far.drop(array)
        return array is not None

    def _get_tensor_size(self, attr: data.TensorAttr) -> "tuple[int, ...] | None":
        array = self._arrays.get((attr.group_name, attr.attr_name))
        return None if array is None else array.shape

    def get_all_tensor_attrs(self) -> list:
        return [self._tensor_attr_cls(group, name) for group, name in self._arrays]


def _numbers(index: Any, count: int) -> torch.Tensor:
    """Row numbers, int64."""
    if index is None or isinstance(index, slice):
        return torch.arange(count)[slice(None) if index is None else index]
    index = torch.as_tensor(index)
    return (index.nonzero().view(-1) if index.dtype is torch.bool else index.to(torch.int64)).contiguous()


def _rows(array: Array, index: torch.Tensor) -> torch.Tensor:
    """Rows on the device of index, wherever the array is."""
    if index.device.type != "cpu" and index.device.index != array.machine.device_index:
        return array.gather(index.cpu()).to(index.device)
    return array.gather(index)


class GraphStore(_Closing, data.GraphStore):
    """torch_geometric's GraphStore: pointers in the machine's memory, the edges in Arrays.

    Args:
        machine, cache, where, options: as for FeatureStore.
    """

    def __init__(self, machine: "str | Machine" = "cpu", cache: "int | str | None" = "64M", where: str = "host",
                 **options: Any):
        super().__init__()
        self._far = _Far(machine, cache, where, options)
        self.device = self._far.device
        self._edges: dict[tuple, tuple] = {}

    def add(self, pointers: Any, neighbors: Any, layout: str = "csc", edge_type: Any = None,
            size: "tuple[int, int] | None" = None, **how: Any) -> None:
        """Add edges, sorted by one of their ends.

        Args:
            pointers: where the edges of each node begin, and the end of the last: a tensor, NumPy array or file,
                which is copied to the machine's memory; an Array stays where it is.
            neighbors: the other ends: what load() takes, or an Array, which stays the caller's.
            layout: ``"csc"``: pointers of targets, neighbors are sources, which is what samplers follow;
                ``"csr"``: the other way round.
            edge_type: None in a graph that has one.
            size: numbers of sources and targets; None: as many as there are pointers, of both.
            how: of load(), for neighbors.
        """
        if layout not in ("csc", "csr"):
            raise ValueError(f"layout {layout!r} has no pointers; give 'csc' or 'csr', or use put_edge_index()")
        if not isinstance(pointers, Array):
            pointers = _near(pointers, self.device)
        size = size or (len(pointers) - 1,) * 2
        far = self._far.make(neighbors, **how)
        if str(far.dtype).removeprefix("torch.") not in ("int32", "int64"):
            self._far.drop(far)
            raise TypeError(f"the neighbors are of type {far.dtype}; give int32 or int64")
        attr = self._edge_attr_cls(edge_type, layout, size=tuple(size))
        if int(pointers[-1]) != len(far):
            self._far.drop(far)
            raise ValueError(f"the last pointer is {int(pointers[-1])}, but there are {len(far)} neighbors")
        self._put((far, pointers) if layout == "csc" else (pointers, far), attr)

    def _put(self, pair: tuple, attr: EdgeAttr) -> None:
        self._remove_edge_index(attr)
        self._edges[attr.edge_type, attr.layout] = (attr, pair)

    def edges(self, layout: str = "csc", edge_type: Any = None) -> "tuple[Any, Any] | None":
        """Rows and columns as they are kept: Arrays, and tensors for pointers; None: not of that layout."""
        found = self._edges.get((edge_type, EdgeLayout(layout)))
        return found and found[1]

    def _forget(self) -> None:
        self._edges.clear()

    def _put_edge_index(self, edge_index: Any, edge_attr: EdgeAttr) -> bool:
        row, col = edge_index
        if edge_attr.layout is EdgeLayout.COO:
            self._put((self._far.make(row), self._far.make(col)), edge_attr)
        elif edge_attr.layout is EdgeLayout.CSC:
            self.add(col, row, "csc", edge_attr.edge_type, edge_attr.size)
        else:
            self.add(row, col, "csr", edge_attr.edge_type, edge_attr.size)
        return True

    def _get_edge_index(self, edge_attr: EdgeAttr) -> "tuple[torch.Tensor, torch.Tensor] | None":
        pair = self.edges(edge_attr.layout, edge_attr.edge_type)
        return pair and tuple(torch.as_tensor(x[:]).cpu() if isinstance(x, Array) else x.cpu() for x in pair)

    def _remove_edge_index(self, edge_attr: EdgeAttr) -> bool:
        found = self._edges.pop((edge_attr.edge_type, edge_attr.layout), None)
        for part in found[1] if found else ():
            if isinstance(part, Array):
                self._far.drop(part)
        return found is not None

    def get_all_edge_attrs(self) -> list:
        return [attr for attr, _ in self._edges.values()]


def _near(source: Any, device: torch.device) -> torch.Tensor:
    """A tensor of int64 on a device."""
    if not is_tensor(source):
        with load(source, cache="1M") as array:
            source = torch.as_tensor(array[:])
    return source.to(device, torch.int64).contiguous()


class NeighborSampler(BaseSampler):
    """Samples neighbours for NodeLoader and LinkLoader, on the machine of the graph: one gather of edges a hop.

    Args:
        graph: a GraphStore. Without the layout ``"csc"`` the edges are sorted once, in host memory.
        num_neighbors: of each node, for each hop; -1: all.
        replace: may a node have the same neighbour twice?
        seed: samplers with equal seeds draw the same, batch after batch.
        edge_type: which edges, in a graph with several types; there is one type of nodes in what is sampled.
    """

    def __init__(self, graph: GraphStore, num_neighbors: "list[int]", replace: bool = False, seed: int = 0,
                 edge_type: Any = None):
        if any(count < -1 for count in num_neighbors) or replace and -1 in num_neighbors:
            raise ValueError(f"num_neighbors {num_neighbors} is not possible; give numbers from 0 on for each hop, or -1 "
                             "for all, without replace")
        self.graph, self.num_neighbors, self.replace = graph, list(num_neighbors), replace
        self.device = graph.device
        self._permutation: torch.Tensor | None = None
        self._own: GraphStore | None = None
        if graph.edges("csc", edge_type) is None:
            self._sort(edge_type)
        self._neighbors, self._pointers = (self._own or graph).edges("csc", edge_type)
        self._random = torch.Generator(self.device).manual_seed(seed)

    def _sort(self, edge_type: Any) -> None:
        found = [attr for attr in self.graph.get_all_edge_attrs() if attr.edge_type == edge_type]
        if not found:
            raise ValueError(f"{self.graph!r} has no edges of type {edge_type!r}; add() some")
        row, pointers, order = self.graph._edge_to_layout(found[0], EdgeLayout.CSC)
        nodes = max(found[0].size) if found[0].size else int(row.max()) + 1
        if nodes >= len(pointers):  # the last nodes are no targets
            pointers = torch.cat([pointers, pointers[-1:].expand(nodes + 1 - len(pointers))])
        self._own = GraphStore(self.graph._far.machine)
        self._own.add(pointers, row, edge_type=edge_type, size=found[0].size)
        self._permutation = None if order is None else order.to(self.device)

    @property
    def edge_permutation(self) -> "torch.Tensor | None":
        return self._permutation

    # ---- what loaders call ----

    def sample_from_nodes(self, index: Any, **arguments: Any) -> SamplerOutput:
        if index.time is not None or index.input_type is not None:
            raise NotImplementedError("times and several types of nodes are not sampled; use NeighborSampler of "
                                      "torch_geometric for them")
        output = self.sample(index.node)
        output.metadata = (index.input_id, index.time)
        return output

    def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> SamplerOutput:
        if index.time is not None or index.input_type is not None:
            raise NotImplementedError("times and several types of nodes are not sampled; use NeighborSampler of "
                                      "torch_geometric for them")
        return edge_sample(index, lambda seed, _: self.sample(seed), len(self._pointers) - 1, False, None, neg_sampling)

    def sample(self, seeds: torch.Tensor) -> SamplerOutput:
        """The neighbourhood of these nodes, which are the first of the result."""
        nodes = frontier = seeds.to(self.device, torch.int64)
        first = 0
        rows, cols, edges, node_counts, edge_counts = [], [], [], [len(nodes)], []
        for count in self.num_neighbors:
            edge, target = self._draw(frontier, count)
            neighbors = self._neighbors.gather(edge).to(torch.int64)
            local, frontier = _relabel(nodes, neighbors)
            rows.append(local), cols.append(target + first), edges.append(edge)
            first = len(nodes)
            nodes = torch.cat([nodes, frontier])
            node_counts.append(len(frontier)), edge_counts.append(len(edge))
        empty = [nodes.new_empty(0)]
        return SamplerOutput(node=nodes, row=torch.cat(rows + empty), col=torch.cat(cols + empty),
                             edge=torch.cat(edges + empty), batch=None, num_sampled_nodes=node_counts,
                             num_sampled_edges=edge_counts)

    # ---- a hop ----

    def _draw(self, nodes: torch.Tensor, count: int) -> "tuple[torch.Tensor, torch.Tensor]":
        """Numbers of edges of these nodes, and for each edge the place of its node."""
        begin, degree = self._ranges(nodes)
        if count == -1:
            place = torch.repeat_interleave(degree)
            before = degree.cumsum(0) - degree
            return begin[place] + torch.arange(len(place), device=self.device) - before[place], place
        if self.replace:
            chosen = self._below(degree[:, None].expand(-1, count))
            there = (degree > 0)[:, None].expand(-1, count)
        else:
            chosen = self._choose(degree, count)
            there = torch.arange(count, device=self.device) < degree[:, None]
        place = torch.arange(len(nodes), device=self.device)[:, None].expand(-1, count)[there]
        return (begin[:, None] + chosen)[there], place

    def _ranges(self, nodes: torch.Tensor) -> "tuple[torch.Tensor, torch.Tensor]":
        count = len(self._pointers) - 1
        if bool(((nodes < 0) | (nodes >= count)).any()):  # kernels of PyTorch would break the process's use of the GPU
            raise IndexError(f"a seed, or a neighbor in the graph, is none of the {count} nodes")
        both = torch.stack([nodes, nodes + 1])
        begin, end = (self._pointers.gather(both) if isinstance(self._pointers, Array) else self._pointers[both]).long()
        return begin, end - begin

    def _below(self, bound: torch.Tensor) -> torch.Tensor:
        """Random numbers from 0 to bound - 1."""
        drawn = torch.rand(bound.shape, generator=self._random, device=self.device, dtype=torch.float64) * bound
        return torch.minimum(drawn.long(), bound - 1)

    def _choose(self, degree: torch.Tensor, count: int) -> torch.Tensor:
        """Different numbers below degree: all where there are at most count, else each set equally often.

        R. W. Floyd's method: of the numbers up to `last` one is drawn; if it was drawn before, `last` is taken.
        """
        chosen = torch.arange(count, device=self.device).repeat(len(degree), 1)
        many = degree > count
        for k in range(count):
            last = (degree - count + k).clamp_(min=0)
            drawn = self._below(last + 1)
            taken = (chosen[:, :k] == drawn[:, None]).any(1)
            chosen[:, k] = torch.where(many, torch.where(taken, last, drawn), k)
        return chosen


def _relabel(nodes: torch.Tensor, neighbors: torch.Tensor) -> "tuple[torch.Tensor, torch.Tensor]":
    """Places of neighbors in nodes, and the nodes that come new at its end, in the order in which they came."""
    every = torch.cat([nodes, neighbors])
    different, which = torch.unique(every, return_inverse=True)
    first = torch.full_like(different, len(every))
    first.scatter_reduce_(0, which, torch.arange(len(every), device=every.device), "amin")
    place = first[which]
    came = (torch.arange(len(every), device=every.device) == place) & (place >= len(nodes))
    rank = came.cumsum(0) + (len(nodes) - 1)
    return torch.where(place < len(nodes), place, rank[place])[len(nodes):], every[came]
