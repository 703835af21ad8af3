/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - the parts put together, and a launch from its beginning to its end. */
#include <sim/machine.h>

#include <inttypes.h>
#include <sim/parts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- accesses ---- */

struct sim_access *sim_access_new(struct sim_machine *m)
{
	struct sim_access *a = m->free_access;

	if (a)
		m->free_access = a->rest;
	else
		a = &m->pool[m->pool_used++];
	memset(a, 0, sizeof *a);
	m->accesses++;
	return a;
}

void sim_access_free(struct sim_machine *m, struct sim_access *a)
{
	a->rest = m->free_access;
	m->free_access = a;
	m->accesses--;
}

/* Lines under way in each compute unit, a scalar load of each wavefront, and lines that remote caches write
 * back. */
static uint64_t most_accesses(const struct sim_config *c)
{
	uint64_t cus = c->gpus * c->shader_engines * c->cus_per_engine;

	return cus * (c->in_flight + c->simds * c->slots) +
	       (c->remote_cache ? c->gpus * c->rc_write_buffer : 0);
}

/* ---- creation ---- */

static int init_cus(struct sim_machine *m, struct sim_gpu *g)
{
	int r = 0;

	for (uint32_t k = 0; !r && k < g->cus; k++) {
		struct sim_cu *cu = &g->cu[k];

		cu->l1v = &g->l1[k];
		cu->l1s = &g->l1[g->cus + k / m->config.cus_per_engine];
		r = sim_cu_init(cu, g, &m->config);
		r = r ? r : sim_l1_init(cu->l1v, g, cu, &m->config);
	}
	for (uint32_t k = 0; !r && k < g->engines; k++)
		r = sim_l1_init(&g->l1[g->cus + k], g, NULL, &m->config);
	return r;
}

static int init_gpu(struct sim_machine *m, uint32_t number)
{
	struct sim_gpu *g = &m->gpu[number];
	int r;

	g->number = (uint8_t)number;
	g->engines = (uint32_t)m->config.shader_engines;
	g->cus = g->engines * (uint32_t)m->config.cus_per_engine;
	g->cu = (struct sim_cu *)calloc(g->cus, sizeof *g->cu);
	g->l1 = (struct sim_l1 *)calloc(g->cus + g->engines, sizeof *g->l1);
	if (!g->cu || !g->l1)
		return -GN_ENOMEM;
	sim_codec_init(&g->codec, g->number, &m->config);
	r = init_cus(m, g);
	r = r ? r : sim_tlb2_init(&g->tlb2, g, &m->config);
	r = r ? r : sim_l2_init(m, g);
	r = r ? r : sim_rc_init(m, g);
	return r ? r : sim_dispatch_init(m, g);
}

static int init(struct sim_machine *m)
{
	int r = 0;

	m->pool_size = most_accesses(&m->config);
	m->pool = (struct sim_access *)aligned_alloc(sizeof *m->pool / 2, m->pool_size * sizeof *m->pool);
	m->gpu = (struct sim_gpu *)calloc(m->config.gpus, sizeof *m->gpu);
	if (!m->pool || !m->gpu)
		return -GN_ENOMEM;
	sim_network_init(&m->network, &m->config);
	r = sim_migrate_init(m);
	for (uint32_t k = 0; !r && k < m->config.gpus; k++)
		r = init_gpu(m, k);
	if (!r)
		sim_decide_begin(m);
	return r;
}

int sim_machine_create(struct sim_machine **machine, const struct sim_config *config,
                       struct sim_memory *memory, struct sim_waves *waves, struct gn_error *error)
{
	struct sim_machine *m;
	int r = sim_config_check(config, error);

	if (r)
		return r;
	if (config->gpus != sim_memory_gpus(memory))
		return gn_error_set(error, -GN_EINVAL, "gpus = %" PRIu64 ": the memory was made for %u",
		                    config->gpus, sim_memory_gpus(memory));
	m = (struct sim_machine *)calloc(1, sizeof *m);
	if (!m)
		return gn_error_set(error, -GN_ENOMEM, "no memory for a machine");
	m->config = *config;
	m->memory = memory;
	m->waves = waves;
	r = init(m);
	if (r) {
		sim_machine_destroy(m);
		return gn_error_set(error, r, "no memory for a machine of %" PRIu64 " GPUs", config->gpus);
	}
	*machine = m;
	return 0;
}

/* Work-groups of a launch that failed. */
static void end_groups(struct sim_machine *m, struct sim_cu *cu)
{
	for (uint64_t k = 0; cu->resident && k < m->config.simds * m->config.slots; k++)
		if (cu->resident[k].group)
			sim_group_end(cu->resident[k].group);
}

static void fini_gpu(struct sim_machine *m, struct sim_gpu *g)
{
	for (uint32_t k = 0; g->cu && k < g->cus; k++) {
		end_groups(m, &g->cu[k]);
		sim_cu_fini(&g->cu[k]);
	}
	for (uint32_t k = 0; g->l1 && k < g->cus + g->engines; k++)
		sim_l1_fini(&g->l1[k]);
	free(g->cu);
	free(g->l1);
	sim_tlb2_fini(&g->tlb2);
	sim_l2_fini(g);
	sim_rc_fini(g);
	sim_dispatch_fini(g);
}

void sim_machine_destroy(struct sim_machine *m)
{
	if (!m)
		return;
	for (uint32_t k = 0; m->gpu && k < m->config.gpus; k++)
		fini_gpu(m, &m->gpu[k]);
	sim_migrate_fini(m);
	free(m->gpu);
	free(m->pool);
	free(m);
}

/* ---- a launch ---- */

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

/* What is where, for a message: the GPUs that hold anything. */
static void report(const struct sim_machine *m, char *text, size_t bytes)
{
	size_t n = (size_t)snprintf(text, bytes,
	                            "%u of %u work-groups have ended, %" PRIu64
	                            " messages are in the network, %u pages move",
	                            m->groups_done, m->groups, m->network.in_network, m->migrate.active);

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

static int run(struct sim_machine *m)
{
	char text[400];

	sim_clock_run(&m->clock, m, &m->stop);
	if (m->stop)
		return m->stop;
	if (m->groups_done == m->groups && !m->accesses && !m->network.in_network && !m->migrate.active)
		return 0;
	report(m, text, sizeof text);
	return gn_error_set(&m->why, -GN_EDEADLK, "nothing moves in cycle %" PRIu64 ": %s", m->clock.now,
	                    text);
}

static void forget(struct sim_gpu *g)
{
	for (uint32_t k = 0; k < g->cus + g->engines; k++)
		sim_tags_clear(&g->l1[k].tags);
}

/* Remote caches end a kernel empty; a part of their lines at a time, as the write buffer takes them. */
static int flush(struct sim_machine *m)
{
	bool more = true;
	int r = 0;

	while (!r && more) {
		more = false;
		for (uint32_t k = 0; k < m->config.gpus; k++)
			more |= sim_rc_flush(m, &m->gpu[k]);
		r = run(m);
	}
	for (uint32_t k = 0; k < m->config.gpus; k++)
		for (uint32_t b = 0; m->gpu[k].rc.bank && b < m->gpu[k].rc.banks; b++)
			sim_tags_clear(&m->gpu[k].rc.bank[b].tags);
	return r;
}

static int check_launch(const struct sim_machine *m, const struct sim_launch *l, struct gn_error *error)
{
	const char *key = sim_cu_refuses(&m->config, l);

	if (!key)
		return 0;
	return gn_error_set(error, -GN_EINVAL,
	                    "%s: a work-group of %u x %u does not fit on a compute unit: %s is too small",
	                    l->name, l->group[0], l->group[1], key);
}

static int run_launch(struct sim_machine *m)
{
	uint64_t begin = m->clock.now, end;
	int r;

	sim_dispatch_begin(m);
	r = run(m);
	end = m->last_end;
	if (!r && m->config.remote_cache) {
		uint64_t flushes = m->stats.rc_write_backs;

		r = flush(m);
		end = m->stats.rc_write_backs == flushes ? end : m->clock.now;
	}
	m->stats.kernel_cycles += end - begin + m->config.end_cycles;
	m->clock.now += m->config.end_cycles;
	m->stats.launches++;
	m->stats.events = m->clock.count;
	return r ? r : sim_stats_check(&m->stats, &m->why);
}

int sim_machine_launch(struct sim_machine *m, const struct sim_launch *launch, struct gn_error *error)
{
	int r = check_launch(m, launch, error);

	if (r)
		return r;
	if (sim_migrate_begin(m))
		return gn_error_set(error, -GN_ENOMEM, "%s: no memory to watch its pages", launch->name);
	m->launch = launch;
	m->groups = sim_launch_groups(launch);
	m->groups_done = 0;
	m->last_end = m->clock.now;
	for (uint32_t k = 0; m->config.l1_invalidate && k < m->config.gpus; k++)
		forget(&m->gpu[k]);
	r = run_launch(m);
	if (r)
		gn_error_set(error, r, "%s: %s", launch->name, m->why.text);
	return r;
}

const struct sim_stats *sim_machine_stats(const struct sim_machine *m)
{
	return &m->stats;
}

int sim_machine_link(struct sim_machine *m, uint32_t k, struct sim_link_stats *s)
{
	const struct sim_link *l = sim_network_link(&m->network, k);

	if (!l)
		return -GN_ENOENT;
	s->name = l->name;
	s->messages = l->messages;
	s->flits = l->flits;
	s->bytes = l->bytes;
	s->busy_cycles = l->busy / SIM_PARTS;
	return 0;
}
