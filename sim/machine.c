/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - the parts put together, and a launch from its beginning to its end. */
#include <sim/machine.h>

#include <inttypes.h>
#include <sim/parts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* ---- accesses ---- */

struct sim_access *sim_access_new(struct sim_domain *m)
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

void sim_access_free(struct sim_domain *m, struct sim_access *a)
{
	a->rest = m->free_access;
	m->free_access = a;
	m->accesses--;
}

/*
 * Lines under way in each compute unit, a scalar load of each wavefront, and lines that the remote cache
 * writes back.
 */
static uint64_t most_accesses(const struct sim_config *c)
{
	uint64_t cus = c->shader_engines * c->cus_per_engine;

	return cus * (c->in_flight + c->simds * c->slots) + (c->remote_cache ? c->rc_write_buffer : 0);
}

/* ---- domains ---- */

struct sim_domain *sim_machine_domain(struct sim_machine *m, uint32_t k)
{
	if (!k)
		return &m->core;
	return k <= m->config.gpus ? &m->gpu[k - 1].domain : NULL;
}

void sim_machine_add_up(struct sim_machine *m)
{
	uint64_t *sum = (uint64_t *)(void *)&m->stats;
	struct sim_domain *d;

	memset(&m->stats, 0, sizeof m->stats);
	for (uint32_t k = 0; (d = sim_machine_domain(m, k)); k++) {
		d->stats.events = d->clock.count;
		for (uint32_t n = 0; n < sizeof m->stats / sizeof *sum; n++)
			sum[n] += sim_stat_value(&d->stats, n);
	}
}

static void share(struct sim_machine *m, struct sim_domain *d)
{
	d->machine = m;
	d->config = &m->config;
	d->memory = m->memory;
	d->network = &m->network;
	d->gpu = m->gpu;
}

/* In large pages: accesses lie anywhere in it, and the host has to find few translations. */
static struct sim_access *pool_new(const struct sim_config *c)
{
	const size_t bytes = most_accesses(c) * sizeof(struct sim_access), large = (size_t)2 << 20;
	const size_t round = bytes < large ? sizeof(struct sim_access) : large;
	void *pool = aligned_alloc(round, (bytes + round - 1) / round * round);

	if (pool && round == large)
		madvise(pool, (bytes + round - 1) / round * round, MADV_HUGEPAGE);
	return (struct sim_access *)pool;
}

static int init_domain(struct sim_machine *m, struct sim_domain *d)
{
	share(m, d);
	d->pool = pool_new(&m->config);
	return d->pool ? sim_waves_create(&d->waves) : -GN_ENOMEM;
}

/* ---- creation ---- */

static int init_cus(struct sim_arena *arena, const struct sim_config *c, struct sim_gpu *g)
{
	int r = 0;

	for (uint32_t k = 0; !r && k < g->cus; k++) {
		struct sim_cu *cu = &g->cu[k];

		cu->l1v = &g->l1[k];
		cu->l1s = &g->l1[g->cus + k / c->cus_per_engine];
		r = sim_cu_init(cu, arena, g, c);
		r = r ? r : sim_l1_init(cu->l1v, arena, g, cu, c);
	}
	for (uint32_t k = 0; !r && k < g->engines; k++)
		r = sim_l1_init(&g->l1[g->cus + k], arena, g, NULL, c);
	return r;
}

static int init_gpu(struct sim_machine *m, uint32_t number)
{
	const struct sim_config *c = &m->config;
	struct sim_gpu *g = &m->gpu[number];
	int r;

	g->number = (uint8_t)number;
	g->engines = (uint32_t)c->shader_engines;
	g->cus = g->engines * (uint32_t)c->cus_per_engine;
	g->cu = (struct sim_cu *)sim_arena_take(&m->arena, g->cus, sizeof *g->cu);
	g->l1 = (struct sim_l1 *)sim_arena_take(&m->arena, g->cus + g->engines, sizeof *g->l1);
	if (!g->cu || !g->l1)
		return -GN_ENOMEM;
	sim_codec_init(&g->codec, g->number, c);
	r = init_domain(m, &g->domain);
	r = r ? r : init_cus(&m->arena, c, g);
	r = r ? r : sim_tlb2_init(&g->tlb2, &m->arena, g, c);
	r = r ? r : sim_l2_init(&g->domain, g);
	r = r ? r : sim_rc_init(&g->domain, g);
	return r ? r : sim_dispatch_init(&g->domain, g);
}

static int init(struct sim_machine *m, uint32_t threads)
{
	int r;

	m->gpu = (struct sim_gpu *)sim_arena_take(&m->arena, m->config.gpus, sizeof *m->gpu);
	if (!m->gpu)
		return -GN_ENOMEM;
	share(m, &m->core);
	r = sim_network_init(&m->network, &m->config);
	r = r ? r : sim_migrate_init(m);
	for (uint32_t k = 0; !r && k < m->config.gpus; k++)
		r = init_gpu(m, k);
	if (r)
		return r;
	sim_decide_begin(m);
	return sim_windows_init(m, threads);
}

int sim_machine_create(struct sim_machine **machine, const struct sim_config *config,
                       struct sim_memory *memory, uint32_t threads, struct gn_error *error)
{
	struct sim_machine *m;
	int r = sim_config_check(config, error);

	if (r)
		return r;
	if (config->gpus != sim_memory_gpus(memory))
		return gn_error_set(error, -GN_EINVAL, "gpus = %" PRIu64 ": the memory was made for %u",
		                    config->gpus, sim_memory_gpus(memory));
	if (!threads)
		return gn_error_set(error, -GN_EINVAL, "0 threads cannot run the machine; give at least 1");
	m = (struct sim_machine *)calloc(1, sizeof *m);
	if (!m)
		return gn_error_set(error, -GN_ENOMEM, "out of memory for a machine");
	m->config = *config;
	m->memory = memory;
	r = init(m, threads);
	if (r) {
		sim_machine_destroy(m);
		return gn_error_set(
		    error, r, "not enough memory or threads for a machine of %" PRIu64 " GPUs", config->gpus);
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
	for (uint32_t k = 0; g->cu && k < g->cus; k++)
		end_groups(m, &g->cu[k]);
	sim_tlb2_fini(&g->tlb2);
	sim_waves_destroy(g->domain.waves);
	free(g->domain.pool);
}

void sim_machine_destroy(struct sim_machine *m)
{
	if (!m)
		return;
	sim_windows_fini(m);
	sim_trace_end(m->trace);
	for (uint32_t k = 0; m->gpu && k < m->config.gpus; k++)
		fini_gpu(m, &m->gpu[k]);
	sim_migrate_fini(m);
	sim_network_fini(&m->network);
	sim_arena_free(&m->arena);
	free(m);
}

/* ---- a launch ---- */

static int run(struct sim_machine *m, struct gn_error *why)
{
	int r = sim_windows_run(m, why);

	return r ? r : sim_held_check(m, why);
}

static void forget(struct sim_gpu *g)
{
	for (uint32_t k = 0; k < g->cus + g->engines; k++)
		sim_tags_clear(&g->l1[k].tags);
}

/* Remote caches end a kernel empty; a part of their lines at a time, as the write buffer takes them. */
static int flush(struct sim_machine *m, struct gn_error *why)
{
	bool more = true;
	int r = 0;

	while (!r && more) {
		more = false;
		for (uint32_t k = 0; k < m->config.gpus; k++)
			more |= sim_rc_flush(&m->gpu[k].domain, &m->gpu[k]);
		r = run(m, why);
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

/* The cycle in which the last work-group of the launch ended. */
static uint64_t last_end(const struct sim_machine *m)
{
	uint64_t last = 0;

	for (uint32_t k = 0; k < m->config.gpus; k++)
		last = m->gpu[k].domain.last_end > last ? m->gpu[k].domain.last_end : last;
	return last;
}

static void begin_launch(struct sim_machine *m, const struct sim_launch *launch)
{
	m->launch = launch;
	m->groups = sim_launch_groups(launch);
	m->next_group = 0;
	for (uint32_t k = 0; k < m->config.gpus; k++) {
		struct sim_gpu *g = &m->gpu[k];

		if (m->config.l1_invalidate)
			forget(g);
		g->domain.groups_done = 0;
		g->domain.last_end = g->domain.clock.now;
		sim_dispatch_begin(&g->domain, g);
	}
}

static int run_launch(struct sim_machine *m, struct gn_error *why)
{
	uint64_t begin = m->core.clock.now, end;
	struct sim_domain *d;
	int r = run(m, why);

	end = last_end(m);
	if (!r && m->config.remote_cache) {
		uint64_t flushes = m->stats.rc_write_backs;

		r = flush(m, why);
		end = m->stats.rc_write_backs == flushes ? end : m->core.clock.now;
	}
	m->core.stats.kernel_cycles += end - begin + m->config.end_cycles;
	m->core.stats.launches++;
	if (!r && sim_trace_add_launch(m->trace, m->launch->name, begin, end))
		r = gn_error_set(why, -GN_ENOMEM, "out of memory for the trace");
	for (uint32_t k = 0; (d = sim_machine_domain(m, k)); k++)
		d->clock.now += m->config.end_cycles;
	sim_machine_add_up(m);
	return r ? r : sim_stats_check(&m->stats, why);
}

int sim_machine_launch(struct sim_machine *m, const struct sim_launch *launch, struct gn_error *error)
{
	int r = check_launch(m, launch, error);
	struct gn_error why;

	if (r)
		return r;
	if (sim_migrate_begin(m))
		return gn_error_set(error, -GN_ENOMEM, "%s: out of memory to watch the pages of the kernel",
		                    launch->name);
	begin_launch(m, launch);
	r = run_launch(m, &why);
	if (r)
		gn_error_set(error, r, "%s: %s", launch->name, why.text);
	return r;
}

const struct sim_stats *sim_machine_stats(const struct sim_machine *m)
{
	return &m->stats;
}

const struct sim_stats *sim_machine_gpu_stats(const struct sim_machine *m, uint32_t k)
{
	return k < m->config.gpus ? &m->gpu[k].domain.stats : NULL;
}

const struct sim_cu_stats *sim_machine_cu_stats(const struct sim_machine *m, uint32_t gpu, uint32_t k)
{
	return gpu < m->config.gpus && k < m->gpu[gpu].cus ? &m->gpu[gpu].cu[k].stats : NULL;
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
