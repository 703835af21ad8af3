#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a model whose constants were measured by themselves say what nodes do, and what does it say of 4096 of them?

1. Constants: bench_net_costs measures what an update, sorting, applying, a packet and a byte of it take a processor. No workload
   that is predicted is among them.
2. Nodes of one process update each other's tables, 2, 4 and 8 of them, one way and two. The model (grapnel net-model) says the
   messages in a packet, and the seconds of processors. Times of clocks are not compared: the nodes share their cores.
3. With --hosts, processes in network namespaces, joined by links of a known delay or rate (support/hosts.py). Of meetings
   (barrier, quiet, all-gather) the number of hops is predicted, and the time twice: with the delay that was set, and with half of the
   time of a fetched word between two hosts. Of updates over slow links the time is predicted, and how much faster they
   are than a packet a message where a hop takes 1 ms. --hosts-only does these alone. It must run as root.
4. The model goes on to 4096 nodes over a link of 12.5 GB/s and 2 us, and says what bounds each rate.

A prediction holds within the factor that its claim states. --real N: a group of N nodes also runs, in this process.

    bench/net_model.py [--hosts] [--delay MS] [--real N] [--svg OUT] [--build DIR] [--json OUT]
"""
import math
import os
import statistics
import sys

from support import hosts, plot, report

RUNS = [(2, 1), (4, 1), (4, 2), (8, 1), (8, 2), (8, 3)]
NODES = [16, 32, 64, 128, 256, 512, 1024, 2048, 4096]
PATIENT = 20000  # us: nothing is sent for its age
LINK_GB, LATENCY_NS = 12.5, 2000
TABLE = "8M"  # bytes of each node's part in net_meet.c and net_costs.c
MESSAGE, FULL = 16, 4094  # bytes of a message; messages of a full packet
CORES = len(os.sched_getaffinity(0))


# ---- constants ----

def constants(args):
    """All in nanoseconds. What an end of a packet takes is the mean of both ends."""
    program = report.program(args, "bench", "bench_net_costs")
    of = report.run_json([program])
    ends = {(e["messages"], e["compressed"]): e for e in of["ends"]}
    one, full, small = ends[1, False], ends[FULL, False], ends[FULL, True]
    byte = (full["seal_ns"] - one["seal_ns"]) / (MESSAGE * (FULL - 1))
    apply = (full["receive_ns"] - one["receive_ns"]) / (FULL - 1) - MESSAGE * byte
    send = of["sort_alone_ns"] - of["rows"][0]["sort_ns"]
    packed = (small["seal_ns"] + small["receive_ns"] - one["seal_ns"] - one["receive_ns"] - (FULL - 1) * apply) / 2
    result = {"rows": of["rows"], "apply_ns": apply, "packet_ns": (send + one["receive_ns"] - apply - MESSAGE * byte) / 2, "byte_ns": byte,
              "compressed_byte_ns": packed / (MESSAGE * (FULL - 1)), "look_ns": of["look_ns"]}
    for row in of["rows"]:  # a message's share of its packets is no part of sorting
        row["sort_ns"] -= send / FULL + MESSAGE * byte
        if "pass_ns" in row:
            row["pass_ns"] -= (send + one["receive_ns"]) / FULL + 2 * MESSAGE * byte
    args.processes = 1
    result["mpi_packet_ns"] = report.run_json([*report.launcher(args), program, "mpi=1"])["mpi"][0]["both_ends_ns"] / 2
    print("  constants, ns: " + ", ".join(f"{k} {v:.4g}" for k, v in result.items() if k != "rows"))
    return result


def cost(c, key, nodes, columns):
    """Between the grids that were measured, along the logarithm of the ways."""
    known = sorted((r["nodes"] // r["columns"], r[key]) for r in c["rows"] if (r["columns"] == 1) == (columns == 1))
    ways = nodes // columns
    if ways <= known[0][0]:
        return known[0][1]
    for (a, at_a), (b, at_b) in zip(known, known[1:]):
        if a <= ways <= b:
            return at_a + (at_b - at_a) * math.log(ways / a) / math.log(b / a)
    return known[-1][1]


def costs_of(c, nodes, columns, carried):
    """As the model has them. Carried: by MPI, compressed; else handed over."""
    return {"update": cost(c, "update_ns", nodes, 1), "sort": cost(c, "sort_ns", nodes, columns),
            "pass": cost(c, "pass_ns", nodes, max(columns, 2)), "apply": c["apply_ns"],
            "packet": c["packet_ns"] + (c["mpi_packet_ns"] if carried else 0),
            "byte": c["compressed_byte_ns" if carried else "byte_ns"], "look": c["look_ns"]}


def model(args, c, nodes, columns, carried, *options):
    of = costs_of(c, nodes, columns, carried)
    named = [word for key, ns in of.items() for word in (f"--{key}-ns", str(max(ns, 0.001)))]
    return report.run_json([report.program(args, "tools", "grapnel"), "net-model", "--nodes", str(nodes), "--columns", str(columns),
                            "--table", TABLE, *named, *(["--compress"] if carried else []), *options, "--json", "-"])


def processor_ns(of, r, updates):
    """What a model's run takes processors: of an update, of sorting, of applying and of packets, of all nodes."""
    net = r["net"]
    return {"update": updates * of["update"], "sorting": net["sent"] * of["sort"], "passing": net["passed"] * of["pass"],
            "applying": net["sent"] * of["apply"], "packets": 2 * (net["packets"] * of["packet"] + net["message_bytes"] * of["byte"])}


# ---- nodes of one process ----

def meet(args, launch, *options):
    """What bench_net_meet prints; it ends with an error if an update is lost."""
    return report.run_json([*launch, report.program(args, "bench", "bench_net_meet"), *options], timeout=900)


def shape(net):
    return {"messages_a_packet": net["sent"] / net["packets"], "bytes_a_message": net["packet_bytes"] / net["sent"],
            "full_share": net["full"] / net["packets"]}


def compare(args, c):
    rows, updates = [], 1000000
    for flush in (PATIENT, 125):
        for nodes, columns in RUNS:
            runs = [meet(args, [], f"nodes={nodes}", f"columns={columns}", f"flush={flush}", "times=0", f"updates={updates}")["updates"]
                    for _ in range(args.runs)]
            is_ = {key: statistics.median(shape(r)[key] for r in runs) for key in shape(runs[0])}
            is_["processor_s"] = statistics.median(r["processor_s"] for r in runs)
            r = model(args, c, nodes, columns, False, "--simulated", "0", "--cores", str(CORES), "--flush", str(flush), "--updates",
                      str(updates))
            says = {**shape(r["net"]),
                    "processor_s": 1e-9 * sum(processor_ns(costs_of(c, nodes, columns, False), r, nodes * updates).values())}
            ratio = {key: says[key] / is_[key] for key in ("messages_a_packet", "processor_s")}
            rows.append({"nodes": nodes, "columns": columns, "flush_us": flush, "run": is_, "model": says, "ratio": ratio})
            print(f"  {nodes} nodes in {columns} columns, {flush} us: model / run: messages a packet {says['messages_a_packet']:.0f} / "
                  f"{is_['messages_a_packet']:.0f}, processor seconds {says['processor_s']:.3f} / {is_['processor_s']:.3f}")
    return rows


# ---- hosts ----

def hops(nodes):
    """One after the other. A barrier is a quiet of the nodes to which signals were sent, then up a tree and down; an all-gather
    is a barrier, a step for each doubling, and up and down once more."""
    depth = math.ceil(math.log2(nodes))
    return {"quiet_one": 2, "quiet_all": 2, "barrier": 2 + 2 * depth, "gather_words": 2 + 5 * depth, "gather_parts": 2 + 5 * depth}


def barrier_packets(nodes):
    """Of each edge of the tree: a mark and an answer each way, and a signal up; the signal down is in the packet of the mark."""
    return 5 * (nodes - 1)


def meetings(args, delay):
    rows, hop = [], 0
    for nodes in (2, 4, 8):
        with hosts.Hosts(nodes, delay=delay) as h:
            is_ = meet(args, h.launch, f"times={args.times}")["meetings"]
        hop = hop or is_["fetch"]["median_s"] / 2  # of two nodes
        for name, count in hops(nodes).items():
            seconds = is_[name]["median_s"]
            rows.append({"nodes": nodes, "delay_s": delay, "meeting": name, "hops": count, "seconds": seconds, "set_s": count * delay,
                         "by_fetch_s": count * hop, "packets": is_[name]["packets"]})
            print(f"  {nodes} hosts, {1e3 * delay:g} ms: {name} {1e3 * seconds:.1f} ms; {count} hops of the delay {1e3 * count * delay:.1f}, "
                  f"of half a fetch {1e3 * count * hop:.1f}; {is_[name]['packets']:.1f} packets")
    return rows


def shaped_updates(args, c, nodes, updates, rate, delay, form):
    """Seconds, of a run and of the model. A rate of 0: the model's link is so fast that only the delay counts."""
    with hosts.Hosts(nodes, rate=rate, delay=delay) as h:
        is_ = meet(args, h.launch, "times=0", f"updates={updates}", f"form={form}")["updates"]
    packet = ["--packet", "1"] if form == "message-per-lane" else []
    says = model(args, c, nodes, 1, True, "--simulated", "0", "--cores", str(CORES), "--updates", str(updates), "--link",
                 str((rate or 1e11) / 8e9), "--latency", str(1e9 * delay), *packet)
    row = {"nodes": nodes, "updates": updates, "rate_bits": rate, "delay_s": delay, "form": form, "seconds": is_["seconds"],
           "model_s": says["seconds"], "messages_a_packet": is_["sent"] / is_["packets"],
           "model_messages_a_packet": says["net"]["sent"] / says["net"]["packets"]}
    print(f"  {nodes} hosts, {rate / 1e6:g} Mbit/s, {1e3 * delay:g} ms, {updates} updates, {form}: {row['seconds']:.3f} s, model "
          f"{row['model_s']:.3f}; {row['messages_a_packet']:.1f} messages a packet, model {row['model_messages_a_packet']:.1f}")
    return row


def on_hosts(args, c):
    slow = [shaped_updates(args, c, nodes, 400000, 4000000, 0, "combined") for nodes in (2, 4)]
    far = [shaped_updates(args, c, 4, updates, 0, 1e-3, form) for form, updates in (("combined", 1000000), ("message-per-lane", 2000))]
    met = meetings(args, 1e-3) + meetings(args, 1e-3 * args.delay)
    return {"meetings": met, "slow": slow, "far": far}


# ---- more nodes than there are ----

def bounds(of, r, nodes, columns):
    """What one update of a node takes each thing that could bound it, ns; its network thread does four of them."""
    net, updates = r["net"], r["updates"] * r["simulated"]
    took = {key: ns / updates for key, ns in processor_ns(of, r, updates).items()}
    pools = 2 * nodes + 2 if columns == 1 else 2 * (columns + nodes // columns) + 4  # gn_rule_pool; packets that may be on their way
    took["link"] = net["packet_bytes"] / LINK_GB / updates
    took["latency"] = net["packets"] / updates * 2 * LATENCY_NS / pools
    return took


def bound_of(took, of_update):
    """The name of what bounds, and its share of the time; what the network thread does adds up."""
    thread = {k: took[k] for k in ("sorting", "passing", "applying", "packets")}
    all_ = {"update": took["update"], max(thread, key=thread.get): sum(thread.values()), "link": took["link"], "latency": took["latency"]}
    name = max(all_, key=all_.get)
    return name, all_[name] / of_update


def predict(args, c):
    rows = []
    for flush in (125, PATIENT):
        for nodes in NODES:
            for columns in (1, math.isqrt(nodes)):
                of = costs_of(c, nodes, columns, True)
                r = model(args, c, nodes, columns, True, "--simulated", "2", "--flush", str(flush), "--link", str(LINK_GB),
                          "--latency", str(LATENCY_NS))
                took = bounds(of, r, nodes, columns)
                name, share = bound_of(took, 1 / r["gups_of_a_node"])
                rows.append({"nodes": nodes, "ways": 1 if columns == 1 else 2, "flush_us": flush, "sort_ns": of["sort"],
                             **shape(r["net"]), "buffer_bytes": r["buffer_bytes_of_a_node"], "made_bytes": r["made_bytes_of_a_node"],
                             "gups_of_a_node": r["gups_of_a_node"], "link_share": r["link_share"], "of_an_update_ns": took,
                             "bound": name, "bound_share": share})
                if nodes in (1024, 4096):
                    print(f"  {nodes} nodes, {rows[-1]['ways']} way(s), {flush} us: {1e3 * r['gups_of_a_node']:.3g} M/s a node, "
                          f"bound by {name} ({share:.0%} of the time)")
    return rows


def predict_meetings(c, nodes):
    """Where every node has cores of its own and nobody waits for one: at least so long."""
    packet = c["packet_ns"] + c["mpi_packet_ns"]
    hop = LATENCY_NS + 2 * packet
    part = 8192 * (nodes - 1) / LINK_GB
    marks = 4 * (nodes - 1) * packet
    rows = {name: (count * hop, "latency" if LATENCY_NS > 2 * packet else "packets") for name, count in hops(nodes).items()}
    rows["quiet_all"] = (2 * hop + marks, "packets" if marks > 2 * hop else "latency")
    rows["gather_parts"] = (rows["gather_parts"][0] + part, "link" if part > rows["gather_parts"][0] else "latency")
    for name, (ns, bound) in rows.items():
        print(f"  {nodes} nodes, one way: {name} {ns / 1e3:.3g} us, bound by {bound}")
    return [{"nodes": nodes, "meeting": name, "us": ns / 1e3, "bound": bound} for name, (ns, bound) in rows.items()]


def large(args):
    """A real group, two ways; what its nodes have made of packets."""
    r = report.run_json([report.program(args, "tools", "grapnel"), "gups", "--transport", "local", "--nodes", str(args.real),
                         "--table", "64K", "--timeout", "600", "--updates", "20000", "--op", "inc", "--threads", "1", "--json", "-"])
    says = report.run_json([report.program(args, "tools", "grapnel"), "net-model", "--nodes", str(args.real), "--updates", "1000",
                            "--json", "-"])
    return {"nodes": args.real, "verified": r["verified"], "buffer_bytes": r["net"]["buffer_bytes"] / args.real,
            "model_buffer_bytes": says["buffer_bytes_of_a_node"], "mean_packet": r["net"]["mean_packet"]}


# ---- what holds ----

def factor(pairs):
    """The worst quotient of a prediction and a measurement, as a number from 1 on."""
    return max(math.exp(abs(math.log(a / b))) for a, b in pairs)


def claims_of_nodes(compared):
    for flush, most, within in ((PATIENT, 8, 1.05), (125, 4, 1.15), (125, 8, 1.5)):
        pairs = [(r["ratio"]["messages_a_packet"], 1) for r in compared if r["flush_us"] == flush and r["nodes"] <= most]
        yield f"messages a packet, model against run, up to {most} nodes, {flush} us: factor", factor(pairs), within, False
    for ways, rows in (("one way", [r for r in compared if r["columns"] == 1]), ("two ways", [r for r in compared if r["columns"] > 1])):
        yield (f"processor seconds of updates, model against run, up to 8 nodes, {ways}: factor",
               factor((r["ratio"]["processor_s"], 1) for r in rows), 2, False)


def claims_of_hosts(of):
    for row in of["slow"]:
        yield (f"updates of {row['nodes']} hosts over {row['rate_bits'] / 1e6:g} Mbit/s, model against run: factor",
               factor([(row["model_s"], row["seconds"])]), 1.5, False)
        yield (f"messages a packet of {row['nodes']} hosts over {row['rate_bits'] / 1e6:g} Mbit/s, model against run: factor",
               factor([(row["model_messages_a_packet"], row["messages_a_packet"])]), 1.5, False)
    rate, says = ([r["updates"] / r[key] for r in of["far"]] for key in ("seconds", "model_s"))
    yield "hops of 1 ms: updates combined over a packet a message", rate[0] / rate[1], 10, True
    yield "hops of 1 ms: that quotient, model against run: factor", factor([(says[0] / says[1], rate[0] / rate[1])]), 3, False
    met = of["meetings"]
    for delay in sorted({r["delay_s"] for r in met}):
        for key, what in (("set_s", "the delay that was set"), ("by_fetch_s", "half a fetch of two hosts")):
            yield (f"meetings of 2 to 8 hosts, hops of {1e3 * delay:g} ms, by {what}: factor",
                   factor((r[key], r["seconds"]) for r in met if r["delay_s"] == delay), 1.5, False)
    yield ("packets of a barrier, predicted against run: factor",
           factor((barrier_packets(r["nodes"]), r["packets"]) for r in met if r["meeting"] == "barrier"), 1.25, False)


def at(rows, key, nodes, ways, flush):
    return next(r[key] for r in rows if (r["nodes"], r["ways"], r["flush_us"]) == (nodes, ways, flush))


def claims_of_many(predicted):
    yield "MiB of packets a node of 1024, two ways", at(predicted, "buffer_bytes", 1024, 2, 125) / 2**20, 16, False
    for flush in (125, PATIENT):
        yield (f"rate of 1024 nodes, two ways over one, {flush} us",
               at(predicted, "gups_of_a_node", 1024, 2, flush) / at(predicted, "gups_of_a_node", 1024, 1, flush), 0.8, True)


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


def parse():
    p = report.parser(__doc__)
    p.add_argument("--hosts", action="store_true", help="also compare processes in network namespaces; as root")
    p.add_argument("--hosts-only", action="store_true", help="compare these alone")
    p.add_argument("--delay", type=float, default=50, help="ms of a hop in the second comparison of meetings; the first has 1 (default 50)")
    p.add_argument("--times", type=int, default=12, help="each meeting so often on hosts (default 12)")
    p.add_argument("--launcher", default="mpirun")
    p.add_argument("--real", type=int, help="run a group of this many nodes as well")
    p.add_argument("--svg", help="write the drawing of the predictions to this file; needs gnuplot")
    p.set_defaults(runs=3)
    return p.parse_args()


def main():
    args = parse()
    missing = hosts.enter() if args.hosts or args.hosts_only else "not asked for; give --hosts"
    c = constants(args)
    result, claims = {"constants": c, "hosts_missing": missing}, []
    if missing:
        print(f"left out: hosts: {missing}")
    else:
        result["hosts"] = on_hosts(args, c)
        claims += claims_of_hosts(result["hosts"])
    if not args.hosts_only:
        result.update(compared=compare(args, c), predicted=predict(args, c),
                      predicted_meetings=predict_meetings(c, 1024) + predict_meetings(c, 4096))
        claims += [*claims_of_nodes(result["compared"]), *claims_of_many(result["predicted"])]
        if args.svg:
            draw(args.svg, result["predicted"])
    if args.real:
        result["real"] = large(args)
        claims.append((f"MiB of packets a node of {args.real} that run", result["real"]["buffer_bytes"] / 2**20, 16, False))
    return report.save(args, "net-model", result, claims)


if __name__ == "__main__":
    sys.exit(main())
