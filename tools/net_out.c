/* SPDX-License-Identifier: Apache-2.0 */
/* --out of a command on a graph that is spread over nodes: a word of each vertex, in the order of vertices.
 */
#include <string.h>

#include "net.h"

enum { AT_ONCE = 1 << 14 }; /* words of a part */

/* The words of this node's vertices, at their places. Returns how many have no room in a word. */
static uint64_t find_words(struct gn_net *net, struct tool_net *n)
{
	uint32_t end, v = tool_net_vertices(net, n, &end);
	uint64_t unfit = 0;

	for (; v < end; v++)
		unfit += !n->command->word(n, v, &n->words[v]);
	return unfit;
}

/* The part of [from, from + count) that this node has, at its place among zeros. */
static void own_part(struct gn_net *net, const struct tool_net *n, uint64_t from, uint64_t count,
                     uint32_t *part)
{
	uint32_t end, first = tool_net_vertices(net, n, &end);
	const uint64_t low = first > from ? first : from;
	const uint64_t high = end < from + count ? end : from + count;

	memset(part, 0, AT_ONCE * sizeof *part);
	if (low < high)
		memcpy(part + (low - from), n->words + low, (high - low) * sizeof *part);
}

/*
 * Each word is not 0 on one node at most, so sums of pairs of words carry nothing over. Nodes that share
 * n->words have all added a part when node 0 writes it.
 */
int tool_net_gather(struct gn_net *net, struct tool_net *n)
{
	uint64_t pairs[AT_ONCE / 2], unfit = find_words(net, n);
	int rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &unfit, 1);

	for (uint64_t from = 0; !rc && from < n->graph.vertices; from += AT_ONCE) {
		const uint64_t left = n->graph.vertices - from;
		const uint64_t count = left < AT_ONCE ? left : (uint64_t)AT_ONCE;

		own_part(net, n, from, count, (uint32_t *)pairs);
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, pairs, AT_ONCE / 2);
		if (!rc && !gn_net_node(net))
			memcpy(n->words + from, pairs, count * sizeof *n->words);
	}
	if (!rc && !gn_net_node(net))
		n->unfit = unfit;
	return rc;
}

int tool_net_write(const struct tool_net *n, struct gn_error *e)
{
	if (n->unfit)
		return gn_error_set(e, -GN_ERANGE, "--out %s: nothing was written: of %llu vertices %s",
		                    n->out, (unsigned long long)n->unfit, n->command->unfit);
	return tool_write_file(n->out, n->words, n->graph.vertices * sizeof *n->words, e);
}
