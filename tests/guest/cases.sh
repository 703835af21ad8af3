# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# What runs in the guest: functions case_NAME. Every step prints PASS or FAIL and its name in a line of its own.

step() { # NAME COMMAND... - a step that passes if the command does
  name=$1
  shift
  began=$(cut -d ' ' -f 1 /proc/uptime)
  if "$@" >/tmp/step.log 2>&1; then
    echo "PASS $name ($began s to $(cut -d ' ' -f 1 /proc/uptime) s)"
  else
    sed 's/^/  | /' /tmp/step.log
    echo "FAIL $name"
  fi
}

refused() { # TEXT COMMAND... - the command fails, and says TEXT
  text=$1
  shift
  if "$@" >/tmp/refused.log 2>&1; then
    echo "it was not refused"
    return 1
  fi
  cat /tmp/refused.log
  grep -q "$text" /tmp/refused.log
}

says() { # TEXT COMMAND... - the command succeeds, and prints TEXT
  text=$1
  shift
  "$@" >/tmp/says.log 2>&1 || {
    cat /tmp/says.log
    return 1
  }
  cat /tmp/says.log
  grep -q "$text" /tmp/says.log
}

drive() { # NUMBER - the address of a controller, from 1
  grapnel nvme list | sed -n "$1s/ .*//p"
}

case_first() {
  a=$(drive 1)
  step "doctor says which command is missing" says "store nvme: *no: .*grapnel nvme bind $a" grapnel doctor
  step "list shows the controller and that it can be taken" says "driver nvme .*free" grapnel nvme list
  step "a store on the kernel's drive is refused" refused "grapnel nvme bind" grapnel nvme identify "$a"
  step "bind" grapnel nvme bind "$a"
  step "list shows that it is ready" says "ready for nvme:" grapnel nvme list
  step "doctor says that it works" says "store nvme: *yes: nvme:$a" grapnel doctor
  step "identify" says "serial      first" grapnel nvme identify "$a"
  step "identify a second time" says "namespace   1: 131072 blocks of 512 bytes" grapnel nvme identify "$a"
  step "unbind gives it back to the kernel" says "given back to nvme" grapnel nvme unbind "$a"
}

# The store's own checks, at a URI.
checks() { # WHAT URI
  step "$1: every block by threads, any bytes by the host" nvme_check offsets "$2"
  step "$1: the last block, and past it" nvme_check end "$2"
  step "$1: an array of pages of 1024 bytes" nvme_check array "$2" 1024
  step "$1: an array of pages of 16384 bytes" nvme_check array "$2" 16384
}

case_plain() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  checks "one namespace" "nvme:$a?ns=1"
  step "one queue of 2" nvme_check end "nvme:$a?ns=1&queues=1&depth=2"
  step "a namespace that is not there" refused "no active namespace 9; there is: 1" nvme_check end "nvme:$a?ns=9"
  head -c 300000 /dev/urandom >/tmp/in
  step "write at an odd offset" grapnel nvme write "$a" --overwrite --offset 12345 --file /tmp/in
  step "read it back" grapnel nvme read "$a" --offset 12345 --bytes 300000 --file /tmp/out
  step "it is the same" cmp /tmp/in /tmp/out
  step "write needs --overwrite" refused "destroys" grapnel nvme write "$a" --file /tmp/in
  step "no bytes behind the end" refused "are not there" grapnel nvme read "$a" --offset 1T --file /tmp/out
  step "no number of bytes that wraps" refused "are not there" grapnel nvme read "$a" --offset 1M --bytes 18446744073709551615 --file /tmp/out
  step "what does not fit is not begun" refused "nothing was written" grapnel nvme write "$a" --overwrite --offset 67108352 --file /tmp/in
  step "bench" says "reads of 4096 bytes" grapnel nvme bench "$a" --threads 1 --count 1000 --in-flight 64
  step "the drive has counted the reads of threads" says "count: 1000 reads, 4.[0-9] MB; time-outs 0, aborts 0, resets 0" \
    grapnel nvme bench "$a" --threads 1 --count 1000 --in-flight 64
}

case_graph() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "generate a graph" grapnel gen kron --scale 12 --degree 8 --undirected /tmp/g.gng
  step "write it to the drive" grapnel nvme write "$a" --overwrite --file /tmp/g.gng
  step "breadth-first search from the drive, compared with a reference" says "verif" \
    grapnel bfs /tmp/g.gng --source 0 --store "nvme:$a" --overwrite --cache 64K --verify
  step "the same with the depths in host memory" says "verif" \
    grapnel bfs /tmp/g.gng --source 0 --store "nvme:$a" --overwrite --cache 64K --verify --state host
  step "a search needs --overwrite" refused "is lost" grapnel bfs /tmp/g.gng --source 0 --store "nvme:$a"
}

# A kernel with iommufd, and with containers, too.
case_iommufd() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "doctor says which way" says "store nvme: *yes: nvme:$a, through iommufd" grapnel doctor
  step "identify says it, too" says "through     iommufd" grapnel nvme identify "$a"
  checks "iommufd" "nvme:$a?ns=1"
  step "many queues" says "through VFIO and iommufd" nvme_check end "nvme:$a?ns=1&queues=8&depth=128"
  nvme_check removal "nvme:$a?ns=1" 90 >/tmp/busy.log 2>&1 &
  busy=$!
  until grep -q loading /tmp/busy.log; do sleep 1; done
  step "a drive that another program has is refused" refused "another program" grapnel nvme identify "$a"
  kill -9 $busy
  wait $busy 2>/dev/null
  step "after that program was killed it is there again" says "serial      first" grapnel nvme identify "$a"
  step "reads fail at once when the device is taken away" loaded give_up_vfio
  grapnel nvme bind "$a" >/dev/null 2>&1
  mv /dev/iommu /dev/away
  step "without iommufd the container is taken" says "through     VFIO's container" grapnel nvme identify "$a"
  step "doctor says that" says "store nvme: *yes: nvme:$a, through VFIO's container" grapnel doctor
  checks "container" "nvme:$a?ns=1"
  mv /dev/away /dev/iommu
}

# The controller grants two I/O queue pairs: one is the host's.
case_queues() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "eight queues are asked for, one is there" says "512, 1 queue of" nvme_check end "nvme:$a?ns=1&queues=8"
  checks "two queue pairs" "nvme:$a?ns=1&queues=8"
}

# The largest transfer is 128 KiB.
case_mdts() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "identify" says "transfer    131072 bytes" grapnel nvme identify "$a"
  step "transfers of 1 MiB become smaller" says "transfers of 131072" nvme_check offsets "nvme:$a?ns=1&transfer=1M&depth=32"
  step "an array of pages of 131072 bytes" nvme_check array "nvme:$a?ns=1&transfer=1M&depth=32" 131072
}

case_blocks() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "identify" says "blocks of 4096 bytes" grapnel nvme identify "$a"
  step "blocks of 4096 bytes: every block by threads, any bytes by the host" nvme_check offsets "nvme:$a?ns=1"
  step "blocks of 4096 bytes: the last block, and past it" nvme_check end "nvme:$a?ns=1"
  step "blocks of 4096 bytes: an array" nvme_check array "nvme:$a?ns=1" 16384
}

# Two controllers of a subsystem share namespace 3; the first alone has namespace 1.
case_shared() {
  a=$(drive 1)
  b=$(drive 2)
  step "bind the first" grapnel nvme bind "$a"
  step "bind the second" grapnel nvme bind "$b"
  step "the second has namespace 3 alone" refused "there is: 3" grapnel nvme read "$b" --bytes 512 --file /tmp/out
  head -c 100000 /dev/urandom >/tmp/in
  step "write by the first" grapnel nvme write "$a" --ns 3 --overwrite --offset 1M --file /tmp/in
  step "read by the second" grapnel nvme read "$b" --ns 3 --offset 1M --bytes 100000 --file /tmp/out
  step "it is the same" cmp /tmp/in /tmp/out
  step "namespace 1 has other bytes" grapnel nvme read "$a" --ns 1 --offset 1M --bytes 100000 --file /tmp/out
  step "they differ" refused "differ" cmp /tmp/in /tmp/out
}

# Sector 2048 cannot be read, sector 4096 cannot be written, and sector 6144 cannot be read once.
case_errors() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "a read that fails once is tried again" grapnel nvme read "$a" --offset 3M --bytes 512 --file /tmp/out
  step "a read error reaches the thread and the host" nvme_check read_error "nvme:$a?ns=1&transfer=4K" 2048
  step "a write error reaches the thread and the host" nvme_check write_error "nvme:$a?ns=1&transfer=4K" 4096
  step "the drive goes on" nvme_check offsets "nvme:$a?ns=1"
}

# Four drives: of the first, sectors 208 and 2048 cannot be read; the fourth has blocks of 4096 bytes.
case_members() {
  a=$(drive 1)
  b=$(drive 2)
  c=$(drive 3)
  d=$(drive 4)
  for one in "$a" "$b" "$c" "$d"; do
    step "bind $one" grapnel nvme bind "$one"
  done
  equal="stripe:unit=4K,nvme:$b,nvme:$c"
  unequal="stripe:nvme:$b,nvme:$c,nvme:$d"
  step "a stripe: every block by threads, any bytes by the host" nvme_check offsets "$equal"
  step "a stripe: an array of pages of 1024 bytes" nvme_check array "$equal" 1024
  step "a stripe of unequal blocks" nvme_check offsets "$unequal"
  step "a stripe of unequal blocks: an array" nvme_check array "$unequal" 16384
  step "a drive twice" refused "member 2 of 2" nvme_check end "stripe:nvme:$b,nvme:$b"
  head -c 2000000 /dev/urandom >/tmp/in
  step "write to the stripe" grapnel store write "$unequal" --overwrite --file /tmp/in
  step "read it back" grapnel store read "$unequal" --bytes 2000000 --file /tmp/out
  step "it is the same" cmp /tmp/in /tmp/out

  both="replica:state=/tmp/state,nvme:$a,nvme:$d"
  printf 'grapnel replica 1\nopen 0\nok nvme:%s\nok nvme:%s\nend\n' "$a" "$d" >/tmp/state
  step "write to the replica" grapnel store write "$both" --overwrite --file /tmp/in
  step "what one drive cannot read the other has" says "is out of use: failed while in use" \
    grapnel store read "$both" --bytes 2000000 --file /tmp/out
  step "it is the same" cmp /tmp/in /tmp/out
  step "threads too go on with the other drive" nvme_check array "$both" 4096
  step "a drive that is bad is not rebuilt" refused "unrecovered" grapnel store rebuild "$both" --from 2 --overwrite
  step "the state says so" grep -q "stale nvme:$a" /tmp/state
  step "what is stale is not read" says "2, 1 in use" grapnel store info "$both"
  sound="replica:state=/tmp/state,size=4M,nvme:$d,nvme:$b"
  step "a sound one is" says "all were compared" grapnel store rebuild "$sound" --overwrite
  step "then the two are equal" says "equal" grapnel store verify "$sound"
  step "and both are used" says "2, 2 in use" grapnel store info "$sound"
}

# A file system on the drive is mounted: nobody may take it.
case_mounted() {
  a=$(drive 1)
  mkfs.ext2 /dev/nvme0n1 >/dev/null 2>&1
  mkdir -p /tmp/mnt
  modprobe ext4 2>/dev/null
  if mount /dev/nvme0n1 /tmp/mnt 2>/dev/null; then
    step "a mounted drive is not taken" refused "mounted; unmount it" grapnel nvme bind "$a"
    step "list says so" says "mounted" grapnel nvme list
    umount /tmp/mnt
  else
    mkswap /dev/nvme0n1 >/dev/null
    swapon /dev/nvme0n1
    step "a drive with swap is not taken" refused "used as swap" grapnel nvme bind "$a"
    step "list says so" says "swap" grapnel nvme list
    swapoff /dev/nvme0n1
  fi
  exec 9</dev/nvme0n1
  step "a drive that a process has open is not taken" refused "open in process" grapnel nvme bind "$a"
  exec 9<&-
  step "then it is" grapnel nvme bind "$a"
}

# What is refused, and what the message says to do.
case_refused() {
  a=$(drive 1)
  other=$(find /sys/bus/pci/devices -name '*:*' | sort | head -n 1)
  other=${other##*/}
  step "not an address" refused "not the address of a PCI device" grapnel nvme identify zebra
  step "no such device" refused "no PCI device with this address" grapnel nvme identify 0000:7f:1f.7
  step "not a drive" refused "not an NVMe controller" grapnel nvme bind "$other"
  step "the kernel has it" refused "grapnel nvme bind $a" nvme_check end "nvme:$a?ns=1"
  chmod 755 /bin /lib* 2>/dev/null
  echo 'u:x:1000:1000::/tmp:/bin/sh' >>/etc/passwd
  step "bind without permission" refused "as root" su u -c "PATH=/bin grapnel nvme bind $a"
  step "bind" grapnel nvme bind "$a"
  step "use without permission" refused "chown" su u -c "PATH=/bin grapnel nvme identify $a"
  group=$(basename "$(readlink "/sys/bus/pci/devices/$a/iommu_group")")
  chown 1000 "/dev/vfio/$group"
  chmod 666 /dev/vfio/vfio
  step "with permission, and 64 KiB of locked memory" refused "raise ulimit -l" su u -c "ulimit -l 64; PATH=/bin grapnel nvme identify $a"
  step "with permission, and enough locked memory" says "serial      first" \
    su u -c "ulimit -l 65536; PATH=/bin grapnel nvme identify $a"
}

case_no_iommu() {
  a=$(drive 1)
  step "doctor says that there is no IOMMU" says "store nvme: *no: no IOMMU" grapnel doctor
  step "list says that there is no IOMMU" says "switch it on" grapnel nvme list
  step "bind says so too" refused "intel_iommu=on" grapnel nvme bind "$a"
}

# The medium does 20 transfers a second; kernels want more, and give up after 300 ms.
case_slow() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "commands time out, and the store goes on" nvme_check slow "nvme:$a?ns=1&timeout=300&depth=64&queues=1"
  grep '^read time-outs' /tmp/step.log # case.sh compares it with what the controller has seen
  sleep 1
  step "the drive is well" says "serial      first" grapnel nvme identify "$a"
}

# loaded COMMAND... - run a command as soon as a kernel reads, and see its reads fail at once.
loaded() {
  nvme_check removal "nvme:$a?ns=1" 90 >/tmp/removal.log 2>&1 &
  pid=$!
  waited=0
  until grep -q loading /tmp/removal.log || [ "$waited" -eq 120 ]; do
    sleep 1
    waited=$((waited + 1))
  done
  sleep 1
  "$@"
  wait "$pid"
  status=$?
  cat /tmp/removal.log
  return "$status"
}

switch_memory_off() {
  printf '\0\0' | dd of="/sys/bus/pci/devices/$a/config" bs=1 seek=4 conv=notrunc 2>/dev/null
}

give_up_vfio() {
  echo "$a" >/sys/bus/pci/drivers/vfio-pci/unbind
}

# The registers vanish under load.
case_gone() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "reads fail at once when the registers are gone" loaded switch_memory_off
}

# The driver takes the device back under load, as for a removal.
case_removed() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "reads fail at once when the device is taken away" loaded give_up_vfio
  step "nobody has it" says "driver none" grapnel nvme list
  step "it can be bound again" grapnel nvme bind "$a"
  step "and works" says "serial      first" grapnel nvme identify "$a"
}

# The drive is unplugged under load, by the one who reads the console.
unplug() {
  echo "guest: unplug now" >/dev/console
}

case_unplugged() {
  a=$(drive 1)
  step "bind" grapnel nvme bind "$a"
  step "reads fail at once when the drive is unplugged" loaded unplug
  waited=0
  while drive 1 | grep -q : && [ "$waited" -lt 60 ]; do
    sleep 1
    waited=$((waited + 1))
  done
  step "it is not on the bus any more" says "no NVMe controller" grapnel nvme list
}
