#!/bin/sh
# grapnel query gives what sqlite gives, on the tables of two papers and on others, whatever the store, the mode, the width of a warp
# and the room in the cache. What convert, gen and query refuse they name, and then nothing is written. Usage: query.sh GRAPNEL
# SCRATCH-FOLDER JUDGE
set -eu
grapnel=$1
judge=$3
rm -rf "$2"
mkdir -p "$2"
cd "$2"

"$grapnel" gen taxis --rows 100000 --seed 3 taxis.gnt >said
grep -q 'taxis.gnt: 100000 rows' said
"$grapnel" gen taxis --rows 100000 --seed 3 again.gnt >/dev/null
cmp taxis.gnt again.gnt

# ---- every way to run a query ----
runs=0
for options in '--store file' '--store file --page 512 --cache 16K' '--store file --warp-width 32 --policy fifo' '--store host' \
  '--store host --warp-width 32 --page 8K' '--mode direct' '--mode direct --warp-width 8 --threads 4'; do
  # shellcheck disable=SC2086
  "$grapnel" query taxis.gnt --where 'distance >= 30' --sum total,tolls --avg 'total / distance' --group-by vendor --verify $options \
    --json report.json >said
  grep -q '^  verified ' said
  grep -E '"(sum|count\(|rows_matched)' report.json >results
  [ -e first ] || cp results first
  cmp first results
  runs=$((runs + 1))
done
[ "$runs" -eq 7 ]
for member in '"schema": "grapnel-query-1"' '"machine"' '"table"' '"rows_matched": 30,' '"results"' '"sum(total)": "' '"groups"' \
  '"counters"' '"moved_bytes"' '"data_bytes"' '"needed_bytes"' '"zones"' '"pages"' '"skipped"' '"seconds"' '"verified": true'; do
  grep -qF "$member" report.json || { echo "--json lacks $member"; cat report.json; exit 1; }
done
"$grapnel" query taxis.gnt --where 'pickup < 1230769000' --count vendor --json - --trust >report.json
grep -A 3 '"zones"' report.json | grep -q '"skipped": 18[0-9]' || { cat report.json; exit 1; }

# Only needed pages move: one row of a column far behind costs a page of it, not the column.
"$grapnel" query taxis.gnt --where 'pickup = 1230768000' --sum total --page 4K --json - |
  awk '/"moved_bytes"/ { exit $2 + 0 <= 8192 && $2 + 0 > 0 ? 0 : 1 }'

# ---- what is refused ----
echo keep >kept.gnt
echo keep >kept.json
# refuses STATUS WORDS COMMAND... - it ends with this status, says the words, and leaves both files as they were.
refuses() {
  want=$1
  words=$2
  shift 2
  status=0
  "$grapnel" "$@" >out 2>err || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" err || [ "$(cat kept.gnt)" != keep ] || [ "$(cat kept.json)" != keep ] ||
    [ -s out ]; then
    echo "grapnel $*: exit status $status (wanted $want), said \"$(cat err)\" (wanted \"$words\")"
    exit 1
  fi
}
ask="query taxis.gnt --json kept.json"
# shellcheck disable=SC2086
{
  refuses 2 'no table given' query
  refuses 1 'nofolder/r.json: creating the file failed' query taxis.gnt --sum total --json nofolder/r.json
  refuses 2 'too many arguments' $ask again.gnt
  refuses 2 'direct needs --store host' $ask --store file --mode direct
  refuses 2 'mode best' $ask --mode best
  refuses 1 'nosuch' $ask --machine nosuch
  refuses 1 'sum: position 1 .*nosuch is no column; there are pickup, vendor' $ask --sum nosuch
  refuses 1 'where: position 13 ' $ask --where 'distance >= and'
  refuses 1 'where: .*no condition' $ask --where distance
  refuses 1 'vendor.*is no number' $ask --sum vendor
  refuses 1 'group-by: column pickup|group-by: column latitude' $ask --group-by latitude
  refuses 1 'group-by: .*is no column' $ask --group-by nosuch
  refuses 1 'row [0-9]+: a value is too large' $ask --sum 'total * 9223372036854775807'
  refuses 1 'missing.gnt' query missing.gnt
}
size=$(wc -c <taxis.gnt)
head -c $((size / 2)) taxis.gnt >half.gnt
refuses 1 'half.gnt.*truncated' query half.gnt --trust
printf 'a,b\n1,2\n' >tiny.csv
refuses 1 'tiny.csv: .*grapnel convert TABLE.csv TABLE.gnt' query tiny.csv
for at in 100 4200 20000 200000; do
  cp taxis.gnt broken.gnt
  printf '\377\376\375' | dd of=broken.gnt bs=1 seek="$at" conv=notrunc 2>/dev/null
  refuses 1 'broken.gnt: byte' query broken.gnt
done

printf 'a,b\n1,2\n3\n4,5\n' >bad.csv
refuses 1 'bad.csv: line 3: .*1 rows of 3 are bad' convert bad.csv kept.gnt
refuses 1 'there are a, b' convert bad.csv kept.gnt --types z=i32
printf 'a,b\n"1,2\n3,4\n' >open.csv
refuses 1 'open.csv: line 2: a quote of this row is never closed' convert open.csv kept.gnt --skip-bad-rows
refuses 2 'ends in .gnt' convert bad.csv out.gng
refuses 2 'made of a .csv' convert kron.el kept.gnt
refuses 2 'for graphs' convert bad.csv kept.gnt --undirected
refuses 2 'for tables' convert a.el out.gng --types a=i32
refuses 2 'rows N' gen taxis kept.gnt
refuses 2 'ends in .gnt' gen taxis --rows 5 out.gng
refuses 2 'for graphs' gen taxis --rows 5 --scale 4 kept.gnt
refuses 2 'rows is for taxis' gen kron --scale 4 --rows 5 out.gng
printf 'a,b\n1,2.50\n,"x, y"\n' >small.csv
"$grapnel" convert small.csv small.gnt >said
grep -q 'a  *i32' said && grep -q 'b  *string' said
gzip -c small.csv >packed.csv.gz
"$grapnel" convert packed.csv.gz packed.gnt >/dev/null
cmp small.gnt packed.gnt
{ gzip -c small.csv; printf XX; gzip -c small.csv; } >garbage.csv.gz
refuses 1 'garbage.csv.gz: reading fails behind line [0-9]+' convert garbage.csv.gz kept.gnt
head -c 30 packed.csv.gz >cut.csv.gz
refuses 1 'cut.csv.gz: reading fails behind line [0-9]+' convert cut.csv.gz kept.gnt
# One field that is no number makes a column one of strings, and is named where most are numbers.
printf 'id,name,total\n1,ann,1.5\n2,bob,x\n3,cid,2.5\n' >one.csv
"$grapnel" convert one.csv one.gnt >said
grep -qE '^  total +string \("x" in line 3 is no number that f64 reads; 2 of 3 fields are' said && grep -qE '^  name +string$' said
refuses 1 'sum: "total" is text' query one.gnt --sum total
"$grapnel" convert bad.csv bad.gnt --skip-bad-rows >said 2>err
grep -q '2 rows, 1 bad rows left out' said && grep -q 'line 3' err
[ ! -e out.gng ]
[ -z "$(find . -name '*.tmp')" ]

# ---- at the edges of numbers ----
# tells FILE WORD OPTION... - the report has the words
tells() {
  file=$1
  words=$2
  shift 2
  "$grapnel" query "$file" "$@" --verify --json - >report.json 2>err || { cat err; exit 1; }
  tr -d ' \n' <report.json | grep -qF "$words" || { echo "query $file $*: wanted $words"; cat report.json; exit 1; }
}
# advised FILE WHERE - the field there makes the column "a" text, and what convert then advises reads the other one
advised() {
  "$grapnel" convert "$1" advised.gnt >said
  grep -qE "^  a +string \\(\".*\" in $2 is no number that f64 reads; 1 of 2 fields are: --types a=f64 --skip-bad-rows reads" said ||
    fail "$1: convert said $(cat said)"
  "$grapnel" convert "$1" advised.gnt --types a=f64 --skip-bad-rows >said 2>err
  if ! grep -q '1 rows, 1 bad rows left out' said || ! grep -qE '^  a +f64$' said; then
    fail "$1: with the types advised: $(cat said)"
  fi
}
printf 'a,b\n1e400,1\n2e0,2\n' >large.csv # no double holds the first: the column is text
advised large.csv 'line 2'
printf 'a\n5\n%0600d\n' 7 >long.csv # a double holds it, but not so many characters are read
advised long.csv 'line 3'
"$grapnel" convert long.csv long.gnt --types a=i64 >said
grep -qE '^  a +i64$' said
printf 'x,g\n1e308,1\n1.5e308,2\n' >sums.csv
"$grapnel" convert sums.csv sums.gnt >/dev/null
tells sums.gnt '"min(x)":1e308' --min x
refuses 1 'a sum of "x" is too large' query sums.gnt --sum x
refuses 1 'a sum of "x" is too large' query sums.gnt --sum x --group-by g
refuses 2 'where is given twice' query sums.gnt --where 'g > 1' --where 'g < 2'
refuses 2 'types is given twice' convert sums.csv kept.gnt --types g=string --types g=i32
printf 'a,b\r1,2\r3,4\r' >returns.csv
refuses 1 'column 2 has a carriage return' convert returns.csv kept.gnt
printf 'a,b\r\n1,2\r\n3,4\r' >last.csv
"$grapnel" convert last.csv last.gnt | grep -q 'b  *i32'
awk 'BEGIN { print "a"; for (k = -2500; k < 2500; k++) print k }' >ramp.csv
"$grapnel" convert ramp.csv ramp.gnt >/dev/null
tells ramp.gnt '"zones":{"all":10,"skipped":9}' --where 'a < -2400' --count a
tells ramp.gnt '"rows_matched":100' --where 'a < -2400' --count a

# ---- names that are not UTF-8 ----
latin=$(printf 'latin\351.gnt')
e=$(printf '\351')
printf 'caf\351,preis\n\374,1.5\n\374,2\nb,4\n' >latin.csv
"$grapnel" convert latin.csv "$latin" >/dev/null
tells "$latin" '"value":"\\xfc","rows_matched":2,' --sum preis --group-by "\"caf$e\""
tells "$latin" '"count(\"caf\\xe9\")":3' --count "\"caf$e\""
tells "$latin" '"path":"latin\\xe9.gnt"' --where "\"caf$e\" = 'b'"
tells "$latin" '"where":"\"caf\\xe9\"='"'b'"'"' --where "\"caf$e\" = 'b'"
"$grapnel" query "$latin" --count "\"caf$e\"" --group-by "\"caf$e\"" >said
grep -qF 'count("caf\xe9")' said

# The judge makes a table of its own, too, and asks grapnel and sqlite the same.
python3 -B "$judge" "$grapnel" taxis.gnt
