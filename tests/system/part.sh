#!/bin/sh
# The library alone: installed by itself, and as a part of another project, by add_subdirectory and by FetchContent. It needs
# no library of the command's, and changes nothing of that project. Usage: part.sh SOURCE-FOLDER SCRATCH-FOLDER
set -eu
source=$1
scratch="$2/a project"
rm -rf "$2"
mkdir -p "$scratch/grapnel"
# A copy: a build folder below the sources is none of the project's.
tar -C "$source" --exclude=./build --exclude=./out --exclude=./.git -cf - . | tar -C "$scratch/grapnel" -xf -

# loud COMMAND... - what a command that fails has said.
loud() {
  "$@" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
}

# needs_little BUILD-FOLDER - nothing of the command's was looked for.
needs_little() {
  if grep -E '^(JANSSON|ZLIB|OpenMP|GRAPHBLAS|CMOCKA)' "$1/CMakeCache.txt"; then
    echo "the library alone looked for what only the command, its applications or its tests need"
    exit 1
  fi
}

# ---- by itself ----
loud cmake -G Ninja -S "$scratch/grapnel" -B "$scratch/alone" -DGN_LIBRARY_ONLY=ON
needs_little "$scratch/alone"
loud cmake --build "$scratch/alone"
loud cmake --install "$scratch/alone" --prefix "$scratch/prefix"
[ ! -e "$scratch/prefix/bin" ] || { echo 'the library alone installs a command'; exit 1; }
PKG_CONFIG_PATH=$(dirname "$(find "$scratch/prefix" -name grapnel.pc)")
LD_LIBRARY_PATH=$(dirname "$(find "$scratch/prefix" -name libgrapnel.a)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
eval "set -- $(pkg-config --cflags --libs grapnel)"
cc -std=gnu11 "$source/examples/01_read_host.c" "$@" -o "$scratch/by_pkg_config"
"$scratch/by_pkg_config" >/dev/null

version=$(pkg-config --modversion grapnel)
printf '#include <grapnel/version.h>\n#include <stdio.h>\nint main(void) { puts(gn_version_text()); return gn_version() != GN_VERSION; }\n' \
  >"$scratch/version.c"
cc "$scratch/version.c" "$@" -o "$scratch/version"
[ "$("$scratch/version")" = "$version" ] || { echo "the library says $("$scratch/version"), its package $version"; exit 1; }

# ---- as a part ----
# project WAY LINES - a project that has Grapnel in this way, builds an example, and finds its own settings as they were.
project() {
  way=$1
  mkdir -p "$scratch/$way"
  cat >"$scratch/$way/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.22)
project(user C)
set(CMAKE_C_STANDARD 99)
set(before "\${CMAKE_C_FLAGS};\${CMAKE_C_STANDARD};\${CMAKE_BUILD_TYPE};\${CMAKE_POSITION_INDEPENDENT_CODE}")
$2
set(after "\${CMAKE_C_FLAGS};\${CMAKE_C_STANDARD};\${CMAKE_BUILD_TYPE};\${CMAKE_POSITION_INDEPENDENT_CODE}")
get_directory_property(options COMPILE_OPTIONS)
get_directory_property(definitions COMPILE_DEFINITIONS)
if(NOT before STREQUAL after OR options OR definitions OR DEFINED CACHE{BUILD_TESTING})
  message(FATAL_ERROR "changed: \${before} is \${after}; options \${options}, definitions \${definitions}, \${BUILD_TESTING}")
endif()
add_executable(read_host "$source/examples/01_read_host.c")
set_target_properties(read_host PROPERTIES C_STANDARD 11)
target_link_libraries(read_host PRIVATE grapnel::grapnel)
install(TARGETS read_host DESTINATION bin)
CMAKE
  loud cmake -G Ninja -S "$scratch/$way" -B "$scratch/$way build" -DBUILD_SHARED_LIBS=ON
  needs_little "$scratch/$way build"
  loud cmake --build "$scratch/$way build"
  "$scratch/$way build/read_host" >/dev/null
  loud cmake --install "$scratch/$way build" --prefix "$scratch/$way prefix"
  [ "$(find "$scratch/$way prefix" -type f | wc -l)" -eq 1 ] || { echo "$way: Grapnel installs itself with the project"; exit 1; }
}

project subdirectory "add_subdirectory(../grapnel grapnel)"
project fetched "include(FetchContent)
FetchContent_Declare(grapnel SOURCE_DIR \"$scratch/grapnel\")
FetchContent_MakeAvailable(grapnel)"
