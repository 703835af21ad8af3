#!/bin/sh
# Jobs over a graph with --steps: how many steps there are, that edges and bytes of all are those of the whole, what the JSON of a step
# has, and that the table has a line for each. Without --steps there are none. Usage: steps.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

"$grapnel" gen kron --scale 9 --undirected kron.gng >/dev/null
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 300, 300, 299
  for (v = 1; v < 300; v++) print v + 1, v, v % 7 / 3 }' >path.mtx
"$grapnel" convert path.mtx path.gng >/dev/null

# whole REPORT MEMBER - of the whole report, or of its counters.
whole() {
  sed -n "s/^ \{1,2\}\"$2\": \([0-9.e+-]*\),*\$/\1/p" "$1"
}
# each REPORT MEMBER - of the steps of a report.
each() {
  sed -n "s/^   \"$2\": \"*\([a-z0-9.e+-]*\)\"*,*\$/\1/p" "$1"
}
# sum REPORT MEMBER - of its steps.
sum() {
  each "$1" "$2" | awk '{ s += $1 } END { printf "%d", s }'
}

runs=0
# steps COUNT MEMBERS JOB GRAPH OPTION... - COUNT is a number, or the member of the report that counts the steps, and with *2 behind it twice
# that; MEMBERS are those that a step has, and in the same order.
steps() {
  count=$1
  members=$2
  shift 2
  for way in '1 --cache 8K' '32 --cache 1M'; do
    # shellcheck disable=SC2086 # words of options
    "$grapnel" "$@" --steps --page 512 --warp-width $way --json report.json >said
    case $count in
      *'*2') want=$((2 * $(whole report.json "${count%??}"))) ;;
      *[a-z]*) want=$(whole report.json "$count") ;;
      *) want=$count ;;
    esac
    [ "$(each report.json step | wc -l)" -eq "$want" ] || fail "$*: $(each report.json step | wc -l) steps instead of $want"
    [ "$(sed -n '/^ "steps": \[$/,/^ \]/s/^   "\([a-z_]*\)": .*/\1/p' report.json | head -n "$(echo "$members" | wc -w)" | tr '\n' ' ')" = "$members " ] ||
      fail "$*: a step has other members than $members: $(cat report.json)"
    [ "$(sum report.json edges)" = "$(whole report.json edges_traversed)" ] || fail "$*: the steps read other edges: $(cat report.json)"
    for member in fetched_pages fetched_bytes; do
      if [ "$(sum report.json $member)" -lt 1 ] || [ "$(sum report.json $member)" != "$(whole report.json $member)" ]; then
        fail "$*: $member of the steps are not those of all: $(cat report.json)"
      fi
    done
    # all times are rounded
    each report.json seconds | awk -v all="$(whole report.json seconds)" '{ s += $1; bad = bad || $1 < 0 } END { exit bad || s > all + 1e-6 }' ||
      fail "$*: the steps took longer than all: $(cat report.json)"
    [ "$(sed -n '/^  *step  /,$p' said | grep -cE '^ +[0-9]+ .* [0-9.]+$')" -eq "$want" ] || fail "$*: not a line for each step: $(cat said)"
    runs=$((runs + 1))
  done
  "$grapnel" "$@" --steps --store host --mode direct --json - | grep -q '^   "fetched_bytes": null,$' || fail "$*: bytes of no cache"
  "$grapnel" "$@" --json none.json >said
  grep -q '^ "steps": null,$' none.json || fail "$*: has steps that were not asked for"
  if grep -q '^  *step  ' said; then fail "$*: says steps that were not asked for"; fi
}
moved='fetched_pages fetched_bytes seconds'
for graph in kron.gng path.gng; do
  steps levels "step direction frontier edges $moved" bfs $graph --source 1
  steps launches "step frontier edges border $moved" sssp $graph --source 1
  steps iterations "step frontier edges joined $moved" cc $graph
  steps iterations "step frontier edges joined $moved" cc $graph --algorithm sv
  steps iterations "step frontier edges moved $moved" pagerank $graph
  steps levels*2 "step direction frontier edges source $moved" bc $graph --source 1 --source 7
  steps levels*2 "step direction frontier edges source $moved" bc $graph --sources 2
  steps 1 "step frontier edges triangles $moved" tc $graph
done
echo "$runs runs agree"
[ "$runs" -eq 32 ]

# What each job says of its steps agrees with its result.
"$grapnel" cc kron.gng --steps --json report.json >/dev/null
[ $((512 - $(sum report.json joined))) -eq "$(whole report.json components)" ] || fail "joined: $(cat report.json)"
"$grapnel" pagerank kron.gng --steps --json report.json >/dev/null
[ "$(each report.json moved | tail -n 1)" = "$(whole report.json moved)" ] || fail "moved: $(cat report.json)"
[ "$(each report.json moved)" = "$(each report.json moved | sort -g -r)" ] || fail "the change grows: $(cat report.json)"
"$grapnel" tc kron.gng --steps --json report.json >/dev/null
[ "$(each report.json triangles)" = "$(whole report.json triangles)" ] || fail "triangles: $(cat report.json)"
# borders of whole and of real numbers ascend, and there is none where all lengths are near
for graph in kron.gng path.gng; do
  "$grapnel" sssp $graph --steps --delta 5 --json report.json >/dev/null
  [ "$(each report.json border)" = "$(each report.json border | sort -g)" ] || fail "borders: $(cat report.json)"
  awk -v border="$(each report.json border | tail -n 1)" -v farthest="$(whole report.json farthest)" 'BEGIN { exit !(border > farthest && border <= farthest + 5) }' ||
    fail "the last border: $(cat report.json)"
  [ "$(each report.json border | sort -u | wc -l)" -eq "$(whole report.json buckets)" ] || fail "buckets: $(cat report.json)"
done
"$grapnel" sssp kron.gng --steps --delta 1e38 --json report.json >/dev/null
[ "$(each report.json border | sort -u)" = null ] || fail "a border: $(cat report.json)"
"$grapnel" bc kron.gng --source 3 --steps --json report.json >/dev/null
[ "$(each report.json direction | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
  " $(whole report.json levels) backward; $(whole report.json levels) forward;" ] || fail "directions: $(cat report.json)"
[ "$(each report.json source | sort -u)" = 3 ] || fail "source: $(cat report.json)"

# Of several searches each has its own.
for job in bfs sssp; do
  "$grapnel" $job kron.gng --sources 3 --steps --page 512 --cache 8K --verify --json report.json >said
  [ "$(grep -c '^  reached  .* from ' said)" -eq 3 ] || fail "$(cat said)"
  [ "$(grep -c '^    *step  ' said)" -eq 3 ] || fail "$(cat said)"
  awk '/^     "fetched_bytes"/ { steps += $2 }
    /^    "fetched_bytes"/ { if (steps < 512 || steps != $2 + 0) exit 1; steps = 0; searches++ }
    END { exit searches != 3 }' report.json || fail "the steps fetched other bytes: $(cat report.json)"
done
