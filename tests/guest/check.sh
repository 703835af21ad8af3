#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The nvme: store against the controller of QEMU, and the rdma: store over Linux's Soft-RoCE, in a guest without hardware. Others
# wrote both. And grapnel scope on a machine of two nodes.
# Usage: check.sh BUILD-FOLDER SCRATCH-FOLDER [CASE...]. The last line is "N passed, N failed".
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1
scratch=$2
shift 2
mkdir -p "$scratch"
scratch=$(cd "$scratch" && pwd)
cases=${*:-first plain graph queues mdts blocks shared errors members mounted refused no_iommu slow gone removed unplugged nodes huge
  rdma_plain rdma_many rdma_graph rdma_file rdma_refused rdma_lost rdma_vanished rdma_members}
passed=0
failed=0

# The kernel for virtual machines has no RDMA; the other one takes longer to load.
make_image() {
  set -- "$build/tools/grapnel" "$build/tests/guest/nvme_check"
  sh "$here/kernel.sh" "$scratch/kernel" linux-image-cloud-amd64 vfio_iommu_type1 vfio-pci || exit 1
  sh "$here/image.sh" "$scratch/kernel" "$scratch/image" "$here" "$@" || exit 1
}

make_rdma_image() {
  set -- "$build/tools/grapnel" "$build/tests/guest/nvme_check" "$build/tests/guest/rdma_check" "$(PATH=$PATH:/sbin command -v ip)" \
    "$(command -v rdma)" /usr/lib/*/libibverbs/librxe-rdmav*.so /etc/libibverbs.d/rxe.driver
  sh "$here/kernel.sh" "$scratch/kernel-rdma" linux-image-amd64 crc32_generic crc32c_generic veth rdma_rxe rdma_ucm || exit 1
  sh "$here/image.sh" "$scratch/kernel-rdma" "$scratch/image-rdma" "$here" "$@" || exit 1
}

case $cases in *rdma_*) make_rdma_image ;; esac
for case in $cases; do
  case $case in
    rdma_*) ;;
    *)
      make_image
      break
      ;;
  esac
done

# boot CASE [QEMU-OPTION...] - run a case, show what it says, and count its lines. It fails if it does not come to its end.
boot() {
  case=$1
  shift
  log=$scratch/$case.log
  echo "guest: $case"
  # QEMU 7.2 itself crashes now and then (by signal 11) when its controller is reset under load: then once more.
  for attempt in 1 2 3 4 5 6 7 8; do
    {
      status=0
      sh "$here/boot.sh" "$scratch/kernel$kind" "$scratch/image$kind" "${GUEST_SECONDS:-900}" "$case" "$@" 2>&1 || status=$?
      echo "$status" >"$scratch/status"
    } | stdbuf -o0 tr -d '\r' >"$log"
    [ "$(cat "$scratch/status")" -eq 139 ] || break
    echo "  | QEMU crashed in attempt $attempt"
  done
  grep -E '^(PASS|FAIL)|^  \|' "$log"
  passed=$((passed + $(grep -c '^PASS' "$log")))
  failed=$((failed + $(grep -c '^FAIL' "$log")))
  grep -q "^guest: end of $case" "$log" || {
    echo "FAIL $case did not come to its end:"
    tail -n 20 "$log" | sed 's/^/  | /'
    failed=$((failed + 1))
  }
}

# disk NAME SIZE - an empty medium.
disk() {
  rm -f "$scratch/$1"
  truncate -s "$2" "$scratch/$1"
}

# one CASE [DEVICE-OPTION] - a case with one controller over one medium.
one() {
  disk d0 64M
  boot "$1" -drive "file=$scratch/d0,format=raw,if=none,id=d0" -device "nvme,drive=d0,serial=first${2:+,$2}"
}

run_shared() {
  disk d0 64M
  disk d1 64M
  boot shared -drive "file=$scratch/d0,format=raw,if=none,id=d0" -drive "file=$scratch/d1,format=raw,if=none,id=d1" \
    -device nvme-subsys,id=s0 -device nvme,id=c0,serial=pair,subsys=s0 -device nvme,id=c1,serial=pair,subsys=s0 \
    -device nvme-ns,drive=d0,bus=c0,nsid=1,shared=off -device nvme-ns,drive=d1,bus=c0,nsid=3,shared=on
}

run_errors() {
  disk d0 64M
  cat >"$scratch/errors.conf" <<'TEXT'
[inject-error]
event = "none"
iotype = "read"
errno = "5"
sector = "2048"

[inject-error]
event = "none"
iotype = "write"
errno = "5"
sector = "4096"

[inject-error]
event = "none"
iotype = "read"
errno = "5"
sector = "6144"
once = "on"
TEXT
  boot errors -drive "driver=raw,file.driver=blkdebug,file.config=$scratch/errors.conf,file.image.driver=file,file.image.filename=$scratch/d0,if=none,id=d0" \
    -device nvme,drive=d0,serial=first
}

run_members() {
  for number in 0 1 2 3; do
    disk d$number 64M
  done
  for sector in 208 2048; do
    printf '[inject-error]\nevent = "none"\niotype = "read"\nerrno = "5"\nsector = "%s"\n\n' $sector
  done >"$scratch/members.conf"
  boot members -drive "driver=raw,file.driver=blkdebug,file.config=$scratch/members.conf,file.image.driver=file,file.image.filename=$scratch/d0,if=none,id=d0" \
    -device nvme,drive=d0,serial=first -drive "file=$scratch/d1,format=raw,if=none,id=d1" -device nvme,drive=d1,serial=second \
    -drive "file=$scratch/d2,format=raw,if=none,id=d2" -device nvme,drive=d2,serial=third \
    -drive "file=$scratch/d3,format=raw,if=none,id=d3" -device nvme,drive=d3,serial=fourth,logical_block_size=4096,physical_block_size=4096
}

# A controller that was started more often than the kernel, the store and identify did it was reset in between.
run_slow() {
  disk d0 64M
  boot slow -drive "file=$scratch/d0,format=raw,if=none,id=d0,throttling.iops-total=20" -device nvme,drive=d0,serial=first \
    -trace pci_nvme_mmio_start_success
  if [ "$(grep -c pci_nvme_mmio_start_success "$scratch/slow.log")" -ge 4 ]; then
    echo "PASS the controller was reset"
    passed=$((passed + 1))
  else
    echo "FAIL the controller was reset"
    failed=$((failed + 1))
  fi
}

# The monitor unplugs the drive when the guest says that a kernel reads from it.
run_unplugged() {
  disk d0 64M
  rm -f "$scratch/monitor.in" "$scratch/monitor.out" "$scratch/unplugged.log"
  mkfifo "$scratch/monitor.in" "$scratch/monitor.out"
  cat "$scratch/monitor.out" >/dev/null &
  listener=$!
  (
    exec 3>"$scratch/monitor.in"
    waited=0
    until grep -q 'unplug now' "$scratch/unplugged.log" 2>/dev/null || [ "$waited" -eq 600 ]; do
      sleep 1
      waited=$((waited + 1))
    done
    echo 'device_del n0' >&3
    exec sleep 600 # holds the pipe open
  ) &
  unplugger=$!
  boot unplugged -drive "file=$scratch/d0,format=raw,if=none,id=d0" -device pcie-root-port,id=rp0,chassis=1 \
    -device nvme,bus=rp0,id=n0,drive=d0,serial=first -chardev "pipe,id=mon,path=$scratch/monitor" -mon chardev=mon,mode=readline
  kill "$unplugger" "$listener" 2>/dev/null
  wait "$unplugger" "$listener" 2>/dev/null
}

# Two nodes of memory with a processor each.
run_nodes() {
  set -- nodes -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M \
    -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 -numa dist,src=0,dst=1,val=21
  GUEST_IOMMU=no GUEST_MEMORY=1024 boot "$@"
}

for case in $cases; do
  kind=
  grep -q "^case_$case()" "$here"/cases*.sh || { echo "there is no case $case"; exit 2; }
  case $case in
    queues) one queues max_ioqpairs=2 ;;
    mdts) one mdts mdts=5 ;;
    blocks) one blocks logical_block_size=4096,physical_block_size=4096 ;;
    shared) run_shared ;;
    errors) run_errors ;;
    members) run_members ;;
    slow) run_slow ;;
    unplugged) run_unplugged ;;
    nodes) run_nodes ;;
    huge) GUEST_IOMMU=no boot huge ;;
    no_iommu) GUEST_IOMMU=no one no_iommu ;;
    rdma_*)
      kind=-rdma
      GUEST_IOMMU=no boot "$case"
      ;;
    *) one "$case" ;;
  esac
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
