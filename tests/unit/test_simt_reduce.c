/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of many threads on few elements come to what one thread after the other gives, whatever the
 * width and the scope.
 */
#include <grapnel/detail/change.h>

#include "test_simt_support.h"

enum { BLOCKS = 8, BLOCK_THREADS = 64, EACH = 16, ELEMENTS = 3, WAYS = 4 };

static const enum gn_change changes[] = {GN_ADD, GN_MIN, GN_MAX, GN_AND, GN_OR, GN_XOR};

enum { CHANGES = sizeof changes / sizeof *changes };

/* [way][change][element] of 8 bytes; ways: 4 bytes and 8, of the device and of the system. */
struct reduce_args {
	uint64_t *element;
	uint32_t *refused;
};

SIMT_FN uint64_t operand_of(uint64_t thread, uint32_t k, uint32_t change)
{
	uint64_t x = (thread * EACH + k + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 32) * 0xd6e8feb86659fd93u;
	/* and, or: the more operands, the fewer bits they change */
	return change == GN_AND ? x | ~(1ull << (thread + k) % 61) : change == GN_OR ? 1ull << x % 64 : x;
}

SIMT_FN int reduce_by(uint32_t way, uint64_t *element, enum gn_change change, uint64_t operand)
{
	uint32_t *narrow = (uint32_t *)(void *)element;

	switch (way) {
	case 0: return gn__reduce_4(narrow, change, (uint32_t)operand);
	case 1: return gn__reduce_8(element, change, operand);
	case 2: return gn__reduce_sys_4(narrow, change, (uint32_t)operand);
	default: return gn__reduce_sys_8(element, change, operand);
	}
}

SIMT_FN void reduce_all(const struct reduce_args *a)
{
	const uint64_t thread = simt_global_thread();

	for (uint32_t k = 0; k < EACH; k++)
		for (uint32_t c = GN_ADD; c <= GN_XOR; c++) {
			const uint64_t operand = operand_of(thread, k, c);
			uint64_t *element = &a->element[c * ELEMENTS + (thread + k) % ELEMENTS];

			if (c == GN_ADD_FLOAT || c == GN_CAS || c == GN_PUT)
				continue;
			for (uint32_t way = 0; way < WAYS; way++)
				if (!reduce_by(way, element + way * (GN_XOR + 1) * ELEMENTS,
				               (enum gn_change)c, operand))
					simt_add_relaxed_dev_u32(a->refused, 1);
		}
}
SIMT_KERNEL(reduce_all, struct reduce_args)

static uint64_t first_value(uint32_t change)
{
	return change == GN_MIN || change == GN_AND ? ~0ull : 0;
}

/*
 * What gn__changed, of which the functions that return the bits before are made, makes of them one after the
 * other.
 */
static uint64_t expected(uint32_t change, uint32_t element, uint32_t bytes)
{
	uint64_t value = bytes == 4 ? (uint32_t)first_value(change) : first_value(change);

	for (uint64_t thread = 0; thread < BLOCKS * BLOCK_THREADS; thread++)
		for (uint32_t k = 0; k < EACH; k++) {
			const uint64_t drawn = operand_of(thread, k, change);
			const uint64_t operand[2] = {bytes == 4 ? (uint32_t)drawn : drawn, 0};

			if ((thread + k) % ELEMENTS == element)
				value = gn__changed((enum gn_change)change, value, operand, bytes);
		}
	return value;
}

static void check(const uint64_t *element)
{
	for (uint32_t way = 0; way < WAYS; way++)
		for (unsigned c = 0; c < CHANGES; c++)
			for (uint32_t e = 0; e < ELEMENTS; e++) {
				const uint64_t *at =
				    &element[(way * (GN_XOR + 1) + changes[c]) * ELEMENTS + e];
				const uint32_t bytes = way % 2 ? 8 : 4;
				uint64_t found = *at;

				if (bytes == 4)
					found = *(const uint32_t *)(const void *)at;
				if (found != expected(changes[c], e, bytes))
					fail_msg("way %u, change %u, element %u: %llx, not %llx", way,
					         changes[c], e, (unsigned long long)found,
					         (unsigned long long)expected(changes[c], e, bytes));
			}
}

static void reductions_come_to_what_one_by_one_gives(void **state)
{
	static uint64_t element[WAYS * (GN_XOR + 1) * ELEMENTS];

	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		const struct simt_grid grid = {BLOCKS, BLOCK_THREADS, 0};
		uint32_t refused = 0;
		const struct reduce_args a = {element, &refused};
		struct simt_machine *machine = open_cpu(threads, 8);

		for (uint32_t k = 0; k < sizeof element / sizeof *element; k++)
			element[k] = first_value(k / ELEMENTS % (GN_XOR + 1));
		assert_int_equal(simt_launch(machine, &reduce_all_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		assert_int_equal(refused, 0);
		check(element);
		simt_close(machine);
	}
}

/* ---- doubles ---- */

/* Sums of halves are exact in any order. */
struct real_args {
	double *sum;
};

SIMT_FN double term_of(uint64_t thread, uint32_t k)
{
	return 0.5 * (double)((thread * EACH + k) % 1001) - 250;
}

SIMT_FN void add_reals(const struct real_args *a)
{
	const uint64_t thread = simt_global_thread();

	for (uint32_t k = 0; k < EACH; k++)
		simt_reduce_add_relaxed_dev_f64(&a->sum[(thread + k) % ELEMENTS], term_of(thread, k));
}
SIMT_KERNEL(add_reals, struct real_args)

static double real_sum(uint32_t element)
{
	double sum = 0;

	for (uint64_t thread = 0; thread < BLOCKS * BLOCK_THREADS; thread++)
		for (uint32_t k = 0; k < EACH; k++)
			sum += (thread + k) % ELEMENTS == element ? term_of(thread, k) : 0;
	return sum;
}

static void doubles_are_added(void **state)
{
	(void)state;
	for (unsigned threads = 1; threads <= 4; threads++) {
		const struct simt_grid grid = {BLOCKS, BLOCK_THREADS, 0};
		double sum[ELEMENTS] = {0};
		const struct real_args a = {sum};
		struct simt_machine *machine = open_cpu(threads, 8);

		assert_int_equal(simt_launch(machine, &add_reals_kernel, grid, &a, NULL), 0);
		assert_int_equal(simt_wait(machine, NULL), 0);
		for (uint32_t k = 0; k < ELEMENTS; k++)
			if (sum[k] != real_sum(k))
				fail_msg("element %u: %g, not %g", k, sum[k], real_sum(k));
		simt_close(machine);
	}
}

static void what_is_no_reduction_is_refused(void **state)
{
	static const enum gn_change others[] = {GN_ADD_FLOAT, GN_CAS, GN_PUT, GN_GET};

	(void)state;
	for (unsigned k = 0; k < sizeof others / sizeof *others; k++)
		for (uint32_t way = 0; way < WAYS; way++) {
			uint64_t element = 5;

			assert_int_equal(reduce_by(way, &element, others[k], 7), 0);
			assert_int_equal(element, 5);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reductions_come_to_what_one_by_one_gives),
	    cmocka_unit_test(doubles_are_added),
	    cmocka_unit_test(what_is_no_reduction_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
