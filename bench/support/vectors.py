# SPDX-License-Identifier: Apache-2.0
"""Vectors of a skewed mixture, a graph of near ones, and a search of many queries in lock-step."""
import math

import torch
import triton
import triton.language as tl

POOL, INNER = 256, 12  # directions that clusters spread in, and how many of them a cluster has


class Mixture:
    """Clusters whose sizes follow a power law; each spreads in INNER directions of its own, as data of few inner dimensions do."""

    def __init__(self, device, count, width, kind, seed=1):
        self.random = torch.Generator(device).manual_seed(seed)
        self.device, self.width, self.kind = device, width, kind
        clusters = max(16, min(2000, count // 5000))
        self.part = torch.arange(1, clusters + 1, device=device, dtype=torch.float32) ** -0.7
        self.centre = 128 + 30 * self.normal(clusters, width)
        self.pool = self.normal(POOL, width) / width**0.5
        self.direction = torch.stack([torch.randperm(POOL, device=device, generator=self.random)[:INNER] for _ in range(clusters)])

    def normal(self, *shape):
        return torch.randn(*shape, device=self.device, generator=self.random)

    def draw(self, count):
        of = torch.multinomial(self.part, count, replacement=True, generator=self.random)
        inner = torch.zeros(count, POOL, device=self.device)
        inner.scatter_(1, self.direction[of], 100 * self.normal(count, INNER))
        x = inner @ self.pool + self.centre[of] + 2 * self.normal(count, self.width)
        return x.round().clamp(0, 255).to(torch.uint8) if self.kind is torch.uint8 else ((x - 128) / 64).to(self.kind)


def leaves_of(count):
    """(leaves, vectors of a leaf): a power of two, and 512 to 1024 vectors or all; together at least count."""
    level = max(0, math.ceil(math.log2(count / 1024)))
    return 1 << level, -(-count >> level)


def split(vectors, rows_at_once):
    """An order of the vectors in which each leaf's follow one another: halves by random directions, again and again."""
    count, device = len(vectors), vectors.device
    leaves, leaf = leaves_of(count)
    order, segments = torch.randperm(count, device=device, dtype=torch.int32), 1
    while segments < leaves:
        size = count // segments
        ends = torch.randint(0, size, (2, segments), device=device) + torch.arange(segments, device=device) * size
        direction = vectors[order[ends[0]]].float() - vectors[order[ends[1]]].float()
        step = leaf << max(0, int(math.log2(rows_at_once / leaf)))
        along = torch.empty(count, device=device)
        for first in range(0, count, step):
            rows = vectors[order[first:first + step]].float()
            last = min(first + step, count)
            of = direction[first // size:(last - 1) // size + 1]
            along[first:last] = torch.bmm(rows.reshape(len(of), -1, rows.shape[1]), of[:, :, None]).reshape(-1)
        for k in range(segments) if size > 1 << 22 else [slice(None)]:
            part = order.view(segments, size)[k]
            part.copy_(part.gather(-1, along.view(segments, size)[k].argsort(dim=-1)))
        segments *= 2
    return order.view(leaves, leaf)


def link_leaf(rows, forward, back):
    """(leaves, leaf, forward + back) places in the leaf: the nearest, and of those to which one is near the nearest."""
    square = rows.square().sum(2)
    far = torch.baddbmm(square[:, None, :] + square[:, :, None], rows, rows.transpose(1, 2), alpha=-2)
    far.diagonal(dim1=1, dim2=2).fill_(torch.inf)
    near = far.topk(forward, largest=False, sorted=False).indices
    if not back:
        return near
    by = torch.full_like(far, torch.inf).scatter_(2, near, far.gather(2, near)).transpose(1, 2)
    by = by.contiguous().scatter_(2, near, torch.inf)  # not those that are linked already
    back_far, back_near = by.topk(back, largest=False, sorted=False)
    spare = torch.randint(0, far.shape[1], back_near.shape, device=rows.device)
    return torch.cat([near, torch.where(back_far.isinf(), spare, back_near)], 2)


def build(vectors, trees=3, links=32, rows_at_once=1 << 18):
    """A graph, (count, up to links) int32: in each tree's leaves exact near ones. Trees differ, so leaves overlap."""
    each = links // trees
    back = each // 3
    forward = each - back
    graph = torch.empty(len(vectors), trees * each, dtype=torch.int32, device=vectors.device)
    for tree in range(trees):
        order = split(vectors, rows_at_once)
        leaf = order.shape[1]
        step = max(1, rows_at_once // leaf)
        for first in range(0, len(order), step):
            ids = order[first:first + step]
            near = link_leaf(vectors[ids.reshape(-1)].float().reshape(*ids.shape, -1), forward, back)
            linked = ids.gather(1, near.reshape(len(ids), -1)).reshape(-1, each)
            graph[ids.reshape(-1), tree * each:(tree + 1) * each] = linked
        del order
    return graph


# ---- distances of pairs of a query and a vector ----

@triton.jit(do_not_specialize=["count"])
def pair_distances(table, row, queries, query, out, count, W: tl.constexpr, COLS: tl.constexpr, PAIRS: tl.constexpr):
    pair = tl.program_id(0).to(tl.int64) * PAIRS + tl.arange(0, PAIRS)
    there = pair < count
    at = tl.load(row + pair, mask=there, other=0).to(tl.int64)
    of = tl.load(query + pair, mask=there, other=0).to(tl.int64)
    total = tl.zeros([PAIRS, COLS], tl.float32)
    for first in range(0, W, COLS):
        col = first + tl.arange(0, COLS)
        x = tl.load(table + at[:, None] * W + col[None, :], mask=there[:, None], other=0).to(tl.float32)
        q = tl.load(queries + of[:, None] * W + col[None, :], mask=there[:, None], other=0)
        total += (x - q) * (x - q)
    tl.store(out + pair, tl.sum(total, axis=1), mask=there)


@triton.jit(do_not_specialize=["count"])
def load_rows(table, row, out, count, W: tl.constexpr, COLS: tl.constexpr, ROWS: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    there = at < count
    of = tl.load(row + at, mask=there, other=0).to(tl.int64)
    for first in range(0, W, COLS):
        col = first + tl.arange(0, COLS)
        x = tl.load(table + of[:, None] * W + col[None, :], mask=there[:, None])
        tl.store(out + at[:, None] * W + col[None, :], x, mask=there[:, None])


def load(table, row, out, kernel=True, shape=(8, 4)):
    """Rows of the table, which the device reaches, to out, by the device's own loads. shape: rows of a block, warps."""
    if not kernel:
        torch.index_select(table, 0, row, out=out)
        return
    width = table.shape[1]
    cols = min(256, width & -width)  # the widest power of two that divides it
    load_rows[(triton.cdiv(len(row), shape[0]),)](table, row, out, len(row), width, cols, shape[0], num_warps=shape[1])


def distances(table, row, queries, query, kernel=True, shape=(8, 4)):
    """Of each pair: from row `row` of the table, which the device reaches, to query `query`. shape: pairs of a block, warps."""
    if not kernel:
        return (table[row].float() - queries[query]).square().sum(1)
    out = torch.empty(len(row), device=queries.device)
    width = queries.shape[1]
    pair_distances[(triton.cdiv(len(row), shape[0]),)](table, row, queries, query, out, len(row), width, 128 if width == 128 else 256,
                                                       shape[0], num_warps=shape[1])
    return out


# ---- search ----

class Pivots:
    """Some vectors that stay near the queries; the nearest of them are where a search begins."""

    def __init__(self, vectors, count):
        self.id = torch.randperm(len(vectors), device=vectors.device)[:count]
        self.vector = vectors[self.id].float()
        self.square = self.vector.square().sum(1)

    def nearest(self, queries, count):
        """Their numbers and distances, the nearest first."""
        found = []
        for q in queries.split(2048):
            near = torch.addmm(self.square, q, self.vector.T, alpha=-2).topk(count, largest=False)
            found.append((near.values + q.square().sum(1, keepdim=True), self.id[near.indices]))
        return torch.cat([far for far, _ in found]), torch.cat([ids for _, ids in found])


class Search:
    """A beam of candidates for each query. In each hop all queries expand some, and the new neighbours' vectors are read at once."""

    def __init__(self, graph, pivots, beam, expand=4, places=16384):
        self.graph, self.pivots, self.beam, self.expand, self.places = graph, pivots, beam, expand, places

    def hash(self, ids):
        return (ids * 0x9E3779B1 >> 7) & (self.places - 1)

    def fresh(self, ids):
        """Pairs of query and vector that are not remembered, and remembers them. Some may be forgotten: then they come again."""
        place = self.hash(ids)
        new = (self.seen.gather(1, place) != ids) & (ids >= 0)
        self.seen.scatter_(1, torch.where(ids >= 0, place, self.places), ids.int())
        return new

    def merge(self, far, ids):
        """The best of the beam and of these; each vector once."""
        ids, far = torch.cat([self.id, ids], 1), torch.cat([self.far, far], 1)
        done = torch.cat([self.done, torch.zeros_like(ids[:, self.id.shape[1]:], dtype=torch.bool)], 1)
        ids, at = (ids * 2 + ~done).sort(1)  # of two that are equal one that was expanded comes first
        far, done, ids = far.gather(1, at), done.gather(1, at), ids >> 1
        far[:, 1:].masked_fill_(ids[:, 1:] == ids[:, :-1], torch.inf)
        self.far, at = far.topk(self.beam, largest=False)
        self.id, self.done = ids.gather(1, at), done.gather(1, at)

    def hop(self, queries, measure):
        """False: no query has anything to expand."""
        open_far, at = self.far.masked_fill(self.done, torch.inf).topk(self.expand, largest=False)
        self.done.scatter_(1, at, True)
        ids = self.graph[self.id.gather(1, at)].long()  # (queries, expand, links)
        ids = ids.masked_fill_(open_far.isinf()[:, :, None], -1).flatten(1)
        new = self.fresh(ids)
        query, place = new.nonzero(as_tuple=True)
        if not len(query):
            return bool((~open_far.isinf()).any())
        far = torch.full(ids.shape, torch.inf, device=ids.device)
        far[query, place] = measure(ids[query, place], queries, query)
        self.pairs += len(query)
        self.merge(far, ids.masked_fill(~new, -1))
        return True

    def run(self, queries, measure, hops=1000):
        """(queries, 10) numbers of near vectors. measure(rows, queries, query): the distances of pairs."""
        self.seen = torch.full((len(queries), self.places + 1), -1, dtype=torch.int32, device=queries.device)
        self.far, self.id = self.pivots.nearest(queries, self.beam)
        self.done, self.pairs, self.hops = torch.zeros_like(self.id, dtype=torch.bool), 0, 0
        self.fresh(self.id)
        while self.hops < hops and self.hop(queries, measure):
            self.hops += 1
        return self.id[:, :10]


def exact(vectors, queries, rows_at_once=1 << 19):
    """The numbers of the 10 nearest of each query, by all distances; vectors of the host come in pieces."""
    far = torch.full((len(queries), 10), torch.inf, dtype=torch.float64, device=queries.device)
    ids = torch.zeros(len(queries), 10, dtype=torch.long, device=queries.device)
    for first in range(0, len(vectors), rows_at_once):
        x = vectors[first:first + rows_at_once].to(queries.device, non_blocking=True).float()
        near = torch.addmm(x.square().sum(1), queries, x.T, alpha=-2).topk(min(32, len(x)), largest=False).indices
        true = (x[near].double() - queries.double()[:, None]).square().sum(2)  # the product may be rounded; these are not
        far, at = torch.cat([far, true], 1).topk(10, largest=False)
        ids = torch.cat([ids, near + first], 1).gather(1, at)
    return ids


def recall(found, true):
    """The part of the true ones that were found."""
    return float((found[:, :, None] == true[:, None, :]).any(1).float().mean())
