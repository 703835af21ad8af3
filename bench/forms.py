#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Gravel's figure 15: its six applications with messages combined, and sent as other models send them.

Processes of one machine under mpirun run the same kernels; only how messages leave differs (--form): coprocessor (nothing
while threads run, and threads wait while it is sent; also with 16 times the room), coalesced (what 256 messages have for
each destination), message-per-lane. Every result is verified. Combined is never slower than 0.9 of the best of the others, and 3
times as fast as a packet a message where messages are many (gups, pagerank).

    bench/forms.py [--processes N] [--launcher mpirun] [--svg OUT] [--build DIR] [--json OUT]
"""
import os
import random
import statistics
import subprocess
import sys
import tempfile

from support import plot, report

FORMS = {"coprocessor": ["--form", "coprocessor"], "coprocessor, more room": ["--form", "coprocessor", "--log", "16M"],
         "message-per-lane": ["--form", "message-per-lane"], "coalesced": ["--form", "coalesced"],
         "combined": ["--form", "combined"]}


def inputs(args, folder):
    """The commands of the applications; their graphs and sequences are made in the folder."""
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
    return {"gups": ["gups", "--op", "inc", "--table", "4M", "--updates", "131072"],
            "pagerank": ["pagerank", graph, "--iterations", "3", "--verify"], "sssp": ["sssp", roads, "--verify"],
            "color": ["color", graph, "--verify"], "kmeans": ["kmeans", "--points", "50000", "--verify"],
            "mer": ["mer", reads, "--verify"]}


def run(launch, command):
    result = report.run_json(launch + command + ["--threads", "1", "--timeout", "300", "--json", "-"])
    if not result["verified"]:
        sys.exit(f"{' '.join(command)}: not verified")
    return result


def measure(args, launch, command):
    """The forms in turn, so that what else the machine does meets all alike."""
    seconds, net = {form: [] for form in FORMS}, {}
    for _ in range(args.runs):
        for form, options in FORMS.items():
            result = run(launch, command + options)
            seconds[form].append(result["seconds"])
            net[form] = result["net"]
    return [{"form": form, "seconds": statistics.median(seconds[form]), "messages": net[form]["sent"],
             "mean_packet": net[form]["mean_packet"], "messages_a_packet": net[form]["sent"] / max(1, net[form]["packets"])}
            for form in FORMS]


def draw(path, rows):
    blocks = {f"f{k}": [(r["app"], r["of_combined"]) for r in rows if r["form"] == form] for k, form in enumerate(FORMS)}
    bars = ", ".join(f'$f{k} using 2:xtic(1) title "{form}"' for k, form in enumerate(FORMS))
    plot.draw(path, (860, 360), 'set style data histogram\nset style histogram cluster gap 1\nset boxwidth 0.9\n'
              'set ylabel "rate, of combined"\nset yrange [0:*]\nset key outside top horizontal\nset grid xtics noxtics ytics\n'
              f"plot {bars}\n", **blocks)


def main():
    p = report.parser(__doc__)
    p.add_argument("--processes", type=int, default=4)
    p.add_argument("--launcher", default="mpirun")
    p.add_argument("--svg", help="write the drawing of figure 15 to this file; needs gnuplot")
    p.set_defaults(runs=3)
    args = p.parse_args()
    launch = report.launcher(args) + [report.program(args, "tools", "grapnel")]
    rows, claims = [], []
    with tempfile.TemporaryDirectory() as folder:
        for app, command in inputs(args, folder).items():
            forms = measure(args, launch, command)
            ours = next(r["seconds"] for r in forms if r["form"] == "combined")
            for r in forms:
                rows.append({"app": app, **r, "of_combined": ours / r["seconds"]})
            print(f"  {app}: " + ", ".join(f"{r['form']} {r['seconds']:.3f} s" for r in forms))
            claims.append((f"{app}: combined over the best other form",
                           min(r["seconds"] for r in forms if r["form"] != "combined") / ours, 0.9, True))
            if app in ("gups", "pagerank"):
                lane = next(r["seconds"] for r in forms if r["form"] == "message-per-lane")
                claims.append((f"{app}: combined over a packet a message", lane / ours, 3, True))
    if args.svg:
        draw(args.svg, rows)
    return report.save(args, "forms", {"processes": args.processes, "rows": rows}, claims)


if __name__ == "__main__":
    sys.exit(main())
