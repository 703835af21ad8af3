#!/bin/sh
# Files that a command writes: none is another file of the same command, and one that would be larger than the process may write is an
# error with a message, which leaves nothing. Usage: files.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

mkdir kept
"$grapnel" gen kron --scale 8 kept/graph.gng >/dev/null
"$grapnel" gen taxis --rows 1000 kept/table.gnt >/dev/null
head -c 40000 kept/table.gnt >kept/keys.bin
cp -r kept files
ln -s files/table.gnt link
cd files

# ---- one file in two places ----

# replaces WORDS OPTION... - it is refused before anything is written.
refusals '' ''
replaces() {
  words=$1
  shift
  refuses 2 "$words.*give another name" "$@"
}
replaces '--json table.gnt: this would replace table.gnt' query table.gnt --sum total --json table.gnt
replaces '--json ../link: this would replace table.gnt' query table.gnt --sum total --json ../link
replaces '--json ../files/keys.bin: this would replace keys.bin' sort --data keys.bin --json ../files/keys.bin
replaces '--json ./new: this would replace new' sort --data keys.bin --out new --json ./new
replaces '--json new: this would replace new' add --data 4K --out new --json new
replaces '--out keys.bin: this would replace keys.bin' atax keys.bin --rows 100 --columns 100 --out keys.bin
replaces '--json keys.bin: this would replace keys.bin' mvt keys.bin --rows 100 --columns 100 --json keys.bin
for job in bfs sssp; do
  replaces '--json graph.gng: this would replace graph.gng' $job graph.gng --source 0 --json graph.gng
  replaces '--out graph.gng: this would replace graph.gng' $job graph.gng --source 0 --out graph.gng
  replaces '--json new: this would replace new' $job graph.gng --source 0 --out new --json new
done
replaces '--json new: this would replace new' cc graph.gng --svg new --json new
replaces '--out graph.gng: this would replace graph.gng' pagerank graph.gng --nodes 2 --out graph.gng
rm -f out err
diff -r . ../kept

# Sorted keys may replace the keys, and a device takes both.
"$grapnel" sort --data keys.bin --out keys.bin --verify >/dev/null
"$grapnel" sort --data keys.bin --out /dev/null --json /dev/null >/dev/null
"$grapnel" query table.gnt --sum total --json new >/dev/null
"$grapnel" query table.gnt --sum total --json new >/dev/null

# ---- a file over the limit ----

# over WORDS OPTION... - it says why, and no file is there.
over() {
  words=$1
  shift
  rm -rf empty
  mkdir empty
  status=0
  (cd empty && ulimit -f 16 && TMPDIR=$PWD exec "$grapnel" "$@") >said 2>&1 || status=$?
  if [ "$status" -ne 1 ] || ! grep -q "$words" said || [ -n "$(ls -A empty)" ]; then
    fail "grapnel $*: exit status $status, said \"$(cat said)\", left \"$(ls -A empty)\""
  fi
}
over 'ulimit -f' gen taxis --rows 20000 new.gnt
over 'ulimit -f' gen kron --scale 12 new.gng
over 'ulimit -f' sort --count 100000 --out new
over 'set TMPDIR' sort --count 100000 --store file
