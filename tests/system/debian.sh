#!/bin/sh
# The Debian packages: they build, lintian accepts them (where it is installed), each file is in one of them, and a program finds
# the library in them, compiles and runs. bare_root.sh runs this. The packages are in SCRATCH-FOLDER at its end.
# Usage: debian.sh SOURCE-FOLDER SCRATCH-FOLDER
set -eu
source=$1
scratch=$2
(cd "$source" && dpkg-checkbuilddeps)

rm -rf "$scratch"
mkdir -p "$scratch/source" "$scratch/root"
tar -C "$source" --exclude=./build --exclude=./out --exclude=./.git --exclude=./.deps -cf - . |
  tar -C "$scratch/source" -xf -
cd "$scratch/source"
# Nobody debugs them here: without what debuggers want they build in less time. The caller's options stay.
export DEB_CFLAGS_APPEND=-g0 DEB_CXXFLAGS_APPEND=-g0 DEB_BUILD_OPTIONS="noautodbgsym ${DEB_BUILD_OPTIONS:-}"
dpkg-buildpackage -us -uc -b >../build.log 2>&1 || {
  tail -n 40 ../build.log
  exit 1
}
cd ..
status=0
fails() {
  echo "debian.sh: $*"
  status=1
}

if command -v lintian >/dev/null 2>&1; then
  lintian --fail-on error,warning ./*.changes 2>&1 || fails "lintian objects"
fi

# ---- which file is where ----

version=$(sed -n 's/^#define GN_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' source/include/grapnel/version.h | paste -sd .)
for name in libgrapnel0.1 libgrapnel-dev grapnel; do
  package=$(echo "$name"_*.deb)
  [ "$(dpkg-deb -f "$package" Version)" = "$version" ] || fails "$package: its version is not $version of version.h"
  dpkg-deb --fsys-tarfile "$package" | tar -tf - | sed -n 's|^\./||; /[^/]$/p' | grep -v '^usr/share/doc/' | sort >"$name.list"
  dpkg-deb -x "$package" root
done
library=$(sed -n 's|/libgrapnel[.]so$||p' libgrapnel-dev.list)

# same FILE WORDS - the standard input is what the list has.
same() {
  sort | diff - "$1" >differ || fails "$2 (<: wanted, >: there): $(cat differ)"
}
printf '%s\n' "$library/libgrapnel.so.0.1" "$library/libgrapnel.so.$version" |
  same libgrapnel0.1.list 'libgrapnel0.1 has other files'
{
  printf 'usr/bin/grapnel\nusr/share/%s\nusr/share/%s\n' bash-completion/completions/grapnel man/man1/grapnel.1.gz
  (cd source/sim/configs && find . -type f | sed 's|^\./|usr/share/grapnel/sim/|')
} | same grapnel.list 'grapnel has other files'
grep '^usr/include/' libgrapnel-dev.list >headers.list || true
(cd source/include/grapnel && find . -type f | sed 's|^\./|usr/include/grapnel/|') |
  same headers.list 'libgrapnel-dev has other headers'
for file in libgrapnel.a libgrapnel.so pkgconfig/grapnel.pc cmake/grapnel/grapnel-config.cmake; do
  grep -qx "$library/$file" libgrapnel-dev.list || fails "libgrapnel-dev has no $library/$file"
done
grep -qx 'usr/share/man/man3/gn_open[.]3[.]gz' libgrapnel-dev.list || fails 'libgrapnel-dev has no page of gn_open'
case $library in
  usr/lib/*-linux-*) ;;
  *) fails "the library lies in $library" ;;
esac

# ---- as a user ----

root=$PWD/root
PKG_CONFIG_SYSROOT_DIR=$root
PKG_CONFIG_PATH=$root/$library/pkgconfig
LD_LIBRARY_PATH=$root/$library
export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH
example=$root/usr/share/doc/libgrapnel-dev/examples/01_read_host.c
eval "set -- $(pkg-config --cflags --libs grapnel)"
cc -std=gnu11 -O2 -Wall -Wextra -Werror "$example" "$@" -o program || fails 'an example does not compile'
ldd program | grep -q "libgrapnel[.]so[.]0[.]1 => $root/" || fails 'the program has not the shared library of the package'
said=$(./program) || fails 'the program fails'
[ "$said" = "$(sed -n '/Expected output/{n;s/^ \*  *//p;}' "$example")" ] || fails "the program says: $said"
[ "$(root/usr/bin/grapnel --version)" = "grapnel $version" ] || fails "grapnel says: $(root/usr/bin/grapnel --version)"
root/usr/bin/grapnel sim run mt --size 64 --config dualopt.conf >sim.log 2>&1 || fails "$(cat sim.log)"
exit "$status"
