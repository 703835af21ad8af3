#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The guest's files: busybox, modules, programs and the libraries that they need.
# Usage: image.sh KERNEL-FOLDER OUTPUT SOURCE-FOLDER PROGRAM...
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
cp "$kernel"/modules/*.ko "$root/modules/"
cp "$source/init" "$root/init"
cp "$source/cases.sh" "$root/cases.sh"
chmod 755 "$root/init"
for program in "$@"; do
  strip -o "$root/bin/$(basename "$program")" "$program"
  ldd "$program" | grep -o '/[^ ]*' | sort -u | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    [ -e "$root$library" ] || cp -L "$library" "$root$library"
  done
done
(cd "$root" && find . | cpio --quiet -o -H newc | gzip -1) >"$output.new"
mv "$output.new" "$output"
rm -rf "$root"
