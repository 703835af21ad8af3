#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the model of net (grapnel net-model) say what nodes do, and what does it say of 4096 of them?

Nodes of one process update each other's tables, 2, 4 and 8 of them, one way and two, and so does the model, on as many
cores. Messages in a packet, bytes on the wire for a message and the share of full packets are compared; no times are.
Then the model goes on to 4096 nodes over a link, with what sorting a message into so many packets costs on this machine
(bench/net_sort.c): with two ways a node of 1024 has less than 16 MiB of packets, and its rate is at least 80 % of one way's.
With --real N a group of N nodes also runs, in this process.

    bench/net_model.py [--real N] [--svg OUT] [--build DIR] [--json OUT]
"""
import math
import os
import statistics
import sys

from support import plot, report

RUNS = [(2, 1), (4, 1), (4, 2), (8, 1), (8, 2), (8, 3)]
NODES = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
PATIENT = 20000  # us: nothing is sent for its age
LINK = ["--link", "12.5", "--latency", "2000", "--compress"]
WORK = ["--table", "1M", "--updates", "1000000", "--op", "inc"]


def shape(result):
    """What is compared: of messages and packets, no times."""
    net = result["net"]
    return {"messages_a_packet": net["sent"] / net["packets"], "bytes_a_message": net["packet_bytes"] / net["sent"],
            "full_share": net["full"] / net["packets"], "urgent_share": net["urgent"] / net["packets"]}


def real(args, nodes, columns, flush):
    options = ["--transport", "local", "--nodes", str(nodes), "--columns", str(columns), "--flush", str(flush), "--threads", "1",
               *WORK]
    shapes = [shape(report.gups(args, options, f"{nodes} nodes in {columns} columns")) for _ in range(args.runs)]
    return {key: statistics.median(s[key] for s in shapes) for key in shapes[0]}


def model(args, nodes, columns, *options):
    return report.run_json([report.program(args, "tools", "grapnel"), "net-model", "--nodes", str(nodes), "--columns",
                            str(columns), *options, "--json", "-"])


def compare(args):
    rows = []
    for flush in (PATIENT, 125):
        for nodes, columns in RUNS:
            is_ = real(args, nodes, columns, flush)
            says = shape(model(args, nodes, columns, "--simulated", "0", "--cores", str(len(os.sched_getaffinity(0))),
                               "--flush", str(flush), *WORK))
            rows.append({"nodes": nodes, "columns": columns, "flush_us": flush, "run": is_, "model": says,
                         "ratio": says["messages_a_packet"] / is_["messages_a_packet"]})
            print(f"  {nodes} nodes in {columns} columns, {flush} us: {is_['messages_a_packet']:.0f} messages a packet, model "
                  f"{says['messages_a_packet']:.0f}; full {is_['full_share']:.3f}, model {says['full_share']:.3f}")
    return rows


def sort_cost(costs, nodes, columns):
    """Between the grids that were measured, along the logarithm of the ways."""
    known = sorted((c["nodes"] // c["columns"], c["sort_ns"]) for c in costs if (c["columns"] == 1) == (columns == 1))
    ways = nodes // columns
    if ways <= known[0][0]:
        return known[0][1]
    for (a, at_a), (b, at_b) in zip(known, known[1:]):
        if a <= ways <= b:
            return at_a + (at_b - at_a) * math.log(ways / a) / math.log(b / a)
    return known[-1][1]


def predict(args, costs):
    rows = []
    for flush in (125, PATIENT):
        for nodes in NODES:
            for columns in (1, math.isqrt(nodes)):
                sort = sort_cost(costs, nodes, columns)
                r = model(args, nodes, columns, "--simulated", "2", "--flush", str(flush), "--sort-ns", str(sort), *LINK)
                rows.append({"nodes": nodes, "ways": 1 if columns == 1 else 2, "flush_us": flush, "sort_ns": sort,
                             "mean_packet": r["net"]["mean_packet"], "messages_a_packet": shape(r)["messages_a_packet"],
                             "bytes_a_message": shape(r)["bytes_a_message"], "buffer_bytes": r["buffer_bytes_of_a_node"],
                             "made_bytes": r["made_bytes_of_a_node"], "gups_of_a_node": r["gups_of_a_node"],
                             "link_share": r["link_share"]})
    return rows


def large(args):
    """A real group, two ways; what its nodes have made of packets."""
    r = report.run_json([report.program(args, "tools", "grapnel"), "gups", "--transport", "local", "--nodes", str(args.real),
                         "--table", "64K", "--timeout", "600", "--updates", "20000", "--op", "inc", "--threads", "1", "--json", "-"])
    says = model(args, args.real, math.isqrt(args.real))
    return {"nodes": args.real, "verified": r["verified"], "buffer_bytes": r["net"]["buffer_bytes"] / args.real,
            "model_buffer_bytes": says["buffer_bytes_of_a_node"], "mean_packet": r["net"]["mean_packet"]}


def of(rows, key, nodes, ways, flush):
    return next(r[key] for r in rows if (r["nodes"], r["ways"], r["flush_us"]) == (nodes, ways, flush))


def claims_of(compared, predicted):
    claims = []
    for flush, most, within in ((PATIENT, 8, 0.05), (125, 4, 0.15), (125, 8, 0.5)):
        worst = max(abs(math.log(r["ratio"])) for r in compared if r["flush_us"] == flush and r["nodes"] <= most)
        claims.append((f"messages a packet, model against run, up to {most} nodes, {flush} us: factor", math.exp(worst),
                       1 + within, False))
    claims.append(("MiB of packets a node of 1024, two ways", of(predicted, "buffer_bytes", 1024, 2, 125) / 2**20, 16, False))
    for flush in (125, PATIENT):
        claims.append((f"rate of 1024 nodes, two ways over one, {flush} us",
                       of(predicted, "gups_of_a_node", 1024, 2, flush) / of(predicted, "gups_of_a_node", 1024, 1, flush), 0.8,
                       True))
    return claims


def draw(path, rows):
    blocks = {f"w{w}f{f}": [(r["nodes"], r["messages_a_packet"], r["buffer_bytes"] / 2**20, 1e3 * r["gups_of_a_node"])
                            for r in rows if (r["ways"], r["flush_us"]) == (w, f)] for w in (1, 2) for f in (125, PATIENT)}
    lines = [("one way", "w1f125", 1, 1), ("two ways", "w2f125", 2, 1), ("one way, patient", f"w1f{PATIENT}", 1, 2),
             ("two ways, patient", f"w2f{PATIENT}", 2, 2)]

    def panel(title, column, lines, key):
        curves = ", ".join(f'${b} using 1:{column} with linespoints lt {t} dt {d} title "{n}"' for n, b, t, d in lines)
        return f'set title "{title}"\nset key {key}\nplot {curves}\n'

    plot.draw(path, (1080, 360), 'set multiplot layout 1,3\nset logscale x 2\nset xtics (16, 64, 256, 1024, 4096)\n'
              'set xlabel "nodes"\nset logscale y\n' + panel("messages in a packet", 2, lines, "bottom left")
              + panel("MiB of packets a node", 3, lines[:2], "top left")
              + panel("million updates a second, a node", 4, lines, "bottom left") + "unset multiplot\n", **blocks)


def main():
    p = report.parser(__doc__)
    p.add_argument("--real", type=int, help="run a group of this many nodes as well")
    p.add_argument("--svg", help="write the drawing of the predictions to this file; needs gnuplot")
    args = p.parse_args()
    costs = report.run_json([report.program(args, "bench", "bench_net_sort")])["rows"]
    compared, predicted = compare(args), predict(args, costs)
    claims = claims_of(compared, predicted)
    result = {"costs": costs, "compared": compared, "predicted": predicted}
    if args.real:
        result["real"] = large(args)
        claims.append((f"MiB of packets a node of {args.real} that run", result["real"]["buffer_bytes"] / 2**20, 16, False))
    if args.svg:
        draw(args.svg, predicted)
    return report.save(args, "net-model", result, claims)


if __name__ == "__main__":
    sys.exit(main())
