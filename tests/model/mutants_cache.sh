#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Do the cache's model tests notice when the code is wrong? As mutants.sh, for the headers of cache and array; a mutant
# that lives through the random schedules meets the exhaustive ones.
#
#   mutants_cache.sh SOURCE_DIR WORK_DIR CC LINK...   (LINK: library files and flags that a model program needs)
set -eu

source_dir=$1
work=$2
cc=$3
shift 3
runs=${GN_MUTANT_RUNS:-20000}

# file | sed expression | what is broken
mutants() {
	cat <<'END'
array/look.h|s/return !((g->seen ^ .*/return 1;/|a read is not validated
array/read.h|/gn__read_hit(const/,/^}/{s/gn__load_element(value,/gn__load_element(to,/;s/memcpy(to, value, size);//;}|a read that fails returns another page's data
array/cursor.h|/gn__cursor_hit(struct/,/^}/{s/gn__load_element(value,/gn__load_element(to,/;s/memcpy(to, value, size);//;}|a cursor's read that fails returns another page's data
array/look.h|/gn__pin_hit(const/,/^}/s/ && !(g.seen & GN_WORD_BUSY)//|a hit pins a page that is being written back
array/look.h|/gn__pin_hit(const/,/^}/s/GN_WORD_DIRTY/0/|a hit for writing does not make the page dirty
cache/claim.h|/gn__take_from(const/,/^}/s/if (seen & GN_WORD_PINS .*/if (0)/|direct: pins do not keep a frame
cache/claim.h|/gn__take_way(const/,/^}/s/if (seen & GN_WORD_PINS .*/if (0)/|sets: pins do not keep a frame
cache/claim.h|/gn__take_from(const/,/^}/s/seen & GN_WORD_BUSY/0/|direct: two evict one page
cache/claim.h|/gn__take_way(const/,/^}/s/if (!(seen & GN_WORD_VALID) .*/if (0)/|sets: a page that is fetched or evicted is evicted
cache/claim.h|/gn__take_from(const/,/^}/s/gn_word_payload(seen) != frame/0/|direct: a page is evicted from a frame that it has left
cache/claim.h|s/if (seen & GN_WORD_BUSY .. (seen & GN_WORD_PINS) == GN_WORD_PINS)/if (0)/|a busy page is pinned
cache/claim.h|/ gn_claim_written(const/,/^}/s/if (status.code)/if (0)/|a page that could not be written back is dropped
cache/claim.h|s/GN_WORD_PIN . GN_WORD_REF . (write ? GN_WORD_DIRTY : 0)/GN_WORD_PIN + GN_WORD_REF/|a miss for writing does not make the page dirty
cache/claim.h|s/k->made = gn_word_next_version(seen)/k->made = (seen \& GN_WORD_VERSION)/|sets: versions do not count
cache/claim.h|s/made = gn_word_next_version(made)/made = made/|direct: versions do not count
cache/claim.h|s/if (gn__find_in_set(c, k->page).word) {/if (0) {/|sets: two loaders of one page
cache/claim.h|s/found = gn__find_in_set.*/found = 0;/|sets: a page that came during a write-back comes again
cache/claim.h|/ gn__lock_set(const/,/^}/s/return .*/return 1;/|sets: the lock keeps nobody out
cache/claim.h|s/status.code ? (uint32_t)GN__OWNER_FREE : (uint32_t)k->page/(uint32_t)k->page/|direct: a failed fetch loses its frame
cache/claim.h|s/if (simt_cas_acq_rel_dev_u32(&c->owner.frame., GN__OWNER_FREE.*/if (0)/|direct: a free frame is taken twice
cache/access.h|s/k->status = gn__read_page/if (leads) gn_claim_publish(c, k, k->status); k->status = gn__read_page/|a page is published before it is fetched
cache/access.h|s/(seen & GN_WORD_PINS ? seen : seen & ~GN_WORD_DIRTY)/(seen \& ~GN_WORD_DIRTY)/|a flush cleans a page that is being written
cache/access.h|s/simt_or_acq_rel_dev_u64(word, GN_WORD_DIRTY);/;/|a failed flush cleans the page
cache/access.h|s/if (begun == 1)$/if (0)/|a flush writes the page that was in the frame before
cache/access.h|s/k->status = gn_store_save/gn_claim_drop(c, k); k->status = gn_store_save/;/^	gn_claim_drop(c, k);$/s/^/	if (!around)/|a write around the cache does not keep the page absent
cache/access.h|s/^	gn_claim_drop(c, k);$/	;/|a page that found no frame stays busy
cache/claim.h|s/	k->stage = GN__SEARCHING;/	;/|direct: a search that waited begins with the page, which it holds itself
END
}

# copy: fresh copies of what is mutated.
copy() {
	rm -rf "$work"
	mkdir -p "$work/grapnel"
	cp -r "$source_dir/include/grapnel/array.h" "$source_dir/include/grapnel/array" "$source_dir/include/grapnel/cache" \
		"$work/grapnel"
}

# build LINK...: the model program from the copies.
build() {
	"$cc" -std=gnu11 -O1 -w -D_GNU_SOURCE -DSIMT_PREEMPT -I"$work" -I"$source_dir/include" -I"$source_dir/src" \
		"$source_dir/tests/model/cache.c" "$source_dir/tests/model/harness.c" -o "$work/program" "$@"
}

# break_it FILE EXPRESSION: fails if there was nothing to break.
break_it() {
	file=$work/grapnel/$1
	sed "$2" "$file" >"$file.broken"
	if cmp -s "$file" "$file.broken"; then
		echo "mutants: $1 has changed, this does nothing: $2" >&2
		exit 1
	fi
	mv "$file.broken" "$file"
}

# One that hangs does not pass.
passes() {
	timeout 20 "$work/program" random "$runs" >"$work/log" 2>&1 &&
		timeout 100 "$work/program" exhaustive >>"$work/log" 2>&1
}

copy
build "$@"
passes || { echo "mutants: fails unchanged" >&2; cat "$work/log" >&2; exit 1; }

survivors=0
mutants >"${work%/}.list"
while IFS='|' read -r file expression what; do
	copy
	break_it "$file" "$expression"
	build "$@"
	if passes; then
		echo "SURVIVED: $what ($file: $expression)"
		survivors=$((survivors + 1))
	else
		echo "killed: $what"
	fi
done <"${work%/}.list"
exit $((survivors != 0))
