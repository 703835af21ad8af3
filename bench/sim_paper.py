#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of `grapnel sim paper`, kept as JSON: DualOpt's statements, each with the paper's number and the simulation's; what it
gains at each size; links of other rates beside Figure 2; and what other answers to open questions change.

    bench/sim_paper.py [--folder FOLDER] [--build DIR] [--json OUT] [-- OPTION...]

Options behind -- are those of `grapnel sim paper`, which takes a quarter of an hour on two cores without any. Simulations whose results
are in the folder are not run again.
"""
import os
import subprocess
import sys

from support import report


def number(text):
    """Of a cell: 1.80x, or 40 %, which is 0.4."""
    return float(text[:-1]) if text.endswith("x") else round(0.01 * float(text[:-1]), 4)


def table(markdown, beginning):
    """The cells of the rows of the table whose header begins so, up to its end; nothing if there is none."""
    lines = markdown.split("\n")
    header = next((k for k, line in enumerate(lines) if line.startswith(beginning)), len(lines))
    for line in lines[header + 2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip(" *") for cell in line.strip("|").split(" |")]


def statements(markdown):
    for figure, statement, paper, here, verdict in table(markdown, "| figure | statement |"):
        yield {"figure": figure, "statement": statement, "paper": number(paper), "here": number(here), "verdict": verdict}


def sizes(markdown):
    """Of workloads, whose cells have a class behind the speedup, and of means."""
    for name, size, *cells in table(markdown, "| workload | --size | 1/16 |"):
        *each, median, spread = cells
        if not spread:
            yield {"of the paper's class": [int(cell) for cell in each]}
            continue
        least, most = spread.split(" to ")
        yield {"name": name, "size": size, "speedup": [float(cell.split()[0]) for cell in each],
               "class": [cell.split()[1] for cell in each if " " in cell], "median": float(median), "least": float(least), "most": float(most)}


def links(markdown, beginning="| links, times this machine's |"):
    for times, *cells, off in table(markdown, beginning):
        yield {"times": times, "speedup": [number(cell) for cell in cells], "off": number(off) if off else 0.0}


def answers(markdown):
    names = ["DualOpt", "cache-insensitive", "cache-friendly", "bytes", "cycles of a read", "classes"]
    for question, instead, *values in table(markdown, "| question, and its answer |"):
        yield {"question": question, "instead": instead.replace("`", ""), **dict(zip(names, map(float, values)))}


def main():
    p = report.parser(__doc__)
    p.add_argument("--folder", default=os.path.join(report.ROOT, "out", "bench", "sim-paper"), help="folder of the simulations")
    p.add_argument("options", nargs="*", help="options of grapnel sim paper, behind --")
    args = p.parse_args()
    command = [report.program(args, "tools", "grapnel"), "sim", "paper", *args.options, "--out", args.folder]
    os.makedirs(args.folder, exist_ok=True)
    if subprocess.run(command, check=False).returncode:
        return 1
    with open(os.path.join(args.folder, "report.md"), encoding="utf-8") as text:
        report_md = text.read()
    found = list(statements(report_md))
    told = " ".join(["grapnel sim paper", *args.options])
    return report.save(args, "sim-paper", {"command": told, "rows": found, "sizes": list(sizes(report_md)), "links": list(links(report_md)),
                                              "answers": list(answers(report_md))},
                       [("statements of the table", len(found), 41, True)])


if __name__ == "__main__":
    sys.exit(main())
