#!/bin/sh
# Every function that libgrapnel.so shows for users has a man page with a description. The structs and enums that a program
# fills for them have pages with their members. A program that includes the header of a page can use what the page describes.
# Every subcommand that `grapnel --help` lists is in grapnel(1). A program that formats man pages accepts them.
# Usage: man.sh SOURCE-FOLDER MAN-FOLDER COMMAND COMPILER...
set -u
include=$1/include
functions=$(sed -n 's/^    \([a-z]*_[a-z0-9][a-z_0-9]*\);$/\1/p' "$1/src/grapnel.map")
subcommands=$("$3" --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
if [ -z "$functions" ] || [ -z "$subcommands" ]; then
  echo 'no functions or no subcommands are listed'
  exit 1
fi
cd -- "$2" || exit 1
shift 3
status=0
fails() {
  echo "$*"
  status=1
}

# A page, or one line that leads to the page that describes several functions.
for function in $functions; do
  page=man3/$function.3
  [ -s "$page" ] || { fails "$function: has no page"; continue; }
  leads=$(sed -n '1s/^\.so //p' "$page")
  page=${leads:-$page}
  grep -q "^\(.*, \)*${function}[, ].*\\\\- ." "$page" || fails "$page: NAME does not say what $function does"
  grep -q "[ *]$function(" "$page" || fails "$page: SYNOPSIS has no $function"
  awk '/^\.SH/ { on = $2 == "DESCRIPTION" } on && /^[^.]/ { words += NF } END { exit words < 2 }' "$page" ||
    fails "$page: DESCRIPTION says nothing"
done
for subcommand in $subcommands; do
  grep -q "^\.SS grapnel $subcommand\$" man1/grapnel.1 || fails "man1/grapnel.1: says nothing of $subcommand"
done
for function in gn_open gn_net_put_u32; do # the second is told by the part of the header that it stands in
  grep -q '^\.SH RETURN VALUE' "man3/$function.3" || fails "man3/$function.3: does not say what is returned"
done

grep -q '^\.IP.*bu' man3/gn_page_begin.3 || fails 'man3/gn_page_begin.3: runs the items of a list together'

for type in gn_options gn_array_options gn_cache_options gn_store_options simt_options gn_mode gn_intent gn_batch \
  gn_slots_batch gn_cache_statistics simt_grid gn_error; do
  grep -q "^\(struct\|enum\) $type {" "man3/$type.3" || fails "man3/$type.3: has no members"
done
without=$(grep -L '^\.so \|^\.SH DESCRIPTION' man3/*.3)
[ -z "$without" ] || fails "no description: $without"
grep -q '^    struct gn_cache_options cache;' man3/gn_open.3 || fails 'man3/gn_open.3: has no options'
grep -q '^    uint64_t bound' man3/gn_array.3 && fails 'man3/gn_array.3: shows members that programs leave alone'

# One program for each header uses all names whose pages say that it has them. A name that SYNOPSIS does not show alone is
# that of a family, such as simt_load.
uses=$(awk '
  /^\.SH/ { section = $2 }
  section == "NAME" && / \\- / { sub(/ \\- .*/, ""); named = split($0, name, ", ") }
  section == "SYNOPSIS" && /^#include/ { header = $2 }
  section == "SYNOPSIS" && /^(struct|enum) [a-z0-9_]+ [{]/ { print header, $2, $1 }
  section == "SYNOPSIS" { for (k = 1; k <= named; k++) if ($0 ~ "(^|[ *])" name[k] "\\(") print header, name[k] }
' man3/*.3 | sort -u)
[ "$(echo "$uses" | wc -l)" -gt 300 ] || fails 'few names found in SYNOPSIS: the search is broken'
for header in $(echo "$uses" | cut -d ' ' -f 1 | sort -u); do
  case $header in '<grapnel/'*/*) fails "$header: a page names a header that is not for users" ;; esac
  said=$(echo "$uses" | awk -v header="$header" '
    BEGIN { print "#include " header }
    $1 == header && NF == 3 { printf "enum { size_%s = sizeof(%s %s) };\n", $2, $3, $2 }
    $1 == header && NF == 2 { printf "#ifndef %s\nvoid use_%s(void);\nvoid use_%s(void) { (void)%s; }\n#endif\n", $2, $2, $2, $2 }
  ' | "$@" -std=c11 -fsyntax-only -I "$include" -x c - 2>&1) ||
    fails "with #include $header a program cannot use what its pages describe: $said"
done

for macro in simt_cas SIMT_KERNEL; do # made by macros: the comment shows how they are called
  grep -q "[ *]\{0,1\}${macro}[_A-Z]*(" "man3/$macro.3" || grep -q '^\.so ' "man3/$macro.3" ||
    fails "man3/$macro.3: SYNOPSIS has no $macro"
done

if command -v mandoc >/dev/null 2>&1; then
  # shellcheck disable=SC2046 # names without a space
  said=$(mandoc -Tlint -Wwarning man1/*.1 $(grep -L '^\.so' man3/*.3) 2>&1)
elif command -v man >/dev/null 2>&1; then
  said=$(for page in man1/grapnel.1 man3/gn_open.3 man3/gn_read_u8.3; do
    man --warnings -l "$page" 2>&1 >/dev/null
  done)
else
  said=
  echo 'left out: warnings of the manual pages (needs mandoc or man)'
fi
[ -z "$said" ] || fails "$said"
exit "$status"
