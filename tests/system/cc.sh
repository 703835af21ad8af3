#!/bin/sh
# grapnel cc equals its --verify, and components that follow from a graph's shape, whatever the algorithm, the width of a warp, the
# store and the room in the cache. What it refuses it names, and then nothing is written. Usage: cc.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

awk 'BEGIN { for (v = 0; v < 1000; v++) print v, v + 1 }' >path.el
awk 'BEGIN { for (v = 1; v <= 5000; v++) print 0, v }' >star.el
awk 'BEGIN { print "# 3000,1500,d"; for (v = 0; v < 1500; v++) print v, (v * 7 + 1) % 1500 }' >isolated.el
awk 'BEGIN { for (v = 0; v < 1000; v++) print v, (v + 2) % 1000 }' >two.el
awk 'BEGIN { for (v = 0; v < 300; v++) print v, v }' >loops.el
echo '# 1,0,d' >single.el
echo '# 4000,0,d' >edgeless.el
for name in path star isolated two loops single edgeless; do
  "$grapnel" convert "$name.el" "$name.gng" >/dev/null
done
"$grapnel" convert star.el spokes.gng --undirected >/dev/null
"$grapnel" gen kron --scale 8 --undirected kron.gng >/dev/null
"$grapnel" gen urand --scale 9 --degree 2 urand.gng >/dev/null

runs=0
# components GRAPH OPTION... - one run, checked, for each algorithm.
components() {
  input=$1
  shift
  for algorithm in sv afforest; do
    if ! "$grapnel" cc "$input" --algorithm "$algorithm" --out "$algorithm.bin" --verify "$@" >said 2>&1; then
      echo "cc $input --algorithm $algorithm $*:"
      cat said
      exit 1
    fi
    runs=$((runs + 1))
  done
  cmp sv.bin afforest.bin
}

for graph in $(few "star isolated kron" "path star spokes isolated two loops single edgeless kron urand"); do
  for width in 1 32; do
    components "$graph.gng" --store file --warp-width "$width" --page 512 --cache 2K
  done
  components "$graph.gng" --store host --warp-width 8 --cache 64K --policy fifo --threads 4
  components "$graph.gng" --store host --mode direct
  components "$graph.gng" --store host --mode auto --warp-width 32
done
components two.el --undirected --store file
echo "$runs runs agree"
[ "$runs" -ge "$(few 30 100)" ]

# What is written: the least vertex of each component, four bytes, the least first.
components two.gng
[ "$(od -A n -v -t u1 -w4 afforest.bin | sort | uniq -c | tr -s ' ' | tr '\n' ';')" = \
  ' 500 0 0 0 0; 500 1 0 0 0;' ] || { echo '--out does not hold the components'; exit 1; }
"$grapnel" cc isolated.gng --json - --verify >report.json
has report.json '"schema": "grapnel-cc-1"' '"machine"' '"graph"' '"algorithm": "afforest"' '"both_directions": false' \
  '"components": 15[0-9][0-9]' '"largest"' '"iterations": 2' '"seconds"' '"edges_traversed": 1500' '"mode": "paged"' '"cache"' \
  '"fetched_bytes"' '"data_bytes"' '"needed_bytes"' '"verified": true'
"$grapnel" cc spokes.gng --json - | grep -q '"both_directions": true'
"$grapnel" cc kron.gng --svg cc.svg --verify >said
[ "$(tail -n 1 cc.svg)" = '</svg>' ] && grep -q 'Connected components: .*every component verified' cc.svg
grep -q '^  verified  .*reference' said
"$grapnel" cc kron.gng --mode auto --store host --explain | grep -q '^auto: '

# ---- what is refused ----
refusals cc kept.bin
refuses 2 'no graph given'
refuses 2 'algorithm best: give afforest or sv' kron.gng --algorithm best
refuses 2 'too many arguments' kron.gng two.gng
refuses 2 'mode best' kron.gng --mode best
refuses 2 'direct needs --store host' kron.gng --store file --mode direct
refuses 2 'svg is for --mode paged' kron.gng --mode direct --svg out.svg
refuses 2 'source' kron.gng --source 0
refuses 1 'cc: .*missing.gng' missing.gng
refuses 1 'nosuch' kron.gng --machine nosuch
refuses_cut kron.gng
printf '0 1\nhello\n' >words.el
refuses 1 'words.el.*line 2' words.el
[ ! -e out.svg ]
# Before the work, while nothing is written yet.
refuses 1 'nofolder/r.json: creating the file failed' kron.gng --json nofolder/r.json
refuses 1 'nofolder/r.svg: creating the file failed' kron.gng --svg nofolder/r.svg
# A disk that is full at the end: what was found is printed all the same.
! "$grapnel" cc kron.gng --json /dev/full >said 2>err || fail 'a full disk was not noticed'
grep -q '^  components ' said && grep -q 'No space left' err
