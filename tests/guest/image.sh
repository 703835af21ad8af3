#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The files of a guest: busybox, modules, programs and the libraries that they need.
# Usage: image.sh KERNEL-FOLDER OUTPUT SOURCE-FOLDER PROGRAM... - a program that was built here goes to /bin; one of the system, a
# library or another file of it stays where it is.
set -eu
kernel=$1
output=$2
source=$3
shift 3
root=$output.root
rm -rf "$root"
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/sys" "$root/tmp" "$root/modules"
chmod 755 "$root"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$kernel"/modules/* "$root/modules/"
cp "$source/init" "$root/init"
cp "$source"/cases*.sh "$root/"
chmod 755 "$root/init"

# place FILE - at the same place as here.
place() {
  mkdir -p "$root$(dirname "$1")"
  [ -e "$root$1" ] || cp -L "$1" "$root$1"
}

for program in "$@"; do
  case $program in
    /usr/* | /bin/* | /sbin/* | /etc/*) place "$program" ;;
    *) strip -o "$root/bin/$(basename "$program")" "$program" ;;
  esac
  ldd "$program" 2>/dev/null | grep -o '/[^ ]*' | sort -u | while read -r library; do
    place "$library"
  done
done
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$output.new"
mv "$output.new" "$output"
rm -rf "$root"
