/* SPDX-License-Identifier: Apache-2.0 */
/* The states of a link; connect.c has how it comes up. */
#include <store/rdma/link.h>

#include <string.h>

void gn_link_init(struct gn_link *link, struct gn_peer *peer, uint16_t index, uint16_t flags)
{
	memset(link, 0, sizeof *link);
	link->peer = peer;
	link->index = index;
	link->flags = flags;
	link->state = GN_LINK_DOWN;
	link->patience_ms = peer->patience_ms;
	link->stop = -1;
	pthread_mutex_init(&link->mutex, NULL);
}

void gn_link_rise(struct gn_link *link)
{
	pthread_mutex_lock(&link->mutex);
	link->state = GN_LINK_UP;
	link->connection++;
	if (link->in_doubt)
		gn_peer_doubt(link->peer, -1);
	link->in_doubt = 0;
	pthread_mutex_unlock(&link->mutex);
}

void gn_link_break(struct gn_link *link, const char *why)
{
	if (link->state != GN_LINK_UP)
		return;
	link->state = GN_LINK_BROKEN;
	if (link->writes) {
		link->in_doubt = 1;
		gn_peer_doubt(link->peer, 1);
	}
	gn_peer_lost(link->peer, why);
}

void gn_link_cut(struct gn_link *link)
{
	if (link->qp && link->part)
		link->part(link);
	if (link->id && link->qp)
		rdma_destroy_qp(link->id);
	link->qp = NULL;
}

void gn_link_close(struct gn_link *link)
{
	if (link->id && link->state == GN_LINK_UP)
		rdma_disconnect(link->id);
	gn_link_cut(link);
	if (link->id)
		rdma_destroy_id(link->id);
	if (link->channel)
		rdma_destroy_event_channel(link->channel);
	link->id = NULL;
	link->channel = NULL;
	if (link->state != GN_LINK_DOWN) /* others may look at a link that is down */
		link->state = GN_LINK_DOWN;
}

void gn_link_fini(struct gn_link *link)
{
	gn_link_close(link);
	pthread_mutex_destroy(&link->mutex);
}

/*
 * A link that is up is said to be unreachable also when the system has to ask again for the server's hardware
 * address. The device knows better.
 */
static int is_news(enum rdma_cm_event_type type)
{
	return type != RDMA_CM_EVENT_ADDR_CHANGE && type != RDMA_CM_EVENT_TIMEWAIT_EXIT &&
	       type != RDMA_CM_EVENT_UNREACHABLE;
}

void gn_link_watch(struct gn_link *link)
{
	struct rdma_cm_event *event;

	while (link->channel && !rdma_get_cm_event(link->channel, &event)) {
		const enum rdma_cm_event_type type = event->event;

		rdma_ack_cm_event(event);
		if (!is_news(type))
			continue;
		pthread_mutex_lock(&link->mutex);
		gn_link_break(link, type == RDMA_CM_EVENT_DISCONNECTED     ? "the server closed it"
		                    : type == RDMA_CM_EVENT_DEVICE_REMOVAL ? "the RDMA device is gone"
		                                                           : rdma_event_str(type));
		pthread_mutex_unlock(&link->mutex);
	}
}
