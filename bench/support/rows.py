# SPDX-License-Identifier: Apache-2.0
"""The rows of a report that `grapnel bench`, `cache-bench`, `gather` or `auto-bench` wrote."""

UNITS = {"bytes_per_second": "bytes", "operations_per_second": "accesses", "seconds": "runs"}


def kept(result):
    """Of reports as they were before they had the form of grapnel scope's."""
    for group in result["groups"]:
        for row in group["rows"]:
            yield {**row, "group": group["group"], "title": group["title"], "limit": group["limit"]}


def measured(result):
    rows = {row["name"]: row for row in result["rows"]}
    cells = {cell["row"]: cell for cell in result["cells"]}
    for name, row in rows.items():
        cell, limit = cells[name], cells.get(row["limit"])
        value, same = cell["statistics"]["median"], limit and rows[row["limit"]]["unit"] == row["unit"]
        amount = cell["bytes"] or cell["operations"]
        group, way = name.split("/", 1)
        yield {"group": group, "title": row["summary"], "row": way, "role": row["role"], "unit": UNITS[row["unit"]], "amount": amount,
               "seconds": value if row["unit"] == "seconds" else amount / value, "giga_per_second": 1e-9 * value,
               "limit": (row["limit"] or "").partition("/")[2], "of_limit": value / limit["statistics"]["median"] if same else 0,
               "note": cell["why"]}


def rows(result):
    """Each with its group, title, row, role, unit, amount, seconds of a run, giga_per_second, limit, of_limit and note."""
    return list(kept(result) if "groups" in result else measured(result))


def rates(result):
    """(group, row) -> giga a second."""
    return {(r["group"], r["row"]): r["giga_per_second"] for r in rows(result)}


def seconds(result):
    """(group, row) -> the seconds of each run, in their order."""
    found = {}
    for entry in result["benchmarks"]:
        if entry["run_type"] == "iteration":
            found.setdefault(tuple(entry["name"].split("/", 1)), []).append(1e-9 * entry["real_time"])
    return found


def show(result):
    group = None
    for r in rows(result):
        if r["group"] != group:
            print(f"{r['group']}: {r['title']}")
        group = r["group"]
        of = f"{r['of_limit']:8.3f} of {r['limit']}" if r["of_limit"] else ""
        rate = f"{r['giga_per_second']:10.4g} G{'B' if r['unit'] == 'bytes' else ''}/s" if r["unit"] != "runs" else ""
        print(f"  {r['role']:8} {r['row']:24} {r['seconds']:10.6f} s {rate} {of}  {r['note']}")
