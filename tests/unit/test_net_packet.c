/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of messages, and packets that must not be taken in. */
#include "unit.h"

#include <net/packet.h>
#include <net/route.h>
#include <string.h>

/*
 * From every node to every other, in every grid of up to 40: two ways at most, the last one to where it goes.
 */
static void every_message_arrives_after_two_ways_at_most(void **state)
{
	(void)state;
	for (uint32_t nodes = 1; nodes <= 40; nodes++)
		for (uint32_t columns = 1; columns <= nodes; columns++)
			for (uint32_t from = 0; from < nodes; from++)
				for (uint32_t to = 0; to < nodes; to++) {
					struct gn_route r = {nodes, from, columns};
					struct gn_hop hop;

					if (from == to)
						continue;
					hop = gn_route_hop(&r, to);
					assert_true(hop.peer < nodes && hop.peer != from);
					assert_true(hop.link < gn_route_links(&r, (int)hop.passed));
					if (!hop.passed)
						assert_int_equal(hop.peer, to);
					if (hop.peer == to)
						continue;
					r.node = hop.peer;
					hop = gn_route_hop(&r, to);
					assert_int_equal(hop.passed, 0);
					assert_int_equal(hop.peer, to);
				}
}

/* Each link of a node leads to one peer. */
static void a_link_has_one_peer(void **state)
{
	(void)state;
	for (uint32_t nodes = 2; nodes <= 40; nodes++)
		for (uint32_t columns = 1; columns <= nodes; columns++) {
			/* in the last row, which may not be full */
			struct gn_route r = {nodes, nodes - 1, columns};
			uint32_t peer[2][40];

			memset(peer, 0xff, sizeof peer);
			for (uint32_t to = 0; to + 1 < nodes; to++) {
				const struct gn_hop hop = gn_route_hop(&r, to);
				uint32_t *known = &peer[hop.passed][hop.link];

				if (*known == 0xffffffffu)
					*known = hop.peer;
				assert_int_equal(*known, hop.peer);
			}
		}
}

/* Buffers grow with the root of the number of nodes. */
static void two_ways_need_few_links(void **state)
{
	const struct gn_route direct = {1024, 0, 1}, grid = {1024, 0, 32};

	(void)state;
	assert_int_equal(gn_route_links(&direct, 0) + gn_route_links(&direct, 1), 1024);
	assert_int_equal(gn_route_links(&grid, 0) + gn_route_links(&grid, 1), 64);
}

static struct gn_packet packet;
static const struct gn_packet_wanted wanted = {77, GN_REQUESTS, 3, 5, 9, 0};

static void fill(uint32_t words)
{
	memset(&packet, 0, sizeof packet);
	packet.magic = gn_packet_magic;
	packet.version = GN_PACKET_VERSION;
	packet.class_ = GN_REQUESTS;
	packet.session = 77;
	packet.source = 3;
	packet.target = 5;
	packet.sequence = 9;
	packet.words = (uint16_t)words;
	for (uint32_t k = 0; k < words; k++)
		packet.word[k] = k * 0x9e3779b97f4a7c15u;
	gn_packet_seal(&packet, NULL);
}

static void refused_with(const char *word, uint64_t bytes)
{
	struct gn_error error;

	assert_int_equal(gn_packet_check(&packet, bytes, &wanted, &error), -GN_EBADMSG);
	if (!strstr(error.text, word))
		fail_msg("\"%s\" does not say \"%s\"", error.text, word);
}

static void a_packet_that_is_whole_is_taken_in(void **state)
{
	static const uint32_t sizes[] = {0, 1, 2, 100, GN_PACKET_WORDS};

	(void)state;
	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		fill(sizes[k]);
		assert_int_equal(gn_packet_check(&packet, gn_packet_bytes(&packet), &wanted, NULL), 0);
	}
}

static void any_bit_that_changes_is_noticed(void **state)
{
	unsigned char *byte = (unsigned char *)&packet;

	(void)state;
	fill(20);
	for (uint64_t bit = 0; bit < 8 * gn_packet_bytes(&packet); bit++) {
		byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
		assert_int_equal(gn_packet_check(&packet, 32 + 160, &wanted, NULL), -GN_EBADMSG);
		byte[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	assert_int_equal(gn_packet_check(&packet, 32 + 160, &wanted, NULL), 0);
}

static void foreign_packets_are_refused_with_a_reason(void **state)
{
	(void)state;
	fill(4);
	refused_with("states a length of", 32 + 24);
	refused_with("not a packet", 31);
	packet.magic++;
	refused_with("same program", 64);
	fill(4);
	packet.version++;
	refused_with("version", 64);
	fill(4);
	packet.words = GN_PACKET_WORDS + 1;
	refused_with("words", 64);
	fill(GN_PACKET_WORDS); /* compressed, yet too long for that */
	packet.body--;
	refused_with("words", GN_PACKET_BYTES - 1);
	fill(4);
	packet.body = 9;
	refused_with("words", 41);
	fill(4);
	packet.session++;
	gn_packet_seal(&packet, NULL);
	refused_with("another run", 64);
	fill(4);
	packet.source = 4;
	gn_packet_seal(&packet, NULL);
	refused_with("from node 4", 64);
	fill(4);
	packet.sequence = 8;
	gn_packet_seal(&packet, NULL);
	refused_with("packet 9 was expected", 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_message_arrives_after_two_ways_at_most),
	    cmocka_unit_test(a_link_has_one_peer),
	    cmocka_unit_test(two_ways_need_few_links),
	    cmocka_unit_test(a_packet_that_is_whole_is_taken_in),
	    cmocka_unit_test(any_bit_that_changes_is_noticed),
	    cmocka_unit_test(foreign_packets_are_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
