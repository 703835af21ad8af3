#!/bin/sh
# What a stranger does first, on a machine that has nothing: ./run demo, ./run build and a program with the installed package,
# then the Debian packages and the tutorial with them. It happens in a bare root of a distribution, which debootstrap makes and
# this script removes again. What cannot be made is a failure.
# Usage, as root: bare_root.sh debian|ubuntu SUITE SOURCE-FOLDER ROOT-FOLDER, which must not exist
set -eu
source=$3
root=$4
# shellcheck disable=SC1091 # it is looked at by itself
. "$source/tests/system/root.sh"
own_name_spaces 4800 "$0" "$@" # about 400 are needed where nothing else runs and little is compiled, 2400 and more beside other work
make_root "$1" "$2"

# no_warning LOG - the compiler of this distribution has none.
no_warning() {
  ! grep -n 'warning:' "$root/grapnel/$1" || { say "$1 has warnings"; exit 1; }
}

# newest CC CXX - another compiler: it has no warning for the library and the tests that run, takes the headers as each language, and
# what threads share passes, with few cases. Neither applications nor the simulator are built.
chosen='^(bundle_headers_.*|unit_(simt_(launch|stream|block|warp|reduce|worker)|ring|nvmeq|cache_(table|claim)|array_(access|range)|net_(rounds|peers|faults)|open))$'
newest() {
  newest=build/$1
  quietly "$newest.log" cmake --preset release -B "$newest" -DCMAKE_C_COMPILER="$1" -DCMAKE_CXX_COMPILER="$2" -DGN_WERROR=ON \
    -DCMAKE_C_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG'
  programs=$(inside ctest --test-dir "$newest" -N -R "$chosen" | sed -n 's/.*: unit_/test_/p')
  # shellcheck disable=SC2086 # a list of words
  quietly "$newest.log" cmake --build "$newest" --target grapnel grapnel_shared $programs
  quietly "$newest.log" env GN_TEST_FEW=1 ctest --test-dir "$newest" --output-on-failure --no-tests=error \
    -j "$(getconf _NPROCESSORS_ONLN)" -R "$chosen"
  grep '^100% tests passed' "$root/grapnel/$newest.log"
}

inside ./run demo
[ -s "$root/grapnel/build/release.log" ] || { say "./run demo kept no build/release.log"; exit 1; }
no_warning build/release.log
for file in bfs.json bfs.svg; do
  [ -s "$root/grapnel/out/$file" ] || { say "./run demo wrote no out/$file"; exit 1; }
done
inside ./run build
# The package of a machine without MPI.
inside sh tests/system/install.sh /grapnel /grapnel/build/release /grapnel/build/install ''
# What ./run device configures, without GraphBLAS: once is enough.
if [ "$1" = debian ]; then
  inside apt-get install -y --no-install-recommends libcmocka-dev
  quietly build/device.log cmake --preset release -DGN_TESTS=ON
  quietly build/device.log cmake --build build/release --target grapnel_tool gn_bench_cuda
  no_warning build/device.log
fi
# The newest compilers of Ubuntu 24.04: the headers as each language, the library and tests of its lower layers.
if [ "$1" = ubuntu ]; then
  inside apt-get install -y --no-install-recommends libcmocka-dev gcc-14 g++-14 clang-18 libomp-18-dev
  newest gcc-14 g++-14
  newest clang-18 clang++-18
fi
# The distribution's packages, installed where nothing else of what they need is left, and the tutorial with them.
[ "$1" != debian ] || inside apt-get install -y --no-install-recommends lintian
inside apt-get install -y --no-install-recommends dpkg-dev
inside apt-get build-dep -y --no-install-recommends ./
# Once as the distribution optimises them. What else is asked of them is the same without, and takes half the time.
options=
[ "$1" = debian ] || options=noopt
inside env DEB_BUILD_OPTIONS="$options" sh tests/system/debian.sh /grapnel /grapnel/build/debian
launchers= # what compiles from now on is the tutorial's
inside apt-get purge -y --autoremove ccache librdmacm-dev libibverbs-dev liburing-dev libboost-context-dev libjansson-dev libxxhash-dev zlib1g-dev
inside sh -c 'apt-get install -y --no-install-recommends ./build/debian/libgrapnel0.1_*.deb ./build/debian/libgrapnel-dev_*.deb ./build/debian/grapnel_*.deb'
inside sh tests/system/tutorial.sh /grapnel '' /grapnel/build/tutorial
inside grapnel sim run mt --size 64 --config dualopt.conf
say "done"
