#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The nvme: store against the controller of QEMU, and the rdma: store over Linux's Soft-RoCE, in a guest without hardware. Others
# wrote both. And grapnel scope on a machine of two nodes. A guest has two processors, and its threads poll: a processor that the host
# takes from a guest makes the other one poll for longer. So one guest runs at once for each two processors of the host.
# Usage: check.sh BUILD-FOLDER SCRATCH-FOLDER [CASE...]. The last line is "N passed, N failed". Exit status 77: there is no kernel for
# a guest. GUEST_JOBS is how many guests run at once.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=$2
shift 2
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
# Those that take longest come first.
cases=${*:-rdma_lost nodes rdma_vanished rdma_members members graph plain rdma_many rdma_refused rdma_plain slow rdma_file rdma_graph
  queues unplugged huge iommufd first removed gone shared refused blocks errors mdts mounted no_iommu}
pairs=$(($(getconf _NPROCESSORS_ONLN) / 2))
jobs=${GUEST_JOBS:-$((pairs > 0 ? pairs : 1))}

for case in $cases; do
  grep -q "^case_$case()" "$here"/cases*.sh || {
    echo "there is no case $case"
    exit 2
  }
done

# The kernel for virtual machines has no RDMA; the other one takes longer to load.
make_image() {
  set -- "$build/tools/grapnel" "$build/tests/guest/nvme_check"
  sh "$here/kernel.sh" "$scratch/kernel" linux-image-cloud-amd64 vfio_iommu_type1 vfio-pci || exit $?
  sh "$here/image.sh" "$scratch/kernel" "$scratch/image" "$here" "$@" || exit 1
}

make_rdma_image() {
  set -- "$build/tools/grapnel" "$build/tests/guest/nvme_check" "$build/tests/guest/rdma_check" "$(PATH=$PATH:/sbin command -v ip)" \
    "$(command -v rdma)" /usr/lib/*/libibverbs/librxe-rdmav*.so /etc/libibverbs.d/rxe.driver
  sh "$here/kernel.sh" "$scratch/kernel-rdma" linux-image-amd64 crc32_generic crc32c_generic veth rdma_rxe rdma_ucm || exit $?
  sh "$here/image.sh" "$scratch/kernel-rdma" "$scratch/image-rdma" "$here" "$@" || exit 1
}

# Debian's kernels have no iommufd. Ubuntu's do.
make_iommufd_image() {
  set -- "$build/tools/grapnel" "$build/tests/guest/nvme_check"
  GUEST_ARCHIVE="http://archive.ubuntu.com/ubuntu noble" sh "$here/kernel.sh" "$scratch/kernel-iommufd" linux-image-generic \
    vfio_iommu_type1 iommufd vfio-pci nvme || return $?
  sh "$here/image.sh" "$scratch/kernel-iommufd" "$scratch/image-iommufd" "$here" "$@"
}

has_rdma=no
has_nvme=no
has_iommufd=no
for case in $cases; do
  case $case in rdma_*) has_rdma=yes ;; iommufd) has_iommufd=yes ;; *) has_nvme=yes ;; esac
done
[ $has_rdma = no ] || make_rdma_image
[ $has_nvme = no ] || make_image
passed=0
failed=0
status=0
[ $has_iommufd = no ] || make_iommufd_image || status=$?
if [ "$status" -ne 0 ]; then
  # shellcheck disable=SC2086 # a list of words
  cases=$(printf '%s\n' $cases | grep -vx iommufd)
  if [ "$status" -eq 77 ]; then
    echo "left out: the guest iommufd: there is no kernel with iommufd to be had here that can be verified"
    [ -n "$cases" ] || exit 77
  else
    echo "FAIL the guest iommufd cannot be made"
    failed=1
  fi
fi

began=$(date +%s)
rm -f "$scratch"/*.out
# shellcheck disable=SC2086,SC2016 # a list of words; the inner shell has the arguments
printf '%s\n' $cases | xargs -r -P "$jobs" -n 1 sh -c 'sh "$0/case.sh" "$1" "$2"; cat "$1/$2.out"' "$here" "$scratch"
for case in $cases; do
  out=$scratch/$case.out
  passed=$((passed + $(grep -c '^PASS' "$out")))
  failed=$((failed + $(grep -c '^FAIL' "$out")))
  grep -Eq '^(PASS|FAIL)' "$out" || {
    echo "FAIL $case said nothing"
    failed=$((failed + 1))
  }
  sed -n 's/^  | \(QEMU crashed .*\)/\1, and was started again/p' "$out"
done
echo "the guests took $(($(date +%s) - began)) s"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
