"""Jobs over a graph of more than 2^32 edges: a sparse file, in which one vertex has 2^32 edges that are never read, and the others'
lists lie behind them. Usage: large.py GRAPNEL SCRATCH-FOLDER. Exit status 77: the file system takes no file of this length."""

import json
import os
import shutil
import struct
import subprocess
import sys
import zlib

PAGE = 4096
VERTICES = 5000
HOLES = 1 << 32
SOURCE, HUB, BEHIND, LAST = 1, 2, 3003, 4000
WEIGHT = 5
NONE = 0xFFFFFFFF
# The hub's list is longer than what a warp reads in one go.
LISTS = {SOURCE: [HUB, 3], HUB: list(range(4, BEHIND + 1)), BEHIND: [LAST]}
NEIGHBOURS = [to for vertex in sorted(LISTS) for to in LISTS[vertex]]
EDGES = HOLES + len(NEIGHBOURS)


def page_up(n):
    return (n + PAGE - 1) // PAGE * PAGE


def words(numbers):
    return struct.pack(f"<{len(numbers)}I", *numbers)


def make_graph(path):
    """The file as docs/graph-format.md has it; the checksums of what is not read stay 0."""
    offsets = [0]
    for vertex in range(VERTICES):
        offsets.append(offsets[-1] + (HOLES if vertex == 0 else len(LISTS.get(vertex, []))))
    sections, at = [], PAGE
    for size in (8 * (VERTICES + 1), 4 * EDGES, 4 * EDGES):
        sections.append(struct.pack("<QQII", at, size, 0, 0))
        at += page_up(size)
    header = b"GNGRAPH\n" + struct.pack("<IIIIIIQQ", 1, 0x01020304, PAGE, 0, 1, 0, VERTICES, EDGES) + b"".join(sections)
    header = (header + struct.pack("<QI", at, 0)).ljust(PAGE, b"\0")
    header = header[:128] + struct.pack("<I", zlib.crc32(header)) + header[132:]
    neighbours = PAGE + page_up(8 * (VERTICES + 1))
    with open(path, "wb") as file:
        file.truncate(at)
        file.write(header + struct.pack(f"<{VERTICES + 1}Q", *offsets))
        file.seek(neighbours + 4 * HOLES)
        file.write(words(NEIGHBOURS))
        file.seek(neighbours + page_up(4 * EDGES) + 4 * HOLES)
        file.write(words([WEIGHT] * len(NEIGHBOURS)))


def depths():
    depth = {SOURCE: 0}
    queue = [SOURCE]
    for vertex in queue:
        for to in LISTS.get(vertex, []):
            if to not in depth:
                depth[to] = depth[vertex] + 1
                queue.append(to)
    return depth


def run(grapnel, *arguments):
    """The report, and the words that were written."""
    command = [grapnel, *arguments, "--trust", "--cache", "1M", "--out", "values.bin", "--json", "report.json"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with open("report.json", encoding="utf-8") as file:
        report = json.load(file)
    assert report["graph"]["edges"] == EDGES, report["graph"]
    assert report["graph"]["bytes"] > 16 << 30, report["graph"]
    with open("values.bin", "rb") as file:
        return report, file.read()


def check_lengths(got, unit, what):
    want = depths()
    assert got == words([want[v] * unit if v in want else NONE for v in range(VERTICES)]), what


def main():
    grapnel, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    os.chdir(folder)
    try:
        make_graph("large.gng")
    except OSError as error:
        print(error)
        sys.exit(77)
    for options in ([], ["--warp-width", "32"], ["--mode", "auto"]):
        report, got = run(grapnel, "bfs", "large.gng", "--source", str(SOURCE), *options)
        assert report["edges_traversed"] == len(NEIGHBOURS), report
        check_lengths(got, 1, options)
    for options in ([], ["--warp-width", "32"]):
        _, got = run(grapnel, "sssp", "large.gng", "--source", str(SOURCE), *options)
        check_lengths(got, WEIGHT, options)
    _, got = run(grapnel, "bc", "large.gng", "--source", str(SOURCE))
    score = struct.unpack(f"<{VERTICES}f", got)
    # all that is behind the hub, and the last vertex, depend on it; on the vertex before the last just that one
    assert abs(score[BEHIND] * (len(LISTS[HUB]) + 1) - score[HUB]) < 1e-5, (score[HUB], score[BEHIND])
    os.remove("large.gng")


main()
