#!/bin/sh
# What one does first with the Python package, on a machine that has no compiler: install the wheel of dist and run the first page
# of the documentation, in a bare root of a distribution, with its Python and NumPy. With "tests" the tests of the package run there
# too. What cannot be made is a failure.
# Usage, as root: wheel_root.sh debian|ubuntu SUITE first|tests SOURCE-FOLDER ROOT-FOLDER; the root's folder must not exist
set -eu
source=$4
# shellcheck disable=SC2034 # root.sh reads it
root=$5
# shellcheck disable=SC1091 # it is looked at by itself
. "$source/tests/system/root.sh"
own_name_spaces 1800 "$0" "$@" # about 100 are needed where nothing else runs, and 200 with the tests
make_root "$1" "$2"
quietly wheel-apt.log apt-get install -y --no-install-recommends python3 python3-venv python3-numpy
inside sh -c '! command -v cc && ! command -v gcc && ! command -v clang && ! command -v ld'
inside python3 -V
# The distribution's NumPy is what the wheel needs; no registry is asked.
quietly wheel-venv.log python3 -m venv --system-site-packages /venv
quietly wheel-pip.log sh -c '/venv/bin/pip install --no-index dist/*.whl'
inside /venv/bin/python -P tests/system/wheel_first.py
if [ "$3" = tests ]; then
  quietly wheel-apt.log apt-get install -y --no-install-recommends python3-pytest python3-hypothesis binutils
  inside env CI=true /venv/bin/python -P -m pytest -q -p no:cacheprovider python/tests
fi
say "done"
