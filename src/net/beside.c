/* SPDX-License-Identifier: Apache-2.0 */
/* beside.c - on the direct route: heaps of nodes that are other processes of the same host. */
#include <net/node.h>

#include <stdlib.h>

struct gn_beside {
	struct simt_exported exported;
	void *memory; /* NULL: it could not be imported */
};

/* What a node says of its heap: where it lies in memory that it exports. */
struct said {
	struct simt_exported exported;
	uint64_t offset, exports;
};

static struct said say(const struct gn_net *net)
{
	char *memory = (char *)(net->device ? net->apart : net->shared);
	struct said own;

	memset(&own, 0, sizeof own);
	own.exports = !simt_export(net->machine, memory, &own.exported);
	own.offset = (uint64_t)(net->host.heap - memory);
	return own;
}

/* Another node's heap, by an address of this process; NULL: it is out of reach. */
static char *heap_of(struct gn_net *net, const struct said *said, struct gn_beside *beside)
{
	beside->exported = said->exported;
	if (!said->exports || simt_import(net->machine, &said->exported, &beside->memory))
		return NULL;
	return (char *)beside->memory + said->offset;
}

int gn__beside_map(struct gn_net *net, struct gn_error *error)
{
	const uint32_t nodes = net->route.nodes;
	struct said own = say(net), *all = (struct said *)calloc(nodes, sizeof *all);
	char **heap = (char **)calloc(nodes, sizeof *heap);
	int rc = 0;

	net->beside = (struct gn_beside *)calloc(nodes, sizeof *net->beside);
	if (!all || !heap || !net->beside)
		rc = gn_error_set(error, -GN_ENOMEM, "no memory for %u nodes", nodes);
	if (!rc)
		rc = net->transport->ops->gather(net->transport, &own, all, sizeof own, error);
	for (uint32_t k = 0; k < nodes && !rc; k++)
		heap[k] = k == net->route.node ? net->host.heap : heap_of(net, &all[k], &net->beside[k]);
	if (!rc)
		rc = gn__heaps_map(net, heap, error);
	free(heap);
	free(all);
	return rc;
}

void gn__beside_unmap(struct gn_net *net)
{
	for (uint32_t k = 0; net->beside && k < net->route.nodes; k++)
		simt_unimport(net->machine, &net->beside[k].exported, net->beside[k].memory);
	free(net->beside);
}
