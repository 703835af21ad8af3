#!/bin/sh
# The simulated machine as users have it: every workload under every preset computes the reference's values, twice alike; and what
# cannot be asked for is refused. Usage: sim.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
# shellcheck disable=SC1091 # it is looked at by itself
. "$(dirname "$0")/begin.sh"

# counter NAME FILE - its value.
counter() {
  sed -n "s/^ \"$1\": \([^,]*\),*$/\1/p" "$2"
}

# ---- every workload, every preset ----
runs=0
for workload in 'atax 100' 'bfs 3000' 'bicg 70x130' 'pr 128,.05,2' 'spmv 1000,.01' 'km 500,2' 'mm 64' 'mm-right 64x96x64' 'mt 128' \
  'st 40x100,2' 'bs 1024' 'sc 60x40' 'aes 4096' 'fir 5000' 'add 5000' 'phases 3000'; do
  name=${workload% *}
  size=${workload#* }
  instructions=
  for opt in none bypass fine coalesce cache dualopt; do
    "$grapnel" sim run "$name" --size "$size" --opt "$opt" --gpus 3 --json out.json >said || fail "$workload $opt"
    grep -q '"verified": true' out.json || fail "$workload $opt: not verified"
    [ -n "$instructions" ] || instructions=$(counter wavefront_instructions out.json)
    [ "$(counter wavefront_instructions out.json)" = "$instructions" ] || fail "$workload: $opt changes what is executed"
    runs=$((runs + 1))
  done
done
echo "$runs runs verified"

# ---- what was recorded runs again, alike, on other machines too; a build for the thread sanitizer cannot record ----
if "$grapnel" sim list | grep -q '^grapnel-bfs '; then
  for opt in none dualopt; do
    "$grapnel" sim run grapnel-bfs --size 3000 --opt $opt --gpus 3 --record bfs.stream --json first.json >said || fail "grapnel-bfs $opt"
    grep -q '"verified": true' first.json || fail "grapnel-bfs $opt: not verified"
    "$grapnel" sim run stream --input bfs.stream --opt $opt --gpus 3 --json second.json >said
    for name in wavefront_instructions kernel_cycles remote_transactions l1v_read_hits l1v_writes dram_transactions; do
      [ "$(counter $name first.json)" -gt 0 ]
      [ "$(counter $name first.json)" = "$(counter $name second.json)" ] || fail "$name of a stream run again"
    done
  done
  cp bfs.stream one.stream
  "$grapnel" sim run grapnel-bfs --size 3000 --gpus 16 --record bfs.stream >said
  cmp one.stream bfs.stream || fail 'the stream depends on the machine it is for'
  "$grapnel" sim run stream --input bfs.stream --gpus 1 --json alone.json >said
  [ "$(counter remote_transactions alone.json)" = 0 ]
  head -c 100000 one.stream >cut.stream
fi

# ---- the same request gives the same counts ----
for k in 1 2; do
  "$grapnel" sim run spmv --seed 7 --opt dualopt --json - | grep -v host_seconds >again$k
done
cmp again1 again2
"$grapnel" sim run spmv --seed 8 --opt dualopt --json - | grep -v host_seconds >other
! cmp -s again1 other || fail 'another seed gives the same counts'

# ---- and so does any number of threads; bfs says nothing of its work-groups, and they run on one ----
for workload in 'mt 512' 'fir 65536' 'pr 1000,.01,2' 'bfs 3000'; do
  for threads in 1 2 4; do
    "$grapnel" sim run "${workload% *}" --size "${workload#* }" --opt dualopt --threads $threads --json - | grep -v host_seconds >threads$threads
  done
  for threads in 2 4; do
    cmp threads1 threads$threads || fail "$workload: $threads threads change the counts"
  done
done

# ---- counters that do not depend on time, as MGPUSim has them: instructions, remote, L1 hits, misses, writes ----
while read -r name size instructions remote hits misses writes; do
  "$grapnel" sim run "$name" --size "$size" --json - >"$name.json"
  for pair in wavefront_instructions:"$instructions" remote_transactions:"$remote" l1v_read_hits:"$hits" l1v_read_misses:"$misses" \
    l1v_writes:"$writes"; do
    [ "$(counter "${pair%:*}" "$name.json")" = "${pair#*:}" ] || fail "$name $size: ${pair%:*} is $(counter "${pair%:*}" "$name.json"), not ${pair#*:}"
  done
done <<'counters'
fir 65536 401408 52 76544 4352 4096
mm 256 569472 49152 0 65600 4096
km 4096,1 243776 36984 122880 49152 8448
mt 512 37376 24576 0 16384 16384
counters
[ "$(counter kernel_cycles mt.json)" -ge 57344 ] # what the trunk between the pairs of GPUs lets through

# ---- options lie over each other: files, preset, single keys ----
printf 'gpus = 2 # a pair\nnet.clock = 4\n' >two.conf
"$grapnel" sim run mt --config two.conf --set net.clock=8 --json - >set.json
[ "$(counter gpus set.json)" = 2 ]
grep -q '"net.clock": "8"' set.json
"$grapnel" sim run mt --config two.conf --gpus 4 --json - >set.json
[ "$(counter gpus set.json)" = 4 ]
[ "$(counter kernel_cycles set.json)" -lt "$(counter kernel_cycles mt.json)" ]

# ---- buffers that all lie alike: what was local is not any more ----
"$grapnel" sim run fir --set memory.placement=interleaved --json - >set.json
[ "$(counter remote_transactions fir.json)" = 52 ] # of 8192 and more
[ "$(counter remote_transactions set.json)" -gt 5000 ]

# ---- a program that changes: one decision is wrong for half of it ----
for config in dualopt.conf redecide.conf; do
  "$grapnel" sim run phases --config dualopt.conf --config $config --opt dualopt --json $config.json >said
  grep -q '"verified": true' $config.json
done
[ "$(counter decided_cache dualopt.conf.json)" = 0 ]
sed -n '/"overhead"/,/}/p' dualopt.conf.json >overhead # area, power and energy of Table 4's units
awk -v cycles="$(counter kernel_cycles dualopt.conf.json)" -F'[:,]' '/area_um2/ { area = $2 } /power_mw/ { power = $2 }
  /energy_uj/ { energy = $2; seen = 1 }
  END { exit !(seen && area > 156589 && area < 156590 && power > 83 && (energy / (4e-6 * power * cycles) - 1) ^ 2 < 1e-6) }' overhead
[ "$(counter decided_cache redecide.conf.json)" -gt 0 ]
[ "$((3 * $(counter kernel_cycles redecide.conf.json)))" -lt "$((2 * $(counter kernel_cycles dualopt.conf.json)))" ]

# ---- files that come with the program, unless there is one of the name ----
"$grapnel" sim run mt --size 64 --config dualopt.conf --config griffin.conf --json - >shipped.json
grep -q '"l1v.mshr": "32"' shipped.json
grep -q '"migrate.policy": "first_touch"' shipped.json
echo 'l1v.mshr = 8' >dualopt.conf
"$grapnel" sim run mt --size 64 --config dualopt.conf --json - >own.json
grep -q '"l1v.mshr": "8"' own.json
rm dualopt.conf

# ---- a graph file ----
printf '0 1\n1 2\n2 3\n0 4\n' >path.el
gzip -f path.el
"$grapnel" sim run bfs --input path.el.gz >said
grep -q 'the reference' said

"$grapnel" sim list >said
grep -q '^mm-right ' said
"$grapnel" sim list --keys | grep -q '^net.clock = 1 '
"$grapnel" sim list --json - | grep -q '"name": "mt"'

# ---- a sweep: every combination; what is there is not done again ----
"$grapnel" sim sweep fir sc --size 100 --vary net.clock=1,4 --vary opt=none,dualopt --out swept --jobs 2 >said 2>err || fail "sweep: $(cat err)"
[ "$(wc -l <swept/sweep.csv)" = 9 ]
[ "$(find swept -type f | wc -l)" = 9 ]
one=$(find swept -name 'fir-*.json' | head -n 1)
other=$(find swept -name 'sc-*.json' | head -n 1)
touch -d '2001-02-03' swept/*.json
rm "$one"
echo broken >"$other"
"$grapnel" sim sweep fir sc --size 100 --vary net.clock=1,4 --vary opt=none,dualopt --out swept --json swept.json
[ "$(find swept -name '*.json' -newermt '2001-02-04' | wc -l)" = 2 ] || fail 'a sweep did again what was there, or not what was missing'
[ "$(grep -c '"verified": true' swept.json)" = 8 ]

# ---- a file is known by what it holds, whatever its name: the same graph elsewhere is there, another of the same name is not ----
printf '0 1\n1 2\n2 3\n' >one.el
mkdir moved
cp one.el moved/two.el
for graph in one.el moved/two.el; do
  "$grapnel" sim sweep bfs --input $graph --out graphs >said
done
[ "$(find graphs -name '*.json' | wc -l)" = 1 ] || fail 'a graph that was moved is simulated again'
printf '0 1\n0 2\n0 3\n' >one.el
"$grapnel" sim sweep bfs --input one.el --out graphs >said
[ "$(find graphs -name '*.json' | wc -l)" = 2 ] || fail 'a graph of the same name and another content is taken for the first'

# ---- one read alone: 400 cycles within a switch, 1000 across (docs/sim.md); its parts are all of it ----
"$grapnel" sim explain spmv --json explain.json
awk -F'[:,]' '/"(to_rdma|request|home|reply|back)"/ { sum += $2 }
  /"cycles"/ { cycles = $2; sum = 0; reads++ }
  /"back"/ { if (sum && (sum - cycles) ^ 2 > 1) { print "parts of", cycles, "are", sum; exit 1 } }
  /"cycles"/ && reads == 3 { if (cycles < 360 || cycles > 460) { print "a read within a switch takes", cycles; exit 1 } }
  /"cycles"/ && reads == 5 { if (cycles < 900 || cycles > 1100) { print "a read across switches takes", cycles; exit 1 } }
  END { if (reads != 7) { print reads, "reads explained"; exit 1 } }' explain.json

# ---- the paper's experiments, on sizes that say nothing ----
sizes='--sizes atax=64 --sizes bfs=200 --sizes bicg=64 --sizes pr=64,.05,1 --sizes spmv=128,.01 --sizes km=128 --sizes mm=32 --sizes mt=64
  --sizes st=64x64,1 --sizes bs=64 --sizes sc=40 --sizes aes=1024 --sizes fir=1024'
# shellcheck disable=SC2086
"$grapnel" sim paper --out paper $sizes >said || fail 'paper'
# shellcheck disable=SC2086
"$grapnel" sim paper --quick --out quick $sizes >said || fail 'paper --quick'
for figure in 2 3 4 5 6 10-12 13 14 15 16 17 18 19; do
  grep -q "^## Figure $figure:" paper/report.md || fail "no figure $figure"
  [ "$(grep -c '<rect.*<title>' "paper/figure-$figure.svg")" -ge 5 ] || fail "figure $figure lacks bars"
  grep -q '^</svg>' "paper/figure-$figure.svg"
done
[ "$(grep -cE '\| (reproduced|direction only|not reproduced) \|$' paper/report.md)" = 41 ] || fail 'statements are missing'
[ "$(grep -cE '\| (reproduced|direction only|not reproduced) \|$' quick/report.md)" = 41 ] || fail 'statements are missing from --quick'
[ "$(grep -c '<polyline' paper/sizes.svg)" = 11 ] || fail 'the drawing of sizes lacks lines'
[ "$(sed -n '/^## Sizes/,/^## Figure 2/p' paper/report.md | grep -cE '^\| [a-z]+ \| .*1\.00 -')" = 13 ] || fail 'sizes are missing'
[ "$(grep -cE '^\| (0.5|1|2) \|( [0-9.]+x \|){4} [0-9]+ % \|$' paper/report.md)" = 3 ] || fail 'rates of links are missing'
! grep -q '^## Sizes' quick/report.md || fail '--quick has no time for other sizes'
sed -n '/^## What the answers matter/,$p' paper/report.md >answers
[ "$(grep -c '1\.00 | 0 |$' answers)" -ge 30 ] || fail 'answers are missing' # nothing is decided at such sizes
! grep -q '^## What the answers' quick/report.md || fail '--quick has no time for other answers'
! grep -q nan paper/figure-*.svg || fail 'a bar of no height'

# refuses STATUS WORDS COMMAND... - it ends with this status, and its message on stderr holds the words.
refuses() {
  want=$1
  words=$2
  shift 2
  status=0
  timeout 60 "$grapnel" sim "$@" >out 2>err || status=$?
  if [ "$status" -ne "$want" ] || ! grep -qiE -e "$words" err; then
    fail "sim $*: status $status (wanted $want), said \"$(cat err)\""
  fi
}
refuses 2 'no subcommand'
refuses 2 'unknown subcommand' dance
refuses 2 'no workload given' run
refuses 2 'unknown workload' run dance
refuses 2 'one workload' run mt mm
refuses 2 'opt best: unknown preset' run mt --opt best
refuses 2 'unknown key; did you mean net.clock' run mt --set net.clok=2
refuses 2 'net.clock.*must be' run mt --set net.clock=fast
refuses 2 'gpus' run mt --gpus 17
refuses 2 "threads 0: .*from 1 to 16" run mt --threads 0
refuses 2 'threads' run mt --threads 17
refuses 1 'none.conf: the file cannot be opened; .* dualopt.conf' run mt --config none.conf
refuses 1 'a multiple of 4' run mt --size 10
refuses 1 'the workload mt reads no file' run mt --input path.el.gz
refuses 1 'the accesses of the workload mt cannot be recorded' run mt --record mt.stream
refuses 1 'input FILE is needed' run stream
refuses 1 'nowhere.stream' run stream --input nowhere.stream
refuses 1 'not a recorded stream' run stream --input path.el.gz
[ ! -e cut.stream ] || refuses 1 'cut.stream: the file is damaged, or cut off' run stream --input cut.stream
refuses 1 'nowhere.el' run bfs --input nowhere.el
printf 'gpus = 4\nspeed = 9\n' >bad.conf
refuses 1 'bad.conf:2' run mt --config bad.conf
refuses 2 'a name and values' sweep mt --vary opt
refuses 1 '1 of 2 simulations failed' sweep mt --vary size=10,16 --out part
refuses 1 'unknown key' sweep mt --vary net.clok=1,2 --out part
refuses 1 'no vector read goes to another GPU' explain fir --gpus 1
refuses 2 'a workload of the paper and a size' paper --sizes dance=1
refuses 2 'the experiments set them; --config' paper --opt none
refuses 1 'nowhere.el: No such file' sweep bfs --input nowhere.el --out part
refuses 1 'a seed is not a number' sweep mt --vary seed=1,x --out part
