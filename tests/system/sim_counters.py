#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every workload under every mechanism of the simulated machine counts exactly what sim_counters.json says.

    sim_counters.py GRAPNEL [--write]

A run counts more than a hundred things. The file has those that a reader looks at first, and a checksum of all. If a change is meant to
change counts, look at what --write changes in the file, and say why in the commit; figures in docs/ may have to be measured again.
"""
import json
import os
import subprocess
import sys
import zlib

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "sim_counters.json")
WORKLOADS = {"atax": "100", "bfs": "3000", "bicg": "70x130", "pr": "128,.05,2", "spmv": "1000,.01", "km": "500,2", "mm": "64",
             "mm-right": "64x96x64", "mt": "128", "st": "40x100,2", "bs": "1024", "sc": "60x40", "aes": "4096", "fir": "5000", "add": "5000",
             "phases": "3000"}
MECHANISMS = {"none": [], "bypass": ["--opt", "bypass"], "fine alone": ["--set", "dualopt.fine=yes", "--set", "dualopt.mshr_masks=yes"],
              "coalesce alone": ["--set", "dualopt.coalesce=yes", "--set", "codec.packet_bytes=204"], "fine": ["--opt", "fine"],
              "coalesce": ["--opt", "coalesce"], "coalesce, words in L2": ["--opt", "coalesce", "--set", "dualopt.fine_l2=yes"],
              "cache": ["--opt", "cache"], "dualopt": ["--opt", "dualopt"],
              "page": ["--set", "migrate.policy=page"], "first touch": ["--set", "migrate.policy=first_touch"],
              "griffin": ["--set", "migrate.policy=griffin", "--set", "migrate.period=5000"],
              "griffin, cache, 2 moves": ["--opt", "cache", "--set", "migrate.policy=griffin", "--set", "migrate.period=5000", "--set", "migrate.moves=2"],
              "griffin without counters": ["--set", "migrate.policy=griffin", "--set", "migrate.period=0"]}
SHOWN = ["kernel_cycles", "wavefront_instructions", "l1v_read_hits", "l1v_read_misses", "l2_hits", "dram_transactions", "remote_transactions",
         "net_messages", "net_bytes"]
NOT_COUNTED = {"events", "gpus", "seed"}  # of the simulator, and what was asked for


def counted(grapnel, workload, options):
    command = [grapnel, "sim", "run", workload, "--size", WORKLOADS[workload], "--config", "dualopt.conf", "--set", "decide.warmup_cycles=0",
               "--set", "decide.window=2000", *options, "--json", "-"]
    run = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
    if not run["verified"]:
        sys.exit(f"{' '.join(command)}: wrong results")
    every = [f"{name} {value}" for name, value in sorted(run.items()) if isinstance(value, int) and name not in NOT_COUNTED]
    return {**{name: run[name] for name in SHOWN}, "of all": f"{zlib.crc32(' '.join(every).encode()):08x}"}


def text(runs):
    lines = [f' "{name}": {json.dumps(list(run.values()))}' for name, run in runs.items()]
    return '{\n "columns": ' + json.dumps([*SHOWN, "of all"]) + ",\n" + ",\n".join(lines) + "\n}\n"


def main():
    here = {f"{w}, {m}": counted(sys.argv[1], w, options) for w in WORKLOADS for m, options in MECHANISMS.items()}
    if "--write" in sys.argv:
        with open(FILE, "w", encoding="utf-8") as to:
            to.write(text(here))
        return 0
    with open(FILE, encoding="utf-8") as kept:
        want = json.load(kept)
    columns = want.pop("columns")
    wrong = 0
    for name in sorted({*here, *want}):
        other = dict(zip(columns, want.get(name, [])))
        for column, value in here.get(name, {}).items():
            if other.get(column) != value:
                print(f"{name}: {column} is {value}, not {other.get(column)}")
                wrong += 1
        if name not in here:
            print(f"{name}: is in the file alone")
            wrong += 1
    print(f"{len(here)} runs, {wrong} counts differ from {os.path.basename(FILE)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
