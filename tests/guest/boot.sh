#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Boot the guest for one case, and print what it says.
# Usage: boot.sh KERNEL-FOLDER IMAGE SECONDS CASE [QEMU-OPTION...]
# GUEST_MEMORY is in MiB; with GUEST_IOMMU=no there is no IOMMU. QEMU's emulator is named: a /dev/kvm may open and then hang the kernel.
set -u
kernel=$1
image=$2
seconds=$3
case=$4
shift 4
append="console=ttyS0 quiet panic=-1 mitigations=off no_timer_check grapnel.case=$case"
if [ "${GUEST_IOMMU:-yes}" = yes ]; then
  append="$append intel_iommu=on iommu=pt"
  set -- -device intel-iommu,intremap=on,caching-mode=on "$@"
fi
exec timeout "$seconds" qemu-system-x86_64 -machine q35 -accel tcg -cpu max -smp 2 -m "${GUEST_MEMORY:-768}" -nodefaults -display none \
  -serial stdio -no-reboot -kernel "$kernel/vmlinuz" -initrd "$image" -append "$append" "$@" </dev/null
