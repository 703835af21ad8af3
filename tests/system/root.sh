#!/bin/sh
# For scripts that work in a bare root of a distribution: they read this file, and call own_name_spaces, then make_root. The root
# is removed again at the end, however that comes. They have set:
#   source  the folder of the sources
#   root    the folder of the root, which must not exist
# shellcheck disable=SC2154 # these

me=$(basename "$0")

say() {
  echo "$me: $* at $(($(date +%s) - ${ROOT_BEGAN:-$(date +%s)})) s"
}

# ---- outside: everything happens in name spaces of its own, so that no mount and no process is left behind ----

clean_up() {
  # The first process of a name space takes all others with it.
  kill -KILL "$within" 2>/dev/null || true
  wait "$within" 2>/dev/null || true
  rm -rf --one-file-system "$root" 2>/dev/null || { sleep 2; rm -rf --one-file-system "$root"; }
}

# own_name_spaces LIMIT SCRIPT ARGUMENT... - run the script again, in name spaces of its own, for so many seconds at most; there
# this returns.
own_name_spaces() {
  [ "${ROOT_INSIDE:-}" != "$root" ] || return 0
  [ "$(id -u)" -eq 0 ] || { echo "$me: no root can be made: that takes the superuser"; exit 1; }
  [ ! -e "$root" ] || { echo "$me: $root exists; remove it first"; exit 1; }
  mkdir -p "$root"
  limit=$1
  shift
  ROOT_INSIDE=$root ROOT_BEGAN=$(date +%s) unshare --mount --pid --fork --kill-child timeout --signal=KILL "$limit" sh "$@" &
  within=$!
  trap clean_up EXIT
  trap 'exit 1' INT TERM HUP
  status=0
  wait "$within" || status=$?
  [ "$status" -ne 137 ] || echo "$me: given up after $limit s"
  exit "$status"
}

# ---- the root ----

# make_root debian|ubuntu SUITE - with the sources in /grapnel, and nothing of what was built from them here. Nobody needs what is
# in it after a crash, so dpkg does not wait for the disk. Where BARE_ROOTS is set, the bare root is kept beside it, as
# bare-SUITE.tar, and the next root of the suite is made of that.
make_root() {
  family=$1
  suite=$2
  # All suites of a family share a script of debootstrap's; an old debootstrap does not know the names of new suites.
  case $family in
    debian) script=sid components=main ;;
    ubuntu) script=gutsy components=main,universe ;;
    *) echo "$me: $family: debian or ubuntu is wanted"; exit 1 ;;
  esac
  # From where this machine has the suite; else debootstrap knows the distribution's own archive.
  # shellcheck disable=SC2016 # apt-get puts the values in
  mirror=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sed -n "s/^$suite //p" | head -n 1)
  verify=
  if [ ! -e "/usr/share/keyrings/$family-archive-keyring.gpg" ]; then
    say "the keys of $family are not here: its packages are not verified"
    verify=--no-check-gpg
  fi
  bare=$(dirname "$root")/bare-$suite.tar
  if [ -n "${BARE_ROOTS:-}" ] && [ -s "$bare" ]; then
    say "a root of $suite from $bare"
    tar -C "$root" -xf "$bare"
  else
    say "a root of $suite from ${mirror:-its own archive}"
    # shellcheck disable=SC2086 # no option or one
    debootstrap $verify --variant=minbase --components="$components" "$suite" "$root" "$mirror" "$script" >"$root.log" 2>&1 || {
      tail -n 20 "$root.log" "$root/debootstrap/debootstrap.log" || true
      say "a root of $suite cannot be made"
      exit 1
    }
    if [ -n "${BARE_ROOTS:-}" ]; then
      # Another root of the suite may be made at the same time.
      own=$bare.$(basename "$root")
      tar -C "$root" -cf "$own" .
      mv "$own" "$bare"
    fi
  fi
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"

  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/90machine"
  # The way to the archive is the machine's.
  apt-config dump | grep -E '^Acquire::(http|https|Check-|Retries)' >"$root/etc/apt/apt.conf.d/90machine" || true
  cp /etc/hosts "$root/etc/hosts"

  mkdir "$root/grapnel"
  tar -C "$source" --exclude=./build --exclude=./out --exclude=./.git -cf - . | tar -C "$root/grapnel" -xf -
  [ "${CMAKE_C_COMPILER_LAUNCHER:-}" != ccache ] || keep_compiled
}

# keep_compiled - the caller compiles through ccache (.ci/run): so does the root, into the same folder. It sees the root's compilers.
launchers=
keep_compiled() {
  compiled=$(ccache --get-config cache_dir)
  mkdir -p "$compiled" "$root/ccache"
  mount --bind "$compiled" "$root/ccache"
  inside sh -c 'apt-get update && apt-get install -y --no-install-recommends ccache' >"$root.log" 2>&1 || {
    tail -n 20 "$root.log"
    say "ccache cannot be installed"
    exit 1
  }
  launchers='CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache'
  launchers="$launchers CCACHE_DIR=/ccache CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=/grapnel"
}

# inside COMMAND... - in the root and its /grapnel, with nothing of this machine's environment but its proxies.
inside() {
  say "$*"
  # shellcheck disable=SC2086 # a list of words
  chroot "$root" env -i $launchers HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    ${http_proxy:+"http_proxy=$http_proxy"} ${https_proxy:+"https_proxy=$https_proxy"} ${no_proxy:+"no_proxy=$no_proxy"} \
    sh -c 'cd /grapnel && exec "$@"' sh "$@"
}

# quietly LOG COMMAND... - the same; what it says stays in the root's /grapnel/LOG unless it fails.
quietly() {
  log=$1
  shift
  inside "$@" >"$root/grapnel/$log" 2>&1 || {
    tail -n 60 "$root/grapnel/$log"
    say "this failed: $*"
    exit 1
  }
}
