#!/bin/sh
# What a stranger does first, on a machine that has nothing: ./run demo, ./run build and a program with the installed package,
# then the Debian packages and the tutorial with them. It happens in a bare root of a distribution, which debootstrap makes and
# this script removes again. What cannot be made is a failure.
# Usage, as root: bare_root.sh debian|ubuntu SUITE SOURCE-FOLDER ROOT-FOLDER, which must not exist
set -eu
family=$1
suite=$2
source=$3
root=$4

# ---- outside: everything happens in name spaces of its own, so that no mount and no process is left behind ----
limit=1500 # seconds; about 300 are needed
clean_up() {
  # The first process of a name space takes all others with it.
  kill -KILL "$inside" 2>/dev/null || true
  wait "$inside" 2>/dev/null || true
  rm -rf --one-file-system "$root" 2>/dev/null || { sleep 2; rm -rf --one-file-system "$root"; }
}
if [ "${BARE_ROOT_INSIDE:-no}" = no ]; then
  [ "$(id -u)" -eq 0 ] || { echo "bare_root.sh: a root of $suite cannot be made: that takes the superuser"; exit 1; }
  [ ! -e "$root" ] || { echo "bare_root.sh: $root exists; remove it first"; exit 1; }
  mkdir -p "$root"
  root=$(cd -- "$root" && pwd)
  BARE_ROOT_INSIDE=yes unshare --mount --pid --fork --kill-child \
    timeout --signal=KILL "$limit" sh "$0" "$family" "$suite" "$source" "$root" &
  inside=$!
  trap clean_up EXIT
  trap 'exit 1' INT TERM HUP
  status=0
  wait "$inside" || status=$?
  [ "$status" -ne 137 ] || echo "bare_root.sh: given up after $limit s"
  exit "$status"
fi

began=$(date +%s)
say() {
  echo "bare_root.sh: $* at $(($(date +%s) - began)) s"
}

# ---- the root ----

# All suites of a family share a script of debootstrap's; an old debootstrap does not know the names of new suites.
case $family in
  debian) script=sid components=main ;;
  ubuntu) script=gutsy components=main,universe ;;
  *) echo "bare_root.sh: $family: debian or ubuntu is wanted"; exit 1 ;;
esac
# From where this machine has the suite; else debootstrap knows the distribution's own archive.
# shellcheck disable=SC2016 # apt-get puts the values in
mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$suite //p" | head -n 1)
verify=
if [ ! -e "/usr/share/keyrings/$family-archive-keyring.gpg" ]; then
  say "the keys of $family are not here: its packages are not verified"
  verify=--no-check-gpg
fi
say "a root of $suite from ${mirror:-its own archive}"
# shellcheck disable=SC2086 # no option or one
debootstrap $verify --variant=minbase --components="$components" "$suite" "$root" "$mirror" "$script" >"$root.log" 2>&1 || {
  tail -n 20 "$root.log" "$root/debootstrap/debootstrap.log" || true
  say "a root of $suite cannot be made"
  exit 1
}
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"

# The way to the archive is the machine's.
apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$root/etc/apt/apt.conf.d/90machine" || true
cp /etc/hosts "$root/etc/hosts"

# ---- the sources, and nothing of what was built from them here ----
mkdir "$root/grapnel"
tar -C "$source" --exclude=./build --exclude=./out --exclude=./.git -cf - . | tar -C "$root/grapnel" -xf -

# inside COMMAND... - in the root and its /grapnel, with nothing of this machine's environment but its proxies.
inside() {
  say "$*"
  chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} ${no_proxy:+"no_proxy=$no_proxy"} \
    sh -c 'cd /grapnel && exec "$@"' sh "$@"
}

# no_warning LOG - the compiler of this distribution has none.
no_warning() {
  ! grep -n 'warning:' "$root/grapnel/$1" || { say "$1 has warnings"; exit 1; }
}

inside ./run demo
[ -s "$root/grapnel/build/release.log" ] || { say "./run demo kept no build/release.log"; exit 1; }
no_warning build/release.log
for file in bfs.json bfs.svg; do
  [ -s "$root/grapnel/out/$file" ] || { say "./run demo wrote no out/$file"; exit 1; }
done
inside ./run build
# The package of a machine without MPI.
inside sh tests/system/install.sh /grapnel /grapnel/build/release /grapnel/build/install ''
# What ./run device configures, without GraphBLAS.
inside apt-get install -y --no-install-recommends libcmocka-dev
inside cmake --preset release -DGN_TESTS=ON
inside cmake --build build/release --target grapnel_tool gn_bench_cuda >"$root/grapnel/build/device.log" 2>&1 || {
  cat "$root/grapnel/build/device.log"
  exit 1
}
no_warning build/device.log
# The distribution's packages, installed where nothing else of what they need is left, and the tutorial with them.
inside apt-get install -y --no-install-recommends dpkg-dev
inside apt-get build-dep -y --no-install-recommends ./
inside dpkg-buildpackage -us -uc -b
inside apt-get purge -y --autoremove liburing-dev libboost-context-dev libjansson-dev libxxhash-dev zlib1g-dev
inside sh -c 'apt-get install -y --no-install-recommends ../libgrapnel0.1_*.deb ../libgrapnel-dev_*.deb ../grapnel_*.deb'
inside sh tests/system/tutorial.sh /grapnel '' /grapnel/build/tutorial
inside grapnel sim run mt --size 64 --config dualopt.conf
say "done"
