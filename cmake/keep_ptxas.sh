#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compile for a GPU, and keep what the assembler says of each kernel in OBJECT.ptxas, for kernel_table.sh.
#
#   keep_ptxas.sh [LAUNCHER] COMPILER ARGUMENT...   (with -o OBJECT among them; LAUNCHER: ccache, say)
set -u

object=
before=
for argument in "$@"; do
	[ "$before" != -o ] || object=$argument
	before=$argument
done
"$@" -Xptxas -v 2>"$object.said"
status=$?
is_ours='^ptxas info|bytes stack frame|^$'
grep -E "$is_ours" "$object.said" >"$object.ptxas"
grep -vE "$is_ours" "$object.said" >&2
rm -f "$object.said"
exit "$status"
