#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a run did on the network, drawn from its --json: sizes of packets, why they left, who waited for whom.

    grapnel sssp GRAPH --nodes 4 --json run.json && bench/net_plot.py run.json run.svg
"""
import argparse
import json
import sys

from support import plot

SIZES = ["32", "64", "128", "256", "512", "1K", "2K", "4K", "8K", "16K", "32K", "64K"]


def sizes(net):
    """Packets of 32 bytes, a head alone, to 64 KiB, and the share of all bytes that is theirs."""
    counts = net["packet_log2_bytes"][5:]
    of_bytes = [count * min(1.5 * 2**(k + 5), 65536) for k, count in enumerate(counts)]  # a packet lies in the middle of its bin
    return [(name, count / max(1, sum(counts)), b / max(1, sum(of_bytes))) for name, count, b in zip(SIZES, counts, of_bytes)]


def waits(net):
    return [(to, row, ms) for row, line in enumerate(net["waited_ms"]) for to, ms in enumerate(line)]


def draw(path, run):
    net = run["net"]
    reasons = [(name, net[name] / max(1, net["packets"])) for name in ("full", "aged", "urgent")]
    title = (f"{run['schema'].split('-')[1]} on {run['nodes']} nodes: {net['sent']} messages in {net['packets']} packets\\n"
             f"{net['wire_over_messages']:.2f} bytes on the wire for a byte of message, packets {100 * net['occupancy']:.0f} % full, "
             f"network idle in {100 * net['idle_share']:.0f} % of its turns")
    blocks = {"sizes": sizes(net), "reasons": reasons}
    script = (f'set multiplot layout 1,{3 if net["waited_ms"] else 2} title "{title}" font ",11"\nset style data histogram\n'
              'set boxwidth 0.8 relative\nset yrange [0:1]\nset xtics rotate by -60\nset title "bytes of a packet"\n'
              'set key top left\nplot $sizes using 2:xtic(1) title "of packets", "" using 3 title "of bytes"\nunset key\n'
              'set xtics norotate\nset title "why packets left"\nplot $reasons using 2:xtic(1) lt 3\n')
    if net["waited_ms"]:
        blocks["waits"] = waits(net)
        script += ('set title "ms that a row waited for a column"\nset xtics 1\nset ytics 1\n'
                   f'set xrange [-0.5:{len(net["waited_ms"]) - 0.5}]\nset yrange [{len(net["waited_ms"]) - 0.5}:-0.5]\n'
                   'unset grid\nset palette defined (0 "#ffffff", 1 "#2f6f9f")\nset cbrange [0:*]\nplot $waits with image\n')
    plot.draw(path, (1080, 360), script + "unset multiplot\n", **blocks)


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    p.add_argument("report", help="report that --json of gups, pagerank, sssp, color, kmeans, mer or net-model wrote")
    p.add_argument("drawing", help="SVG file to write")
    args = p.parse_args()
    with open(args.report) as source:
        run = json.load(source)
    if "net" not in run:
        sys.exit(f"{args.report}: the report has no data of a network; give one that --json of gups or another command on nodes wrote")
    draw(args.drawing, run)
    return 0


if __name__ == "__main__":
    sys.exit(main())
