/* SPDX-License-Identifier: Apache-2.0 */
/* Teams: how they are split, what they are asked, their contexts, and their collective functions. */
#include "check.h"

#include <complex.h>
#include <string.h>

enum { MOST_PES = 16, MOST_TEAMS = 63, WORDS = 100, TIMES = 200 };

static void predefined_teams(int me, int pes)
{
	shmem_team_config_t config = {5};
	shmem_team_t team = SHMEM_TEAM_INVALID;
	shmem_ctx_t ctx;

	check(shmem_team_my_pe(SHMEM_TEAM_WORLD) == me && shmem_team_n_pes(SHMEM_TEAM_WORLD) == pes);
	check(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1 && shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1);
	check(shmem_team_n_pes(SHMEM_TEAM_SHARED) >= 1 && shmem_team_my_pe(SHMEM_TEAM_SHARED) >= 0);
	check(shmem_team_translate_pe(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED),
	                              SHMEM_TEAM_WORLD) == me);
	check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, pes, SHMEM_TEAM_WORLD) == -1);
	check(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1);
	check(!shmem_team_get_config(SHMEM_TEAM_WORLD, 0, NULL));
	check(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &config));
	check(config.num_contexts == 5);
	check(!shmem_team_sync(SHMEM_TEAM_SHARED) && !shmem_team_sync(SHMEM_TEAM_WORLD));
	shmem_team_destroy(SHMEM_TEAM_INVALID);
	check(!shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team) && team == SHMEM_TEAM_WORLD);
	check(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) && team == SHMEM_TEAM_INVALID);
	check(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) && ctx == SHMEM_CTX_INVALID);
}

static void splits_that_are_refused(int pes)
{
	static const int wrong[][3] = {{0, 1, 0}, {-1, 1, 1}, {0, 0, 2}, {1, 1, 1 << 20}, {0, -1, 2}};
	shmem_team_t team = SHMEM_TEAM_WORLD, other = SHMEM_TEAM_WORLD;

	for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
		check(shmem_team_split_strided(SHMEM_TEAM_WORLD, wrong[k][0], wrong[k][1], wrong[k][2], NULL,
		                               0, &team));
		check(team == SHMEM_TEAM_INVALID);
	}
	check(shmem_team_split_strided(SHMEM_TEAM_WORLD, pes, 1, 1, NULL, 0, &team));
	check(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team));
	check(shmem_team_split_2d(SHMEM_TEAM_WORLD, 0, NULL, 0, &team, NULL, 0, &other));
	check(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &team, NULL, 0, &other));
	check(team == SHMEM_TEAM_INVALID && other == SHMEM_TEAM_INVALID);
}

/* ---- what every team does ---- */

#define SUM(T, N)                                                                 \
	static void sum_##N(shmem_team_t team, int me, int pes)                   \
	{                                                                         \
		static T to[WORDS], from[WORDS];                                  \
                                                                                  \
		for (int k = 0; k < WORDS; k++)                                   \
			from[k] = (T)(me + k % 7);                                \
		check(!shmem_##N##_sum_reduce(team, to, from, WORDS));            \
		for (int k = 0; k < WORDS; k++)                                   \
			check(to[k] == (T)(pes * (pes - 1) / 2 + pes * (k % 7))); \
		check(!shmem_##N##_prod_reduce(team, from, from, WORDS));         \
		check(from[0] == (T)0 && (pes > 1 || from[1] == (T)1));           \
	}
SHMEM__TEAM_NUMBERS(SUM)
SHMEM__RMA_ALIAS(SUM)

#define ORDER(T, N)                                                                          \
	static void order_##N(shmem_team_t team, int me, int pes)                            \
	{                                                                                    \
		static T to[2], from[2];                                                     \
                                                                                             \
		from[0] = (T)(10 + me);                                                      \
		from[1] = (T)(50 - me);                                                      \
		check(!shmem_##N##_max_reduce(team, to, from, 2) && to[0] == (T)(9 + pes) && \
		      to[1] == (T)50);                                                       \
		check(!shmem_##N##_min_reduce(team, to, from, 2) && to[0] == (T)10 &&        \
		      to[1] == (T)(51 - pes));                                               \
	}
SHMEM__RMA_OWN(ORDER)
SHMEM__RMA_ALIAS(ORDER)

#define BITS(T, N)                                                                             \
	static void bits_##N(shmem_team_t team, int me, int pes)                               \
	{                                                                                      \
		static T to, from;                                                             \
		const T all = (T)((1u << pes % 7) - 1);                                        \
                                                                                               \
		from = (T)(1u << me % 7);                                                      \
		check(!shmem_##N##_or_reduce(team, &to, &from, 1) && (pes > 6 || to == all));  \
		check(!shmem_##N##_xor_reduce(team, &to, &from, 1) && (pes > 6 || to == all)); \
		from = (T)(0x70 | from);                                                       \
		check(!shmem_##N##_and_reduce(team, &to, &from, 1));                           \
		check((to & 0x70) == 0x70 && (pes == 1 || pes > 6 || !(to & 0xf)));            \
	}
SHMEM__TEAM_BITS(BITS)

#define RUN_SUM(T, N) sum_##N(team, me, pes);
#define RUN_ORDER(T, N) order_##N(team, me, pes);
#define RUN_BITS(T, N) bits_##N(team, me, pes);

static void reductions(shmem_team_t team, int me, int pes)
{
	static int whole_to, whole_from;
	static double complex z_to, z_from;

	SHMEM__TEAM_NUMBERS(RUN_SUM)
	SHMEM__RMA_ALIAS(RUN_SUM)
	SHMEM__RMA_OWN(RUN_ORDER)
	SHMEM__RMA_ALIAS(RUN_ORDER)
	SHMEM__TEAM_BITS(RUN_BITS)
	whole_from = me;
	check(!shmem_max_reduce(team, &whole_to, &whole_from, 1) && whole_to == pes - 1);
	z_from = 1 + I;
	check(!shmem_sum_reduce(team, &z_to, &z_from, 1) && z_to == pes + pes * I);
}

static void broadcasts(shmem_team_t team, int me, int pes)
{
	static int to[WORDS], from[WORDS];
	static char bytes[5];

	for (int root = 0; root < pes; root++) {
		for (int k = 0; k < WORDS; k++)
			from[k] = me * 1000 + k;
		check(!shmem_team_sync(team));
		check(!shmem_broadcast(team, to, from, WORDS, root));
		for (int k = 0; k < WORDS; k++)
			check(to[k] == root * 1000 + k); /* also at the root */
		memset(bytes, me, sizeof bytes);
		check(!shmem_team_sync(team));
		check(!shmem_broadcastmem(team, bytes, bytes, sizeof bytes, root));
		check(bytes[0] == root && bytes[4] == root);
		check(!shmem_team_sync(team));
	}
}

static void gathers(shmem_team_t team, int me, int pes)
{
	static short to[MOST_PES * MOST_PES], from[MOST_PES * 4];
	int at = 0;

	for (int k = 0; k < MOST_PES * 4; k++)
		from[k] = (short)(me * 100 + k);
	check(!shmem_fcollect(team, to, from, 3));
	for (int k = 0; k < 3 * pes; k++)
		check(to[k] == k / 3 * 100 + k % 3);
	check(!shmem_team_sync(team));
	check(!shmem_short_collect(team, to, from, (size_t)me));
	for (int pe = 0; pe < pes; pe++)
		for (int k = 0; k < pe; k++)
			check(to[at++] == pe * 100 + k);
	check(!shmem_team_sync(team));
	check(!shmem_alltoall(team, to, from, 2));
	for (int k = 0; k < 2 * pes; k++)
		check(to[k] == k / 2 * 100 + 2 * me + k % 2);
	check(!shmem_team_sync(team));
	memset(to, 0, sizeof to);
	check(!shmem_team_sync(team));
	check(!shmem_short_alltoalls(team, to, from, 2, 3, 1));
	for (int pe = 0; pe < pes; pe++)
		check(to[2 * pe] == pe * 100 + 3 * me && to[2 * pe + 1] == 0);
	check(!shmem_team_sync(team));
}

/* Through a context of the team PEs are counted as the team does. */
static void contexts_count_as_the_team(shmem_team_t team, int me, int pes)
{
	static long word[2];
	const int next = (me + 1) % pes, last = (me + pes - 1) % pes;
	shmem_team_t of = SHMEM_TEAM_INVALID;
	long back = -1;
	shmem_ctx_t ctx;

	check(!shmem_team_create_ctx(team, SHMEM_CTX_SERIALIZED, &ctx));
	check(!shmem_ctx_get_team(ctx, &of) && of == team);
	word[1] = 0;
	check(!shmem_team_sync(team));
	shmem_ctx_long_p(ctx, &word[0], me + 1, next);
	shmem_ctx_long_atomic_add(ctx, &word[1], me + 5, next);
	shmem_ctx_long_get_nbi(ctx, &back, &word[1], 1, next);
	shmem_ctx_quiet(ctx);
	check(back == me + 5 && shmem_ctx_long_g(ctx, &word[0], next) == me + 1);
	check(!shmem_team_sync(team));
	check(word[0] == last + 1 && word[1] == last + 5);
	check(shmem_team_translate_pe(team, next, SHMEM_TEAM_WORLD) >= 0);
	check(!shmem_team_sync(team));
	if (me % 2)
		shmem_ctx_destroy(ctx); /* or with the team */
}

static void use(shmem_team_t team, int me, int pes)
{
	check(shmem_team_my_pe(team) == me && shmem_team_n_pes(team) == pes);
	broadcasts(team, me, pes);
	gathers(team, me, pes);
	contexts_count_as_the_team(team, me, pes);
}

/* ---- splitting ---- */

static void halves(int me, int pes)
{
	const shmem_team_config_t config = {3};
	shmem_team_config_t is = {-1};
	shmem_team_t half[2];

	for (int k = 0; k < 2; k++)
		check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, k % pes, 2, pes > 1 ? (pes + 1 - k) / 2 : 1,
		                                &config, SHMEM_TEAM_NUM_CONTEXTS, &half[k]));
	if (pes > 1)
		check(half[1 - me % 2] == SHMEM_TEAM_INVALID);
	check(!shmem_team_get_config(half[me % 2], SHMEM_TEAM_NUM_CONTEXTS, &is) && is.num_contexts == 3);
	use(half[me % 2], me / 2, (pes + 1 - me % 2) / 2); /* both at the same time */
	check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, me, half[me % 2]) == me / 2);
	if (pes > 1)
		check(shmem_team_translate_pe(SHMEM_TEAM_WORLD, (me + pes - 1) % 2, half[me % 2]) <= 0);
	shmem_team_destroy(half[0]);
	shmem_team_destroy(half[1]);
}

static void rows_and_columns(int me, int pes, int width)
{
	shmem_team_t x, y, last = SHMEM_TEAM_INVALID;
	int across;

	check(!shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &x, NULL, 0, &y));
	width = width < pes ? width : pes;
	across = pes - me / width * width < width ? pes - me / width * width : width;
	use(x, me % width, across);
	use(y, me / width, (pes - me % width + width - 1) / width);
	/* a team of a team */
	check(!shmem_team_split_strided(x, across - 1, 1, 1, NULL, 0, &last));
	check((last != SHMEM_TEAM_INVALID) == (me % width == across - 1));
	if (last != SHMEM_TEAM_INVALID)
		use(last, 0, 1);
	shmem_team_destroy(last);
	shmem_team_destroy(y);
	shmem_team_destroy(x);
}

/* Groups are given back; when there are none, all PEs are told so. */
static void teams_are_bounded(int pes)
{
	static shmem_team_t team[100];
	int made = 0;

	for (int k = 0; k < TIMES; k++) {
		check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team[0]));
		check(!shmem_team_sync(team[0]));
		shmem_team_destroy(team[0]);
	}
	while (made < 100 && !shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team[made]))
		made++;
	check(made == MOST_TEAMS && team[made] == SHMEM_TEAM_INVALID);
	while (made)
		shmem_team_destroy(team[--made]);
	check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team[0]));
	reductions(team[0], shmem_my_pe(), pes);
	shmem_team_destroy(team[0]);
}

/* The teams of one PE take no room from the teams of another. */
static void teams_of_others_do_not_count(int me, int pes)
{
	shmem_team_t team[MOST_TEAMS + 1], other = SHMEM_TEAM_INVALID;

	for (int k = 0; k < MOST_TEAMS; k++)
		check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team[k]));
	check(
	    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, 1, NULL, 0, &team[MOST_TEAMS])); /* on all PEs */
	check(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, pes, NULL, 0, &team[MOST_TEAMS]));
	if (pes > 1)
		check(!shmem_team_split_strided(SHMEM_TEAM_WORLD, 1, 1, pes - 1, NULL, 0, &other));
	if (pes > 1 && me)
		use(other, me - 1, pes - 1);
	shmem_team_destroy(other);
	for (int k = 0; k < MOST_TEAMS; k++)
		shmem_team_destroy(team[k]);
}

int main(void)
{
	int me, pes;

	shmem_init();
	me = shmem_my_pe();
	pes = shmem_n_pes();
	predefined_teams(me, pes);
	splits_that_are_refused(pes);
	use(SHMEM_TEAM_WORLD, me, pes);
	use(SHMEM_TEAM_SHARED, shmem_team_my_pe(SHMEM_TEAM_SHARED), shmem_team_n_pes(SHMEM_TEAM_SHARED));
	halves(me, pes);
	for (int width = 1; width <= 3; width++)
		rows_and_columns(me, pes, width);
	teams_are_bounded(pes);
	teams_of_others_do_not_count(me, pes);
	shmem_finalize();
	return 0;
}
