#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""expert_cache.py - how do I run a mixture of experts whose weights are larger than the GPU's memory?

    python expert_cache.py [--machine cuda] [--experts 128] [--tokens 400]

The weights of all experts lie in host memory; slots of the machine's memory have room for 40 % of them. For each token a
router chooses eight experts: 45 % were chosen at the token before, and 80 % at one of the eight before. A lookup gives the
slots of the eight, and y = x @ W reads the weights from the slab by these slots. At the end y is compared with what all
experts in memory give. On a GPU a token is a CUDA graph that is replayed.

Expected output, with about these numbers:
    128 experts of 16384 bytes, 51 slots
    400 tokens, 8 experts each: 84% of the experts were resident, 505 were fetched; y is right
"""

import argparse

import numpy as np

import grapnel

CHOSEN, WIDTH = 8, 64  # experts of a token; an expert is a matrix of WIDTH x WIDTH numbers of 4 bytes


def draw_trace(random, experts, tokens):
    """Experts of each token, with the reuse of published traces: 45 % at the next token, 80 % within eight."""
    trace = np.empty((tokens, CHOSEN), np.int64)
    trace[0] = random.permutation(experts)[:CHOSEN]
    for t in range(1, tokens):
        last, lately = trace[t - 1], trace[max(0, t - 8):t]
        kind = random.random(CHOSEN)
        again = random.permutation(last)[:np.count_nonzero(kind < 0.45)]
        within = random.permutation(np.setdiff1d(lately, last))[:np.count_nonzero((kind >= 0.45) & (kind < 0.80))]
        new = random.permutation(np.setdiff1d(np.arange(experts), lately))[:CHOSEN - len(again) - len(within)]
        trace[t] = np.concatenate([again, within, new])
    return trace


def run(slots, trace, x):
    """The sum of the chosen experts' outputs for each token."""
    y = np.empty_like(x)
    chosen = np.empty(CHOSEN, np.int32)
    for t, experts in enumerate(trace):
        slots.lookup(experts, chosen)
        y[t] = (x[t] @ slots.slab[chosen]).sum(axis=0)
    return y


def run_tensors(slots, trace, x):
    """The same on a GPU. All shapes are fixed, so one token is captured in a CUDA graph and replayed."""
    import torch

    device = slots.slab.device
    trace, x = torch.from_numpy(trace).to(device), torch.from_numpy(x).to(device)
    keys, token, result = trace[0].clone(), x[0].clone(), torch.empty_like(x)
    chosen = torch.empty(CHOSEN, dtype=torch.int32, device=device)

    def step():
        slots.lookup(keys, chosen)
        return torch.matmul(token, torch.index_select(slots.slab, 0, chosen)).sum(dim=0)

    step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = step()
    for t in range(len(trace)):
        keys.copy_(trace[t]), token.copy_(x[t])
        graph.replay()
        result[t] = y
    slots.synchronize()
    return result.cpu().numpy()


def main():
    parser = argparse.ArgumentParser(description="A cache of experts in slots.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--experts", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=400)
    options = parser.parse_args()
    if options.experts < 9 * CHOSEN:
        parser.error(f"--experts is {9 * CHOSEN} at least, so that some were not chosen lately")
    random = np.random.default_rng(1)
    weights = random.standard_normal((options.experts, WIDTH, WIDTH), np.float32) / WIDTH
    trace = draw_trace(random, options.experts, options.tokens)
    x = random.standard_normal((options.tokens, WIDTH), np.float32)
    with grapnel.Store(f"host:{weights.nbytes}", options.machine) as store:
        store.write(0, weights)
        with grapnel.Slots(store, "float32", (WIDTH, WIDTH), slots=options.experts * 2 // 5, policy="lru") as slots:
            print(f"{slots.items} experts of {slots.item_bytes} bytes, {slots.slots} slots")
            y = (run if options.machine == "cpu" else run_tensors)(slots, trace, x)
            counted = slots.stats()
    expected = np.stack([(x[t] @ weights[experts]).sum(axis=0) for t, experts in enumerate(trace)])
    if not np.allclose(y, expected, rtol=0, atol=1e-4 if options.machine == "cpu" else 1e-2):
        raise SystemExit("expert_cache: wrong results")
    share = counted["hits"] / (counted["hits"] + counted["misses"])
    print(f"{options.tokens} tokens, {CHOSEN} experts each: {share:.0%} of the experts were resident, {counted['fetched']} were "
          "fetched; y is right")


if __name__ == "__main__":
    main()
