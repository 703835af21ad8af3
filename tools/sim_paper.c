/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sim paper: every experiment of DualOpt's sections 3 and 6, beside what the paper says came of it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim_paper.h"

const char *const paper_workloads[PAPER_WORKLOADS] = {"atax", "bfs", "bicg", "pr", "spmv", "km", "mm",
                                                      "mt",   "st",  "bs",   "sc", "aes",  "fir"};

/*
 * Data of at most 1/16, 1/4, 1 and 4 times the L2 of four GPUs (8 MB), in powers of two; bs, whose passes
 * grow with the logarithm squared, and aes, which computes most, have 1/32 and 1/8 of that.
 */
const char *const paper_sizes[PAPER_WORKLOADS][PAPER_SIZES] = {
    {"256", "512", "1024", "2048"},
    {"4096,16", "16384,16", "65536,16", "262144,16"},
    {"256", "512", "1024", "2048"},
    {"2048,.0078125,2", "8192,.001953125,2", "32768,.00048828125,2", "131072,.0001220703125,2"},
    {"2048,.0078125", "8192,.001953125", "32768,.00048828125", "131072,.0001220703125"},
    {"1024,5", "4096,5", "16384,5", "65536,5"},
    {"128", "256", "512", "1024"},
    {"256", "512", "1024", "2048"},
    {"256", "512", "1024", "2048"},
    {"4096", "16384", "65536", "262144"},
    {"254", "510", "1022", "2046"},
    {"65536", "262144", "1048576", "4194304"},
    {"65536", "262144", "1048576", "4194304"},
};

struct variant {
	const char *opt;
	const char *set[PAPER_MOST_SETS][2]; /* keys and values, over the preset */
};

static const struct variant variants[PAPER_VARIANTS] = {
    {"none", {{NULL, NULL}}},
    {"bypass", {{NULL, NULL}}},
    {"fine", {{NULL, NULL}}},
    {"coalesce", {{NULL, NULL}}},
    {"cache", {{NULL, NULL}}},
    {"dualopt", {{NULL, NULL}}},
    {"cache", {{"rdma_cache.size", "64M"}}},
    {"none", {{"net.clock", "x1/2"}}},
    {"none", {{"net.clock", "x2"}}},
    {"dualopt", {{"net.clock", "x2"}}},
    {"none", {{"net.clock", "x4"}}},
    {"dualopt", {{"net.clock", "x4"}}},
    {"none", {{"net.clock", "x8"}}},
    {"none", {{"net.clock", "x16"}}},
    {"none", {{"net.clock", "x32"}}},
    {"none", {{"gpus", "8"}}},
    {"dualopt", {{"gpus", "8"}}},
    {"none", {{"gpus", "16"}}},
    {"dualopt", {{"gpus", "16"}}},
    {"coalesce", {{"dualopt.granularity", "8"}}},
    {"coalesce", {{"dualopt.granularity", "16"}}},
    {"coalesce", {{"codec.timeout", "10"}}},
    {"coalesce", {{"codec.timeout", "50"}}},
    {"coalesce", {{"dualopt.fine_l2", "yes"}}},
    {"none", {{"dispatch.gpus", "round_robin"}}},
    {"dualopt", {{"dispatch.gpus", "round_robin"}}},
    {"none", {{"dispatch.gpus", "greedy"}}},
    {"dualopt", {{"dispatch.gpus", "greedy"}}},
    {"none", {{"net.flit_bytes", "32"}}},
    {"dualopt", {{"net.flit_bytes", "32"}}},
    {"none", {{"net.flit_bytes", "64"}}},
    {"dualopt", {{"net.flit_bytes", "64"}}},
    {"none", {{"migrate.policy", "page"}}},
    {"none", {{"migrate.policy", "first_touch"}, {"migrate.flush", "no"}}},
};

struct request {
	struct tool_sim sim;
	const char *folder;
	uint32_t jobs;
	bool quick;
	const char *size[PAPER_WORKLOADS]; /* NULL: ours */
};

enum { OPT_QUICK = 256, OPT_JOBS, OPT_SIZES };

static const struct argp_option options[] = {
    {"out", 'o', "FOLDER", 0,
     "folder of the report, its drawings and all results; a simulation whose result is there is not run "
     "again (default sim-paper)"},
    {"quick", OPT_QUICK, NULL, 0,
     "small sizes, a decision after 2000 remote accesses, no variants of what the paper leaves open: under "
     "five minutes on two cores"},
    {"sizes", OPT_SIZES, "WORKLOAD=S", 0, "another size of a workload; may be given for several workloads"},
    {"jobs", OPT_JOBS, "N", 0, "simulations at a time, 1 to 1024 (default one a core)"},
    {0},
};

static void add_size(const struct argp_state *state, struct request *q, const char *text)
{
	const size_t length = strcspn(text, "=");

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		if (strlen(paper_workloads[w]) == length && !strncmp(paper_workloads[w], text, length) &&
		    text[length]) {
			q->size[w] = text + length + 1;
			return;
		}
	argp_error(state, "--sizes %s: give a workload of the paper and a size, for example mt=1024", text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->sim; break;
	case 'o': q->folder = text; break;
	case OPT_QUICK: q->quick = true; break;
	case OPT_SIZES: add_size(state, q, text); break;
	case OPT_JOBS: q->jobs = (uint32_t)tool_number(state, "--jobs", text, 1, 1024); break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; this command takes options only", text);
		break;
	case ARGP_KEY_END:
		if (q->sim.opt || q->sim.request.size || q->sim.request.input || q->sim.gpus)
			argp_error(state, "--opt, --size, --input and --gpus cannot be given, because the "
			                  "experiments set them; --config, --set, --seed and --sizes can");
		if (q->sim.sets > TOOL_SIM_SETS - 8)
			argp_error(state, "too many --set; put the keys into a configuration file");
		if (q->sim.configs == TOOL_SIM_FILES)
			argp_error(state, "too many --config; put the files together into one");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_sim_argp}, {0}};
static const struct argp argp = {
    options, parse, NULL,
    "Run every experiment of sections 3 and 6 of the DualOpt paper, and write a report that compares each "
    "statement of the paper with the result of the simulation.",
    children};

const struct sim_job *paper_job(const struct paper *p, uint32_t w, enum paper_variant v)
{
	return &p->jobs.job[w * PAPER_VARIANTS + (uint32_t)v];
}

/* Table 1 lies under what the user says; a variant over it. */
static struct tool_sim base_of(const struct request *q)
{
	struct tool_sim s = q->sim;

	s.config[0] = "dualopt.conf";
	s.configs = 1;
	for (uint32_t k = 0; k < q->sim.configs; k++)
		s.config[s.configs++] = q->sim.config[k];
	s.sets = 0;
	if (q->quick) {
		s.set[s.sets++] = "decide.window=2000";
		s.set[s.sets++] = "decide.warmup_cycles=0";
	}
	for (uint32_t k = 0; k < q->sim.sets; k++)
		s.set[s.sets++] = q->sim.set[k];
	return s;
}

const char *paper_value(const struct paper *p, const char *value, char *text, size_t bytes)
{
	const bool half = !strcmp(value, "x1/2");
	uint64_t clock = p->clock;

	if (*value != 'x')
		return value;
	clock = half ? clock / 2 : clock * strtoull(value + 1, NULL, 10);
	snprintf(text, bytes, "%" PRIu64, clock < 1 ? 1 : clock > 64 ? 64 : clock);
	return text;
}

int paper_add(struct paper *p, const struct tool_sim *base, uint32_t w, const char *opt,
              const char *const (*set)[2])
{
	char text[32];
	const int k = sim_jobs_add(&p->jobs, sim_workload_find(paper_workloads[w]), base);
	int rc = k < 0 ? k : sim_jobs_vary(&p->jobs, (uint32_t)k, "size", p->size[w]);

	rc = rc ? rc : sim_jobs_vary(&p->jobs, (uint32_t)k, "opt", opt);
	for (unsigned n = 0; set && n < PAPER_MOST_SETS && !rc && set[n][0]; n++)
		rc = sim_jobs_vary(&p->jobs, (uint32_t)k, set[n][0],
		                   paper_value(p, set[n][1], text, sizeof text));
	return rc;
}

static int add_all(struct paper *p, const struct request *q, struct gn_error *e)
{
	const struct tool_sim base = base_of(q);
	struct sim_config config;
	int rc = tool_sim_configure(&base, &config, e);

	if (rc)
		return rc;
	p->clock = config.net_clock;
	for (uint32_t w = 0; w < PAPER_WORKLOADS && !rc; w++)
		for (uint32_t v = 0; v < PAPER_VARIANTS && !rc; v++)
			rc = paper_add(p, &base, w, variants[v].opt, variants[v].set);
	if (!rc && !p->quick)
		rc = paper_add_sizes(p, &base);
	if (!rc && !p->quick)
		rc = paper_add_answers(p, &base);
	return rc ? gn_error_set(e, rc, "out of memory for the experiments") : 0;
}

static uint32_t simulations(const struct sim_jobs *jobs)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < jobs->count; k++)
		count += jobs->job[k].first;
	return count;
}

/* The claims stand in front, but are known at the end. */
static int write_report(struct paper *p, struct gn_error *e)
{
	char *claims = NULL, *body = NULL, *all = NULL, path[512];
	size_t claim_bytes = 0, body_bytes = 0, bytes = 0;
	FILE *to = open_memstream(&all, &bytes);
	int rc;

	p->claims = open_memstream(&claims, &claim_bytes);
	p->report = open_memstream(&body, &body_bytes);
	if (!to || !p->claims || !p->report)
		return gn_error_set(e, -GN_ENOMEM, "out of memory for the report");
	rc = paper_write(p, e);
	fclose(p->claims);
	fclose(p->report);
	fprintf(to, "# DualOpt on the simulated machine%s\n\n", p->quick ? ", small sizes" : "");
	fprintf(to,
	        "Every result was compared with a reference on the host, in all %u simulations. Of the "
	        "paper's statements %u are reproduced (within 15 %% of the value), %u in "
	        "direction only, %u not. Means are arithmetic, over the 11 workloads that are not local "
	        "unless said. Sizes are this report's: the paper gives none.\n\n",
	        simulations(&p->jobs), p->verdicts[0], p->verdicts[1], p->verdicts[2]);
	fprintf(to, "| figure | statement | paper | here | |\n|---|---|---|---|---|\n%s\n%s", claims, body);
	fclose(to);
	snprintf(path, sizeof path, "%s/report.md", p->folder);
	rc = rc ? rc : tool_write_file(path, all, bytes, e);
	free(claims);
	free(body);
	free(all);
	return rc;
}

int tool_sim_paper(int argc, char **argv)
{
	struct request q;
	struct gn_error e;
	struct paper p;
	int rc;

	memset(&q, 0, sizeof q);
	memset(&p, 0, sizeof p);
	q.folder = "sim-paper";
	q.jobs = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	p.folder = q.folder;
	p.quick = q.quick;
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		p.size[w] =
		    (p.given[w] = q.size[w]) ? q.size[w] : paper_sizes[w][q.quick ? PAPER_QUICK : PAPER_FULL];
	rc = add_all(&p, &q, &e);
	rc = rc ? rc : sim_jobs_run(&p.jobs, q.folder, q.jobs, &e);
	rc = rc ? rc : write_report(&p, &e);
	if (!rc)
		printf("%s/report.md: %u statements reproduced, %u in direction only, %u not\n", q.folder,
		       p.verdicts[0], p.verdicts[1], p.verdicts[2]);
	sim_jobs_fini(&p.jobs);
	return rc ? tool_fail("sim paper", &e) : TOOL_OK;
}
