# SPDX-License-Identifier: Apache-2.0
"""What every script of bench/ shares: options, the machine, and a JSON file that says where it came from."""
import argparse
import datetime
import json
import os
import platform
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# what grapnel tune has kept for this machine must not change what is measured
os.environ["XDG_CONFIG_HOME"] = os.path.join(ROOT, "bench", "no-settings")
SKIP = 77


def parser(doc):
    p = argparse.ArgumentParser(description=doc.split("\n")[0])
    p.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="folder of the build (default build/release)")
    p.add_argument("--json", help="file for the result (default out/bench/NAME.json)")
    p.add_argument("--runs", type=int, default=5, help="number of runs; the result is their median (default 5)")
    p.add_argument("--commit", help="commit that was built, if this is not a git checkout")
    return p


def commit(args):
    if args.commit:
        return args.commit
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def machine():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    return {"cpu": names[0] if names else platform.machine(), "cores": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "load": round(os.getloadavg()[0], 2)}


def program(args, *path):
    """A program of the build, or an exit that says it is missing."""
    found = os.path.join(args.build, *path)
    if not os.path.exists(found):
        print(f"{found} does not exist; build it first with ./run build, or ninja -C {args.build} {'/'.join(path)}", file=sys.stderr)
        sys.exit(SKIP)
    return found


def launcher(args):
    """How a program is begun in args.processes processes of MPI, or an exit that says that there is none."""
    if not shutil.which(args.launcher):
        print(f"{args.launcher} does not exist; install an MPI implementation", file=sys.stderr)
        sys.exit(SKIP)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                      OMPI_MCA_hwloc_base_binding_policy="none")
    return [args.launcher, "-np", str(args.processes)]


def run_json(command, **how):
    """The JSON object that a command prints; its failure is ours. How: as for subprocess.run."""
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, **how)
    if done.returncode == SKIP:
        sys.exit(SKIP)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}")
    return json.loads(done.stdout[done.stdout.index("{"):])


def in_turn(runs, ways):
    """What each way gives, so often: all of them in turn, so that what else the machine does meets all alike. ways: {name: call}"""
    found = {name: [] for name in ways}
    for _ in range(runs):
        for name, call in ways.items():
            found[name].append(call())
    return found


def updates(command, what, **how):
    """What a program of random updates prints, of a run that left no word wrong."""
    result = run_json(command, **how)
    if result["wrong"]:
        sys.exit(f"{what}: {result['wrong']} words are wrong")
    return result


def gups(args, options, what, launch=()):
    """What `grapnel gups` prints, begun by a launcher of processes or not."""
    return updates([*launch, program(args, "tools", "grapnel"), "gups", *options, "--json", "-"], what, timeout=600)


def graph(args, scale, degree="16", path=None, kind="kron"):
    """
    A graph of that scale, kron or urand: a file of that path, or in the folder of the build, made if it is not there, by a GPU where
    one is used.
    """
    graph = path or os.path.join(args.build, f"bench-{kind}{scale}-{degree}.gng")
    on = ["--machine", args.machine] if getattr(args, "machine", "").startswith("cuda") else []
    if not os.path.exists(graph):
        subprocess.run([program(args, "tools", "grapnel"), "gen", kind, "--scale", scale, "--degree", degree, "--undirected", *on,
                        graph], check=True)
    return graph


def check(claims):
    """claims: (what, measured, bound, True if at least else at most). Prints each and returns them for the JSON."""
    kept = []
    for what, measured, bound, least in claims:
        holds = measured >= bound if least else measured <= bound
        kept.append({"claim": what, "measured": measured, "bound": bound, "at": "least" if least else "most",
                     "holds": holds})
        print(f"  {'yes' if holds else 'NO ':3} {what}: {measured:.4g} (at {'least' if least else 'most'} {bound:g})")
    return kept


def keep(args, name, result, checked=()):
    """Write the result with machine, date and commit. checked: from check(). Returns where it is."""
    result = {"schema": f"grapnel-bench-{name}-1", "date": datetime.date.today().isoformat(), "commit": commit(args),
              "machine": machine(), "claims": list(checked), **result}
    path = args.json or os.path.join(ROOT, "out", "bench", f"{name}.json")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w") as out:
        json.dump(result, out, indent=1)
        out.write("\n")
    return path


def save(args, name, result, claims):
    """Check the claims and keep the result. Returns the exit status: 0 if every claim holds."""
    checked = check(claims)
    print(f"  kept in {os.path.relpath(keep(args, name, result, checked))}")
    return 0 if all(c["holds"] for c in checked) else 1
