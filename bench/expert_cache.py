#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a mixture of experts whose weights lie in host memory run as fast as the link brings what is missing?

Shapes of a model of 30 billion weights: 128 experts a layer, 8 chosen for a token, hidden 2048, inner 768, bfloat16; an
expert (gate, up, down) is an item of 9.4 MB. 24 of its 48 layers, so that host memory holds the experts twice over: 29 GB.
40 % of the experts have room on the GPU. Which experts are chosen is a synthetic trace with the reuse of published ones, 45 % at
the next token and 80 % within eight; of a batch of several tokens these follow one another, as when guesses are checked. A
layer's experts are known only when the layer before it has ended, as in a model; attention is left out. Compared are

* slots: one CUDA graph holds all layers (resolve, fill, experts by slot, where hits are worked on while misses come), and
  is replayed with the next step's routing;
* host LRU: a list on the host that is as long, cudaMemcpyAsync of what is missing from the same pinned memory on a
  stream of its own, one wait a layer to read the routing, the same kernels in CUDA graphs of a layer each, hits meanwhile;
* host LRU, told before: the same, but the routing of all layers is read at once when the step begins, which no model
  can offer: copies then run ahead of the layers;
* streaming: every expert that a layer needs is copied, every time; and every layer whole: what it costs to copy all
  128 experts of each layer, without any work on them.

* managed memory: the kernels read all experts by one address, and pages of those that are not on the GPU come when they are touched;
* managed memory, prefetched: one wait a layer to read the routing, and cudaMemPrefetchAsync of the experts that are missing.

Never is more managed memory allocated than the GPU has free, so the driver never evicts. What stays on the GPU is the same 40 % by
a list on the host: between two steps, while no clock runs, the oldest experts go back to host memory. No program gets that for
nothing, so managed memory appears better here than it is. Where the GPU has no room for all experts, it is left out.

All results are compared bit by bit with those of streaming, and some with PyTorch's own operators on the weights.

    bench/expert_cache.py [--machine cuda|cpu] [--layers 24] [--tokens 1,4] [--steps 200] [--json OUT]

It needs the wheel with CUDA, PyTorch with CUDA, and Triton. --machine cpu tries it with tiny experts.
"""
import collections
import gc
import sys
import time

from support import place, report

try:
    import grapnel
    import numpy
    import torch
    from support import managed
    from support.experts import ALL, CHOSEN, EXPERTS, HITS, MISSES, Layers, draw_trace, plain_layer, reuse
except ImportError as missing:
    print(f"{missing}; install the wheel (./run wheel), PyTorch and Triton", file=sys.stderr)
    sys.exit(report.SKIP)


WAYS = ("slots", "host LRU", "host LRU, told before", "streaming", "managed memory", "managed memory, prefetched")


class Trace:
    """What each step brings: its tokens, the experts of each layer as numbers of items, and their shares."""

    def __init__(self, where, layers, tokens, steps, hidden):
        random = numpy.random.default_rng(tokens)
        traces = [draw_trace(random, steps * tokens) for _ in range(layers)]
        self.reuse = reuse(traces[0])
        items = numpy.stack([trace.reshape(steps, -1) + EXPERTS * k for k, trace in enumerate(traces)], axis=1)
        self.items = torch.from_numpy(items).to(where.device)  # (steps, layers, pairs)
        self.share = torch.rand(items.shape, device=where.device) / CHOSEN
        self.x = torch.randn(steps, tokens, hidden, device=where.device).bfloat16()


class Step:
    """What all ways share: the tensors that a step's graph reads, and the kernels."""

    keeps = True  # experts for later steps

    def __init__(self, where, trace, shape):
        self.where, self.trace = where, trace
        self.layers = Layers(where.device, trace.x.shape[1], shape[1], shape[2])
        self.items, self.share = trace.items[0].clone(), trace.share[0].clone()

    def begin(self, step):
        self.items.copy_(self.trace.items[step])
        self.share.copy_(self.trace.share[step])
        self.layers.x.copy_(self.trace.x[step])


class InSlots(Step):
    def __init__(self, where, trace, slots):
        super().__init__(where, trace, slots.item_shape)
        self.slots, self.side = slots, where.stream()
        self.slot = torch.zeros_like(self.items, dtype=torch.int32)
        self.missed = torch.zeros_like(self.items, dtype=torch.uint8)
        self.all_layers()
        where.wait()
        self.graph = where.graph(self.all_layers)

    def all_layers(self):
        for k in range(len(self.items)):
            slot, missed = self.slot[k], self.missed[k]
            self.slots.resolve(self.items[k], out=slot, missed=missed)
            self.where.follow(self.side)
            with self.where.on(self.side):
                self.layers.experts(self.slots.slab, slot, missed, HITS)
            self.slots.fill()
            self.layers.experts(self.slots.slab, slot, missed, MISSES)
            self.where.join(self.side)
            self.layers.combine(self.share[k])

    def run(self, step):
        self.begin(step)
        self.graph.replay()

    def counted(self):
        return self.slots.stats()["fetched"]

    def host_microseconds(self):
        """None: the host has no part in a layer."""


class OnHost(Step):
    """What a program does without slots."""

    def __init__(self, where, trace, weights, slab):
        super().__init__(where, trace, slab.shape[1:])
        self.slab, self.copies = slab, where.stream()
        self.fetched, self.item, self.place = 0, weights.unbind(0), slab.unbind(0)
        self.host_seconds, self.layers_begun = 0.0, 0
        self.routing = where.pinned(*self.items.shape, dtype=torch.int64)
        self.upload = where.pinned(len(self.items), 2, self.items.shape[1], dtype=torch.int32)
        self.numbers = self.upload.to(where.device)  # of each layer: slot and missed of each pair
        if len(slab) < self.items.numel() + self.items.shape[1]:
            sys.exit("the slots have no room for what two steps use; give fewer layers or tokens")
        for k in range(len(self.items)):
            for which in (HITS, MISSES, ALL):
                self.work(k, which)
        where.wait()
        self.graphs = [{which: where.graph(lambda k=k, which=which: self.work(k, which)) for which in (HITS, MISSES, ALL)}
                       for k in range(len(self.items))]

    def become(self, keeps, told):
        """keeps: an LRU, else nothing stays. told: the routing of all layers is read at once."""
        self.keeps, self.told = keeps, told
        self.forget()
        return self

    def forget(self):
        self.slot_of, self.free = collections.OrderedDict(), list(range(len(self.slab)))

    def work(self, k, which):
        self.layers.experts(self.slab, self.numbers[k, 0], self.numbers[k, 1], which)
        if which != HITS:
            self.layers.combine(self.share[k])

    def find(self, items):
        """Slots for the items of a layer, and the copies that bring them. The oldest leave; none of them is of this step."""
        slot_of, missing = self.slot_of, []
        for item in dict.fromkeys(items):  # all hits become the youngest before a miss takes the place of the oldest
            if item in slot_of:
                slot_of.move_to_end(item)
            else:
                missing.append(item)
        if missing:
            with self.where.on(self.copies):
                for item in missing:
                    slot_of[item] = slot = self.free.pop() if self.free else slot_of.popitem(last=False)[1]
                    self.place[slot].copy_(self.item[item], non_blocking=True)
        self.fetched += len(missing)
        return missing

    def layer(self, k, items):
        if not self.keeps:
            self.forget()
        missing = self.find(items)
        self.upload[k].numpy()[:] = [[self.slot_of[item] for item in items], [item in missing for item in items]]
        self.numbers[k].copy_(self.upload[k], non_blocking=True)
        if not missing:
            self.graphs[k][ALL].replay()
            return
        if len(missing) < len(set(items)):
            self.graphs[k][HITS].replay()
        self.where.join(self.copies)
        self.graphs[k][MISSES].replay()

    def read(self, routing, items):
        """What the GPU chose; waits for it, and so for the layers before."""
        routing.copy_(items, non_blocking=True)
        if self.where.cuda:
            torch.cuda.current_stream().synchronize()
        return routing.tolist()

    def run(self, step):
        self.begin(step)
        if self.told:
            told = self.read(self.routing, self.items)
        for k in range(len(self.items)):
            items = told[k] if self.told else self.read(self.routing[k], self.items[k])
            began = time.perf_counter()
            self.layer(k, items)
            self.host_seconds += time.perf_counter() - began
            self.layers_begun += 1

    def counted(self):
        return self.fetched

    def host_microseconds(self):
        """Of a layer: what the host finds out and gives to the GPU, since the last call; without the wait for the routing."""
        took, self.host_seconds = self.host_seconds, 0.0
        count, self.layers_begun = self.layers_begun, 0
        return 1e6 * took / count if count else 0.0


class InManaged(Step):
    """All experts in managed memory; so many of them stay on the GPU as the slots hold."""

    def __init__(self, where, trace, weights, slots, prefetches):
        super().__init__(where, trace, weights.shape[1:])
        self.memory = managed.Managed(where, weights.shape, weights.dtype)
        self.slots, self.prefetches = slots, prefetches
        self.near, self.fetched, self.host_seconds = collections.OrderedDict(), 0, 0.0
        for first in range(0, len(weights), EXPERTS):
            part = self.memory.tensor[first:first + EXPERTS]
            part.copy_(weights[first:first + EXPERTS])
            self.memory.move(part, False)
        self.slot = self.items.int()
        self.missed = torch.zeros_like(self.items, dtype=torch.uint8)
        for k in range(len(self.items)):
            self.work(k)
        where.wait()
        self.graphs = [where.graph(lambda k=k: self.work(k)) for k in range(len(self.items))]
        self.routing = where.pinned(*self.items.shape, dtype=torch.int64)
        self.note(self.items.tolist())

    def work(self, k):
        self.layers.experts(self.memory.tensor, self.slot[k], self.missed[k], ALL)
        self.layers.combine(self.share[k])

    def note(self, layers):
        """These were used: they are on the GPU now, and the oldest go back. No clock runs."""
        for item in dict.fromkeys(sum(layers, [])):
            self.near[item] = True
            self.near.move_to_end(item)
        while len(self.near) > self.slots:
            oldest = self.near.popitem(last=False)[0]
            self.memory.move(self.memory.tensor[oldest], False)
        self.where.wait()

    def run(self, step):
        """Seconds of the step."""
        layers = self.trace.items[step].tolist()
        self.fetched += len(set(sum(layers, [])) - set(self.near))
        self.where.wait()
        began = time.perf_counter()
        self.begin(step)
        self.slot.copy_(self.items)
        for k, graph in enumerate(self.graphs):
            if self.prefetches:
                self.routing[k].copy_(self.items[k], non_blocking=True)
                self.where.wait()
                for item in dict.fromkeys(self.routing[k].tolist()):
                    if item not in self.near:
                        self.memory.move(self.memory.tensor[item], True)
            graph.replay()
        self.where.wait()
        took = time.perf_counter() - began
        self.note(layers)
        return took


def measure_managed(where, weights, trace, slots, prefetches, first, steps, results):
    """As measure(), by a clock that runs in the steps alone."""
    way = InManaged(where, trace, weights, slots, prefetches)
    for step in range(first):
        way.run(step)
    before, took = way.fetched, 0.0
    for step in range(first, first + steps):
        took += way.run(step)
        results[step].copy_(way.layers.x)
    where.wait()
    row = {"seconds": took / steps, "fetched": (way.fetched - before) / steps, "host_microseconds_a_layer": None}
    way.graphs = way.where = None
    way.memory.free()
    return row


def measure(where, way, first, steps, results):
    """Seconds and fetched experts of a step, from step `first` on; results keeps the tokens of each."""
    for step in range(0 if way.keeps else first - 1, first):
        way.run(step)
    where.wait()
    way.host_microseconds()
    before, began = way.counted(), time.perf_counter()
    for step in range(first, first + steps):
        way.run(step)
        results[step].copy_(way.layers.x)
    where.wait()
    took = time.perf_counter() - began
    return {"seconds": took / steps, "fetched": (way.counted() - before) / steps,
            "host_microseconds_a_layer": way.host_microseconds()}


def resident_seconds(where, way):
    """Of a step whose experts have all been used just before: what the work costs without the link."""
    way.run(0)
    return where.seconds(lambda: [way.run(0) for _ in range(10)], 3) / 10 if where.cuda else where.seconds(lambda: way.run(0))


def plainly_different(where, trace, weights, results, steps):
    """How far results are from those of PyTorch's own operators, as a part of the tokens' length."""
    worst = 0.0
    for step in steps:
        x = trace.x[step]
        for k in range(trace.items.shape[1]):
            x = plain_layer(x, weights[trace.items[step, k].cpu()].to(where.device), trace.share[step, k])
        worst = max(worst, float((results[step].float() - x.float()).norm() / x.float().norm()))
    return worst


def compare(where, args, store, weights, slab, tokens):
    steps = args.warm + args.steps
    trace = Trace(where, args.layers, tokens, steps, args.hidden)
    results = {name: torch.zeros_like(trace.x) for name in WAYS}
    row = {"tokens": tokens, "reuse": trace.reuse}
    with grapnel.Slots(store, slab=slab, policy="lru") as slots:
        way = InSlots(where, trace, slots)
        row["slots"] = measure(where, way, args.warm, args.steps, results["slots"])
        row["resident_seconds"] = resident_seconds(where, way)
        slots.synchronize()
        del way
    way = OnHost(where, trace, weights, slab)
    for name, keeps, told in [("host LRU", True, False), ("host LRU, told before", True, True), ("streaming", False, False)]:
        way.become(keeps, told)
        row[name] = measure(where, way, args.warm, args.steps if keeps else args.steps // 4, results[name])
    del way
    gc.collect()
    last = args.warm + args.steps // 4
    for name, prefetches in [("managed memory", False), ("managed memory, prefetched", True)]:
        if managed.has_room(where, weights.nbytes):
            row[name] = measure_managed(where, weights, trace, len(slab), prefetches, args.warm, args.steps // 4, results[name])
        else:
            print(f"  left out: {name}: the GPU has no room for all {weights.nbytes / 1e9:.1f} GB of experts", flush=True)
    row["wrong"] = 0
    for name, until in [("slots", last), ("host LRU", steps), ("host LRU, told before", steps), ("managed memory", last),
                        ("managed memory, prefetched", last)]:
        if name not in row:
            continue
        other = results["streaming" if name == "slots" else "slots"]
        row["wrong"] += int((results[name][args.warm:until] != other[args.warm:until]).sum())
    gc.collect()  # the ways hold views of the store, also in cycles
    row["from_plain"] = plainly_different(where, trace, weights, results["slots"], [args.warm, steps - 1])
    return row


def fill(where, weights, scale):
    for k in range(0, len(weights), EXPERTS):
        weights[k:k + EXPERTS].copy_(torch.randn(weights[k:k + EXPERTS].shape, dtype=weights.dtype, device=where.device) * scale)


def busy(way):
    took = way["host_microseconds_a_layer"]
    return "" if took is None else f", {took:.0f} us of the host a layer"


def show(row, link, item_bytes):
    for name in filter(row.get, WAYS):
        took, bound = row[name]["seconds"], row[name]["fetched"] * item_bytes / link
        print(f"  {row['tokens']} tokens, {name:26} {1e3 * took:8.3f} ms a step, {row[name]['fetched']:6.1f} experts fetched, "
              f"{bound / took:.3f} of the link{busy(row[name])}")
    print(f"  {row['tokens']} tokens, all resident              {1e3 * row['resident_seconds']:8.3f} ms a step; from plain operators "
          f"{row['from_plain']:.2g}", flush=True)


def claims_of(rows, link, item_bytes):
    claims = []
    for row in rows:
        took, what = row["slots"]["seconds"], f"{row['tokens']} tokens"
        claims += [(f"{what}: of the bound by bytes", row["slots"]["fetched"] * item_bytes / link / took, 0.8, True),
                   (f"{what}: times streaming", row["streaming"]["seconds"] / took, 5, True),
                   (f"{what}: times a host LRU", row["host LRU"]["seconds"] / took, 2, True)]
    return claims


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cuda", help="cuda, or cpu for a trial")
    for name, what in [("layers", "default 24; a model of 30 billion has 48"), ("inner", None), ("hidden", None),
                       ("steps", "that are timed"), ("warm", "steps before the clock runs")]:
        p.add_argument("--" + name, type=int, help=what)
    p.add_argument("--tokens", default="1,4", help="of a step (default 1,4)")
    args = p.parse_args()
    where = place.Place(args.machine)
    for name, gpu, cpu in [("layers", 24, 2), ("inner", 768, 32), ("hidden", 2048, 64), ("steps", 200, 4), ("warm", 60, 2)]:
        setattr(args, name, getattr(args, name) or (gpu if where.cuda else cpu))
    torch.manual_seed(1)
    shape = (args.layers * EXPERTS, 3, args.inner, args.hidden)
    item_bytes, began = 6 * args.inner * args.hidden, time.perf_counter()
    with grapnel.Store(f"host:{shape[0] * item_bytes}", machine=args.machine) as store:
        weights = store.tensor(torch.bfloat16, shape)
        fill(where, weights, args.hidden**-0.5)
        slab = torch.zeros(shape[0] * 2 // 5, *shape[1:], dtype=torch.bfloat16, device=where.device)
        print(f"  {shape[0]} experts of {item_bytes} bytes, {shape[0] * item_bytes / 1e9:.1f} GB in host memory, {len(slab)} slots; "
              f"filled after {time.perf_counter() - began:.0f} s", flush=True)
        part = min(EXPERTS, len(slab))
        link = part * item_bytes / where.seconds(lambda w=weights[:part]: slab[:part].copy_(w, non_blocking=True), args.runs)
        whole = args.layers * EXPERTS * item_bytes / link
        print(f"  cudaMemcpyAsync {link / 1e9:.2f} GB/s; every layer whole: {1e3 * whole:.1f} ms a step")
        rows = []
        for tokens in map(int, args.tokens.split(",")):
            rows.append(compare(where, args, store, weights, slab, tokens))
            show(rows[-1], link, item_bytes)
        del weights
    result = {"gpu": where.name, "torch": torch.__version__, "layers": args.layers, "item_bytes": item_bytes, "slots": len(slab),
              "link_bytes_per_second": link, "every_layer_whole_seconds": whole, "rows": rows}
    claims = claims_of(rows, link, item_bytes) if where.cuda else []
    claims += [("numbers that are not those of streaming", sum(row["wrong"] for row in rows), 0, False),
               ("from PyTorch's operators on the weights", max(row["from_plain"] for row in rows), 0.05, False)]
    return report.save(args, "expert-cache", result, claims)


if __name__ == "__main__":
    sys.exit(main())
