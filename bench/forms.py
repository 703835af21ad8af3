#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gravel's six applications (table 4) on 1 to 8 nodes, with messages combined and sent as other models send them (figure 15).

The same kernels run in every form; only how messages leave differs (--form): coprocessor (nothing while threads run, and threads
wait while it is sent; also with 16 times the room), coalesced (what 256 messages have for each destination), message-per-lane.
Combined is never slower than 0.9 of the best of the others, and 3 times as fast as a packet a message where messages are many
(gups, pagerank).

    bench/forms.py [--machine cpu|cuda] [--inputs small|gravel] [--scale X] [--nodes N,N...] [--only INPUT,INPUT... [--add]]
                   [--limit S] [--minutes M] [--launcher mpirun] [--svg OUT] [--runs N] [--build DIR] [--json OUT]

It needs the target tools/grapnel. Combined runs on each number of nodes, the other forms on the largest. Nodes are threads of one
process, on cuda with one GPU for all of them; with --launcher each is a process. On cuda a kernel sorts the messages of combined;
"combined, host sorts" is the same sorted by the network threads (--sort host), as Gravel does it.

Inputs `gravel` have the sizes of Gravel's table 4 times --scale. bench/support/kin.py draws them (it needs numpy); -1 is the
mesh, -2 the band. SSSP-1 has a sixteenth of the mesh, and edges of length 1: nodes that relax edges in any order send every
vertex the more often the larger the mesh is. A packet a message takes too long for these sizes, so INPUT/64 is a 64th of each
input, in this form and combined.

Every run is verified: gups by itself, the first run of each other input against its reference, and the others by what they found,
which must be the same (the digest; centres and distances of kmeans; counts of mer). A run that fails or takes longer than --limit
is noted in the JSON, and so is the end of --minutes; the others go on, and the exit status is 1.

In the JSON, complete says whether every input has a result in every form; only then are there means. remote_share is the share of
accesses that go to other nodes: counted; for sssp estimated from the mean degree; for kmeans and mer by the rule that chooses
nodes, because their own messages are counted like others. idle_share is that of the network threads' turns in which nothing moved.
"""
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

from support import plot, report

OTHERS = ["coprocessor", "coprocessor, more room", "coalesced"]
LANE, COMBINED, BY_HOST = "message-per-lane", "combined", "combined, host sorts"
GRAVEL = ["gups", "pr-1", "pr-2", "sssp-1", "sssp-2", "color-1", "color-2", "kmeans", "mer"]
FEWER = 64  # times, of the inputs that are sent in a packet a message
VERIFYING = 4  # times as long the first run of an input may take, because a reference is computed
FOUND = ["digest", "iterations", "squared_distances", "clusters", "kmers", "distinct", "once", "unique"]
REMOTE = {"gups": lambda r: r["net"]["sent"] / r["updates"],
          "pagerank": lambda r: r["net"]["sent"] / (r["edges"] * r["iterations"]),
          "sssp": lambda r: r["net"]["sent"] / (r["sends"] * r["edges"] / r["vertices"]),
          "color": lambda r: r["net"]["sent"] / (r["edges"] / 2)}  # one of the two directions of an edge has a message
HOW = {"sssp": "estimated", "kmeans": "by rule", "mer": "by rule"}


class Failed(Exception):
    """Why a run has no result."""


class Input:
    """What an application works on. command: a function of the number of nodes, the application first."""

    def __init__(self, name, command, forms, nodes):
        self.name, self.command, self.forms, self.nodes = name, command, forms, nodes
        self.app, self.found, self.tried = command(1)[0], None, False
        self.turns = [(nodes[-1], form) for form in forms]
        self.fewer = [(n, COMBINED) for n in nodes[:-1]]


# ---- inputs ----

def small(args, folder):
    """Graphs and sequences that are made in the folder."""
    tool = report.program(args, "tools", "grapnel")
    graph, roads, reads = (os.path.join(folder, name) for name in ("kron.gng", "urand.gng", "reads.fa"))
    subprocess.run([tool, "gen", "kron", "--scale", "11", "--undirected", graph], stdout=subprocess.DEVNULL, check=True)
    subprocess.run([tool, "gen", "urand", "--scale", "12", "--degree", "8", roads], stdout=subprocess.DEVNULL, check=True)
    draw = random.Random(1)
    genome = "".join(draw.choice("ACGT") for _ in range(20000))
    with open(reads, "w") as out:
        for k in range(1000):
            at = draw.randrange(len(genome) - 100)
            out.write(f">{k}\n{genome[at:at + 100]}\n")
    commands = [["gups", "--op", "inc", "--table", "4M", "--updates", "131072"], ["pagerank", graph, "--iterations", "3"],
                ["sssp", roads], ["color", graph], ["kmeans", "--points", "50000"], ["mer", reads]]
    return [Input(c[0], lambda _, c=c: c, args.forms + [LANE], args.nodes) for c in commands if wanted(args, c[0])]


def wanted(args, name):
    return not args.only or name in args.only


def is_whole(name):
    return not name.endswith(f"/{FEWER}")


def power(value):
    """The largest power of two that is not more."""
    return 1 << max(6, math.floor(math.log2(value)))


def draw_file(folder, maker, count):
    path = os.path.join(folder, f"{maker.__name__}-{count}.{'fa' if maker.__name__ == 'reads' else 'gng'}")
    if not os.path.exists(path):
        began = time.monotonic()
        maker(path, count)
        print(f"  {os.path.basename(path)} made in {time.monotonic() - began:.1f} s", flush=True)
    return path


def gravel_gups(folder, scale):
    return lambda n: ["gups", "--op", "inc", "--table", str(power((1 << 30) * scale / n)),
                      "--updates", str(round(18e7 * scale / n))]


def gravel_graph(app, maker, vertices, *options):
    def command(folder, scale):
        path = draw_file(folder, maker, max(64, round(vertices * scale)))
        return lambda _: [app, path, *options]
    return command


def gravel_kmeans(folder, scale):
    return lambda _: ["kmeans", "--points", str(round(16e6 * scale)), "--clusters", "8", "--iterations", "10"]


def gravel_mer(maker):
    def command(folder, scale):
        reads = max(100, round(500000 * scale))  # a tenth of the places of the sequence: tables are at most 5/6 full
        path = draw_file(folder, maker, reads)
        return lambda n: ["mer", path, "--table", str(power(24 * reads / n))]
    return command


def gravel(args, folder):
    """The inputs of table 4 or their kin, and their 64ths."""
    from support import kin  # pylint: disable=import-outside-toplevel

    mesh, band = (kin.mesh, 21198119), (kin.band, 5154859)
    sixteenth = (kin.mesh, 21198119 / 16)
    iterations = ("--iterations", "10")
    table = {"gups": gravel_gups, "pr-1": gravel_graph("pagerank", *mesh, *iterations),
             "pr-2": gravel_graph("pagerank", *band, *iterations), "sssp-1": gravel_graph("sssp", *sixteenth, "--most", "1"),
             "sssp-2": gravel_graph("sssp", *band), "color-1": gravel_graph("color", *mesh),
             "color-2": gravel_graph("color", *band), "kmeans": gravel_kmeans, "mer": gravel_mer(kin.reads)}
    made = []
    for name, make in table.items():
        if wanted(args, name):
            made.append(Input(name, make(folder, args.scale), args.forms, args.nodes))
            made.append(Input(f"{name}/{FEWER}", make(folder, args.scale / FEWER), [COMBINED, LANE], args.nodes[-1:]))
    return made


# ---- runs ----

def options_of(args, form):
    if form in (COMBINED, BY_HOST):
        return ["--sort", "host"] if form == BY_HOST else []
    log = ["--log", "4M" if args.cuda else "16M"] if form == "coprocessor, more room" else []
    return ["--form", form.split(",")[0], *log]


def begin(args, nodes):
    args.processes = nodes
    return (report.launcher(args) if args.launcher else []) + [report.program(args, "tools", "grapnel")]


def output_of(command, limit):
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            out, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as error:
            process.terminate()  # a launcher ends its processes
            try:
                process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
            raise Failed(f"it took longer than {limit:g} s") from error
    if process.returncode == report.SKIP:
        sys.exit(report.SKIP)
    if process.returncode:
        raise Failed(f"exit status {process.returncode}: {errors.strip()[-300:]}")
    return out


def check(what, result):
    """Whether the result is right is known, or it is no result. Says how."""
    found = {member: result[member] for member in FOUND if member in result}
    if result.get("verified") is False:
        raise Failed("the result is wrong")
    if what.app == "gups":
        return result["compared"]
    if "verified" in result:
        what.found = what.found or found
        return "reference"
    if found != what.found:
        raise Failed("the result differs from that of the verified run")
    return "the same as verified"


def run(args, what, nodes, form):
    if time.monotonic() > args.until:
        raise Failed("no time was left")
    verify = ["--verify"] if what.app != "gups" and not what.found else []
    limit = args.limit * (VERIFYING if verify and not what.tried else 1)
    what.tried = True
    command = [*what.command(nodes), "--nodes", str(nodes), *options_of(args, form), *args.on, *verify]
    out = output_of([*begin(args, nodes), *command, "--timeout", str(max(30, round(args.limit))), "--json", "-"], limit)
    result = json.loads(out[out.index("{"):])
    return {**result, "checked": check(what, result), "command": " ".join(["grapnel", *map(os.path.basename, command)])}


def row_of(what, nodes, form, results):
    last, net = results[-1], results[-1]["net"]
    share = REMOTE[what.app](last) if what.app in REMOTE else 1 - 1 / nodes
    return {"app": what.app, "input": what.name, "nodes": nodes, "form": form, "command": last["command"],
            "seconds": statistics.median(r["seconds"] for r in results), "checked": last["checked"], "messages": net["sent"],
            "mean_packet": net["mean_packet"], "messages_a_packet": net["sent"] / max(1, net["packets"]), "remote_share": share,
            "remote_share_is": HOW.get(what.app, "counted"), "idle_share": net["idle_share"]}


def measure(args, what, turns):
    """In turn, so that what else the machine does meets all alike."""
    results = {turn: [] for turn in turns}
    failed = {}
    for _ in range(args.runs):
        for turn in [t for t in turns if t not in failed]:
            began = time.monotonic()
            try:
                results[turn].append(run(args, what, *turn))
                print(f"  {what.name}, {turn[0]} nodes, {turn[1]}: {results[turn][-1]['seconds']:.4g} s "
                      f"({time.monotonic() - began:.1f} s)", flush=True)
            except Failed as why:
                failed[turn] = str(why)
                print(f"  {what.name}, {turn[0]} nodes, {turn[1]}: FAILED: {why}", flush=True)
    return [{"app": what.app, "input": what.name, "nodes": turn[0], "form": turn[1], "failed": failed[turn]} if turn in failed
            else row_of(what, *turn, results[turn]) for turn in turns]


def plan(args, inputs):
    """The forms of an input run one after the other. Of inputs that take seconds fewer nodes come last, in case that time ends."""
    if args.inputs == "small":
        return [(what, what.turns + what.fewer) for what in inputs]
    whole = sorted(inputs, key=lambda what: not is_whole(what.name))
    return [(what, what.turns) for what in whole] + [(what, what.fewer) for what in whole if what.fewer]


# ---- what comes of them ----

def rows_before(args):
    """With --add: of the inputs that are not measured now, from a file of runs like these."""
    if not args.add:
        return []
    with open(args.json, encoding="utf-8") as file:
        before = json.load(file)
    same = {"on": args.machine, "inputs": args.inputs, "scale": args.scale, "nodes": args.nodes, "commit": report.commit(args)}
    other = [member for member, value in same.items() if before[member] != value]
    if other:
        sys.exit(f"{args.json}: the {', '.join(other)} of its runs is another; leave --add out")
    return [r for r in before["rows"] if r["input"].split("/")[0] not in args.only]


def seconds(rows, name, nodes):
    return {r["form"]: r["seconds"] for r in rows if r["input"] == name and r["nodes"] == nodes and "seconds" in r}


def best_other(by_form):
    """Seconds of the best form that does not combine; none: infinite."""
    return min((s for form, s in by_form.items() if form not in (COMBINED, BY_HOST)), default=math.inf)


def claims_of(args, rows):
    for name, app in {r["input"]: r["app"] for r in rows}.items():
        by_form = seconds(rows, name, args.nodes[-1])
        if COMBINED in by_form and best_other(by_form) < math.inf and is_whole(name):
            yield f"{name}: combined over the best other form", best_other(by_form) / by_form[COMBINED], 0.9, True
        if COMBINED in by_form and LANE in by_form and app in ("gups", "pagerank"):
            yield f"{name}: combined over a packet a message", by_form[LANE] / by_form[COMBINED], 3, True


def means(args, rows):
    """Of the whole inputs on the most nodes, and the least gain over a packet a message."""
    whole = [name for name in dict.fromkeys(r["input"] for r in rows) if is_whole(name)]
    idle = [r["idle_share"] for r in rows if "idle_share" in r and r["input"] in whole and r["nodes"] == args.nodes[-1] and
            r["form"] == COMBINED]
    one, most = ([seconds(rows, name, n).get(COMBINED) for name in whole] for n in (1, args.nodes[-1]))
    times = [a / b for a, b in zip(one, most) if a and b]
    gains = [1 / r["of_combined"] for r in rows if r["form"] == LANE and "of_combined" in r]
    return {"idle_share": statistics.mean(idle) if idle else None, "least_over_message_per_lane": min(gains, default=None),
            "rate_over_one_node": statistics.geometric_mean(times) if times else None}


def is_complete(args, rows):
    """Has every input a result in every form, and combined on each number of nodes? Those of `small` are those that were run."""
    names = GRAVEL if args.inputs == "gravel" else list(dict.fromkeys(r["input"] for r in rows))
    forms = args.forms if args.inputs == "gravel" else args.forms + [LANE]
    want = {(name, args.nodes[-1], form) for name in names for form in forms}
    want |= {(name, n, COMBINED) for name in names for n in args.nodes}
    if args.inputs == "gravel":
        want |= {(f"{name}/{FEWER}", args.nodes[-1], form) for name in names for form in (COMBINED, LANE)}
    return want <= {(r["input"], r["nodes"], r["form"]) for r in rows if "failed" not in r}


def add_ratios(args, rows):
    for r in rows:
        by_form = seconds(rows, r["input"], args.nodes[-1])
        if COMBINED in by_form and "seconds" in r and r["nodes"] == args.nodes[-1]:
            r["of_combined"] = by_form[COMBINED] / r["seconds"]
            if r["form"] == COMBINED:
                r["of_best_other"] = best_other(by_form) / r["seconds"] if best_other(by_form) < math.inf else None


def draw(path, rows):
    """Bars of the inputs in each form, none where a run failed; those of a packet a message may be of a 64th of the input."""
    bar = {(r["input"].split("/")[0], r["form"]): r["of_combined"] for r in rows
           if "of_combined" in r and (is_whole(r["input"]) or r["form"] == LANE)}
    names, forms = dict.fromkeys(name for name, _ in bar), dict.fromkeys(form for _, form in bar)
    blocks = {f"f{k}": [(name, bar.get((name, form), 0)) for name in names] for k, form in enumerate(forms)}
    bars = ", ".join(f'$f{k} using 2:xtic(1) title "{form}"' for k, form in enumerate(forms))
    plot.draw(path, (860, 360), 'set style data histogram\nset style histogram cluster gap 1\nset boxwidth 0.9\n'
              'set ylabel "rate, of combined"\nset yrange [0:*]\nset key outside top horizontal\nset grid xtics noxtics ytics\n'
              f"plot {bars}\n", **blocks)


def result_of(args, rows):
    add_ratios(args, rows)
    complete = is_complete(args, rows)
    return {"on": args.machine, "inputs": args.inputs, "scale": args.scale, "nodes": args.nodes,
            "processes": args.launcher is not None, "runs": args.runs, "limit_seconds": args.limit, "complete": complete,
            "failed": sum("failed" in r for r in rows), "means": means(args, rows) if complete else None, "rows": rows}


def settle(args):
    """What follows from the options."""
    args.cuda = args.machine.startswith("cuda")
    args.on = ["--machine", args.machine] + ([] if args.cuda else ["--threads", "1"])
    args.nodes = sorted(map(int, args.nodes.split(",")))
    args.only = args.only.split(",") if args.only else []
    args.forms = [COMBINED] + OTHERS + [BY_HOST] * args.cuda
    args.runs = args.runs or (3 if args.inputs == "small" else 1)
    args.until = time.monotonic() + 60 * args.minutes


def main():
    p = report.parser(__doc__)
    p.add_argument("--machine", default="cpu", help="of the nodes: cpu (default), cuda or cuda:INDEX")
    p.add_argument("--nodes", default="1,2,4,8", help="numbers of nodes, separated by commas (default 1,2,4,8)")
    p.add_argument("--inputs", choices=["small", "gravel"], default="small", help="small (default), or those of Gravel's table 4")
    p.add_argument("--scale", type=float, default=1, help="of gravel's inputs, 0.001 for a thousandth (default 1)")
    p.add_argument("--only", help="names of inputs, separated by commas (default all)")
    p.add_argument("--add", action="store_true", help="keep what the file of --json has of other inputs than those of --only")
    p.add_argument("--limit", type=float, default=60,
                   help="seconds that a run may take; the first of an input 4 times as long (default 60)")
    p.add_argument("--minutes", type=float, default=math.inf, help="begin no run after so many (default none)")
    p.add_argument("--launcher", help="begin each node as a process by this launcher of MPI (default: threads of one process)")
    p.add_argument("--svg", help="write the drawing of figure 15 to this file; needs gnuplot")
    p.set_defaults(runs=None)
    args = p.parse_args()
    if args.add and not (args.only and args.json):
        p.error("--add needs --only and --json")
    settle(args)
    rows = rows_before(args)
    with tempfile.TemporaryDirectory() as folder:
        inputs = (small if args.inputs == "small" else gravel)(args, folder)
        for what, turns in plan(args, inputs):
            rows += measure(args, what, turns)
            report.keep(args, "forms", result_of(args, rows))
    bad = report.save(args, "forms", result_of(args, rows), claims_of(args, rows))
    if args.svg:
        draw(args.svg, rows)
    return int(bad or any("failed" in r for r in rows))


if __name__ == "__main__":
    sys.exit(main())
