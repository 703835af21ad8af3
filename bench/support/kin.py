# SPDX-License-Identifier: Apache-2.0
"""Inputs like those of Gravel's table 4, drawn from a seed: nothing is downloaded. It needs numpy.

What Gravel ran is too large to keep here, so these have its sizes and its shares of accesses of other nodes, by their making:

    mesh    for hugebubbles-00020, a flat mesh of degree 3 that was refined step by step: a honeycomb numbered row by row, but a
            quarter of the vertices, drawn at random, stands behind the others, as those of a later step do. In blocks of an
            eighth 3 of 8 edges join two blocks (Gravel's PR-1: 37.7 %)
    band    for cage15, a matrix whose entries are near the diagonal: row v has entries in v + d and v - d for the same nine
            distances d. They are as long as they must be for 16.5 % of the entries to join two blocks of an eighth
    reads   for the reads of human chromosome 14: pieces of a random sequence, each place in ten of them on average, without errors
"""
import numpy

from . import graph

LATER = 0.25  # of the vertices of the mesh
DISTANCES = 9
CUT = 0.165  # of the entries of the band, between blocks of an eighth
READ, COVERAGE = 100, 10


def compressed(path, near, there):
    """Rows of neighbours, ascending where they are there, become a file."""
    offsets = numpy.zeros(len(near) + 1, numpy.uint64)
    numpy.cumsum(numpy.count_nonzero(there, axis=1), out=offsets[1:])
    graph.write(path, offsets, near[there].astype(numpy.uint32))


def mesh(path, vertices, seed=1):
    width = max(2, round(vertices ** 0.5))
    rows = -(-vertices // width)
    count = width * rows
    later = numpy.random.default_rng(seed).random(count) < LATER
    place = numpy.concatenate((numpy.flatnonzero(~later), numpy.flatnonzero(later))).astype(numpy.int32)
    number = numpy.empty(count, numpy.int32)
    number[place] = numpy.arange(count, dtype=numpy.int32)
    row, column = numpy.divmod(place, numpy.int32(width))
    up = 1 - 2 * ((row + column) & 1)  # honeycomb: every other vertex has its third edge upward, the others downward
    near = numpy.stack((place - 1, place + 1, place + up * width), axis=1).astype(numpy.int32)
    there = numpy.stack((column > 0, column < width - 1, (row + up >= 0) & (row + up < rows)), axis=1)
    near = numpy.where(there, number[numpy.where(there, near, 0)], count)
    near.sort(axis=1)
    compressed(path, near, near < count)


def band(path, vertices, seed=1):
    most = max(DISTANCES, round(2 * CUT * vertices / 7))  # eight blocks have seven borders; a distance is half of it on average
    borders = numpy.linspace(0, most, DISTANCES + 1).astype(numpy.int32)
    distances = numpy.random.default_rng(seed).integers(borders[:-1], borders[1:]) + 1  # one in each ninth
    offsets = numpy.concatenate((-distances[::-1], distances)).astype(numpy.int32)
    near = numpy.arange(vertices, dtype=numpy.int32)[:, None] + offsets
    compressed(path, near, (near >= 0) & (near < vertices))


def reads(path, count, seed=1):
    random = numpy.random.default_rng(seed)
    genome = numpy.frombuffer(b"ACGT", numpy.uint8)[random.integers(0, 4, max(READ, count * READ // COVERAGE), numpy.uint8)]
    lines = numpy.full((count, READ + 3), ord("\n"), numpy.uint8)  # a header without a name, and a line of bases
    lines[:, 0] = ord(">")
    starts = random.integers(0, len(genome) - READ + 1, count)
    lines[:, 2:-1] = numpy.lib.stride_tricks.sliding_window_view(genome, READ)[starts]
    lines.tofile(path)
