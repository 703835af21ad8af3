#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of claims, docs/papers.md: each quantitative statement of five papers beside what is kept in bench/results.

    bench/papers.py [--check]

Runs nothing. bench/papers/*.json has the statements, in our words, each with the paper's number and either the place of ours
in a kept result and a rule, or a fixed verdict. No number of ours is in them. With --check nothing is written: the exit
status is 1 if the page is not what this script makes. A claim has

    where, statement, unit         section, figure or table; unit: x, share, or text behind a number
    paper                          the number, or words; null if the statement has none
    ours                           {"file", "path", "over", "less", "times"}: the value at path, over or less another, times a
                                   number; over and less are such places too, of the same file if they name none. A path is a
                                   list: keys, indices, and objects that select the element of a list with these members.
                                   {"count": member} as last step: how many different values of a member the elements have
    rule                           least, most: the paper's number is a bound; beyond "direction" (1), same direction
                                   factor: within 15 %, else on the same side of 1; share: within 15 % of it
    cap                            true: at best same direction, because of what "why" says
    verdict                        instead of a rule
    why, command                   the reason; what measures ours
    until                          all of these but where, statement, unit and paper, used until the result of "ours" is kept: while
                                   its file does not exist, says "failed" of the run, or is not complete and has no such run
"""
import argparse
import csv
import functools
import glob
import json
import os
import sys

from support import report

RESULTS = os.path.join(report.ROOT, "bench", "results")
CLAIMS = os.path.join(report.ROOT, "bench", "papers")
PAGE = os.path.join(report.ROOT, "docs", "papers.md")
ORDER = ["bam", "dream", "dualopt", "gravel", "scope"]
REPRODUCED, DIRECTION, NOT, LATER, NEVER = VERDICTS = ("reproduced", "same direction", "not", "not measured yet",
                                                       "not possible here")
ALWAYS = {"id", "where", "statement", "unit", "paper"}
MEMBERS = ALWAYS | {"ours", "rule", "direction", "cap", "verdict", "why", "command"}
MACHINES = {"epyc2": "two cores of an EPYC", "xeon2": "two cores of a Xeon", "h100": "one H100", "h200": "one H200",
            "h200x2": "two H200", "sim": "simulated"}


class Wrong(Exception):
    """What a claim or a kept result lacks."""


class Missing(Wrong):
    """A result that is not kept yet."""


# ---- kept results ----

@functools.cache
def kept(name):
    path = os.path.join(RESULTS, name)
    try:
        with open(path, encoding="utf-8", newline="") as source:
            return list(csv.DictReader(source)) if name.endswith(".csv") else json.load(source)
    except FileNotFoundError as error:
        raise Missing(f"bench/results/{name} does not exist") from error


def chosen(value, members):
    """The one element of a list that has these members."""
    found = [v for v in value if all(v.get(k) == m for k, m in members.items())]
    if len(found) != 1:
        raise LookupError(f"{len(found)} elements have {members}")
    return found[0]


def step(value, at):
    if isinstance(at, dict) and set(at) == {"count"}:
        return len({v[at["count"]] for v in value if v[at["count"]] != ""})
    return chosen(value, at) if isinstance(at, dict) else value[at]


def kept_in_part(name):
    """Does the file say that it has not all runs?"""
    whole = kept(name)
    return isinstance(whole, dict) and whole.get("complete") is False


def value_at(name, path):
    value = kept(name)
    if kept_in_part(name) and path[0] in value and path[0] != "rows":
        raise Missing(f"bench/results/{name}: {path!r} is of a part of the runs")
    for at in path:
        try:
            value = step(value, at)
        except (LookupError, TypeError, AttributeError) as error:
            if isinstance(value, dict) and isinstance(value.get("failed"), str) or isinstance(at, dict) and kept_in_part(name):
                raise Missing(f"bench/results/{name}: the run of the path {path!r} failed or is still to come") from error
            raise Wrong(f"bench/results/{name}: no {at!r} of the path {path!r}: {error}") from error
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        raise Wrong(f"bench/results/{name}: {path!r} is not a number") from error


def measured(place, file=None):
    name = place.get("file", file)
    value = value_at(name, place["path"]) * place.get("times", 1)
    if "less" in place:
        value -= measured(place["less"], name)
    return value / measured(place["over"], name) if "over" in place else value


# ---- verdicts ----

def factor(paper, ours):
    """As grapnel sim paper does it: on the same side of 1, and how near."""
    same = abs(ours - 1) < 0.1 if abs(paper - 1) < 0.05 else (paper > 1) == (ours > 1) and abs(ours - 1) > 0.01
    return (REPRODUCED if abs(ours / paper - 1) <= 0.15 else DIRECTION) if same else NOT


def judged(claim, ours):
    paper, rule, direction = claim["paper"], claim["rule"], claim.get("direction", 1)
    if rule in ("least", "most"):
        sign = 1 if rule == "least" else -1
        return REPRODUCED if sign * ours >= sign * paper else DIRECTION if sign * ours > sign * direction else NOT
    if rule == "share":
        return REPRODUCED if abs(ours - paper) <= 0.15 * paper else NOT
    if rule == "factor":
        return factor(paper, ours)
    raise Wrong(f"there is no rule {rule}")


def verdict(claim, ours):
    if "verdict" in claim:
        if claim["verdict"] not in (LATER, NEVER) or not claim.get("why"):
            raise Wrong(f"a fixed verdict is '{LATER}' or '{NEVER}', and has a reason")
        return claim["verdict"]
    found = judged(claim, ours)
    if claim.get("cap") and not claim.get("why"):
        raise Wrong("cap needs a reason")
    return DIRECTION if claim.get("cap") and found == REPRODUCED else found


# ---- the page ----

def digits(value):
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def number(value, unit):
    if value is None or isinstance(value, str):
        return value or ""
    if unit == "share":
        return f"{digits(100 * value)} %"
    if unit == "x":
        return f"{value:.2f}x" if value < 10 else f"{digits(value)}x"
    return f"{digits(value)} {unit}".rstrip()


def cell(text):
    return text.replace("|", "\\|")


def source(claim):
    """How ours is measured, and where the result is kept, of which commit and machine."""
    if "ours" not in claim:
        return ""
    name = claim["ours"]["file"]
    result = kept(name)
    commit = result["commit"][:7] if isinstance(result, dict) else ""
    where = [f"`{name}`", MACHINES[name.split("-", maxsplit=1)[0]]] + [commit] * bool(commit)
    return f"`{claim['command']}`: {', '.join(where)}"


def current(claim):
    """The claim, or what stands for it until its result is kept."""
    until, claim = claim.get("until"), {k: v for k, v in claim.items() if k != "until"}
    if until is None:
        return claim
    try:
        measured(claim["ours"])
    except Missing:
        return {**{k: v for k, v in claim.items() if k in ALWAYS}, **until}
    return claim


def row(claim):
    claim = current(claim)
    unknown = set(claim) - MEMBERS
    if unknown:
        raise Wrong(f"there is no member {', '.join(sorted(unknown))}")
    ours = measured(claim["ours"]) if "ours" in claim else None
    found = verdict(claim, ours)
    unit = claim.get("unit", "")
    cells = [claim["where"], claim["statement"], number(claim.get("paper"), unit), number(ours, unit), f"*{found}*",
             claim.get("why", ""), source(claim)]
    return found, "| " + " | ".join(cell(c) for c in cells) + " |"


def rows(name, paper):
    for claim in paper["claims"]:
        try:
            yield row(claim)
        except Wrong as error:
            raise Wrong(f"bench/papers/{name}.json: {claim.get('id')}: {error}") from error
        except KeyError as error:
            raise Wrong(f"bench/papers/{name}.json: {claim.get('id')}: {error} is missing") from error


def statements(name):
    with open(os.path.join(CLAIMS, f"{name}.json"), encoding="utf-8") as text:
        paper = json.load(text)
    ids = [claim["id"] for claim in paper["claims"]]
    if len(set(ids)) != len(ids):
        raise Wrong(f"bench/papers/{name}.json: {next(i for i in ids if ids.count(i) > 1)} is there twice")
    return paper, list(rows(name, paper))


def table(paper, made):
    lines = [f"## {paper['paper']}", "", f"{paper['title']}. {paper['venue']}. {paper['machine']}", "",
             "| where | statement | paper | here | verdict | reason | measured by |", "|---|---|---|---|---|---|---|"]
    return lines + [line for _, line in made] + [""]


def summary(papers):
    lines = ["| paper | statements | " + " | ".join(VERDICTS) + " |", "|---" * (2 + len(VERDICTS)) + "|"]
    every = [(paper["paper"], [found for found, _ in made]) for paper, made in papers]
    every.append(("**all**", [found for _, all_of in every for found in all_of]))
    for name, found in every:
        lines.append(f"| {cell(name)} | {len(found)} | " + " | ".join(str(found.count(v)) for v in VERDICTS) + " |")
    return lines + [""]


HEAD = """# What five papers say, and what was measured here

Grapnel takes its ideas from five papers. This page has a row for each quantitative statement that their texts and tables
make, in our words, with the paper's number and ours. `bench/papers.py` makes it from `bench/papers/*.json` (the statements)
and `bench/results/` (every number of ours); a bundle test fails if the page is not what the script makes. Where the text says
faster or slower without a number, the number is 1. Bars without a number are left out.

The verdicts are strict:

* *reproduced*: ours reaches the paper's number: a bound is reached, a factor is within 15 % (10 % where the
paper's number is about 1), a share within 15 % of its value.
* *same direction*: ours is on the same side, but does not reach the number, or is beyond a factor by more than that. It is also
  the best verdict where ours was measured under other conditions: an absolute figure that a newer machine exceeds, host memory
  where the paper has SSDs, processes on a CPU where the paper has GPUs. The reason says which.
* *not*: ours was measured, and is on the other side, or misses a share, a size or a number of bytes.
* *not measured yet*: it could be measured with the machines that we have. A number of ours in such a row is of other inputs.
* *not possible here*: it needs what we do not have. The reason names it.

No machine here has an NVMe drive that a GPU can reach, a network card with RDMA, several GPU nodes with a network, or NVLink to
the CPU. Those with GPUs have H100s or H200s with PCIe 5 x16 in virtual machines, whose disks are virtual too.
"""


def page():
    if sorted(ORDER) != sorted(os.path.basename(path)[:-5] for path in glob.glob(os.path.join(CLAIMS, "*.json"))):
        raise Wrong(f"bench/papers has other files than {', '.join(name + '.json' for name in ORDER)}")
    papers = [statements(name) for name in ORDER]
    lines = [HEAD, *summary(papers)]
    for paper, made in papers:
        lines += table(paper, made)
    return "\n".join(lines).rstrip("\n") + "\n"


def same(made):
    try:
        with open(PAGE, encoding="utf-8") as there:
            return there.read() == made
    except FileNotFoundError:
        return False


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--check", action="store_true", help="write nothing; fail if docs/papers.md is not what this script makes")
    check = p.parse_args().check
    try:
        made = page()
    except Wrong as error:
        sys.exit(str(error))
    if check:
        return "docs/papers.md is not what bench/papers.py makes; run bench/papers.py" if not same(made) else 0
    with open(PAGE, "w", encoding="utf-8") as out:
        out.write(made)
    print("\n".join(line for line in made.split("\n") if line.startswith("| **all**")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
