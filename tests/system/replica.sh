#!/bin/sh
# A graph on a replica of files: it is searched also when a member is gone; that member is not read when it comes back, until it is
# rebuilt. Usage: replica.sh GRAPNEL SCRATCH-FOLDER
set -eu
grapnel=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

# says PATTERN COMMAND... - the command works, and says this on stdout or stderr.
says() {
  want=$1
  shift
  if ! "$@" >said 2>&1 || ! grep -q -- "$want" said; then
    echo "$*: failed, or does not say \"$want\":"
    cat said
    exit 1
  fi
}

# refused PATTERN COMMAND... - the command fails, and its message says this.
refused() {
  want=$1
  shift
  if "$@" >said 2>&1 || ! grep -q -- "$want" said; then
    echo "$*: did not fail, or does not say \"$want\":"
    cat said
    exit 1
  fi
}

"$grapnel" gen kron --scale 10 --undirected g.gng >/dev/null
truncate -s 1M a b c
all=replica:state=state,file:a,file:b,file:c

refused 'needs state=FILE' "$grapnel" store write replica:file:a,file:b --file g.gng --overwrite
refused 'state=state cannot be read' "$grapnel" store write $all --file g.gng --overwrite
refused 'give --from' "$grapnel" store rebuild $all --overwrite
refused 'give --overwrite' "$grapnel" store rebuild $all --from 1
says '0 bytes were copied' "$grapnel" store rebuild $all --from 1 --overwrite
"$grapnel" store write $all --file g.gng --overwrite
cmp a b
cmp a c
says 'replica of 3, 3 in use' "$grapnel" store info $all
says '1048576 bytes of 2 members equal' "$grapnel" store verify $all
says 'verified' "$grapnel" bfs g.gng --source 0 --store $all --cache 64K --verify

# Without a member, another graph is written; then the member comes back.
mv b away
"$grapnel" gen urand --scale 9 --degree 8 other.gng >/dev/null
says 'member 2 (file:b) is out of use' "$grapnel" bfs other.gng --source 0 --store $all --overwrite --cache 64K --verify
mv away b
cmp -s a b && { echo 'the member that was away has what was written'; exit 1; }
says 'member 2    out of date  file:b' "$grapnel" store info $all
says 'member 2 (file:b) is out of use: out of date' "$grapnel" bfs other.gng --source 0 --store $all --cache 64K --verify
refused 'member 2 (file:b) is out of date' "$grapnel" store rebuild $all --from 2 --overwrite
says '1 members now have the 1048576 bytes of member 1; .* what was missed by the log was compared' "$grapnel" store rebuild $all --overwrite
test ! -e state.log
cmp a b
says 'every member is up to date' "$grapnel" store rebuild $all --overwrite
says 'replica of 3, 3 in use' "$grapnel" store info $all
says 'verified' "$grapnel" bfs other.gng --source 0 --store $all --cache 64K --verify
grep -q 'out of use' said && { cat said; exit 1; }

# One that is out of date gets what it missed when the others have been written; one that is gone does not.
mv b away
"$grapnel" store write $all --file g.gng --overwrite 2>said
mv away b
says 'file:b is in use again' "$grapnel" store write $all --file other.gng --overwrite --resync
grep -q 'out of use: out of date' said
cmp a b
says 'replica of 3, 3 in use' "$grapnel" store info $all
mv b away
"$grapnel" store write $all --file g.gng --overwrite 2>said
refused 'the bytes are written; .*member 2 of 3: .*b' "$grapnel" store write $all --file other.gng --overwrite --resync
mv away b
cp other.gng alone
refused 'has no members to put back' "$grapnel" store write file:alone --file other.gng --overwrite --resync
says 'file:b is in use again' "$grapnel" store write tier:host:64K,$all --file other.gng --overwrite --resync
cmp a b
says 'member 4    in use       file:b' "$grapnel" store info tier:ro,host:64K,$all

# A byte that differs is found.
printf x | dd of=c bs=1 seek=300000 conv=notrunc 2>/dev/null
refused 'member 3 (file:c) differs from member 1 (file:a) at byte 300000' "$grapnel" store verify $all
says 'copied, all were compared' "$grapnel" store rebuild $all --from 1 --overwrite
says 'bytes of 2 members equal' "$grapnel" store verify $all

says '2 members now have .* all were compared' "$grapnel" store rebuild $all --whole --overwrite

# A program that is killed while it writes leaves the state open: one member is used, until the others are rebuilt.
mkfifo pipe
"$grapnel" store write $all --overwrite <pipe &
writer=$!
exec 9>pipe
waited=0
until grep -q 'open 1' state || [ $waited -eq 3000 ]; do
  sleep 0.02
  waited=$((waited + 1))
done
kill -9 $writer
wait $writer 2>/dev/null || :
exec 9>&-
says 'replica of 3, 1 in use' "$grapnel" store info $all
says 'ended while it did' "$grapnel" bfs other.gng --source 0 --store $all --cache 64K --verify
says '2 members now have' "$grapnel" store rebuild $all --overwrite
says 'replica of 3, 3 in use' "$grapnel" store info $all

# Killed at any time while it writes: what it wrote is compared, and nothing else. A rebuild may be killed, too.
head -c 4M /dev/urandom >noise
truncate -s 256M d e
two=replica:state=other,file:d,file:e
"$grapnel" store rebuild $two --from 1 --overwrite >/dev/null
for wait in 0 0.02 0.1; do
  mkfifo feed
  "$grapnel" store write $two --offset 64M --overwrite <feed &
  writer=$!
  exec 9>feed
  rm feed
  cat noise >&9
  sleep $wait
  kill -9 $writer
  wait $writer 2>/dev/null || :
  exec 9>&-
  "$grapnel" store rebuild $two --overwrite >/dev/null 2>&1 &
  mender=$!
  sleep $wait
  kill -9 $mender 2>/dev/null || :
  wait $mender 2>/dev/null || :
  says 'members now have\|every member is up to date' "$grapnel" store rebuild $two --overwrite
  grep -q 'all were compared' said && { cat said; exit 1; }
  cmp d e
  test ! -e other.log
done
rm -f d e
