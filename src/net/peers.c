/* SPDX-License-Identifier: Apache-2.0 */
/* peers.c - the peer map of the direct route: heaps of nodes that are other processes of the same host. */
#include <net/node.h>

#include <stdlib.h>

struct gn_peer_heap {
	struct simt_exported exported;
	void *memory; /* NULL: the heap could not be imported */
};

/* A node's description of its heap: where the heap lies in memory that the node exports. */
struct description {
	struct simt_exported exported;
	uint64_t offset, exports;
};

static struct description describe(const struct gn_net *net)
{
	char *memory = (char *)(net->device ? net->apart : net->shared);
	struct description own;

	memset(&own, 0, sizeof own);
	own.exports = !simt_export(net->machine, memory, &own.exported, NULL);
	own.offset = (uint64_t)(net->host.heap - memory);
	return own;
}

/* The address of another node's heap in this process; NULL: this process cannot reach it. */
static char *heap_of(struct gn_net *net, const struct description *description, struct gn_peer_heap *peer)
{
	peer->exported = description->exported;
	if (!description->exports || simt_import(net->machine, &description->exported, &peer->memory, NULL))
		return NULL;
	return (char *)peer->memory + description->offset;
}

int gn__peers_map(struct gn_net *net, struct gn_error *error)
{
	const uint32_t nodes = net->route.nodes;
	struct description own = describe(net), *all = (struct description *)calloc(nodes, sizeof *all);
	char **heap = (char **)calloc(nodes, sizeof *heap);
	int rc = 0;

	net->peer_heap = (struct gn_peer_heap *)calloc(nodes, sizeof *net->peer_heap);
	if (!all || !heap || !net->peer_heap)
		rc = gn_error_set(error, -GN_ENOMEM, "out of host memory for %u nodes", nodes);
	if (!rc)
		rc = net->transport->ops->gather(net->transport, &own, all, sizeof own, error);
	for (uint32_t k = 0; k < nodes && !rc; k++)
		heap[k] = k == net->route.node ? net->host.heap : heap_of(net, &all[k], &net->peer_heap[k]);
	if (!rc)
		rc = gn__heaps_map(net, heap, error);
	free(heap);
	free(all);
	return rc;
}

void gn__peers_unmap(struct gn_net *net)
{
	for (uint32_t k = 0; net->peer_heap && k < net->route.nodes; k++)
		simt_unimport(net->machine, &net->peer_heap[k].exported, net->peer_heap[k].memory);
	free(net->peer_heap);
}
