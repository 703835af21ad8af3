/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many_rows.cu - copies among all GPUs, and between the host and all of them, at once: the sum, by the host's
 * clock. Where traffic the other way is only there to be met, the longest of the lanes' own times.
 */
#include "scope/cuda/rows.h"

namespace {

enum { PAGES = 4096, QUICK = 1 << 20 };

/* Between two GPUs, by the source or by the destination. */
constexpr struct scope_way peers(enum scope_method method, uint8_t by)
{
	return scope_way{method, SCOPE_DEVICE, SCOPE_DEVICE, SCOPE_A, SCOPE_B, by, 1, true};
}

constexpr struct scope_way in(enum scope_method method, uint8_t times = 1)
{
	return scope_way_of(method, SCOPE_PINNED, SCOPE_DEVICE, times);
}

constexpr struct scope_way out(enum scope_method method, uint8_t times = 1)
{
	return scope_way_of(method, SCOPE_DEVICE, SCOPE_PINNED, times);
}

/* ---- the flows of a cell ---- */

int add_pair(struct scope_transfer *t, uint32_t from, uint32_t to, struct gn_error *e)
{
	const struct scope_way *w = &t->row->way[0];

	return scope_transfer_add(t, w, from, to, w->by == SCOPE_A ? from : to, e);
}

template <bool from_one>
int one_with_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 1; g < t->machine->gpus && !rc; g++)
		rc = from_one ? add_pair(t, 0, g, e) : add_pair(t, g, 0, e);
	return rc;
}

constexpr auto one_to_all = one_with_all<true>, all_to_one = one_with_all<false>;

int all_to_all(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	const uint32_t gpus = t->machine->gpus;
	int rc = 0;

	(void)c;
	for (uint32_t k = 0; k < gpus * gpus && !rc; k++)
		rc = k / gpus == k % gpus ? 0 : add_pair(t, k / gpus, k % gpus, e);
	return rc;
}

/* The row's one way or two, on each GPU. */
int with_host(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e)
{
	int rc = 0;

	(void)c;
	for (uint32_t g = 0; g < t->machine->gpus; g++)
		for (uint32_t k = 0; k < 2 && !rc; k++)
			if (t->row->way[k].times)
				rc = scope_transfer_add(t, &t->row->way[k], g, g, g, e);
	return rc;
}

/* ---- the plan ---- */

bool all_peers(const struct scope_machine *m)
{
	for (uint32_t a = 0; a < m->gpus; a++)
		for (uint32_t b = 0; b < m->gpus; b++)
			if (a != b && !m->gpu[a].peer[b])
				return false;
	return true;
}

/*
 * A GPU has a buffer for what it sends to each other one, and one for what it gets. Small sizes say more of
 * the calls than of the links: a quick run has none.
 */
int plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_transfer_row *r = (const struct scope_transfer_row *)row;
	const char *const missing = scope_transfer_missing(m, r->flags);
	const bool peers = r->flags & SCOPE_PEERS;
	const uint32_t ways = r->way[1].times ? 2 : 1;
	const struct scope_arg args[] = {{"gpus", m->gpus}, {NULL, 0}};

	if (missing)
		return scope_plan_skip(p, NULL, "%s", missing);
	if (m->gpus < 2)
		return scope_plan_skip(p, NULL, "needs 2 GPUs; this machine has 1");
	if (peers && !all_peers(m))
		return scope_plan_skip(p, NULL, "not every GPU can reach every other's memory");
	return scope_plan_sizes(
	    p, m->effort == SCOPE_QUICK ? (uint64_t)QUICK : r->least,
	    scope_most_bytes(m, peers ? 0 : ways * m->gpus, peers ? 2 * (m->gpus - 1) : ways, r->most), args);
}

const struct scope_functions functions = {sizeof(struct scope_transfer), plan,
                                          scope_transfer_open,           scope_transfer_sample,
                                          scope_transfer_verify,         scope_transfer_close};

typedef int (*build_function)(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e);

constexpr struct scope_transfer_row row(const char *name, const char *summary, const char *direction,
                                        const char *limit, uint32_t flags, build_function build,
                                        struct scope_way a, struct scope_way b = {})
{
	const bool met = b.times && !b.counted;

	return scope_transfer_row{{name, summary, NULL, direction, limit, NULL, SCOPE_BANDWIDTH,
	                           met ? SCOPE_EVENTS : SCOPE_HOST_CLOCK, &functions},
	                          {a, b},
	                          0,
	                          flags | (met ? 0u : (uint32_t)SCOPE_WALL),
	                          PAGES,
	                          4ull << 30,
	                          build};
}

constexpr struct scope_transfer_row peer(const char *name, const char *summary, const char *direction,
                                         build_function build, struct scope_way way)
{
	return row(name, summary, direction, "nvlink", SCOPE_PEERS | SCOPE_COLD, build, way);
}

const struct scope_transfer_row rows[] = {
    peer("many/one-to-all", "the first GPU copies to every other at once", "d2d", one_to_all,
         peers(SCOPE_COPY, SCOPE_A)),
    peer("many/one-to-all-pulled", "every other GPU copies from the first at once", "d2d", one_to_all,
         peers(SCOPE_COPY, SCOPE_B)),
    peer("many/all-to-one", "every other GPU copies to the first at once", "d2d", all_to_one,
         peers(SCOPE_COPY, SCOPE_A)),
    peer("many/all-to-one-pulled", "the first GPU copies from every other at once", "d2d", all_to_one,
         peers(SCOPE_COPY, SCOPE_B)),
    peer("many/all-to-all", "every GPU copies to every other at once", "d2d-both", all_to_all,
         peers(SCOPE_COPY, SCOPE_A)),
    peer("many/kernel-one-to-all-write", "copying kernels of the first GPU, to every other at once", "d2d",
         one_to_all, peers(SCOPE_COPY_KERNEL, SCOPE_A)),
    peer("many/kernel-one-to-all-read", "copying kernels of every other GPU, from the first at once", "d2d",
         one_to_all, peers(SCOPE_COPY_KERNEL, SCOPE_B)),
    peer("many/kernel-all-to-one-write", "copying kernels of every other GPU, to the first at once", "d2d",
         all_to_one, peers(SCOPE_COPY_KERNEL, SCOPE_A)),
    peer("many/kernel-all-to-one-read", "copying kernels of the first GPU, from every other at once", "d2d",
         all_to_one, peers(SCOPE_COPY_KERNEL, SCOPE_B)),
    row("many/host-to-all", "from pinned memory to every GPU at once", "h2d", "pcie", 0, with_host,
        in(SCOPE_COPY)),
    row("many/all-to-host", "from every GPU to pinned memory at once", "d2h", "pcie", 0, with_host,
        out(SCOPE_COPY)),
    row("many/host-both", "between pinned memory and every GPU, both ways at once: the sum", "both", "pcie",
        0, with_host, in(SCOPE_COPY), out(SCOPE_COPY)),
    row("many/host-both-in", "from pinned memory to every GPU against twice as much the other way", "h2d",
        "pcie", 0, with_host, in(SCOPE_COPY), out(SCOPE_COPY, 2)),
    row("many/host-both-out", "from every GPU to pinned memory against twice as much the other way", "d2h",
        "pcie", 0, with_host, out(SCOPE_COPY), in(SCOPE_COPY, 2)),
    row("many/kernel-host-to-all", "copying kernels of every GPU at once, from pinned memory", "h2d", "pcie",
        SCOPE_COLD, with_host, in(SCOPE_COPY_KERNEL)),
    row("many/kernel-all-to-host", "copying kernels of every GPU at once, to pinned memory", "d2h", "pcie",
        SCOPE_COLD, with_host, out(SCOPE_COPY_KERNEL)),
};

} // namespace

const struct scope_row_table scope_many = {rows, sizeof *rows, sizeof rows / sizeof *rows};
