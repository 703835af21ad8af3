/* SPDX-License-Identifier: Apache-2.0 */
/* rdma.c - remote accesses as messages. */
#include <sim/rdma.h>

#include <sim/parts.h>

static void served(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);

	a->there = sim_access_age(a, m->clock.now);
	m->stats.remote_served++;
	sim_l2_accept(m, e);
}

void sim_rdma_request(struct sim_domain *m, struct sim_access *a)
{
	m->stats.remote_transactions++;
	++*(a->write ? &m->stats.remote_writes : &m->stats.remote_reads);
	a->left = true;
	a->asked = sim_access_age(a, m->clock.now);
	a->rest = NULL;
	a->message.from = a->gpu;
	a->message.to = a->home;
	a->message.channel = SIM_REQUESTS;
	a->message.packet = false;
	a->message.bytes = (uint32_t)m->config->net_request_bytes + (a->write ? SIM_LINE_BYTES : 0);
	a->message.deliver = served;
	sim_network_send(m, &a->message);
}

void sim_rdma_enter(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);

	/* who asked for words while coalescing was declared gets words: the cache holds lines */
	if (m->gpu[a->gpu].cache && !a->fine)
		sim_rc_accept(m, a);
	else
		sim_rdma_request(m, a);
}

static uint32_t reply_bytes(const struct sim_domain *m, const struct sim_access *a)
{
	uint32_t data = a->write ? 0 : SIM_LINE_BYTES;

	if (a->fine)
		data = sim_granules(a->words, m->config->granularity) * (uint32_t)m->config->granularity;
	return (uint32_t)m->config->net_header_bytes + data;
}

void sim_rdma_reply(struct sim_domain *m, struct sim_access *a)
{
	a->message.bytes = reply_bytes(m, a);
	a->message.from = a->home;
	a->message.to = a->gpu;
	a->message.channel = SIM_REPLIES;
	a->message.deliver = sim_rdma_back;
	sim_network_send(m, &a->message);
}

static void out(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);

	if (!a->write && m->gpu[a->home].coalesce)
		sim_codec_add(m, a);
	else
		sim_rdma_reply(m, a);
}

void sim_rdma_answer(struct sim_domain *m, struct sim_access *a)
{
	a->answered = sim_access_age(a, m->clock.now);
	sim_clock_at(&m->clock, &a->message.event, m->clock.now + m->config->rdma_cycles, out);
}

void sim_rdma_back(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e), *rest;

	for (; a; a = rest) {
		rest = a->rest;
		a->rest = NULL;
		a->back = sim_access_age(a, m->clock.now);
		m->stats.remote_replies++;
		if (!a->l1)
			sim_rc_written(m, a);
		else if (a->cached)
			sim_rc_fill(m, a);
		else
			sim_l1_answer(m, &a->message.event);
	}
}
