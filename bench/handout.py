#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How evenly a pass over all edges of a graph is handed out to warps, by counts: nothing is run, and no time is measured.

    bench/handout.py GRAPH.gng [--warps 8448] [--chunk 4096]

Three ways to hand out are compared: a warp takes a vertex (CSR); batches of vertices, of long lists a chunk now and the others later
(--layout csr of the jobs, apps/graph/scan.h); equal chunks of edges (--layout balanced, DREAM's Balanced CSR, figure 10). For each:

* the most edges that a warp takes in one go, and how much that is of an equal share of all;
* the most pages that it reads for a list in one go, and the bytes of what must be kept beside the graph;
* warp steps: rounds in which each lane has an edge or none, and looks at vertices;
* max/mean of the edges, and of the steps, of a warp, if the warp that has least to do takes what comes next.

8448 warps are 132 multiprocessors of 64.
"""
import argparse
import heapq

from support.graph import offsets_of

CHUNK = 1024  # GN_SCAN_CHUNK
PAGE = 4096
WIDTH = 32


def batch_for(items, warps):
    """batch_for of apps/graph/scan.c."""
    share = items // (warps * 8)
    return max(1, min(256, share - share % WIDTH if share > WIDTH else share))


def chunk_batch_for(chunks, warps):
    """chunk_batch_for of apps/graph/scan.c."""
    return max(1, min(8, chunks // (warps * 8)))


def pages(begin, end):
    """Of PAGE bytes that elements begin to end - 1, four bytes each, lie in."""
    return (4 * end - 1) // PAGE - 4 * begin // PAGE + 1 if end > begin else 0


def steps_of(parts):
    """gn_scan_visit_items: as many vertices as lanes at once; one list alone goes by whole lines, several side by side."""
    steps = 0
    for k in range(0, len(parts), WIDTH):
        some = [p for p in parts[k:k + WIDTH] if p[0] < p[1]]
        steps += 1  # offsets, and what the job asks of each vertex
        if len(some) == 1:
            begin, end = some[0]
            steps += (end - begin // WIDTH * WIDTH + WIDTH - 1) // WIDTH
        elif some:
            steps += (sum(e - b for b, e in some) + WIDTH - 1) // WIDTH
    return steps


class Handing:
    """Launches, one after the other; in each a warp takes (edges, steps) until nothing is left."""

    def __init__(self, name, kept):
        self.name, self.kept, self.launches, self.most_pages = name, kept, [], 0

    def launch(self, takes):
        """A take is a list of parts (begin, end) of lists."""
        self.launches.append([(sum(e - b for b, e in parts), steps_of(parts)) for parts in takes])
        self.most_pages = max([self.most_pages] + [pages(b, e) for parts in takes for b, e in parts])

    def row(self, warps, share):
        edges, slowest, total = [0] * warps, 0, 0
        for takes in self.launches:
            free = [(0, k) for k in range(warps)]
            for count, steps in takes:
                busy, k = heapq.heappop(free)
                edges[k] += count
                heapq.heappush(free, (busy + steps, k))
            slowest += max(busy for busy, _ in free)
            total += sum(busy for busy, _ in free)
        most = max(count for takes in self.launches for count, _ in takes)
        return (f"| {self.name} | {most} | {most / share:.2f} | {self.most_pages} | {self.kept} | {total} "
                f"| {max(edges) / share:.2f} | {slowest / (total / warps):.2f} |")


def grouped(items, batch):
    return [items[k:k + batch] for k in range(0, len(items), batch)]


def by_vertex(lists):
    handing = Handing("by vertex", 0)
    handing.launch([[part] for part in lists])
    return handing


def by_scan(lists, edges, warps):
    """The first launch takes batches of vertices, the second one batches of chunks."""
    handing = Handing("batches and chunks", (edges // CHUNK + 1) * 16)
    handing.launch(grouped([(b, min(b + CHUNK, e)) for b, e in lists], batch_for(len(lists), warps)))
    chunks = [(at, min(at + CHUNK, e)) for b, e in lists for at in range(b + CHUNK, e, CHUNK)]
    if chunks:
        handing.launch(grouped(chunks, chunk_batch_for(len(chunks), warps)))
    return handing


def by_equal_chunks(offsets, chunk, warps):
    """gn_scan_enter: the vertices from the one whose list reaches into the chunk to the last that begins in it."""
    edges, vertices, takes, v = offsets[-1], len(offsets) - 1, [], 0
    for begin in range(0, edges, chunk):
        end = min(begin + chunk, edges)
        while v and offsets[v] > begin:
            v -= 1
        while v + 1 < vertices and offsets[v + 1] <= begin:
            v += 1
        parts = []
        while v < vertices and offsets[v] < end:
            parts.append((max(offsets[v], begin), min(offsets[v + 1], end)))
            v += 1
        v -= 1
        takes.append(parts)
    handing = Handing(f"equal chunks of {chunk}", (len(takes) + 1) * 4)
    handing.launch([sum(some, []) for some in grouped(takes, chunk_batch_for(len(takes), warps))])
    return handing


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--warps", type=int, default=8448)
    parser.add_argument("--chunk", type=int, default=4096, help="bytes of equal chunks, four an edge (default 4096)")
    args = parser.parse_args()
    offsets = offsets_of(args.graph)
    if not offsets[-1]:
        raise SystemExit(f"{args.graph}: there are no edges to hand out; give another graph")
    lists = list(zip(offsets, offsets[1:]))
    share = offsets[-1] / args.warps
    print(f"{args.graph}: {len(lists)} vertices, {offsets[-1]} edges, {share:.0f} for each of {args.warps} warps")
    print("| handed out | most edges at once | of a warp's share | most pages of a list at once | bytes kept | warp steps "
          "| edges of a warp, max/mean | steps of a warp, max/mean |")
    print("|---|---|---|---|---|---|---|---|")
    for handing in (by_vertex(lists), by_scan(lists, offsets[-1], args.warps),
                    by_equal_chunks(offsets, args.chunk // 4, args.warps)):
        print(handing.row(args.warps, share))


if __name__ == "__main__":
    main()
