/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The radix sort against a sort of pairs of a key and its place, which is stable: sizes around warps, tiles
 * and parts, both widths of keys, any number of bits, for narrow and wide warps.
 */
#include "sort_keys.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include "sort/radix.h"

static struct gn_error error;

static void must(int rc)
{
	if (rc)
		fail_msg("%s: %s", gn_error_name(rc), error.text);
}

/* ---- what is expected ---- */

struct pair {
	uint64_t low, key, place; /* low: the bits that are sorted by */
};

static int compare(const void *a, const void *b)
{
	const struct pair *p = (const struct pair *)a, *q = (const struct pair *)b;

	if (p->low != q->low)
		return p->low < q->low ? -1 : 1;
	return p->place < q->place ? -1 : p->place > q->place;
}

static void sort_pairs(struct pair *pair, uint64_t count, unsigned bits)
{
	for (uint64_t i = 0; i < count; i++) {
		pair[i].low = bits == 64 ? pair[i].key : pair[i].key & ((1ull << bits) - 1);
		pair[i].place = i;
	}
	qsort(pair, count, sizeof *pair, compare);
}

/* ---- one sort ---- */

static uint64_t load(const void *from, uint64_t i, uint32_t key_bytes)
{
	uint64_t key = 0;

	memcpy(&key, (const char *)from + i * key_bytes, key_bytes);
	return key;
}

static void store(void *to, uint64_t i, uint64_t key, uint32_t key_bytes)
{
	memcpy((char *)to + i * key_bytes, &key, key_bytes);
}

static const uint64_t guard = 0xa5a5a5a5a5a5a5a5ull;

/* Room for the keys between two guards, at an address that is aligned to a key alone. */
static char *room_for(struct simt_machine *machine, uint64_t count, uint32_t key_bytes)
{
	char *memory = (char *)simt_alloc(machine, (count + 2) * key_bytes, SIMT_DEVICE, NULL);

	assert_non_null(memory);
	store(memory, 0, guard, key_bytes);
	store(memory, count + 1, guard, key_bytes);
	return memory;
}

static void check_guards(struct simt_machine *machine, char *memory, uint64_t count, uint32_t key_bytes)
{
	for (uint64_t k = 0; k < 2; k++)
		assert_int_equal(load(memory, k * (count + 1), key_bytes), guard >> (64 - 8 * key_bytes));
	simt_free(machine, memory);
}

/* Sort the keys of the pairs, which become what is expected. */
static void check_sort(struct simt_machine *machine, struct pair *pair, uint64_t count, uint32_t key_bytes,
                       unsigned bits, unsigned kind)
{
	char *keys = room_for(machine, count, key_bytes), *spare = room_for(machine, count, key_bytes);
	void *sorted = NULL;

	for (uint64_t i = 0; i < count; i++)
		store(keys + key_bytes, i, pair[i].key, key_bytes);
	must(gn_radix_sort(machine, keys + key_bytes, spare + key_bytes, count, key_bytes, bits, &sorted,
	                   &error));
	assert_true(sorted == keys + key_bytes || sorted == spare + key_bytes);
	sort_pairs(pair, count, bits);
	for (uint64_t i = 0; i < count; i++)
		if (load(sorted, i, key_bytes) != pair[i].key)
			fail_msg("%llu keys of %u bytes by %u bits, kind %u: key %llu is %llx, not %llx",
			         (unsigned long long)count, (unsigned)key_bytes, bits, kind,
			         (unsigned long long)i, (unsigned long long)load(sorted, i, key_bytes),
			         (unsigned long long)pair[i].key);
	check_guards(machine, keys, count, key_bytes);
	check_guards(machine, spare, count, key_bytes);
}

static void check(struct simt_machine *machine, uint64_t count, uint32_t key_bytes, unsigned bits,
                  unsigned kind)
{
	struct pair *pair = (struct pair *)calloc(count + 1, sizeof *pair);
	uint64_t state = count * 64 + bits;

	assert_non_null(pair);
	for (uint64_t i = 0; i < count; i++) {
		pair[i].key = key_of(kind, i, count, &state);
		if (key_bytes == 4)
			pair[i].key = (uint32_t)pair[i].key;
	}
	check_sort(machine, pair, count, key_bytes, bits, kind);
	free(pair);
}

static struct simt_machine *open_machine(unsigned warp_width, unsigned threads)
{
	struct simt_machine *machine;
	struct simt_options o;

	memset(&o, 0, sizeof o);
	o.name = "cpu";
	o.warp_width = warp_width;
	o.threads = threads;
	must(simt_open(&machine, &o, &error));
	return machine;
}

/* ---- the tests ---- */

static const unsigned widths[] = {1, 8, 32};

/* EACH: of the sizes and bits, one of so many is run. */
#define WIDTHS few_drawn(2, sizeof widths / sizeof *widths)
#define EACH few_drawn(11, 1)

static void sizes_around_warps_tiles_and_parts(void **state)
{
	static const uint64_t counts[] = {0,    1,    2,    3,     31,    32,    33,    255,
	                                  256,  257,  1023, 1025,  4095,  4096,  4097,  8191,
	                                  8192, 8193, 9000, 12287, 12289, 16384, 24577, 40000};

	(void)state;
	for (unsigned w = 0; w < WIDTHS; w++) {
		struct simt_machine *machine = open_machine(widths[w], 2);

		for (unsigned k = 0; k < sizeof counts / sizeof *counts; k += EACH) {
			check(machine, counts[k], 4, 32, RANDOM);
			check(machine, counts[k], 8, 17, RANDOM);
		}
		simt_close(machine);
	}
}

static void every_kind_of_keys(void **state)
{
	(void)state;
	for (unsigned w = 0; w < WIDTHS; w++) {
		struct simt_machine *machine = open_machine(widths[w], 2);

		for (unsigned kind = 0; kind < KINDS; kind++) {
			check(machine, 9001, 4, 32 / EACH, kind);
			check(machine, 9001, 8, 64 / EACH, kind);
		}
		simt_close(machine);
	}
}

/* Keys with equal low bits keep their order: the higher bits, which are not sorted by, show it. */
static void any_number_of_bits_is_stable(void **state)
{
	struct simt_machine *machine = open_machine(8, 2);

	(void)state;
	for (unsigned bits = 1; bits <= 64; bits += EACH) {
		check(machine, 1000, 8, bits, RANDOM);
		if (bits <= 32)
			check(machine, 1000, 4, bits, RANDOM);
	}
	check(machine, 20000, 4, 1, RANDOM);
	check(machine, 20000, 8, 3, RANDOM);
	simt_close(machine);
}

/* More tiles than blocks: parts of several tiles, of which the last is short. */
static void parts_of_many_tiles(void **state)
{
	struct simt_machine *machine = open_machine(1, 1);

	(void)state;
	check(machine, 1500001 / EACH, 4, 12, RANDOM);
	check(machine, 1000003 / EACH, 8, 12, SKEWED);
	simt_close(machine);
}

static void wrong_arguments_are_refused(void **state)
{
	static const unsigned wrong[][2] = {{2, 8}, {0, 1}, {4, 0}, {4, 33}, {8, 65}, {16, 8}};
	struct simt_machine *machine = open_machine(1, 1);
	uint64_t keys[4] = {3, 2, 1, 0}, spare[4];
	void *sorted = NULL;

	(void)state;
	for (unsigned k = 0; k < sizeof wrong / sizeof *wrong; k++)
		assert_int_equal(
		    gn_radix_sort(machine, keys, spare, 2, wrong[k][0], wrong[k][1], &sorted, &error),
		    -GN_EINVAL);
	assert_true(keys[0] == 3 && keys[3] == 0);
	simt_close(machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(sizes_around_warps_tiles_and_parts), cmocka_unit_test(every_kind_of_keys),
	    cmocka_unit_test(any_number_of_bits_is_stable),       cmocka_unit_test(parts_of_many_tiles),
	    cmocka_unit_test(wrong_arguments_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
