#!/bin/sh
# The library on aarch64: it is compiled there without a warning, and the tests of everything that threads share run in an
# emulator. It happens in a bare root of Debian 12, which has the cross compiler and the arm64 packages. What cannot be made is a
# failure. The emulator runs the threads on this machine's processors: where these are x86-64, which keeps its stores in order,
# what a weaker order would break is not seen.
#
# The library alone comes first, in a root that has nothing but what README.md says it needs.
# Usage, as root: aarch64.sh SOURCE-FOLDER ROOT-FOLDER, which must not exist
set -eu
source=$1
root=$2
# shellcheck disable=SC1091 # it is looked at by itself
. "$source/tests/system/root.sh"
own_name_spaces 2400 "$0" "$@" # about 300 are needed where nothing else runs
make_root debian bookworm
toolchain='--toolchain tests/system/aarch64.cmake'
quick='-O2 -DNDEBUG -DGN_TEST_FEW' # nobody debugs it; and fewer cases of a test, for the emulator is slow

# install PACKAGE... - those, and no recommended ones.
install() {
  quietly packages.log apt-get install -y --no-install-recommends "$@"
}

# ---- the library alone ----
quietly packages.log dpkg --add-architecture arm64
quietly packages.log apt-get update
install cmake ninja-build pkg-config qemu-user-static gcc-aarch64-linux-gnu liburing-dev:arm64 libboost-context-dev:arm64 \
  libxxhash-dev:arm64
for name in zlib.h jansson.h cmocka.h; do
  if find "$root/usr/include" -name "$name" | grep .; then
    say "$name is there: this proves nothing"
    exit 1
  fi
done
! inside sh -c 'command -v g++ c++ aarch64-linux-gnu-g++' || { say 'a C++ compiler is there: this proves nothing'; exit 1; }
# In the folder of the tests, whose library it is: what is compiled here is not compiled again there.
# shellcheck disable=SC2086 # two words
quietly alone.log cmake --preset release $toolchain -DCMAKE_C_FLAGS_RELWITHDEBINFO="$quick" -DGN_LIBRARY_ONLY=ON -DGN_WERROR=ON
quietly alone.log cmake --build build/release
quietly alone.log cmake --install build/release --prefix /alone
# shellcheck disable=SC2016 # the shell inside puts the values in
quietly alone.log sh -euc 'export PKG_CONFIG_LIBDIR=/alone/lib/pkgconfig:/usr/lib/aarch64-linux-gnu/pkgconfig
  aarch64-linux-gnu-gcc -std=gnu11 -O2 examples/01_read_host.c $(pkg-config --cflags --libs grapnel) -Wl,-rpath,/alone/lib -o program
  qemu-aarch64-static program'

# ---- the tests ----
# The host of the library, what its layers share, and nothing that is built of them, as stores over other stores are.
tests='simt_[a-z]*|ring|nvmeq|nvmeq_commands|cache_[a-z]*|array_(access|size|page|range|gather|auto)|slots(_held|_random)?|open|version'
tests="$tests|net|net_(packet|rounds|peers|faults|compress)|store_(memory|uri|open|peer|transfer)|controller_[a-z]*"
chosen="^unit_($tests)\$|^model_simt_explore\$"
itself=unit_simt_export

install g++-aarch64-linux-gnu libcmocka-dev:arm64 libjansson-dev:arm64 zlib1g-dev:arm64
# shellcheck disable=SC2086 # two words
quietly configure.log cmake --preset release $toolchain -DCMAKE_C_FLAGS_RELWITHDEBINFO="$quick" \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="$quick" -DGN_LIBRARY_ONLY=OFF -DGN_MPI=OFF -DGN_WERROR=ON
every=$(inside ctest --test-dir build/release -N -L 'unit|model' | sed -n 's/^ *Test *#[0-9]*: *//p')
programs=$(echo "$every" | grep -E "$chosen" | sed 's/^[a-z]*_/test_/')
# shellcheck disable=SC2086 # a list of words
quietly build.log cmake --build build/release --target grapnel grapnel_shared $programs

# What is not run, and why: nothing is left out silently.
say "not run, for they are built of what is: $(echo "$every" | grep -vE "$chosen" | paste -sd ' ' -)"
say "not run: $itself: it starts its own program, and the kernel of this machine starts none of aarch64"
say 'io_uring is not emulated: the store file: reads and writes by threads'
quietly tests.log ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(getconf _NPROCESSORS_ONLN)" \
  -R "$chosen" -E "^$itself\$"
grep -h 'SKIPPED' "$root/grapnel/build/release/Testing/Temporary/LastTest.log" | sort -u || true
grep -E '^100% tests passed|Total Test time' "$root/grapnel/tests.log"
say "done"
