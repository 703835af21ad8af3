#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""graph_sage.py - how do I train a graph network whose features are larger than the GPU's memory?

    python graph_sage.py [--machine cuda] [--store file] [--nodes 20000] [--epochs 5] [--plot accuracy.svg]

In a graph of communities 80 % of a node's 16 neighbours are of its own, and its features say little of which that is.
Features and edges lie in host memory or in files, behind a cache of an eighth of them. GraphSAGE learns the communities of
half of the nodes, and is asked for those of the others: one answer in 16 is right by chance.

It needs PyTorch and PyTorch Geometric, and for a plot Matplotlib. Expected output, with about these numbers:
    20000 nodes in 16 communities, 9.77 MiB of features
    epoch 5: accuracy 0.979, 3.5 s, of which features 0.10 s
"""

import argparse
import importlib.util
import tempfile
import time

import numpy as np
import torch
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import SAGEConv

from grapnel.pyg import FeatureStore, GraphStore, NeighborSampler

COMMUNITIES, DEGREE, WIDTH = 16, 16, 128  # rows of 512 bytes


def communities(random, nodes):
    """Where each node's edges begin, their sources, features and labels."""
    label = random.integers(0, COMMUNITIES, nodes)
    members, begin = np.argsort(label), np.searchsorted(np.sort(label), np.arange(COMMUNITIES + 1))
    low, high = begin[label][:, None], begin[label + 1][:, None]
    own = members[low + (random.random((nodes, DEGREE)) * (high - low)).astype(np.int64)]
    source = np.where(random.random((nodes, DEGREE)) < 0.8, own, random.integers(0, nodes, (nodes, DEGREE)))
    centre = random.standard_normal((COMMUNITIES, WIDTH)) / 8
    features = random.standard_normal((nodes, WIDTH), np.float32) + centre[label].astype(np.float32)
    return np.arange(nodes + 1) * DEGREE, source.ravel(), features, label


def now():
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()


class TimedFeatures(FeatureStore):
    seconds = 0.0

    def _multi_get_tensor(self, attrs):
        began = now()
        rows = super()._multi_get_tensor(attrs)
        self.seconds += now() - began
        return rows


class Sage(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = SAGEConv(WIDTH, 64), SAGEConv(64, COMMUNITIES)

    def forward(self, batch):
        return self.second(self.first(batch.x, batch.edge_index).relu(), batch.edge_index)[:batch.batch_size]


@torch.no_grad()
def accuracy(model, loader):
    right = [(model(batch).argmax(1) == batch.y[:batch.batch_size]).float() for batch in loader]
    return torch.cat(right).mean().item()


def plot(path, accuracies, seconds):
    from matplotlib.figure import Figure

    figure, epochs = Figure(figsize=(8, 3.5), layout="constrained"), range(1, len(accuracies) + 1)
    for axes, y, what in zip(figure.subplots(1, 2), (accuracies, seconds), ("accuracy", "seconds for fetching features")):
        axes.plot(epochs, y, "o-")
        axes.set(xlabel="epoch", ylabel=what, ylim=(0, None), xticks=epochs)
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(description="GraphSAGE with features far away.")
    parser.add_argument("--machine", default="cpu", help="cpu, cuda or cuda:N")
    parser.add_argument("--store", choices=["host", "file"], default="host", help="where features and edges lie")
    parser.add_argument("--nodes", type=int, default=20000)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--plot", help="a file .svg or .png")
    options = parser.parse_args()
    torch.manual_seed(1)
    pointers, source, x, label = communities(np.random.default_rng(1), options.nodes)
    far = {"machine": options.machine, "where": options.store, "cache": max(x.nbytes // 8, 1 << 20)}
    with tempfile.TemporaryDirectory() as folder, TimedFeatures(**far) as features, GraphStore(**far) as graph:
        np.save(f"{folder}/x.npy", x), np.save(f"{folder}/source.npy", source)
        features.add("x", f"{folder}/x.npy"), features.add("y", label)
        graph.add(pointers, f"{folder}/source.npy")
        print(f"{options.nodes} nodes in {COMMUNITIES} communities, {x.nbytes / 2**20:.2f} MiB of features")
        train, test = (NodeLoader((features, graph), NeighborSampler(graph, [10, 5], seed=seed), torch.arange(*nodes),
                                  batch_size=1024, shuffle=seed == 1)
                       for seed, nodes in [(1, (0, options.nodes // 2)), (2, (options.nodes // 2, options.nodes))])
        model = Sage().to(options.machine)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
        accuracies, seconds = [], []
        for epoch in range(1, options.epochs + 1):
            began, features.seconds = now(), 0.0
            for batch in train:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(batch), batch.y[:batch.batch_size]).backward()
                optimizer.step()
            took = now() - began
            seconds.append(features.seconds), accuracies.append(accuracy(model, test))
            print(f"epoch {epoch}: accuracy {accuracies[-1]:.3f}, {took:.1f} s, of which features {seconds[-1]:.2f} s")
    if options.plot and importlib.util.find_spec("matplotlib"):
        plot(options.plot, accuracies, seconds)


if __name__ == "__main__":
    main()
