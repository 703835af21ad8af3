/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "sim.h"

enum { OPT_CONFIG = 512, OPT_GPUS, OPT_OPT, OPT_SET, OPT_SIZE, OPT_INPUT, OPT_SEED };

static const struct argp_option options[] = {
    {"config", OPT_CONFIG, "FILE", 0,
     "a file of key = value, over MGPUSim's R9 Nano, or the name of one that comes with the program: "
     "dualopt.conf; again: one over the other",
     0},
    {"gpus", OPT_GPUS, "N", 0, "1 to 16 (default 4, or what the files say)", 0},
    {"opt", OPT_OPT, "NAME", 0, "none, bypass, fine, coalesce, cache or dualopt, over the files", 0},
    {"set", OPT_SET, "KEY=VALUE", 0, "over all that; again: several ('grapnel sim list --keys' lists them)",
     0},
    {"size", OPT_SIZE, "S", 0, "of the workload; 'grapnel sim list' says what it means", 0},
    {"input", OPT_INPUT, "FILE", 0,
     "a graph for bfs and grapnel-bfs, of any format that Grapnel reads; for stream, what --record has "
     "written",
     0},
    {"seed", OPT_SEED, "N", 0, "draw other data (default 1)", 0},
    {0},
};

static void add(const struct argp_state *state, const char **list, uint32_t *count, uint32_t most,
                const char *text)
{
	if (*count == most)
		argp_error(state, "%s: more than %u of a kind; use a configuration file", text, most);
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

const struct argp tool_sim_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};

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
		argp_error(state, "%s: no such workload; 'grapnel sim list' lists them", name);
	return w;
}
