#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One case in one guest: its drives, its boot, and what it says. check.sh has made the kernel and the image.
# Usage: case.sh SCRATCH-FOLDER CASE. SCRATCH-FOLDER/CASE.out receives its lines; media lie in SCRATCH-FOLDER/CASE.
set -u
here=$(cd "$(dirname "$0")" && pwd)
scratch=$1
case=$2
folder=$scratch/$case
log=$folder/log
kind=
case $case in rdma_*) kind=-rdma ;; iommufd) kind=-iommufd ;; esac
rm -rf "$folder"
mkdir -p "$folder"
exec >"$scratch/$case.out" 2>&1

# prepare - what an attempt needs beside its media; a case may have its own.
prepare() { :; }

# crashed - did QEMU itself crash in the last attempt?
crashed() {
  case $(cat "$folder/status") in 134 | 139) return 0 ;; *) return 1 ;; esac
}

attempt() {
  prepare
  {
    status=0
    sh "$here/boot.sh" "$scratch/kernel$kind" "$scratch/image$kind" "${GUEST_SECONDS:-900}" "$case" "$@" 2>&1 || status=$?
    echo "$status" >"$folder/status"
  } | stdbuf -o0 tr -d '\r' >"$log"
}

# again QEMU-OPTION... - the second attempt: with empty media, as the first had.
again() {
  echo "  | QEMU crashed in the first attempt of $case"
  for medium in "$folder"/d?; do
    [ -f "$medium" ] || continue
    size=$(stat -c %s "$medium")
    rm "$medium"
    truncate -s "$size" "$medium"
  done
  attempt "$@"
  ! crashed || echo "FAIL QEMU crashed in both attempts of $case"
}

# boot [QEMU-OPTION...] - run the case, and show what it says. It fails if it does not come to its end. QEMU itself may crash: then
# once more, which is reported.
boot() {
  echo "guest: $case"
  attempt "$@"
  ! crashed || again "$@"
  grep -E '^(PASS|FAIL)|^  \|' "$log"
  grep -q "^guest: end of $case" "$log" || {
    echo "FAIL $case did not come to its end:"
    tail -n 20 "$log" | sed 's/^/  | /'
  }
}

# disk NAME SIZE - an empty medium.
disk() {
  truncate -s "$2" "$folder/$1"
}

# one [DEVICE-OPTION] - one controller over one medium.
one() {
  disk d0 64M
  boot -drive "file=$folder/d0,format=raw,if=none,id=d0" -device "nvme,drive=d0,serial=first${1:+,$1}"
}

run_shared() {
  disk d0 64M
  disk d1 64M
  boot -drive "file=$folder/d0,format=raw,if=none,id=d0" -drive "file=$folder/d1,format=raw,if=none,id=d1" \
    -device nvme-subsys,id=s0 -device nvme,id=c0,serial=pair,subsys=s0 -device nvme,id=c1,serial=pair,subsys=s0 \
    -device nvme-ns,drive=d0,bus=c0,nsid=1,shared=off -device nvme-ns,drive=d1,bus=c0,nsid=3,shared=on
}

run_errors() {
  disk d0 64M
  cat >"$folder/errors.conf" <<'TEXT'
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
  boot -drive "driver=raw,file.driver=blkdebug,file.config=$folder/errors.conf,file.image.driver=file,file.image.filename=$folder/d0,if=none,id=d0" \
    -device nvme,drive=d0,serial=first
}

run_members() {
  for number in 0 1 2 3; do
    disk d$number 64M
  done
  for sector in 208 2048; do
    printf '[inject-error]\nevent = "none"\niotype = "read"\nerrno = "5"\nsector = "%s"\n\n' $sector
  done >"$folder/members.conf"
  boot -drive "driver=raw,file.driver=blkdebug,file.config=$folder/members.conf,file.image.driver=file,file.image.filename=$folder/d0,if=none,id=d0" \
    -device nvme,drive=d0,serial=first -drive "file=$folder/d1,format=raw,if=none,id=d1" -device nvme,drive=d1,serial=second \
    -drive "file=$folder/d2,format=raw,if=none,id=d2" -device nvme,drive=d2,serial=third \
    -drive "file=$folder/d3,format=raw,if=none,id=d3" -device nvme,drive=d3,serial=fourth,logical_block_size=4096,physical_block_size=4096
}

# A controller that was started more often than the kernel, the store and identify did it was reset in between. It has seen every Abort
# that the store has counted until then; later ones come when the store is closed.
run_slow() {
  disk d0 64M
  boot -drive "file=$folder/d0,format=raw,if=none,id=d0,throttling.iops-total=20" -device nvme,drive=d0,serial=first \
    -trace pci_nvme_mmio_start_success -trace pci_nvme_admin_cmd
  if [ "$(grep -c pci_nvme_mmio_start_success "$log")" -ge 4 ]; then
    echo "PASS the controller was reset"
  else
    echo "FAIL the controller was reset"
  fi
  counted=$(sed -n 's/.*read time-outs [0-9]*, aborts \([0-9]*\),.*/\1/p' "$log" | tail -n 1)
  seen=$(grep -c 'pci_nvme_admin_cmd.*opc 0x8 ' "$log")
  if [ "${counted:-0}" -gt 0 ] && [ "$seen" -ge "$counted" ]; then
    echo "PASS the controller has seen the aborts that were counted"
  else
    echo "FAIL the controller has seen $seen aborts, and ${counted:-none} were counted"
  fi
}

# The monitor unplugs the drive when the guest says that a kernel reads from it.
start_monitor() {
  stop_monitor
  rm -f "$folder/monitor.in" "$folder/monitor.out" "$log"
  mkfifo "$folder/monitor.in" "$folder/monitor.out"
  cat "$folder/monitor.out" >/dev/null &
  listener=$!
  (
    exec 3>"$folder/monitor.in"
    waited=0
    until grep -q 'unplug now' "$log" 2>/dev/null || [ "$waited" -eq 600 ]; do
      sleep 1
      waited=$((waited + 1))
    done
    echo 'device_del n0' >&3
    exec sleep 600 # holds the pipe open
  ) &
  unplugger=$!
}

stop_monitor() {
  [ -n "$unplugger" ] || return 0
  kill "$unplugger" "$listener" 2>/dev/null
  wait "$unplugger" "$listener" 2>/dev/null
  unplugger=
}

run_unplugged() {
  disk d0 64M
  unplugger=
  prepare() { start_monitor; }
  boot -drive "file=$folder/d0,format=raw,if=none,id=d0" -device pcie-root-port,id=rp0,chassis=1 \
    -device nvme,bus=rp0,id=n0,drive=d0,serial=first -chardev "pipe,id=mon,path=$folder/monitor" -mon chardev=mon,mode=readline
  stop_monitor
}

# Two nodes of memory with a processor each.
run_nodes() {
  set -- -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M \
    -numa node,nodeid=0,cpus=0,memdev=m0 -numa node,nodeid=1,cpus=1,memdev=m1 -numa dist,src=0,dst=1,val=21
  GUEST_IOMMU=no GUEST_MEMORY=1024 boot "$@"
}

case $case in
  queues) one max_ioqpairs=2 ;;
  mdts) one mdts=5 ;;
  blocks) one logical_block_size=4096,physical_block_size=4096 ;;
  shared) run_shared ;;
  errors) run_errors ;;
  members) run_members ;;
  slow) run_slow ;;
  unplugged) run_unplugged ;;
  nodes) run_nodes ;;
  huge | rdma_*) GUEST_IOMMU=no boot ;;
  no_iommu) GUEST_IOMMU=no one ;;
  *) one ;;
esac
rm -f "$folder"/d?
