#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does the Python package cost a call, and how do its lookups compare with the same by PyTorch and Triton?

A table of rows of 256 bytes in pinned host memory, a cache of a tenth of it on the GPU, row numbers drawn uniformly or by Zipf's
law over the whole table. Beside `Array.gather` and `EmbeddingBag`: a Triton kernel that reads the rows by the GPU's own loads
(UVA), of which the fastest of several shapes counts, and torch.index_select on the processor with a copy. No call sees a batch that
was seen before. Every result of ours is compared with the rows as they must be, and one of each shape and way beside it.

The times are those of a call on an idle GPU, in which what the host does for the launch counts on both sides. Claims of rows
compare means. `in_graph` has the same of a CUDA graph with one gather, for both sides: there the host only launches the graph.
It has no claim.

    bench/python_rows.py [--data SIZE] [--json OUT]

It needs the wheel with CUDA, PyTorch with CUDA, and Triton.
"""
import functools
import sys
import time

from support import place, report

WIDTH = 64  # float32: 256 bytes
BATCHES = 16
BAG = 32
ROUND = 65521  # a prime; sums of a bag of numbers below it are exact as float32

try:
    import grapnel
    import grapnel.torch
    import torch
    import triton
    import triton.language as tl
    from support import known
    from support.known import median
    from support.uva import load_rows
except ImportError as missing:
    print(f"{missing}; install the wheel (./run wheel), PyTorch and Triton", file=sys.stderr)
    sys.exit(report.SKIP)


rows_as_they_must_be = functools.partial(known.rows, width=WIDTH, prime=ROUND)
draw = functools.partial(known.draw, device="cuda")


@triton.jit
def load_bags(table, index, out, W: tl.constexpr, N: tl.constexpr):
    bag = tl.program_id(0).to(tl.int64)
    col = tl.arange(0, W)
    at = tl.load(index + bag * N + tl.arange(0, N))
    rows = tl.load(table + at[:, None] * W + col[None, :])
    tl.store(out + bag * W + col, tl.sum(rows, axis=0))


def seconds(call, batches):
    """Of a call, the times over batches that were not drawn before; on the stream's clock."""
    call(batches[0])
    return [known.seconds("cuda", call, batch) for batch in batches[1:]]


def mean(took):
    return sum(took) / len(took)


def wrong_rows(call, out, batch):
    """How many numbers are wrong of what a call puts into out."""
    out.fill_(-1)
    call(batch)
    return int((out != rows_as_they_must_be(batch)).sum())


def least(calls, batches):
    """The least median and the least mean of calls; fresh batches for each. batches: a function that draws them."""
    took = [seconds(call, batches()) for call in calls]
    return min(map(median, took)), min(map(mean, took))


def host_microseconds(array):
    """What a call keeps the host's thread busy, when the GPU is not waited for."""
    index, out = torch.zeros(1, dtype=torch.int64, device="cuda"), torch.empty(1, WIDTH, device="cuda")
    took = []
    for _ in range(50):
        torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(20):
            array.gather(index, out=out)
        took.append((time.perf_counter() - began) / 20 * 1e6)
    torch.cuda.synchronize()
    return sorted(took)[25]


def uva_rows(table, out):
    shapes = [(rows, warps) for rows in (1, 2, 4, 8, 16) for warps in (1, 2, 4)]
    return [lambda i, r=r, w=w: load_rows[(triton.cdiv(i.numel(), r),)](table, i, out, i.numel(), WIDTH, r, num_warps=w)
            for r, w in shapes]


def lookups(array, table, law, count):
    def fresh(many=BATCHES):
        return [draw(law, count, len(table)) for _ in range(many)]

    def ours(index):
        array.gather(index, out=out)

    def processor(index):
        out.copy_(torch.index_select(table, 0, index.cpu()))

    out = torch.empty(count, WIDTH, device="cuda")
    many = 4 * BATCHES if count <= 8192 else BATCHES  # of both sides: a mean of few is chance
    took, others = seconds(ours, fresh(many)), uva_rows(table, out)
    row = {"law": law, "lookups": count, "ours": median(took), "ours_mean": mean(took)}
    row["wrong"] = sum(wrong_rows(ours, out, batch) for batch in fresh())
    row["others_wrong"] = sum(wrong_rows(call, out, fresh(1)[0]) for call in [*others, processor])
    row["uva"], row["uva_mean"] = least(others, lambda: fresh(many))
    row["processor"] = median(seconds(processor, fresh()))
    return row


def replay_seconds(where, call, index, out, batches):
    """Of a graph with one call, the times over batches that its index tensor takes in turn; and how many numbers were wrong."""
    call(index)
    graph, took, wrong = where.graph(lambda: call(index)), [], 0
    for batch in batches:
        index.copy_(batch)
        out.fill_(-1)
        took.append(known.seconds("cuda", graph.replay))
        wrong += int((out != rows_as_they_must_be(batch)).sum())
    return took[1:], wrong


def in_graph(where, array, table, law, count):
    def fresh(many):
        return [draw(law, count, len(table)) for _ in range(many)]

    index, out = draw(law, count, len(table)), torch.empty(count, WIDTH, device="cuda")
    took, wrong = replay_seconds(where, lambda i: array.gather(i, out=out), index, out, fresh(4 * BATCHES))
    row = {"law": law, "lookups": count, "ours": median(took), "ours_mean": mean(took), "wrong": wrong}
    others = [replay_seconds(where, call, index, out, fresh(2 * BATCHES)) for call in uva_rows(table, out)]
    row["uva"], row["uva_mean"] = min(median(took) for took, _ in others), min(mean(took) for took, _ in others)
    row["others_wrong"] = sum(wrong for _, wrong in others)
    return row


def bags(array, table, law, count):
    def fresh(many=BATCHES):
        return [draw(law, count * BAG, len(table)).reshape(count, BAG) for _ in range(many)]

    module = grapnel.torch.EmbeddingBag(array, mode="sum")
    out = torch.empty(count, WIDTH, device="cuda")
    def wrong(sums, batch):
        return int((sums != rows_as_they_must_be(batch).sum(1)).sum())

    def processor(index):
        return torch.nn.functional.embedding_bag(index.cpu(), table, mode="sum").cuda()

    def uva(index, warps):
        load_bags[(count,)](table, index, out, WIDTH, BAG, num_warps=warps)
        return out

    others = [lambda i, w=w: uva(i, w) for w in (1, 2, 4, 8)]
    row = {"law": law, "bags": count, "ours": median(seconds(module, fresh()))}
    row["wrong"] = sum(wrong(module(batch), batch) for batch in fresh())
    row["others_wrong"] = sum(wrong(call(batch), batch) for call in [*others, processor] for batch in fresh(1))
    row["uva"], _ = least(others, fresh)
    row["processor"] = median(seconds(processor, fresh(4)))
    return row


def replays(array, table, count):
    """A gather in a CUDA graph, replayed over batches that the graph's index tensor takes in turn."""
    index, out = draw("zipf", count, len(table)), torch.empty(count, WIDTH, device="cuda")
    array.gather(index, out=out)
    graph, wrong = torch.cuda.CUDAGraph(), 0
    with torch.cuda.graph(graph):
        array.gather(index, out=out)
    for _ in range(200):
        index.copy_(draw("zipf", count, len(table)))
        graph.replay()
        wrong += int((out != rows_as_they_must_be(index)).sum())
    array.synchronize()
    return {"replays": 200, "lookups": count, "wrong": wrong}


def warm(array, table, law):
    out = torch.empty(1 << 20, WIDTH, device="cuda")
    for _ in range(200):
        array.gather(draw(law, 1 << 20, len(table)), out=out)


def main():
    p = report.parser(__doc__)
    p.add_argument("--data", default="32G", help="bytes of the table (default 32G)")
    args = p.parse_args()
    where, began = place.Place("cuda"), time.perf_counter()
    size = grapnel._library.parse_size(args.data)
    torch.manual_seed(1)
    result = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "data": size, "cache": size // 10, "lookups": [],
              "bags": [], "in_graph": []}
    with grapnel.Store(f"host:{size}", machine="cuda") as store:
        table = store.tensor(torch.float32, (size // (4 * WIDTH), WIDTH))
        known.fill(table, "cuda", ROUND)
        with grapnel.Cache(store, size // 10) as cache, \
                grapnel.Array(store, torch.float32, table.shape, cache=cache) as array:
            result["host_microseconds"] = host_microseconds(array)
            for law in ("uniform", "zipf"):
                warm(array, table, law)
                for count in (32, 256, 1024, 8192, 131072):
                    result["lookups"].append(lookups(array, table, law, count))
                    print("  ", result["lookups"][-1])
                for count in (32, 256, 1024, 8192):
                    result["in_graph"].append(in_graph(where, array, table, law, count))
                    print("   in a graph:", result["in_graph"][-1])
                result["bags"].append(bags(array, table, law, 4096))
                print("  ", result["bags"][-1])
            result["graph"] = replays(array, table, 8192)
            print("  ", result["graph"])
        del table
    result["seconds"] = time.perf_counter() - began
    print(f"   all took {result['seconds']:.0f} s")
    claims = [("us of the host a call", result["host_microseconds"], 10, False)]
    for row in result["lookups"]:
        bound = {8192: 4}.get(row["lookups"], 1 if row["lookups"] < 8192 else None)
        if bound:
            name = f"{row['lookups']} rows of 256 bytes, {row['law']}, times Triton's loads"
            claims.append((name, row["uva"] / row["ours"], bound, True))
            claims.append((name + ", means", row["uva_mean"] / row["ours_mean"], bound, True))
    for row in result["bags"]:
        claims.append((f"EmbeddingBag, {row['law']}, times Triton's loads", row["uva"] / row["ours"],
                       {"uniform": 3, "zipf": 10}[row["law"]], True))
    rows = result["lookups"] + result["bags"] + result["in_graph"]
    claims.append(("numbers that were not what they should be", sum(row["wrong"] for row in rows + [result["graph"]]), 0, False))
    claims.append(("the same of what ours is compared with", sum(row["others_wrong"] for row in rows), 0, False))
    return report.save(args, "python-rows", result, claims)


if __name__ == "__main__":
    sys.exit(main())
