/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvmeq.pml - the protocol of include/grapnel/nvmeq.h with every interleaving of its atomic steps.
 *
 * USERS users send OPS commands each through a queue of DEPTH entries to a controller that completes them in any order,
 * at any time, and DUPS of them twice. Of all waits, PATIENCE may time out; when is up to Spin. What must hold:
 *   - the completion that a user gets is its own command's (tag);
 *   - an entry is not written before its last command was fetched, nor fetched before it was written;
 *   - never more than DEPTH - 1 commands are outstanding;
 *   - everybody ends: Spin reports a state in which somebody waits for what nobody will do. So that it can, a poll
 *     that would change nothing blocks instead; of polls that take a lock for nothing, IDLE are tried.
 *   - in the end a visitor, who only waits for a slot, finds all of them.
 *
 * A reaper takes up to BATCH completions: it looks at them one by one, then swaps the words of their slots in any order,
 * as relaxed swaps may be done, then looks at those whose command did not wait.
 *
 * Spin knows no weak memory. What a fence is for stands here as what a thread knows: the bytes that a relaxed load has
 * announced are known to it behind the next fence, and it passes on what it knew at its last fence. A tag stands for
 * the data of a command, and `door_knows` for the entries that the doorbell passes on.
 *
 * Simpler than the code: the ring of free slots is a channel (model_ring proves the ring); the second look at a slot, a
 * load with a compare-and-swap, is one step, and so are accesses of which nobody can see the first without the second;
 * users, who are all alike, begin in order.
 *
 * Mutants, each of which Spin must refuse: NO_PHASE, NO_GENERATION, NO_REAP_LOCK, WAIT_NO_RING, BEGIN_NO_RING, FREE_EARLY,
 * ALL_SLOTS, NO_LOCK; of batches FIRST_ONLY, LATE_FORGOTTEN, GAP_PASSED; of fences REAP_NO_FENCE, TAIL_NO_FENCE,
 * TAIL_FENCE_FIRST.
 */
#ifndef USERS
#define USERS 2
#endif
#ifndef DEPTH
#define DEPTH 2
#endif
#ifndef OPS
#define OPS 2
#endif
#ifndef PATIENCE
#define PATIENCE 1
#endif
#ifndef DUPS
#define DUPS 1
#endif
#ifndef IDLE
#define IDLE 1
#endif
#ifndef BATCH
#define BATCH 2
#endif

/* Tickets wrap at a multiple of two rounds, after the second command; a stale value must not come round in one run. */
#define MOD (2 * DEPTH * (1 + (USERS * OPS + DUPS) / (2 * DEPTH)))
#define START (MOD - 2)
/* More generations than commands: what a wrapped generation would do is known and bounded by design. */
#define GENERATIONS (USERS * OPS + 1)
#define INDEX(cid) ((cid) % DEPTH)
#define NEXT(x) (((x) + 1) % MOD)
/* The signed comparison of the code, on MOD numbers: the tail has not passed ticket t. */
#define BEHIND(t) (((tail + MOD - NEXT(t)) % MOD) >= MOD / 2)
/* The last ticket before START that used entry i. */
#define LAST(i) (START - 1 - (START - 1 - (i)) % DEPTH)
#define PHASE(t) (1 - ((t) / DEPTH) % 2)
#ifdef ALL_SLOTS
#define SLOTS DEPTH
#else
#define SLOTS (DEPTH - 1)
#endif

mtype = { IDLE_SLOT, PENDING, DONE, ABANDONED };

/* The queues and doorbells. */
byte sq_cid[DEPTH], sq_tag[DEPTH], cq_cid[DEPTH], cq_tag[DEPTH];
bit cq_phase[DEPTH];
byte sq_doorbell = START % DEPTH, cq_doorbell = START % DEPTH;
byte door_knows = START % DEPTH;

/* What the users share. */
byte ticket = START, tail = START, head = START, rung = START;
bit tail_lock, head_lock, reap_lock;
byte mark[DEPTH];
byte slot_cid[DEPTH], slot_tag[DEPTH];
mtype slot_state[DEPTH];
chan free = [DEPTH] of { byte };
byte abandoned;

/* Bounds, and what is only there to be checked. */
byte patience = PATIENCE, idle = IDLE, started, finished;
bit unfetched[DEPTH], filled[DEPTH];

#define RINGABLE (!tail_lock && mark[tail % DEPTH] == NEXT(tail))
#define ARRIVED (cq_phase[head % DEPTH] == PHASE(head))
#define HEAD_RINGABLE (head != rung && !head_lock)
#define REAPABLE (!reap_lock && (ARRIVED || HEAD_RINGABLE))

/* gn_nvmeq_ring */
inline ring()
{
	if
	:: atomic {
#ifdef NO_LOCK
		true
#else
		tail_lock == 0
#endif
		-> tail_lock = 1; n = tail
	   };
	   do
	   :: mark[n % DEPTH] == NEXT(n) -> n = NEXT(n)
#ifdef GAP_PASSED
	   :: mark[n % DEPTH] != NEXT(n) && mark[NEXT(n) % DEPTH] == NEXT(NEXT(n)) -> n = NEXT(NEXT(n))
#endif
	   :: else -> break
	   od;
	   if
	   :: n != tail ->
		atomic {
#ifdef TAIL_NO_FENCE
#elif defined(TAIL_FENCE_FIRST)
			door_knows = tail % DEPTH;
#else
			door_knows = n % DEPTH;
#endif
			tail = n; sq_doorbell = n % DEPTH
		}
	   :: else
	   fi;
	   atomic { tail_lock = 0; n = 0 }
	:: else
	fi
}

/* gn__nvmeq_ring_head */
inline ring_head()
{
	if
	:: atomic { head_lock == 0 -> head_lock = 1; n = head };
	   atomic { rung = n; cq_doorbell = n % DEPTH };
	   atomic { head_lock = 0; n = 0 }
	:: else
	fi
}

/* gn__nvmeq_swap_done of the k-th; its data are passed on if they are known */
inline swap_done(k)
{
	atomic {
		if
		:: slot_cid[INDEX(cid[k])] == cid[k] && slot_state[INDEX(cid[k])] == PENDING ->
			slot_state[INDEX(cid[k])] = DONE; slot_tag[INDEX(cid[k])] = tag[k]; cid[k] = 0
		:: else -> late[k] = 1
		fi;
		tag[k] = 0
	}
}

/* gn__nvmeq_deliver_late of the k-th; the slot comes back a step later */
inline deliver_late(k)
{
	if
	:: late[k] ->
		atomic {
			late[k] = 0;
			if
#ifdef LATE_FORGOTTEN
			:: true -> cid[k] = 0
#endif
			:: slot_cid[INDEX(cid[k])] == cid[k] && slot_state[INDEX(cid[k])] == ABANDONED ->
				slot_state[INDEX(cid[k])] = IDLE_SLOT; back = 1; assert(abandoned > 0); abandoned--
			:: else -> cid[k] = 0 /* a stray */
			fi
		};
		if
		:: atomic { back -> free!INDEX(cid[k]); cid[k] = 0; back = 0 }
		:: else
		fi
	:: else
	fi
}

/* gn__nvmeq_arrived: the entries that are there; h counts, seen of them are in cid and tag */
inline look()
{
	do
	:: atomic {
		seen < BATCH &&
#ifdef NO_PHASE
		true
#else
		cq_phase[h % DEPTH] == PHASE(h)
#endif
		-> cid[seen] = cq_cid[h % DEPTH];
#ifndef REAP_NO_FENCE
		tag[seen] = cq_tag[h % DEPTH];
#endif
		h = NEXT(h); seen++
	   }
	:: seen > 0 -> break /* the others came when it had looked */
	:: else -> break
	od
}

/* gn__nvmeq_reap_some */
inline reap()
{
	if
	:: atomic {
#ifdef NO_REAP_LOCK
		true
#else
		reap_lock == 0
#endif
		-> reap_lock = 1; h = head
	   };
	   look();
	   if
#if BATCH > 1
	   :: seen == 2 ->
#ifdef FIRST_ONLY
		swap_done(0); atomic { cid[1] = 0; tag[1] = 0 };
#else
		if
		:: swap_done(0); swap_done(1)
		:: cid[0] != cid[1] -> swap_done(1); swap_done(0)
		fi;
#endif
		deliver_late(0); deliver_late(1)
#endif
	   :: seen == 1 -> swap_done(0); deliver_late(0)
	   :: seen == 0
	   fi;
	   if
	   :: seen > 0 -> atomic { head = h; seen = 0 };
	      if
	      :: HEAD_RINGABLE -> ring_head()
	      :: true /* fewer than a quarter of the queue */
	      fi
	   :: else ->
	      if
	      :: HEAD_RINGABLE -> ring_head()
	      :: else
	      fi
	   fi;
	   atomic { reap_lock = 0; h = 0 }
	:: else
	fi
}

/* What a thread does that waits for a slot. */
#ifdef BEGIN_NO_RING
#define SERVE :: REAPABLE -> reap()
#else
#define SERVE :: REAPABLE -> reap() :: tail != ticket && RINGABLE -> ring()
#endif

proctype user(byte me)
{
	byte k, mine, t;             /* this command: number, id, ticket */
	byte n, h, seen, cid[BATCH], tag[BATCH]; /* inside ring and reap */
	bit late[BATCH], back;

	do
	:: k < OPS ->
		/* begin */
		do
		:: atomic {
			started >= me && nempty(free) ->
			if
			:: started == me -> started++
			:: else
			fi;
			free?mine;
#ifdef NO_GENERATION
			mine = slot_cid[mine];
#else
			mine = (slot_cid[mine] + DEPTH) % (GENERATIONS * DEPTH);
#endif
			slot_cid[INDEX(mine)] = mine; slot_state[INDEX(mine)] = IDLE_SLOT
		   };
		   break
		SERVE
		od;
		/* post */
		atomic {
			slot_state[INDEX(mine)] = PENDING;
			t = ticket; ticket = NEXT(ticket);
			assert(!unfetched[t % DEPTH]);
			unfetched[t % DEPTH] = 1;
			sq_cid[t % DEPTH] = mine; sq_tag[t % DEPTH] = me * OPS + k + 1
		};
		atomic { filled[t % DEPTH] = 1; mark[t % DEPTH] = NEXT(t) };
		ring();
		/* wait */
		do
		:: slot_state[INDEX(mine)] == DONE ->
			atomic {
				assert(slot_cid[INDEX(mine)] == mine);
				assert(slot_tag[INDEX(mine)] == me * OPS + k + 1);
				slot_tag[INDEX(mine)] = 0;
				free!INDEX(mine) /* end */
			};
			break
#ifndef WAIT_NO_RING
		:: slot_state[INDEX(mine)] != DONE && BEHIND(t) && RINGABLE -> ring()
		:: atomic { slot_state[INDEX(mine)] != DONE && BEHIND(t) && idle > 0 -> idle-- }; ring()
#endif
		:: slot_state[INDEX(mine)] != DONE && REAPABLE -> reap()
		:: atomic { slot_state[INDEX(mine)] == PENDING && patience > 0 ->
			patience--;
			slot_state[INDEX(mine)] = ABANDONED; abandoned++
#ifdef FREE_EARLY
			; free!INDEX(mine)
#endif
		   };
		   break
		od;
		atomic { k++; mine = 0; t = 0 }
	:: else -> break
	od;
	finished++
}

/* Comes when all users have gone, and waits for slots. */
proctype visitor()
{
	byte n, h, seen, cid[BATCH], tag[BATCH];
	bit late[BATCH], back;

	finished == USERS;
	do
	:: len(free) == SLOTS -> break
	SERVE
	od;
	assert(abandoned == 0);
	assert(tail == ticket);
	finished++
}

/* NVMe 2.0, 3.3: fetches in order, completes in any. */
active proctype controller()
{
	byte sq_head = START % DEPTH, cq_tail = START % DEPTH, outstanding, c, i;
	bit phase = PHASE(START);
	bit out[DEPTH];
	byte out_cid[DEPTH], out_tag[DEPTH];
	byte dups = DUPS, dup_cid, dup_tag;
	bit dup;

end:	do
	:: atomic {
		sq_head != sq_doorbell ->
		c = sq_cid[sq_head];
		assert(unfetched[sq_head] && filled[sq_head]);
		assert(door_knows == sq_doorbell);
		assert(slot_cid[INDEX(c)] == c);
		assert(slot_state[INDEX(c)] == PENDING || slot_state[INDEX(c)] == ABANDONED);
		assert(!out[INDEX(c)]);
		unfetched[sq_head] = 0; filled[sq_head] = 0;
		out[INDEX(c)] = 1; out_cid[INDEX(c)] = c; out_tag[INDEX(c)] = sq_tag[sq_head];
		sq_head = (sq_head + 1) % DEPTH;
		outstanding++;
		assert(outstanding <= DEPTH - 1);
		c = 0
	   }
	:: atomic {
		(cq_tail + 1) % DEPTH != cq_doorbell && (outstanding || dup) ->
		if
		:: dup -> cq_cid[cq_tail] = dup_cid; cq_tag[cq_tail] = dup_tag; dup = 0; dup_cid = 0; dup_tag = 0
		:: outstanding ->
			if
			:: out[0] -> i = 0
			:: out[1] -> i = 1
#if DEPTH > 2
			:: out[2] -> i = 2
			:: out[3] -> i = 3
#endif
			fi;
			cq_cid[cq_tail] = out_cid[i]; cq_tag[cq_tail] = out_tag[i];
			out[i] = 0; out_cid[i] = 0; out_tag[i] = 0;
			outstanding--;
			i = 0;
			if
			:: dups > 0 && !dup -> dups--; dup = 1; dup_cid = cq_cid[cq_tail]; dup_tag = cq_tag[cq_tail]
			:: true
			fi
		fi;
		cq_phase[cq_tail] = phase;
		cq_tail = (cq_tail + 1) % DEPTH;
		if
		:: cq_tail == 0 -> phase = 1 - phase
		:: else
		fi
	   }
	od
}

init {
	byte i;

	atomic {
		for (i : 0 .. DEPTH - 1) {
			slot_cid[i] = i;
			slot_state[i] = IDLE_SLOT;
			mark[i] = NEXT(LAST(i));
			cq_phase[i] = PHASE(LAST(i))
		}
		for (i : 0 .. SLOTS - 1) {
			free!i
		}
		for (i : 0 .. USERS - 1) {
			run user(i)
		}
		run visitor();
		i = 0
	}
}

ltl everybody_ends { <> (finished == USERS + 1) }
