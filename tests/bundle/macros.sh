#!/bin/sh
# Every macro of a public header stands in docs/contracts.md, but for OpenSHMEM's. Usage: macros.sh SOURCE-FOLDER
set -u
cd -- "$1" || exit 1
missing=$(grep -rhoE '^#[[:space:]]*define [A-Za-z_0-9]+' include/grapnel | awk '{ print $NF }' | sort -u | while read -r macro; do
  case $macro in
    GRAPNEL_*_H | GRAPNEL_*_HPP) ;; # include guards
    *) grep -q "\`$macro\`" docs/contracts.md || echo "$macro" ;;
  esac
done)
[ -z "$missing" ] || { echo "not in docs/contracts.md:" "$missing"; exit 1; }
