#!/bin/sh
# docs/tutorial.md, step by step, against the installed package: its C blocks are saved as they say, its sh blocks run, and each
# prints the text block that follows. With '' for the build folder, against what the system has installed.
# Usage: tutorial.sh SOURCE-FOLDER BUILD-FOLDER SCRATCH-FOLDER
set -eu
rm -rf "$3"
mkdir -p "$3/work"
if [ -n "$2" ]; then
  cmake --install "$2" --prefix "$3/prefix" >/dev/null
  PKG_CONFIG_PATH=$(dirname "$(find "$3/prefix" -name grapnel.pc)")
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
fi
cd "$3/work"

# block.N, with what its fence says in kind.N
awk '
  /^```./ { n++; inside = 1; kind = $0; sub(/^```/, "", kind); print kind >("kind." n); printf "" >("block." n); next }
  /^```$/ { inside = 0; next }
  inside { print >("block." n) }' "$1/docs/tutorial.md"

n=1
ran=0
compared=0
while [ -e "kind.$n" ]; do
  case $(cat "kind.$n") in
  console) ;; # needs a system to install to, or a GPU
  "c replaces the body of sum() in sum.c")
    awk -v body="block.$n" '
      /^SIMT_FN void sum\(/ { print; getline; print; while ((getline line <body) > 0) print line; skip = 1; next }
      skip && /^}/ { skip = 0 }
      !skip' sum.c >changed.c
    mv changed.c sum.c
    ;;
  "c "*) cp "block.$n" "$(cut -d ' ' -f 2 "kind.$n")" ;;
  sh)
    ran=$((ran + 1))
    sh -eu "block.$n" >out 2>err || { echo "step fails:"; cat "block.$n" err; exit 1; }
    [ ! -s err ] || { echo "step complains:"; cat "block.$n" err; exit 1; }
    ;;
  text)
    compared=$((compared + 1))
    diff "block.$n" out || { echo "the step before block $n prints something else"; exit 1; }
    ;;
  *) echo "docs/tutorial.md: a block of a kind that is not run: $(cat "kind.$n")"; exit 1 ;;
  esac
  n=$((n + 1))
done
if [ "$ran" -lt 5 ] || [ "$compared" -lt 5 ]; then
  echo "only $ran steps ran, $compared were compared"
  exit 1
fi
