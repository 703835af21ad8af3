/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sim run: one workload on one machine. */
#include <stdio.h>
#include <string.h>

#include <sim/overhead.h>
#include <sim/trace.h>

#include "sim.h"

/* ---- simulating ---- */

struct fixture {
	struct sim_memory *memory;
	struct sim_machine *machine;
	void *state;
};

static json_t *links_of(struct sim_machine *machine)
{
	json_t *all = json_array();
	struct sim_link_stats l;

	for (uint32_t k = 0; !sim_machine_link(machine, k, &l); k++)
		json_array_append_new(all, json_pack("{s:s, s:I, s:I, s:I, s:I}", "name", l.name, "messages",
		                                     (json_int_t)l.messages, "flits", (json_int_t)l.flits,
		                                     "bytes", (json_int_t)l.bytes, "busy_cycles",
		                                     (json_int_t)l.busy_cycles));
	return all;
}

/* What each GPU has counted; counters that are 0 are left out. */
static json_t *by_gpu_of(const struct sim_machine *machine)
{
	json_t *all = json_array();
	const struct sim_stats *s;

	for (uint32_t gpu = 0; (s = sim_machine_gpu_stats(machine, gpu)); gpu++) {
		json_t *one = json_object();

		for (uint32_t k = 0; sim_stat_name(k); k++)
			if (sim_stat_value(s, k))
				json_object_set_new(one, sim_stat_name(k),
				                    json_integer((json_int_t)sim_stat_value(s, k)));
		json_array_append_new(all, one);
	}
	return all;
}

/* A row of counters for each compute unit of each GPU. */
static json_t *by_cu_of(const struct sim_machine *machine)
{
	json_t *names = json_array(), *gpus = json_array();
	const struct sim_cu_stats *s;

	for (uint32_t k = 0; sim_cu_stat_name(k); k++)
		json_array_append_new(names, json_string(sim_cu_stat_name(k)));
	for (uint32_t gpu = 0; sim_machine_gpu_stats(machine, gpu); gpu++) {
		json_t *cus = json_array();

		for (uint32_t cu = 0; (s = sim_machine_cu_stats(machine, gpu, cu)); cu++) {
			json_t *row = json_array();

			for (uint32_t k = 0; sim_cu_stat_name(k); k++)
				json_array_append_new(row, json_integer((json_int_t)sim_cu_stat_value(s, k)));
			json_array_append_new(cus, row);
		}
		json_array_append_new(gpus, cus);
	}
	return json_pack("{s:o, s:o}", "columns", names, "gpus", gpus);
}

enum { INTERVALS = 512 };

static int watch(struct sim_machine *machine, const struct tool_sim *s, struct gn_error *e)
{
	if ((s->trace || s->heat) && sim_trace_begin(machine, INTERVALS))
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the trace");
	return 0;
}

static int write_files(struct sim_machine *machine, const struct tool_sim *s, const struct sim_config *c,
                       struct gn_error *e)
{
	int rc = 0;

	sim_trace_finish(machine);
	if (s->trace)
		rc = tool_sim_write_trace(machine, s->trace, e);
	if (!rc && s->heat)
		rc = tool_sim_write_heat(machine, s->heat, c->net_clock, e);
	return rc;
}

static int run_all(struct fixture *b, const struct sim_workload *workload, const struct tool_sim *s,
                   struct tool_sim_result *r, struct gn_error *e)
{
	struct sim_launch launch;
	const uint64_t placement = r->config.memory_placement;
	int rc;

	if (placement != SIM_PLACE_BY_WORKLOAD)
		sim_memory_place(b->memory,
		                 placement == SIM_PLACE_INTERLEAVED ? SIM_INTERLEAVED : SIM_DISTRIBUTED);
	rc = workload->create(&b->state, &s->request, b->memory, e);

	if (!rc)
		rc = sim_machine_create(&b->machine, &r->config, b->memory, s->threads ? s->threads : 1, e);
	rc = rc ? rc : watch(b->machine, s, e);
	while (!rc && workload->next(b->state, &launch))
		rc = sim_machine_launch(b->machine, &launch, e);
	if (rc)
		return rc;
	rc = workload->check(b->state, &r->checked);
	if (rc && rc != -GN_EBADMSG)
		return gn_error_set(e, rc, "%s", r->checked.text);
	rc = write_files(b->machine, s, &r->config, e);
	if (rc)
		return rc;
	r->stats = *sim_machine_stats(b->machine);
	r->by_cu = s->by_cu ? by_cu_of(b->machine) : NULL;
	r->links = links_of(b->machine);
	r->by_gpu = by_gpu_of(b->machine);
	return 0;
}

int tool_sim_simulate(const struct tool_sim *s, const struct sim_workload *workload,
                      struct tool_sim_result *r, struct gn_error *e)
{
	const double begin = tool_seconds();
	struct fixture b;
	int rc;

	memset(&b, 0, sizeof b);
	memset(r, 0, sizeof *r);
	if (s->request.input && !workload->reads_input)
		return gn_error_set(e, -GN_EINVAL,
		                    "--input %s: the workload %s reads no file; leave --input out",
		                    s->request.input, workload->name);
	if (s->request.record && !workload->records)
		return gn_error_set(
		    e, -GN_EINVAL,
		    "--record %s: the accesses of the workload %s cannot be recorded; leave --record out",
		    s->request.record, workload->name);
	rc = tool_sim_configure(s, &r->config, e);
	if (rc)
		return rc;
	if (sim_memory_create(&b.memory, (uint32_t)r->config.gpus))
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for the machine");
	if (!rc)
		rc = run_all(&b, workload, s, r, e);
	workload->destroy(b.state);
	sim_machine_destroy(b.machine);
	sim_memory_destroy(b.memory);
	r->seconds = tool_seconds() - begin;
	return rc;
}

/* ---- reports ---- */

static json_t *config_json(const struct sim_config *config)
{
	json_t *all = json_object();
	const struct sim_key *key;
	char text[64];

	for (uint32_t k = 0; (key = sim_key_at(k)); k++)
		json_object_set_new(all, key->name,
		                    json_string(sim_key_text(config, key, text, sizeof text)));
	return all;
}

static json_t *overhead_json(const struct tool_sim_result *r)
{
	const struct sim_overhead o = sim_overhead_of(&r->config, r->stats.kernel_cycles);

	return json_pack("{s:f, s:f, s:f}", "area_um2_per_gpu", o.area_um2, "power_mw_per_gpu", o.power_mw,
	                 "energy_uj", o.energy_uj);
}

json_t *tool_sim_report(const struct tool_sim *s, const struct sim_workload *workload,
                        struct tool_sim_result *r)
{
	json_t *root = json_pack("{s:s, s:s, s:s, s:o*, s:I, s:s, s:I, s:b}", "schema", "grapnel-sim-1",
	                         "workload", workload->name, "size", s->request.size ? s->request.size : "",
	                         "input", s->request.input ? tool_json_text(s->request.input) : NULL, "seed",
	                         (json_int_t)s->request.seed, "opt", s->opt ? s->opt : "", "gpus",
	                         (json_int_t)r->config.gpus, "verified", !r->checked.code);
	const char *name;

	for (uint32_t k = 0; (name = sim_stat_name(k)); k++)
		json_object_set_new(root, name, json_integer((json_int_t)sim_stat_value(&r->stats, k)));
	json_object_set_new(root, "links", r->links);
	json_object_set_new(root, "by_gpu", r->by_gpu);
	if (r->by_cu)
		json_object_set_new(root, "by_cu", r->by_cu);
	r->links = r->by_gpu = r->by_cu = NULL;
	json_object_set_new(root, "overhead", overhead_json(r));
	json_object_set_new(root, "host_seconds", json_real(r->seconds));
	json_object_set_new(root, "config", config_json(&r->config));
	return root;
}

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static void print(const struct sim_workload *workload, const struct tool_sim_result *r)
{
	const struct sim_stats *s = &r->stats;

	printf("%s on %llu GPUs: %llu cycles, %llu wavefront instructions, %llu launches; results %s\n",
	       workload->name, (unsigned long long)r->config.gpus, (unsigned long long)s->kernel_cycles,
	       (unsigned long long)s->wavefront_instructions, (unsigned long long)s->launches,
	       r->checked.code ? "WRONG" : "are the reference's");
	printf("L1 vector   %llu reads: %.1f %% hits, %.1f %% misses; %llu writes\n",
	       (unsigned long long)(s->l1v_read_hits + s->l1v_read_misses + s->l1v_read_merges),
	       percent(s->l1v_read_hits, s->vector_reads), percent(s->l1v_read_misses, s->vector_reads),
	       (unsigned long long)s->l1v_writes);
	printf("L2          %llu lines, %.1f %% hits; DRAM %llu transactions\n",
	       (unsigned long long)s->l2_lookups, percent(s->l2_hits, s->l2_lookups),
	       (unsigned long long)s->dram_transactions);
	printf("remote      %llu transactions: %llu reads (vectors' take %.0f cycles), %llu writes; %.1f %% "
	       "of L1's accesses are remote\n",
	       (unsigned long long)s->remote_transactions, (unsigned long long)s->remote_reads,
	       s->remote_vector_reads ? (double)s->remote_read_cycles / (double)s->remote_vector_reads : 0,
	       (unsigned long long)s->remote_writes,
	       percent(s->l1v_remote_reads + s->l1v_remote_writes, s->vector_reads + s->vector_writes));
	printf("here        %.2f s, %.3f M wavefront instructions/s\n", r->seconds,
	       1e-6 * (double)s->wavefront_instructions / r->seconds);
}

/* ---- the command ---- */

struct request {
	struct tool_sim sim;
	const struct sim_workload *workload;
	const char *json;
};

enum { OPT_RECORD = 600, OPT_THREADS, OPT_TRACE, OPT_HEAT };

static const struct argp_option options[] = {
    {"record", OPT_RECORD, "FILE", 0,
     "write the accesses of grapnel-bfs to FILE; the workload 'stream' runs them again"},
    {"threads", OPT_THREADS, "N", 0,
     "threads that simulate the GPUs, 1 to 16 (default 1); more threads than cores are slower. The counts "
     "are the same with any number. Greedy dispatch over GPUs, pages that move, and kernels whose "
     "work-groups depend on each other run on one thread"},
    {"trace", OPT_TRACE, "FILE", 0,
     "write what happened over time to FILE, for Perfetto (ui.perfetto.dev) or chrome://tracing; - is "
     "standard output"},
    {"heat", OPT_HEAT, "FILE", 0, "draw how busy links were over time to FILE, an SVG; - is standard output"},
    {"json", 'j', "FILE", 0, "write all counters to FILE as JSON; - is standard output"},
    {0},
};

struct file {
	const char *option, *path;
};

enum { FILES = 3 };

static struct file file_of(const struct request *q, int k)
{
	const struct file all[FILES] = {
	    {"--json", q->json}, {"--trace", q->sim.trace}, {"--heat", q->sim.heat}};

	return all[k];
}

/* One would overwrite the other. */
static void refuse_same(const struct request *q, struct argp_state *state)
{
	for (int k = 1; k < FILES; k++)
		for (int n = 0; n < k; n++) {
			const struct file a = file_of(q, n), b = file_of(q, k);

			if (a.path && b.path && !strcmp(a.path, b.path))
				argp_error(state, "%s and %s both go to %s; give each a file of its own",
				           a.option, b.option, a.path);
		}
}

/* Before a simulation, which may be long. */
static int check_files(const struct request *q, struct gn_error *e)
{
	int rc = 0;

	for (int k = 0; !rc && k < FILES; k++)
		rc = tool_can_write(file_of(q, k).path, e);
	return rc;
}

static bool to_stdout(const struct request *q)
{
	bool any = false;

	for (int k = 0; k < FILES; k++)
		any = any || tool_to_stdout(file_of(q, k).path);
	return any;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->sim; break;
	case 'j': q->json = text; break;
	case OPT_THREADS:
		q->sim.threads = (uint32_t)tool_number(state, "--threads", text, 1, SIM_MOST_GPUS);
		break;
	case OPT_TRACE: q->sim.trace = text; break;
	case OPT_HEAT: q->sim.heat = text; break;
	case OPT_RECORD: q->sim.request.record = text; break;
	case ARGP_KEY_ARG:
		if (q->workload)
			argp_error(
			    state,
			    "%s: too many arguments; give one workload, 'grapnel sim sweep' runs several",
			    text);
		q->workload = tool_sim_workload(state, text);
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no workload given; 'grapnel sim list' lists the workloads");
		break;
	case ARGP_KEY_END: refuse_same(q, state); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_sim_argp}, {0}};
static const struct argp argp = {
    options, parse, "WORKLOAD",
    "Simulate a workload on several GPUs, count what happens, and compare its results with a reference.",
    children};

int tool_sim_run(int argc, char **argv)
{
	struct tool_sim_result r;
	struct request q;
	struct gn_error e;
	int rc;

	memset(&q, 0, sizeof q);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	q.sim.by_cu = q.json != NULL;
	rc = check_files(&q, &e);
	rc = rc ? rc : tool_sim_simulate(&q.sim, q.workload, &r, &e);
	if (rc)
		return tool_fail("sim run", &e);
	if (q.json)
		rc = tool_write_json(tool_sim_report(&q.sim, q.workload, &r), q.json, &e);
	json_decref(r.links);
	json_decref(r.by_gpu);
	json_decref(r.by_cu);
	if (!rc && !to_stdout(&q))
		print(q.workload, &r);
	if (rc)
		return tool_fail("sim run", &e);
	return r.checked.code ? tool_fail("sim run", &r.checked) : TOOL_OK;
}
