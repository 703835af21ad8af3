#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Do the cache's model tests notice when the code is wrong? As mutants.sh, for the headers of cache and array; a mutant
# that lives through the random schedules meets the exhaustive ones. Where it is known which exhaustive case kills a mutant, its
# line names the case, and that is all that is run; so too for one that hangs under random schedules, which say so after a minute.
#
#   mutants_cache.sh SOURCE_DIR WORK_DIR CC LINK...   (LINK: library files and flags that a model program needs)
set -eu

source_dir=$1
work=$2
cc=$3
shift 3
harness=${work%/}.harness.o
runs=${GN_MUTANT_RUNS:-100000} # as many as model_cache_random

# file | sed expression | what is broken | the exhaustive case that kills it, if random schedules do not
mutants() {
	cat <<'END'
detail/array/read.h|/gn__read_value(const/,/^}/s/if (simt_unlikely(!gn__word_validate(.*/if (0)/|a read is not validated
detail/cache/word.h|/gn__word_validate_whole(uint64_t/,/^}/s/low . high . //|a quick read is not validated
detail/cache/word.h|/gn__word_validate_whole(uint64_t/,/^}/s/(~(uint32_t)(now .*;/0);/|a quick read takes what is not there for a page
detail/array/read.h|/gn__read_quickly(const/,/^}/{s/gn__load_element(value,/gn__load_element((uint64_t *)to,/;s/memcpy(to, value, size);//;}|a read that fails returns another page's data
detail/array/cursor.h|/gn__cursor_hit(struct/,/^}/{s/gn__load_element(value,/gn__load_element(to,/;s/memcpy(to, value, size);//;}|a cursor's read that fails returns another page's data
detail/array/cursor.h|s/if (simt_likely(gn__cursor_stays(c, all, count)))/if (1)/|of several elements nobody looks whether they are still the page's
detail/array/recent.h|/gn__recent_take(const/,/^}/{s/gn__load_element(value,/gn__load_element((uint64_t *)to,/;s/memcpy(to, value, size);//;}|a view's read that fails returns another page's data
detail/array/recent.h|/gn__recent_take(const/,/^}/s/!gn__word_validate_whole(g.seen, now)/!(now \& GN__WORD_VALID)/|a view takes any page for the one that it remembers
detail/array/read.h|/gn__read_value(const/,/^}/s/GN__WORD_VALID/GN__WORD_HELD/|a read takes a page in parts for a whole one
detail/array/gather_few.h|/gn__few_chunk(const/,/^}/s/if (!gn__word_validate(.*/if (0)/|a gathered row is not validated
detail/array/gather_few.h|/gn__few_look(const/,/^}/s/if (!(wanted & ~gn__sector_valid(sectors)))/if (wanted \& gn__sector_valid(sectors))/|a row of which parts are there is read from its frame
detail/cache/page.h|/gn__page_can_pin(uint64_t/,/^}/s/!(seen & GN__WORD_BUSY) && //|a page is pinned that is being written back
detail/cache/page.h|/gn__page_pin_together(const/,/^}/s/GN__WORD_DIRTY/0/|a hit for writing does not make the page dirty
detail/cache/group.h|/gn__group_try(const/,/^}/s/ . GN__WORD_DIRTY//|a write does not make the page dirty
detail/cache/group.h|/gn__group_try(const/,/^}/s/gn__sector_dirty(/(void)(/|a write makes no sector dirty
detail/cache/group.h|/gn__group_try(const/,/^}/s/touched, covers, &w.owned/touched, 1, \&w.owned/|a write of less than a sector is taken to overwrite it
detail/cache/page.h|/gn__page_pin_together(const/,/^}/s/gn__sector_dirty(/(void)(/|a page held for writing has no dirty sectors
detail/cache/group.h|s/where . gn__size_log2(size)/where/|lanes with elements of two sizes write as one
detail/array/write.h|/gn__write_pinned(const/,/^}/{s/const struct gn__written_page w/struct gn__written_page w/;s/^	if (w.hold.data) {/	if (w.hold.data \&\& w.owned) { gn__sector_arrive(a->pages.cache->sector, w.hold.word, w.frame, w.owned, 1); simt_load_relaxed_dev_u64(w.hold.word); w.owned = 0; }&/;}|sectors are valid before their bytes are there
detail/cache/access.h|/gn__groups_do(const/,/^}/s/^		read = gn__request_inside(.*/		if (k->owned \&\& simt_lane() == g->leader) { gn__sector_arrive(c->sector, k->word, frame, k->owned, 1); ((struct gn__claim *)k)->owned = 0; }&/|sectors of a page that came are valid before their bytes are there
detail/cache/access.h|/gn__groups_do(const/,/^}/s/gone = !gn__word_validate.*/gone = 0;/|a slow read without a pin is not validated
detail/array/atomic.h|/gn__change_pinned(const/,/^}/s/^	const struct gn__group g = \(.*\);/	struct gn__group g = \1; g.reach.touched = 1u << 31;/|a change makes no sector dirty
detail/array/atomic.h|s/gn__group_pin(&a->pages, &g, page, 0)/gn__group_pin(\&a->pages, \&g, page, 1)/|an element is changed in a page in parts
detail/change.h|s/return simt_add_relaxed_dev_u64(element, .*/{ seen = simt_load_relaxed_dev_u64(element); simt_store_relaxed_dev_u64(element, seen + operand[0]); return seen; }/|an addition in two steps
detail/change.h|/gn__change_8(uint64_t/,/^}/s/if (was == seen)/if (1)/|a change that lost a race is not tried again
detail/cache/announce.h|/gn__word_is_written(uint64_t/,/^}/s/(wanted . GN__WORD_BUSY)/wanted/|an element is written without a pin to a page that is being written back
detail/cache/announce.h|/gn__word_is_written(uint64_t/,/^}/s/GN__WORD_VALID . GN__WORD_DIRTY/GN__WORD_VALID/|an element is written without a pin to a clean page
detail/cache/announce.h|/gn__announce(const/,/^}/s/gn__sector_is_dirty(.*/1)/|a write without a pin makes no sector dirty
detail/cache/announce.h|/gn__announce(const/,/^}/s/simt_cas_seq_cst_dev_u64(writes, 0, .*/(simt_cas_seq_cst_dev_u64(writes, 0, (uint64_t)(uintptr_t)\&p->word[page]), 0))/|two threads of one processor announce at once|direct, 1 frame: two of one processor announce, a third flushes
detail/cache/flush.h|/gn__flush_try(const/,/^}/s/gn__await_announced(c, f->word);//|a flush does not wait for a write without a pin|direct, 1 frame: an announced write beside a flush
detail/cache/frame.h|/gn__take_from(const/,/^}/s/gn__await_announced(c, word);//|direct: an evictor does not wait for a write without a pin|direct, 1 frame: an announced write beside an eviction
detail/cache/announce.h|/gn__await_announced(const/,/^}/s/k < c->announcers/k < 1/|one processor alone is waited for|direct, 1 frame: two announce, a third evicts
detail/cache/frame.h|/gn__take_from(const/,/^}/s/if (seen & GN__WORD_PINS .*/if (0)/|direct: pins do not keep a frame
detail/cache/frame.h|/gn__take_way(const/,/^}/s/if (seen & GN__WORD_PINS ..$/if (0 \&\&/|sets: pins do not keep a frame
detail/cache/frame.h|/gn__take_from(const/,/^}/s/seen & GN__WORD_BUSY/0/|direct: two evict one page
detail/cache/frame.h|/gn__take_way(const/,/^}/s/if (!(seen & GN__WORD_HELD) .*/if (0)/|sets: a page that is fetched or evicted is evicted
detail/cache/frame.h|/gn__take_from(const/,/^}/s/gn__word_payload(seen) != frame/0/|direct: a page is evicted from a frame that it has left
detail/cache/frame.h|/gn__take_from(const/,/^}/s/seen & GN__WORD_DIRTY ? seen . GN__WORD_BUSY : //|direct: a dirty page is gone before it is written
detail/cache/frame.h|/gn__take_from(const/,/^}/s/: seen & GN__WORD_VERSION/: seen/|direct: a clean page stays in the frame that is taken
detail/cache/frame.h|/ gn__claim_give(const/,/^}/s/simt_store_[a-z]*_dev_u32(&c->owner.*/;/|direct: a frame does not know its page|direct, 1 frame: reader and writer
detail/cache/claim.h|/gn__claim_present(const/,/^}/s/if (!(seen & GN__WORD_VALID))/if (0)/|a page in parts is pinned for anybody
detail/cache/claim.h|/gn__claim_present(const/,/^}/s/gn__sector_dirty(/(void)(/|a slow hit for writing makes no sector dirty
detail/cache/sector.h|/gn__sector_claim(const/,/^}/s/return wanted & .*/return wanted;/|a slow claim takes sectors that another brings
detail/cache/claim.h|/gn__claim_sectors(const/,/^}/s/gn__sector_dirty(/(void)(/|a slow write of a page in parts makes no sector dirty
detail/cache/claim.h|/ gn__claim_filled(const/,/^}/s/if (status.code)$/if (0)/|a fill that failed counts as done
detail/cache/frame.h|s/0xffffffffu, k->dirties);/0xffffffffu, 0);/|a miss for writing makes no sector dirty
detail/cache/frame.h|/ gn__claim_give(const/,/^}/s/gn__sector_reset(.*/;/|a frame keeps the sector word of the page before
detail/cache/frame.h|s/if (k->intent != GN_OVERWRITE && k->intent != GN__COVER)/if (k->intent == GN_READ)/|a page is not fetched of which parts are written
detail/cache/claim.h|/ gn__claim_written(const/,/^}/s/if (status.code)/if (0)/|a page that could not be written back is dropped
detail/cache/claim.h|s/(intent == GN_READ ? 0 : GN__WORD_DIRTY)/0/|a miss for writing does not make the page dirty
detail/cache/frame.h|s/k->made = gn__word_next_version(seen)/k->made = (seen \& GN__WORD_VERSION)/|sets: versions do not count|sets, 1 way: a page leaves and comes back
detail/cache/frame.h|/ gn__claim_give(const/,/^}/s/made = gn__word_next_version(made)/made = made/|direct: versions do not count|direct, 1 frame: a page leaves and comes back
detail/cache/claim.h|/gn__claim_in_set(const/,/^}/s/if (gn__set_lacks(c, k->page, &found)) {/if (gn__set_lacks(c, k->page, \&found), !(found = 0)) {/|sets: two loaders of one page
detail/cache/claim.h|/ gn__set_lacks(const/,/^}/s/ && simt_load.*/;/|sets: a page is fetched while it is changed in the store
detail/cache/claim.h|/ gn__keep_absent(const/,/^}/s/return .*/return 1;/|sets: two threads change a page in the store
detail/cache/claim.h|/ gn__lock_set(const/,/^}/s/return .*/return 1;/|sets: the lock keeps nobody out
detail/cache/claim.h|/ gn__claim_fail(const/,/^}/s/simt_store_release_dev_u32(.*/;/|direct: a failed fetch loses its frame|direct, 1 frame: a fetch fails for two
detail/cache/frame.h|s/if (simt_cas_fenced_dev_u32(&c->owner.frame., GN__OWNER_FREE.*/if (0)/|direct: a free frame is taken twice
detail/cache/frame.h|s/	k->searching = 1;/	;/|direct: a search that waited begins with the page, which it holds itself|direct, 1 frame: reader and writer
detail/cache/claim.h|s/step = k->searching ? GN__STEP_NO_FRAME : GN__STEP_HIT;/step = GN__STEP_HIT;/|a claim ahead that gives up keeps its page busy
detail/cache/claim.h|/gn__claim_way_written(const/,/^}/s/lacks = gn__set_lacks.*/lacks = 1;/|sets: a page that came during a write-back comes again
detail/cache/claim.h|/gn__claim_way_written(const/,/^}/s/lacks = gn__set_lacks.*/&\n\tlacks = !found;/|sets: a page comes while it is changed in the store|sets, 1 way: two count around the cache beside a write-back
detail/cache/claim.h|/gn__claim_way_written(const/,/^}/s/~(GN__WORD_BUSY . GN__WORD_DIRTY)/~GN__WORD_DIRTY/|sets: a page that was written back stays busy
detail/cache/claim.h|/ gn__claim_present(const/,/^}/s/if (k->ahead && (seen .*/if (0)/|a claim ahead pins a page that is there
detail/cache/round.h|s/^	gn__move_all(c, mask, k->victim, &m);/	if (k->step == GN__STEP_FETCH) gn__claim_give(c, k, GN__WORD_VALID);&/|a page is published before it is fetched
detail/cache/round.h|s/gn__sector_dirty_of(c, k->frame), 1)/gn__sector_dirty_of(c, k->frame) \& (0u - gn__sector_dirty_of(c, k->frame)), 1)/|one dirty sector of a page that goes is written
detail/cache/round.h|s/gn__move_of(c, k->page, k->frame, k->owned, 0)/gn__move_of(c, k->page, k->frame, 0xffffffffu, 0)/|a fill fetches over sectors that were written
detail/cache/sector.h|s/if ((before . owned) != 0xffffffffu)/if (0)/|one sector makes the page valid
detail/cache/page.h|/gn__page_written(const/,/^}/s/gn__sector_arrive(.*/;/|overwritten sectors stay in motion|direct, 1 frame: sectors, a writer and a reader of one page
detail/cache/access.h|s/hit = simt_shfl_u32(mask, k.step == GN__STEP_HIT, g.leader)/hit = !simt_ballot(mask, gn__claim_goes_on(\&k)) \&\& simt_shfl_u32(mask, k.step == GN__STEP_HIT, g.leader)/|who covers holds the page while others of its warp wait
detail/cache/round.h|/gn__claim_bypass_cache(const/,/^}/{s/^	gn__claim_drop(c, k);$//;s/k->status = gn__claim_refusal(c, k);/& gn__claim_drop(c, k);/;}|an access around the cache does not keep the page absent
detail/cache/round.h|/gn__claim_bypass_cache(const/,/^}/s/^	gn__claim_drop(c, k);$/	;/|a page that found no frame stays busy|direct, 1 frame: two writers of one page
detail/cache/round.h|/gn__claim_goes_on(const/,/^}/s/!k->bypassed/0/|who finds no frame in a later round keeps the page|direct, 1 frame: two writers of one page
detail/cache/page.h|/gn__page_written(const/,/^}/s/covered, 1);/covered, 0);/|overwritten sectors are not dirty
detail/cache/page.h|/gn__page_written(const/,/^}/{s/^	if (covered) {/	gn__page_unpin(word);&/;s/^	gn__page_unpin(word);$/	;/;}|who overwrites sectors lets the page go before they are valid
detail/cache/round.h|/gn__claim_move(const/,/^}/s/m = gn__move_of(c, k->page, k->frame, k->owned, 0);/{ & gn__sector_arrive(c->sector, k->word, k->frame, k->owned, 0); k->owned = 0; }/|a filled sector is valid before its bytes are there
detail/cache/claim.h|/ gn__claim_filled(const/,/^}/s/gn__sector_give_back(.*/;/|a fill that failed keeps its sector in motion
detail/cache/claim.h|/ gn__claim_filled(const/,/^}/s/gn__page_unpin_after_fence(.*/;/|who could not fill a page keeps its pin
detail/cache/claim.h|/ gn__claim_waits(const/,/^}/s/gn__page_unpin(.*/;/|who has waited too long keeps its pin
detail/cache/claim.h|/ gn__claim_leave(struct/,/^}/s/gn__page_unpin(.*/;/|a claim ahead that has nothing to bring keeps its pin
detail/cache/claim.h|/ gn__claim_sectors(const/,/^}/s/^	if (theirs)$/	if (theirs \&\& !covers)/|who overwrites sectors does not wait for one in motion
detail/cache/claim.h|/ gn__claim_has(const/,/^}/s/!(k->sectors & ~there);/1;/|a slow read takes a page in parts for a whole one
detail/cache/sector.h|/ gn__sector_try_write(const/,/^}/s/if (.owned != missing && missing .*/if (0) {/|a quick overwrite ignores a sector in motion
detail/cache/sector.h|/ gn__sector_try_write(const/,/^}/s/gn__sector_give_back(.*/;/|who cannot overwrite at once keeps sectors in motion|direct, 1 frame: sectors, one that is to be overwritten comes meanwhile
detail/cache/sector.h|/ gn__sector_dirty_of(const/,/^}/s/(uint32_t)(seen >> 32) & (uint32_t)seen/(uint32_t)(seen >> 32)/|sectors in motion are written back
detail/cache/word.h|/ gn__word_validate(uint64_t/,/^}/s/return .*/return 1;/|a read of a page in parts is not validated
detail/cache/fault.h|s/if (gn__word_validate(f.seen, now))/if (1)/|faults: a read is not validated
detail/cache/fault.h|/gn__fault_snapshot(const/,/^}/s/if (!(gn__sector_valid(f.sectors) .*/if (0)/|faults: a sector is read that is not there
detail/cache/fault.h|/ gn__fault_claim(uint64_t/,/^}/s/const uint32_t owned = .*/const uint32_t owned = wanted;/|faults: sectors are taken that another brings
detail/cache/fault.h|/ gn__fault_claim(uint64_t/,/^}/s/if (wanted != sector .*/if (0)/|faults: sectors that are not used stay in motion|direct, 1 frame: by faults, a page is read in order
detail/cache/fault.h|/ gn__fault_absent(const/,/^}/s/if (simt_cas_fenced_dev_u64(word.*/if (0)/|faults: two loaders of one page
detail/cache/fault.h|/ gn__fault_absent(const/,/^}/s/taking = gn__take_frame(.*/simt_store_release_dev_u64(word, GN__WORD_PARTIAL + GN__WORD_PIN + gn__word_next_version(f.seen) + f.frame); & if (taking != GN__TAKEN) simt_store_release_dev_u64(word, GN__WORD_BUSY + made);/|faults: a page is shown before its frame is taken
detail/cache/fault.h|/ gn__fault_absent(const/,/^}/s/^	simt_store_release_dev_u64(word, made);/	;/|faults: a page that found no frame stays busy|direct, 1 frame: by faults, two readers of one page
detail/cache/fault.h|/ gn__fault_publish(const/,/^}/s/gn__sector_reset(.*none, f->owned);/;/|faults: a frame keeps the sector word of the page before
detail/cache/fault.h|/ gn__fault_publish(const/,/^}/{s/none = .*/none = 0;/;s/gn__sector_valid(f->sectors) != none/0/;}|faults: sectors that the page does not have are absent
detail/cache/fault.h|/ gn__fault_publish(const/,/^}/s/simt_store_relaxed_dev_u32(.*/;/|faults: a frame does not know its page
detail/cache/fault.h|/ gn__fault_publish(const/,/^}/s/gn__word_next_version(f->seen)/(f->seen \& GN__WORD_VERSION)/|faults: versions do not count|direct, 1 frame: by faults, a page leaves and comes back
detail/cache/fault.h|/ gn__fault_end(const/,/^}/s/^		gn__sector_arrive(.*/;/;/gn__fault_move(const/,/^}/s/^	ask->lane = owners/	if (f->owned) gn__sector_arrive(p->sector, \&p->word[page], f->frame, f->owned, 0);&/|faults: a sector is valid before its bytes are there
detail/cache/fault.h|/ gn__fault_end(const/,/^}/{s/^	if (f->owned)$/	gn__page_unpin_after_fence(\&p->word[page]);&/;s/^	gn__page_unpin_after_fence(.*$/	;/;}|faults: the page is let go before its sector is valid
detail/cache/fault.h|/ gn__fault_lead(const/,/^}/s/f.owned = claimed & .*/f.owned = claimed;/|faults: a leader takes sectors that another brings
detail/cache/fault.h|/ gn__fault_widened(const/,/^}/s/gn__lowest(\(.*\), simt_popcount(c->idle))/(\1)/|faults: more is claimed than there are lanes to move
detail/cache/fault.h|/ gn__fault_share(const/,/^}/s/return gn__lowest(more, rank + 1).*/return 0;/|faults: what nobody wants yet stays in motion
detail/cache/fault.h|/ gn__fault_move_lines(const/,/^}/s/!done && owned >> mine & 1/!done/|faults: a lane takes an element that was not moved
detail/cache/fault.h|/ gn__fault_move_lines(const/,/^}/s/f->what == GN__FAULT_OWNS .. //|faults: a page that was there stays pinned
detail/cache/fault.h|/ gn__fault_move_lines(const/,/^}/s/^	ask->lane = /	if (f->owned) gn__sector_arrive(p->sector, \&p->word[page], f->frame, f->owned, 0);&/;/gn__fault_end(const/,/^}/s/^		gn__sector_arrive(.*/;/|faults: lines are valid before their bytes are there
detail/cache/ahead.h|s/ .. page >= end//|pages behind the last are fetched ahead
detail/cache/flush.h|s/(f->pinned ? seen : seen & ~GN__WORD_DIRTY)/(seen \& ~GN__WORD_DIRTY)/|a flush cleans a page that is being written
detail/cache/flush.h|/gn__flush_try(const/,/^}/s/gn__word_payload(seen) != f->frame/0/|direct: a flush writes a page that has left the frame
detail/cache/flush.h|s/f->pinned = .*/f->pinned = 0;/|a flush does not see pins
detail/cache/flush.h|s/else if (!f->pinned)/else/|a flush cleans the sectors of a page that is being written
detail/cache/flush.h|s/simt_or_acq_rel_dev_u64(f->word, GN__WORD_DIRTY);/;/|a failed flush cleans the page
detail/cache/flush.h|/Only now the frame stays/{n;s/.*//;}|a flush writes the page that was in the frame before|sets, 2 ways: holds of two, a miss and a flush
detail/cache/flush.h|s/gn__sector_dirty_of(c, f->frame), 1)/gn__sector_dirty_of(c, f->frame) \& (0u - gn__sector_dirty_of(c, f->frame)), 1)/|a flush writes one dirty sector
detail/cache/flush.h|/ gn__clean_ahead(const/,/^}/s/ == 1;/;/|the cleaner writes a page that others hold
detail/cache/move.h|s/m->left = status.code ? 0 : m->left;/m->left = 0;/|of sectors apart only the first are moved
detail/cache/group.h|s/!((first . end) & inside)/1/|parts of sectors count as whole ones
detail/cache/group.h|s/r.touched = gn__sectors(c, first, end);/r.touched = gn__sectors(c, first, first + size);/|of lanes side by side only the first makes its sector dirty
detail/cache/group.h|s/	if (!r->touched)$/	if (!r->touched \&\& simt_lane() == 0)/|of lanes apart only the first makes its sector dirty
detail/cache/round.h|/gn__claim_round(const/,/^}/s/gn__begun_help(c, mask, .*/;/|who waits for a page does not end what others have begun|direct, 2 frames: begun, and the other's page is read first
detail/cache/begun.h|/gn__begun_serve(const/,/^}/s/simt_cas_acquire_dev_u32(&b->state, seen, seen - GN__BEGUN_COMES + GN__BEGUN_LOCKED) ==/seen ==/|two threads end one fetch
detail/cache/begun.h|s/gn__begun_set(b, generation + 1, GN__BEGUN_FREE);/gn__begun_set(b, generation, GN__BEGUN_FREE);/|a ticket does not learn that its page has come|direct, 2 frames: two tickets each
detail/cache/begun.h|s/gn__begun_set(b, generation, GN__BEGUN_FAILED);/gn__begun_set(b, generation + 1, GN__BEGUN_FREE);/|a fetch that was begun and failed counts as done
detail/cache/begun.h|/ gn__begun_end(const/,/^}/s/gn__claim_publish(.*/;/|a fetch that was begun publishes no page|direct, 2 frames: two tickets each
detail/cache/begun.h|/gn__begun_choose(const/,/^}/s/ .. !(waits & 1)//;/gn__begun_choose(const/,/^}/s/return (first .*/return first;/|who waits looks at one fetch only
detail/cache/ticket.h|s/gn__ticket_lets_go(c, k);/;/|a ticket that waits keeps its page busy
detail/cache/ticket.h|/ gn__ticket_lets_go(const/,/^}/s/gn__page_unpin(.*/;/|a ticket that waits for sectors keeps its pin
detail/cache/ticket.h|s/gn__begun_set(&c->begun\[t->at\], t->generation, GN__BEGUN_FREE);/;/|an entry that was not needed stays locked
detail/cache/ticket.h|/ gn__ticket_comes(const/,/^}/s/gn__begun_set(b, t->generation + 1, GN__BEGUN_FREE);/;/|an entry stays after its failure was told
detail/cache/ticket.h|/ gn__ticket_cancel(const/,/^}/s/gn__page_unpin(.*/;/|a ticket that is given up keeps its page|direct, 1 frame: a ticket is given up
END
}

# copy: fresh copies of what is mutated.
copy() {
	rm -rf "$work"
	mkdir -p "$work/grapnel"
	cp -r "$source_dir/include/grapnel/array.h" "$source_dir/include/grapnel/store.h" "$source_dir/include/grapnel/detail" "$work/grapnel"
}

# compile SOURCE OBJECT: with the copies, through the launcher of which CMake is told in the same way, if any.
compile() {
	${CMAKE_C_COMPILER_LAUNCHER:-} "$cc" -std=gnu11 -O0 -w -D_GNU_SOURCE -DSIMT_PREEMPT -I"$work" -I"$source_dir/include" \
		-I"$source_dir/src" -c "$source_dir/tests/model/$1" -o "$2"
}

# build LINK...: the model program from the copies. No mutant changes what the harness includes.
build() {
	compile cache.c "$work/cache.o"
	"$cc" "$work/cache.o" "$harness" -o "$work/program" "$@"
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

# explores [CASE] - do all schedules of a case, or of every case, end well? A case that is not there ends the test.
explores() {
	status=0
	"$work/program" exhaustive "$@" >>"$work/log" 2>&1 || status=$?
	if [ "$status" -eq 2 ]; then
		echo "mutants: $what: there is no case '$*'" >&2
		exit 1
	fi
	return "$status"
}

# passes [CASE]
passes() {
	if [ $# -gt 0 ]; then
		explores "$1"
	else
		"$work/program" random "$runs" >"$work/log" 2>&1 && explores
	fi
}

# Unchanged, the program passes what kills mutants: the random schedules, and the cases that are named. All the others are
# model_cache_exhaustive's.
what=unchanged
copy
compile harness.c "$harness"
build "$@"
mutants >"${work%/}.list"
unchanged() {
	echo "mutants: fails unchanged" >&2
	cat "$work/log" >&2
	exit 1
}
"$work/program" random "$runs" >"$work/log" 2>&1 || unchanged
cut -d '|' -f 4 "${work%/}.list" | sort -u | while read -r case; do
	if [ -n "$case" ]; then explores "$case" || exit 1; fi
done || unchanged

survivors=0
while IFS='|' read -r file expression what case; do
	copy
	break_it "$file" "$expression"
	build "$@"
	if passes ${case:+"$case"}; then
		echo "SURVIVED: $what ($file: $expression)"
		survivors=$((survivors + 1))
	else
		echo "killed: $what"
	fi
done <"${work%/}.list"
exit $((survivors != 0))
