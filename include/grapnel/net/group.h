/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/group.h - all nodes together: barrier, broadcast, reductions, all-gather.
 *
 * One thread of every node calls the same functions in the same order, a host thread or a thread of a kernel. They
 * wait for the others, each time for at most the time-out. Codes as in net/fetch.h; gn_net_failure names the node that
 * this one waited for, which may have waited for another itself.
 *
 * Nodes form a binomial tree: what a node knows goes up, what the root knows comes down. Nobody enters the next function
 * before the root has heard of him in this one, so one place a child is enough.
 */
#ifndef GRAPNEL_NET_GROUP_H
#define GRAPNEL_NET_GROUP_H

#include <grapnel/net/fetch.h>

enum { GN_NET_REDUCE_WORDS = 64, GN__NET_CHILDREN = 16 };

/* In symmetric memory that the threads of both views reach. */
struct gn_net_group {
	uint64_t up_seen[GN__NET_CHILDREN]; /* the own count of what has come from each child */
	uint64_t down_seen;
	uint64_t up[GN__NET_CHILDREN]; /* children add here when what they know has come */
	uint64_t down;
	uint64_t up_word[GN__NET_CHILDREN][GN_NET_REDUCE_WORDS];
	uint64_t down_word[GN_NET_REDUCE_WORDS];
};

SIMT_FN struct gn_net_group *gn__net_group(const struct gn_net_view *n)
{
	return n->group;
}

/* A node's place in the tree below root, and the node at a place. */
SIMT_FN uint32_t gn__tree_place(const struct gn_net_view *n, uint32_t root)
{
	return (n->node + n->nodes - root) % n->nodes;
}

SIMT_FN uint32_t gn__tree_node(const struct gn_net_view *n, uint32_t root, uint32_t place)
{
	return (place + root) % n->nodes;
}

SIMT_FN void gn__reduce(uint32_t change, uint64_t *words, const uint64_t *with, uint32_t count)
{
	for (uint32_t k = 0; k < count; k++)
		words[k] = gn__changed((enum gn_change)change, words[k], &with[k], 8);
}

/* Up: hear from all children, then tell the parent. words becomes those of this node and all below it. */
SIMT_FN int gn__tree_up(const struct gn_net_view *n, uint32_t root, uint32_t change, uint64_t *words, uint32_t count)
{
	struct gn_net_group *g = gn__net_group(n);
	const uint32_t place = gn__tree_place(n, root);
	int rc;

	for (uint32_t k = 0; 1u << k < n->nodes; k++) {
		if (place & 1u << k) {
			const uint32_t parent = gn__tree_node(n, root, place - (1u << k));

			rc = gn_net_put(n, parent, g->up_word[k], words, 8ull * count);
			return rc ? rc : gn_net_inc_u64(n, parent, &g->up[k]);
		}
		if (place + (1u << k) >= n->nodes)
			continue;
		rc = gn__net_await(n, gn__tree_node(n, root, place + (1u << k)), &g->up[k], ++g->up_seen[k]);
		if (rc)
			return rc;
		gn__reduce(change, words, g->up_word[k], count);
	}
	return 0;
}

/* The own bytes of symmetric memory to the same place of another node; from a GPU's heap a host thread gets them first. */
SIMT_FN int gn__tree_pass(const struct gn_net_view *n, uint32_t pe, char *memory, uint64_t bytes)
{
	char part[GN_NET_REDUCE_WORDS * 8];
	uint64_t address = 0;
	int rc = gn_net_address(n, memory, bytes, &address);

	if (rc || gn__net_is_near(n, address))
		return rc ? rc : gn_net_put(n, pe, memory, memory, bytes);
	for (uint64_t at = 0; !rc && at < bytes; at += sizeof part) {
		const uint64_t count = bytes - at < sizeof part ? bytes - at : sizeof part;

		rc = gn_net_get(n, n->node, memory + at, part, count);
		if (!rc)
			rc = gn_net_put(n, pe, memory + at, part, count);
	}
	return rc;
}

/* Down: hear from the parent, then tell all children: bytes into the same symmetric place. */
SIMT_FN int gn__tree_down(const struct gn_net_view *n, uint32_t root, void *memory, uint64_t bytes)
{
	struct gn_net_group *g = gn__net_group(n);
	const uint32_t place = gn__tree_place(n, root);
	uint32_t k = 0;
	int rc = 0;

	while (1u << k < n->nodes && !(place & 1u << k))
		k++;
	if (place)
		rc = gn__net_await(n, gn__tree_node(n, root, place - (1u << k)), &g->down, ++g->down_seen);
	while (!rc && k-- > 0) {
		const uint32_t child = gn__tree_node(n, root, place + (1u << k));

		if (place + (1u << k) >= n->nodes)
			continue;
		rc = bytes ? gn__tree_pass(n, child, (char *)memory, bytes) : 0;
		if (!rc)
			rc = gn_net_inc_u64(n, child, &g->down);
	}
	return rc;
}

/* gn_net_barrier - quiet, then wait until all nodes have come here. */
SIMT_FN int gn_net_barrier(const struct gn_net_view *n)
{
	int rc = gn_net_quiet(n);

	if (!rc)
		rc = gn__tree_up(n, 0, GN__GET, 0, 0);
	return rc ? rc : gn__tree_down(n, 0, n->heap, 0);
}

/* gn_net_broadcast - bytes of node root, in symmetric memory, to all nodes. */
SIMT_FN int gn_net_broadcast(const struct gn_net_view *n, uint32_t root, void *memory, uint64_t bytes)
{
	uint64_t address;
	int rc = root < n->nodes ? gn_net_address(n, memory, bytes, &address) : -GN_EINVAL;

	if (rc)
		return gn__net_fail(n, rc, root, GN_MESSAGE_BYTES);
	rc = gn__tree_up(n, root, GN__GET, 0, 0); /* all have come, and want the bytes */
	return rc ? rc : gn__tree_down(n, root, memory, bytes);
}

/*
 * gn_net_reduce_u64 - the words of all nodes become one, on all nodes.
 * @change  GN__ADD, GN__ADD_FLOAT (the words are f64), GN__MIN, GN__MAX, GN__AND, GN__OR, GN__XOR
 * @words   count of them, anywhere; what this node has, then the result; of no use after a failure
 */
SIMT_FN int gn_net_reduce_u64(const struct gn_net_view *n, uint32_t change, uint64_t *words, uint64_t count)
{
	struct gn_net_group *g = gn__net_group(n);
	int rc = 0;

	for (uint64_t at = 0; !rc && at < count; at += GN_NET_REDUCE_WORDS) {
		const uint32_t part = count - at < GN_NET_REDUCE_WORDS ? (uint32_t)(count - at) : (uint32_t)GN_NET_REDUCE_WORDS;

		rc = gn__tree_up(n, 0, change, words + at, part);
		if (!rc && !n->node)
			memcpy(g->down_word, words + at, 8ull * part);
		if (!rc)
			rc = gn__tree_down(n, 0, g->down_word, 8ull * part);
		if (!rc)
			memcpy(words + at, g->down_word, 8ull * part);
	}
	return rc;
}

/*
 * gn_net_all_gather - bytes of every node, one behind the other, on all nodes.
 * @to    symmetric, bytes * nodes of them
 * @from  this node's, anywhere
 */
SIMT_FN int gn_net_all_gather(const struct gn_net_view *n, void *to, const void *from, uint64_t bytes)
{
	int rc = gn_net_barrier(n); /* all want the bytes */

	for (uint32_t k = 0; !rc && k < n->nodes; k++)
		rc = gn_net_put(n, (n->node + k) % n->nodes, (char *)to + n->node * bytes, from, bytes);
	return rc ? rc : gn_net_barrier(n);
}

#endif
