#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of docs/ that no kept result has are those of bench/figures/unproven.txt, and the script that finds
them sees what it says that it sees. Usage: figures.py SOURCE-FOLDER"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(sys.argv[1], "bench"))
import figures  # noqa: E402  pylint: disable=wrong-import-position

failures = []


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r} instead of {wanted!r}")


def found_in(cell):
    return list(figures.figures(cell))


def check_cells():
    expect("units", found_in("51.3 GB/s, 99.9 %, 4.4 ns, 6.3x"), [("51.3", "GB/s"), ("99.9", "%"), ("4.4", "ns"), ("6.3", "x")])
    expect("a list's last unit", found_in("31.0, 21.1 and 10.6 G/s"), [("31.0", "G"), ("21.1", "G"), ("10.6", "G")])
    expect("no unit of another", found_in("**0.845**; 94 %"), [("0.845", ""), ("94", "%")])
    expect("sizes, code, commits", found_in("pages of 4 KiB and 512 bytes by `x 1.5 s`, commit 1234567, section 3.3"), [])
    expect("alone", found_in("**2.1, 3**"), [("2.1", ""), ("3", "")])
    expect("a number of something", found_in("of 25 pairs"), [])
    expect("a target", found_in("1.2 s (target 0.95); the target is 1.25 s"), [("1.2", "s")])
    expect("marked sentences", found_in("1.5 s. By hand, 1.6 s, and 1.7 s. 1.8 s"), [("1.5", "s"), ("1.8", "s")])
    expect("marked brackets", found_in("0.95 (not kept: 0.94 to 0.96), 0.97"), [("0.95", ""), ("0.97", "")])


def check_rounding():
    def rounds(value, text):
        low, high = figures.halves(text)
        return low <= value <= high

    expect("rounding", [rounds(v, "0.95") for v in (0.9451, 0.9549, 0.9449, 0.9551)], [True, True, False, False])
    expect("zeros at the end", [rounds(v, "1880") for v in (1877, 1884.9, 1874)], [True, True, False])
    expect("all digits", [rounds(v, "40,320") for v in (40320, 40322)], [True, False])


TEXT = """# Page

Two machines (`epyc2-gups.json`).

| what | target | measured |
|---|---|---|
| by default | 7.77 | 63 M/s |
| another (`none.json`) | | 1.23 s |
| wrong | | 64 M/s |
| wrong, by hand | | 64 M/s |

It was 63 M/s, then 64 M/s
(`epyc2-gups.json`); elsewhere 77 M/s. A file of the user's (`run.json`) has 78 M/s.

The next is by hand.

| what | measured |
|---|---|
| marked | 1.23 s |
| a result of its own (`epyc2-simt.json`) | 7.29 ns, 7.31 ns |

```
| in code | 1.23 s |
```

| name | measured |
|---|---|
| not of measurements | 1.23 s |
"""


def check_page():
    taken = figures.parsed("page", TEXT)
    rows = [row for row in figures.of_tables(taken) if row.figures]
    expect("rows", [row.label for row in rows], ["by default", "another (`none.json`)", "wrong", "wrong, by hand", "marked",
                                                "a result of its own (`epyc2-simt.json`)"])
    expect("missing", [row.missing() for row in rows], [[], ["1.23"], ["64"], [], [], ["7.31"]])
    expect("sentences", [(row.label[:9], row.missing()) for row in figures.of_sentences(taken)],
           [("Two machi", []), ("It was 63", ["64"])])
    expect("results that are not there", [row.gone for row in rows if row.gone], [["none.json"]])


def check_power():
    """A rule that nearly every figure passes proves nothing."""
    seen, every = figures.power()
    expect(f"of {every} figures, changed by a fiftieth, {seen} are seen: at least 80 % of 200", every >= 200 and seen >= 0.8 * every,
           True)


def main():
    check_cells()
    check_rounding()
    check_page()
    check_power()
    done = subprocess.run([sys.executable, "-B", os.path.join(sys.argv[1], "bench", "figures.py"), "--check"],
                          stdout=subprocess.PIPE, text=True, check=False)
    expect("bench/figures.py --check", (done.returncode, done.stdout.split("\n", 1)[1].strip()), (0, ""))
    print("\n".join(failures))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
