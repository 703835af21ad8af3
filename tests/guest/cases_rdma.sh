# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Cases with RDMA: two Soft-RoCE devices, rxe0 and rxe1, at the ends of a pair of virtual network interfaces. The server has rxe1.

near='fe80::ff:fe00:1%25v0'   # this end, as in a URI
far='[fe80::ff:fe00:2%25v0]' # the other end, seen from this one
there='fe80::ff:fe00:2%v1'   # the other end itself

# of_system NAME - a program that is not busybox's, which the shell would prefer.
of_system() {
  for folder in /usr/sbin /sbin /usr/bin /bin; do
    [ ! -e "$folder/$1" ] || echo "$folder/$1"
  done | head -n 1
}

ip=$(of_system ip)
rdma=$(of_system rdma)

network() {
  echo 0 >/proc/sys/net/ipv6/conf/default/accept_dad
  "$ip" link set lo up
  "$ip" link add name v0 address 02:00:00:00:00:01 type veth peer name v1 address 02:00:00:00:00:02
  "$ip" link set v0 up
  "$ip" link set v1 up
}

devices() {
  "$rdma" link add rxe0 type rxe netdev v0
  "$rdma" link add rxe1 type rxe netdev v1
}

# serve LOG OPTION... - start a server, and wait until it is ready. Its process is $server.
serve() {
  log=$1
  shift
  grapnel serve --listen "$there" "$@" >"$log" 2>&1 &
  server=$!
  waited=0
  until grep -q ready "$log"; do
    kill -0 "$server" 2>/dev/null || {
      cat "$log"
      return 1
    }
    sleep 0.2
    waited=$((waited + 1))
    [ "$waited" -lt 300 ] || return 1
  done
}

stop() { # [SIGNAL]
  kill "-${1:-TERM}" "$server"
  wait "$server"
}

case_rdma_plain() {
  network
  devices
  ls /sys/class/infiniband
  step "serve" serve /tmp/serve.log --rdma data=memory:4M
  cat /tmp/serve.log
  step "offsets" nvme_check offsets "rdma://$far/data"
  step "end" nvme_check end "rdma://$far/data"
  step "array" nvme_check array "rdma://$far/data" 4096
  step "stop" stop
}
