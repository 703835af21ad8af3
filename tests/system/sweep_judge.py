# What a sweep wrote: sweep_judge.py SWEEP.json SWEEP.svg-OR-EMPTY REPEAT PRESSURE-OR-BASELINE[:failed|:out]...
import json
import math
import statistics
import sys
from xml.etree import ElementTree

report = json.load(open(sys.argv[1]))
repeat, all_wanted = int(sys.argv[3]), [word.split(":") for word in sys.argv[4:]]
want = [word for word in all_wanted if word[0][0].isdigit()]
assert report["schema"] == "grapnel-sweep-1" and report["version"] and report["context"]["date"]
assert report["context"]["executable"] == "grapnel sweep" and report["machine"]["name"] == "cpu"
assert report["repeat"] == repeat and isinstance(report["job"], list)

points, data, page = report["points"], report["data_bytes"], report["page_bytes"]
assert [p["pressure"] for p in points] == [float(word[0]) for word in want]
baselines = [[p["baseline"]] + (["failed"] if p["failed"] else ["out"] if p["left_out"] else []) for p in report["baselines"]]
assert baselines == [word for word in all_wanted if word not in want], baselines
assert all(a["cache_bytes"] > b["cache_bytes"] for a, b in zip(points, points[1:]))


def measured(p):
    return not p["failed"] and not p["left_out"]


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-6)


in_core = [p for p in report["baselines"] if p["baseline"] == "incore" and measured(p)]
base = (in_core or [p for p in points if p["pressure"] == 1 and measured(p)] or [None])[0]
if base is None:
    assert report["reference"] is None
else:
    assert report["reference"]["what"] == ("incore" if in_core else "cache")
    assert near(report["reference"]["seconds"], base["seconds"])

for p in points + report["baselines"]:
    kind = "failed" if p["failed"] else "out" if p["left_out"] else ""
    if "pressure" in p:
        assert [kind] == (want[points.index(p)] + [""])[1:2], p
    if kind:
        assert p["message"] and p["samples"] == [] and p["seconds"] is None, p
        assert p["failed"] == (p["exit_status"] == 1), p
        continue
    assert len(p["samples"]) == repeat and p["exit_status"] == 0 and p["message"] is None, p
    assert near(p["seconds"], statistics.median(p["samples"])), p
    assert near(p["least"], min(p["samples"])) and near(p["most"], max(p["samples"])), p
    assert p["verified"] is (True if report["verify"] else None), p
    assert p["slowdown"] is None if base is None else near(p["slowdown"], p["seconds"] / base["seconds"]), p

for p in filter(measured, points):
    assert near(p["moved_over_needed"], (p["read_bytes"] + p["written_bytes"]) / p["needed_bytes"]), p
    if p["pressure"] > 1:
        assert data / p["pressure"] <= p["cache_bytes"] < data / p["pressure"] + page, p
    else:
        assert p["cache_bytes"] >= data, p
    # nothing is read twice by a cache that has room for all
    assert p["pressure"] > 1 or report["job"][0] == "stencil" or p["read_bytes"] <= data + 64 * page, p

if sys.argv[2]:
    lines = [e for e in ElementTree.parse(sys.argv[2]).iter() if e.tag.endswith("}polyline")]
    assert len(lines) == 1 + sum(map(measured, report["baselines"]))
    assert len(lines[0].get("points").split()) == sum(map(measured, points))
