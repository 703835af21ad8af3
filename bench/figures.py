#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which figures of the README and of docs/ have no kept result.

    bench/figures.py [--check] [--power]

Runs nothing. A figure is a number with a point or a unit of measurement, or alone in its cell, in a table of measurements; what
was expected, a target, a size and the first column are none. A row names its results (`h200-cache.json`). Where it
names none, those count that the paragraph before its table names, or that behind it, or the section's text before. A figure is

    proven    if one of these results has a value that rounds to it in its unit, or bench/figures/quotients.json says of which
              values it is the quotient (places as in bench/papers.py), and that rounds to it
    marked    if its sentence, its bracket, the head of its column, its row's first cell or the text before its table (which names
              no result) says: by hand, a trial, not kept, an earlier run or result
    listed    in bench/figures/unproven.txt, where it is neither

Without an option the list is written: a change shows which figures came to it. With --check nothing is written: the exit status
is 1 if the list is another, or if a result that is named does not exist. --power says how many wrong figures this sees: those
that no other value of the same results happens to round to. Outside of tables only sentences that name a result are looked at.
"""
import argparse
import bisect
import csv
import functools
import glob
import json
import os
import re
import sys

import papers
from support import report

RESULTS = os.path.join(report.ROOT, "bench", "results")
QUOTIENTS = os.path.join(report.ROOT, "bench", "figures", "quotients.json")
LIST = os.path.join(report.ROOT, "bench", "figures", "unproven.txt")
PAGES = ["README.md"] + sorted(os.path.relpath(path, report.ROOT) for path in glob.glob(os.path.join(report.ROOT, "docs", "*.md"))
                               if not re.search(r"(papers|glossary|-format)\.md$", path))  # papers.md is made of results
# sections whose tables tests/bundle/papers.py compares with their result place by place: it sees any other figure
COMPARED = {("docs/sim-paper.md", section) for section in ("Sizes", "Links", "Statements", "How much the answers matter")}
NO_FIGURES = {"--size", "predicted", "target", "expected", "paper", "gravel's section"}  # columns
SETTINGS = {"key", "arguments", "holds", "computation", "needs", "preset", "name", "finding", "`--size`", "is recorded"}  # tables
MARKS = re.compile(r"\bby hand\b|\btrials?\b|\bnot kept\b|\bearlier (?:run|result)s?\b", re.IGNORECASE)
FILES = re.compile(r"[\w*-]+\.(?:json|csv)\b")
# of an entry what says how its samples scatter, and what is no measurement
OTHER = {"samples", "rounds", "benchmarks", "context", "low", "high", "least", "p5", "quarter", "three_quarters", "p95", "most",
         "variation", "least_round", "most_round", "arguments", "bound", "tests", "machine"}
SIZE = r" ?(?:KiB|MiB|GiB|TiB|MB\b|GB\b|TB\b|B\b|bytes?\b)(?!/s)"
NUMBER = re.compile(r"(?<![\w.:/-])(\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?!(?!x\b)[\w:-]|\.\d|/\d|" + SIZE + ")")
UNIT = re.compile(r" ?(GB/s|TB/s|MB/s|[MGk](?: \w+)*/s|[MG]\b|%|x\b(?! ?\d)|s\b|ms\b|us\b|ns\b|times\b|thousand\b|million\b)")
JOIN = re.compile(r"[* ,]*(?:and|to|against|or)?[* ,]*")
RATE, TIME = [1.0, 1e-9], [1.0]
SCALES = {"GB/s": RATE, "TB/s": [1e-3, 1e-12], "MB/s": [1e3, 1e-6], "G": RATE, "M": [1.0, 1e-6, 1e3], "k": [1e-3, 1e6],
          "%": [100.0], "x": [1.0], "times": [1.0], "s": TIME, "ms": [1e3, 1e-6], "us": [1e6, 1e-3, 1.0], "ns": [1e9, 1.0],
          "thousand": [1e-3], "million": [1e-6], "": RATE}


# ---- kept results ----

def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def numbers(value):
    if is_number(value):
        yield float(value)
    elif isinstance(value, list):
        for v in value:
            yield from numbers(v)
    elif isinstance(value, dict):
        for key, v in value.items():
            if key not in OTHER:
                yield from numbers(v)


@functools.cache
def values(name):
    """All values of a result, in order."""
    with open(os.path.join(RESULTS, name), encoding="utf-8", newline="") as text:
        if name.endswith(".csv"):
            return sorted(float(line["median"]) for line in csv.DictReader(text) if line["median"])
        return sorted(set(numbers(json.load(text))))


def halves(text):
    """What rounds to a figure: 1880 may stand for 1877."""
    plain = text.replace(",", "")
    zeros = len(plain) - len(plain.rstrip("0")) if "." not in plain and "," not in text else 0
    half = 0.5 * 10.0 ** (-len(plain.partition(".")[2]) + max(0, min(zeros, len(plain) - 3)))
    return float(plain) - half * (1 + 1e-9), float(plain) + half * (1 + 1e-9)


def has(name, text, unit):
    low, high = halves(text)
    every = values(name)
    for scale in SCALES[unit]:
        at = bisect.bisect_left(every, low / scale)
        if at < len(every) and every[at] <= high / scale:
            return True
    return False


@functools.cache
def quotients():
    """{(page, label, figure): place}"""
    with open(QUOTIENTS, encoding="utf-8") as text:
        return {(one["page"], one["row"], one["figure"]): one["ours"] for one in json.load(text)}


def is_quotient(page, label, text):
    place = quotients().get((page, label, text))
    low, high = halves(text)
    return place is not None and low <= papers.measured(place) <= high


# ---- pages ----

def named_in(text):
    """The results that a text names and that there are; others may be a user's files."""
    return [name for name in FILES.findall(text) if results([name])[0]]


class Table:
    """Lines, the paragraphs before and behind them, and all text of the section before."""

    def __init__(self, page, section, before, text):
        self.page, self.section, self.before, self.text = page, section, before, text
        self.after, self.lines, self.open = "", [], True

    def results(self):
        return named_in(self.before) or named_in(self.after) or named_in(self.text)

    def marked(self):
        return bool(MARKS.search(self.before)) and not FILES.search(self.before)

    def header(self):
        return [cell.strip().lower() for cell in cells(self.lines[0])]


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


class Pages:
    """Takes the lines of a page apart. A table is open while its lines come, then waiting for the paragraph behind it."""

    def __init__(self, page):
        self.page, self.found, self.paragraphs, self.last = page, [], [], None
        self.section = self.before = self.text = ""
        self.code, self.blank = False, True

    def heading(self, line):
        self.section, self.before, self.text, self.last = line.strip("# "), "", "", None

    def row(self, line):
        if not self.last or not self.last.open:
            self.last = Table(self.page, self.section, self.before, self.text)
            self.found.append(self.last)
        self.last.lines.append(line)
        self.before = ""

    def prose(self, line):
        item = line.startswith("* ")
        if item or self.blank and line:
            self.before = ""
            self.paragraphs.append([self.section])
        self.before += " " + line
        if line and not self.code:
            self.paragraphs[-1].append(line.strip())
        self.text += " " + line
        if self.last and (item or self.last.after.strip() and not line):
            self.last = None
        elif self.last:
            self.last.open = False
            self.last.after += " " + line

    def take(self, line):
        self.code = self.code != line.startswith("```")
        if line.startswith("#") and not self.code:
            self.heading(line)
        elif line.strip().startswith("|") and not self.code:
            self.row(line)
        else:
            self.prose(line)
        self.blank = not line


def parsed(page, text):
    taken = Pages(page)
    for line in text.split("\n"):
        taken.take(line)
    return taken


@functools.cache
def taken_apart(page):
    with open(os.path.join(report.ROOT, page), encoding="utf-8") as text:
        return parsed(page, text.read())


# ---- figures ----

def unmarked(cell):
    """The sentences that are not marked, without brackets that are."""
    bare = re.sub(r"\btargets? [^;)]*", " ", cell)
    bare = re.sub(r"\([^()]*\)", lambda b: " " if MARKS.search(b.group()) and re.search(r"\d", b.group()) else b.group(), bare)
    return [sentence for sentence in re.split(r"(?<=[.;])\s", bare) if not MARKS.search(sentence)]


def figures(cell):
    """(text, unit) of each figure in a cell. Of several in a list the last may have the unit."""
    plain = " ".join(unmarked(re.sub(r"`[^`]*`|\*\*|[Cc]ommit [0-9a-f]{7}|[Ss]ections? [\d.]+", " ", cell)))
    alone = not re.search(r"[A-Za-z]", plain)
    found = []
    for match in NUMBER.finditer(plain):
        unit = UNIT.match(plain, match.end())
        found.append([match, unit.group(1) if unit else ""])
    for (match, unit), after in zip(reversed(found[:-1]), reversed(found[1:])):
        if not unit and JOIN.fullmatch(plain, match.end(), after[0].start()):
            found[[f[0] for f in found].index(match)][1] = after[1]
    for match, unit in found:
        if alone or unit or "." in match.group(1):
            yield match.group(1), unit if unit in SCALES else unit[:1]


def results(names):
    """Those that there are, and those that there are not."""
    there, gone = [], []
    for name in names:
        found = sorted(os.path.basename(path) for path in glob.glob(os.path.join(RESULTS, name)))
        there += found
        gone += [] if found else [name]
    return list(dict.fromkeys(there)), gone


class Row:
    """Of a table, or a sentence: its figures, and the results that should have them."""

    def __init__(self, place, label, found, names, marked):
        self.page, self.section = place
        self.label, self.figures, self.marked = label, found, marked
        self.results, self.gone = results(names)

    def proven(self, text, unit):
        return any(has(name, text, unit) for name in self.results) or is_quotient(self.page, self.label, text)

    def missing(self):
        return [] if self.marked else [text for text, unit in self.figures if not self.proven(text, unit)]


def of_line(table, line):
    header, parts, named = table.header(), cells(line), FILES.findall(line)
    found = [f for k, cell in enumerate(parts[1:], 1) if k < len(header) and header[k] not in NO_FIGURES
             and not MARKS.search(header[k]) for f in figures(cell)]
    marked = bool(MARKS.search(parts[0])) or not named and table.marked()
    return Row((table.page, table.section), parts[0], found, named or table.results(), marked)


def of_tables(taken):
    return [of_line(table, line) for table in taken.found if not set(table.header()) & SETTINGS for line in table.lines[2:]]


def of_sentences(taken):
    """Those that name a result that there is."""
    for section, *lines in taken.paragraphs:
        for sentence in re.split(r"(?<=[.:])\s+(?=[A-Z`*\[])|;\s+", " ".join(lines)):
            named = named_in(sentence)
            if named:
                yield Row((taken.page, section), sentence[:60], list(figures(sentence)), named, False)


@functools.cache
def rows():
    every = [row for page in PAGES for kind in (of_tables, of_sentences) for row in kind(taken_apart(page))]
    return [row for row in every if row.figures]


def unproven():
    return [f"{row.page} | {row.section} | {row.label} | {' '.join(missing)}"
            for row in rows() for missing in [row.missing()] if missing]


def gone():
    return [f"{row.page}: {row.label}: bench/results/{name} does not exist" for row in rows()
            for name in row.gone]


def power():
    """Of the proven figures of three digits how many would be missed if they were a fiftieth larger, and their number."""
    noticed = every = 0
    for row in rows():
        for text, unit in [] if row.marked or (row.page, row.section) in COMPARED else row.figures:
            plain = text.replace(",", "")
            if len(plain.replace(".", "").lstrip("0")) >= 3 and row.proven(text, unit):
                every += 1
                noticed += not row.proven(f"{1.02 * float(plain):.{len(plain.partition('.')[2])}f}", unit)
    return noticed, every


def kept():
    with open(LIST, encoding="utf-8") as text:
        return [line for line in text.read().split("\n") if line and not line.startswith("#")]


HEAD = """# Figures for which no result is kept: page, section, row or sentence, figures. bench/figures.py makes this list; a test
# fails if it is another. The way off it is a result in bench/results, made by a script, that the row names.
"""


def check(lines):
    before = kept()
    wrong = [f"no kept result has these, and they are not marked: {line}" for line in lines if line not in before]
    wrong += [f"not in docs/ any more, or proven now; run bench/figures.py: {line}" for line in before if line not in lines]
    print("\n".join(wrong + gone()))
    return 1 if wrong or gone() else 0


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    p.add_argument("--check", action="store_true", help="write nothing; fail if the list is not what is kept")
    p.add_argument("--power", action="store_true", help="say how many wrong figures would be seen")
    args = p.parse_args()
    lines = unproven()
    every = sum(len(row.figures) for row in rows())
    marked = sum(len(row.figures) for row in rows() if row.marked)
    left = sum(len(row.missing()) for row in rows())
    print(f"{every} figures in {len(rows())} rows and sentences: {every - marked - left} proven, {marked} marked, {left} listed")
    if args.power:
        print("{} of {} proven figures of three digits would be missed if they were a fiftieth larger".format(*power()))
    if args.check:
        return check(lines)
    with open(LIST, "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(lines) + "\n")
    print("\n".join(gone()), end="\n" if gone() else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
