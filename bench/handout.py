#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How evenly a pass over all edges of a graph is handed out to warps, by counts: nothing is run, and no time is measured.

    bench/handout.py GRAPH.gng [--warps 8448]

Three ways to hand out are compared: a warp takes a vertex (CSR); batches of vertices, of long lists a chunk now and the others later
(apps/graph/scan.h); equal chunks of edges (Balanced CSR, DREAM's figure 10). For each: the most edges that a warp takes in one go, the
most pages that it reads for a list in one go, and the bytes of what must be kept beside the graph. 8448 warps are 132 multiprocessors of 64.
"""
import argparse

from support.graph import offsets_of

CHUNK = 1024  # GN_SCAN_CHUNK
PAGE = 4096


def batch_for(items, warps, width=32):
    """batch_for of apps/graph/scan.c."""
    share = items // (warps * 8)
    return max(1, min(256, share - share % width if share > width else share))


def pages(begin, end):
    """Of PAGE bytes that elements begin to end - 1, four bytes each, lie in."""
    return (4 * end - 1) // PAGE - 4 * begin // PAGE + 1 if end > begin else 0


def by_vertex(offsets):
    lists = list(zip(offsets, offsets[1:]))
    return max(e - b for b, e in lists), max(pages(b, e) for b, e in lists), 0


def by_scan(offsets, warps):
    """The first launch takes batches of vertices, the second one batches of chunks."""
    lists = list(zip(offsets, offsets[1:]))
    batch = batch_for(len(lists), warps)
    first = [min(e - b, CHUNK) for b, e in lists]
    most = max(sum(first[k:k + batch]) for k in range(0, len(first), batch))
    chunks = [(at, min(at + CHUNK, e)) for b, e in lists for at in range(b + CHUNK, e, CHUNK)]
    together = batch_for(len(chunks), warps)
    most = max([most] + [sum(e - b for b, e in chunks[k:k + together]) for k in range(0, len(chunks), together)])
    read = max(pages(b, e) for b, e in [(b, min(b + CHUNK, e)) for b, e in lists] + chunks)
    return most, read, (offsets[-1] // CHUNK + 1) * 16


def by_equal_chunks(offsets):
    count = -(-offsets[-1] // CHUNK)
    return min(CHUNK, offsets[-1]), pages(0, min(CHUNK, offsets[-1])), count * 4


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph")
    parser.add_argument("--warps", type=int, default=8448)
    args = parser.parse_args()
    offsets = offsets_of(args.graph)
    if not offsets[-1]:
        raise SystemExit(f"{args.graph}: there are no edges to hand out; give another graph")
    share = offsets[-1] / args.warps
    print(f"{args.graph}: {len(offsets) - 1} vertices, {offsets[-1]} edges, {share:.0f} for each of {args.warps} warps")
    print("| handed out | most edges at once | of a warp's share | most pages of a list at once | bytes kept |")
    print("|---|---|---|---|---|")
    rows = [("by vertex", by_vertex(offsets)), ("batches and chunks", by_scan(offsets, args.warps)),
            ("equal chunks", by_equal_chunks(offsets))]
    for name, (edges, most, kept) in rows:
        print(f"| {name} | {edges} | {edges / share:.2f} | {most} | {kept} |")


if __name__ == "__main__":
    main()
