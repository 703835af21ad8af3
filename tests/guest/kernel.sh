#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The kernel of the guest: Debian's for virtual machines, taken out of its package, which is not installed.
# Usage: kernel.sh FOLDER - afterwards FOLDER/vmlinuz and FOLDER/modules/*.ko are there.
set -eu
mkdir -p "$1"
cd "$1"
[ ! -e vmlinuz ] || exit 0
package=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ { print $2; exit }')
[ -n "$package" ] || {
  echo "kernel.sh: apt knows no linux-image-cloud-amd64; run apt-get update on Debian" >&2
  exit 1
}
apt-get download "$package" >apt.log 2>&1 || {
  cat apt.log >&2
  exit 1
}
rm -rf tree
dpkg -x "$package"_*.deb tree
mkdir -p modules
for module in irqbypass vfio vfio_iommu_type1 vfio_virqfd vfio-pci-core vfio-pci; do
  file=$(find tree -name "$module.ko*" | head -n 1)
  case $file in
    '') ;; # newer kernels have some of them inside others
    *.xz) xz -dc "$file" >"modules/$module.ko" ;;
    *) cp "$file" "modules/$module.ko" ;;
  esac
done
cp tree/boot/vmlinuz-* vmlinuz
rm -rf tree "$package"_*.deb
