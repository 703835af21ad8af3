/* SPDX-License-Identifier: Apache-2.0 */
#include "tc.h"

#include <string.h>

#include "kernels.h"

struct job {
	struct gn_scanner scanner;
	struct gn_tc_args args;
	struct gn_tc_result *result;
};

static int allocate(struct job *j, struct gn_error *error)
{
	j->args.looked_up =
	    (uint64_t *)simt_alloc(j->scanner.machine, sizeof *j->args.looked_up, SIMT_DEVICE, error);
	return j->args.looked_up ? 0 : gn_error_set(error, -GN_ENOMEM, "tc: out of memory on the machine");
}

static int tell(struct job *j, struct gn_error *error)
{
	struct gn_graph_step step = {0};

	step.frontier = j->scanner.graph->vertices;
	step.count = j->scanner.shared.found;
	return gn_scanner_tell(&j->scanner, &step, error);
}

static int run(struct job *j, const struct gn_tc_options *options, struct gn_error *error)
{
	const double begin = gn_scanner_clock();
	int rc;

	gn_scanner_listen(&j->scanner, &options->listener);
	rc = gn_scanner_lists(&j->scanner, &j->args.scan, GN_SCAN_KERNEL_FOR(&j->scanner, gn_tc_count),
	                      GN_SCAN_KERNEL_FOR(&j->scanner, gn_tc_count_chunks), j->scanner.graph->vertices,
	                      error);

	if (!rc)
		rc = tell(j, error);
	j->result->seconds = gn_scanner_clock() - begin;
	j->result->triangles = j->scanner.shared.found;
	j->result->edges = j->scanner.shared.edges;
	if (rc)
		return rc;
	rc = simt_move(j->scanner.machine, &j->result->looked_up, j->args.looked_up,
	               sizeof j->result->looked_up, error);
	return gn_scanner_machine(&j->scanner, rc, error);
}

int gn_tc(struct simt_machine *machine, struct gn_graph_arrays *graph, const struct gn_tc_options *options,
          struct gn_tc_result *result, const struct gn_progress *progress, struct gn_error *error)
{
	struct job j;
	int rc;

	memset(&j, 0, sizeof j);
	memset(result, 0, sizeof *result);
	if (!graph->vertices)
		return 0;
	j.result = result;
	gn_progress_step(progress, "counting", 0, 0);
	rc = gn_scanner_init_chunks(&j.scanner, &j.args.scan, machine, graph, "tc", GN_TC_CHUNK, error);
	gn_scanner_share_pages(&j.scanner, GN_TC_PAGES);
	if (!rc)
		rc = allocate(&j, error);
	if (!rc)
		rc = run(&j, options, error);
	simt_free(machine, j.args.looked_up);
	gn_scanner_fini(&j.scanner, &j.args.scan);
	return rc;
}
