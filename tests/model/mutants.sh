#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Do the model tests notice when the code is wrong? Each mutant is a copy of the sources of queue, log, tier and replica with one thing
# broken by sed; the tests must fail on every one. Orders of memory are no mutants: x86 would not show the difference.
#
#   mutants.sh SOURCE_DIR WORK_DIR CC LINK...   (LINK: library files and flags that a model program needs)
set -eu

source_dir=$1
work=$2
cc=$3
shift 3
runs=${GN_MUTANT_RUNS:-20000}

# What kills it (ring, queue, log, tier, replica and tier_replica: kept seeds and random schedules of that model; nvmeq and nvmeq_commands: unit tests)
# | file | sed expression | what is broken
mutants() {
	cat <<'END'
ring|ring.h|s/if (ahead < 0)/if (0)/|a full or empty ring is not noticed
ring|ring.h|s/ticket + ring->depth)/ticket + 1)/|a slot is not free for the next round
ring|ring.h|s/if (seen == t) {/if (1) {/|a lost race for a ticket counts as won
log|detail/net/log.h|s/ && (int64_t)(limit - tail) >= (int64_t)words; k++/; k++/|a full log is not noticed
log|detail/net/log.h|s/simt_store_relaxed_dev_u64(&log->looking, 0);/;/|who has looked lets nobody else look
log|detail/net/log.h|s/if (seen == tail) {/if (1) {/|a lost race for room counts as won
log|detail/net/log.h|s/r->word\[(r->at + k) . (r->capacity - 1)\] = 0/;/|what was read is not emptied
log|detail/net/log.h|s/r->at += words;/r->at += words; simt_store_release_sys_u64(r->released, r->at);/;s/for (uint32_t k = 0; k < words; k++)/simt_store_release_sys_u64(r->released, r->at + words); simt_relax(); &/|room is given before it is empty
log|detail/net/log.h|s/return r->word\[(r->at + word . lanes + lane)/return r->word[(r->at + word + lane)/|columns are read as rows
log|detail/net/view.h|s/simt_match_any_u64(simt_active(), .*/simt_active();/|messages of different forms lie together
log|detail/net/view.h|s/^	simt_warp_sync(mask);/	;/|messages are handed over before all lanes have written
log|detail/net/view.h|s/lanes . words, &ticket/words, \&ticket/|room for one lane only
queue|detail/queue/completion.h|s/(~((head + k) >> q->depth_log2) . 1)/1/|the phase does not turn over
queue|detail/queue/completion.h|s/(word\[k\] >> 16 . 1) == /1 + /|the phase is not looked at
queue|nvmeq.h|s/cid = (cid + q->depth) & 0xffff;/;/|no generations
queue|detail/queue/completion.h|s/simt_load_relaxed_dev_u32(&s->reap_lock) .. simt_cas_acquire_dev_u32(&s->reap_lock, 0, 1)/0/|two reapers take one completion
queue|detail/queue/completion.h|s/&s->head, head);/\&s->head, first + 1);/|some completions are taken again
queue|nvmeq.h|s/gn_nvmeq_ring(q);$/;/|nobody rings for entries left behind
nvmeq_commands|nvmeq.h|s/if (!gn__nvmeq_serve(q))/if (!gn_nvmeq_reap(q))/|who waits for a slot does not ring
queue|detail/queue/completion.h|s/(count ? q.depth . 4 : 1)/q.depth/|the completion doorbell is not rung when idle
nvmeq|detail/queue/submission.h|s/tail += marked;/tail += marked > 0;/|a winner rings for one only, and stops
nvmeq|detail/queue/submission.h|s/} while (marked == GN__NVMEQ_AT_ONCE);/} while (0);/|a winner stops after one look at the marks
queue|detail/queue/submission.h|s/(mark\[k\] == tail + k + 1)/(mark[k] != tail + k - q->depth)/|the doorbell passes entries that are not filled
nvmeq|detail/queue/pair.h|s/return simt_first_lane(~ready);/return simt_popcount(ready);/|what is ready behind a gap counts
queue|nvmeq.h|s/if (simt_load_relaxed_dev_u32(&s->tail_lock) .. simt_cas_acquire_dev_u32(&s->tail_lock, 0, 1))/if (0)/|two winners at once
queue|detail/queue/completion.h|s/gn__nvmeq_put_back(q, index);/;/|a late completion does not give its slot back
queue|detail/queue/completion.h|/gn__nvmeq_swap_done(const/,/^}/s/uint64_t pending = .*/uint64_t pending = gn__nvmeq_word(gn__nvmeq_cid(*slot), GN__NVMEQ_PENDING, 0);/|completions are matched by slot, not by id
queue|detail/queue/completion.h|s/late .= 1u << k;/late = 1u;/|of a batch the first is looked at again, not the one that was late
queue|detail/queue/completion.h|s/gn__nvmeq_deliver(&q, count, word);/gn__nvmeq_deliver(\&q, 1, word);/|of a batch the first alone is delivered
queue|nvmeq.h|s/word = gn__nvmeq_abandon(q, slot, cid);/word = 0; gn_nvmeq_end(q, cid);/|a command that timed out frees its slot at once
queue|nvmeq.h|s/if (simt_likely(!simt_load_acquire_dev_u32(&q->state->abandoned_writes)))/if (1)/|no write is ever a hazard
nvmeq_commands|nvmeq.h|s/} while (moved .. batches/} while (moved > 0 \&\& batches/|a write does not wait for a thread that reaps
queue|detail/queue/completion.h|s/word >> 17 & GN__NVMEQ_KEPT/0/|the status is dropped
tier|detail/store/tier.h|s/if (locked & 1 .. simt_cas.*/if (0)/|two threads have one set's lock
tier|detail/store/tier.h|/ gn__tier_claim(const/,/^}/s/if (gn__tier_find(.*/if (1) {/|a line that came meanwhile gets a second way
tier|detail/store/tier.h|/ gn__tier_take(const/,/^}/s/(GN__TIER_BUSY . GN__TIER_PINS)/GN__TIER_BUSY/|pins do not keep a line
tier|detail/store/tier.h|/ gn__tier_take(const/,/^}/s/(GN__TIER_BUSY . GN__TIER_PINS)/GN__TIER_PINS/|a line that is moved is taken
tier|detail/store/tier.h|/ gn__tier_take(const/,/^}/s/int dirty = .*/int dirty = 0;/|a dirty line is gone before it is written
tier|detail/store/tier.h|/ gn__tier_pin(const/,/^}/s/ .. seen & GN__TIER_BUSY//|a line is used while it is written
tier|detail/store/tier.h|/ gn__tier_pin(const/,/^}/s/wanted .= GN__TIER_DIRTY/;/|a write does not make the line dirty
tier|detail/store/tier.h|/ gn__tier_publish(const/,/^}/s/word .= GN__TIER_DIRTY/;/|a line that is written whole is clean
tier|detail/store/tier.h|/ gn__tier_publish(const/,/^}/s/status.code ? 0 : word/word/|a line that could not be read is kept
tier|detail/store/tier.h|/ gn__tier_publish(const/,/^}/s/if (!op->whole)/if (0)/|who fills a line holds no pin of it
tier|detail/store/tier.h|/ gn__tier_write_back(const/,/^}/s/(status.code ? GN__TIER_BUSY : /(/|a line that could not be written is clean
tier|detail/store/tier.h|/ gn__tier_clean_look(const/,/^}/s/(GN__TIER_BUSY . GN__TIER_PINS)/GN__TIER_BUSY/|a flush writes a line that is being changed
tier|detail/store/tier.h|/ gn__tier_clean_look(const/,/^}/s/(GN__TIER_BUSY . GN__TIER_PINS)/0/|a flush writes a line that another writes
tier|detail/store/tier.h|/ gn__tier_search(const/,/^}/s/if (!op->writes)/if (1)/|a write that finds no way is lost
tier|detail/store/tier.h|/ gn__tier_is_stuck(const/,/^}/s/return 0;/continue;/|a write fails before it has tried each way
replica|detail/store/replica_write.h|/ gn__replica_repeats(const/,/^}/s/if (simt_unlikely((now .*/if (0)/|a write that began before a member comes back is not done again
replica|detail/store/replica_write.h|/ gn__replica_crossed(const/,/^}/s/return 1;/return 0;/|a write that a copy crossed is not done again
replica|detail/store/replica_write.h|/ gn__turn_at(uint64_t/,/^}/s/return .*/return turn \& 0;/|the windows of one member are taken for those of the next
replica|detail/store/replica_write.h|/ gn__replica_gets(const/,/^}/s/ & ~gn__turn_back(r->turn)//|the member that comes back is not written
replica|detail/store/replica_write.h|/ gn__replica_gets_few(const/,/^}/s/return r->at > .*/return 1;/|a part of a block is written over what was not copied yet
replica|detail/store/replica.h|/ gn__replica_misses(const/,/^}/s/if (bad & gn__turn_back.*/if (0)/|a member that missed a write comes back all the same
replica|detail/store/replica.h|/ gn__replica_misses(const/,/^}/s/ .. !(ok & ~stale))/)/|a member comes back that alone has a write that failed
replica|detail/store/replica_write.h|/ gn__replica_written(const/,/^}/s/(r->bad .. (uint32_t)r->turn)/r->bad/|what a stale member lacks is not logged
replica|detail/store/replica.h|/ gn__replica_join(const/,/^}/s/all & ~(1u << simt_first_lane(all & ~before))/all/|no member is left
replica|detail/store/replica_write.h|/ gn__replica_write_few(const/,/^}/s/} while (.*/} while (0);/|a write of a part of a block is not done again
replica|detail/store/replica_write.h|/ gn__replica_gets_few(const/,/^}/s/return r->at > .*/return 0;/|the member that comes back never gets a part of a block
replica|store/set/back.h|/ gn__back_window(const/,/^}/{/if (!simt_lane())/{N;/R2/d};s/^	if (simt_ballot(mask, c->bytes.*/	gn__back_moves_to(s, 2 * window + 1);\n&/}|a copy looks what is missed before it says that it is under way
replica|store/set/back.h|/ gn__back_news(const/,/^}/s/news->stale = .*/news->stale = (uint32_t)(s->health->turn += news->bad \& ~(uint32_t)s->health->turn);/|the host's failure does not cancel a return
replica|store/set/back.h|/ gn__back_window(const/,/^}/s/gn__back_moves_to(s, 2 . window + 1);/;/|nobody sees that a copy is under way
replica|store/set/back.h|/ gn__back_begins(const/,/^}/s/(before >> GN__TURN_COUNT) + 1/before >> GN__TURN_COUNT/|nobody sees that a member comes back
replica|store/set/back.h|/ gn__back_ends(const/,/^}/s/if (gn__turn_back(before) .*/if (0)/|a member is read that is out of use again
replica|store/set/back.h|/ gn__back_copies(const/,/^}/s/wants = wants && !read.code;/;/|what could not be read is copied
replica|store/set/back.h|/ gn__back_span(const/,/^}/s/from = from < at ? from : at;/from = at;/|of a piece the last region alone is copied
tier_replica|detail/store/replica_write.h|/ gn__replica_crossed(const/,/^}/s/return 1;/return 0;/|a line that leaves and that a copy crossed is not written again
tier_replica|detail/store/tier.h|/ gn__tier_pin(const/,/^}/s/ .. seen & GN__TIER_BUSY//|a line changes while it is written to one member after the other
queue|nvmeq.c|s/k + 1 < depth; k++/k < depth; k++/;s/start + depth - 1;/start + depth;/|as many slots as entries
END
}

# copy: fresh copies of what is mutated.
copy() {
	rm -rf "$work"
	mkdir -p "$work/grapnel/detail/net" "$work/grapnel/detail/queue" "$work/grapnel/detail/store"
	cp "$source_dir/include/grapnel/ring.h" "$source_dir/include/grapnel/nvmeq.h" "$work/grapnel"
	cp "$source_dir/include/grapnel/detail/net/"*.h "$work/grapnel/detail/net"
	cp "$source_dir/include/grapnel/detail/queue/"*.h "$work/grapnel/detail/queue"
	cp "$source_dir/include/grapnel/detail/store/"*.h "$work/grapnel/detail/store"
	cp "$source_dir/src/queue/nvmeq.c" "$work"
	mkdir -p "$work/store/set"
	cp "$source_dir/src/store/set/back.h" "$work/store/set"
	mkdir "$work/net"
}

# compile SOURCE [FLAG]: one more of $objects, which lie in $work, with the copies; by the launcher that the environment has for CMake.
compile() {
	object=$(basename "$(dirname "$1")")-$(basename "$1" .c).o
	${CMAKE_C_COMPILER_LAUNCHER:-} "$cc" -std=gnu11 -O1 -w -D_GNU_SOURCE -I"$work" -I"$source_dir/include" -I"$source_dir/src" \
		${2:+"$2"} -c "$1" -o "$work/$object"
	objects="$objects $object"
}

# build KILLER LINK...: its program from the copies.
build() {
	killer=$1
	shift
	preempt=-DSIMT_PREEMPT
	objects=
	case $killer in
	nvmeq*)
		preempt=
		compile "$source_dir/tests/unit/test_$killer.c"
		set -- "$@" -lcmocka
		;;
	*)
		compile "$source_dir/tests/model/$killer.c" $preempt
		compile "$source_dir/tests/model/harness.c" $preempt
		;;
	esac
	compile "$work/nvmeq.c" $preempt
	compile "$source_dir/src/queue/ring.c" $preempt
	# shellcheck disable=SC2086 # a list of words
	(cd "$work" && "$cc" $objects "$@" -o program)
}

# break_it FILE EXPRESSION: fails if there was nothing to break.
break_it() {
	case $1 in
	store/*) file=$work/$1 ;;
	*.h) file=$work/grapnel/$1 ;;
	*) file=$work/$1 ;;
	esac
	sed "$2" "$file" >"$file.broken"
	if cmp -s "$file" "$file.broken"; then
		echo "mutants: $1 has changed, this does nothing: $2" >&2
		exit 1
	fi
	mv "$file.broken" "$file"
}

# passes SECONDS: one that hangs does not pass. So many seconds of a processor, which on a busy machine are not those of a clock; who
# hangs asleep uses none, and has twenty times as many.
passes() {
	case $killer in
	nvmeq*) ;;
	*) timeout $((20 * $1)) prlimit --cpu="$1" "$work/program" kept "$source_dir/tests/model/seeds.txt" >"$work/log" 2>&1 || return 1 ;;
	esac
	timeout $((20 * $1)) prlimit --cpu="$1" "$work/program" random "$runs" >"$work/log" 2>&1
}

for killer in ring queue log tier replica tier_replica nvmeq nvmeq_commands; do
	copy
	build $killer "$@"
	passes 60 || { echo "mutants: $killer fails unchanged" >&2; cat "$work/log" >&2; exit 1; }
done

survivors=0
mutants >"${work%/}.list"
while IFS='|' read -r killer file expression what; do
	copy
	break_it "$file" "$expression"
	build "$killer" "$@"
	if passes 8; then
		echo "SURVIVED: $what ($file: $expression)"
		survivors=$((survivors + 1))
	else
		echo "killed: $what"
	fi
done <"${work%/}.list"
exit $((survivors != 0))
