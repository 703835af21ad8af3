#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel of a guest: Debian's, taken out of its package, which is not installed. With GUEST_ARCHIVE="URL SUITE" that of another
# archive, Ubuntu's, whose lists apt keeps in FOLDER: nothing of the system is changed. Without the keys of that archive nothing is
# fetched, because no kernel is booted that nobody verified.
# Exit status 77: there is none to be had.
# Usage: kernel.sh FOLDER PACKAGE MODULE... - afterwards FOLDER has vmlinuz, and in modules/ these modules with those that they
# need; modules/order names them in the order in which they are loaded.
set -eu
folder=$1
name=$2
shift 2
mkdir -p "$folder"
cd "$folder"
[ -z "${GUEST_ARCHIVE:-}" ] || [ -e verified ] || rm -rf modules vmlinuz apt # left by who did not verify it
[ ! -e modules/order ] || [ ! -e vmlinuz ] || exit 0
apt_options=
if [ -n "${GUEST_ARCHIVE:-}" ]; then
  keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
  [ -e "$keys" ] || {
    echo "kernel.sh: $name cannot be verified: there is no $keys; Ubuntu has it in ubuntu-keyring" >&2
    exit 77
  }
  mkdir -p apt/lists/partial apt/cache/archives/partial
  echo "deb [signed-by=$keys] $GUEST_ARCHIVE main" >apt/sources.list
  apt_options="-o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/apt/lists -o Dir::Cache=$PWD/apt/cache"
fi
# shellcheck disable=SC2086 # options, or none
ask() { # COMMAND ARGUMENT... - apt-get or apt-cache
  command=$1
  shift
  "$command" $apt_options "$@"
}
wanted() {
  ask apt-cache depends "$name" 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }'
}
package=$(wanted)
if [ -z "$package" ] && { [ "$(id -u)" -eq 0 ] || [ -n "$apt_options" ]; }; then # a system may have been left without the lists
  ask apt-get update >apt.log 2>&1 || cat apt.log >&2
  package=$(wanted)
fi
[ -n "$package" ] || {
  echo "kernel.sh: apt knows no $name; run apt-get update on Debian" >&2
  exit 77
}
rm -rf tree modules linux-*.deb
modules=
[ -z "$apt_options" ] || modules=linux-modules-${package#linux-image-} # Ubuntu has them in a package of their own
# shellcheck disable=SC2086 # a word or none
ask apt-get download "$package" $modules >apt.log 2>&1 || {
  cat apt.log >&2
  exit 77
}
for file in linux-*.deb; do
  dpkg -x "$file" tree
done
mkdir -p modules
version=$(ls tree/lib/modules)
PATH=$PATH:/sbin:/usr/sbin
depmod -b "$PWD/tree" "$version"
for module in "$@"; do # newer kernels have some of them built in
  modprobe -d "$PWD/tree" -S "$version" --show-depends "$module" | sed -n 's/^insmod //p'
done | awk '!seen[$1]++ { print $1 }' | while read -r file; do
  base=$(basename "$(basename "$file" .xz)" .zst)
  case $file in
    *.zst) zstd -qdc "$file" >"modules/$base" ;;
    *.xz) xz -dc "$file" >"modules/$base" ;;
    *) cp "$file" "modules/$base" ;;
  esac
  echo "$base"
done >order
mv tree/boot/vmlinuz-* vmlinuz
[ -z "$apt_options" ] || : >verified
mv order modules/order
rm -rf tree apt linux-*.deb
