#!/bin/sh
# A build without Apache Arrow says so of Parquet and Arrow files, and what to do; nothing is written. Usage: arrow_none.sh GRAPNEL
# SCRATCH-FOLDER
set -eu
grapnel=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

"$grapnel" doctor --json >doctor.json
if tr -d ' \n' <doctor.json | grep -q '"arrow":{"works":true'; then
  echo 'this build has Apache Arrow'
  exit 77
fi
"$grapnel" doctor | grep -q 'Parquet, Arrow   no: this program was built without Apache Arrow'
echo keep >kept.gnt
printf 'PAR1' >t.parquet
printf 'ARROW1' >t.arrow
printf 'ARROW1' >T.FEATHER
for table in t.parquet t.arrow T.FEATHER; do
  status=0
  "$grapnel" convert "$table" kept.gnt >out 2>err || status=$?
  if [ "$status" -ne 1 ] || [ -s out ] || [ "$(cat kept.gnt)" != keep ] ||
    ! grep -qE "$table: this program was built without Apache Arrow, which reads (Parquet|Arrow) files; build it where Arrow is" err; then
    echo "convert $table: exit status $status, said \"$(cat err)\""
    exit 1
  fi
done
[ "$(find . -name 'kept.gnt*' | wc -l)" -eq 1 ]
