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
  grep -q "\"group\": \"$group\"" all.json || complain "no group $group in the report"
  grep -q "^$group: " all.txt || complain "no group $group in the tables"
done

# Each row took some time and moved something, and each group has a row of ours beside one that is not.
awk '
  /"group":/ { groups++ }
  /"role": "ours"/ { ours++ }
  /"role": "(limit|baseline)"/ { others++ }
  /"(seconds|amount|giga_per_second)":/ { rows++; value = $2 + 0; if (value <= 0) { print "not positive: " $0; bad = 1 } }
  END {
    if (groups < 34 || ours < groups || others < groups || rows < 110) { print groups, ours, others, rows " rows"; bad = 1 }
    exit bad
  }' all.json || complain 'the rows are not as they should be'

# Twenty patterns of natural loops, each a group of plain loads, cold and again.
[ "$(grep -c '"group": "pattern-' all.json)" -eq 20 ] || complain 'there are not twenty patterns'
[ "$(grep -c '"row": "paged-again"' all.json)" -eq 23 ] || complain 'not every pattern was read again'

# A drawing: one element, closed, a line for each row, and nothing that would end a text early.
if command -v xmllint >/dev/null 2>&1; then
  xmllint --noout all.svg || complain 'the drawing is not well-formed'
fi
head -n 1 all.svg | grep -q '^<svg ' || complain 'the drawing does not begin with <svg'
[ "$(tail -n 1 all.svg)" = '</svg>' ] || complain 'the drawing does not end'
rows=$(grep -c '"row":' all.json)
circles=$(grep -c '<circle ' all.svg)
[ "$circles" -eq $((rows + 3)) ] || complain "$circles circles for $rows rows and 3 roles"

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
refuses 2 'no such workload' dance
refuses 2 'data' --data 12Q
refuses 2 'repeat' --repeat 0
refuses 2 'page' --page 300
refuses 1 'nowhere' --quick words --json nowhere/out.json
refuses 1 'nowhere' --quick words --svg nowhere/out.svg
refuses 1 'nosuch' --quick words --machine nosuch
[ "$("$grapnel" bench --list | wc -l)" -eq 13 ] || complain '--list does not name thirteen workloads'
exit "$bad"
