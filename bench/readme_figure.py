#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figure of the README, from kept results: loops by Grapnel over the same loops by plain loads of host memory.

    bench/readme_figure.py [OUT.svg]

Runs nothing: it reads bench/results/h200-natural.json and h200-gather.json, and says of which commits they are. Gathers are set
beside plain loads of the rows as they come.
"""
import json
import os
import sys

from support import plot, report

BARS = [  # claim, label
    ("natural", "scattered hot rows, the second time, of plain", "scattered rows that come again"),
    ("gather", "rows of 4 bytes, uniform, times as they come", "gather of 4-byte words, over loads as they come"),
    ("gather", "rows of 512 bytes, uniform, times as they come", "gather of 512-byte rows, over loads as they come"),
    ("natural", "scattered hot rows, the first time, of plain", "scattered rows, three of four of them hot, first time"),
    ("natural", "binary search, cache an eighth of the keys, of plain", "binary search, cache an eighth of the keys"),
    ("natural", "sum with gn_read, of plain", "sum in order by gn_read, cold"),
    ("natural", "rows of 128 bytes, of plain", "rows of 128 bytes, cold"),
    ("natural", "random words, of plain", "random words of 4 bytes, cold"),
    ("natural", None, "the worst of twenty access patterns, cold"),
]


def kept(name):
    with open(os.path.join(report.ROOT, "bench", "results", f"h200-{name}.json"), encoding="utf-8") as f:
        return json.load(f)


def measured(result, claim):
    """Of a claim; without one, the least of the patterns."""
    values = {c["claim"]: c["measured"] for c in result["claims"]}
    if claim:
        return values[claim]
    return min(v for name, v in values.items() if name.endswith(" cold, of plain"))


def main():
    out = sys.argv[1] if len(sys.argv) > 1 else os.path.join(report.ROOT, "docs", "wins.svg")
    results = {name: kept(name) for name in ("natural", "gather")}
    bars = [(label, measured(results[name], claim)) for name, claim, label in BARS]
    commits = ", ".join(f"{name} {result['commit'][:7]}" for name, result in results.items())
    places = [(value, len(bars) - k, label, f"{value:.2f}" if value < 10 else f"{value:.0f}") for k, (label, value) in enumerate(bars)]
    wins = [p for p in places if p[0] >= 1]
    rest = [p for p in places if p[0] < 1]
    script = ('set termoption noenhanced\n'
              f'set title "Speed over plain loads of host memory (zero-copy), NVIDIA H200 ({commits})" font ",11" offset screen -0.2,0\n'
              'set logscale x\nset xrange [0.3:60]\nset xtics (0.5,1,2,5,10,20,50)\nset lmargin 50\n'
              f'set yrange [0.4:{len(bars)}.6]\nset arrow from 1,0.4 to 1,{len(bars)}.6 nohead lc rgb "#333333" lw 1\nunset key\n'
              'set ytics nomirror scale 0\nset xtics nomirror\n'
              'plot $wins using (sqrt($1)):2:(1):1:($2-0.35):($2+0.35):ytic(3) with boxxyerror lt 1, '
              '$rest using (sqrt($1)):2:1:(1):($2-0.35):($2+0.35):ytic(3) with boxxyerror lt 2, '
              '$wins using 1:2:4 with labels left offset 0.5,0, $rest using 1:2:4 with labels right offset -0.5,0\n')
    plot.draw(out, (860, 340), script, wins=wins, rest=rest)


if __name__ == "__main__":
    main()
