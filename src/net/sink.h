/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - a transport that sends nothing and hears nothing: for measuring and testing one node of many by
 * itself.
 */
#ifndef GN_NET_SINK_H
#define GN_NET_SINK_H

#include <net/transport.h>
#include <stdlib.h>

static inline int gn__sink_send(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
	return 0;
}

static inline int gn__sink_gone(struct gn_transport *t, struct gn_parcel *parcel)
{
	(void)t;
	(void)parcel;
	return 1;
}

static inline int gn__sink_stays(struct gn_transport *t, struct gn_parcel *parcel)
{
	return !gn__sink_gone(t, parcel);
}

static inline void gn__sink_close(struct gn_transport *t)
{
	free(t);
}

/*
 * gn__sink_create - the end of one node.
 * @stays  1: packets never leave their memory; 0: at once. NULL: no memory.
 */
static inline struct gn_transport *gn__sink_create(uint32_t node, uint32_t nodes, int stays)
{
	static const struct gn_transport_ops ops[2] = {
	    {gn__sink_send, gn__sink_gone, NULL, NULL, NULL, gn__sink_close, NULL},
	    {gn__sink_send, gn__sink_stays, NULL, NULL, NULL, gn__sink_close, NULL}};
	struct gn_transport *t = (struct gn_transport *)calloc(1, sizeof *t);

	if (t) {
		t->ops = &ops[stays != 0];
		t->name = "sink";
		t->node = node;
		t->nodes = nodes;
	}
	return t;
}

#endif
