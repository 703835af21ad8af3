/* SPDX-License-Identifier: Apache-2.0 */
#include "gups/check.h"

#include <stdlib.h>

#include "gups/sequence.h"

struct check {
	const struct gups *g;
	uint64_t nodes, node;
	uint64_t *part;   /* copy of this node's part */
	uint64_t *wanted; /* words of the part, or a word for each node */
};

/*
 * The node of a random number. As HPCC has it, the number is the index of a word of the whole table. Where
 * the nodes are no power of two, its upper half is scaled to them.
 */
static uint64_t owner_of(const struct check *c, uint64_t random)
{
	if (c->nodes & (c->nodes - 1))
		return ((random >> 32) * c->nodes) >> 32;
	return random % (c->nodes * c->g->part_words) / c->g->part_words;
}

static void add(const struct check *c, uint64_t *to, uint64_t random)
{
	*to = c->g->xors ? *to ^ random : *to + 1;
}

/* The word before any update: HPCC's table begins with the indexes of its words. */
static uint64_t initial(const struct check *c, uint64_t k)
{
	return c->g->xors ? c->node * c->g->part_words + k : 0;
}

/*
 * Apply the updates of all nodes one after the other, and keep the words of this node's part. Returns the
 * number of words in which the part differs.
 */
static uint64_t check_words(const struct check *c)
{
	uint64_t random = 1, wrong = 0;

	for (uint64_t k = 0; k < c->g->part_words; k++)
		c->wanted[k] = initial(c, k);
	for (uint64_t k = c->g->updates * c->nodes; k > 0; k--) {
		random = gups_next(random);
		if (owner_of(c, random) == c->node)
			add(c, &c->wanted[random % c->g->part_words], random);
	}
	for (uint64_t k = 0; k < c->g->part_words; k++)
		wrong += c->part[k] != c->wanted[k];
	return wrong;
}

/* What this node sends to each node; together with what the others send it is what each must have. */
static int check_sums(struct gn_net *net, const struct check *c, uint64_t *wrong)
{
	uint64_t random = gups_at(c->node * c->g->updates), sum = 0;
	int rc;

	for (uint64_t k = 0; k < c->g->updates; k++) {
		random = gups_next(random);
		add(c, &c->wanted[owner_of(c, random)], random);
	}
	rc = gn_net_reduce_u64(gn_net_host(net), c->g->xors ? GN_XOR : GN_ADD, c->wanted, c->nodes);
	for (uint64_t k = 0; k < c->g->part_words; k++)
		sum = c->g->xors ? sum ^ c->part[k] ^ initial(c, k) : sum + c->part[k];
	*wrong = !rc && sum != c->wanted[c->node];
	return rc;
}

uint32_t gups_every_word(const struct gups *g, uint64_t nodes)
{
	return g->updates <= GUPS_MOST_DRAWN / (nodes * nodes) && g->part_words <= GUPS_MOST_DRAWN;
}

/* If one node lacks memory all of them end here, instead of waiting for it. */
static int all_ready(struct gn_net *net, int rc)
{
	uint64_t failed = rc != 0;
	const int met = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &failed, 1);

	return rc ? rc : met ? met : failed ? -GN_ENOMEM : 0;
}

int gups_check(struct gn_net *net, const struct gups *g, uint32_t every_word, const uint64_t *part,
               uint64_t *wrong, struct gn_error *error)
{
	struct check c = {g, gn_net_nodes(net), gn_net_node(net), NULL, NULL};
	int rc = -GN_ENOMEM;

	*wrong = 0;
	c.part = (uint64_t *)malloc(g->part_words * 8);
	c.wanted = (uint64_t *)calloc(every_word ? g->part_words : c.nodes, 8);
	if (c.part && c.wanted)
		rc = simt_move(gn_net_machine(net), c.part, part, g->part_words * 8, error);
	rc = all_ready(net, rc);
	if (!rc && every_word)
		*wrong = check_words(&c);
	else if (!rc)
		rc = check_sums(net, &c, wrong);
	free(c.part);
	free(c.wanted);
	return rc ? rc : gn_net_reduce_u64(gn_net_host(net), GN_ADD, wrong, 1);
}
