#!/bin/sh
# A report's files by other programs' parsers, grapnel scope compare and grapnel tune on them, and what they refuse.
# Usage: scope_output.sh GRAPNEL SCOPE_FILES FOLDER-OF-THIS SCRATCH-FOLDER
set -eu
grapnel=$1
files=$2
here=$3
rm -rf "$4"
mkdir -p "$4"
cd "$4"
bad=0

# complain WORDS... - what is wrong, and go on.
complain() {
  echo "$*"
  bad=1
}

"$files" .
dom=
for browser in chromium-headless-shell chromium google-chrome; do
  if command -v "$browser" >/dev/null 2>&1; then
    if timeout 120 "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$PWD/profile" --dump-dom \
      "file://$PWD/a.html" >dom.html 2>browser.err && grep -q '</html>' dom.html; then
      dom=dom.html
    fi
    break
  fi
done
[ -n "$dom" ] || echo 'left out: the page of a scope report in a browser (chromium is not here, or does not run)'
if ! command -v python3 >/dev/null 2>&1; then
  echo 'left out: the numbers in the files of a scope report (needs python3)'
else
  python3 "$here/scope_files.py" a.json a.csv a.html $dom || complain 'the files are not what they should be'
fi

# says STATUS WORDS COMMAND... - its exit status, and what it says on either output.
says() {
  want=$1
  words=$2
  shift 2
  status=0
  "$grapnel" "$@" >out 2>&1 || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qE -e "$words" out; then
    complain "$*: exit status $status (wanted $want), said \"$(cat out)\""
  fi
}

# A report is the same as itself; ten sizes of one row became slower and nothing else did.
says 0 '^0 slower, 0 faster,' scope compare a.json a.json
says 1 '^10 slower, 0 faster,' scope compare a.json b.json
says 0 '^0 slower, 10 faster,' scope compare b.json a.json
says 0 '^0 slower, 0 faster,' scope compare --threshold 20 a.json b.json
"$grapnel" scope compare a.json b.json --json - >c.json || true
[ "$(grep -c '"verdict": "slower"' c.json)" -eq 10 ] || complain 'the comparison as JSON does not name ten slower sizes'
sed 's/"H200"/"H100"/' b.json >other.json
says 2 'different machines \(gpus.0.name\)' scope compare a.json other.json
says 1 'other machine: gpus.0.name: H200, then H100' scope compare --anyway a.json other.json
sed 's/"scope_version": 1/"scope_version": 9/' a.json >new.json
says 2 'version 9' scope compare a.json new.json
says 2 'none.json: cannot be read' scope compare a.json none.json
echo '{"context": {}, "benchmarks": []}' >foreign.json
says 2 'not a report of grapnel scope' scope compare foreign.json a.json
head -c 4000 a.json >cut.json
says 2 'cut.json:[0-9]+: not JSON' scope compare a.json cut.json
says 2 'two reports are needed' scope compare a.json
says 2 'give a number of percent from 0' scope compare --threshold x a.json a.json

# Settings are kept for the machine of the report, and read back.
export XDG_CONFIG_HOME="$PWD/config"
says 0 "kept in $PWD/config/grapnel/tune-sample.json" tune a.json
says 0 "Little's law" tune a.json
grep -q '"page_bytes"' config/grapnel/tune-sample.json || complain 'the settings hold no page size'
[ "$("$grapnel" tune a.json -o -)" = "$(cat config/grapnel/tune-sample.json)" ] || complain 'the settings on standard output are others'
says 0 'auto' auto-bench --tuned=config/grapnel/tune-sample.json --data 16M --launches 2 --pattern sequential --modes none
says 1 'does not hold settings of this version' auto-bench --tuned=a.json --data 16M --launches 2 --pattern sequential --modes none

# Commands take them where the user gives none, and say so; a file that is broken, or of another host, is named and left alone.
own=config/grapnel/tune-$(uname -n | tr -c 'a-zA-Z0-9_.\n-' _).json
settings() {
  echo "{\"tune_version\": 2, \"host_name\": \"$1\", \"machine\": \"$2\", \"page_bytes\": {\"value\": $3}, \"queues\": {\"value\": 3}, \"depth\": {\"value\": 64}}" >"$own"
}
"$grapnel" gen kron --scale 8 few.gng >out 2>&1 || complain "gen: $(cat out)"
settings "$(uname -n)" cpu 16384
says 0 "pages of 16384 bytes, as tuned: $PWD/$own" gather --data 1M --repeat 1
says 0 'pages of 16384 bytes' cache-bench --data 1M --repeat 1 --touches 64
says 0 '^grapnel bfs: 3 queues, depth 64, as tuned' bfs few.gng --source 0
says 0 '^grapnel bfs: pages of 16384 bytes, as tuned' bfs few.gng --source 0
says 0 '3 queues of 64' bfs few.gng --source 0
# silent WHY COMMAND... - not a word of tuned settings
silent() {
  why=$1
  shift
  "$grapnel" "$@" >out 2>&1 || complain "$*: $(cat out)"
  ! grep -q 'as tuned' out || complain "$why, and still: $(cat out)"
}
silent 'the user gave a page' gather --data 1M --repeat 1 --page 4K
settings "$(uname -n)" cuda 16384
silent 'the settings are for the other machine' gather --data 1M --repeat 1
settings "$(uname -n)" cpu 5000
silent 'that is no size of a page' gather --data 1M --repeat 1
settings elsewhere cpu 16384
says 0 'ignored: .*they belong to another machine, elsewhere' gather --data 1M --repeat 1
echo '{' >"$own"
says 0 'ignored: .*the settings cannot be read' gather --data 1M --repeat 1
rm "$own"
silent 'there is no file' gather --data 1M --repeat 1
says 1 'version 9' tune new.json
says 2 'no report given' tune
exit "$bad"
