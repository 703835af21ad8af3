#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plot.sh - draw what `grapnel bfs --json` reported: the bytes that were needed, moved and kept. Needs gnuplot.
# Usage: plot.sh REPORT.json DRAWING.svg
set -eu
[ $# -eq 2 ] || { echo 'usage: plot.sh REPORT.json DRAWING.svg' >&2; exit 2; }

# The report as lines "object.key value"; it is written one member a line.
members=$(awk '
  /": [{]$/ { object = $1; gsub(/[":]/, "", object); object = object "."; next }
  /^  [}]/ { object = ""; next }
  match($0, /"[a-z_]+": /) {
    key = substr($0, RSTART + 1, RLENGTH - 4)
    value = substr($0, RSTART + RLENGTH)
    sub(/,$/, "", value)
    gsub(/^"|"$/, "", value)
    print object key, value
  }' "$1")

# member NAME - the value of one.
member() {
  printf '%s\n' "$members" | sed -n "s/^$1 //p"
}

case $(member schema) in
  grapnel-bfs-1) ;;
  *) echo "plot.sh: $1: not a report of grapnel bfs (schema grapnel-bfs-1)" >&2; exit 1 ;;
esac
[ "$(member mode)" = paged ] || { echo "plot.sh: $1: not a paged run, there is no cache to draw" >&2; exit 1; }

title=$(awk -v teps="$(member teps)" -v seconds="$(member seconds)" -v hits="$(member counters.hits)" \
  -v misses="$(member counters.misses)" 'BEGIN {
    printf "%.1f million edges a second, %.2f s, hit rate %.2f %%", teps / 1e6, seconds, 100 * hits / (hits + misses) }')
checked="not verified"
[ "$(member verified)" != true ] || checked="every depth verified"

gnuplot <<PLOT
set terminal svg size 760,420 font "sans-serif,13" background "white"
set output "$2"
set title "Breadth-first search of $(member graph.vertices) vertices, $(member graph.edges) edges\n$title, $checked" noenhanced
set label 1 "$(member path)" at graph 0.5, -0.16 center font ",10" noenhanced
set bmargin 5
set style fill solid 0.85 noborder
set boxwidth 0.6
set ylabel "MiB"
set grid ytics lc rgb "#dddddd"
unset key
mib = 1048576.0
\$bytes << EOD
"graph" $(member graph.bytes)
"cache" $(member cache.bytes)
"needed" $(member needed_bytes)
"fetched" $(member counters.fetched_bytes)
"written" $(member counters.written_bytes)
EOD
stats \$bytes using 2 nooutput
set yrange [0:1.15 * STATS_max / mib]
plot \$bytes using 0:(\$2/mib):xtic(1) with boxes lc rgb "#2f6f9f", \
     \$bytes using 0:(\$2/mib):(sprintf("%.1f", \$2/mib)) with labels offset 0,0.7
PLOT
