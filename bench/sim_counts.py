#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts of the simulated machine that docs/sim.md and docs/sim-workloads.md show: beside MGPUSim, decisions that are looked at again,
Grapnel's own search beside SHOC's, pages that move, what DualOpt spares between GPUs, and words in L2. A simulation counts the same on any machine and under any load;
grapnel-bfs only where the same compiler made it, because another orders the blocks of its kernels differently.

    bench/sim_counts.py [--build DIR] [--json OUT]
"""
import sys

from support import report

# cycles of MGPUSim 3.0.3 with the placement of version 2, four GPUs, flits of 16 or 128 bytes
MGPUSIM = [("fir", "65536", 16, 9284), ("mm", "256", 16, 277312), ("km", "4096,1", 16, 203717), ("spmv", "4096,.001", 16, 39464),
           ("mt", "512", 16, 92192), ("mt", "512", 128, 36633), ("spmv", "4096,.001", 128, 30048)]
AGAIN = [("phases", None), ("atax", None), ("spmv", "16384,.001"), ("bfs", "65536,16")]
# data of a quarter of the L2 of four GPUs, as in docs/sim-paper.md
QUARTER = [("atax", "512"), ("bfs", "16384,16"), ("bicg", "512"), ("pr", "8192,.001953125,2"), ("spmv", "8192,.001953125"), ("km", "4096,5"),
           ("mm", "256"), ("mt", "512"), ("st", "512"), ("bs", "16384"), ("sc", "510"), ("aes", "262144"), ("fir", "262144")]
# data as large as the L2 of four GPUs: the third size there
FULL = [("atax", "1024"), ("bfs", "65536,16"), ("bicg", "1024"), ("pr", "32768,.00048828125,2"), ("spmv", "32768,.00048828125"),
        ("km", "16384,5"), ("mm", "512"), ("mt", "1024"), ("st", "1024"), ("bs", "65536"), ("sc", "1022")]
INSENSITIVE = 5  # of these, in the paper's order
MOVES = {"none": [], "page": ["page-migration.conf"], "first touch": ["griffin.conf"], "griffin": ["griffin-counters.conf"]}
KEPT = ["kernel_cycles", "wavefront_instructions", "remote_transactions", "l1v_read_hits", "l1v_read_misses", "l1v_writes", "dram_transactions"]


class Runs:
    def __init__(self, args):
        self.grapnel = report.program(args, "tools", "grapnel")

    def __call__(self, workload, size, configs=(), sets=(), opt=None):
        command = [self.grapnel, "sim", "run", workload, *(["--size", size] if size else []), *(["--opt", opt] if opt else [])]
        for name in configs:
            command += ["--config", name]
        for one in sets:
            command += ["--set", one]
        run = report.run_json([*command, "--json", "-"])
        if not run["verified"]:
            sys.exit(f"{' '.join(command)}: wrong results")
        print(f"  {workload} {size or ''} {' '.join(configs)} {' '.join(sets)} {opt or ''}: {run['kernel_cycles']} cycles", flush=True)
        return run


def beside_mgpusim(sim):
    for workload, size, flit, theirs in MGPUSIM:
        run = sim(workload, size, sets=["dispatch.end_cycles=0", f"net.flit_bytes={flit}"])
        yield {"workload": workload, "size": size, "flit_bytes": flit, "mgpusim_cycles": theirs, **{k: run[k] for k in KEPT},
               "more": run["kernel_cycles"] / theirs - 1}


def counters(sim):
    for workload, size in [("aes", "65536"), ("pr", "2048,.005,1")]:
        yield {"workload": workload, "size": size, **{k: v for k, v in sim(workload, size).items() if k in KEPT}}


def again(sim):
    ways = {"once": [], "redecide.conf": ["redecide.conf"], "100,000": ["redecide.conf"]}
    for workload, size in AGAIN:
        row = {"workload": workload, "size": size or ""}
        for name, configs in ways.items():
            sets = ["decide.interval=100000", "decide.window=20000"] if name == "100,000" else []
            row[name] = round(1e-6 * sim(workload, size, ["dualopt.conf", *configs], sets, "dualopt")["kernel_cycles"], 6)
        yield row


def searches(sim):
    for workload in ["bfs", "grapnel-bfs"]:
        for opt in ["none", "bypass", "coalesce", "dualopt"]:
            run = sim(workload, "16384,8", ["dualopt.conf"], ["decide.warmup_cycles=0"], opt)
            yield {"workload": workload, "opt": opt, "kernel_cycles": run["kernel_cycles"], "remote_transactions": run["remote_transactions"]}


def moves(sim):
    for workload, size in QUARTER:
        row = {"workload": workload, "size": size}
        for name, configs in MOVES.items():
            run = sim(workload, size, ["dualopt.conf", *configs])
            row[name] = {k: v for k, v in run.items() if k in ("kernel_cycles", "remote_transactions") or k.startswith("migrate_")}
        for name in list(MOVES)[1:]:
            row[f"{name}, times as fast"] = row["none"]["kernel_cycles"] / row[name]["kernel_cycles"]
        yield row


def words_in_l2(sim):
    """What whole lines in L2 spare beside words, where remote reads ask for words."""
    for workload, size in FULL[:INSENSITIVE]:
        row = {"workload": workload, "size": size}
        for name in ("lines", "words"):
            run = sim(workload, size, ["dualopt.conf"], [f"dualopt.fine_l2={'yes' if name == 'words' else 'no'}"], "coalesce")
            row[name] = {k: run[k] for k in ("kernel_cycles", "l2_hits", "l2_misses", "l2_merges", "l2_word_misses", "l2_fetched_words", "dram_reads")}
            row[name]["l2_hit_share"] = round(run["l2_hits"] / run["l2_lookups"], 4)
        row["lines over words"] = row["words"]["kernel_cycles"] / row["lines"]["kernel_cycles"]
        yield row


def packets_of_replies(run):
    """As each request is a packet of its own; those of page walks count too."""
    return run["net_messages"] - run["remote_transactions"]


def crossed(workload, size, without, using):
    """What went between GPUs without DualOpt and with it."""
    row = {"workload": workload, "size": size, "writes": using["remote_writes"], "words_a_packet": using["codec_words"] / max(using["codec_packets"], 1)}
    reads = sum(without[f"remote_words_{k}"] for k in range(1, 17))
    row["words_a_read"] = sum(k * without[f"remote_words_{k}"] for k in range(1, 17)) / max(reads, 1)
    for name, run in [("without", without), ("with", using)]:
        row[name] = {"reads": run["remote_reads"], "bytes": run["net_bytes"], "megabytes": 1e-6 * run["net_bytes"]}
    row["reduced"] = {"bytes": without["net_bytes"] / using["net_bytes"], "flits": without["net_flits_in"] / using["net_flits_in"],
                      "packets": without["net_messages"] / using["net_messages"],
                      "replies": packets_of_replies(without) / packets_of_replies(using)}
    return row


def traffic(sim):
    for workload, size in FULL:
        yield crossed(workload, size, *[sim(workload, size, ["dualopt.conf"], opt=opt) for opt in ("none", "dualopt")])


def means(rows):
    parts = {"cache-insensitive": rows[:INSENSITIVE], "cache-friendly": rows[INSENSITIVE:], "both": rows}
    return [{"class": name, **{k: sum(r["reduced"][k] for r in part) / len(part) for k in part[0]["reduced"]}} for name, part in parts.items()]


def main():
    args = report.parser(__doc__).parse_args()
    sim = Runs(args)
    rows = {"beside_mgpusim": list(beside_mgpusim(sim)), "counters": list(counters(sim)), "again": list(again(sim)), "searches": list(searches(sim)),
            "moves": list(moves(sim)), "traffic": list(traffic(sim)), "words_in_l2": list(words_in_l2(sim))}
    rows["traffic_means"] = means(rows["traffic"])
    return report.save(args, "sim-counts", rows, [
        ("cycles beside MGPUSim's, most off", max(abs(r["more"]) for r in rows["beside_mgpusim"]), 0.2, False)])


if __name__ == "__main__":
    sys.exit(main())
