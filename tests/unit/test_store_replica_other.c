/* SPDX-License-Identifier: Apache-2.0 */
/* A member, or the log, that is another one than it was; and a log that ends within a region. */
#include <store/set/state.h>

#include "test_replica_support.h"

enum { BYTES = (64 << 10) - 512, REGION = 4096 };

static struct gn_replica_report report;

static int rebuild(struct store_test *t, unsigned members, unsigned from)
{
	return gn_replica_rebuild(t->machine, replica_uri(t, members), from, 0, &report, &t->error);
}

static void must_rebuild(struct store_test *t, unsigned members, unsigned from)
{
	if (rebuild(t, members, from))
		fail_msg("%s", t->error.text);
}

/* Members of which all bytes were written. */
static void fill_members(struct store_test *t, unsigned members)
{
	for (unsigned k = 0; k < members; k++)
		make_member(t, k, BYTES);
	must_rebuild(t, members, 1);
	open_replica(t, members, NULL);
	write_at(t, 0, BYTES, 1);
	close_store(t);
}

static void assert_holds(const struct store_test *t, unsigned k, uint64_t offset, uint64_t bytes,
                         uint32_t round)
{
	unsigned char content[BYTES];

	read_member(t, k, offset, content, bytes);
	for (uint64_t at = 0; at < bytes; at++)
		if (content[at] != byte_of(offset + at, round))
			fail_msg("member %u: byte %llu is wrong", k, (unsigned long long)(offset + at));
}

/* A member is away while something is written. */
static void miss(struct store_test *t, unsigned members, const char *member, uint64_t offset, uint64_t bytes)
{
	rename_file(t, member, "away");
	open_replica(t, members, NULL);
	write_at(t, offset, bytes, 2);
	close_store(t);
	rename_file(t, "away", member);
}

/* ---- the log ---- */

static void the_last_region_may_be_shorter(void **state)
{
	struct store_test *t = (struct store_test *)*state;

	fill_members(t, 2);
	miss(t, 2, "member1", BYTES - 1, 1);
	must_rebuild(t, 2, 0);
	assert_int_equal(report.logged, 1);
	assert_int_equal(report.copied_bytes, REGION - 512);
	assert_holds(t, 1, 0, BYTES - 1, 1);
	assert_holds(t, 1, BYTES - 1, 1, 2);
	assert_state(t, "open 0", 2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    set_case(the_last_region_may_be_shorter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
