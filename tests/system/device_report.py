# SPDX-License-Identifier: Apache-2.0
"""bench/support/device_report.py: every outcome is kept as what it is; where nothing ran, the file stays.

device_report.py SCRIPT FOLDER
"""
import json
import os
import subprocess
import sys

CASES = {
    "ok": ('status="run"', "", "passed"),
    "bad": ('status="fail"', '<failure message=""/>', "failed"),
    "gone": ('status="notrun"', '<skipped message="Unable to find executable"/>', "failed"),
    "no_gpu": ('status="notrun"', '<skipped message="SKIP_RETURN_CODE=77"/>', "skipped"),
    "off": ('status="disabled"', "", "skipped"),
}


def report(names):
    junit, out = os.path.join(folder, "junit.xml"), os.path.join(folder, "device.json")
    with open(junit, "w", encoding="utf-8") as file:
        file.write('<?xml version="1.0" encoding="UTF-8"?>\n<testsuite>\n')
        for name in names:
            file.write(f'<testcase name="{name}" time="1.25" {CASES[name][0]}>{CASES[name][1]}</testcase>\n')
        file.write("</testsuite>\n")
    status = subprocess.run([sys.executable, script, junit, out, "a-commit"], check=False).returncode
    with open(out, encoding="utf-8") as file:
        return status, json.load(file)


script, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
status, kept = report(CASES)
assert status == 0, status
assert kept["commit"] == "a-commit", kept
assert {"date", "gpu", "driver", "cuda"} <= kept.keys(), kept
assert kept["tests"] == [{"name": name, "outcome": case[2], "seconds": 1.25} for name, case in CASES.items()], kept
for nothing_ran in ["no_gpu", "off"], []:
    assert report(nothing_ran) == (77, kept), nothing_ran
