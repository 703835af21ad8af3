#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel of a guest: Debian's, taken out of its package, which is not installed.
# Exit status 77: there is none to be had.
# Usage: kernel.sh FOLDER PACKAGE MODULE... - afterwards FOLDER has vmlinuz, and in modules/ these modules with those that they
# need; modules/order names them in the order in which they are loaded.
set -eu
folder=$1
name=$2
shift 2
mkdir -p "$folder"
cd "$folder"
[ ! -e modules/order ] || [ ! -e vmlinuz ] || exit 0
wanted() {
  apt-cache depends "$name" 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }'
}
package=$(wanted)
if [ -z "$package" ] && [ "$(id -u)" -eq 0 ]; then # a system may have been left without the lists of its archive
  apt-get update >apt.log 2>&1 || cat apt.log >&2
  package=$(wanted)
fi
[ -n "$package" ] || {
  echo "kernel.sh: apt knows no $name; run apt-get update on Debian" >&2
  exit 77
}
rm -rf tree modules
apt-get download "$package" >apt.log 2>&1 || {
  cat apt.log >&2
  exit 77
}
dpkg -x "$package"_*.deb tree
mkdir -p modules
version=$(ls tree/lib/modules)
PATH=$PATH:/sbin:/usr/sbin
depmod -b "$PWD/tree" "$version"
for module in "$@"; do # newer kernels have some of them built in
  modprobe -d "$PWD/tree" -S "$version" --show-depends "$module" | sed -n 's/^insmod //p'
done | awk '!seen[$1]++ { print $1 }' | while read -r file; do
  base=$(basename "$file" .xz)
  case $file in
    *.xz) xz -dc "$file" >"modules/$base" ;;
    *) cp "$file" "modules/$base" ;;
  esac
  echo "$base"
done >order
mv tree/boot/vmlinuz-* vmlinuz
mv order modules/order
rm -rf tree "$package"_*.deb
