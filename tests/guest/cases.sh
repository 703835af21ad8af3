# SPDX-License-Identifier: Apache-2.0
# What runs in the guest: functions case_NAME. Every step prints PASS or FAIL and its name in a line of its own.

step() { # NAME COMMAND... - a step that passes if the command does
  name=$1
  shift
  if "$@" >/tmp/step.log 2>&1; then
    echo "PASS $name"
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
  step "list shows the controller and that it can be taken" says "driver nvme .*free" grapnel nvme list
  step "a store on the kernel's drive is refused" refused "grapnel nvme bind" grapnel nvme identify "$a"
  step "bind" grapnel nvme bind "$a"
  step "list shows that it is ready" says "ready for nvme:" grapnel nvme list
  step "identify" says "serial      first" grapnel nvme identify "$a"
  step "identify a second time" says "namespace   1: 131072 blocks of 512 bytes" grapnel nvme identify "$a"
  step "unbind gives it back to the kernel" says "given back to nvme" grapnel nvme unbind "$a"
}
