#!/bin/sh
# grapnel bench runs every workload on little data, verifies every word, and writes JSON and a drawing that are
# well-formed; a wrong word would end it with exit status 1. Usage: bench.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"
bad=0

# complain WORDS... - what is wrong, and go on.
complain() {
  echo "$*"
  bad=1
}

"$grapnel" bench --quick --json all.json --svg all.svg >all.txt
grep -q '"verified": true' all.json || complain 'the report does not say that it was verified'
for group in sequential pages-512 pages-4K pages-16K words add reuse sum rows random hot-rows few-frames search stores; do
  grep -q "\"name\": \"$group/" all.json || complain "no group $group in the report"
  grep -q "^$group: " all.txt || complain "no group $group in the tables"
done

# Each group has a row of ours beside one that is not, and each row of it was measured.
sed -n 's/^{"name": "\([^/]*\)\/\([^"]*\)", "summary".*"role": "\([a-z]*\)"},\{0,1\}$/\1 \2 \3/p' all.json >rows.txt
awk '
  { groups[$1] = 1; if ($3 == "ours") ours[$1] = 1; else others[$1] = 1 }
  END {
    for (g in groups) { n++; if (!(g in ours) || !(g in others)) { print g ": nothing to compare"; bad = 1 } }
    if (n < 34 || NR < 110) { print n " groups, " NR " rows"; bad = 1 }
    exit bad
  }' rows.txt || complain 'the rows are not as they should be'
rows=$(wc -l <rows.txt)
[ "$(grep -c '"status": "measured"' all.json)" -eq "$rows" ] || complain 'a row was not measured'

# Each took some time and moved something.
awk '/^{"name".*"status": "measured"/ && !/"median": [0-9.e+-]*[1-9]/ { print; bad = 1 } END { exit bad }' all.json ||
  complain 'a row came to nothing'

# Twenty patterns of natural loops, each a group of plain loads, cold and again.
[ "$(grep -c '^pattern-.* plain ' rows.txt)" -eq 20 ] || complain 'there are not twenty patterns'
[ "$(grep -c ' paged-again ' rows.txt)" -eq 23 ] || complain 'not every pattern was read again'

# A drawing: one element, closed, a bar for each row, and nothing that would end a text early.
if command -v xmllint >/dev/null 2>&1; then
  xmllint --noout all.svg || complain 'the drawing is not well-formed'
else
  echo 'left out: whether the drawing of grapnel bench is well-formed (needs xmllint)'
fi
head -n 1 all.svg | grep -q '^<svg ' || complain 'the drawing does not begin with <svg'
[ "$(tail -n 1 all.svg)" = '</svg>' ] || complain 'the drawing does not end'
bars=$(grep -c '<rect .*<title>' all.svg)
[ "$bars" -eq "$rows" ] || complain "$bars bars for $rows rows"
"$grapnel" scope compare all.json all.json | grep -q '^0 slower, 0 faster,' || complain 'a report is not the same as itself'

# One workload alone, wide warps, a cache of a few frames; JSON on standard output and nothing else there.
for workload in sequential pages reuse; do
  "$grapnel" bench "$workload" --quick --cache 64K --warp-width 32 --json - >one.json
  head -n 1 one.json | grep -q '^{' || complain "$workload: standard output is not JSON alone"
  grep -q '"verified": true' one.json || complain "$workload: not verified"
done

# Pages of natural loops are as large as was asked, or as the library chooses; few frames are 512 of them.
"$grapnel" bench rows search --quick --page 512 >natural.txt
[ "$(grep -c 'pages of 512 bytes' natural.txt)" -eq 4 ] || complain '--page does not reach the natural loops'
# C = A + B by pages of any size: a kernel that takes a page for larger than it is would write into the next frame.
"$grapnel" bench add --quick --page 512 --json add.json >add.txt || complain 'C = A + B in pages of 512 bytes fails'
grep -q '"verified": true' add.json || complain 'C = A + B in pages of 512 bytes was not verified'
"$grapnel" bench few-frames --quick >few.txt
grep -q 'paged-cold .* 512 pages' few.txt || complain 'few frames are not 512'

# The other commands that measure have rows of the same form.
for command in 'cache-bench --data 1M --repeat 2' 'gather --data 1M --rows 64 --repeat 2' \
  'auto-bench --data 16M --launches 2 --pattern random --modes direct'; do
  # shellcheck disable=SC2086
  "$grapnel" $command --json other.json --svg other.svg --csv other.csv >other.txt || complain "$command fails"
  grep -q '"verified": true' other.json || complain "$command: not verified"
  "$grapnel" scope compare other.json other.json | grep -q '^0 slower, 0 faster,' || complain "$command: no report"
  [ "$(grep -c '<rect .*<title>' other.svg)" -eq "$(grep -c '"status": "measured"' other.json)" ] || complain "$command: bars"
  grep -q ' ours ' other.txt || complain "$command: no row of ours"
done

# What is wrong is refused by name.
refuses() {
  want=$1
  words=$2
  shift 2
  status=0
  "$grapnel" bench "$@" >out 2>err || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" err; then
    complain "bench $*: exit status $status (wanted $want), said \"$(cat err)\""
  fi
}
refuses 2 'unknown workload' dance
refuses 2 'data' --data 12Q
refuses 2 'repeat' --repeat 0
refuses 2 'page' --page 300
refuses 1 'nowhere' --quick words --json nowhere/out.json
refuses 1 'nowhere' --quick words --svg nowhere/out.svg
refuses 1 'nosuch' --quick words --machine nosuch
[ "$("$grapnel" bench --list | wc -l)" -eq 13 ] || complain '--list does not name thirteen workloads'
exit "$bad"
