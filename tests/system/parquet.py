# SPDX-License-Identifier: Apache-2.0
"""grapnel convert of Parquet and Arrow files keeps every value. Usage: parquet.py GRAPNEL SCRATCH-FOLDER

pyarrow writes the files from Python's values. What grapnel makes of them is read by column_file.py and must be those values: the rules
of docs/column-format.md are here once more, in Python. Exits 77 without pyarrow, or where grapnel was built without Arrow."""
import datetime
import decimal
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys

from column_file import DECIMAL, F32, F64, I32, STRING, U32, read_table

GRAPNEL, SCRATCH = os.path.abspath(sys.argv[1]), sys.argv[2]
EPOCH = datetime.date(1970, 1, 1)
DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def skip(why):
    print(why)
    sys.exit(77)


if not json.loads(subprocess.run([GRAPNEL, "doctor", "--json"], check=True, stdout=subprocess.PIPE).stdout)["arrow"]["works"]:
    skip("grapnel was built without Apache Arrow")
try:
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    skip("Python has no pyarrow")
RANDOM = random.Random(7)


def expect(what, got, want):
    if got != want:
        sys.exit(f"{what}: {got!r}, wanted {want!r}")


def grapnel(*arguments):
    return subprocess.run([GRAPNEL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


# ---- values ----

def whole(bits, signed=True):
    """Values of so many bits, but for the one that stands for a missing one."""
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    least += bits in (32, 64) and signed
    most = min(most - (bits == 32 and not signed), 2**63 - 1)
    return lambda: RANDOM.choice([least, most, 0, 1, RANDOM.randint(least, most)])


def real(code):
    """Real numbers, rounded to the width; now and then none."""
    def value():
        x = RANDOM.choice([0.0, -0.0, 1.0, 0.1, math.nan, RANDOM.uniform(-1000, 1000), RANDOM.uniform(-1, 1) * 2.0**-10])
        return struct.unpack(code, struct.pack(code, x))[0]
    return value


def number(precision, scale):
    most = 10**precision - 1
    return lambda: decimal.Decimal(RANDOM.choice([most, -most, 0, 1, RANDOM.randint(-most, most)])).scaleb(-scale, decimal.Context(prec=80))


def day():
    return EPOCH + datetime.timedelta(days=RANDOM.randint(-200000, 200000))


def days(date):
    return (date - EPOCH).days


def moment(unit):
    """Seconds as the unit counts them, between the years 1700 and 2200."""
    return lambda: RANDOM.randint(-8 * 10**9, 7 * 10**9) * 10 ** DIGITS[unit] + RANDOM.randrange(10 ** DIGITS[unit])


def clock(unit):
    return lambda: RANDOM.randrange(86400 * 10 ** DIGITS[unit])


def word():
    return RANDOM.choice(["", "plain", "na\u00efve", "\u6f22\u5b57", "two\nlines", "a,b", '"', "x" * 300, str(RANDOM.randrange(50))])


def text(value):
    return value


# type, a value, which column is asked for: type, scale, and how the value is kept.
def cases():
    exact = lambda scale: lambda v: int(decimal.Decimal(v).scaleb(scale, decimal.Context(prec=80)))
    yield pa.bool_(), lambda: RANDOM.random() < 0.5, I32, 0, int
    for bits in (8, 16, 32):
        yield getattr(pa, f"int{bits}")(), whole(bits), I32, 0, int
    for bits in (8, 16):
        yield getattr(pa, f"uint{bits}")(), whole(bits, False), I32, 0, int
    yield pa.uint32(), whole(32, False), U32, 0, int
    yield pa.int64(), whole(64), DECIMAL, 0, int
    yield pa.uint64(), whole(64, False), DECIMAL, 0, int
    yield pa.float16(), real("e"), F32, 0, float
    yield pa.float32(), real("f"), F32, 0, float
    yield pa.float64(), real("d"), F64, 0, float
    for make, precision, scale in ((pa.decimal32, 9, 3), (pa.decimal64, 18, 10), (pa.decimal128, 18, 18), (pa.decimal128, 5, 0), (pa.decimal256, 18, 9)):
        yield make(precision, scale), number(precision, scale), DECIMAL, scale, exact(scale)
    yield pa.decimal128(38, 12), number(18, 12), DECIMAL, 12, exact(12)
    yield pa.decimal256(60, 2), number(18, 2), DECIMAL, 2, exact(2)
    yield pa.date32(), day, I32, 0, days
    yield pa.date64(), day, DECIMAL, 3, lambda v: 86400000 * days(v)
    for unit in DIGITS:
        yield pa.timestamp(unit), moment(unit), DECIMAL, DIGITS[unit], int
        yield pa.timestamp(unit, tz="Europe/Rome"), moment(unit), DECIMAL, DIGITS[unit], int
        yield pa.duration(unit), moment(unit), DECIMAL, DIGITS[unit], int
        yield (pa.time32 if unit in ("s", "ms") else pa.time64)(unit), clock(unit), DECIMAL, DIGITS[unit], int
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.large_string())):
        yield kind, word, STRING, 0, text
    yield pa.dictionary(pa.int16(), pa.int64()), lambda: RANDOM.randrange(100), DECIMAL, 0, int
    yield pa.null(), lambda: None, STRING, 0, text


def column(kind, value, rows):
    share = RANDOM.choice([0, 0.1, 0.9, 1])
    values = [None if RANDOM.random() < share else value() for _ in range(rows)]
    return pa.array(values, kind), values


def kept(how, value):
    return None if value is None or value != value else how(value)


def check(path, want):
    """want: (name, type, scale, values) of each column."""
    target = "out.gnt"
    said = grapnel("convert", path, target)
    expect(f"convert {path}: {said.stderr.decode()}", said.returncode, 0)
    table = read_table(target)
    expect(f"{path}: columns", [name for name, _, _ in table], [name for name, _, _, _ in want])
    with open(target, "rb") as file:
        head = file.read(4096 + 256 * len(table))
    for k, (name, kind, scale, values) in enumerate(want):
        expect(f"{path}: type of {name}", struct.unpack_from("<II", head, 4096 + 256 * k + 128), (kind, scale))
        for row, (got, wanted) in enumerate(zip(table[k][2], values)):
            expect(f"{path}: {name}, row {row + 1}", got, wanted)
        expect(f"{path}: rows of {name}", len(table[k][2]), len(values))
    expect(f"query {path}", grapnel("query", target, "--count", '"' + want[0][0] + '"').returncode, 0)


# ---- files ----

def write_arrow(table, path, rows_each, compression):
    options = pa.ipc.IpcWriteOptions(compression=compression, unify_dictionaries=True)
    with pa.ipc.new_file(path, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=rows_each)


def write_parquet(table, path, rows_each, compression):
    # what Parquet itself calls the types, where it has no name for a type of Arrow's, is in the schema that is kept beside them
    pa.parquet.write_table(table, path, row_group_size=rows_each, compression=compression or "none", use_dictionary=RANDOM.random() < 0.5,
                           data_page_size=RANDOM.choice([512, 2**20]), write_page_checksum=True, data_page_version=RANDOM.choice(["1.0", "2.0"]))


def as_parquet_has_it(arrow, read, kind, scale, how):
    """Parquet has no seconds, which are read as milliseconds, and one type of date."""
    if str(read) != str(arrow) and str(read) == str(arrow).replace("[s", "[ms"):
        return kind, 3, lambda v: 1000 * how(v)
    if read == pa.date32():
        return I32, 0, days
    return kind, scale, how


def round_trips(rows, rows_each, compression):
    columns = [(f"{k}: {case[0]}", *case, *column(case[0], case[1], rows)) for k, case in enumerate(cases())]
    RANDOM.shuffle(columns)
    table = pa.table([c[6] for c in columns], names=[c[0] for c in columns])
    write_arrow(table, "t.arrow", rows_each, compression if compression in ("lz4", "zstd") else None)
    check("t.arrow", [(name, kind, scale, [kept(how, v) for v in values]) for name, _, _, kind, scale, how, _, values in columns])
    write_parquet(table, "t.parquet", rows_each, compression)
    schema = pa.parquet.ParquetFile("t.parquet").schema_arrow
    want = []
    for k, (name, arrow, _, kind, scale, how, _, values) in enumerate(columns):
        kind, scale, how = as_parquet_has_it(arrow, schema.field(k).type, kind, scale, how)
        want.append((name, kind, scale, [kept(how, v) for v in values]))
    check("t.parquet", want)


def missing_words():
    """A place in a dictionary where there is no word is a missing value, too."""
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2], pa.int8()), pa.array(["a", None, "b"]))
    write_arrow(pa.table([words], names=["w"]), "words.arrow", 3, None)
    check("words.arrow", [("w", STRING, 0, ["a", None, None, "b"])])


def sums():
    """What is asked of the table is what Python says, and what the same rows as comma-separated values say."""
    rows = [(RANDOM.randrange(10**6), RANDOM.choice([None, decimal.Decimal(RANDOM.randrange(-10**6, 10**6)).scaleb(-2)]), RANDOM.choice("abc"))
            for _ in range(200000)]
    table = pa.table([pa.array(list(c), kind) for c, kind in zip(zip(*rows), (pa.int32(), pa.decimal128(12, 2), pa.string()))], names=["n", "money", "who"])
    write_parquet(table, "sums.parquet", 90000, None) # more than is decoded at a time
    pa.feather.write_feather(table, "sums.feather", chunksize=7000)
    with open("sums.csv", "w", encoding="ascii") as file:
        file.write("n,money,who\n" + "".join(f"{n},{'' if m is None else m},{w}\n" for n, m, w in rows))
    for path in ("sums.parquet", "sums.feather", "sums.csv"):
        expect(path, grapnel("convert", path, path + ".gnt").returncode, 0)
    report = json.loads(grapnel("query", "sums.parquet.gnt", "--sum", "n,money", "--where", "who = 'b'", "--verify", "--json", "-").stdout)
    chosen = [row for row in rows if row[2] == "b"]
    expect("sum(n)", int(report["results"]["sum(n)"]), sum(n for n, _, _ in chosen))
    expect("sum(money)", decimal.Decimal(report["results"]["sum(money)"]), sum(m for _, m, _ in chosen if m is not None))
    for path in ("sums.feather", "sums.csv"):
        with open("sums.parquet.gnt", "rb") as one, open(path + ".gnt", "rb") as other:
            expect(f"{path}.gnt is sums.parquet.gnt", one.read() == other.read(), True)


def decimals(*texts):
    return [decimal.Decimal(text) for text in texts]


def other_types():
    """A column that is given another type has the same numbers, and none is lost."""
    whole, parts = [10.0, 1200.0, 1e6, 1e15, -20.0, 0.0, None], [10.0, 0.00001, -1200.5, -0.00125, 1e6]
    cases = [(pa.float64(), whole, "i64", whole), (pa.float64(), whole, "decimal(2)", [v and 100 * v for v in whole]),
             (pa.float64(), whole, "string", [None if v is None else str(int(v)) for v in whole]),
             (pa.float64(), parts, "decimal(5)", [1000000, 1, -120050000, -125, 100000000000]), (pa.float64(), [1e-5], "string", ["0.00001"]),
             (pa.decimal128(38, 20), decimals("0", "5", "0.25", "-12345678.5"), "decimal(2)", [0, 500, 25, -1234567850]),
             (pa.decimal128(38, 20), decimals("0", "-5", "0.00000000000000000001"), "string", ["0", "-5", "0.00000000000000000001"]),
             (pa.decimal128(38, 12), decimals("12345678901", "-0.5"), "decimal(2)", [1234567890100, -50]),
             (pa.float32(), [10.0, 0.25, -1200.0], "decimal(2)", [1000, 25, -120000])]
    for kind, values, given, want in cases:
        for path in both(pa.table([pa.array(values, kind)], names=["a"]), "other"):
            said = grapnel("convert", path, "out.gnt", "--types", "a=" + given)
            expect(f"{path} {kind} as {given}: {said.stderr.decode()}", said.returncode, 0)
            expect(f"{path} {kind} as {given}", read_table("out.gnt")[0][2], want)
    # Parquet has no scale below 0
    write_arrow(pa.table([pa.array(decimals("500", "0", "-99900"), pa.decimal256(5, -2))], names=["a"]), "below.arrow", 2, None)
    expect("scale -2", grapnel("convert", "below.arrow", "out.gnt", "--types", "a=i64").returncode, 0)
    expect("scale -2", read_table("out.gnt")[0][2], [500, 0, -99900])


# ---- what is refused ----

def refuses(words, *arguments):
    """It ends with status 1 and the words, and what had the name stays."""
    with open("kept.gnt", "w", encoding="ascii") as file:
        file.write("keep")
    said = grapnel("convert", arguments[0], "kept.gnt", *arguments[1:])
    with open("kept.gnt", encoding="ascii") as file:
        expect(f"{arguments}: what is kept", file.read(), "keep")
    expect(f"{arguments}: status, of {said.stderr.decode()}", said.returncode, 1)
    if not all(word in said.stderr.decode() for word in words):
        sys.exit(f"{arguments}: said {said.stderr.decode()!r}, wanted {words}")
    expect("what is left behind", [name for name in os.listdir() if name.startswith("kept.gnt") and name != "kept.gnt"], [])


def both(table, name):
    write_parquet(table, name + ".parquet", 2, "none")
    write_arrow(table, name + ".arrow", 2, None)
    return name + ".parquet", name + ".arrow"


def bad_values():
    cases = [(pa.int32(), [1, 2, -(2**31)], "-2147483648", "i64"), (pa.uint32(), [1, 2, 2**32 - 1], "4294967295", "i64"),
             (pa.int64(), [1, 2, -(2**63)], "-9223372036854775808", "string"), (pa.uint64(), [1, 2, 2**63], "9223372036854775808", "f64"),
             (pa.float32(), [1, 2, math.inf], "inf", "string"), (pa.float64(), [1, 2, -math.inf], "-inf", "string"),
             (pa.decimal128(38, 2), [decimal.Decimal(n) for n in ("1", "2", "123456789012345678901.25")], "123456789012345678901.25", "f64"),
             (pa.string(), ["1", "2", "a\0b"], "a?b", None)]
    for kind, values, quoted, cure in cases:
        for path in both(pa.table([pa.array(values, kind)], names=["a"]), "bad"):
            refuses([path, 'row 3: "' + quoted + '" in column a', "1 rows of 3 are bad", "--skip-bad-rows"], path)
            said = grapnel("convert", path, "out.gnt", "--skip-bad-rows")
            expect(f"{path} {kind}: {said.stdout.decode()}", b"2 rows, 1 bad rows left out" in said.stdout and b"row 3" in said.stderr, True)
            expect("what is left", len(read_table("out.gnt")[0][2]), 2)
            if cure:
                said = grapnel("convert", path, "out.gnt", "--types", "a=" + cure)
                expect(f"{path} {kind} as {cure}: {said.stderr.decode()}", said.returncode, 0)


def bad_columns():
    kinds = {"list<": pa.array([[1], [2]]), "struct<": pa.array([{"x": 1}, {"x": 2}]), "map<": pa.array([[(1, 2)], []], pa.map_(pa.int32(), pa.int32())),
             "fixed_size_binary[2]": pa.array([b"ab", b"cd"], pa.binary(2))}
    for name, array in kinds.items():
        for path in both(pa.table([pa.array([3, 4]), array], names=["good", "odd"]), "columns"):
            refuses([path, "column odd is of type " + name, "odd=none"], path)
            refuses(["column odd is of type " + name], path, "--types", "odd=string")
            expect(name, grapnel("convert", path, "out.gnt", "--types", "odd=none").returncode, 0)
            expect(name, read_table("out.gnt"), [("good", 0, [3, 4])])
    for path in both(pa.table([pa.array([[1]]), pa.array([2])], names=["a,b", "c"]), "comma"):
        refuses(["column a,b is of type list<", 'by --types "a,b=none"'], path)
        expect(path, grapnel("convert", path, "out.gnt", "--types", "a,b=none").returncode, 0)
        refuses(["--types leaves out every column of " + path + "; keep one"], path, "--types", "c=none,a,b=none")
    for path in both(pa.table([pa.array([b"ab", None, b""])], names=["bytes"]), "binary"):
        refuses(["column bytes is of type binary", "bytes=none", "such as string"], path)
        expect(path, grapnel("convert", path, "out.gnt", "--types", "bytes=string").returncode, 0)
        expect(path, read_table("out.gnt"), [("bytes", 0, ["ab", None, ""])])
    for path in both(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "names"):
        refuses(["its schema: two columns are named a"], path)
    for path in both(pa.table([pa.array([1])], names=["n" * 128]), "names"):
        refuses(["its schema: the name of column 1 has 128 bytes"], path)
    for path in both(pa.table([pa.array([1.5, 2.25])], names=["a"]), "types"):
        refuses(["row 2", "2.25", "too many digits behind the point"], path, "--types", "a=decimal(1)")
        refuses(["there are a"], path, "--types", "b=i32")
    expect("no rows", [grapnel("convert", path, "out.gnt").returncode for path in both(pa.table([pa.array([], pa.int8())], names=["a"]), "empty")], [0, 0])
    write_arrow(pa.table([]), "none.arrow", 2, None)
    refuses(["none.arrow: its schema: a table has 1 to 1024 columns"], "none.arrow")


def bad_files():
    columns = [pa.array(range(1000)), pa.array([word() for _ in range(1000)]), pa.array([word() for _ in range(1000)]).dictionary_encode()]
    paths = both(pa.table(columns, names=["a", "b", "c"]), "whole")
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        end = "cut." + path.split(".")[1]
        for size in (0, 1, 7, 8, 12, len(data) // 2, len(data) - 1, len(data) - 9):
            with open(end, "wb") as file:
                file.write(data[:size])
            refuses([end + ": Arrow cannot read it"], end)
        damage(end, data)
    os.rename(paths[0], "foreign.arrow")
    refuses(["foreign.arrow: Arrow cannot read it", "of another kind"], "foreign.arrow")
    os.rename(paths[1], "foreign.parquet")
    refuses(["foreign.parquet: Arrow cannot read it", "of another kind"], "foreign.parquet")
    refuses(["missing.parquet"], "missing.parquet")
    os.mkdir("folder.parquet")
    refuses(["folder.parquet"], "folder.parquet")


def damage(path, data):
    """Bytes that are wrong end in a message or in a table, never in a signal; what is said of a table holds."""
    for _ in range(30):
        broken = bytearray(data)
        for _ in range(RANDOM.choice([1, 1, 5])):
            broken[RANDOM.randrange(len(data))] ^= RANDOM.randrange(1, 256)
        with open(path, "wb") as file:
            file.write(broken)
        said = grapnel("convert", path, "out.gnt", "--skip-bad-rows")
        expect(f"damage: {said.stderr.decode()}", said.returncode in (0, 1), True)
        if said.returncode == 0:
            expect("query of what was damaged", grapnel("query", "out.gnt", "--count", read_table("out.gnt")[0][0]).returncode in (0, 1), True)


shutil.rmtree(SCRATCH, ignore_errors=True)
os.makedirs(SCRATCH)
os.chdir(SCRATCH)
for compression in ("none", "snappy", "zstd", "lz4", "gzip", "brotli"):
    if compression == "none" or pa.Codec.is_available(compression):
        round_trips(RANDOM.randint(1, 3000), RANDOM.randint(1, 1000), compression)
missing_words()
sums()
other_types()
bad_values()
bad_columns()
bad_files()
