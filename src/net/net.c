/* SPDX-License-Identifier: Apache-2.0 */
/* net.c - what programs ask and tell their node. */
#include <net/node.h>

#include <string.h>

uint32_t gn_net_node(const struct gn_net *net)
{
	return net->route.node;
}

uint32_t gn_net_nodes(const struct gn_net *net)
{
	return net->route.nodes;
}

struct simt_machine *gn_net_machine(const struct gn_net *net)
{
	return net->machine;
}

struct gn_net_view gn_net_device(const struct gn_net *net)
{
	return net->view;
}

const struct gn_net_view *gn_net_host(const struct gn_net *net)
{
	return &net->host;
}

int gn__net_fault(const struct gn_net *net, struct gn_net_fault *fault)
{
	memset(fault, 0, sizeof *fault);
	if (simt_load_acquire_sys_u32(&net->fault->state) != 2)
		return 0;
	/* code, peer and op no longer change; other members still do, so the struct is not copied whole */
	fault->state = 2;
	fault->code = net->fault->code;
	fault->peer = net->fault->peer;
	fault->op = net->fault->op;
	fault->ended = simt_load_acquire_sys_u32(&net->fault->ended);
	return fault->code;
}

int gn_net_failure(const struct gn_net *net, struct gn_net_fault *fault, struct gn_error *error)
{
	const int rc = gn__net_fault(net, fault);

	if (simt_load_acquire_dev_u32(&net->failed)) {
		gn_error_set(error, net->failure.code, "%s", net->failure.text);
		return rc ? rc : net->failure.code;
	}
	return rc ? gn_error_set(error, rc, "node %u failed in an operation on node %u: %s", net->route.node,
	                         fault->peer, gn_error_name(rc))
	          : 0;
}

void gn_net_get_statistics(const struct gn_net *net, struct gn_net_statistics *statistics)
{
	const uint64_t *from = (const uint64_t *)&net->statistics;
	uint64_t *to = (uint64_t *)statistics;

	for (size_t k = 0; k < sizeof *statistics / sizeof *to; k++)
		to[k] = simt_load_relaxed_dev_u64(&from[k]);
}

void gn_net_waits(const struct gn_net *net, uint64_t *ns)
{
	const uint64_t now = simt_clock_ns();

	for (uint32_t k = 0; k < net->route.nodes; k++) {
		const uint64_t since = simt_load_relaxed_dev_u64(&net->peer[k].since_ns);

		ns[k] = simt_load_relaxed_dev_u32(&net->peer[k].asked) && now > since ? now - since : 0;
	}
}

void gn_net_waited(const struct gn_net *net, uint64_t *ns)
{
	for (uint32_t k = 0; k < net->route.nodes; k++)
		ns[k] = simt_load_relaxed_dev_u64(&net->peer[k].waited_ns);
}

/* A wait ended with rc: the words say why the network failed, if it did. */
static int waited_in_vain(const struct gn_net *net, int rc, struct gn_error *error)
{
	if (simt_load_acquire_dev_u32(&net->failed))
		return gn_error_set(error, rc, "%s", net->failure.text);
	return gn_error_set(
	    error, rc,
	    "node %u waited in vain for the other nodes: %s; they must make the same call, within the "
	    "timeout of gn_net_run",
	    net->route.node, gn_error_name(rc));
}

/* Send a handler's name to node 0, which compares the names of all nodes. */
static int say_name(struct gn_net *net, uint32_t id, const char *name)
{
	char said[GN_NET_NAME_BYTES] = "";

	strncpy(said, name, sizeof said - 1);
	return gn__net_push_bytes(
	    &net->host,
	    gn__message_head(GN__MESSAGE_CALL | GN__MESSAGE_WIDE, 0, gn__message_call_place(id, sizeof said)),
	    1, 0, said, sizeof said);
}

int gn_net_handler(struct gn_net *net, const char *name, gn_net_handler_fn *handler, void *context,
                   struct gn_error *error)
{
	const uint32_t id = net->handlers;
	char *kept;
	int rc;

	for (uint32_t k = 0; k < id; k++)
		if (!strcmp(net->handler[k].name, name))
			return gn_error_set(error, -GN_EINVAL,
			                    "node %u has a handler \"%s\" already; give another name",
			                    net->route.node, name);
	if (id == GN_NET_MOST_HANDLERS)
		return gn_error_set(
		    error, -GN_ENOBUFS,
		    "node %u has %u handlers, and no room for \"%s\"; let one handler do the work of "
		    "several",
		    net->route.node, id, name);
	kept = strdup(name); /* gn__node_destroy frees it */
	if (!kept)
		return gn_error_set(error, -GN_ENOMEM, "out of host memory for the handler \"%s\"", name);
	net->handler[id].name = kept;
	net->handler[id].run = handler;
	net->handler[id].context = context;
	simt_store_release_dev_u32(&net->handlers, id + 1);
	rc = say_name(net, id, name);
	return rc ? waited_in_vain(net, rc, error) : (int)id;
}

/* Count until nothing is in flight. Returns the code of the wait that failed, or 0. */
static int settle(struct gn_net *net)
{
	uint64_t before = ~0ull, now[2];
	int rc;

	/*
	 * If two counts are the same, and as many calls have run as were sent, no call was in flight in
	 * between (Mattern's four counters). A barrier makes every node sort its logs, so all calls are
	 * counted. Other messages of handlers are done after the last barrier.
	 */
	for (;;) {
		rc = gn_net_barrier(&net->host);
		now[0] = simt_load_relaxed_dev_u64(&net->statistics.calls);
		now[1] = simt_load_relaxed_dev_u64(&net->statistics.called);
		if (!rc)
			rc = gn_net_reduce_u64(&net->host, GN_ADD, now, 2);
		if (rc)
			return rc;
		if (now[0] == now[1] && now[0] == before)
			return gn_net_barrier(&net->host);
		before = now[0];
	}
}

int gn_net_settle(struct gn_net *net, struct gn_error *error)
{
	const int rc = settle(net);

	return rc ? waited_in_vain(net, rc, error) : 0;
}
