# SPDX-License-Identifier: Apache-2.0
"""Asks grapnel query and sqlite the same. Usage: query_judge.py GRAPNEL TAXIS.gnt

The taxis' table is read by column_file.py. sqlite has exact numbers as integers without their point: sums, least and greatest values
must be equal to the last digit, averages to 12 digits."""
import csv
import decimal
import json
import os
import random
import sqlite3
import subprocess
import sys

from column_file import read_table

GRAPNEL, TAXIS = sys.argv[1:]


def load(table):
    """The table in sqlite; exact values without their point."""
    db = sqlite3.connect(":memory:")
    names = [f'"{name}"' for name, _, _ in table]
    db.execute(f"create table t ({', '.join(names)})")
    db.executemany(f"insert into t values ({', '.join('?' * len(names))})", zip(*(values for _, _, values in table)))
    return db


def scaled(value, scale):
    return None if value is None else str(decimal.Decimal(value).scaleb(-scale))


def near(a, b):
    return a == b or (a is not None and b is not None and abs(a - b) <= 1e-12 * max(abs(a), abs(b)))


def ask(path, where, *options):
    store = "file" if path == TAXIS else "host"
    command = [GRAPNEL, "query", path, "--json", "-", "--verify", "--store", store, *options] + (["--where", where] if where else [])
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def expect(what, got, want, same=lambda a, b: a == b):
    if not same(got, want):
        sys.exit(f"{what}: grapnel says {got}, sqlite says {want}")


def check(db, path, where, where_sql, exact, averages, group=None):
    """exact: {text: (SQL without points, scale)}; averages: {text: SQL}."""
    options = ["--count", ",".join(exact)] if exact else []
    for aggregate in ("sum", "min", "max"):
        options += [f"--{aggregate}", ",".join(exact)] if exact else []
    options += ["--avg", ",".join(averages)] if averages else []
    report = ask(path, where, *options, *(["--group-by", group] if group else []))
    parts = [(report["rows_matched"], report["results"], where_sql)]
    for g in report["groups"] or []:
        value = str(g["value"]).replace("'", "''")
        literal = "is null" if g["value"] is None else f"= {value}" if isinstance(g["value"], int) else f"= '{value}'"
        parts.append((g["rows_matched"], g["results"], f'({where_sql}) and "{group}" {literal}'))
    for rows, results, condition in parts:
        expect(condition, rows, db.execute(f"select count(*) from t where {condition}").fetchone()[0])
        for text, (sql, scale) in exact.items():
            row = db.execute(f"select sum({sql}), min({sql}), max({sql}), count({sql}) from t where {condition}").fetchone()
            for aggregate, want in zip(("sum", "min", "max"), row):
                expect(f"{aggregate}({text}) where {condition}", results[f"{aggregate}({text})"], scaled(want, scale))
            expect(f"count({text})", results[f"count({text})"], row[3])
        for text, sql in averages.items():
            want = db.execute(f"select avg({sql}) from t where {condition}").fetchone()[0]
            expect(f"avg({text}) where {condition}", results[f"avg({text})"], want, near)
    return report


def taxis():
    db = load(read_table(TAXIS))
    money = {name: (name, 2) for name in ("total", "surcharge", "hail_fee", "tolls", "taxes", "fare", "tips", "distance")}
    # BaM's Q0 to Q5: trips of 30 miles and more, and each query has one more column
    bam = ["total", "surcharge", "hail_fee", "tolls", "taxes"]
    for k in range(6):
        exact = {name: money[name] for name in bam[:k]}
        averages = {f"({'+'.join(bam[:k])})/distance": f"({'+'.join(bam[:k])})*1.0/distance"} if k else {}
        report = check(db, TAXIS, "distance >= 30", "distance >= 3000", exact, averages)
        expect("the share of far trips", report["rows_matched"], 100000 // 3333)
    # DREAM's Q1 to Q5: trips of more than 9000 seconds
    dream = ["distance", "fare", "surcharge", "tips", "tolls"]
    for k in range(1, 6):
        exact = {name: money[name] for name in dream[:k]}
        report = check(db, TAXIS, "seconds > 9000", "seconds > 9000", exact, {"fare / distance": "fare*1.0/nullif(distance, 0)"})
        expect("the share of long trips", report["rows_matched"], 80)
    check(db, TAXIS, "distance >= 2.5 and not payment = 'Cash'", "distance >= 250 and not payment = 'Cash'", money, {}, "vendor")
    check(db, TAXIS, "passengers is null or tolls > 0", "passengers is null or tolls > 0",
          {"total - tips*2": ("total - tips*2", 2), "fare * passengers": ("fare * passengers", 2)},
          {"latitude": "latitude", "passengers": "passengers"}, "passengers")
    check(db, TAXIS, None, "1", {"total": ("total", 2)}, {"total / seconds": "total/100.0/seconds"}, "payment")


def own_table():
    """A table with quotes, commas and line ends in its strings, through convert."""
    rng = random.Random(1)
    words = ["plain", 'with "quotes"', "a, comma", "two\nlines", "", "it's"]
    rows = []
    for _ in range(5000):
        word = rng.choice(words)
        n = rng.choice([None, rng.randrange(-1000, 1000)])
        m = rng.choice([None, rng.randrange(-10**6, 10**6)])
        x = rng.choice([None, rng.uniform(-1, 1)])
        rows.append((word, n, m, x))
    with open("own.csv", "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerow(["word", "n", "m", "x"])
        for word, n, m, x in rows:
            # None is written as an empty field in quotes: missing, in a column of numbers
            writer.writerow([word, n, None if m is None else decimal.Decimal(m).scaleb(-3), x])
    subprocess.run([GRAPNEL, "convert", "own.csv", "own.gnt", "--types", "x=f64"], check=True, stdout=subprocess.DEVNULL)
    table = [(name, 0, [row[k] for row in rows]) for k, name in enumerate(["word", "n", "m", "x"])]
    db = load(table)
    exact = {"n": ("n", 0), "m": ("m", 3), "m*n": ("m*n", 3), "m - n": ("m - n*1000", 3), "-m": ("-m", 3)}
    averages = {"x": "x", "m / n": "m/1000.0/n", "x * n": "x * n", "x + m": "x + m/1000.0"}
    check(db, "own.gnt", None, "1", exact, averages)
    conditions = {
        "n > 0": "n > 0", "m > n": "m > n*1000", "x < 0.25e0": "x < 0.25", "n / 7 = 3": "n/7.0 = 3", "x is not null": "x is not null",
        "word = 'two\nlines'": "word = 'two\nlines'", "word != 'it''s'": "word != 'it''s'", "word = ''": "word = ''", "m*2 <= -0.5": "m*2 <= -500",
    }
    for _ in range(10 if os.environ.get("GN_TEST_FEW") else 40):
        a, b, c = (rng.choice(list(conditions)) for _ in range(3))
        first, second = rng.choice(["and", "or", "and not", "or not"]), rng.choice(["and", "or", "and not", "or not"])
        text, sql = f"({a} {first} {b}) {second} {c}", f"({conditions[a]} {first} {conditions[b]}) {second} {conditions[c]}"
        check(db, "own.gnt", text, sql, exact, averages, rng.choice([None, "word"]))


taxis()
own_table()
