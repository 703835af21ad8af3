#!/bin/sh
# What bash completes for the grapnel command is what its help says. Usage: completion.sh SOURCE-FOLDER COMMAND
set -u
command -v bash >/dev/null 2>&1 || exit 77
status=0

# completes WORD... - what is completed for the last word, in one line.
completes() {
  bash -c '
    . "$0" && complete -p grapnel | grep -q "_grapnel grapnel" || exit 1
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _grapnel
    echo "${COMPREPLY[@]}"' "$completion" "$grapnel" "$@"
}

# expect WORDS WORD... - just that is completed.
expect() {
  want=$1
  shift
  got=$(completes "$@")
  [ "$got" = "$want" ] || {
    echo "grapnel $*: completes \"$got\" instead of \"$want\""
    status=1
  }
}

completion=$1/tools/completion.bash
grapnel=$2
all=$("$grapnel" --help | awk '/^  [a-z-]+  / { printf "%s%s", space, $1; space = " " }')
expect "$all" ''
expect 'sssp stencil sort sweep scope sim store serve' s
expect 'compare' scope ''
expect 'run sweep paper explain list' sim ''
expect '--seed= --sources= --state= --state-cache= --state-page= --steps --store= --svg= --source=' bfs --s
expect '--verify --version' bfs g.gng --ver
expect '--record=' sim run --rec
expect '--threshold=' scope compare --t
expect '--help --version' --
expect '' bfs ''
expect '' bfs sim ''
expect '' nothing ''
expect '' nothing --x

# Every option that a help text names is completed, and no other.
for subcommand in bench gups scope; do
  got=$(completes "$subcommand" -- | tr ' ' '\n' | sort)
  want=$("$grapnel" "$subcommand" --help | sed -n 's/^ *\(-., \)\{0,1\}\(--[a-z-]*=\{0,1\}\).*/\2/p' | sort)
  if [ -z "$want" ] || [ "$got" != "$want" ]; then
    echo "grapnel $subcommand --: completes $got instead of $want"
    status=1
  fi
done
exit "$status"
