#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""vector_search.py - how do I find near vectors among more than the GPU's memory holds?

    python vector_search.py [--machine cuda] [--vectors 20000] [--queries 500] [--plot FILE]

The vectors lie in host memory. A graph that links each to near ones, and a few vectors to begin with, lie with the queries.
All queries walk the graph in lock-step: in each hop each takes the best vectors that it knows, and looks at their
neighbours. The vectors that a hop wants come by one gather, each once and in order, however many queries want it. What is
found is compared with the nearest of all vectors. Where matplotlib is found, a plot shows recall against vectors read.

Expected output, with about these numbers:
    20000 vectors of 128 bytes in host memory; a graph of 32 links each
    beam 16: 9 hops, 134 vectors read a query of 484 compared, recall 0.979
    beam 32: 11 hops, 231 vectors read a query of 782 compared, recall 0.993
    beam 64: 19 hops, 436 vectors read a query of 1325 compared, recall 0.997
"""

import argparse

import torch

import grapnel

WIDTH, LINKS, EXPAND = 128, 32, 4


def draw(clusters, count):
    """Bytes around some centres; the first centres have most of them, and each spreads in a few directions."""
    centre, spread, part = clusters
    of = torch.multinomial(part, count, replacement=True)
    inner = 25 * torch.randn(count, 1, spread.shape[1], device=of.device)
    return (centre[of] + (inner @ spread[of]).squeeze(1)).round().clamp(0, 255).to(torch.uint8)


def nearest(x, rows, count):
    """The numbers of the x that are nearest to each row, by all distances."""
    x = x.float()
    return torch.cat([(x.square().sum(1) - 2 * (part.float() @ x.T)).topk(count, largest=False).indices
                      for part in rows.split(1024)])


def search(table, graph, begin, queries, beam):
    """(queries, 10) row numbers, and how many hops were made, vectors read, and pairs of query and vector compared."""
    ids, vectors = begin
    far, at = (queries[:, None] - vectors[None].float()).square().sum(2).topk(beam, largest=False)
    ids, done, counts = ids[at], torch.zeros_like(at, dtype=torch.bool), [0, 0, 0]
    while True:
        best, at = far.masked_fill(done, torch.inf).topk(EXPAND, largest=False)
        if not best.isfinite().any():
            return ids[:, :10], counts
        done.scatter_(1, at, True)
        wanted = graph[ids.gather(1, at)].masked_fill(best.isinf()[:, :, None], -1).flatten(1).sort(1).values
        new = (wanted >= 0) & ~(wanted[:, :, None] == ids[:, None]).any(2)
        new[:, 1:] &= wanted[:, 1:] != wanted[:, :-1]
        query, place = new.nonzero(as_tuple=True)
        rows, of = torch.unique(wanted[query, place], return_inverse=True)  # each once, in order
        vectors = table.gather(rows).float()
        more = torch.full(wanted.shape, torch.inf, device=far.device)
        more[query, place] = (vectors[of] - queries[query]).square().sum(1)
        far, at = torch.cat([far, more], 1).topk(beam, largest=False)
        ids = torch.cat([ids, wanted], 1).gather(1, at)
        done = torch.cat([done, torch.zeros_like(new)], 1).gather(1, at)
        counts = [counts[0] + 1, counts[1] + len(rows), counts[2] + len(of)]


def plot(path, points):
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    pyplot.plot(*zip(*points), marker="o")
    pyplot.xlabel("vectors compared for a query"), pyplot.ylabel("recall of the 10 nearest"), pyplot.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="Search among vectors in host memory.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--plot", default="vector_search.png", help="the file for the plot")
    options = parser.parse_args()
    if options.machine != "cpu" and not torch.cuda.is_available():
        raise SystemExit("vector_search: PyTorch sees no GPU; leave out --machine")
    torch.manual_seed(1)
    torch.set_default_device(options.machine)
    clusters = (128 + 30 * torch.randn(16, WIDTH), torch.randn(16, 12, WIDTH) / 3, torch.arange(1.0, 17.0) ** -0.7)
    x, queries = draw(clusters, options.vectors), draw(clusters, options.queries)
    # For this few vectors the graph is exact; bench/vector_search.py builds one for a hundred million.
    graph = nearest(x, x, LINKS + 1)[:, 1:]
    true = nearest(x, queries, 10)
    some = torch.randperm(options.vectors)[:256]
    points = []
    with grapnel.array(x, cache=0, machine=options.machine) as table:
        print(f"{options.vectors} vectors of {WIDTH} bytes in host memory; a graph of {LINKS} links each")
        for beam in (16, 32, 64):
            found, (hops, read, compared) = search(table, graph, (some, x[some]), queries.float(), beam)
            recall = (found[:, :, None] == true[:, None]).any(1).float().mean().item()
            points.append((compared / options.queries, recall))
            print(f"beam {beam}: {hops} hops, {read / options.queries:.0f} vectors read a query of "
                  f"{compared / options.queries:.0f} compared, recall {recall:.3f}")
    if recall < 0.95:
        raise SystemExit("vector_search: the search finds too little")
    plot(options.plot, points)


if __name__ == "__main__":
    main()
