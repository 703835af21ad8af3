/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/host/fixture.h"

int scope_plan_threads(struct scope_plan *p, const struct scope_machine *m, uint64_t least, uint64_t most)
{
	int rc = 0;

	for (uint32_t threads = 1;; threads = 2 * threads < m->cpus ? 2 * threads : m->cpus) {
		const struct scope_arg rest[] = {{"threads", threads}, {NULL, 0}};

		if (threads == 1 || threads == m->cpus || m->effort != SCOPE_QUICK)
			rc = scope_plan_sizes(p, least, most, rest);
		if (rc || threads >= m->cpus)
			return rc;
	}
}

int scope_plan_nodes(struct scope_plan *p, const struct scope_machine *m, uint64_t least, uint64_t most)
{
	int rc = 0;

	if (m->nodes < 2)
		return scope_plan_skip(p, NULL, "needs two NUMA nodes; this machine shows one");
	for (uint32_t from = 0; from < m->nodes; from++)
		for (uint32_t to = 0; !rc && to < m->nodes; to++) {
			const struct scope_arg rest[] = {
			    {"from", m->node[from].number}, {"to", m->node[to].number}, {NULL, 0}};

			rc = scope_plan_sizes(p, least, most, rest);
		}
	return rc;
}

struct scope_part scope_part_of(uint64_t bytes, uint32_t members, uint32_t member)
{
	const uint64_t lines = bytes / SCOPE_LINE;
	const uint64_t begin = lines * member / members, end = lines * (member + 1) / members;
	const struct scope_part part = {begin * SCOPE_LINE, (end - begin) * SCOPE_LINE};

	return part;
}

uint32_t scope_members(const struct scope_cell *c, uint64_t bytes)
{
	const uint64_t threads = scope_cell_arg(c, "threads", 1);

	return (uint32_t)(threads * SCOPE_LINE > bytes ? bytes / SCOPE_LINE : threads);
}
