#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keep what the tests on a GPU said: device_report.py JUNIT.xml OUT.json [COMMIT]

JUNIT.xml is what ctest --output-junit wrote, on this machine or another. Where no test ran, as on a machine without a
GPU, OUT.json stays as it is and the status is 77.
"""

import datetime
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree


def printed(*command):
    """What a command prints, or "" where it is not there or fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""


def first_line(*command):
    return printed(*command).partition("\n")[0].strip()


def cuda_version():
    found = re.search(r"release ([0-9.]+)", printed("nvcc", "--version"))
    return found.group(1) if found else ""


def outcome(case):
    """A test that ctest could not run, say for want of its executable, has failed; one that it skipped has not."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed"
    skipped = case.find("skipped")
    if skipped is None:
        return {"run": "passed", "disabled": "skipped"}.get(case.get("status", "run"), "failed")
    return "skipped" if skipped.get("message", "").startswith("SKIP_") else "failed"


def read_tests(path):
    cases = xml.etree.ElementTree.parse(path).getroot().iter("testcase")
    return [{"name": case.get("name"), "outcome": outcome(case), "seconds": round(float(case.get("time", 0)), 3)}
            for case in cases]


def main(junit, out, commit=None):
    tests = read_tests(junit)
    if all(test["outcome"] == "skipped" for test in tests):
        print(f"device_report: no test ran on a GPU; {out} stays as it is")
        return 77
    gpu = first_line("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").split(", ")
    report = {
        "commit": commit or first_line("git", "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"),
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "gpu": gpu[0],
        "driver": gpu[1] if len(gpu) > 1 else "",
        "cuda": cuda_version(),
        "tests": tests,
    }
    with open(out + ".new", "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
        file.write("\n")
    os.replace(out + ".new", out)
    counts = ", ".join(f"{sum(test['outcome'] == kind for test in tests)} {kind}"
                       for kind in ("passed", "failed", "skipped"))
    print(f"device_report: {counts}; kept in {out}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
