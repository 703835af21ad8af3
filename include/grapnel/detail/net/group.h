/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/group.h - functions that the nodes of a team, or all nodes, call together: barrier, broadcast,
 * reductions, all-gather.
 *
 * The nodes form a binomial tree. Each node sends its elements up, and the root sends the result down. No
 * node enters the next function before the root has heard from it in this one. So one place for each child is
 * enough, and a node that leaves a function has read all that was sent to it.
 *
 * A function that fails on a node leaves counts behind that the next one would take for its own. So the group
 * has failed there: every later function over it returns the same code. The other nodes then wait in vain.
 */
#ifndef GRAPNEL_NET_GROUP_H
#define GRAPNEL_NET_GROUP_H

#include <grapnel/detail/net/fetch.h>

enum { GN_NET_REDUCE_WORDS = 64, GN__NET_CHILDREN = 16 };

/*
 * The counts and words of a team's functions, in symmetric memory that the threads of both views reach
 * (gn_net_alloc_shared). All are 0 at first, and the counts are 0 whenever no node is in a function.
 * Functions that do not reduce use only the counts.
 */
struct gn_net_group {
	/*
	 * signals of each child that were not taken yet: its elements have arrived. 2 if the child is in the
	 * sync at the end of an all-gather, and this node in a step before
	 */
	uint64_t up[GN__NET_CHILDREN];
	/* lower half: the parent's signal; upper half: the code with which a function failed, without its
	 * sign */
	uint64_t down;
	uint64_t down_word[GN_NET_REDUCE_WORDS];
	uint64_t up_word[GN__NET_CHILDREN][GN_NET_REDUCE_WORDS];
};

/*
 * A team of `nodes` nodes: every stride-th node from first on. Plain data, the same on all of them. Teams
 * that share a node and may be in functions at the same time need different groups. A group must be 0 at
 * first; gn_net_alloc returns zeroed memory.
 */
struct gn_net_team {
	uint32_t first, stride, nodes;
	struct gn_net_group *group;
};

SIMT_FN struct gn_net_team gn_net_team_world(const struct gn_net_view *n)
{
	struct gn_net_team all;

	all.first = 0;
	all.stride = 1;
	all.nodes = n->nodes;
	all.group = n->group;
	return all;
}

SIMT_FN uint32_t gn_net_team_node(const struct gn_net_team *t, uint32_t rank)
{
	return t->first + t->stride * rank;
}

SIMT_FN int gn_net_team_rank(const struct gn_net_view *n, const struct gn_net_team *t, uint32_t *rank)
{
	const uint32_t stride = t->stride ? t->stride : 1;

	*rank = (n->node - t->first) / stride;
	if (!t->nodes || (t->nodes > 1 && !t->stride) || n->node < t->first ||
	    (n->node - t->first) % stride || *rank >= t->nodes ||
	    t->first + (uint64_t)stride * (t->nodes - 1) >= n->nodes)
		return gn__net_fail(n, -GN_EINVAL, n->node, GN__MESSAGE_NONE);
	return 0;
}

/*
 * Combine the elements of two nodes in a reduction: into becomes the combination of into and with. `with` is
 * 8-byte aligned. Device code if the reduction runs on the device.
 */
typedef void gn_net_combine_fn(void *into, const void *with, uint32_t count, uint64_t context);

/* The tree of one function, and the place of this node in it. */
struct gn__tree {
	const struct gn_net_team *team;
	uint32_t root, rank; /* rank is counted from the root */
};

SIMT_FN int gn__tree_of(const struct gn_net_view *n, const struct gn_net_team *team, uint32_t root,
                        struct gn__tree *tree)
{
	uint32_t rank;
	const int rc = gn_net_team_rank(n, team, &rank);
	int failed;

	if (rc)
		return rc;
	if (root >= team->nodes)
		return gn__net_fail(n, -GN_EINVAL, root, GN__MESSAGE_NONE);
	failed = -(int)(simt_load_relaxed_sys_u64(&team->group->down) >> 32);
	if (failed)
		return failed;
	tree->team = team;
	tree->root = root;
	tree->rank = (rank + team->nodes - root) % team->nodes;
	return 0;
}

SIMT_FN uint32_t gn__tree_node(const struct gn__tree *tree, uint32_t rank)
{
	return gn_net_team_node(tree->team, (rank + tree->root) % tree->team->nodes);
}

/* A function over the group ends with rc. If that is a failure, it is the group's from now on. */
SIMT_FN int gn__team_ends(const struct gn_net_team *team, int rc)
{
	uint64_t *down = &team->group->down;

	if (rc < 0 && !(simt_load_relaxed_sys_u64(down) >> 32))
		gn__net_change_here(down, GN_ADD, (uint64_t)(uint32_t)(-rc) << 32, 0, 8, 0);
	return rc;
}

/* Wait until node pe has added 1 to the count, and subtract it again. */
SIMT_FN int gn__net_counted(const struct gn_net_view *n, uint32_t pe, uint64_t *count)
{
	const int rc = gn__net_await(n, pe, count, 1);

	if (!rc)
		gn__net_change_here(count, GN_ADD, ~0ull, 0, 8, 0);
	return rc;
}

/*
 * Up: wait for all children and combine their elements with this node's, then send the result to the parent.
 * @elements  of this node; become the combination of this node and all nodes below it
 * @count     0: nothing is combined or sent but the count
 */
SIMT_INLINE_FN int gn__tree_up(const struct gn_net_view *n, const struct gn__tree *tree, void *elements,
                               uint32_t count, uint32_t bytes, gn_net_combine_fn *combine, uint64_t context)
{
	struct gn_net_group *g = tree->team->group;
	const uint32_t rank = tree->rank;
	int rc = 0;

	for (uint32_t k = 0; 1u << k < tree->team->nodes; k++) {
		if (rank & 1u << k) {
			const uint32_t parent = gn__tree_node(tree, rank - (1u << k));

			if (count)
				rc = gn_net_put(n, parent, g->up_word[k], elements, (uint64_t)count * bytes);
			return rc ? rc : gn__net_signal(n, parent, &g->up[k]);
		}
		if (rank + (1u << k) >= tree->team->nodes)
			continue;
		rc = gn__net_counted(n, gn__tree_node(tree, rank + (1u << k)), &g->up[k]);
		if (rc)
			return rc;
		if (count)
			combine(elements, g->up_word[k], count, context);
	}
	return 0;
}

/*
 * Put bytes of `from` to symmetric memory of another node. If this thread does not reach `from` (a host
 * thread, and the GPU's heap), it gets the bytes from its own node first.
 */
SIMT_FN int gn__tree_pass(const struct gn_net_view *n, uint32_t pe, char *to, const char *from,
                          uint64_t bytes)
{
	char part[GN_NET_REDUCE_WORDS * 8];
	uint64_t address = 0;
	int rc = 0;

	if (gn_net_address(n, from, bytes, &address) || gn__net_is_near(n, address))
		return gn_net_put(n, pe, to, from, bytes);
	for (uint64_t at = 0; !rc && at < bytes; at += sizeof part) {
		const uint64_t count = bytes - at < sizeof part ? bytes - at : sizeof part;

		rc = gn_net_get(n, n->node, from + at, part, count);
		if (!rc)
			rc = gn_net_put(n, pe, to + at, part, count);
	}
	return rc;
}

/* Tell the parent only that this node and all nodes below it have come. */
SIMT_FN int gn__tree_come(const struct gn_net_view *n, const struct gn__tree *tree)
{
	return gn__tree_up(n, tree, tree->team->group->down_word, 0, 8, (gn_net_combine_fn *)0, 0);
}

/*
 * May a change of the count overtake the bytes before it? Yes if this thread changes the count directly, but
 * sends the bytes to `to` by messages.
 */
SIMT_FN int gn__tree_overtakes(const struct gn_net_view *n, uint32_t pe, const uint64_t *count,
                               const void *to)
{
	uint64_t address = 0, behind = 0;

	return n->mapped && !gn_net_address(n, count, 8, &address) && gn__net_mapped(n, pe, address) &&
	       !gn_net_address(n, to, 1, &behind) && !gn__net_mapped(n, pe, behind);
}

/*
 * Down: wait for the parent, then pass the bytes to all children.
 * @to    symmetric memory that receives the bytes on all nodes but the root
 * @from  the bytes, used at the root
 */
SIMT_FN int gn__tree_down(const struct gn_net_view *n, const struct gn__tree *tree, void *to,
                          const void *from, uint64_t bytes)
{
	struct gn_net_group *g = tree->team->group;
	const uint32_t rank = tree->rank, nodes = tree->team->nodes;
	uint32_t k = 0;
	int rc = 0;

	while (1u << k < nodes && !(rank & 1u << k))
		k++;
	if (rank)
		rc = gn__net_counted(n, gn__tree_node(tree, rank - (1u << k)), &g->down);
	while (!rc && k-- > 0) {
		const uint32_t child = gn__tree_node(tree, rank + (1u << k));

		if (rank + (1u << k) >= nodes)
			continue;
		if (bytes)
			rc = gn__tree_pass(n, child, (char *)to, (const char *)(rank ? to : from), bytes);
		if (bytes && !rc && gn__tree_overtakes(n, child, &g->down, to))
			rc = gn_net_quiet(n);
		if (!rc)
			rc = gn__net_signal(n, child, &g->down);
	}
	return rc;
}

SIMT_FN int gn_net_team_sync(const struct gn_net_view *n, const struct gn_net_team *team)
{
	struct gn__tree tree = {0, 0, 0};
	int rc = gn__tree_of(n, team, 0, &tree);

	if (rc)
		return rc;
	rc = gn__tree_come(n, &tree);
	return gn__team_ends(team, rc ? rc : gn__tree_down(n, &tree, 0, 0, 0));
}

SIMT_FN int gn_net_team_barrier(const struct gn_net_view *n, const struct gn_net_team *team)
{
	const int rc = gn_net_quiet(n);

	return rc ? gn__team_ends(team, rc) : gn_net_team_sync(n, team);
}

SIMT_FN int gn_net_barrier(const struct gn_net_view *n)
{
	const struct gn_net_team all = gn_net_team_world(n);

	return gn_net_team_barrier(n, &all);
}

SIMT_FN int gn_net_team_broadcast(const struct gn_net_view *n, const struct gn_net_team *team, uint32_t root,
                                  void *to, const void *from, uint64_t bytes)
{
	struct gn__tree tree = {0, 0, 0};
	uint64_t address;
	int rc = gn__tree_of(n, team, root, &tree);

	if (rc)
		return rc;
	if (bytes)
		rc = gn_net_address(n, to, bytes, &address);
	if (rc)
		return gn__net_fail(n, rc, gn__tree_node(&tree, 0), GN__MESSAGE_BYTES);
	rc = gn__tree_come(n, &tree); /* all nodes have come, so their memory may be overwritten */
	return gn__team_ends(team, rc ? rc : gn__tree_down(n, &tree, to, from, bytes));
}

SIMT_FN int gn_net_broadcast(const struct gn_net_view *n, uint32_t root, void *memory, uint64_t bytes)
{
	const struct gn_net_team all = gn_net_team_world(n);

	return gn_net_team_broadcast(n, &all, root, memory, memory, bytes);
}

SIMT_INLINE_FN int gn_net_team_reduce(const struct gn_net_view *n, const struct gn_net_team *team,
                                      void *elements, uint64_t count, uint32_t bytes,
                                      gn_net_combine_fn *combine, uint64_t context)
{
	struct gn_net_group *g = team->group;
	const uint32_t most = bytes ? GN_NET_REDUCE_WORDS * 8u / bytes : 0;
	struct gn__tree tree = {0, 0, 0};
	int rc = gn__tree_of(n, team, 0, &tree);

	if (!rc && !most)
		rc = gn__net_fail(n, -GN_EINVAL, n->node, GN__MESSAGE_NONE);
	if (rc)
		return rc;
	for (uint64_t at = 0; !rc && at < count; at += most) {
		const uint32_t part = count - at < most ? (uint32_t)(count - at) : most;
		char *element = (char *)elements + at * bytes;

		rc = gn__tree_up(n, &tree, element, part, bytes, combine, context);
		if (!rc)
			rc = gn__tree_down(n, &tree, g->down_word, element, (uint64_t)part * bytes);
		if (!rc && tree.rank)
			memcpy(element, g->down_word, (uint64_t)part * bytes);
	}
	return gn__team_ends(team, rc);
}

SIMT_FN void gn__combine_u64(void *into, const void *with, uint32_t count, uint64_t change)
{
	uint64_t *words = (uint64_t *)into;

	for (uint32_t k = 0; k < count; k++)
		words[k] = gn__changed((enum gn_change)change, words[k], (const uint64_t *)with + k, 8);
}

SIMT_FN int gn_net_team_reduce_u64(const struct gn_net_view *n, const struct gn_net_team *team,
                                   uint32_t change, uint64_t *words, uint64_t count)
{
	return gn_net_team_reduce(n, team, words, count, 8, gn__combine_u64, change);
}

SIMT_FN int gn_net_reduce_u64(const struct gn_net_view *n, uint32_t change, uint64_t *words, uint64_t count)
{
	const struct gn_net_team all = gn_net_team_world(n);

	return gn_net_team_reduce_u64(n, &all, change, words, count);
}

/* Pass the parts of `count` ranks from rank `first` on, round the end, to the same places of node pe. */
SIMT_FN int gn__gather_pass(const struct gn_net_view *n, uint32_t pe, char *to, uint32_t first,
                            uint32_t count, uint32_t nodes, uint64_t bytes)
{
	const uint32_t straight = count < nodes - first ? count : nodes - first;
	int rc = gn__tree_pass(n, pe, to + first * bytes, to + first * bytes, straight * bytes);

	if (!rc && count > straight)
		rc = gn__tree_pass(n, pe, to, to, (count - straight) * bytes);
	return rc;
}

/*
 * Put the own part where it belongs in the own memory. If that is a message, the first step gets the part
 * behind it; a node alone has no step, and waits.
 */
SIMT_FN int gn__gather_own(const struct gn_net_view *n, const struct gn_net_team *team, void *to,
                           const void *from, uint64_t bytes)
{
	const int rc = gn_net_put(n, n->node, to, from, bytes);

	return rc || team->nodes > 1 ? rc : gn_net_quiet(n);
}

/*
 * Before step k a node has the parts of 2^k ranks, from its own on. It passes them to the node 2^k ranks
 * before it, and gets as many from the node 2^k ranks behind it (Bruck et al., IEEE TPDS 8(11), 1997, section
 * 3).
 */
SIMT_FN int gn__gather_step(const struct gn_net_view *n, const struct gn_net_team *team, uint32_t rank,
                            uint32_t k, char *to, uint64_t bytes)
{
	const uint32_t nodes = team->nodes, far = 1u << k;
	const uint32_t before = gn_net_team_node(team, (rank + nodes - far) % nodes);
	uint64_t *count = &team->group->up[k];
	int rc = gn__gather_pass(n, before, to, rank, far < nodes - far ? far : nodes - far, nodes, bytes);

	if (!rc && gn__tree_overtakes(n, before, count, to))
		rc = gn_net_quiet(n);
	if (!rc)
		rc = gn__net_signal(n, before, count);
	return rc ? rc : gn__net_counted(n, gn_net_team_node(team, (rank + far) % nodes), count);
}

SIMT_FN int gn_net_team_all_gather(const struct gn_net_view *n, const struct gn_net_team *team, void *to,
                                   const void *from, uint64_t bytes)
{
	uint64_t address;
	uint32_t rank = 0;
	int rc = gn_net_team_rank(n, team, &rank);

	if (rc)
		return rc;
	if (bytes && (bytes > ~0ull / team->nodes || gn_net_address(n, to, bytes * team->nodes, &address)))
		return gn__net_fail(n, -GN_ERANGE, n->node, GN__MESSAGE_BYTES);
	rc = gn_net_team_barrier(n, team); /* all nodes have come, so their memory may be overwritten */
	if (!rc && bytes)
		rc = gn__gather_own(n, team, (char *)to + rank * bytes, from, bytes);
	for (uint32_t k = 0; bytes && !rc && 1u << k < team->nodes; k++)
		rc = gn__gather_step(n, team, rank, k, (char *)to, bytes);
	/* behind the sync the group's counts are free again */
	return rc ? gn__team_ends(team, rc) : gn_net_team_sync(n, team);
}

SIMT_FN int gn_net_all_gather(const struct gn_net_view *n, void *to, const void *from, uint64_t bytes)
{
	const struct gn_net_team all = gn_net_team_world(n);

	return gn_net_team_all_gather(n, &all, to, from, bytes);
}

#endif
