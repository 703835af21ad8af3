# What Python's own parsers find in a report's files: scope_files.py REPORT.json REPORT.csv REPORT.html [DOM-OF-A-BROWSER]
import csv
import json
import re
import statistics
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

report = json.load(open(sys.argv[1]))
rows = {row["name"]: row for row in report["rows"]}
cells = {cell["name"]: cell for cell in report["cells"] if cell["status"] == "measured"}

# Every figure of the CSV is that of the samples in the JSON, which has six digits of them.
samples = {}
for entry in report["benchmarks"]:
    if entry["run_type"] == "iteration":
        row = rows[cells[entry["name"]]["row"]]
        value = {"bytes_per_second": entry.get("bytes_per_second"), "operations_per_second": entry.get("items_per_second"),
                 "seconds": entry["real_time"] * 1e-9}[row["unit"]]
        samples.setdefault(entry["name"], []).append(value)
lines = list(csv.DictReader(open(sys.argv[2], newline=""), strict=True))
assert len(lines) == len(report["cells"])
for line, cell in zip(lines, report["cells"]):
    assert None not in line and None not in line.values(), line
    assert line["name"] == cell["name"] and line["why"] == cell["why"]
    if cell["status"] != "measured":
        assert line["median"] == ""
        continue
    assert abs(float(line["median"]) / statistics.median(samples[cell["name"]]) - 1) < 6e-6, line
    assert abs(float(line["mean"]) / statistics.fmean(samples[cell["name"]]) - 1) < 6e-6, line
    for name, value in cell["arguments"].items():
        assert line.get(name) == str(value) or f"{name}:{value}" in line["others"].split("/"), (line, name)


class Page(HTMLParser):
    """Tags are closed in order, nothing names a place elsewhere, nothing runs."""
    void = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.titles, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        assert tag not in {"script", "img", "link", "iframe", "object", "use", "image"}, tag
        for name, value in attributes:
            assert name not in {"href", "src", "xlink:href"} and not name.startswith("on"), (tag, name)
            assert "url(" not in (value or ""), (tag, value)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


html = open(sys.argv[3]).read()
page = Page()
page.feed(html)
page.close()
assert not page.open, page.open

# Every drawing is XML, lies on its sheet and has a title; every sample's cell is a point, a field or a bar of one.
drawings = [ElementTree.fromstring(text) for text in re.findall(r"<svg .*?</svg>", html, re.S)]
space = "{http://www.w3.org/2000/svg}"
notes = []
for svg in drawings:
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert svg.find(space + "title").text
    for circle in svg.iter(space + "circle"):
        assert 0 <= float(circle.get("cx")) <= width and 0 <= float(circle.get("cy")) <= height
        notes.append(circle.find(space + "title").text)
    notes += [box.find(space + "title").text for box in svg.iter(space + "rect")]
    for text in svg.iter(space + "text"):
        assert 0 <= float(text.get("y", 0)) <= height and 0 <= float(text.get("x", 0)) <= width, text.text
for name, cell in cells.items():
    assert any(note.startswith(name + ": ") or note == name for note in notes), name

# A browser keeps them all.
if len(sys.argv) > 4:
    dom = open(sys.argv[4]).read()
    assert dom.count("<svg ") == len(drawings), (dom.count("<svg "), len(drawings))
    assert dom.count("<circle ") == html.count("<circle ")
print(f"{len(lines)} lines, {len(drawings)} drawings, {len(notes)} points")
