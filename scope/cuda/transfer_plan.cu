/* SPDX-License-Identifier: Apache-2.0 */
/* transfer_plan.cu - which cells the rows of transfer.h have on a machine. Touches no device. */
#include "scope/cuda/transfer.h"

namespace {

bool is_host(enum scope_kind kind)
{
	return kind != SCOPE_DEVICE;
}

/* Two buffers a way, each of which is the host's or a GPU's; a power of two, as sizes are. */
uint64_t most_of(const struct scope_transfer_row *r, const struct scope_machine *m)
{
	uint32_t host = 0;
	uint64_t power = 1;

	for (uint32_t k = 0; k < r->ways; k++)
		host += (uint32_t)is_host(r->way[k].from) + (uint32_t)is_host(r->way[k].to);
	const uint64_t free_bytes = scope_most_bytes(m, host, 2 * r->ways - host, r->most);
	const uint64_t most = free_bytes < m->most_bytes ? free_bytes : m->most_bytes;

	while (2 * power <= most)
		power *= 2;
	return power;
}

/*
 * A quick run leaves out what takes its time and says little: sizes that only the calls decide, variants of
 * small ones.
 */
uint64_t least_of(const struct scope_transfer_row *r, const struct scope_machine *m)
{
	const uint64_t quick = r->flags & (SCOPE_NODES | SCOPE_FLUSHED) ? 1u << 20 : 4096;

	return m->effort == SCOPE_QUICK && r->least < quick ? quick : r->least;
}

/* What is being planned: a row, on GPUs and nodes that its arguments say. */
struct planning {
	const struct scope_transfer_row *row;
	const struct scope_machine *machine;
	struct scope_plan *plan;
	struct scope_arg args[SCOPE_MOST_ARGS + 1];
	uint32_t count;
	bool largest; /* only the largest size: one number of a matrix of all pairs */
};

void set(struct planning *x, uint32_t at, const char *name, uint64_t value)
{
	x->args[at] = scope_arg{name, value};
	x->args[at + 1] = scope_arg{NULL, 0};
	x->count = at + 1;
}

int plan_sizes(struct planning *x)
{
	const uint64_t most = most_of(x->row, x->machine),
	               least = x->largest ? most : least_of(x->row, x->machine);
	const bool widths = x->row->flags & SCOPE_WIDTHS;
	const uint32_t count = x->count;
	int rc;

	if (least > most)
		return scope_plan_skip(x->plan, x->args, "not enough free memory");
	if (widths)
		set(x, count, "width", 16);
	rc = scope_plan_sizes(x->plan, least, most, x->args);
	if (rc || !widths || x->machine->effort == SCOPE_QUICK)
		return rc;
	set(x, count, "width", 4);
	return scope_plan_sizes(x->plan, least, most, x->args);
}

int plan_nodes(struct planning *x)
{
	const uint32_t count = x->count;
	int rc = 0;

	if (!(x->row->flags & SCOPE_NODES))
		return plan_sizes(x);
	for (uint32_t n = 0; n < x->machine->nodes && !rc; n++) {
		set(x, count, "node", x->machine->node[n].number);
		rc = plan_sizes(x);
	}
	return rc;
}

int plan_pair(struct planning *x, uint32_t a, uint32_t b)
{
	const struct scope_machine *m = x->machine;

	set(x, 0, "from", a);
	set(x, 1, "to", b);
	x->largest = m->effort != SCOPE_FULL && !(a == 0 && b == 1);
	/* What goes both ways is the same from either end. */
	if (a > b && x->row->ways == 2 && x->row->way[1].counted)
		return 0;
	if (x->row->flags & SCOPE_PEERS && !(m->gpu[a].peer[b] && m->gpu[b].peer[a]))
		return scope_plan_skip(x->plan, x->args, "GPU %u and GPU %u cannot reach each other's memory",
		                       a, b);
	return plan_nodes(x);
}

bool needs_two(const struct scope_transfer_row *r)
{
	return r->way[0].from_gpu != r->way[0].to_gpu || r->way[0].by != r->way[0].from_gpu;
}

const char *missing(const struct scope_transfer_row *r, const struct scope_machine *m)
{
	const char *why = scope_transfer_missing(m, r->flags);

	for (uint32_t k = 0; k < r->ways && !why; k++) {
		why = scope_kind_missing(m, r->way[k].from);
		why = why ? why : scope_kind_missing(m, r->way[k].to);
	}
	return why || !needs_two(r) || m->gpus > 1 ? why : "needs 2 GPUs; this machine has 1";
}

} // namespace

const char *scope_transfer_missing(const struct scope_machine *m, uint32_t flags)
{
	const char *why = m->gpus ? NULL : m->no_gpu;

	for (uint32_t g = 0; flags & SCOPE_BULK && g < m->gpus && !why; g++)
		why = m->gpu[g].compute < 90 ? "cp.async.bulk needs compute capability 9.0" : NULL;
	return why;
}

uint64_t scope_most_bytes(const struct scope_machine *m, uint32_t host_buffers, uint32_t gpu_buffers,
                          uint64_t most)
{
	if (host_buffers && m->free_bytes / 8 / host_buffers < most)
		most = m->free_bytes / 8 / host_buffers;
	for (uint32_t g = 0; gpu_buffers && g < m->gpus; g++)
		most = m->gpu[g].free_bytes / 8 / gpu_buffers < most ? m->gpu[g].free_bytes / 8 / gpu_buffers
		                                                     : most;
	return most;
}

/*
 * A quick run looks at the first GPU, and at the first two of them; a full one at all sizes of all; others at
 * all sizes of the first, and at the largest of the rest.
 */
int scope_transfer_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	struct planning x = {(const struct scope_transfer_row *)row, m, p, {}, 0, false};
	const bool two = needs_two(x.row);
	const uint32_t most = m->effort != SCOPE_QUICK ? (uint32_t)SCOPE_MOST_GPUS : two ? 2u : 1u;
	const uint32_t gpus = m->gpus < most ? m->gpus : most;
	const char *const why = missing(x.row, m);
	int rc = 0;

	if (why)
		return scope_plan_skip(p, NULL, "%s", why);
	for (uint32_t a = 0; a < gpus && !rc; a++) {
		set(&x, 0, "gpu", a);
		x.largest = a && m->effort != SCOPE_FULL;
		if (!two)
			rc = plan_nodes(&x);
		for (uint32_t b = 0; two && b < gpus && !rc; b++)
			rc = a == b ? 0 : plan_pair(&x, a, b);
	}
	return rc;
}
