#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# What each kernel of a build takes on each architecture that it is compiled for: registers of a thread, and bytes that it keeps
# in memory for want of registers. The functions that are called on slow ways are not counted: they save what they use.
#
#   kernel_table.sh FOLDER        a table of all kernels compiled below the folder; exit status 1 if one spills
set -eu

find "$1" -name '*.ptxas' -exec cat {} + | awk '
	/Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; sm = part[4]; next }
	/Function properties for/ { of = $NF; next }
	/bytes spill stores/ && of == kernel { spills = $5 + $9 }
	/Used [0-9]+ registers/ && kernel != "" {
		name = kernel
		if (match(name, /^_Z[0-9]+/)) {
			length_of = substr(name, 3, RLENGTH - 2)
			name = substr(name, RLENGTH + 1, length_of)
		}
		sub(/__cuda$/, "", name)
		match($0, /Used [0-9]+/)
		print name, sm, substr($0, RSTART + 5, RLENGTH - 5), spills
		kernel = ""
	}' | sort -u | awk '
	BEGIN { printf "%-28s %-7s %9s %12s\n", "kernel", "for", "registers", "bytes spilt" }
	{ printf "%-28s %-7s %9d %12d\n", $1, $2, $3, $4; kernels++; bad += $4 > 0 }
	END {
		if (!kernels) { print "no kernel was compiled here"; exit 1 }
		exit bad > 0
	}'
