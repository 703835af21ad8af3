/* SPDX-License-Identifier: Apache-2.0 */
/* vmem.c - the vector memory unit of a compute unit: its pipe, and the reorder buffer. */
#include <sim/cu.h>

#include <sim/parts.h>

static void count_in_flight(struct sim_domain *m, int64_t change)
{
	m->stats.vector_in_flight_cycles += m->in_flight * (m->clock.now - m->in_flight_since);
	m->in_flight_since = m->clock.now;
	m->in_flight += (uint64_t)change;
}

static void enter_rob(struct sim_domain *m, struct sim_cu *cu, struct sim_access *a)
{
	uint32_t at = cu->rob_first + cu->rob_count++;

	cu->rob[at < m->config->rob ? at : at - m->config->rob] = a;
	sim_translate(m, a);
}

static void leave_pipe(struct sim_domain *m, struct sim_event *e)
{
	struct sim_access *a = sim_access_of(e);
	struct sim_cu *cu = a->l1->cu;

	if (cu->rob_count < m->config->rob)
		enter_rob(m, cu, a);
	else
		sim_push(&cu->pipe, &a->message);
}

static void issue_line(struct sim_domain *m, struct sim_slot *s, const struct sim_line *line, uint64_t cycle)
{
	struct sim_access *a = sim_access_new(m);

	a->l1 = s->cu->l1v;
	a->slot = s;
	a->gpu = s->cu->gpu->number;
	a->line = line->address;
	a->words = sim_line_words(line);
	a->issued = m->clock.now;
	a->write = s->op.kind == SIM_OP_STORE;
	a->whole = a->write && !~line->bytes;
	a->last = line == s->op.line + s->op.count - 1;
	++*(a->write ? &m->stats.vector_writes : &m->stats.vector_reads);
	sim_clock_at(&m->clock, &a->message.event, cycle + m->config->transaction_pipe, leave_pipe);
}

static void issue_lines(struct sim_domain *m, struct sim_slot *s)
{
	struct sim_cu *cu = s->cu;
	uint64_t start = sim_cu_take(m, &cu->vmem_free, 1), enter = start + m->config->instruction_pipe;

	if (enter < cu->pipe_free)
		enter = cu->pipe_free;
	cu->pipe_free = enter + s->op.count;
	count_in_flight(m, s->op.count);
	cu->in_flight += s->op.count;
	s->under_way += s->op.count != 0;
	*(s->op.kind == SIM_OP_STORE ? &cu->stats.vector_writes : &cu->stats.vector_reads) += s->op.count;
	for (uint32_t k = 0; k < s->op.count; k++)
		issue_line(m, s, &s->op.line[k], enter + k);
	s->left = 0;
	sim_cu_go_on(m, s, start + m->config->vmem_issue);
}

static bool lines_fit(const struct sim_domain *m, const struct sim_slot *s)
{
	return s->cu->in_flight + s->op.count <= m->config->in_flight;
}

void sim_vmem_issue(struct sim_domain *m, struct sim_slot *s)
{
	struct sim_cu *cu = s->cu;

	if (!cu->stuck && lines_fit(m, s)) {
		issue_lines(m, s);
		return;
	}
	sim_cu_charge(m, s, SIM_SLOT_ROOM);
	if (!cu->stuck)
		cu->stuck_end = &cu->stuck;
	s->next_stuck = NULL;
	*cu->stuck_end = s;
	cu->stuck_end = &s->next_stuck;
}

static void go_on_stuck(struct sim_domain *m, struct sim_cu *cu)
{
	struct sim_slot *s;

	while ((s = cu->stuck) && lines_fit(m, s)) {
		cu->stuck = s->next_stuck;
		sim_cu_charge(m, s, SIM_SLOT_ISSUE);
		issue_lines(m, s);
	}
}

static void count_done(struct sim_domain *m, const struct sim_access *a)
{
	uint64_t now = m->clock.now;

	m->stats.vector_done++;
	m->stats.vector_latency_cycles += now - a->issued;
	if (a->write)
		return;
	m->stats.read_latency_cycles += now - a->issued;
	if (!a->left)
		return;
	m->stats.remote_vector_reads++;
	m->stats.remote_read_cycles += now - a->issued;
	m->stats.remote_to_rdma_cycles += a->asked;
	m->stats.remote_request_cycles += a->there - a->asked;
	m->stats.remote_home_cycles += a->answered - a->there;
	m->stats.remote_reply_cycles += a->back - a->answered;
	m->stats.remote_return_cycles += now - a->issued - a->back;
}

static void retire(struct sim_domain *m, struct sim_cu *cu, struct sim_access *a)
{
	cu->rob_first = cu->rob_first + 1 < m->config->rob ? cu->rob_first + 1 : 0;
	cu->rob_count--;
	cu->in_flight--;
	count_in_flight(m, -1);
	count_done(m, a);
	if (a->last)
		sim_cu_instruction_done(m, a->slot);
	sim_access_free(m, a);
}

void sim_cu_done(struct sim_domain *m, struct sim_access *a)
{
	struct sim_cu *cu = a->l1->cu;

	a->done = true;
	while (cu->rob_count && (a = cu->rob[cu->rob_first])->done)
		retire(m, cu, a);
	while (cu->pipe.first && cu->rob_count < m->config->rob)
		enter_rob(m, cu, sim_take(&cu->pipe));
	go_on_stuck(m, cu);
}
