/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of the collectives: the lanes of a warp are in up to eight groups, and each group exchanges values
 * with a mask of its own: all groups at one place, in branches, in loops of different lengths, and while
 * groups of one warp wait for a lock that another holds. What they get is compared with what each lane works
 * out by itself.
 */
#include "../model/draw.h"
#include "stress.h"

#include <string.h>

enum kind { BALLOT, OR, MATCH, SHUFFLE, ACTIVE, COPY, ASKED, LATE, KINDS };
enum { ROOM = 512, PIECE = 16, MOST_GROUPS = 8, MOST_TURNS = 6 };

struct view {
	uint64_t seed;
	uint64_t patience_ns;
	uint32_t steps;
	uint32_t *wrong; /* [KINDS] */
	uint32_t *lock;  /* [warps] */
	uint64_t *from;  /* [threads][ROOM / 8] */
	uint64_t *to;    /* the same */
};

SIMT_FN void wrong(const struct view *v, enum kind kind, int is)
{
	if (is)
		simt_add_relaxed_dev_u32(&v->wrong[kind], 1);
}

SIMT_FN uint64_t warp_of(void)
{
	return simt_global_thread() / simt_warp_width();
}

/* A number that every lane of a warp can work out, of a lane and a turn. */
SIMT_FN uint64_t number_of(const struct view *v, uint32_t lane, uint32_t turn)
{
	return draw_mix(v->seed + warp_of() * 1000003 + lane * 8191 + (uint64_t)turn * 131071);
}

/* The lanes of the caller's group in this step. */
SIMT_FN uint32_t group_mask(const struct view *v, uint32_t groups, uint32_t step)
{
	const uint32_t mine = (uint32_t)(number_of(v, simt_lane(), step) % groups);
	uint32_t mask = 0;

	for (uint32_t lane = 0; lane < simt_warp_width(); lane++)
		mask |= (uint32_t)(number_of(v, lane, step) % groups == mine) << lane;
	return mask;
}

/* ---- one exchange of each kind ---- */

/* What a lane brings: few different values, so that some are equal. */
SIMT_FN uint32_t brought(const struct view *v, uint32_t lane, uint32_t turn)
{
	return (uint32_t)(number_of(v, lane, turn) >> 32) % 5;
}

SIMT_FN void exchange(const struct view *v, uint32_t mask, uint32_t turn)
{
	const uint32_t me = simt_lane(), mine = brought(v, me, turn);
	uint32_t votes = 0, any = 0, equal = 0, source = simt_first_lane(mask);

	for (uint32_t left = mask; left; left &= left - 1) {
		const uint32_t lane = simt_first_lane(left), value = brought(v, lane, turn);

		votes |= (uint32_t)(value > 2) << lane;
		any |= 1u << (lane + value) % 32;
		equal |= (uint32_t)(value == mine) << lane;
		source = number_of(v, me, turn) >> lane & 1 ? lane : source;
	}
	wrong(v, BALLOT, simt_ballot(mask, mine > 2) != votes);
	wrong(v, OR, simt_or_u32(mask, 1u << (me + mine) % 32) != any);
	wrong(v, MATCH, simt_match_any_u64(mask, (uint64_t)mine << 40) != equal);
	wrong(v, MATCH, simt_match_small(mask, mine, 3) != equal);
	wrong(v, SHUFFLE,
	      simt_shfl_u32(mask, mine << 8 | me, source) != (brought(v, source, turn) << 8 | source));
	wrong(v, SHUFFLE,
	      simt_shfl_u64(mask, (uint64_t)mine << 40 | me, source) !=
	          ((uint64_t)brought(v, source, turn) << 40 | source));
	simt_warp_sync(mask);
}

/* ---- ways to come to it ---- */

/* Groups of one parity in each branch, by turns in a different order. */
SIMT_FN void in_branches(const struct view *v, uint32_t mask, uint32_t step)
{
	if (simt_first_lane(mask) & 1) {
		for (uint32_t k = 0; k < step % 3; k++)
			simt_relax();
		exchange(v, mask, step);
	} else {
		exchange(v, mask, step + 1);
		exchange(v, mask, step + 2);
	}
}

/* Rounds, until no lane of the group wants another: as many as its most eager lane wants. */
SIMT_FN void in_rounds(const struct view *v, uint32_t mask, uint32_t step)
{
	uint32_t left = brought(v, simt_lane(), step) + 1, most = 0, rounds = 0;

	for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
		const uint32_t wants = brought(v, simt_first_lane(lanes), step) + 1;

		most = wants > most ? wants : most;
	}
	while (simt_ballot(mask, left != 0)) {
		exchange(v, mask, step + rounds);
		left -= left != 0;
		rounds++;
	}
	wrong(v, BALLOT, rounds != most);
}

/* Groups take a lock of their warp, one after the other; the others ask again and again, in rounds. */
SIMT_FN void in_turns(const struct view *v, uint32_t mask, uint32_t step)
{
	const uint64_t deadline = simt_clock_ns() + v->patience_ns;
	const uint32_t leader = simt_first_lane(mask);
	uint32_t *lock = &v->lock[warp_of()], rests = 0;
	int done = 0;

	simt_warp_sync(mask); /* who takes the lock waits for nobody who is still to come */
	do {
		int got = simt_lane() == leader && !done && !simt_cas_acquire_dev_u32(lock, 0, 1);

		got = (int)simt_shfl_u32(mask, (uint32_t)got, leader);
		if (got) {
			exchange(v, mask, step);
			if (simt_lane() == leader)
				simt_store_release_dev_u32(lock, 0);
			done = 1;
		} else if (simt_clock_ns() > deadline) {
			wrong(v, LATE, 1);
			done = 1;
		} else {
			simt_backoff(rests++, 3);
		}
	} while (simt_ballot(mask, !done));
}

/* Those that are together say so, whoever they are, and in whichever step. */
SIMT_FN void whoever_is_here(const struct view *v, uint32_t step)
{
	const uint32_t lane = simt_lane();
	uint32_t mask;

	for (uint32_t k = 0; k < brought(v, lane, step); k++)
		simt_relax();
	mask = simt_active();
	wrong(v, ACTIVE,
	      !(mask >> lane & 1) || simt_ballot(mask, 1) != mask || simt_match_any_u64(mask, mask) != mask);
	exchange(v, mask, simt_shfl_u32(mask, step, simt_first_lane(mask)));
}

/* A function with a loop, as the search of a table is: it reads `many` words, and returns `value`. */
SIMT_NOINLINE_FN uint32_t look_through(const uint64_t *words, uint32_t many, uint32_t value)
{
	uint32_t zeros = 0;

	for (uint32_t k = 0; k < many; k++)
		zeros += simt_load_relaxed_dev_u64(&words[k]) == 0;
	return value + zeros;
}

/*
 * The first lane of each group brings a value, sometimes from a loop; the others wait for it. Other lanes of
 * the warp do the same a little later, by a mask of their own. The waiting lanes must not pass with these by
 * the wrong mask.
 */
SIMT_FN void first_ones_bring(const struct view *v, uint32_t step)
{
	const uint32_t me = simt_lane();

	for (uint32_t turn = step; turn < step + MOST_TURNS; turn++) {
		uint32_t mask, leader, got = 0;

		if (number_of(v, me, turn) >> 20 & 3)
			look_through(v->from, (uint32_t)(number_of(v, me, turn) >> 24) % 3, 0);
		mask = simt_active();
		leader = simt_first_lane(simt_match_any_u64(mask, brought(v, me, turn)));
		if (me == leader) {
			got = brought(v, me, turn);
			if (number_of(v, me, turn) >> 16 & 1)
				got = SIMT_COLD(look_through)(
				    v->from, (uint32_t)(number_of(v, me, turn) >> 28) % 8, got);
		}
		got = simt_shfl_u32(mask, got, leader);
		wrong(v, SHUFFLE, got != brought(v, me, turn));
		wrong(v, BALLOT, !(simt_ballot(mask, me == leader) >> leader & 1));
	}
}

/* ---- copies ---- */

SIMT_FN uint64_t word_of(const struct view *v, uint64_t k)
{
	return draw_mix(v->seed ^ k * 0x9e3779b97f4a7c15u);
}

/* How many bytes a lane copies; 0: none. */
SIMT_FN uint32_t run_of(const struct view *v, uint32_t lane, uint32_t turn)
{
	const uint64_t number = number_of(v, lane, turn);

	return number >> 60 < 5 ? 0 : (uint32_t)(1 + (number >> 20) % (ROOM / PIECE - 1)) * PIECE;
}

/* A lane's run is there, and nothing behind it was touched. */
SIMT_FN void check_run(const struct view *v, uint64_t *to, uint64_t first, uint32_t bytes, uint64_t before)
{
	for (uint32_t k = 0; k < ROOM / 8; k++)
		wrong(v, COPY, to[k] != (k < bytes / 8 ? word_of(v, first + k) : before));
}

SIMT_FN void copy_runs(const struct view *v, uint32_t mask, uint32_t step, int asks)
{
	const uint64_t first = simt_global_thread() * (ROOM / 8);
	const uint32_t me = simt_lane(), bytes = run_of(v, me, step), turn = (uint32_t)(step * MOST_TURNS);
	struct simt__element ask = {SIMT_NO_LANE, 0, 8, {0, 0}};
	uint64_t *to = v->to + first;
	uint32_t wants = 0;

	for (uint32_t left = mask; left; left &= left - 1)
		wants |= (uint32_t)(run_of(v, simt_first_lane(left), step) != 0) << simt_first_lane(left);
	for (uint32_t k = 0; k < ROOM / 8; k++)
		to[k] = turn;
	for (uint32_t left = wants; left; left &= left - 1)
		if (number_of(v, me, turn) >> simt_first_lane(left) & 1)
			ask.lane = simt_first_lane(left);
	if (ask.lane != SIMT_NO_LANE)
		ask.at = (uint32_t)number_of(v, me, turn + 1) % (run_of(v, ask.lane, step) / 8) * 8;
	simt_warp_sync(mask);
	if (asks)
		ask = simt__copy_element(mask, wants, to, v->from + first, bytes, ask);
	else
		simt_copy_each(mask, wants, to, v->from + first, bytes);
	simt_warp_sync(mask);
	wrong(v, ASKED,
	      asks && ask.lane != SIMT_NO_LANE &&
	          ask.bits[0] != word_of(v, first + ((uint64_t)ask.lane - me) * (ROOM / 8) + ask.at / 8));
	check_run(v, to, first, bytes, turn);
	simt_warp_sync(mask);
}

/* ---- a thread ---- */

SIMT_FN void crowd(const struct view *v)
{
	for (uint32_t step = 0; step < v->steps; step++) {
		const uint64_t plan = number_of(v, 32, step); /* the same for all lanes of a warp */
		const uint32_t groups = 1 + (uint32_t)(plan >> 8) % MOST_GROUPS;
		const uint32_t mask = plan >> 40 & 7 ? group_mask(v, groups, step) : 1u << simt_lane();

		switch (plan % 8) {
		case 0: exchange(v, mask, step); break;
		case 1: in_branches(v, mask, step); break;
		case 2: in_rounds(v, mask, step); break;
		case 3: in_turns(v, mask, step); break;
		case 4: whoever_is_here(v, step); break;
		case 5: copy_runs(v, mask, step, 0); break;
		case 6: first_ones_bring(v, step); break;
		default: copy_runs(v, mask, step, 1);
		}
	}
}
SIMT_KERNEL(crowd, struct view)

/* ---- host ---- */

static int begin(struct stress *s, struct view *v, uint64_t threads)
{
	const uint64_t words = threads * (ROOM / 8);

	v->wrong = (uint32_t *)simt_alloc(s->machine, KINDS * 4, SIMT_DEVICE, NULL);
	v->lock = (uint32_t *)simt_alloc(s->machine, threads * 4, SIMT_DEVICE, NULL);
	v->from = (uint64_t *)simt_alloc(s->machine, words * 8, SIMT_PINNED, NULL);
	v->to = (uint64_t *)simt_alloc(s->machine, words * 8, SIMT_DEVICE, NULL);
	if (!v->wrong || !v->lock || !v->from || !v->to)
		return stress_wrong("no memory");
	for (uint64_t k = 0; k < words; k++)
		v->from[k] = word_of(v, k);
	return 0;
}

static void end(struct stress *s, struct view *v)
{
	simt_free(s->machine, v->wrong);
	simt_free(s->machine, v->lock);
	simt_free(s->machine, v->from);
	simt_free(s->machine, v->to);
}

static int check(struct stress *s, const struct view *v)
{
	static const char *const name[KINDS] = {"ballots",
	                                        "ors",
	                                        "matches",
	                                        "shuffles",
	                                        "simt_active",
	                                        "copies",
	                                        "elements that were asked for",
	                                        "waits for a lock without an end"};

	uint32_t many[KINDS];

	if (simt_move(s->machine, many, v->wrong, sizeof many, NULL))
		return stress_wrong("cannot look at the result");
	for (int k = 0; k < KINDS; k++)
		if (many[k])
			return stress_wrong("%s: %u wrong", name[k], many[k]);
	return 0;
}

static int collectives_round(struct stress *s)
{
	uint64_t random = s->seed;
	const struct simt_grid grid = stress_grid(s, 64u << draw_below(&random, s->info.is_cuda ? 9 : 4));
	const uint64_t threads = (uint64_t)grid.blocks * grid.block_threads;
	struct view v;
	int bad;

	memset(&v, 0, sizeof v);
	v.seed = draw(&random);
	v.steps = s->info.is_cuda ? 200 : 20;
	v.patience_ns = stress_patience_ns(s);
	bad = begin(s, &v, threads) || stress_run(s, &crowd_kernel, grid, &v) || check(s, &v);
	s->operations += threads * v.steps;
	end(s, &v);
	return bad;
}

int main(int argc, char **argv)
{
	return stress_main(argc, argv, "collectives", collectives_round);
}
