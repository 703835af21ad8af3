#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do the features that a sampler of neighbours asks for come at the rate of the link?

Rows of 512 bytes and of 1 KiB in pinned host memory; of each row a node of a graph whose degrees follow a power law. A batch is the
neighbourhood of 1024 nodes that are drawn anew, as grapnel.pyg and others ask for it: each node once, in the order in which they came.
`Array.gather` without a cache, and with one of a tenth of the table that earlier batches have used, is compared with a Triton kernel
that reads the rows by the GPU's own loads (the fastest of several shapes) on the same batches, and with the link: the faster of a copy
by the engine and one by a kernel of pinned memory in a row. Where NVIDIA's WholeGraph is installed, its gather is measured on the same
batches, from a table of its own in host memory, which needs room for a second one. Every number that comes is compared with what it
must be.

    bench/pyg_features.py [--data SIZE] [--dry] [--json OUT]

It needs the wheel with CUDA, PyTorch with CUDA, and Triton, and takes less than a minute. --dry only shows that it runs, and
keeps nothing: on the processor, with a small table, and PyTorch's index_select in the place of Triton.
"""
import sys
import time

from support import report

SEEDS = 1024
BATCHES = 9  # the first is not measured
WARMING = 24
FANOUTS = ([15, 10], [10, 10, 5])
ROUND = 65521  # a prime; numbers below it are exact as float32

try:
    import grapnel
    import torch
    import triton
    import triton.language as tl
    from support import known, whole_graph
    from support.uva import load_rows
except ImportError as missing:
    print(f"{missing}; install the wheel (./run wheel), PyTorch and Triton", file=sys.stderr)
    sys.exit(report.SKIP)


@triton.jit
def load_all(table, out, N: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)
    tl.store(out + at, tl.load(table + at))


# ---- the graph and what is asked for ----


def power_law(nodes, device):
    """Where each node's edges begin, and their ends. Degrees: 3 or more, exponent 2.5; an end is a node as often as it has edges."""
    u = torch.rand(nodes, device=device, dtype=torch.float64)
    degree = (3 * (1 - u) ** (-1 / 1.5)).clamp_(max=nodes // 4).long()
    pointers = torch.zeros(nodes + 1, dtype=torch.int64, device=device)
    torch.cumsum(degree, 0, out=pointers[1:])
    owner = torch.repeat_interleave(torch.arange(nodes, dtype=torch.int32, device=device), degree)
    return pointers, owner[torch.randint(0, len(owner), (len(owner),), device=device)]


def shuffled(numbers):
    return numbers[torch.randperm(len(numbers), device=numbers.device)]


def neighbourhood(graph, fanouts):
    """The nodes of a batch: seeds, then those that come new hop by hop."""
    pointers, ends = graph
    device, count = pointers.device, len(pointers) - 1
    nodes = frontier = shuffled(torch.randint(0, count, (SEEDS,), device=device).unique())
    seen = torch.zeros(count, dtype=torch.bool, device=device)
    seen[nodes] = True
    for fanout in fanouts:
        begin, degree = pointers[frontier], pointers[frontier + 1] - pointers[frontier]
        drawn = torch.rand(len(frontier), fanout, device=device, dtype=torch.float64) * degree[:, None]
        near = ends[(begin[:, None] + drawn.long()).view(-1)].long()
        frontier = shuffled(near[~seen[near]].unique())
        seen[frontier] = True
        nodes = torch.cat([nodes, frontier])
    return nodes


# ---- measuring ----


def rate(call, batches, row_bytes, device):
    """GB/s of rows, the median over batches of which each is asked for once."""
    call(batches[0])
    return known.median([len(batch) * row_bytes / known.seconds(device, call, batch) / 1e9 for batch in batches[1:]])


def link(table, device):
    """GB/s of memory in a row, by the copy engine and by a kernel."""
    flat = table.view(-1)[:1 << 28]  # 1 GiB at most
    to = torch.empty(len(flat), device=device)
    calls = {"copy": [lambda: to.copy_(flat, non_blocking=True)]}
    if device != "cpu":
        calls["kernel"] = [lambda n=n, w=w: load_all[(len(flat) // n,)](flat, to, n, num_warps=w)
                           for n in (1024, 4096) for w in (4, 8)]
    return {name: max(len(flat) * 4 / known.median([known.seconds(device, call) for _ in range(6)][1:]) / 1e9 for call in shapes)
            for name, shapes in calls.items()}


def loads(table, out, device):
    """Calls that fetch rows by the GPU's own loads, one for each shape of the kernel."""
    width = table.shape[1]
    if device == "cpu":
        return [lambda i: torch.index_select(table, 0, i, out=out[:len(i)])]
    return [lambda i, r=r, w=w: load_rows[(triton.cdiv(len(i), r),)](table, i, out, len(i), width, r, num_warps=w)
            for r in (1, 2, 4, 8) for w in (1, 2, 4)]


def wrong_numbers(array, batches, out):
    wrong = 0
    for batch in batches[:4]:
        got = out[:len(batch)].fill_(-1)
        array.gather(batch, out=got)
        wrong += int((got != known.rows(batch, out.shape[1], ROUND)).sum())
    return wrong


def by_whole_graph(row, theirs, batches, row_bytes, device):
    """Its gather, which makes the tensor that it returns; theirs: its table."""
    row["whole_graph"] = rate(theirs.gather, batches, row_bytes, device)
    row["whole_graph_wrong"] = sum(int((theirs.gather(batch) != known.rows(batch, row_bytes // 4, ROUND)).sum())
                                   for batch in batches[:4])


def compare(store, graph, table, cached, device, theirs):
    """Rows of one size: a result for each list of fanouts. theirs: a table of WholeGraph's with the same rows, or None."""
    row_bytes, results = table.shape[1] * 4, []
    with grapnel.Array(store, torch.float32, table.shape) as plain:
        for fanouts in FANOUTS:
            batches = [neighbourhood(graph, fanouts) for _ in range(BATCHES)]
            out = torch.empty(max(map(len, batches)), table.shape[1], device=device)
            row = {"row_bytes": row_bytes, "fanouts": fanouts, "rows": known.median(list(map(len, batches)))}
            row["no_cache"] = rate(lambda i: plain.gather(i, out=out[:len(i)]), batches, row_bytes, device)
            row["triton"] = max(rate(call, batches, row_bytes, device) for call in loads(table, out, device))
            for _ in range(1 if device == "cpu" else WARMING):
                nodes = neighbourhood(graph, fanouts)[:len(out)]
                cached.gather(nodes, out=out[:len(nodes)])
            row["cache_of_a_tenth"] = rate(lambda i: cached.gather(i, out=out[:len(i)]), batches, row_bytes, device)
            if theirs is not None:
                by_whole_graph(row, theirs, batches, row_bytes, device)
            row["wrong"] = wrong_numbers(plain, batches, out) + wrong_numbers(cached, batches, out)
            results.append(row)
            print("  ", row)
        plain.synchronize(), cached.synchronize()
    return results


def main():
    p = report.parser(__doc__)
    p.add_argument("--data", help="bytes of the table (default 16G, with --dry 64M)")
    p.add_argument("--dry", action="store_true", help="run on the processor, only to see that it runs")
    args = p.parse_args()
    if not args.dry and not torch.cuda.is_available():
        print("PyTorch sees no GPU", file=sys.stderr)
        return report.SKIP
    device = "cpu" if args.dry else "cuda"
    size = grapnel._library.parse_size(args.data or ("64M" if args.dry else "16G")) >> 20 << 20
    torch.manual_seed(1)
    began = time.perf_counter()
    other = None if whole_graph.missing() else whole_graph.WholeGraph()
    if other is None:
        print(f"  left out: {whole_graph.missing()}")
    result = {"gpu": "none" if args.dry else torch.cuda.get_device_name(), "torch": torch.__version__, "data": size,
              "cache": size // 10, "seeds": SEEDS, "gathers": []}
    with grapnel.Store(f"host:{size}", machine=device) as store:
        for row_bytes in (512, 1024):
            table = store.tensor(torch.float32, (size // row_bytes, row_bytes // 4))
            known.fill(table, device, ROUND)
            graph = power_law(len(table), device)
            if "link_gb_per_second" not in result:
                result["link_gb_per_second"] = link(table, device)
            with grapnel.Cache(store, size // 10, page=row_bytes) as cache, \
                    grapnel.Array(store, torch.float32, table.shape, cache=cache) as cached:
                theirs = None if other is None else other.table(table)
                result["gathers"] += compare(store, graph, table, cached, device, theirs)
                if other is not None:
                    other.drop(theirs)
            del table, graph
    if other is not None:
        other.end()
    result["seconds"] = time.perf_counter() - began
    most, claims = max(result["link_gb_per_second"].values()), []
    wrong = sum(row["wrong"] for row in result["gathers"])
    print(f"  link: {most:.2f} GB/s; all took {result['seconds']:.0f} s; wrong numbers: {wrong}")
    if args.dry:
        return int(wrong > 0)
    for row in result["gathers"]:
        for how in ("no_cache", "cache_of_a_tenth"):
            claims.append((f"{row['rows']} rows of {row['row_bytes']} bytes, {how.replace('_', ' ')}, of the link", row[how] / most, 0.9,
                           True))
    if other is not None:
        claims.append(("numbers of WholeGraph's that were not what they should be",
                       sum(row["whole_graph_wrong"] for row in result["gathers"]), 0, False))
    claims.append(("numbers that were not what they should be", wrong, 0, False))
    return report.save(args, "pyg-features", result, claims)


if __name__ == "__main__":
    sys.exit(main())
