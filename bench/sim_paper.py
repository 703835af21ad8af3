#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of `grapnel sim paper`, kept as JSON: DualOpt's statements, each with the paper's number and the simulation's.

    bench/sim_paper.py [--folder FOLDER] [--build DIR] [--json OUT] [-- OPTION...]

Options behind -- are those of `grapnel sim paper`, which takes ten minutes on two cores without any. Simulations whose results are
in the folder are not run again.
"""
import os
import subprocess
import sys

from support import report


def number(text):
    """Of a cell: 1.80x, or 40 %, which is 0.4."""
    return float(text[:-1]) if text.endswith("x") else round(0.01 * float(text[:-1]), 4)


def rows(markdown):
    """Of the first table of the report."""
    lines = markdown.split("\n")
    first = lines.index("| figure | statement | paper | here | |") + 2
    for line in lines[first:]:
        if not line.startswith("|"):
            return
        figure, statement, paper, here, verdict = (cell.strip() for cell in line.strip("|").split(" |"))
        yield {"figure": figure, "statement": statement, "paper": number(paper), "here": number(here), "verdict": verdict}


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
        found = list(rows(text.read()))
    told = " ".join(["grapnel sim paper", *args.options])
    return report.save(args, "sim-paper", {"command": told, "rows": found},
                       [("statements of the table", len(found), 40, True)])


if __name__ == "__main__":
    sys.exit(main())
