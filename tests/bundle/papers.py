#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/papers.md is what bench/papers.py makes, and that script judges as it says. The table of docs/sim-paper.md is the kept
one. Usage: papers.py SOURCE-FOLDER"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(sys.argv[1], "bench"))
import papers  # noqa: E402  pylint: disable=wrong-import-position
import sim_paper  # noqa: E402  pylint: disable=wrong-import-position

failures = []


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r} instead of {wanted!r}")


def refused(what, claim, words):
    """A claim that lacks something is refused, by an error that names it."""
    try:
        papers.row(claim)
    except papers.Wrong as error:
        expect(what, words in str(error), True)
    else:
        failures.append(f"{what} is not refused")


def verdict(ours, paper, rule, **more):
    return papers.verdict({"paper": paper, "rule": rule, **more}, ours)


def check_rules():
    expect("a bound that is reached", verdict(2.5, 2.5, "least"), "reproduced")
    expect("a bound that is not", verdict(1.5, 2.5, "least"), "same direction")
    expect("the other side", verdict(0.9, 2.5, "least"), "not")
    expect("no gain", verdict(1.0, 2.5, "least"), "not")
    expect("another direction", verdict(5, 7, "least", direction=6), "not")
    expect("at most", [verdict(v, 0.5, "most") for v in (0.5, 0.7, 1.1)], ["reproduced", "same direction", "not"])
    expect("factor", [verdict(v, 2, "factor") for v in (2.2, 1.75, 2.4, 1.2, 0.9)],
           ["reproduced", "reproduced", "same direction", "same direction", "not"])
    expect("factor below 1", [verdict(v, 0.75, "factor") for v in (0.8, 0.5, 1.2)], ["reproduced", "same direction", "not"])
    expect("factor of 1", [verdict(v, 1, "factor") for v in (1.05, 1.2, 0.85)], ["reproduced", "not", "not"])
    expect("share", [verdict(v, 0.4, "share") for v in (0.45, 0.35, 0.32)], ["reproduced", "reproduced", "not"])
    expect("cap", verdict(3, 2, "least", cap=True, why="another machine"), "same direction")
    expect("cap of a miss", verdict(0.5, 2, "least", cap=True, why="another machine"), "not")
    expect("fixed", papers.verdict({"verdict": "not possible here", "why": "no drive"}, None), "not possible here")


def check_until():
    claim = {"where": "1", "statement": "s", "paper": 1, "rule": "least", "command": "c",
             "until": {"verdict": "not measured yet", "why": "nobody did"}}

    def of(name, member):
        return {**claim, "ours": {"file": name, "path": ["rows", {"op": "inc"}, member]}}

    kept = of("epyc2-gups.json", "combined")
    expect("before the result", papers.row(of("none.json", "combined"))[0], "not measured yet")
    expect("with the result", papers.current(kept), {k: v for k, v in kept.items() if k != "until"})
    refused("a wrong path", of("epyc2-gups.json", "no_such"), "no_such")
    refused("until without a reason", {**of("none.json", "combined"), "until": {"verdict": "not measured yet"}}, "reason")
    results = papers.RESULTS
    with tempfile.TemporaryDirectory() as papers.RESULTS:
        with open(os.path.join(papers.RESULTS, "epyc2-some.json"), "w", encoding="utf-8") as out:
            out.write('{"rows": [{"op": "inc", "failed": "it took too long"}]}')
        expect("a run that failed", papers.row(of("epyc2-some.json", "combined"))[0], "not measured yet")
    papers.RESULTS = results


def check_refusals():
    name, claim = "epyc2-gups.json", {"where": "1", "statement": "s", "paper": 1, "rule": "least", "command": "c"}
    refused("a missing file", {**claim, "ours": {"file": "none.json", "path": ["rows"]}}, "bench/results/none.json")
    refused("a missing key", {**claim, "ours": {"file": name, "path": ["rows", {"op": "inc"}, "no_such"]}}, "no_such")
    refused("a missing row", {**claim, "ours": {"file": name, "path": ["rows", {"op": "none"}, "combined"]}}, "none")
    refused("a row that is there twice", {**claim, "ours": {"file": "epyc2-forms.json", "path": ["rows", {"app": "mer"}, "seconds"]}},
            "5 elements")
    refused("a path to words", {**claim, "ours": {"file": name, "path": ["unit"]}}, "unit")
    refused("an unknown member", {**claim, "rul": "least"}, "rul")
    refused("a verdict by hand", {**claim, "verdict": "reproduced", "why": "so"}, "fixed verdict")
    refused("no reason", {**claim, "verdict": "not measured yet"}, "reason")


def check_places():
    place = {"file": "epyc2-gups.json", "path": ["rows", {"op": "inc"}, "combined"]}
    one, legal = (papers.measured({**place, "path": [*place["path"][:2], member]}) for member in ("one_node", "legal"))
    value = papers.measured(place)
    expect("over", papers.measured({**place, "over": {"path": ["rows", {"op": "inc"}, "one_node"]}}), value / one)
    expect("less", papers.measured({**place, "less": {"path": ["rows", {"op": "inc"}, "legal"]}}), value - legal)
    expect("times", papers.measured({**place, "times": 1000}), 1000 * value)


def page_links(page):
    """The page names them by their rate, the report by how many times as fast as this machine's they are."""
    times = {"the paper": "the paper", "16 GB/s": "0.5", "32 GB/s": "1", "64 GB/s": "2"}
    return [{**row, "times": times.get(row["times"])} for row in sim_paper.links(page, "| links of a GPU and direction |")]


def check_simulations():
    with open(os.path.join(sys.argv[1], "docs", "sim-paper.md"), encoding="utf-8") as text:
        page = text.read()
    kept = papers.kept("sim-paper.json")
    expect("the table of docs/sim-paper.md", list(sim_paper.statements(page)), kept["rows"])
    expect("the sizes of docs/sim-paper.md", list(sim_paper.sizes(page)), kept["sizes"])
    expect("the links of docs/sim-paper.md", page_links(page), kept["links"])
    expect("the answers of docs/sim-paper.md", list(sim_paper.answers(page)), kept["answers"])


def main():
    check_rules()
    check_until()
    check_refusals()
    check_places()
    check_simulations()
    page = subprocess.run([sys.executable, "-B", os.path.join(sys.argv[1], "bench", "papers.py"), "--check"],
                          stderr=subprocess.PIPE, text=True, check=False)
    expect("bench/papers.py --check", (page.returncode, page.stderr.strip()), (0, ""))
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
