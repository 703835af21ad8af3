#!/bin/sh
# The examples against the installed package, as a user builds them: found by CMake and by pkg-config, under a path
# with a space; each prints what its first comment promises. Usage: install.sh SOURCE-FOLDER BUILD-FOLDER SCRATCH-FOLDER
set -eu
source=$1
build=$2
scratch="$3/a prefix"
rm -rf "$3"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch" >/dev/null
"$scratch/bin/grapnel" --version

# The promise: the lines below "Expected output" in the first comment; "..." stands for anything.
promise() {
  awk '/Expected output/ { on = 1; next }
    on && !/^( \*|\/\/)     / { exit }
    on { sub(/^( \*|\/\/)     /, ""); print }' "$1"
}

# keeps_promise NAME [ENDING]
keeps_promise() {
  promise "$source/examples/$1.${2:-c}" >"$scratch/$1.want"
  [ -s "$scratch/$1.want" ] || { echo "$1: promises nothing"; return 1; }
  awk -v name="$1" '
    NR == FNR { want[++lines] = $0; next }
    {
      pattern = want[FNR]
      gsub(/[][()*+?{}|^$\\]/, "[&]", pattern)
      rest = ""
      while (at = index(pattern, "...")) { rest = rest substr(pattern, 1, at - 1) "\001"; pattern = substr(pattern, at + 3) }
      pattern = rest pattern
      gsub(/[.]/, "[.]", pattern)
      gsub(/\001/, ".*", pattern)
      if (FNR > lines || $0 !~ "^" pattern "$") { print name ": printed \"" $0 "\" instead of \"" want[FNR] "\""; bad = 1 }
      seen = FNR
    }
    END { if (seen != lines) { print name ": printed " seen " of " lines " lines"; bad = 1 } exit bad }
  ' "$scratch/$1.want" "$scratch/$1.got"
}

cmake -G Ninja -S "$source/examples" -B "$scratch/by cmake" -DCMAKE_PREFIX_PATH="$scratch" -DCMAKE_BUILD_TYPE=Release \
  -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' >"$scratch/cmake.log" || { cat "$scratch/cmake.log"; exit 1; }
cmake --build "$scratch/by cmake" >"$scratch/cmake.log" || { cat "$scratch/cmake.log"; exit 1; }
status=0
for file in "$source"/examples/*.c; do
  name=$(basename "$file" .c)
  (cd "$scratch" && "./by cmake/$name" cpu >"$name.got") && keeps_promise "$name" || status=1
done

# Those for a GPU alone are built where the library has the cuda machine, and run where there is one.
for file in "$source"/examples/*.cu; do
  name=$(basename "$file" .cu)
  [ -x "$scratch/by cmake/$name" ] || continue
  code=0
  (cd "$scratch" && "./by cmake/$name" >"$name.got") || code=$?
  [ "$code" -eq 77 ] && continue
  { [ "$code" -eq 0 ] && keeps_promise "$name" cu; } || status=1
done

# Where the library holds the cuda machine, a C compiler sees the kernels for the cpu machine only; that must link too.
PKG_CONFIG_PATH=$(dirname "$(find "$scratch" -name grapnel.pc)")
export PKG_CONFIG_PATH
eval "set -- $(pkg-config --cflags --libs grapnel)"
cc -std=gnu11 -Wall -Wextra -Werror "$source/examples/01_read_host.c" "$@" -o "$scratch/by_pkg_config"
"$scratch/by_pkg_config" >"$scratch/01_read_host.got" && keeps_promise 01_read_host || status=1
exit "$status"
