/* SPDX-License-Identifier: Apache-2.0 */
/* held.c - what parts hold at the end: nothing, or where it is. */
#include <sim/parts.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* What a part of the machine holds that has not gone on. */
struct held {
	uint64_t waves, pipe, rob, tlb, l1, l2, rc, codec;
};

static void held_by_cu(struct held *h, const struct sim_machine *m, const struct sim_cu *cu)
{
	for (uint64_t k = 0; k < m->config.simds * m->config.slots; k++)
		h->waves += cu->slot[k].resident != NULL;
	h->pipe += cu->pipe.count;
	h->rob += cu->rob_count;
}

static void held_by_l1(struct held *h, const struct sim_l1 *l)
{
	for (uint32_t k = 0; k < l->tlb.misses; k++)
		h->tlb += l->tlb.miss[k].waiting.count;
	h->tlb += l->tlb.stuck.count;
	h->l1 += l->mshr.used + l->entry.count + l->directory.count;
}

static uint64_t held_by_banks(const struct sim_bank *b, uint32_t banks)
{
	uint64_t held = 0;

	for (uint32_t k = 0; b && k < banks; k++)
		held += b[k].mshr.used + b[k].in.count;
	return held;
}

static struct held held_by(const struct sim_machine *m, const struct sim_gpu *g)
{
	struct held h;

	memset(&h, 0, sizeof h);
	for (uint32_t k = 0; k < g->cus; k++)
		held_by_cu(&h, m, &g->cu[k]);
	for (uint32_t k = 0; k < g->cus + g->engines; k++)
		held_by_l1(&h, &g->l1[k]);
	h.l2 = held_by_banks(g->l2.bank, g->l2.banks);
	h.rc = held_by_banks(g->rc.bank, g->rc.banks) + g->rc.writing;
	for (uint32_t k = 0; k < SIM_MOST_GPUS; k++)
		h.codec += g->codec.buffer[k].held.count + g->codec.buffer[k].behind.count;
	return h;
}

static uint32_t groups_done(const struct sim_machine *m)
{
	uint32_t done = 0;

	for (uint32_t k = 0; k < m->config.gpus; k++)
		done += m->gpu[k].domain.groups_done;
	return done;
}

static uint64_t in_network(const struct sim_machine *m)
{
	return m->stats.net_messages - m->stats.net_messages_out;
}

/* What is where, for a message: the GPUs that hold anything. */
static void report(const struct sim_machine *m, char *text, size_t bytes)
{
	size_t n = (size_t)snprintf(text, bytes,
	                            "%u of %u work-groups have ended, %" PRIu64
	                            " messages are in the network, %u pages move",
	                            groups_done(m), m->groups, in_network(m), m->migrate.active);

	for (uint32_t k = 0; k < m->config.gpus && n < bytes; k++) {
		struct held h = held_by(m, &m->gpu[k]);

		if (!(h.waves | h.pipe | h.rob | h.tlb | h.l1 | h.l2 | h.rc | h.codec))
			continue;
		n += (size_t)snprintf(text + n, bytes - n,
		                      "; GPU %u: wavefronts %" PRIu64 ", pipes %" PRIu64
		                      ", reorder buffers %" PRIu64 ", TLBs %" PRIu64 ", L1 %" PRIu64
		                      ", L2 %" PRIu64 ", remote cache %" PRIu64 ", CoDec %" PRIu64,
		                      k, h.waves, h.pipe, h.rob, h.tlb, h.l1, h.l2, h.rc, h.codec);
	}
}

static bool is_empty(const struct sim_machine *m)
{
	uint64_t accesses = 0;

	for (uint32_t k = 0; k < m->config.gpus; k++)
		accesses += m->gpu[k].domain.accesses;
	return !accesses && !in_network(m) && !m->migrate.active;
}

int sim_held_check(const struct sim_machine *m, struct gn_error *why)
{
	char text[400];

	if (groups_done(m) == m->groups && is_empty(m))
		return 0;
	report(m, text, sizeof text);
	return gn_error_set(why, -GN_EDEADLK, "nothing moves in cycle %" PRIu64 ": %s", m->core.clock.now,
	                    text);
}
