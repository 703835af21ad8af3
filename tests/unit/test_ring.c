/* SPDX-License-Identifier: Apache-2.0 */
/* The ring alone: what one thread sees, and that several host threads lose and repeat nothing. */
#include "unit.h"

#include <pthread.h>
#include <string.h>

#include <grapnel/ring.h>

enum { MOST_DEPTH = 64 };

struct fixture {
	struct gn_ring ring;
	uint32_t turn[MOST_DEPTH];
	uint64_t record[MOST_DEPTH];
};

static const uint32_t starts[] = {0, 1, 7, 0x7ffffffeu, 0xfffffffdu, 0xffffffffu};
enum { STARTS = sizeof starts / sizeof *starts };

static int put(struct fixture *f, uint64_t value)
{
	uint32_t ticket;
	int rc = gn_ring_reserve(&f->ring, &ticket);

	if (rc)
		return rc;
	f->record[gn_ring_slot(&f->ring, ticket)] = value;
	gn_ring_commit(&f->ring, ticket);
	return 0;
}

static int get(struct fixture *f, uint64_t *value)
{
	uint32_t ticket;
	int rc = gn_ring_take(&f->ring, &ticket);

	if (rc)
		return rc;
	*value = f->record[gn_ring_slot(&f->ring, ticket)];
	gn_ring_release(&f->ring, ticket);
	return 0;
}

static void make(struct fixture *f, uint32_t depth, uint32_t start)
{
	memset(f, 0, sizeof *f);
	assert_int_equal(gn_ring_init(&f->ring, f->turn, f->turn, depth, start), 0);
}

/* A refusal must leave every byte as it was, turns included. */
static void refused_unchanged(struct fixture *f, int (*refused)(struct gn_ring *, uint32_t *))
{
	struct fixture before = *f;
	uint32_t ticket = 0xabcd;

	assert_int_equal(refused(&f->ring, &ticket), -GN_EAGAIN);
	assert_int_equal(ticket, 0xabcd);
	assert_memory_equal(&before, f, sizeof before);
}

static void test_depths(void **state)
{
	static const uint32_t bad[] = {0, 1, 3, 6, 12, 100, (1u << 30) + 1, 1u << 31, 0xffffffffu};
	struct fixture f;

	(void)state;
	memset(&f, 0, sizeof f);
	/* With one slot "full" and "free for the next round" would be the same turn. */
	for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
		assert_int_equal(gn_ring_init(&f.ring, f.turn, f.turn, bad[k], 0), -GN_EINVAL);
	for (uint32_t depth = 2; depth <= MOST_DEPTH; depth *= 2)
		assert_int_equal(gn_ring_init(&f.ring, f.turn, f.turn, depth, 0), 0);
}

static void fill_and_empty(uint32_t depth, uint32_t start)
{
	struct fixture f;
	uint64_t value;

	make(&f, depth, start);
	for (int round = 0; round < 3; round++) {
		refused_unchanged(&f, gn_ring_take);
		for (uint32_t k = 0; k < depth; k++)
			assert_int_equal(put(&f, 100 * (uint64_t)round + k), 0);
		refused_unchanged(&f, gn_ring_reserve);
		for (uint32_t k = 0; k < depth; k++) {
			assert_int_equal(get(&f, &value), 0);
			assert_int_equal(value, 100 * (uint64_t)round + k);
		}
	}
}

static void test_full_and_empty(void **state)
{
	(void)state;
	for (uint32_t depth = 2; depth <= MOST_DEPTH; depth *= 2)
		for (int k = 0; k < STARTS; k++)
			fill_and_empty(depth, starts[k]);
}

/* Every fill level passes every slot and the wrap of the 32-bit tickets. */
static void steps(uint32_t depth, uint32_t level, uint32_t start)
{
	struct fixture f;
	uint64_t written = 0, read = 0, value;

	make(&f, depth, start);
	while (written < level)
		assert_int_equal(put(&f, written++), 0);
	for (int k = 0; k < 5 * MOST_DEPTH; k++) {
		assert_int_equal(get(&f, &value), 0);
		assert_int_equal(value, read++);
		assert_int_equal(put(&f, written++), 0);
	}
}

static void test_wrap(void **state)
{
	(void)state;
	for (uint32_t level = 1; level <= 8; level++)
		for (int k = 0; k < STARTS; k++)
			steps(8, level, starts[k]);
}

/* Records are taken in the order of tickets: an uncommitted one holds back those behind it. */
static void test_commit_order(void **state)
{
	struct fixture f;
	uint32_t first, second, taken;

	(void)state;
	make(&f, 4, 0xfffffffeu);
	assert_int_equal(gn_ring_reserve(&f.ring, &first), 0);
	assert_int_equal(gn_ring_reserve(&f.ring, &second), 0);
	gn_ring_commit(&f.ring, second);
	refused_unchanged(&f, gn_ring_take);
	gn_ring_commit(&f.ring, first);
	assert_int_equal(gn_ring_take(&f.ring, &taken), 0);
	assert_int_equal(taken, first);
	assert_int_equal(gn_ring_take(&f.ring, &taken), 0);
	assert_int_equal(taken, second);
}

/* A slot that is taken but not released is still the consumer's. */
static void test_release_order(void **state)
{
	struct fixture f;
	uint32_t first, second, ticket;

	(void)state;
	make(&f, 2, 0xffffffffu);
	assert_int_equal(put(&f, 1), 0);
	assert_int_equal(put(&f, 2), 0);
	assert_int_equal(gn_ring_take(&f.ring, &first), 0);
	assert_int_equal(gn_ring_take(&f.ring, &second), 0);
	gn_ring_release(&f.ring, second);
	refused_unchanged(&f, gn_ring_reserve);
	gn_ring_release(&f.ring, first);
	assert_int_equal(gn_ring_reserve(&f.ring, &ticket), 0);
	assert_int_equal(ticket, first + 2);
}

enum { SIDE = 3, EACH = 20000 };

struct crowd {
	struct fixture f;
	uint32_t producers; /* how many have begun: their number */
	uint32_t seen[SIDE * EACH];
	uint32_t taken;
};

static void *produce(void *user)
{
	struct crowd *c = (struct crowd *)user;
	uint64_t first = (uint64_t)simt_add_relaxed_dev_u32(&c->producers, 1) * EACH;

	for (uint64_t k = 0; k < EACH; k++)
		while (put(&c->f, first + k))
			simt_relax();
	return NULL;
}

static void *consume(void *user)
{
	struct crowd *c = (struct crowd *)user;
	uint64_t value;

	while (simt_load_relaxed_dev_u32(&c->taken) < SIDE * EACH) {
		if (get(&c->f, &value)) {
			simt_relax();
			continue;
		}
		simt_add_relaxed_dev_u32(&c->seen[value], 1);
		simt_add_relaxed_dev_u32(&c->taken, 1);
	}
	return NULL;
}

static void test_host_threads(void **state)
{
	static struct crowd c;
	pthread_t thread[2 * SIDE];

	(void)state;
	make(&c.f, 8, 0xffffff00u);
	for (int k = 0; k < 2 * SIDE; k++)
		assert_int_equal(pthread_create(&thread[k], NULL, k % 2 ? produce : consume, &c), 0);
	for (int k = 0; k < 2 * SIDE; k++)
		pthread_join(thread[k], NULL);
	for (int k = 0; k < SIDE * EACH; k++)
		assert_int_equal(c.seen[k], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_depths),        cmocka_unit_test(test_full_and_empty),
	    cmocka_unit_test(test_wrap),          cmocka_unit_test(test_commit_order),
	    cmocka_unit_test(test_release_order), cmocka_unit_test(test_host_threads),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
