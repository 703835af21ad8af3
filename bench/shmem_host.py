#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PEs of one host in each other's heaps: grapnel-shmem by loads and stores, by messages, and Open MPI's OpenSHMEM, in one run.

bench/shmem_host.c is one program for any OpenSHMEM: words that are asked for and put one by one, 1 MiB at a time, random
counts that all PEs change at once, meetings of all. It is linked with grapnel-shmem, and by oshcc, where there is one, with
Open MPI's; they run in turn. What PEs do by themselves takes at most a twentieth of a message and its answer, and is as fast as
the other. All words are verified.

    bench/shmem_host.py [--pes N...] [--launcher mpirun.openmpi] [--rival-launcher oshrun] [--build DIR] [--json OUT]

The limits beside them: memory of the PE's own, copied, and changed by the processor's atomics.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

from support import report

WHAT = ("get_word", "fetch_add", "put_word_quiet", "get_byte", "put_byte", "change", "barrier")
LIMIT = {"get_byte": "own_byte", "put_byte": "own_byte", "change": "own_change"}


def run(command, route=None):
    """Seconds for one of each. Open MPI's is seen to fail behind the end of the program: what it printed counts."""
    env = {**os.environ, **({"GRAPNEL_SHMEM_ROUTE": route} if route else {})}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, env=env)
    if "{" not in done.stdout or (route and done.returncode):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    result = report.json.loads(done.stdout[done.stdout.index("{"):done.stdout.index("}") + 1])
    if result["wrong"]:
        sys.exit(f"{' '.join(command)}: {result['wrong']} words are wrong")
    return result


def compile_rival(args, folder):
    """The program over Open MPI's OpenSHMEM; None: there is none here."""
    if not shutil.which("oshcc") or not shutil.which(args.rival_launcher):
        print("  oshcc is missing: nothing to compare with")
        return None
    rival = os.path.join(folder, "shmem_host")
    subprocess.run(["oshcc", "-O2", "-o", rival, os.path.join(report.ROOT, "bench", "shmem_host.c")], check=True)
    return rival


def measure(args, pes, ours, rival):
    ways = {way: lambda way=way: run([args.launcher, "-np", str(pes), ours], way) for way in ("direct", "packets")}
    if rival:
        ways["rival"] = lambda: run([args.rival_launcher, "--oversubscribe", "-np", str(pes), rival])
    median = {way: {what: statistics.median(r[what] for r in results) for what in results[0]}
              for way, results in report.in_turn(args.runs, ways).items()}
    rows = []
    for what in WHAT:
        row = {"what": what, **{way: median[way][what] for way in ways}}
        if what in LIMIT:
            row["limit"] = median["direct"][LIMIT[what]]
        rows.append(row)
        print(f"  {pes} PEs, {what:15}" + "".join(f" {k} {v:.4g}" for k, v in row.items() if k != "what"))
    return rows


def claims_of(pes, rows):
    of = {row["what"]: row for row in rows}
    claims = [(f"{pes} PEs, {what}: a message over doing it by itself", of[what]["packets"] / of[what]["direct"], 20, True)
              for what in ("get_word", "fetch_add")]
    if "rival" in of["get_word"]:
        claims += [(f"{pes} PEs, {what}: Open MPI's OpenSHMEM over ours", of[what]["rival"] / of[what]["direct"], 1, True)
                   for what in ("get_word", "fetch_add", "put_word_quiet", "change")]
    return claims


def main():
    p = report.parser(__doc__)
    p.add_argument("--pes", type=int, nargs="*", default=[2, 4])
    p.add_argument("--launcher", default="mpirun.openmpi")
    p.add_argument("--rival-launcher", default="oshrun")
    args = p.parse_args()
    args.processes = 1
    report.launcher(args)
    ours = report.program(args, "bench", "bench_shmem_host")
    rows, claims = {}, []
    with tempfile.TemporaryDirectory() as folder:
        rival = compile_rival(args, folder)
        for pes in args.pes:
            rows[pes] = measure(args, pes, ours, rival)
            claims += claims_of(pes, rows[pes])
    return report.save(args, "shmem-host", {"unit": "seconds for one; of a byte for get_byte and put_byte", "rows": rows}, claims)


if __name__ == "__main__":
    sys.exit(main())
