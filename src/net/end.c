/* SPDX-License-Identifier: Apache-2.0 */
/* end.c - messages of nodes about their programs: the names of their handlers, and that one has failed. */
#include <net/node.h>

#include <string.h>

/* The node that is the cause of the failure: another node that did not answer, else this node. */
static uint32_t because_of(const struct gn_net *net)
{
	struct gn_net_fault fault;

	return gn__net_fault(net, &fault) ? fault.peer : net->route.node;
}

int gn__tell_end(struct gn_net *net)
{
	const uint64_t head =
	    gn__message_head(GN__MESSAGE_CALL | GN__MESSAGE_FETCH, 0, gn__message_call_place(0, 8));
	const uint64_t word[2] = {head, (uint64_t)(uint32_t)net->outcome << 32 | because_of(net)};

	if (net->outcome >= 0 || net->heard)
		return 1;
	for (; net->told < net->route.nodes; net->told++) {
		if (net->told == net->route.node)
			continue;
		if (gn__post(net, 0, net->told, net->route.node, word, 2))
			return 0;
		net->peer[net->told].sent++;
	}
	return 1;
}

void gn__hear_end(struct gn_net *net, uint32_t origin, uint64_t said)
{
	uint32_t because = (uint32_t)said;
	const int32_t code = (int32_t)(said >> 32);
	struct gn_error error;

	if (code >= 0 || net->heard)
		return;
	net->heard = 1;
	if (because == net->route.node) /* it waited for this node, which does not know better */
		because = origin;
	if (because == origin || because >= net->route.nodes)
		gn_error_set(&error, code, "the program has failed on node %u: %s", origin,
		             gn_error_name(code));
	else
		gn_error_set(&error, code, "the program has failed on node %u because of node %u: %s", origin,
		             because, gn_error_name(code));
	gn__network_fail(net, because < net->route.nodes ? because : origin, &error);
}

void gn__hear_name(struct gn_net *net, uint32_t origin, uint32_t id, const char *name, uint32_t bytes)
{
	struct gn_said *s;
	struct gn_error error;

	if (id >= GN_NET_MOST_HANDLERS || bytes != GN_NET_NAME_BYTES || name[bytes - 1])
		return;
	s = &net->said[id];
	if (!s->name[0]) {
		memcpy(s->name, name, GN_NET_NAME_BYTES);
		s->node = origin;
	}
	if (!strcmp(s->name, name))
		return;
	gn_error_set(&error, -GN_EINVAL,
	             "handler %u is \"%s\" on node %u, but \"%s\" on node %u; register the same names in the "
	             "same order on all nodes",
	             id, s->name, s->node, name, origin);
	gn__network_fail(net, origin, &error);
}
