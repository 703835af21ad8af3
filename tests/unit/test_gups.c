/* SPDX-License-Identifier: Apache-2.0 */
/* Random updates: every word is what one table of all updates holds, and what is elsewhere is seen. */
#include "test_spread_support.h"

#include "gups/check.h"

enum { PART_WORDS = 256, UPDATES = 1500, MOST_NODES = 8 };

struct trial {
	uint32_t xors;
	uint64_t hold;
};

static int run_node(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	const struct gups g = {PART_WORDS, UPDATES, 0, t->xors, t->hold};
	struct gups_result result;

	CHECK_EQUAL(gups_run(net, &g, &result, NULL), 0);
	CHECK_EQUAL(result.wrong, 0);
	return 0;
}

static void the_table_is_right(void **state)
{
	(void)state;
	for (uint32_t xors = 0; xors < 2; xors++)
		for (unsigned k = 0; k < SHAPES; k++) {
			struct trial t = {xors, k % 2 ? 0u : 64u};

			run_on(&shapes[k], PART_WORDS * 8 + (1 << 20), run_node, &t);
		}
}

/* The whole table by the definition of HPCC's RandomAccess, for any number of nodes that is a power of two.
 */
static void define(uint64_t *table, const struct gups *g, uint64_t nodes)
{
	const uint64_t words = nodes * g->part_words;
	uint64_t random = 1;

	for (uint64_t k = 0; k < words; k++)
		table[k] = g->xors ? k : 0;
	for (uint64_t k = 0; k < nodes * g->updates; k++) {
		random = random << 1 ^ ((int64_t)random < 0 ? 7 : 0);
		if (g->xors)
			table[random & (words - 1)] ^= random;
		else
			table[random & (words - 1)]++;
	}
}

enum fault { RIGHT, WRONG_WORD, WRONG_NODE, ALL_AT_ONE, FAULTS };

/* An update that went to the next word, or to the same word of the next node; or all that went to one node.
 */
static void break_table(uint64_t *table, const struct gups *g, uint64_t nodes, enum fault fault)
{
	const uint64_t change = g->xors ? 0x1234567 : 1;
	uint64_t *to = fault == WRONG_WORD ? &table[1] : &table[g->part_words];

	if (fault == WRONG_WORD || fault == WRONG_NODE) {
		table[0] = g->xors ? table[0] ^ change : table[0] - change;
		*to = g->xors ? *to ^ change : *to + change;
	}
	for (uint64_t k = g->part_words; fault == ALL_AT_ONE && k < nodes * g->part_words; k++) {
		table[k % g->part_words] += table[k] - (g->xors ? k : 0);
		table[k] = g->xors ? k : 0;
	}
}

static uint64_t wanted_wrong(enum fault fault, uint32_t every_word)
{
	return fault == RIGHT || (fault == WRONG_WORD && !every_word) ? 0 : 2;
}

static int check_node(struct gn_net *net, void *argument)
{
	const uint32_t xors = *(const uint32_t *)argument;
	const struct gups g = {PART_WORDS, UPDATES, 0, xors, 0};
	static uint64_t tables[MOST_NODES][MOST_NODES * PART_WORDS];
	uint64_t *table = tables[gn_net_node(net)], nodes = gn_net_nodes(net), wrong;

	for (unsigned fault = 0; fault < FAULTS; fault++)
		for (uint32_t every_word = 0; every_word < 2; every_word++) {
			define(table, &g, nodes);
			break_table(table, &g, nodes, (enum fault)fault);
			CHECK_EQUAL(gups_check(net, &g, every_word, table + gn_net_node(net) * PART_WORDS,
			                       &wrong, NULL),
			            0);
			if (fault == ALL_AT_ONE)
				CHECK(wrong >= nodes);
			else
				CHECK_EQUAL(wrong, wanted_wrong((enum fault)fault, every_word));
		}
	return 0;
}

static void what_went_elsewhere_is_seen(void **state)
{
	static const struct shape some[] = {{2, 1, 1}, {4, 2, 1}, {8, 1, 1}};

	(void)state;
	for (uint32_t xors = 0; xors < 2; xors++)
		for (unsigned k = 0; k < 3; k++)
			run_on(&some[k], 1 << 20, check_node, &xors);
}

static void long_runs_compare_sums(void **state)
{
	struct gups g = {1 << 20, 4 << 20, 0, 1, 0};

	(void)state;
	assert_true(gups_every_word(&g, 1));
	assert_true(gups_every_word(&g, 8));
	assert_false(gups_every_word(&g, 16));
	g.part_words = 1ull << 32;
	assert_false(gups_every_word(&g, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_table_is_right),
	    cmocka_unit_test(what_went_elsewhere_is_seen),
	    cmocka_unit_test(long_runs_compare_sums),
	};

	return cmocka_run_group_tests_name("gups: where updates go", tests, NULL, NULL);
}
