#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a search among vectors in host memory gain from one ordered gather a hop, beside plain loads of the same vectors?

Vectors of a seeded, skewed mixture lie in pinned host memory: bytes of width 128 (5 times is the claim), and float16 of width 768
(1.8 times). Their graph, 30 links a vector, lies in the GPU's memory. It is built here, and knows nothing of how the mixture was
drawn: three trees of halves by random directions, in their leaves exact near neighbours and links back. 10 000 queries of the same
mixture walk it in lock-step with a beam each; the beam is the narrowest whose recall of the 10 nearest is 0.96 for some queries
of one batch. The recall that is claimed is that of queries of another batch; the nearest of both are found by all distances. One
and the same search, in PyTorch, measures its pairs of query and vector

* grapnel: the vectors that a hop wants, each once and in order, come by one `Array.gather`; no cache;
* plain loads: a Triton kernel reads the vectors of the pairs from host memory as they come, the fastest of several shapes;
* plain loads in order: the same, with pairs sorted by vector before;
* plain loads, each once: the vectors that a hop wants, each once and in order as for grapnel, come by a Triton kernel that copies
  them to the same memory, the fastest of several shapes;
* near: all vectors lie in the GPU's memory, where that has room for them.

No vector is kept from hop to hop: nothing of the win over plain loads is due to a cache of grapnel. The order is what plain loads
in order win as well: equal vectors follow one another, so that the GPU's own caches may have the second. What plain loads, each once
win beyond that is that nothing comes twice. Only the rest is grapnel's. The claim is about plain loads as they come; the last line
of each kind of vectors compares with the fastest plain way, and has no bound.

Where faiss is installed, it searches on all cores of the processor beside these: by lists of vectors and by its own graph, each at
the least effort whose recall of the 10 nearest is 0.95. Its indices take minutes to build and keep the vectors a second time, so it
has the first vectors alone, 1 million of bytes and 0.5 million of float16, which makes its work smaller. --faiss N gives it others, and
`--kinds u8 --u8 4000000 --faiss 4000000` compares all on the same vectors.

    bench/vector_search.py [--machine cuda|cpu] [--kinds u8,f16] [--u8 50000000] [--f16 16000000] [--full] [--faiss N] [--json OUT]

It needs the wheel with CUDA, PyTorch with CUDA, and Triton. --full takes 100 million and 40 million vectors: give one kind in each
run, because 40 million of float16 take 62 GB of host memory and 73 GB of the GPU's. What has no room is refused before anything is
made. --machine cpu tries it with few, without Triton.
"""
import gc
import sys
import time

from support import place, report

try:
    import grapnel
    import torch
    from support import on_processor
    from support.vectors import Mixture, Pivots, Search, build, distances, exact, leaves_of, load, recall
except ImportError as missing:
    print(f"{missing}; install the wheel (./run wheel), PyTorch and Triton", file=sys.stderr)
    sys.exit(report.SKIP)

SHAPES = {"u8": (torch.uint8, 128, 5), "f16": (torch.float16, 768, 1.8)}  # of a vector, and the claim
BEAMS = (32, 48, 64, 96, 128, 192, 256, 384)
LOADS = [(2, 1), (4, 1), (8, 1), (16, 1), (4, 4), (8, 4), (16, 4), (32, 4)]  # pairs, or vectors, of a block and its warps
PLAIN = ("plain loads", "plain loads in order", "plain loads, each once")
DRAWN = 1 << 18


def say(began, what):
    print(f"  {time.perf_counter() - began:6.1f} s  {what}", flush=True)


class Ways:
    """The distances of a hop's pairs by each way. far: the tensor over host memory; near: the same in the GPU's memory."""

    def __init__(self, where, array, far, near, width, most):
        self.kernel, self.array, self.far, self.near, self.width = where.cuda, array, far, near, width
        self.rows = torch.empty(most, *array.row_shape, dtype=array.torch_dtype, device=where.device)
        self.shape, self.shape_once, self.moved, self.wrong, self.checks = (8, 4), (8, 4), 0, 0, False

    def fetched(self, fetch, row, queries, query):
        """The vectors come each once and in order, by fetch(numbers, where to)."""
        wanted, place_of = torch.unique(row, return_inverse=True)  # sorted
        rows = self.rows[:len(wanted)]
        fetch(wanted, rows)
        rows = rows.view(self.far.dtype)
        if self.checks:
            self.wrong += int((rows != self.near[wanted]).sum())
        return wanted, distances(rows, place_of, queries, query, self.kernel)

    def grapnel(self, row, queries, query):
        wanted, far = self.fetched(lambda wanted, rows: self.array.gather(wanted, out=rows), row, queries, query)
        self.moved += len(wanted)
        return far

    def load(self, wanted, rows):
        load(self.far.view(rows.dtype), wanted, rows, self.kernel, self.shape_once)

    def once(self, row, queries, query):
        return self.fetched(self.load, row, queries, query)[1]

    def plain(self, row, queries, query):
        return distances(self.far, row, queries, query, self.kernel, self.shape)

    def ordered(self, row, queries, query):
        row, at = row.sort()
        far = self.plain(row, queries, query[at])
        return torch.empty_like(far).scatter_(0, at, far)

    def close(self, row, queries, query):
        return distances(self.near, row, queries, query, self.kernel)

    def tune(self, where, queries, count):
        """The fastest shape of plain loads, for pairs as a hop has them."""
        row = torch.randint(0, len(self.far), (count,), device=where.device)
        query = torch.arange(count, device=where.device) % len(queries)
        took = {}
        for self.shape in LOADS if where.cuda else [(8, 4)]:
            self.plain(row, queries, query)
            took[self.shape] = where.seconds(lambda: self.plain(row, queries, query), 3)
        self.shape = min(took, key=took.get)
        return took[self.shape]

    def tune_once(self, where, count):
        """The same of plain loads, each once."""
        wanted = torch.randint(0, len(self.far), (count,), device=where.device).unique()
        took = {}
        for self.shape_once in LOADS if where.cuda else [(8, 4)]:
            self.load(wanted, self.rows[:len(wanted)])
            took[self.shape_once] = where.seconds(lambda: self.load(wanted, self.rows[:len(wanted)]), 3)
        self.shape_once = min(took, key=took.get)


def draw(where, mixture, count, far, near):
    for first in range(0, count, DRAWN):
        near[first:first + DRAWN] = mixture.draw(min(DRAWN, count - first))
        far[first:first + DRAWN].copy_(near[first:first + DRAWN])


def narrowest(search, queries, true, measure, least):
    tried = []
    for search.beam in BEAMS:
        tried.append({"beam": search.beam, "recall": recall(search.run(queries, measure), true)})
        if tried[-1]["recall"] >= least:
            break
    return tried


def measure_way(where, search, way, batches, true):
    """Seconds of a batch and what it did, and recall of the second batch's first queries; the first chose the beam."""
    found = search.run(batches[1], way)
    row = {"recall": recall(found[:len(true)], true), "pairs": search.pairs, "hops": search.hops}
    took = [where.seconds(lambda batch=batch: search.run(batch, way)) for batch in batches[1:]]
    return {"seconds": sorted(took)[len(took) // 2], **row}


def search_all(where, args, array, far, near, kind, began):
    count, width = far.shape
    dtype = SHAPES[kind][0]
    mixture = Mixture(where.device, count, width, dtype)
    draw(where, mixture, count, far, near)
    batches = [mixture.draw(args.queries).float() for _ in range(1 + args.runs)]
    where.wait()
    say(began, f"{count} vectors of {width} {kind} are drawn, {far.nbytes / 1e9:.1f} GB")
    result = {"kind": kind, "vectors": count, "queries": args.queries}

    def make():
        result["graph"] = build(near, args.trees, rows_at_once=DRAWN if where.cuda else 1 << 14)

    result["build_seconds"] = where.seconds(make)
    graph = result.pop("graph")
    if where.cuda:
        torch.cuda.empty_cache()
    say(began, f"the graph is built, in {result['build_seconds']:.1f} s")
    sample = batches[0][:args.sample]
    chosen_by, true = (exact(far if args.streamed else near, batch[:args.sample]) for batch in batches[:2])
    search = Search(graph, Pivots(near, min(32768, count // 64)), BEAMS[0], args.expand)
    ways = Ways(where, array, far, near, width, args.queries * search.expand * graph.shape[1])
    result["tried"] = narrowest(search, sample, chosen_by, ways.close, 0.96)
    say(began, f"beams and recall: {[(t['beam'], round(t['recall'], 4)) for t in result['tried']]}")
    result["plain_pairs_seconds"] = ways.tune(where, batches[0], len(ways.rows) // 4)
    ways.tune_once(where, len(ways.rows) // 4)
    ways.checks = True
    search.run(batches[0], ways.once)
    result["plain_wrong"], ways.wrong = ways.wrong, 0
    search.run(batches[0], ways.grapnel)
    ways.checks, ways.moved = False, 0
    for name, way in [("near", ways.close), ("grapnel", ways.grapnel),
                      *zip(PLAIN, (ways.plain, ways.ordered, ways.once))]:
        row = result[name] = measure_way(where, search, way, batches, true)
        say(began, f"{name:22} {1e3 * row['seconds']:9.2f} ms for {args.queries} queries, {row['hops']} hops, "
                   f"{row['pairs'] / args.queries:.0f} vectors a query, recall {row['recall']:.4f}")
    array.synchronize()
    result.update(beam=search.beam, expand=search.expand, trees=args.trees, links=graph.shape[1], wrong=ways.wrong,
                  plain_shape=ways.shape, once_shape=ways.shape_once, moved_each_batch=ways.moved / len(batches))
    say(began, f"vectors moved for a batch: {result['moved_each_batch']:.0f}, each once a hop")
    fastest = min(PLAIN, key=lambda name: result[name]["seconds"])
    result.update(fastest_plain=fastest, times_fastest_plain=result[fastest]["seconds"] / result["grapnel"]["seconds"])
    say(began, f"grapnel: {result['times_fastest_plain']:.3f} times the fastest plain way ({fastest}); this has no bound")
    return result, batches[1]


def beside(args, far, kind, batch, result, say_here):
    """faiss, on the first vectors."""
    count = min(len(far), args.faiss[kind])
    why = on_processor.missing() if count else "--faiss 0 was given"
    if why:
        say_here(f"left out: faiss on the processor: {why}")
        return
    true = exact(far[:count], batch[:args.sample])
    result["faiss"] = on_processor.compare(far[:count], batch, true, say_here)


def has_room(where, args, count, size, links=32):
    """Does all of it fit? Says what does not."""
    per_hop = args.queries * args.expand * links
    wanted = {"host": count * size + (4 << 30),
              # the vectors, their graph, a hop's vectors and pairs, what each query has seen, and what building takes
              "GPU": count * (size + 4 * links) + per_hop * (size + 64) + args.queries * 70_000 + (4 << 30)}
    free = {"GPU": where.free_bytes()}
    with open("/proc/meminfo") as info:
        free["host"] = next(int(line.split()[1]) << 10 for line in info if line.startswith("MemAvailable"))
    lacking = [f"the {what} has {free[what] / 1e9:.1f} GB free and {wanted[what] / 1e9:.1f} are needed" for what in free
               if where.cuda and wanted[what] > free[what]]
    for why in lacking:
        print(f"  no room for {count} vectors of {size} bytes: {why}; give fewer", file=sys.stderr)
    return not lacking


def one(where, machine, args, kind, began):
    dtype, width, _ = SHAPES[kind]
    leaves, leaf = leaves_of(args.count[kind])
    count, size = leaves * leaf, dtype.itemsize * width
    if not has_room(where, args, count, size):
        sys.exit(report.SKIP)
    near = torch.empty(count, width, dtype=dtype, device=where.device)
    with grapnel.Store(f"host:{count * size}", machine=machine) as store:
        say(began, f"host memory for {count} vectors is there")
        # bytes are moved as words
        word, words = (torch.int64, width // 8) if dtype is torch.uint8 else (dtype, width)
        with grapnel.Array(store, word, (count, words)) as array:
            far = store.tensor(dtype, (count, width))
            result, batch = search_all(where, args, array, far, near, kind, began)
            beside(args, far, kind, batch, result, lambda what: say(began, what))
            del far
            gc.collect()
    return result


def claims_of(results, gpu):
    claims = []
    for r in results:
        what = f"{r['vectors']} vectors of {r['kind']}"
        claims += [(f"{what}: recall of the 10 nearest", r["grapnel"]["recall"], 0.95, True),
                   (f"{what}: numbers of vectors that were not what they should be", r["wrong"] + r["plain_wrong"], 0, False)]
        if gpu:
            claims += [(f"{what}: times plain loads", r["plain loads"]["seconds"] / r["grapnel"]["seconds"], SHAPES[r["kind"]][2],
                        True), (f"{what}: seconds to build the graph", r["build_seconds"], 60, False)]
    return claims


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda", help="cuda, or cpu for a trial")
    p.add_argument("--kinds", default="u8,f16")
    p.add_argument("--u8", type=int, help="vectors of 128 bytes (default 50 million)")
    p.add_argument("--f16", type=int, help="vectors of 768 float16 (default 16 million)")
    p.add_argument("--full", action="store_true", help="100 and 40 million vectors")
    p.add_argument("--faiss", type=int, help="vectors that faiss has (default 1 million of u8, 0.5 million of f16; 0: without)")
    p.add_argument("--queries", type=int, help="of a batch (default 10000)")
    p.add_argument("--trees", type=int, default=3, help="of the graph's making (default 3)")
    p.add_argument("--expand", type=int, default=4, help="vectors of a beam whose neighbours a hop reads (default 4)")
    p.add_argument("--sample", type=int, default=500, help="queries whose nearest are found by all distances")
    p.add_argument("--streamed", action="store_true", help="these distances from host memory, not from the copy in the GPU's")
    args = p.parse_args()
    where = place.Place(args.machine)
    default = ({"u8": 100_000_000, "f16": 40_000_000} if args.full else {"u8": 50_000_000, "f16": 16_000_000}) \
        if where.cuda else {"u8": 20_000, "f16": 6_000}
    args.count = {kind: getattr(args, kind) or default[kind] for kind in default}
    args.faiss = dict.fromkeys(SHAPES, args.faiss) if args.faiss is not None else {"u8": 1_000_000, "f16": 500_000}
    args.queries = args.queries or (10_000 if where.cuda else 200)
    torch.manual_seed(1)
    if where.cuda:
        torch.set_float32_matmul_precision("high")  # TF32: its numbers have the 11 bits that bytes and float16 have
    began, results = time.perf_counter(), []
    with grapnel.Machine(args.machine, batch=1 << 21, streams=2) as machine:
        for kind in args.kinds.split(","):
            results.append(one(where, machine, args, kind, began))
            if where.cuda:
                torch.cuda.empty_cache()
    result = {"gpu": where.name, "torch": torch.__version__, "results": results}
    return report.save(args, "vector-search", result, claims_of(results, where.cuda))


if __name__ == "__main__":
    sys.exit(main())
