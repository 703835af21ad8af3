/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sim explain: where the cycles of a remote read go - of one alone, or of those of a workload. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

/* ---- one read alone ---- */

enum { LINE_WORDS = SIM_LINE_BYTES / 4 };

/* Compute unit `reader` of GPU 0 reads a word; or, to know the page, the first two units of it do. */
struct probe {
	struct sim_buffer page;
	uint32_t word;
	uint32_t reader; /* UINT32_MAX: both */
};

static void kernel(struct sim_wave *w, const void *arguments)
{
	const struct probe *p = (const struct probe *)arguments;
	uint32_t index[SIM_LANES], value[SIM_LANES];

	if (sim_wave_gpu(w) || (p->reader != UINT32_MAX && p->reader != sim_wave_group(w, 0)))
		return;
	index[0] = p->word;
	sim_load_u32(w, 1, &p->page, index, value);
	sim_wait(w, 0);
}

struct reading {
	struct sim_memory *memory;
	struct sim_machine *machine;
	struct probe probe;
	uint32_t gpus;
};

static int launch(struct reading *r, uint32_t word, uint32_t reader, struct sim_stats *taken,
                  struct gn_error *e)
{
	const struct sim_launch l = {
	    "probe", kernel, &r->probe, {2 * SIM_LANES * r->gpus, 1}, {SIM_LANES, 1}, 0, 0, 0, 1};
	const struct sim_stats before = *sim_machine_stats(r->machine);
	const struct sim_stats *after = sim_machine_stats(r->machine);
	int rc;

	r->probe.word = word;
	r->probe.reader = reader;
	rc = sim_machine_launch(r->machine, &l, e);
	taken->read_latency_cycles = after->read_latency_cycles - before.read_latency_cycles;
	taken->remote_to_rdma_cycles = after->remote_to_rdma_cycles - before.remote_to_rdma_cycles;
	taken->remote_request_cycles = after->remote_request_cycles - before.remote_request_cycles;
	taken->remote_home_cycles = after->remote_home_cycles - before.remote_home_cycles;
	taken->remote_reply_cycles = after->remote_reply_cycles - before.remote_reply_cycles;
	taken->remote_return_cycles = after->remote_return_cycles - before.remote_return_cycles;
	return rc;
}

/* A line of a page on GPU `home`, from its DRAM; then the same from its L2, for another compute unit. */
static int read_from(const struct sim_config *config, uint32_t home, struct sim_stats *dram,
                     struct sim_stats *l2, struct gn_error *e)
{
	struct reading r;
	struct sim_stats warm;
	int rc;

	memset(&r, 0, sizeof r);
	r.gpus = (uint32_t)config->gpus;
	if (sim_memory_create(&r.memory, r.gpus) ||
	    sim_memory_alloc(r.memory, SIM_PAGE_BYTES, SIM_ON_ONE, home, &r.probe.page))
		rc = gn_error_set(e, -GN_ENOMEM, "out of memory for the machine");
	else
		rc = sim_machine_create(&r.machine, config, r.memory, 1, e);
	rc = rc ? rc : launch(&r, 0, UINT32_MAX, &warm, e);
	rc = rc ? rc : launch(&r, 32 * LINE_WORDS, 0, dram, e);
	rc = rc ? rc : launch(&r, 32 * LINE_WORDS, 1, l2, e);
	sim_machine_destroy(r.machine);
	sim_memory_destroy(r.memory);
	return rc;
}

/* ---- what is said of it ---- */

static const char *const parts[] = {"to_rdma", "request", "home", "reply", "back"};

static void parts_of(const struct sim_stats *s, double count, double *cycles)
{
	cycles[0] = (double)s->remote_to_rdma_cycles / count;
	cycles[1] = (double)s->remote_request_cycles / count;
	cycles[2] = (double)s->remote_home_cycles / count;
	cycles[3] = (double)s->remote_reply_cycles / count;
	cycles[4] = (double)s->remote_return_cycles / count;
}

static json_t *row_json(const char *name, const struct sim_stats *s, double count)
{
	json_t *row = json_pack("{s:s, s:f}", "read", name, "cycles", (double)s->read_latency_cycles / count);
	double cycles[5];

	parts_of(s, count, cycles);
	for (unsigned k = 0; k < 5; k++)
		json_object_set_new(row, parts[k], json_real(cycles[k]));
	return row;
}

static void print_rows(const json_t *rows)
{
	json_t *row;
	size_t k;

	printf("%-36s %9s | %9s %9s %9s %9s %9s\n", "cycles of a read", "all", "to RDMA", "request", "home",
	       "reply", "back");
	json_array_foreach(rows, k, row)
	{
		printf("%-36s %9.0f |", json_string_value(json_object_get(row, "read")),
		       json_number_value(json_object_get(row, "cycles")));
		for (unsigned n = 0; n < 5; n++)
			printf(" %9.0f", json_number_value(json_object_get(row, parts[n])));
		printf("\n");
	}
	puts("to RDMA: compute unit, TLB, L1, and waiting for the link; request, reply: links and switches, "
	     "and a wait for others in one packet; home: L2, DRAM");
}

static int explain_one(const struct tool_sim *s, json_t *rows, struct gn_error *e)
{
	struct sim_config config;
	struct sim_stats dram, l2;
	uint32_t home[3] = {0, 1, 0};
	static const char *const where[] = {"its own GPU", "a GPU of the same switch",
	                                    "a GPU of another switch"};
	int rc = tool_sim_configure(s, &config, e);

	config.decide = 0; /* one read is not enough for a decision */
	if (!rc && config.remote_cache && config.bypass)
		config.remote_cache = 0;
	home[2] = (uint32_t)config.net_gpus_per_switch;
	for (unsigned k = 0; k < 3 && !rc; k++) {
		char name[64];

		if (home[k] >= config.gpus || (k == 1 && config.net_gpus_per_switch < 2))
			continue;
		memset(&dram, 0, sizeof dram);
		memset(&l2, 0, sizeof l2);
		rc = read_from(&config, home[k], &dram, &l2, e);
		snprintf(name, sizeof name, "%s, DRAM", where[k]);
		json_array_append_new(rows, row_json(name, &dram, 1));
		snprintf(name, sizeof name, "%s, L2", where[k]);
		json_array_append_new(rows, row_json(name, &l2, 1));
	}
	return rc;
}

static int explain_workload(const struct tool_sim *s, const struct sim_workload *workload, json_t *rows,
                            struct gn_error *e)
{
	struct tool_sim_result r;
	char name[64];
	const int rc = tool_sim_simulate(s, workload, &r, e);

	if (rc)
		return rc;
	json_decref(r.links);
	json_decref(r.by_gpu);
	if (!r.stats.remote_vector_reads)
		return gn_error_set(e, -GN_ENOTSUP,
		                    "%s: no vector read goes to another GPU; give another workload or size",
		                    workload->name);
	snprintf(name, sizeof name, "%s: %llu reads, on average", workload->name,
	         (unsigned long long)r.stats.remote_vector_reads);
	r.stats.read_latency_cycles = r.stats.remote_read_cycles;
	json_array_append_new(rows, row_json(name, &r.stats, (double)r.stats.remote_vector_reads));
	return 0;
}

/* ---- the command ---- */

struct request {
	struct tool_sim sim;
	const struct sim_workload *workload;
	const char *json;
};

static const struct argp_option options[] = {
    {"json", 'j', "FILE", 0, "write the result to FILE as JSON; - is standard output"},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->sim; break;
	case 'j': q->json = text; break;
	case ARGP_KEY_ARG:
		if (q->workload)
			argp_error(state, "%s: too many arguments; give one workload", text);
		q->workload = tool_sim_workload(state, text);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_sim_argp}, {0}};
static const struct argp argp = {
    options, parse, "[WORKLOAD]",
    "Say in which parts of the machine a remote read spends its cycles. Without WORKLOAD the read is alone "
    "in the machine; with WORKLOAD the reads are those of the workload.",
    children};

int tool_sim_explain(int argc, char **argv)
{
	json_t *rows = json_array();
	struct request q;
	struct gn_error e;
	int rc;

	memset(&q, 0, sizeof q);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = explain_one(&q.sim, rows, &e);
	if (!rc && q.workload)
		rc = explain_workload(&q.sim, q.workload, rows, &e);
	if (!rc && !tool_to_stdout(q.json))
		print_rows(rows);
	if (!rc && q.json)
		rc = tool_write_json(
		    json_pack("{s:s, s:O}", "schema", "grapnel-sim-explain-1", "reads", rows), q.json, &e);
	json_decref(rows);
	return rc ? tool_fail("sim explain", &e) : TOOL_OK;
}
