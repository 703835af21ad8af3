/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink.h - a transport that sends and receives nothing, to measure and test one node of many alone.
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
 * gn__sink_create - make the transport of one node. Returns NULL if there is no memory.
 * @stays  1: packets never leave their memory; 0: they leave it at once
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
