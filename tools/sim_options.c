/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

enum { OPT_CONFIG = 512, OPT_GPUS, OPT_OPT, OPT_SET, OPT_SIZE, OPT_INPUT, OPT_SEED };

static const struct argp_option options[] = {
    {"config", OPT_CONFIG, "FILE", 0,
     "configuration file with lines key = value, or dualopt.conf, which is built in; it overrides the "
     "built-in values (R9 Nano of MGPUSim); may be given several times, a later file overrides an earlier "
     "one"},
    {"gpus", OPT_GPUS, "N", 0, "number of GPUs, 1 to 16 (default 4, or the value of the files)"},
    {"opt", OPT_OPT, "NAME", 0,
     "optimisations: none, bypass, fine, coalesce, cache or dualopt; overrides the files"},
    {"set", OPT_SET, "KEY=VALUE", 0,
     "set a key of the configuration; overrides all other options; may be given several times ('grapnel sim "
     "list --keys' lists the keys)"},
    {"size", OPT_SIZE, "S", 0,
     "size of the workload; 'grapnel sim list' says what it means for each workload"},
    {"input", OPT_INPUT, "FILE", 0,
     "input file: for bfs and grapnel-bfs a graph in any format that Grapnel reads, for stream a file "
     "written with --record"},
    {"seed", OPT_SEED, "N", 0, "seed of the random data (default 1)"},
    {0},
};

static void add(const struct argp_state *state, const char **list, uint32_t *count, uint32_t most,
                const char *text)
{
	if (*count == most)
		argp_error(state, "%s: the option is given more than %u times; use a configuration file",
		           text, most);
	list[(*count)++] = text;
}

/* What a name or a value is wrong by itself; whether all fit together is seen when the files are read. */
static void check(const struct argp_state *state, const struct tool_sim *s)
{
	struct sim_config config;
	struct gn_error e;

	sim_config_init(&config);
	if (s->opt && sim_config_optimize(&config, s->opt, &e))
		argp_error(state, "--opt %s", e.text);
	for (uint32_t k = 0; k < s->sets; k++)
		if (sim_config_set(&config, s->set[k], &e))
			argp_error(state, "--set %s", e.text);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct tool_sim *s = (struct tool_sim *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: s->request.seed = 1; break;
	case OPT_CONFIG: add(state, s->config, &s->configs, TOOL_SIM_FILES, text); break;
	case OPT_GPUS: s->gpus = (uint32_t)tool_number(state, "--gpus", text, 1, SIM_MOST_GPUS); break;
	case OPT_OPT: s->opt = text; break;
	case OPT_SET: add(state, s->set, &s->sets, TOOL_SIM_SETS, text); break;
	case OPT_SIZE: s->request.size = text; break;
	case OPT_INPUT: s->request.input = text; break;
	case OPT_SEED: s->request.seed = tool_number(state, "--seed", text, 0, UINT64_MAX); break;
	case ARGP_KEY_END: check(state, s); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

const struct argp tool_sim_argp = {options, parse};

int tool_sim_configure(const struct tool_sim *s, struct sim_config *config, struct gn_error *e)
{
	int rc = 0;

	sim_config_init(config);
	for (uint32_t k = 0; k < s->configs && !rc; k++)
		rc = sim_config_read(config, s->config[k], e);
	if (s->gpus)
		config->gpus = s->gpus;
	if (!rc && s->opt)
		rc = sim_config_optimize(config, s->opt, e);
	for (uint32_t k = 0; k < s->sets && !rc; k++)
		rc = sim_config_set(config, s->set[k], e);
	return rc ? rc : sim_config_check(config, e);
}

const struct sim_workload *tool_sim_workload(const struct argp_state *state, const char *name)
{
	const struct sim_workload *w = sim_workload_find(name);

	if (!w)
		argp_error(state, "%s: unknown workload; 'grapnel sim list' lists the workloads", name);
	return w;
}
