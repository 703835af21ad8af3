#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `grapnel sim run --trace` and `--heat` write: JSON in Chrome's format in the order of time, whose sums are the counters of the run.

    sim_trace.py GRAPNEL SCRATCH-FOLDER
"""
import collections
import json
import os
import subprocess
import sys
import xml.dom.minidom

RUNS = [("mt", "128", []), ("bs", "2048", ["--threads", "2"]), ("spmv", "1000,.01", ["--opt", "dualopt"]),
        ("bfs", "3000", ["--set", "migrate.policy=first_touch"]), ("pr", "500,.02,3", ["--gpus", "6", "--threads", "3"])]
OF_GPU = {"vector reads": "vector_reads", "vector writes": "vector_writes", "L2 look-ups": "l2_lookups",
          "DRAM transactions": "dram_transactions", "remote transactions": "remote_transactions"}


def run(grapnel, workload, size, options):
    command = [grapnel, "sim", "run", workload, "--size", size, *options, "--json", "-"]
    counted = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    del counted["host_seconds"]
    return counted


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got}, not {want}")


def sums(events):
    """Of counters by process and name; of times that compute units were busy by GPU and unit."""
    counters, busy = collections.Counter(), collections.defaultdict(lambda: [0, 0])
    for e in events:
        if e["ph"] == "C":
            counters[e["pid"], e["name"]] += sum(e["args"].values())
        elif e["ph"] == "X" and e["name"] == "busy":
            busy[e["pid"] - 10, e["tid"] - 1][0] += e["args"]["work_groups"]
            busy[e["pid"] - 10, e["tid"] - 1][1] += e["args"]["cycles"]
    return counters, busy


def check_cus(what, counted, busy):
    columns = counted["by_cu"]["columns"]
    for gpu, cus in enumerate(counted["by_cu"]["gpus"]):
        rows = [dict(zip(columns, row)) for row in cus]
        for name in columns[:-1]:
            same(f"{what}: {name} of the units of GPU {gpu}", sum(row[name] for row in rows), counted["by_gpu"][gpu].get(name, 0))
        for cu, row in enumerate(rows):
            same(f"{what}: busy, GPU {gpu} unit {cu}", busy.get((gpu, cu), [0, 0]), [row["work_groups"], row["busy_cycles"]])


def check_order(what, events):
    times = [e["ts"] for e in events]
    same(f"{what}: events in the order of time", times == sorted(times), True)
    ends = collections.defaultdict(float)
    for e in events:
        if e["ph"] == "X":
            if e["ts"] < ends[e["pid"], e["tid"]] - 1e-9:
                sys.exit(f"{what}: {e} begins before another on its track ends")
            ends[e["pid"], e["tid"]] = e["ts"] + e["dur"]


def check(grapnel, workload, size, options):
    what = f"{workload} {size}"
    counted = run(grapnel, workload, size, [*options, "--trace", "trace.json", "--heat", "heat.svg"])
    same(f"{what}: counters with a trace", counted, run(grapnel, workload, size, options))
    with open("trace.json", encoding="utf-8") as text:
        events = json.load(text)["traceEvents"]
    check_order(what, events)
    counters, busy = sums(events)
    for link in counted["links"]:
        same(f"{what}: flits of {link['name']}", counters[2, link["name"] + " flits"], link["flits"])
    for gpu, one in enumerate(counted["by_gpu"]):
        for name, counter in OF_GPU.items():
            same(f"{what}: {name} of GPU {gpu}", counters[10 + gpu, name], one.get(counter, 0))
    same(f"{what}: page walks", counters[3, "page walks"], counted["page_walks"])
    launches = [e["args"]["cycles"] for e in events if e["ph"] == "X" and e["pid"] == 1]
    same(f"{what}: launches", len(launches), counted["launches"])
    same(f"{what}: cycles", sum(launches) + len(launches) * int(counted["config"]["dispatch.end_cycles"]), counted["kernel_cycles"])
    check_cus(what, counted, busy)
    drawn = xml.dom.minidom.parse("heat.svg").documentElement.toxml()
    for link in counted["links"]:
        same(f"{what}: {link['name']} in the heat map", f">{link['name']}<" in drawn, True)
        same(f"{what}: heat of {link['name']}", f">{link['name']}: " in drawn, link["flits"] > 0)


def refused(grapnel, options, words):
    """Before anything is simulated: this size would take minutes."""
    done = subprocess.run([grapnel, "sim", "run", "mm", "--size", "2048", *options], capture_output=True, text=True, check=False, timeout=60)
    if not done.returncode or words not in done.stderr:
        sys.exit(f"{options}: {done.returncode}: {done.stderr}")


def check_files(grapnel):
    command = [grapnel, "sim", "run", "mt", "--size", "128"]
    subprocess.run([*command, "--trace", "trace.json", "--heat", "heat.svg"], stdout=subprocess.PIPE, check=True)
    for option, name in [("--trace", "trace.json"), ("--heat", "heat.svg")]:
        with open(name, encoding="utf-8") as text:
            same(f"{option} -", subprocess.run([*command, option, "-"], stdout=subprocess.PIPE, check=True, text=True).stdout, text.read())
    same("a file named -", os.path.exists("-"), False)
    refused(grapnel, ["--trace", "one", "--heat", "one"], "--trace and --heat both go to one")
    refused(grapnel, ["--json", "-", "--trace", "-"], "--json and --trace both go to -")
    for option in ["--trace", "--heat", "--json"]:
        refused(grapnel, [option, "no-such-folder/file"], "no-such-folder/file")


def main():
    grapnel = os.path.abspath(sys.argv[1])
    os.makedirs(sys.argv[2], exist_ok=True)
    os.chdir(sys.argv[2])
    for workload, size, options in RUNS:
        check(grapnel, workload, size, options)
    check_files(grapnel)
    print(f"{len(RUNS)} traces")


if __name__ == "__main__":
    main()
