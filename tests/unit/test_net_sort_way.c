/* SPDX-License-Identifier: Apache-2.0 */
/* When a kernel that sorts messages closes a packet. */
#include <net/sort_way.h>
#include <string.h>

#include "unit.h"

/* A way with an open packet of 10 messages; a packet is old after 1000 ns. */
struct settling {
	struct gn_net_view net;
	struct gn_sort_args args;
	struct sort_meeting meeting;
	struct sort_way way;
	struct gn_sorted sorted;
	struct sorter sorter;
	uint64_t word[GN_PACKET_WORDS];
};

static void settle_begin(struct settling *t, uint64_t counts)
{
	memset(t, 0, sizeof *t);
	t->net.nodes = 1;
	t->args.slots = 1;
	t->args.words = t->way.room = GN_PACKET_WORDS;
	t->args.flush_ns = 1000;
	t->args.sorted = &t->sorted;
	t->way.word = t->word;
	t->way.claim = 20;
	t->way.counts = counts;
	t->way.mark = sort_none;
	t->sorter.net = &t->net;
	t->sorter.args = &t->args;
	t->sorter.meeting = &t->meeting;
	t->sorter.way = &t->way;
}

/* Settle every 100 ns until a time. Returns when the packet was closed; 0: it is open. */
static uint64_t settle_until(struct settling *t, uint64_t end, enum sort_when when)
{
	while (t->meeting.now < end && !t->sorted.turn) {
		t->meeting.before = t->meeting.now;
		t->meeting.now += 100;
		sort_settle_way(&t->sorter, 0, when);
	}
	return t->sorted.turn ? t->meeting.now : 0;
}

static void a_packet_ages_slowly_while_a_message_waits(void **state)
{
	static struct settling t;

	(void)state;
	settle_begin(&t, 10);
	assert_int_equal(settle_until(&t, 8000, SORT_STUCK), 0);
	sort_settle_way(&t.sorter, 0, SORT_BUSY); /* the wait ends */
	assert_int_equal(t.sorted.turn, 0);
	assert_in_range(settle_until(&t, 10000, SORT_BUSY), 8100, 8700);
	assert_int_equal(t.sorted.reason, GN_SORT_AGED);
	settle_begin(&t, 10);
	assert_in_range(settle_until(&t, 20000, SORT_STUCK), 8100, 17000);
	settle_begin(&t, 10 | 1ull << GN_SORT_FETCHES); /* a thread waits for a reply */
	assert_int_equal(settle_until(&t, 8000, SORT_STUCK), 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_packet_ages_slowly_while_a_message_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
