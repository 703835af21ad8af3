/* SPDX-License-Identifier: Apache-2.0 */
/* cu.c - slots for wavefronts, issue, barriers. */
#include <sim/cu.h>

#include <sim/parts.h>

/* ---- room ---- */

int sim_cu_init(struct sim_cu *cu, struct sim_arena *arena, struct sim_gpu *gpu, const struct sim_config *c)
{
	uint64_t slots = c->simds * c->slots;

	cu->gpu = gpu;
	cu->slot = (struct sim_slot *)sim_arena_take(arena, slots, sizeof *cu->slot);
	cu->resident = (struct sim_resident *)sim_arena_take(arena, slots, sizeof *cu->resident);
	cu->simd_free = (uint64_t *)sim_arena_take(arena, c->simds, sizeof *cu->simd_free);
	cu->simd_waves = (uint32_t *)sim_arena_take(arena, c->simds, sizeof *cu->simd_waves);
	cu->rob = (struct sim_access **)sim_arena_take(arena, c->rob, sizeof(struct sim_access *));
	if (!cu->slot || !cu->resident || !cu->simd_free || !cu->simd_waves || !cu->rob)
		return -GN_ENOMEM;
	for (uint64_t k = 0; k < slots; k++) {
		cu->slot[k].cu = cu;
		cu->slot[k].simd = (uint32_t)(k / c->slots);
		cu->resident[k].next_free = k + 1 < slots ? &cu->resident[k + 1] : NULL;
	}
	cu->free_resident = cu->resident;
	return 0;
}

static uint32_t waves_of(const struct sim_launch *l)
{
	return (l->group[0] * l->group[1] + SIM_LANES - 1) / SIM_LANES;
}

/* Wavefronts of the launch that a vector unit holds. */
static uint64_t most_on_simd(const struct sim_config *c, const struct sim_launch *l)
{
	uint64_t most = l->vgprs ? c->vgprs / ((uint64_t)l->vgprs * SIM_LANES) : c->slots;

	return most < c->slots ? most : c->slots;
}

const char *sim_cu_refuses(const struct sim_config *c, const struct sim_launch *l)
{
	uint64_t waves = waves_of(l);

	if (waves > c->simds * c->slots)
		return "cu.wavefronts_per_simd";
	if (waves > c->simds * most_on_simd(c, l))
		return "cu.vgprs";
	if (waves * l->sgprs > c->sgprs)
		return "cu.sgprs";
	return l->lds_bytes > c->lds_bytes ? "cu.lds" : NULL;
}

bool sim_cu_has_room(const struct sim_domain *m, const struct sim_cu *cu)
{
	const struct sim_config *c = m->config;
	const struct sim_launch *l = m->machine->launch;
	uint64_t most = most_on_simd(c, l), room = 0, waves = waves_of(l);

	for (uint64_t s = 0; s < c->simds; s++)
		room += most - cu->simd_waves[s];
	return room >= waves && (cu->waves + waves) * l->sgprs <= c->sgprs &&
	       (cu->groups + 1) * (uint64_t)l->lds_bytes <= c->lds_bytes;
}

/* ---- time ---- */

void sim_cu_charge(struct sim_domain *m, struct sim_slot *s, enum sim_slot_state state)
{
	static const uint16_t of[] = {
	    offsetof(struct sim_stats, wave_issue_cycles), offsetof(struct sim_stats, wave_memory_cycles),
	    offsetof(struct sim_stats, wave_scalar_cycles), offsetof(struct sim_stats, wave_barrier_cycles),
	    offsetof(struct sim_stats, wave_room_cycles)};

	*(uint64_t *)(void *)((char *)&m->stats + of[s->state]) += m->clock.now - s->since;
	s->since = m->clock.now;
	s->state = state;
}

static void step(struct sim_domain *m, struct sim_event *e);

void sim_cu_go_on(struct sim_domain *m, struct sim_slot *s, uint64_t cycle)
{
	sim_clock_at(&m->clock, &s->event, cycle, step);
}

uint64_t sim_cu_take(const struct sim_domain *m, uint64_t *free_at, uint64_t cycles)
{
	uint64_t start = m->clock.now > *free_at ? m->clock.now : *free_at;

	*free_at = start + cycles;
	return start;
}

static uint32_t most_under_way(const struct sim_slot *s)
{
	return s->op.kind == SIM_OP_WAIT ? s->op.count : 0;
}

/* All lines of an instruction are back, as they come back in order. */
void sim_cu_instruction_done(struct sim_domain *m, struct sim_slot *s)
{
	s->under_way--;
	if (s->state != SIM_SLOT_MEMORY || s->under_way > most_under_way(s))
		return;
	sim_wave_soon(s->wave, &s->op);
	sim_cu_charge(m, s, SIM_SLOT_ISSUE);
	sim_cu_go_on(m, s, m->clock.now + m->config->return_cycles);
}

/* ---- scalar memory ---- */

static void leave_scalar(struct sim_domain *m, struct sim_event *e)
{
	sim_translate(m, sim_access_of(e));
}

static void scalar(struct sim_domain *m, struct sim_slot *s)
{
	struct sim_access *a = sim_access_new(m);

	a->l1 = s->cu->l1s;
	a->slot = s;
	a->gpu = s->cu->gpu->number;
	a->line = s->op.line->address;
	a->words = sim_line_words(s->op.line);
	a->issued = m->clock.now;
	m->stats.scalar_reads++;
	s->left = 0;
	sim_cu_charge(m, s, SIM_SLOT_SCALAR);
	sim_clock_at(&m->clock, &a->message.event, sim_cu_take(m, &s->cu->salu_free, 1) + 1, leave_scalar);
}

void sim_cu_scalar_done(struct sim_domain *m, struct sim_access *a)
{
	m->stats.scalar_done++;
	sim_wave_soon(a->slot->wave, &a->slot->op);
	sim_cu_charge(m, a->slot, SIM_SLOT_ISSUE);
	sim_cu_go_on(m, a->slot, m->clock.now + m->config->return_cycles);
	sim_access_free(m, a);
}

/* ---- wavefronts ---- */

static void open_barrier(struct sim_domain *m, struct sim_resident *r)
{
	if (!r->live || r->arrived < r->live)
		return;
	r->arrived = 0;
	for (struct sim_slot *s = r->slots; s; s = s->next)
		if (s->state == SIM_SLOT_BARRIER) {
			sim_cu_charge(m, s, SIM_SLOT_ISSUE);
			sim_cu_go_on(m, s, m->clock.now + 1);
		}
}

static void barrier(struct sim_domain *m, struct sim_slot *s)
{
	s->left = 0;
	sim_cu_charge(m, s, SIM_SLOT_BARRIER);
	s->resident->arrived++;
	open_barrier(m, s->resident);
}

static void empty(struct sim_domain *m, struct sim_cu *cu)
{
	cu->stats.busy_cycles += m->clock.now - cu->busy_since;
	if (sim_trace_add_busy(m->machine->trace, cu, m->clock.now))
		m->stop = gn_error_set(&m->why, -GN_ENOMEM, "out of memory for the trace");
}

static void end_group(struct sim_domain *m, struct sim_cu *cu, struct sim_resident *r)
{
	for (struct sim_slot *s = r->slots; s; s = s->next) {
		cu->simd_waves[s->simd]--;
		s->resident = NULL;
	}
	cu->waves -= r->waves;
	cu->groups--;
	sim_group_end(r->group);
	r->group = NULL;
	r->next_free = cu->free_resident;
	cu->free_resident = r;
	if (!cu->groups)
		empty(m, cu);
	sim_dispatch_done(m, cu->gpu);
}

static void end(struct sim_domain *m, struct sim_slot *s)
{
	struct sim_resident *r = s->resident;

	sim_cu_charge(m, s, SIM_SLOT_ISSUE);
	m->stats.wave_cycles += m->clock.now - s->begun;
	r->live--;
	if (r->live)
		open_barrier(m, r);
	else
		end_group(m, s->cu, r);
}

static void issue(struct sim_domain *m, struct sim_slot *s, uint64_t *unit, uint64_t busy, uint64_t cycles)
{
	s->left--;
	sim_cu_go_on(m, s, sim_cu_take(m, unit, busy) + cycles);
}

static bool fetch(struct sim_domain *m, struct sim_slot *s)
{
	int r = sim_wave_next(s->wave, &s->op, &m->why);

	if (r) {
		m->stop = r;
		return false;
	}
	s->left = s->op.kind == SIM_OP_VALU || s->op.kind == SIM_OP_SALU || s->op.kind == SIM_OP_LDS
	              ? s->op.count
	              : 1;
	m->stats.wavefront_instructions += sim_op_instructions(&s->op);
	s->cu->stats.wavefront_instructions += sim_op_instructions(&s->op);
	return true;
}

/* At a wait or the end: true if nothing stands in the way. */
static bool may_pass(struct sim_domain *m, struct sim_slot *s)
{
	if (s->under_way <= most_under_way(s))
		return true;
	sim_cu_charge(m, s, SIM_SLOT_MEMORY);
	return false;
}

/* Of an instruction that a unit takes and that nothing stands in the way of. */
static inline void compute(struct sim_domain *m, struct sim_slot *s)
{
	const struct sim_config *c = m->config;
	struct sim_cu *cu = s->cu;

	if (s->op.kind == SIM_OP_VALU)
		issue(m, s, &cu->simd_free[s->simd], c->valu_issue, c->valu_cycles);
	else if (s->op.kind == SIM_OP_LDS)
		issue(m, s, &cu->lds_free, 1, c->lds_cycles);
	else
		issue(m, s, &cu->salu_free, 1, c->salu_cycles);
}

/* Apart, because most steps need none of it. */
static __attribute__((noinline)) void step_any(struct sim_domain *m, struct sim_slot *s)
{
	if (!s->left && !fetch(m, s))
		return;
	switch (s->op.kind) {
	case SIM_OP_VALU:
	case SIM_OP_SALU:
	case SIM_OP_LDS: compute(m, s); break;
	case SIM_OP_LOAD:
	case SIM_OP_STORE: sim_vmem_issue(m, s); break;
	case SIM_OP_SCALAR: scalar(m, s); break;
	case SIM_OP_WAIT:
		if (may_pass(m, s))
			compute(m, s);
		break;
	case SIM_OP_BARRIER: barrier(m, s); break;
	case SIM_OP_END:
		if (may_pass(m, s))
			end(m, s);
		break;
	}
}

static void step(struct sim_domain *m, struct sim_event *e)
{
	struct sim_slot *s = (struct sim_slot *)(void *)e;

	if (s->left && s->op.kind <= SIM_OP_LDS)
		compute(m, s);
	else
		step_any(m, s);
}

/* A free slot on the vector unit with the fewest wavefronts. */
static struct sim_slot *choose_slot(const struct sim_domain *m, struct sim_cu *cu)
{
	const struct sim_config *c = m->config;
	uint64_t simd = 0, k;

	for (uint64_t s = 1; s < c->simds; s++)
		if (cu->simd_waves[s] < cu->simd_waves[simd])
			simd = s;
	for (k = simd * c->slots; cu->slot[k].resident;)
		k++;
	return &cu->slot[k];
}

static void begin_wave(struct sim_domain *m, struct sim_cu *cu, struct sim_resident *r, struct sim_wave *w)
{
	struct sim_slot *s = choose_slot(m, cu);

	s->resident = r;
	s->wave = w;
	s->left = s->under_way = 0;
	s->state = SIM_SLOT_ISSUE;
	s->since = s->begun = m->clock.now;
	s->next = r->slots;
	r->slots = s;
	cu->simd_waves[s->simd]++;
	m->stats.wavefronts++;
	sim_cu_go_on(m, s, m->clock.now + 1);
}

void sim_cu_begin(struct sim_domain *m, struct sim_cu *cu, struct sim_group *group)
{
	struct sim_resident *r = cu->free_resident;

	cu->free_resident = r->next_free;
	r->group = group;
	r->slots = NULL;
	r->arrived = 0;
	r->live = r->waves = sim_group_waves(group);
	if (!cu->groups) {
		cu->busy_since = m->clock.now;
		cu->busy_groups = 0;
	}
	cu->waves += r->waves;
	cu->groups++;
	cu->busy_groups++;
	cu->stats.work_groups++;
	cu->stats.wavefronts += r->waves;
	m->stats.work_groups++;
	for (uint32_t k = 0; k < r->live; k++)
		begin_wave(m, cu, r, sim_group_wave(group, k));
}
