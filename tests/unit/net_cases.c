/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operation does, from kernels and from hosts: programs for all nodes of a run, on whatever carries
 * messages.
 */
#include "net_cases.h"

#include "node_check.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 64, CALLS = 60 };

const char *net_machine_name(void)
{
	const char *name = getenv("NET_MACHINE");

	return name ? name : "cpu";
}

static int launch(struct gn_net *net, const struct simt_kernel *kernel, const void *arguments)
{
	const struct simt_grid grid = {2, THREADS / 2, 0};
	const int rc = simt_launch(gn_net_machine(net), kernel, grid, arguments, NULL);

	return rc ? rc : simt_wait(gn_net_machine(net), NULL);
}

/* The own symmetric memory, wherever it lies. */
static int load(struct gn_net *net, void *to, const void *from, uint64_t bytes)
{
	return gn_net_get(gn_net_host(net), gn_net_node(net), from, to, bytes);
}

static int store(struct gn_net *net, void *to, const void *from, uint64_t bytes)
{
	const int rc = gn_net_put(gn_net_host(net), gn_net_node(net), to, from, bytes);

	return rc ? rc : gn_net_quiet(gn_net_host(net));
}

/* Is this in a word of it? */
static int check_word(struct gn_net *net, const uint64_t *from, uint64_t expected)
{
	uint64_t value;

	CHECK_EQUAL(gn_net_get_u64(gn_net_host(net), gn_net_node(net), from, &value), 0);
	CHECK_EQUAL(value, expected);
	return 0;
}

/* ---- changes: every thread of every node does one to every node ---- */

struct change_args {
	struct gn_net_view net;
	uint64_t *wide; /* one of each kind */
	uint32_t *narrow;
	uint64_t *own; /* [nodes][THREADS], put */
};

enum { ADD, INC, MIN, MAX, AND, OR, XOR, KINDS };

SIMT_FN void change_all(const struct change_args *a)
{
	const uint64_t thread = simt_global_thread();
	const uint64_t mine = a->net.node * (uint64_t)THREADS + thread; /* from 0 to all - 1 */
	const uint64_t bit = 1ull << mine % 64;

	for (uint32_t pe = 0; pe < a->net.nodes; pe++) {
		gn_net_add_u64(&a->net, pe, &a->wide[ADD], mine);
		gn_net_inc_u64(&a->net, pe, &a->wide[INC]);
		gn_net_min_u64(&a->net, pe, &a->wide[MIN], mine);
		gn_net_max_u64(&a->net, pe, &a->wide[MAX], mine);
		gn_net_and_u64(&a->net, pe, &a->wide[AND], ~bit);
		gn_net_or_u64(&a->net, pe, &a->wide[OR], bit);
		gn_net_xor_u64(&a->net, pe, &a->wide[XOR], mine);
		if (thread % 3 == 1) /* some lanes only */
			gn_net_add_u32(&a->net, pe, &a->narrow[ADD], 3);
		gn_net_inc_u32(&a->net, pe, &a->narrow[INC]);
		gn_net_min_u32(&a->net, pe, &a->narrow[MIN], (uint32_t)mine);
		gn_net_max_u32(&a->net, pe, &a->narrow[MAX], (uint32_t)mine);
		gn_net_and_u32(&a->net, pe, &a->narrow[AND], ~(uint32_t)(mine % 2));
		gn_net_or_u32(&a->net, pe, &a->narrow[OR], (uint32_t)bit);
		gn_net_xor_u32(&a->net, pe, &a->narrow[XOR], (uint32_t)mine);
		gn_net_put_u64(&a->net, pe, &a->own[mine], mine * 3 + 1 + pe);
	}
}
SIMT_KERNEL(change_all, struct change_args)

int net_changes(struct gn_net *net, void *unused)
{
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net);
	const uint64_t all = (uint64_t)nodes * THREADS;
	struct change_args a = {gn_net_device(net), NULL, NULL, NULL};
	uint64_t sum = all * (all - 1) / 2, odd = 0, wide[KINDS] = {0}, own[16 * THREADS];
	uint32_t narrow[KINDS] = {0};
	struct gn_net_fault fault;

	(void)unused;
	a.wide = (uint64_t *)gn_net_alloc(net, KINDS * sizeof *a.wide, NULL);
	a.narrow = (uint32_t *)gn_net_alloc(net, KINDS * sizeof *a.narrow, NULL);
	a.own = (uint64_t *)gn_net_alloc(net, all * sizeof *a.own, NULL);
	wide[MIN] = wide[AND] = ~0ull;
	narrow[MIN] = narrow[AND] = ~0u;
	CHECK_EQUAL(store(net, a.wide, wide, sizeof wide), 0);
	CHECK_EQUAL(store(net, a.narrow, narrow, sizeof narrow), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(launch(net, &change_all_kernel, &a), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	for (uint64_t k = 0; k < all; k++)
		odd ^= k;
	CHECK_EQUAL(load(net, wide, a.wide, sizeof wide), 0);
	CHECK_EQUAL(load(net, narrow, a.narrow, sizeof narrow), 0);
	CHECK_EQUAL(load(net, own, a.own, all * sizeof *own), 0);
	CHECK_EQUAL(wide[ADD], sum);
	CHECK_EQUAL(wide[INC], all);
	CHECK_EQUAL(wide[MIN], 0);
	CHECK_EQUAL(wide[MAX], all - 1);
	CHECK_EQUAL(wide[AND], 0);
	CHECK_EQUAL(wide[OR], ~0ull);
	CHECK_EQUAL(wide[XOR], odd);
	CHECK_EQUAL(narrow[ADD], 3 * 21 * nodes);
	CHECK_EQUAL(narrow[INC], all);
	CHECK_EQUAL(narrow[MIN], 0);
	CHECK_EQUAL(narrow[MAX], all - 1);
	CHECK_EQUAL(narrow[AND], ~1u);
	CHECK_EQUAL(narrow[OR], ~0u);
	CHECK_EQUAL(narrow[XOR], odd);
	for (uint64_t k = 0; k < all; k++)
		CHECK_EQUAL(own[k], k * 3 + 1 + node);
	CHECK_EQUAL(gn_net_failure(net, &fault, NULL), 0);
	return gn_net_barrier(gn_net_host(net));
}

/* ---- fetching ---- */

struct fetch_args {
	struct gn_net_view net;
	uint64_t *counter; /* [0] u64, then a u32 behind it */
	uint32_t *ticket;
	uint64_t *seen; /* [nodes * THREADS] how often a ticket of node 0 was drawn */
	uint64_t *link; /* compare-and-swap */
	uint64_t *wrong;
};

SIMT_FN void fetch_all(const struct fetch_args *a)
{
	const uint32_t last = a->net.nodes - 1;
	uint64_t drawn, seen, expected, before;
	uint32_t narrow;

	/* every ticket is drawn once */
	if (gn_net_fetch_add_u64(&a->net, 0, a->counter, 1, &drawn))
		simt_add_relaxed_dev_u64(a->wrong, 1);
	gn_net_inc_u64(&a->net, last, &a->seen[drawn]);
	gn_net_fetch_add_u32(&a->net, last, a->ticket, 2, &narrow);
	if (narrow % 2)
		simt_add_relaxed_dev_u64(a->wrong, 1);
	/* what was put before is seen */
	gn_net_get_u64(&a->net, last, &a->seen[drawn], &seen);
	if (seen != 1)
		simt_add_relaxed_dev_u64(a->wrong, 1);
	/* an addition by compare-and-swap */
	gn_net_get_u64(&a->net, last, a->link, &before);
	do {
		expected = before;
		gn_net_cas_u64(&a->net, last, a->link, expected, expected + drawn, &before);
	} while (before != expected);
}
SIMT_KERNEL(fetch_all, struct fetch_args)

int net_fetches(struct gn_net *net, void *unused)
{
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net);
	const uint64_t all = (uint64_t)nodes * THREADS;
	uint64_t seen[16 * THREADS];
	struct fetch_args a;
	uint32_t ticket;

	(void)unused;
	memset(&a, 0, sizeof a);
	a.net = gn_net_device(net);
	a.counter = (uint64_t *)gn_net_alloc(net, 8, NULL);
	a.ticket = (uint32_t *)gn_net_alloc(net, 4, NULL);
	a.seen = (uint64_t *)gn_net_alloc(net, all * 8, NULL);
	a.link = (uint64_t *)gn_net_alloc(net, 8, NULL);
	a.wrong = (uint64_t *)gn_net_alloc(net, 8, NULL);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(launch(net, &fetch_all_kernel, &a), 0);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK(!check_word(net, a.wrong, 0));
	CHECK(!check_word(net, a.counter, node ? 0 : all));
	if (node == nodes - 1) {
		CHECK_EQUAL(load(net, &ticket, a.ticket, sizeof ticket), 0);
		CHECK_EQUAL(load(net, seen, a.seen, all * sizeof *seen), 0);
		CHECK_EQUAL(ticket, 2 * all);
		CHECK(!check_word(net, a.link, all * (all - 1) / 2));
		for (uint64_t k = 0; k < all; k++)
			CHECK_EQUAL(seen[k], 1);
	}
	return gn_net_barrier(gn_net_host(net));
}

int net_host_forms(struct gn_net *net, void *unused)
{
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t next = (gn_net_node(net) + 1) % gn_net_nodes(net);
	const uint32_t before = (gn_net_node(net) + gn_net_nodes(net) - 1) % gn_net_nodes(net);
	uint64_t *cell = (uint64_t *)gn_net_alloc(net, 64, NULL);
	uint32_t *narrow = (uint32_t *)(cell + 4);
	uint64_t value;
	uint32_t small;

	(void)unused;
	CHECK_EQUAL(gn_net_barrier(n), 0);
	CHECK_EQUAL(gn_net_put_u64(n, next, &cell[0], 100 + next), 0);
	CHECK_EQUAL(gn_net_get_u64(n, next, &cell[0], &value), 0);
	CHECK_EQUAL(value, 100 + next);
	gn_net_swap_u64(n, next, &cell[0], 7, &value);
	CHECK_EQUAL(value, 100 + next);
	gn_net_fetch_xor_u64(n, next, &cell[0], 2, &value);
	CHECK_EQUAL(value, 7);
	gn_net_fetch_or_u64(n, next, &cell[0], 8, &value);
	CHECK_EQUAL(value, 5);
	gn_net_fetch_and_u64(n, next, &cell[0], 12, &value);
	CHECK_EQUAL(value, 13);
	gn_net_fetch_min_u64(n, next, &cell[0], 3, &value);
	CHECK_EQUAL(value, 12);
	gn_net_fetch_max_u64(n, next, &cell[0], 9, &value);
	CHECK_EQUAL(value, 3);
	gn_net_put_u32(n, next, narrow, 5);
	gn_net_swap_u32(n, next, narrow, 6, &small);
	CHECK_EQUAL(small, 5);
	gn_net_cas_u32(n, next, narrow, 5, 1, &small);
	CHECK_EQUAL(small, 6);
	gn_net_cas_u32(n, next, narrow, 6, 1u << 31, &small);
	gn_net_fetch_add_u32(n, next, narrow, 1u << 31, &small);
	CHECK_EQUAL(small, 1u << 31);
	gn_net_get_u32(n, next, narrow, &small);
	CHECK_EQUAL(small, 0);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	CHECK(!check_word(net, cell, 9));
	CHECK_EQUAL(load(net, &small, narrow + 1, sizeof small), 0);
	CHECK_EQUAL(small, 0);
	(void)before;
	return gn_net_barrier(n);
}

/* ---- bytes ---- */

static unsigned char byte_of(uint32_t node, uint64_t at)
{
	return (unsigned char)(node * 31 + at * 7 + at / 251);
}

int net_bytes(struct gn_net *net, void *unused)
{
	enum { BYTES = 70001, LEAD = 3 };
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net), next = (node + 1) % nodes;
	unsigned char *mine = (unsigned char *)malloc(BYTES), *got = (unsigned char *)calloc(1, BYTES);
	unsigned char *area = (unsigned char *)gn_net_alloc(net, BYTES + 16, NULL),
	              *come = (unsigned char *)malloc(BYTES + 16);

	(void)unused;
	CHECK(mine);
	CHECK(got);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	for (uint64_t k = 0; k < BYTES; k++)
		mine[k] = byte_of(node, k);
	CHECK_EQUAL(gn_net_put(n, next, area + LEAD, mine, BYTES), 0);
	memset(mine, 0, BYTES); /* at once */
	CHECK_EQUAL(gn_net_get(n, next, area + LEAD, got, BYTES), 0);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	CHECK(come);
	CHECK_EQUAL(load(net, come, area, BYTES + 16), 0);
	for (uint64_t k = 0; k < BYTES; k++) {
		CHECK_EQUAL(got[k], byte_of(node, k));
		CHECK_EQUAL(come[LEAD + k], byte_of((node + nodes - 1) % nodes, k));
	}
	CHECK_EQUAL(come[LEAD - 1], 0);
	CHECK_EQUAL(come[LEAD + BYTES], 0);
	CHECK_EQUAL(gn_net_put(n, next, area, mine, 0), 0);
	free(mine);
	free(got);
	free(come);
	return gn_net_barrier(n);
}

/* ---- active messages ---- */

struct hop_message {
	uint64_t left; /* how often it goes on */
	uint64_t sum;
};

struct hop_state {
	uint32_t nodes, node;
	uint64_t arrived, last, payload_wrong;
};

static void hop_on(const struct gn_net_incoming *message, void *context)
{
	struct hop_state *s = (struct hop_state *)context;
	struct hop_message m;

	memcpy(&m, message->payload, sizeof m);
	s->arrived++;
	s->payload_wrong += message->bytes != sizeof m;
	m.sum += s->node;
	if (!m.left--)
		s->last = m.sum;
	else
		gn_net_call(message->net, (s->node + 1) % s->nodes, 1, &m, sizeof m);
}

static void never(const struct gn_net_incoming *message, void *context)
{
	(void)message;
	(void)context;
	abort();
}

struct call_args {
	struct gn_net_view net;
	uint32_t handler;
};

/* The lanes of a warp call with other numbers of bytes, some appended together and some alone. */
SIMT_FN uint32_t call_bytes(uint32_t thread, uint32_t k)
{
	return 8 + (thread / 4 * 7 + k * 13) % (GN_NET_MOST_CALL_BYTES - 7);
}

SIMT_FN void call_next(const struct call_args *a)
{
	const uint32_t thread = (uint32_t)simt_global_thread(), pe = (a->net.node + 1) % a->net.nodes;
	char bytes[GN_NET_MOST_CALL_BYTES];

	for (uint32_t k = 0; k < CALLS; k++) {
		const uint32_t name[2] = {thread, k};

		memset(bytes, (char)(thread + k), sizeof bytes);
		memcpy(bytes, name, sizeof name);
		gn_net_call(&a->net, pe, a->handler, bytes, call_bytes(thread, k));
	}
}
SIMT_KERNEL(call_next, struct call_args)

struct called {
	uint32_t arrived, wrong, next[THREADS];
};

/* Each thread's calls arrive in their order, with their bytes. */
static void count_call(const struct gn_net_incoming *message, void *context)
{
	struct called *c = (struct called *)context;
	const char *bytes = (const char *)message->payload;
	uint32_t name[2];

	memcpy(name, bytes, sizeof name);
	c->arrived++;
	c->wrong += c->next[name[0] % THREADS]++ != name[1] || message->bytes != call_bytes(name[0], name[1]);
	for (uint32_t at = sizeof name; at < message->bytes; at++)
		c->wrong += bytes[at] != (char)(name[0] + name[1]);
}

int net_calls_of_kernels(struct gn_net *net, void *unused)
{
	struct call_args a = {gn_net_device(net), 0};
	struct called c = {0, 0, {0}};

	(void)unused;
	a.handler = (uint32_t)gn_net_handler(net, "count call", count_call, &c, NULL);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(launch(net, &call_next_kernel, &a), 0);
	CHECK_EQUAL(gn_net_settle(net, NULL), 0);
	CHECK_EQUAL(c.arrived, THREADS * CALLS);
	CHECK_EQUAL(c.wrong, 0);
	return gn_net_barrier(gn_net_host(net));
}

int net_calls(struct gn_net *net, void *unused)
{
	enum { HOPS = 200 };
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net);
	struct hop_state s = {nodes, node, 0, 0, 0};
	struct hop_message m = {HOPS, 0};
	uint64_t sum = 0;

	(void)unused;
	CHECK_EQUAL(gn_net_handler(net, "never", never, NULL, NULL), 0);
	CHECK_EQUAL(gn_net_handler(net, "never", hop_on, NULL, NULL), -GN_EINVAL);
	CHECK_EQUAL(gn_net_handler(net, "hop on", hop_on, &s, NULL), 1);
	CHECK_EQUAL(gn_net_barrier(gn_net_host(net)), 0);
	CHECK_EQUAL(gn_net_call(gn_net_host(net), node, 1, &m, sizeof m), 0);
	CHECK_EQUAL(gn_net_settle(net, NULL), 0);
	/* the last hop here is that of the message which began HOPS nodes before */
	for (uint32_t k = 0; k <= HOPS; k++)
		sum += (node + (uint64_t)nodes * HOPS - k) % nodes;
	CHECK_EQUAL(s.arrived, HOPS + 1);
	CHECK_EQUAL(s.last, sum);
	CHECK_EQUAL(s.payload_wrong, 0);
	return gn_net_barrier(gn_net_host(net));
}

/* ---- together ---- */

int net_together(struct gn_net *net, void *unused)
{
	enum { WORDS = 200 };
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net);
	uint64_t *shared = (uint64_t *)gn_net_alloc(net, WORDS * 8, NULL), word[WORDS];
	uint64_t *all = (uint64_t *)gn_net_alloc(net, nodes * 16ull, NULL), mine[2] = {node, node * node};
	double part, sum;

	(void)unused;
	for (uint32_t root = 0; root < nodes; root++) {
		for (uint32_t k = 0; k < WORDS; k++)
			word[k] = node == root ? root * 1000 + k : 0;
		CHECK_EQUAL(store(net, shared, word, sizeof word), 0);
		CHECK_EQUAL(gn_net_broadcast(n, root, shared, WORDS * 8), 0);
		CHECK_EQUAL(load(net, word, shared, sizeof word), 0);
		for (uint32_t k = 0; k < WORDS; k++)
			CHECK_EQUAL(word[k], root * 1000 + k);
		CHECK_EQUAL(gn_net_barrier(n), 0);
	}
	for (uint32_t k = 0; k < WORDS; k++)
		word[k] = node + k;
	CHECK_EQUAL(gn_net_reduce_u64(n, GN_ADD, word, WORDS), 0);
	for (uint32_t k = 0; k < WORDS; k++)
		CHECK_EQUAL(word[k], nodes * (nodes - 1) / 2 + nodes * k);
	word[0] = node + 5;
	CHECK_EQUAL(gn_net_reduce_u64(n, GN_MIN, word, 1), 0);
	CHECK_EQUAL(word[0], 5);
	word[0] = node + 5;
	CHECK_EQUAL(gn_net_reduce_u64(n, GN_MAX, word, 1), 0);
	CHECK_EQUAL(word[0], nodes + 4);
	part = node + 0.5;
	memcpy(word, &part, 8);
	CHECK_EQUAL(gn_net_reduce_u64(n, GN_ADD_FLOAT, word, 1), 0);
	memcpy(&sum, word, 8);
	CHECK(sum == nodes * (nodes - 1) / 2 + nodes * 0.5);
	CHECK_EQUAL(gn_net_all_gather(n, all, mine, sizeof mine), 0);
	CHECK_EQUAL(load(net, word, all, nodes * 16ull), 0);
	for (uint32_t k = 0; k < nodes; k++) {
		CHECK_EQUAL(word[2 * k], k);
		CHECK_EQUAL(word[2 * k + 1], k * k);
	}
	return gn_net_barrier(n);
}

/* Elements that are no words: a product modulo context, and of how many nodes. */
struct product {
	uint64_t of;
	uint32_t nodes;
};

static void multiply(void *into, const void *with, uint32_t count, uint64_t context)
{
	struct product *a = (struct product *)into;
	const struct product *b = (const struct product *)with;

	for (uint32_t k = 0; k < count; k++) {
		a[k].of = a[k].of * b[k].of % context;
		a[k].nodes += b[k].nodes;
	}
}

/* Those with an even and those with an odd number, at the same time in the same group. */
int net_teams(struct gn_net *net, void *unused)
{
	enum { WORDS = 150, PRIME = 1000003 };
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t nodes = gn_net_nodes(net), node = gn_net_node(net), odd = node % 2;
	uint64_t *all = (uint64_t *)gn_net_alloc_shared(net, nodes * 8ull, NULL);
	uint64_t *shared = (uint64_t *)gn_net_alloc_shared(net, WORDS * 8, NULL);
	uint64_t sum = 0, mine[WORDS], word[1] = {node};
	uint64_t expected = 1;
	struct product factor[WORDS];
	struct gn_net_team team = {odd, 2, (nodes + 1 - odd) / 2, NULL};
	uint32_t place = 77;

	(void)unused;
	team.group = (struct gn_net_group *)gn_net_alloc_shared(net, sizeof *team.group, NULL);
	CHECK_EQUAL(gn_net_barrier(n), 0);
	CHECK_EQUAL(gn_net_team_rank(n, &team, &place), 0);
	CHECK_EQUAL(place, node / 2);
	for (uint32_t root = 0; root < team.nodes; root++) {
		const uint64_t from = gn_net_team_node(&team, root);

		for (uint32_t k = 0; k < WORDS; k++) {
			mine[k] = node * 1000 + k;
			shared[k] = 7;
		}
		CHECK_EQUAL(gn_net_team_broadcast(n, &team, root, shared, mine, sizeof mine), 0);
		for (uint32_t k = 0; k < WORDS; k++)
			CHECK_EQUAL(shared[k], from == node ? 7 : from * 1000 + k);
		CHECK_EQUAL(gn_net_team_barrier(n, &team), 0);
	}
	memset(factor, 0, sizeof factor); /* what lies between members is sent too */
	for (uint32_t k = 0; k < WORDS; k++) {
		factor[k].of = node + k + 2;
		factor[k].nodes = 1;
	}
	CHECK_EQUAL(gn_net_team_reduce(n, &team, factor, WORDS, sizeof factor[0], multiply, PRIME), 0);
	for (uint32_t k = odd; k < nodes; k += 2) {
		sum += k;
		expected = expected * (k + WORDS + 1) % PRIME;
	}
	CHECK_EQUAL(factor[WORDS - 1].of, expected);
	CHECK_EQUAL(factor[WORDS - 1].nodes, team.nodes);
	CHECK_EQUAL(gn_net_team_reduce_u64(n, &team, GN_ADD, word, 1), 0);
	CHECK_EQUAL(word[0], sum);
	CHECK_EQUAL(gn_net_team_all_gather(n, &team, all, &mine[3], 8), 0);
	for (uint32_t k = 0; k < team.nodes; k++)
		CHECK_EQUAL(all[k], (2 * k + odd) * 1000 + 3);
	for (size_t k = 0; k < offsetof(struct gn_net_group, down_word) / 8; k++)
		CHECK_EQUAL(((uint64_t *)team.group)[k], 0);
	return gn_net_barrier(n);
}

int net_alignment(struct gn_net *net, void *unused)
{
	char *odd = (char *)gn_net_alloc(net, 100, NULL),
	     *page = (char *)gn_net_alloc_aligned(net, 4096, 5000, NULL),
	     *before = (char *)gn_net_alloc(net, 500, NULL);

	(void)unused;
	CHECK(page && (uintptr_t)page % 4096 == 0);
	CHECK_EQUAL(gn_net_bytes(net, page), 5056);
	CHECK_EQUAL(gn_net_bytes(net, page + 64), 0);
	CHECK(before > odd && before < page); /* what was skipped is not lost */
	CHECK(!gn_net_alloc_aligned(net, 3, 100, NULL));
	CHECK(!gn_net_alloc_aligned(net, 1 << 16, 100, NULL)); /* more than a small heap begins at */
	gn_net_free(net, page);
	gn_net_free(net, before);
	gn_net_free(net, odd);
	CHECK_EQUAL(gn_net_alloc(net, 20000, NULL), odd);
	return gn_net_barrier(gn_net_host(net));
}

/* ---- what cannot be ---- */

int net_refused(struct gn_net *net, void *unused)
{
	const struct gn_net_view *n = gn_net_host(net);
	const uint32_t nodes = gn_net_nodes(net);
	uint64_t *cell = (uint64_t *)gn_net_alloc(net, 8, NULL), elsewhere, value;
	const struct gn_net_team others = {(gn_net_node(net) + 1) % nodes, 1, 1, NULL},
	                         beyond = {0, 1, nodes + 1, NULL};
	struct gn_net_fault fault;

	(void)unused;
	CHECK_EQUAL(gn_net_failure(net, &fault, NULL), 0);
	CHECK_EQUAL(gn_net_put_u64(n, nodes, cell, 1), -GN_EINVAL);
	CHECK_EQUAL(gn_net_put_u64(n, 1, &elsewhere, 1), -GN_ERANGE);
	CHECK_EQUAL(gn_net_put_u64(n, 1, (uint64_t *)((char *)cell + 4), 1), -GN_EINVAL);
	CHECK_EQUAL(gn_net_put(n, 1, cell, cell, 2 << 20), -GN_ERANGE);
	CHECK_EQUAL(gn_net_get_u64(n, nodes + 5, cell, &value), -GN_EINVAL);
	CHECK_EQUAL(gn_net_call(n, 1, 0, cell, 65), -GN_EINVAL);
	CHECK_EQUAL(gn_net_broadcast(n, nodes + 7, cell, 8), -GN_EINVAL);
	CHECK_EQUAL(gn_net_all_gather(n, cell, cell, n->heap_bytes / nodes + 8), -GN_ERANGE);
	CHECK_EQUAL(gn_net_all_gather(n, cell, cell, ~0ull / nodes + 1), -GN_ERANGE);
	CHECK_EQUAL(gn_net_team_sync(n, &others), -GN_EINVAL);
	CHECK_EQUAL(gn_net_team_sync(n, &beyond), -GN_EINVAL);
	CHECK_EQUAL(gn_net_failure(net, &fault, NULL), -GN_EINVAL);
	CHECK_EQUAL(fault.peer, nodes);
	CHECK(!gn_net_alloc(net, 2 << 20, NULL));
	return gn_net_barrier(n);
}

/* ---- memory ---- */

int net_memory(struct gn_net *net, void *unused)
{
	char *a = (char *)gn_net_alloc(net, 100, NULL), *b = (char *)gn_net_alloc(net, 100, NULL),
	     *c = (char *)gn_net_alloc(net, 100, NULL);
	char *again, ones[100];

	(void)unused;
	CHECK(a && b && c && a != b && b != c);
	CHECK_EQUAL((uintptr_t)b % 64, 0);
	memset(ones, 1, sizeof ones);
	CHECK_EQUAL(store(net, b, ones, sizeof ones), 0);
	gn_net_free(net, b);
	gn_net_free(net, a);
	again = (char *)gn_net_alloc(net, 200, NULL); /* both together */
	CHECK_EQUAL(again, a);
	CHECK_EQUAL(load(net, ones, again + 100, sizeof ones), 0);
	CHECK_EQUAL(ones[28], 0);
	gn_net_free(net, again);
	gn_net_free(net, c);
	gn_net_free(net, NULL);
	CHECK_EQUAL(gn_net_alloc(net, 900000, NULL), a);
	return gn_net_barrier(gn_net_host(net));
}
