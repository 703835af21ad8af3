#!/bin/sh
# The examples against the installed package, as a user builds them: found by CMake and by pkg-config, under a path
# with a space; each prints what its first comment promises. And a program of several processes, where the package has
# that. Usage: install.sh SOURCE-FOLDER BUILD-FOLDER SCRATCH-FOLDER MPI-LAUNCHER
set -eu
source=$1
build=$2
scratch="$3/a prefix"
launcher=$4
rm -rf "$3"
mkdir -p "$scratch"
cmake --install "$build" --prefix "$scratch" >/dev/null
"$scratch/bin/grapnel" --version
"$scratch/bin/grapnel" sim run mt --size 64 --config dualopt.conf --config "$scratch"/share/grapnel/sim/griffin.conf

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

# compiled SOURCES BUILD [OPTION...] - a project against the installed package, by CMake.
compiled() {
  from=$1
  to=$2
  shift 2
  { cmake -G Ninja -S "$from" -B "$to" -DCMAKE_PREFIX_PATH="$scratch" "$@" && cmake --build "$to"; } >"$scratch/cmake.log" || {
    cat "$scratch/cmake.log"
    exit 1
  }
}

compiled "$source/examples" "$scratch/by cmake" -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS='-Wall -Wextra -Werror'
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
LD_LIBRARY_PATH=$(dirname "$(find "$scratch" -name libgrapnel.a)")
export LD_LIBRARY_PATH
"$scratch/by_pkg_config" >"$scratch/01_read_host.got" && keeps_promise 01_read_host || status=1

# The shared library, where there is one: pkg-config names it, CMake has it as a target, and it needs no flag of the static one.
shared=$(find "$LD_LIBRARY_PATH" -name 'libgrapnel.so.*.*')
if [ -n "$shared" ]; then
  ldd "$scratch/by_pkg_config" | grep -q 'libgrapnel[.]so[.][0-9.]* => ' || { echo 'pkg-config does not link libgrapnel.so'; status=1; }
  mkdir -p "$scratch/shared"
  cat >"$scratch/shared/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.22)
project(shared C)
find_package(grapnel REQUIRED)
add_executable(read_host "$source/examples/01_read_host.c")
target_link_libraries(read_host PRIVATE grapnel::shared)
TEXT
  compiled "$scratch/shared" "$scratch/shared"
  (unset LD_LIBRARY_PATH && "$scratch/shared/read_host" >"$scratch/01_read_host.got") && keeps_promise 01_read_host || status=1
  # The static one is there, too.
  eval "set -- $(pkg-config --cflags --libs --static grapnel | sed 's/-lgrapnel/-l:libgrapnel.a/')"
  cc -std=gnu11 "$source/examples/01_read_host.c" "$@" -o "$scratch/static"
  (unset LD_LIBRARY_PATH && "$scratch/static" >"$scratch/01_read_host.got") && keeps_promise 01_read_host || status=1
  eval "set -- $(pkg-config --cflags --libs grapnel)"
fi

# says WORDS COMMAND... - a program prints just that.
says() {
  words=$1
  shift
  said=$("$@") || said="$said (exit status $?)"
  [ "$said" = "$words" ] || { echo "$*: said \"$said\" instead of \"$words\""; status=1; }
}

# Without an MPI: one process, one node.
cc -std=gnu11 -Wall -Wextra -Werror "$source/tests/system/net_nodes.c" "$@" -o "$scratch/alone"
says '1 nodes, sum 1' "$scratch/alone"

pkg-config --exists grapnel-mpi || exit "$status"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
eval "set -- $(pkg-config --cflags --libs grapnel-mpi)"
cc -std=gnu11 -Wall -Wextra -Werror "$source/tests/system/net_nodes.c" "$@" -o "$scratch/net_by_pkg_config"
eval "set -- $(pkg-config --cflags --libs grapnel-shmem)"
cc -std=gnu11 -Wall -Wextra -Werror "$source/tests/system/shmem_pes.c" "$@" -o "$scratch/shmem_by_pkg_config"
mkdir -p "$scratch/net"
cat >"$scratch/net/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.22)
project(net C)
find_package(grapnel REQUIRED COMPONENTS mpi shmem)
add_executable(net_nodes "$source/tests/system/net_nodes.c")
target_link_libraries(net_nodes PRIVATE grapnel::mpi)
add_executable(shmem_pes "$source/tests/system/shmem_pes.c")
target_link_libraries(shmem_pes PRIVATE grapnel::shmem)
TEXT
compiled "$scratch/net" "$scratch/net"
for program in "$scratch/net_by_pkg_config" "$scratch/net/net_nodes"; do
  says '1 nodes, sum 1' "$program"
  says '3 nodes, sum 6' timeout 60 "$launcher" -n 3 "$program"
done
for program in "$scratch/shmem_by_pkg_config" "$scratch/net/shmem_pes"; do
  says '1 PEs, sum 1' "$program"
  says '3 PEs, sum 6' timeout 60 "$launcher" -n 3 "$program"
done
exit "$status"
