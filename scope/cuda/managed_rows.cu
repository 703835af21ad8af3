/* SPDX-License-Identifier: Apache-2.0 */
/* managed_rows.cu - the rows of managed memory, and which cells they have on a machine. */
#include "scope/cuda/crew.h"
#include "scope/cuda/rows.h"

namespace {

enum { PAGE = 4096 };

int plan_threads(const struct scope_managed_row *r, const struct scope_machine *m, struct scope_plan *p,
                 struct scope_arg *args, uint32_t count)
{
	/* A GPU's kernels want one thread of the host for themselves. */
	const uint32_t spare = r->both && m->cpus > 1 ? m->cpus - 1 : m->cpus;
	const uint32_t cpus = spare < SCOPE_MOST_CREW ? spare : (uint32_t)SCOPE_MOST_CREW;
	const uint64_t least =
	    m->effort == SCOPE_QUICK ? 16 * PAGE : PAGE; /* of small ones all is the calls' */
	const uint64_t most = scope_most_bytes(m, 1u + r->both, 1u + r->both, 4ull << 30);
	const bool threads =
	    r->how == SCOPE_DEMAND && (r->to == SCOPE_AT_HOST || (r->both && r->from == SCOPE_AT_HOST));
	int rc = 0;

	args[count] = args[count + 1] = scope_arg{NULL, 0};
	if (!threads)
		return scope_plan_sizes(p, least, most, args);
	for (uint32_t n = 1; !rc; n = 2 * n < cpus ? 2 * n : cpus) {
		args[count] = scope_arg{"threads", n};
		if (n == 1 || n == cpus || m->effort != SCOPE_QUICK)
			rc = scope_plan_sizes(p, least, most, args);
		if (n == cpus)
			break;
	}
	return rc;
}

bool managed_everywhere(const struct scope_machine *m)
{
	for (uint32_t k = 0; k < m->gpus; k++)
		if (!m->gpu[k].managed)
			return false;
	return true;
}

constexpr struct scope_managed_row make(const char *name, const char *summary, const char *paper,
                                        const char *direction, enum scope_how how, enum scope_where from,
                                        enum scope_where to, bool both)
{
	const bool gpus = from == SCOPE_AT_GPU && to == SCOPE_AT_GPU;
	/* What was discarded need not cross a link. */
	const char *const limit = how == SCOPE_DISCARD_BATCH ? NULL : gpus ? "nvlink" : "pcie";
	const bool wall = how == SCOPE_DEMAND ? to == SCOPE_AT_HOST || both : both && gpus;

	return scope_managed_row{{name, summary, paper, direction, limit, NULL, SCOPE_BANDWIDTH,
	                          wall ? SCOPE_HOST_CLOCK : SCOPE_EVENTS, &scope_managed},
	                         how,
	                         from,
	                         to,
	                         both};
}

const enum scope_where host = SCOPE_AT_HOST, gpu = SCOPE_AT_GPU;

const struct scope_managed_row rows[] = {
    make("managed/demand-host-to-device", "a kernel touches pages that are at the host", "21", "h2d",
         SCOPE_DEMAND, host, gpu, false),
    make("managed/demand-device-to-host", "threads of the host touch pages that are at the GPU", "22", "d2h",
         SCOPE_DEMAND, gpu, host, false),
    make("managed/demand-both", "a kernel and threads of the host touch each other's pages at once: the sum",
         "23", "both", SCOPE_DEMAND, host, gpu, true),
    make("managed/demand-peer", "a kernel touches pages that are at another GPU", "24", "d2d", SCOPE_DEMAND,
         gpu, gpu, false),
    make("managed/demand-peer-both", "two GPUs touch each other's pages at once: the sum", NULL, "d2d-both",
         SCOPE_DEMAND, gpu, gpu, true),
    make("prefetch/host-to-device", "cudaMemPrefetchAsync of pages that are at the host", "25", "h2d",
         SCOPE_PREFETCH, host, gpu, false),
    make("prefetch/device-to-host", "cudaMemPrefetchAsync of pages that are at the GPU", "26", "d2h",
         SCOPE_PREFETCH, gpu, host, false),
    make("prefetch/both", "cudaMemPrefetchAsync both ways from one thread: the sum", "27", "both",
         SCOPE_PREFETCH, host, gpu, true),
    make("prefetch/peer", "cudaMemPrefetchAsync of pages that are at another GPU", "28", "d2d",
         SCOPE_PREFETCH, gpu, gpu, false),
    make("prefetch/peer-both", "cudaMemPrefetchAsync both ways between GPUs: the sum", "29", "d2d-both",
         SCOPE_PREFETCH, gpu, gpu, true),
    make("prefetch/batch-host-to-device", "one cudaMemPrefetchBatchAsync of many ranges", NULL, "h2d",
         SCOPE_PREFETCH_BATCH, host, gpu, false),
    make("prefetch/batch-device-to-host", "one cudaMemPrefetchBatchAsync of many ranges", NULL, "d2h",
         SCOPE_PREFETCH_BATCH, gpu, host, false),
    make("prefetch/discard-to-device",
         "one cudaMemDiscardAndPrefetchBatchAsync: memory moves, contents need not", NULL, "h2d",
         SCOPE_DISCARD_BATCH, host, gpu, false),
};

} // namespace

int scope_managed_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p)
{
	const struct scope_managed_row *r = (const struct scope_managed_row *)row;
	const bool two = r->from == SCOPE_AT_GPU && r->to == SCOPE_AT_GPU;
	const uint32_t most = m->effort == SCOPE_FULL ? (uint32_t)SCOPE_MOST_GPUS : two ? 2u : 1u;
	const uint32_t gpus = m->gpus < most ? m->gpus : most;
	int rc = 0;

	if (!m->gpus)
		return scope_plan_skip(p, NULL, "%s", m->no_gpu);
	if (!managed_everywhere(m))
		return scope_plan_skip(p, NULL, "a GPU here has no concurrent access to managed memory");
	if (two && m->gpus < 2)
		return scope_plan_skip(p, NULL, "needs 2 GPUs; this machine has 1");
	for (uint32_t a = 0; a < gpus && !rc; a++) {
		struct scope_arg args[SCOPE_MOST_ARGS + 1] = {{two ? "from" : "gpu", a}};

		for (uint32_t b = 0; two && b < gpus && !rc; b++) {
			args[1] = scope_arg{"to", b};
			rc = a == b || (r->both && a > b) ? 0 : plan_threads(r, m, p, args, 2);
		}
		rc = rc || two ? rc : plan_threads(r, m, p, args, 1);
	}
	return rc;
}

const struct scope_row_table scope_manageds = {rows, sizeof *rows, sizeof rows / sizeof *rows};
