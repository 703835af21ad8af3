# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# Cases with RDMA: two Soft-RoCE devices, rxe0 and rxe1, at the ends of a pair of virtual network interfaces. The server has rxe1.

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

# serve_here OPTION... - start a server that takes connections to the other end.
serve_here() {
  grapnel serve --listen "$there" "$@"
}

# ready - wait until $server is.
ready() {
  until grep -q ready /tmp/serve.log; do
    kill -0 "$server" 2>/dev/null || {
      cat /tmp/serve.log
      return 1
    }
    sleep 0.2
  done
}

# serve OPTION... - the same, and wait until it is ready. Its process is $server.
serve() {
  : >/tmp/serve.log # or the last server's would say that this one is ready
  grapnel serve --listen "$there" "$@" >/tmp/serve.log 2>&1 & # not a function, of which $! is a shell
  server=$!
  ready
}

stop() { # [SIGNAL]
  kill "-${1:-TERM}" "$server"
  wait "$server"
}

case_rdma_plain() {
  network
  devices
  step "serve memory" serve --rdma data=memory:4M
  uri="rdma://$far/data"
  step "the devices are both used" says "through rxe0" nvme_check end "$uri"
  step "every block by threads, any bytes by the host" nvme_check offsets "$uri"
  step "one queue of 2" nvme_check end "$uri?queues=1&depth=2"
  step "seven queues of 8 and transfers of 4K" nvme_check offsets "$uri?queues=7&depth=8&transfer=4K"
  step "transfers of 2 MiB" nvme_check end "$uri?queues=2&depth=4&transfer=2M"
  step "an array of pages of 1024 bytes" nvme_check array "$uri" 1024
  step "an array of pages of 16384 bytes" nvme_check array "$uri" 16384
  step "no access past the end, none by another key" rdma_check rights "$uri"
  step "the server ends when it is told to" stop
}

# A server of all addresses, and several stores at once.
case_rdma_many() {
  network
  devices
  "$ip" addr add 10.9.0.2/24 dev v1
  grapnel serve --rdma one=memory:1M --rdma two=memory:1M >/tmp/serve.log 2>&1 &
  server=$!
  step "serve on all addresses" ready
  step "through both devices" grep "through rxe0, rxe1" /tmp/serve.log
  step "an IPv4 address" nvme_check end "rdma://10.9.0.2/one"
  nvme_check array "rdma://$far/one" 4096 >/tmp/first.log 2>&1 &
  first=$!
  step "two stores at once: the second" nvme_check offsets "rdma://$far/two"
  step "two stores at once: the first" wait "$first"
  # rxe0 has the first address, and no server
  "$ip" addr add 10.9.0.1/24 dev v0
  echo '10.9.0.1 several' >/etc/hosts
  echo '10.9.0.2 several' >>/etc/hosts
  step "the address of a host that has the server" nvme_check end "rdma://several/one"
  step "none of the addresses has it" refused "no server listens on port 7475" nvme_check end "rdma://several:7475/one"
  step "many queue pairs" nvme_check offsets "rdma://$far/two?queues=48&depth=2&transfer=4K&timeout=200000"
  step "stop" stop
}

case_rdma_graph() {
  network
  devices
  step "serve memory" serve --rdma data=memory:4M --rdma small=memory:64K
  uri="rdma://$far/data"
  step "generate a graph" grapnel gen kron --scale 12 --degree 8 --undirected /tmp/g.gng
  step "breadth-first search from the region, compared with a reference" says "verif" \
    grapnel bfs /tmp/g.gng --source 0 --store "$uri" --overwrite --cache 64K --verify
  step "a search needs --overwrite" refused "is lost" grapnel bfs /tmp/g.gng --source 0 --store "$uri"
  step "a region that is too small" refused "take a larger one" \
    grapnel bfs /tmp/g.gng --source 0 --store "rdma://$far/small" --overwrite
  step "stop" stop INT
}

# await WORD - until the client $checking has said so in /tmp/during.log, or has ended.
await() {
  until grep -q "$1" /tmp/during.log || ! kill -0 "$checking" 2>/dev/null; do
    sleep 0.2
  done
}

# The server is stopped, a client asks it to flush, and it is told to end before it can look.
flush_at_the_end() { # URI
  : >/tmp/during.log
  rdma_check flush_end "$1" >/tmp/during.log 2>&1 &
  checking=$!
  await loaded
  kill -STOP "$server"
  : >/tmp/go
  await asked
  kill -TERM "$server"
  kill -CONT "$server"
  wait "$checking"
  status=$?
  cat /tmp/during.log
  wait "$server"
  return "$status"
}

# A file: its bytes, what a flush does, and what the end of the server does.
case_rdma_file() {
  network
  devices
  head -c 262244 /dev/urandom >/tmp/data
  cp /tmp/data /tmp/copy
  uri="rdma://$far/f"
  step "serve a file" serve --rdma f=/tmp/data --rdma other=memory:1M --port 9000
  uri="rdma://${far}:9000/f"
  step "no second server writes the file" refused "another program has this file open" serve_here --rdma f=/tmp/data --port 8000
  rdma_check flush "$uri" >/tmp/flush.log 2>&1 &
  flushing=$!
  step "write, flush, write and leave" wait "$flushing"
  rdma_check pattern 3 >/tmp/pattern3
  tail -c 100 /tmp/copy >>/tmp/pattern3
  step "what was flushed is in the file" cmp /tmp/pattern3 /tmp/data
  rdma_check pattern 4 >/tmp/pattern4
  tail -c 100 /tmp/copy >>/tmp/pattern4
  step "the server ends" stop
  step "what was written is in the file" cmp /tmp/pattern4 /tmp/data
  step "serve the file again" serve --rdma f=/tmp/data --port 9000
  step "a server that is told to end answers who has asked for a flush" flush_at_the_end "$uri"
}

# Messages of a store that cannot be opened.
case_rdma_refused() {
  step "doctor says that there is no device" says "store rdma: *no: .*rdma link add" grapnel doctor
  step "no server without a device" refused "no RDMA device" serve_here --rdma data=memory:1M
  network
  devices
  step "doctor says that RDMA works" says "store rdma: *yes: rxe0, rxe1" grapnel doctor
  uri="rdma://$far/data"
  step "nobody listens" refused "no server listens on port 7474" nvme_check end "$uri"
  step "serve read-only" serve --rdma data=memory:1M --read-only
  step "another port" refused "no server listens on port 7475" nvme_check end "rdma://$far:7475/data"
  step "another name" refused "it has no region dada; it has: data" nvme_check end "rdma://$far/dada"
  step "a region to read only" refused "open it with ?ro" nvme_check end "$uri"
  step "read it" rdma_check rights "$uri"
  step "no such host" refused "not known" nvme_check end "rdma://nowhere.invalid/data"
  step "a host that does not answer" refused "does not answer; check" nvme_check end "rdma://[fe80::9%25v0]/data"
  step "an address that no device reaches" refused "no RDMA device of this machine reaches" nvme_check end "rdma://192.0.2.1/data"
  step "not a URI" refused "write rdma://HOST/NAME" nvme_check end "rdma:data"
  step "the port is taken" refused "is taken" serve_here --rdma data=memory:1M
  step "no file" refused "there is no such file" serve_here --rdma data=/tmp/none --port 8000
  step "not a size" refused "is not a size" serve_here --rdma data=memory:much --port 8000
  step "not an export" refused "give NAME=FILE" serve_here --rdma data --port 8000
  step "not an address of a device" refused "no RDMA device has this address" grapnel serve --rdma data=memory:1M --listen 192.0.2.1
  step "stop" stop
}

# during CASE URI COMMAND... - run a case of rdma_check, and the command once the case says "loaded".
during() {
  : >/tmp/during.log # or what the last one said would be taken for this one's
  rdma_check "$1" "$2" >/tmp/during.log 2>&1 &
  checking=$!
  shift 2
  await loaded
  sleep 0.5
  "$@" || echo "$* failed"
  wait "$checking"
  status=$?
  cat /tmp/during.log
  return "$status"
}

kill_server() {
  stop KILL
  true
}

restart() { # OPTION... - kill the server; start another when its clients have seen that
  kill_server
  until grep -q failed /tmp/during.log; do
    kill -0 "$checking" 2>/dev/null || return 1
    sleep 0.2
  done
  sleep 1
  serve "$@"
}

network_away() {
  "$ip" link set v1 down
  await failed
  sleep 2
  "$ip" link set v1 up
}

# bytes_of URI SEED - the region begins with the pattern that rdma_check writes.
bytes_of() {
  rdma_check pattern "$2" >/tmp/wanted
  grapnel store read "$1" --bytes "$(wc -c </tmp/wanted)" --file /tmp/got && cmp /tmp/wanted /tmp/got
}

# Two servers. The second one is killed while a replica writes; another one takes its place.
case_rdma_members() {
  network
  devices
  truncate -s 1M /tmp/first.bin /tmp/second.bin
  a="rdma://$far/a"
  b="rdma://$far:7475/b"
  step "the first server" serve --rdma a=memory:4M --rdma file=/tmp/first.bin
  first=$server
  step "the second server" serve --rdma b=memory:4M --rdma file=/tmp/second.bin --port 7475
  small="stripe:unit=4K,$a,$b"
  step "a stripe: every block by threads, any bytes by the host" nvme_check offsets "$small"
  step "a stripe: an array of pages of 1024 bytes" nvme_check array "$small" 1024
  large="stripe:unit=16K,$a?queues=2,$b?queues=3&depth=4"
  step "a stripe of other units and queues: an array" nvme_check array "$large" 16384
  head -c 2000000 /dev/urandom >/tmp/in
  step "write to the stripe" grapnel store write "$large" --overwrite --file /tmp/in
  step "read it back" grapnel store read "$large" --bytes 2000000 --file /tmp/out
  step "it is the same" cmp /tmp/in /tmp/out
  step "both have a part of it" refused "differ" grapnel store verify "replica:ro,$a,$b"
  step "a region twice" refused "are the same region" nvme_check end "stripe:$a,rdma://$far/a?queues=1"
  step "memory is no member of a replica that is written" refused "lend a file there" \
    grapnel store rebuild "replica:state=/tmp/none,$a,$b" --from 1 --overwrite

  a="rdma://$far/file"
  b="rdma://$far:7475/file"
  both="replica:state=/tmp/state,$a,$b"
  step "make a replica of two files" says "all were compared" grapnel store rebuild "$both" --from 1 --overwrite
  step "threads write and read the replica" nvme_check array "$both" 4096
  step "a server is killed while threads write: no access fails" during survive "$both" kill_server
  step "the state says which member has missed writes" says "missed .*:7475/file" cat /tmp/state
  step "without it the replica is opened" says "2, 1 in use" grapnel store info "$both"
  step "and has what was written" bytes_of "$both" 8
  step "another server in its place" serve --rdma file=/tmp/second.bin --port 7475
  step "it is not read before it was rebuilt" says "2, 1 in use" grapnel store info "$both"
  step "rebuild" says "all were compared" grapnel store rebuild "$both" --overwrite
  step "then the two are equal" says "equal" grapnel store verify "$both"
  step "and both are used" says "2, 2 in use" grapnel store info "$both"
  second=$server
  server=$first
  step "the first server ends" stop
  step "the second has what was written" bytes_of "$b?ro" 8
  server=$second
  step "and ends, too" stop
  rdma_check pattern 8 >/tmp/wanted
  head -c "$(wc -c </tmp/wanted)" /tmp/second.bin >/tmp/got
  step "its file has it" cmp /tmp/wanted /tmp/got
}

# The queue pairs of the server.
server_pairs() {
  "$rdma" -d resource show qp link rxe1 | grep -c "pid $server "
}

# A client whose machine vanishes says nothing and answers nothing: what the two ends send goes to nobody's address. The server's
# port stays up.
vanish() {
  "$ip" neigh replace fe80::ff:fe00:1 lladdr 02:00:00:00:00:0a dev v1 nud permanent
  "$ip" neigh replace fe80::ff:fe00:2 lladdr 02:00:00:00:00:0b dev v0 nud permanent
  kill -KILL "$checking"
}

no_pairs() {
  waited=0
  until [ "$(server_pairs)" -eq 0 ]; do
    kill -0 "$server" || return 1
    waited=$((waited + 1))
    [ "$waited" -lt 300 ] || return 1
    sleep 1
  done
}

case_rdma_vanished() {
  network
  devices
  uri="rdma://$far/data"
  step "serve" serve --rdma data=memory:1M
  : >/tmp/during.log
  rdma_check idle "$uri?queues=3" >/tmp/during.log 2>&1 &
  checking=$!
  await loaded
  step "a client has four connections" [ "$(server_pairs)" -eq 4 ]
  sleep 20
  step "one that does nothing keeps them" [ "$(server_pairs)" -eq 4 ]
  vanish
  step "one whose machine has vanished loses its places" no_pairs
}

case_rdma_lost() {
  network
  devices
  uri="rdma://$far/data"
  step "serve" serve --rdma data=memory:1M
  step "the server is killed under load" during killed "$uri?queues=3" kill_server
  step "serve again" serve --rdma data=memory:1M
  step "the server ends under load" during killed "$uri?queues=3" stop
  step "serve memory" serve --rdma data=memory:1M
  step "another server: the store must be opened again" during reopen "$uri?queues=3" restart --rdma data=memory:1M
  kill_server
  head -c 300000 /dev/urandom >/tmp/data
  step "serve a file to read" serve --rdma data=/tmp/data --read-only
  step "another server of the same file: the store goes on" during again "$uri?ro&queues=3" \
    restart --rdma data=/tmp/data --read-only
  kill_server
  step "serve once more" serve --rdma data=memory:1M
  step "the network is away for a while: the store goes on" during network "$uri?queues=3" network_away
  step "the same with a cache: no write is lost" during cache_network "$uri?queues=3" network_away
  step "the server is killed while a cache has pages to write" during cache_killed "$uri?queues=3" kill_server
}
