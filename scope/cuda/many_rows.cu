/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_rows.cu - copies among all GPUs, and between the host and all of them, at once: the sum, by the host's
 * clock.
 */
#include "scope/cuda/rows.h"

namespace {

enum { PAGES = 4096 };

const struct scope_way peer_way = {SCOPE_COPY, SCOPE_DEVICE, SCOPE_DEVICE, 0, 0, 0, 1, true};
const struct scope_way in_way = {SCOPE_COPY, SCOPE_PINNED, SCOPE_DEVICE, 0, 0, 0, 1, true};
const struct scope_way out_way = {SCOPE_COPY, SCOPE_DEVICE, SCOPE_PINNED, 0, 0, 0, 1, true};

int one_to_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 1; g < t->machine->gpus && !rc; g++)
		rc = scope_transfer_add(t, &peer_way, 0, g, 0, e);
	return rc;
}

int all_to_one(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 1; g < t->machine->gpus && !rc; g++)
		rc = scope_transfer_add(t, &peer_way, g, 0, g, e);
	return rc;
}

int all_to_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	const uint32_t gpus = t->machine->gpus;
	int rc = 0;

	(void)c;
	for (uint32_t k = 0; k < gpus * gpus && !rc; k++)
		rc = k / gpus == k % gpus ? 0
		                          : scope_transfer_add(t, &peer_way, k / gpus, k % gpus, k / gpus, e);
	return rc;
}

int host_to_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 0; g < t->machine->gpus && !rc; g++)
		rc = scope_transfer_add(t, &in_way, g, g, g, e);
	return rc;
}

int all_to_host(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 0; g < t->machine->gpus && !rc; g++)
		rc = scope_transfer_add(t, &out_way, g, g, g, e);
	return rc;
}

bool all_peers(const struct scope_machine *m)
{
	for (uint32_t a = 0; a < m->gpus; a++)
		for (uint32_t b = 0; b < m->gpus; b++)
			if (a != b && !m->gpu[a].peer[b])
				return false;
	return true;
}

int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_transfer_row *r = (const struct scope_transfer_row *)row;
	const bool peers = r->flags & SCOPE_PEERS;
	const struct scope_arg args[] = {{"gpus", m->gpus}, {NULL, 0}};
	const uint32_t host = peers ? 0 : m->gpus, gpu = peers ? 2 * m->gpus : 1;

	if (!m->gpus)
		return scope_plan_skip(p, NULL, "%s", m->no_gpu);
	if (m->gpus < 2)
		return scope_plan_skip(p, NULL, "needs 2 GPUs; this machine has 1");
	if (peers && !all_peers(m))
		return scope_plan_skip(p, NULL, "not every GPU can reach every other's memory");
	return scope_plan_sizes(p, r->least, scope_most_bytes(m, host, gpu, r->most), args);
}

const struct scope_functions functions = {sizeof(struct scope_transfer), plan,
                                          scope_transfer_open,           scope_transfer_sample,
                                          scope_transfer_verify,         scope_transfer_close};

constexpr struct scope_transfer_row row(const char *name, const char *summary, const char *direction,
                                        const char *limit, uint32_t flags,
                                        int (*build)(struct scope_transfer *, const struct scope_cell *,
                                                     struct gn_error *))
{
	return scope_transfer_row{
	    {name, summary, NULL, direction, limit, NULL, SCOPE_BANDWIDTH, SCOPE_HOST_CLOCK, &functions},
	    {},
	    0,
	    flags | SCOPE_WALL,
	    PAGES,
	    4ull << 30,
	    build};
}

const struct scope_transfer_row rows[] = {
    row("many/one-to-all", "the first GPU copies to every other at once", "d2d", "nvlink",
        SCOPE_PEERS | SCOPE_COLD, one_to_all),
    row("many/all-to-one", "every other GPU copies to the first at once", "d2d", "nvlink",
        SCOPE_PEERS | SCOPE_COLD, all_to_one),
    row("many/all-to-all", "every GPU copies to every other at once", "d2d-both", "nvlink",
        SCOPE_PEERS | SCOPE_COLD, all_to_all),
    row("many/host-to-all", "from pinned memory to every GPU at once", "h2d", "pcie", 0, host_to_all),
    row("many/all-to-host", "from every GPU to pinned memory at once", "d2h", "pcie", 0, all_to_host),
};

} // namespace

const struct scope_row_table scope_many = {rows, sizeof *rows, sizeof rows / sizeof *rows};
