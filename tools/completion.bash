# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of the grapnel command for bash. It asks the command for its help, so it knows what that knows.

# _grapnel_subcommands COMMAND... - those that its help lists, or names in quotes.
_grapnel_subcommands() {
  LC_ALL=C "$@" --help 2>/dev/null |
    sed -nE "s/^  ([a-z][a-z-]*)  .*/\1/p; s/^'grapnel ${2-} ([a-z][a-z-]*) .*/\1/p"
}

_grapnel() {
  local current=${COMP_WORDS[COMP_CWORD]} words='' subcommands k
  local -a command=("${COMP_WORDS[0]}")

  # What was typed before, as far as it names subcommands.
  subcommands=$(_grapnel_subcommands "${command[@]}")
  for ((k = 1; k < COMP_CWORD; k++)); do
    [[ -n $subcommands && $'\n'$subcommands$'\n' == *$'\n'"${COMP_WORDS[k]}"$'\n'* ]] || break
    command+=("${COMP_WORDS[k]}")
    subcommands=$(_grapnel_subcommands "${command[@]}")
  done

  if [[ $current == -* ]]; then
    words=$(LC_ALL=C "${command[@]}" --help 2>/dev/null |
      sed -nE 's/^ +(-., |grapnel |grapnel [A-Z]+ )?(--[a-z][a-z0-9-]*=?).*/\2/p')
  elif ((k == COMP_CWORD)); then
    words=$subcommands
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  # Behind "--cache=" the value follows, without a space.
  if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then
    compopt -o nospace 2>/dev/null
  fi
}

# Where it knows nothing, names of files are completed.
complete -o default -F _grapnel grapnel
