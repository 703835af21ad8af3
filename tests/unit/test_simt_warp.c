/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives against a straightforward oracle: any width, partial masks, divergence, nested divergence. */
#include "test_simt_support.h"

static const unsigned widths[] = {1, 2, 4, 8, 16, 32};

/* A number that looks random but that everybody can work out. */
SIMT_FN uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t z = (a * 0x9e3779b97f4a7c15u) ^ (b + 0x632be59bd9b4e019u) * 0xd6e8feb86659fd93u;

	z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
	return z ^ (z >> 29);
}

struct rounds {
	uint32_t *wrong;
	uint32_t rounds;
};

/* The lanes of this warp that exist. */
SIMT_FN uint32_t whole_warp(void)
{
	uint32_t first = simt_thread() - simt_lane();
	uint32_t lanes = simt_block_threads() - first;

	return lanes >= 32 || lanes >= simt_warp_width() ? simt_whole_warp() : (1u << lanes) - 1;
}

/* What lane k of this warp brings in a round. */
SIMT_FN uint64_t brought(uint32_t lane, uint32_t round)
{
	return mix(simt_global_thread() - simt_lane() + lane, round) % 5;
}

SIMT_FN int in_group(uint32_t lane, uint32_t round)
{
	return (int)(mix(lane, round + 77) & 1);
}

SIMT_FN void check_collectives(uint32_t mask, uint32_t round, uint32_t *wrong)
{
	uint32_t votes = 0, equal = 0, any = 0, me = simt_lane(), source = simt_first_lane(mask), errors = 0;
	uint64_t mine = brought(me, round);

	for (uint32_t lane = 0; lane < 32; lane++) {
		if (!(mask >> lane & 1))
			continue;
		any |= 1u << lane << brought(lane, round);
		if (brought(lane, round) > 2)
			votes |= 1u << lane;
		if (brought(lane, round) == mine)
			equal |= 1u << lane;
		if (mix(lane, me + round) & 1)
			source = lane;
	}
	errors += simt_ballot(mask, mine > 2) != votes;
	errors += simt_or_u32(mask, 1u << me << mine) != any;
	errors += simt_match_any_u64(mask, mine) != equal;
	errors += simt_shfl_u64(mask, mine << 40 | me, source) != (brought(source, round) << 40 | source);
	errors += simt_shfl_u32(mask, me, source) != source;
	simt_warp_sync(mask);
	if (errors)
		simt_add_relaxed_dev_u32(wrong, errors);
}

/* Whole warps, then the two halves of a partition, each in its own branch, by turns in different order. */
SIMT_FN void collect(const struct rounds *a)
{
	for (uint32_t round = 0; round < a->rounds; round++) {
		uint32_t all = whole_warp(), group = 0;
		int mine = in_group(simt_lane(), round);

		check_collectives(all, round, a->wrong);
		for (uint32_t lane = 0; lane < 32; lane++)
			if ((all >> lane & 1) && in_group(lane, round) == mine)
				group |= 1u << lane;
		if (mine) {
			check_collectives(group, round + 1000, a->wrong);
			check_collectives(group, round + 2000, a->wrong);
		} else {
			for (uint32_t k = 0; k < round % 3; k++)
				simt_relax();
			check_collectives(group, round + 3000, a->wrong);
		}
	}
}
SIMT_KERNEL(collect, struct rounds)

static void run_collect(struct simt_machine *machine, uint32_t blocks, uint32_t block_threads,
                        uint32_t rounds)
{
	uint32_t *wrong = (uint32_t *)simt_alloc(machine, sizeof *wrong, SIMT_PINNED, NULL);
	struct rounds a = {wrong, rounds};
	struct simt_grid grid = {blocks, block_threads, 0};
	struct gn_error error;

	assert_int_equal(simt_launch(machine, &collect_kernel, grid, &a, &error), 0);
	if (simt_wait(machine, &error))
		fail_msg("%s", error.text);
	assert_int_equal(*wrong, 0);
	simt_free(machine, wrong);
}

static void collectives_agree_with_the_oracle(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
		struct simt_machine *machine = open_cpu(2, widths[k]);

		run_collect(machine, 3, 32, 40);
		run_collect(machine, 2, 77, 20);
		run_collect(machine, 1, 1024, 3);
		simt_close(machine);
	}
}

static void collectives_agree_under_random_schedules(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct simt_machine *machine = open_scheduled(1, widths[seed % 6], SIMT_RANDOM, seed);

		run_collect(machine, 2, 40, 5);
		simt_close(machine);
	}
}

/*
 * simt_active: the groups partition the lanes that call (everybody in a mask got that mask), hold their
 * caller, and the collectives over them work; nested, from loops of different length, with lanes that end
 * early.
 */
SIMT_FN void check_group(uint32_t *wrong)
{
	uint32_t mask = simt_active();
	uint32_t errors = 0;

	errors += !(mask >> simt_lane() & 1);
	errors += (mask & ~whole_warp()) != 0;
	errors += simt_ballot(mask, 1) != mask;
	errors += simt_match_any_u64(mask, mask) != mask;
	errors += simt_shfl_u32(mask, simt_first_lane(mask), simt_first_lane(mask)) != simt_first_lane(mask);
	if (errors)
		simt_add_relaxed_dev_u32(wrong, errors);
}

SIMT_FN void diverge(const struct rounds *a)
{
	for (uint32_t round = 0; round < a->rounds; round++) {
		uint64_t dice = mix(simt_global_thread(), round);

		if (dice & 1) {
			check_group(a->wrong);
			if (dice & 2) {
				check_group(a->wrong);
				if (dice % 5 == 0)
					simt_relax();
			} else {
				check_group(a->wrong);
			}
		}
		for (uint64_t k = 0; k < dice % 4; k++)
			check_group(a->wrong);
		if (dice % 61 == 0)
			return;
	}
}
SIMT_KERNEL(diverge, struct rounds)

static void run_diverge(struct simt_machine *machine, uint32_t blocks, uint32_t block_threads)
{
	uint32_t *wrong = (uint32_t *)simt_alloc(machine, sizeof *wrong, SIMT_PINNED, NULL);
	struct rounds a = {wrong, 50};
	struct simt_grid grid = {blocks, block_threads, 0};
	struct gn_error error;

	assert_int_equal(simt_launch(machine, &diverge_kernel, grid, &a, &error), 0);
	if (simt_wait(machine, &error))
		fail_msg("%s", error.text);
	assert_int_equal(*wrong, 0);
	simt_free(machine, wrong);
}

static void groups_diverge_and_meet(void **state)
{
	(void)state;
	for (size_t k = 0; k < sizeof widths / sizeof *widths; k++) {
		struct simt_machine *machine = open_cpu(2, widths[k]);

		run_diverge(machine, 3, 32);
		run_diverge(machine, 5, 100);
		simt_close(machine);
		machine = open_scheduled(1, widths[k], SIMT_RANDOM, k);
		run_diverge(machine, 2, 64);
		simt_close(machine);
	}
}

/* Converged lanes are found together, also behind a branch that only some took and a wait of one of them. */
struct convergence {
	uint32_t *before, *inside, *behind;
};

SIMT_FN void converge(const struct convergence *a)
{
	uint32_t me = simt_thread();

	a->before[me] = simt_active();
	if (me % 2) {
		if (me == 3)
			simt_relax();
		a->inside[me] = simt_active();
	}
	a->behind[me] = simt_active();
}
SIMT_KERNEL(converge, struct convergence)

static void lanes_converge_behind_a_branch(void **state)
{
	struct simt_machine *machine = open_cpu(1, 8);
	uint32_t masks[3][8] = {{0}};
	struct convergence a = {masks[0], masks[1], masks[2]};
	struct simt_grid grid = {1, 8, 0};

	(void)state;
	assert_int_equal(simt_launch(machine, &converge_kernel, grid, &a, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	for (uint32_t k = 0; k < 8; k++) {
		assert_int_equal(masks[0][k], 0xff);
		assert_true(masks[2][k] >> k & 1);
		if (k % 2)
			assert_int_equal(masks[1][k] & ~0xaau, 0);
	}
	/* Nobody in the branch but lane 3 waits: the others need not wait for it, but find each other. */
	assert_int_equal(masks[1][1], masks[1][5]);
	assert_int_equal(masks[1][1], masks[1][7]);
	simt_close(machine);
}

/* ---- many runs of bytes at once ---- */

enum { RUN = 96, GUARD = 32, ROOM = 32 * (RUN + GUARD) };

struct copy_args {
	char *to;         /* [warps][ROOM] */
	const char *from; /* [ROOM] */
	uint32_t rounds;
	uint32_t *wrong;
};

/* What lane k of a warp copies in a round: where is anybody's guess, but no two lanes meet. */
SIMT_FN uint32_t run_bytes(uint32_t lane, uint32_t round)
{
	return (uint32_t)(mix(lane + 1, round) % (RUN / 16 + 1)) * 16;
}

SIMT_FN char *run_to(char *room, uint32_t lane, uint32_t round)
{
	return room + (lane * 5 + round) % 32 * (RUN + GUARD);
}

SIMT_FN int byte_is(const char *room, uint32_t at, uint32_t lanes, uint32_t round, const char *from)
{
	for (uint32_t left = lanes; left; left &= left - 1) {
		const uint32_t lane = simt_first_lane(left);
		const uint32_t begin = (lane * 5 + round) % 32 * (RUN + GUARD);

		if (at - begin < run_bytes(lane, round))
			return room[at] == from[lane * (RUN + GUARD) + at - begin];
	}
	return room[at] == 0x5a;
}

/*
 * Some lanes of a group want a run; behind it each lane sees the runs of all, and nothing else has changed.
 */
SIMT_FN void copy_runs(const struct copy_args *a, uint32_t mask, uint32_t round)
{
	char *room = a->to + simt_global_thread() / simt_warp_width() * ROOM;
	uint32_t wants = mask & (uint32_t)mix(round, 5), errors = 0;

	if (simt_lane() == simt_first_lane(mask))
		memset(room, 0x5a, ROOM);
	simt_copy_each(mask, wants, run_to(room, simt_lane(), round), a->from + simt_lane() * (RUN + GUARD),
	               run_bytes(simt_lane(), round));
	for (uint32_t at = simt_lane(); at < ROOM; at += 31)
		errors += !byte_is(room, at, wants, round, a->from);
	simt_warp_sync(mask);
	if (errors)
		simt_add_relaxed_dev_u32(a->wrong, errors);
}

/* Whole warps, then one part of each. */
SIMT_FN void copy_each(const struct copy_args *a)
{
	for (uint32_t round = 0; round < a->rounds; round++) {
		const uint32_t all = whole_warp();
		const uint32_t group = simt_ballot(all, in_group(simt_lane(), round));

		copy_runs(a, all, round);
		if (in_group(simt_lane(), round))
			copy_runs(a, group, round + 100);
		simt_warp_sync(all);
	}
}
SIMT_KERNEL(copy_each, struct copy_args)

static void runs_of_many_lanes_are_copied(void **state)
{
	enum { WARPS = 3 };

	(void)state;
	for (unsigned w = 0; w < sizeof widths / sizeof *widths; w++) {
		struct simt_machine *machine = open_cpu(2, widths[w]);
		char *room = (char *)simt_alloc(machine, (WARPS + 1) * ROOM, SIMT_PINNED, NULL);
		uint32_t wrong = 0;
		struct copy_args a = {room, room + WARPS * ROOM, 12, &wrong};
		struct simt_grid grid = {WARPS, widths[w], 0};
		struct gn_error error;

		for (uint32_t k = 0; k < ROOM; k++)
			room[WARPS * ROOM + k] = (char)(k * 31 + k / 251);
		assert_int_equal(simt_launch(machine, &copy_each_kernel, grid, &a, &error), 0);
		if (simt_wait(machine, &error))
			fail_msg("%s", error.text);
		assert_int_equal(wrong, 0);
		simt_free(machine, room);
		simt_close(machine);
	}
}

/* A warp that meets without end does not keep another thread from the step that ends it. */
struct endless {
	uint32_t *flag;
};

SIMT_FN void meet_until_told(const struct endless *a)
{
	if (simt_block() == 0) {
		for (int k = 0; k < 10; k++)
			simt_relax();
		simt_store_release_dev_u32(a->flag, 1);
		return;
	}
	while (!simt_ballot(0xff, simt_load_acquire_dev_u32(a->flag) != 0))
		;
}
SIMT_KERNEL(meet_until_told, struct endless)

static void meetings_leave_others_their_turn(void **state)
{
	struct simt_machine *machine = open_cpu(1, 8);
	uint32_t flag = 0;
	struct endless a = {&flag};
	struct simt_grid grid = {2, 8, 0};

	(void)state;
	assert_int_equal(simt_launch(machine, &meet_until_told_kernel, grid, &a, NULL), 0);
	assert_int_equal(simt_wait(machine, NULL), 0);
	simt_close(machine);
}

/* What breaks the contract ends the launch with words, and the machine works behind it. */
struct violation {
	uint32_t kind;
};

SIMT_FN void violate(const struct violation *a)
{
	uint32_t lane = simt_lane();

	switch (a->kind) {
	case 0: /* names a lane that ended */
		if (lane != 5)
			simt_ballot(0xff, 1);
		return;
	case 1: /* different collectives */
		if (lane < 4)
			simt_ballot(0xff, 1);
		else
			simt_warp_sync(0xff);
		return;
	case 2: /* different masks */ simt_shfl_u32(lane < 4 ? 0xff : 0xfe, 1, 4); return;
	case 3: /* a lane that does not exist */ simt_match_any_u64(0x1ff, 1); return;
	case 4: /* not in its own mask */
		if (lane == 2)
			simt_ballot(0x8, 1);
		return;
	case 5: /* some at the barrier, others wait for them in a collective */
		if (lane % 2)
			simt_block_sync();
		else
			simt_ballot(0xff, 1);
		return;
	case 6: /* in the second of many blocks; the others wait for nobody */
		if (simt_block() == 1 && lane == 7)
			simt_warp_sync(0xff);
		return;
	case 7: /* a source that is not in the mask */ simt_shfl_u32(0xff, 1, 9); return;
	case 8: /* each collective is called by its name */
		if (lane != 5)
			simt_or_u32(0xff, 1);
		return;
	case 9:
		if (lane != 5)
			simt_copy(0xff, &lane, &lane, 0);
		return;
	default: return;
	}
}
SIMT_KERNEL(violate, struct violation)

static void broken_contracts_are_told(void **state)
{
	static const char *const words[] = {
	    "ended",   "another collective", "another mask", "do not exist", "in the mask", "barrier",
	    "block 1", "reads lane 9",       "in simt_or ",  "in simt_copy "};

	(void)state;
	for (unsigned schedule = 0; schedule < 2; schedule++) {
		struct simt_machine *machine = open_scheduled(2, 8, schedule ? SIMT_RANDOM : SIMT_FAIR, 1);

		for (uint32_t kind = 0; kind < sizeof words / sizeof *words; kind++) {
			struct violation a = {kind}, harmless = {99};
			struct simt_grid grid = {kind == 6 ? 100u : 1u, 8, 0};
			struct gn_error error;

			assert_int_equal(simt_launch(machine, &violate_kernel, grid, &a, NULL), 0);
			assert_int_equal(simt_wait(machine, &error), kind == 7 ? -GN_EINVAL : -GN_EDEADLK);
			assert_non_null(strstr(error.text, "violate"));
			if (!strstr(error.text, words[kind]))
				fail_msg("%u: %s", kind, error.text);
			assert_int_equal(simt_launch(machine, &violate_kernel, grid, &harmless, NULL), 0);
			assert_int_equal(simt_wait(machine, NULL), 0);
			run_collect(machine, 2, 32, 3);
		}
		simt_close(machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(collectives_agree_with_the_oracle),
	    cmocka_unit_test(collectives_agree_under_random_schedules),
	    cmocka_unit_test(groups_diverge_and_meet),
	    cmocka_unit_test(lanes_converge_behind_a_branch),
	    cmocka_unit_test(runs_of_many_lanes_are_copied),
	    cmocka_unit_test(meetings_leave_others_their_turn),
	    cmocka_unit_test(broken_contracts_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
