#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""expert_cache.py - how do I run a mixture of experts whose weights are larger than the GPU's memory?

    python expert_cache.py [--machine cuda] [--layers 4] [--tokens 200] [--inner 64 --hidden 64] [--plot FILE]

The weights of the experts of all layers lie in host memory; slots of the machine's memory have room for 40 % of them. In
each layer eight experts are chosen for a token: 45 % were chosen at the token before, and 80 % at one of the eight before.
A lookup gives their slots, and the layer reads gate, up and down from the slab by them. At the end all tokens are compared
with what experts in memory give. On a GPU a token, through all layers, is one CUDA graph that is replayed with other
experts. Where matplotlib is found, a plot shows how many experts were resident.

Expected output, with about these numbers:
    4 layers of 128 experts of 49152 bytes, 204 slots
    200 tokens, 8 experts a layer: 83% of the experts were resident, 1098 were fetched; the tokens are right
"""

import argparse

import numpy as np

import grapnel

EXPERTS, CHOSEN = 128, 8  # of a layer


def draw_trace(random, tokens):
    """Experts of each token, with the reuse of published traces: 45 % at the next token, 80 % within eight."""
    trace = np.tile(random.permutation(EXPERTS)[:CHOSEN], (tokens, 1))
    for t in range(1, tokens):
        last, lately, kind = trace[t - 1], trace[max(0, t - 8):t], random.random(CHOSEN)
        again = random.permutation(last)[:np.count_nonzero(kind < 0.45)]
        within = random.permutation(np.setdiff1d(lately, last))[:np.count_nonzero((kind >= 0.45) & (kind < 0.80))]
        new = random.permutation(np.setdiff1d(np.arange(EXPERTS), lately))[:CHOSEN - len(again) - len(within)]
        trace[t] = np.concatenate([again, within, new])
    return trace


def layer(x, w, exp):
    """x after a layer whose chosen experts have the weights w: gate, up and down of each."""
    gate, up = w[:, 0] @ x, w[:, 1] @ x
    x = x + ((gate / (1 + exp(-gate)) * up)[:, None] @ w[:, 2]).sum(axis=0)[0]
    return x / (x * x).mean() ** 0.5


def run(slots, trace, x):
    """Each token through all layers, and whether the experts were missed. trace has item numbers."""
    chosen, missed = np.empty(CHOSEN, np.int32), np.empty(trace.shape, bool)
    for t, layers in enumerate(trace):
        for k, items in enumerate(layers):
            slots.lookup(items, chosen, missed=missed[t, k])
            x[t] = layer(x[t], slots.slab[chosen], np.exp)
    return x, missed


def run_tensors(slots, trace, x):
    """The same on a GPU. All shapes are fixed, so a token is captured in a CUDA graph and replayed."""
    import torch

    trace, x = (torch.from_numpy(numbers).to(slots.slab.device) for numbers in (trace, x))
    items, token, all_missed = trace[0].clone(), x[0].clone(), torch.empty_like(trace, dtype=torch.bool)
    chosen, missed = torch.empty_like(items, dtype=torch.int32), torch.empty_like(items, dtype=torch.bool)

    def step():
        y = token
        for k in range(len(items)):
            slots.lookup(items[k], chosen[k], missed=missed[k])
            y = layer(y, torch.index_select(slots.slab, 0, chosen[k]), torch.exp)
        token.copy_(y)

    step()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for t in range(len(trace)):
        items.copy_(trace[t]), token.copy_(x[t])
        graph.replay()
        x[t], all_missed[t] = token, missed
    slots.synchronize()
    return x.cpu().numpy(), all_missed.cpu().numpy()


def plot(path, missed):
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    pyplot.plot(100 - 100 * missed.mean(axis=(1, 2))), pyplot.ylim(0, 100)
    pyplot.xlabel("token"), pyplot.ylabel("experts that were resident, %"), pyplot.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="A cache of experts in slots.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    for name, value in [("layers", 4), ("tokens", 200), ("inner", 64), ("hidden", 64)]:
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--plot", default="expert_cache.png", help="the file for the plot")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    shape = (options.layers * EXPERTS, 3, options.inner, options.hidden)
    weights = random.standard_normal(shape, np.float32) / options.hidden**0.5
    trace = np.stack([draw_trace(random, options.tokens) + EXPERTS * k for k in range(options.layers)], axis=1)
    x = random.standard_normal((options.tokens, options.hidden), np.float32)
    with grapnel.Store(f"host:{weights.nbytes}", options.machine) as store:
        store.write(0, weights)
        with grapnel.Slots(store, "float32", weights.shape[1:], slots=len(weights) * 2 // 5, policy="lru") as slots:
            print(f"{options.layers} layers of {EXPERTS} experts of {slots.item_bytes} bytes, {slots.slots} slots")
            y, missed = (run if options.machine == "cpu" else run_tensors)(slots, trace, x.copy())
            fetched = slots.stats()["fetched"]
    for t, k in np.ndindex(trace.shape[:2]):
        x[t] = layer(x[t], weights[trace[t, k]], np.exp)
    if not np.allclose(y, x, rtol=0, atol=1e-2):
        raise SystemExit("expert_cache: wrong results")
    print(f"{options.tokens} tokens, {CHOSEN} experts a layer: {1 - missed.mean():.0%} of the experts were resident, "
          f"{fetched} were fetched; the tokens are right")
    plot(options.plot, missed)


if __name__ == "__main__":
    main()
