/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel sim: a modelled system of GPUs; its subcommands, and `list`. */
#include <stdio.h>
#include <string.h>

#include "sim.h"

static const struct tool tools[] = {
    {"run", "simulate a workload, and compare its results with a reference", tool_sim_run},
    {"sweep", "simulate workloads with every combination of values", tool_sim_sweep},
    {"paper", "run the experiments of the DualOpt paper and write a report", tool_sim_paper},
    {"explain", "say in which parts a remote read spends its cycles", tool_sim_explain},
    {"list", "list the workloads, or the keys of the configuration", tool_sim_list},
};

static const struct tool_group subcommands = {"sim", "Simulate a system of several GPUs cycle by cycle.",
                                              tools, sizeof tools / sizeof *tools};

int tool_sim(int argc, char **argv)
{
	return tool_group_run(&subcommands, argc, argv);
}

/* ---- list ---- */

struct list {
	bool keys;
	const char *json;
};

static const struct argp_option options[] = {
    {"keys", 'k', NULL, 0, "list the keys of the configuration and their default values instead"},
    {"json", 'j', "FILE", 0, "write the list to FILE as JSON; - is standard output"},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct list *l = (struct list *)state->input;

	switch (key) {
	case 'k': l->keys = true; break;
	case 'j': l->json = text; break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; this command takes options only", text);
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {options, parse, NULL, "List the workloads that can be simulated."};

static json_t *workloads_json(void)
{
	json_t *all = json_array();
	const struct sim_workload *w;

	for (uint32_t k = 0; (w = sim_workload_at(k)); k++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "name", w->name, "summary",
		                                     w->summary, "sizes", w->sizes));
	return all;
}

static json_t *keys_json(void)
{
	json_t *all = json_array();
	const struct sim_key *key;

	for (uint32_t k = 0; (key = sim_key_at(k)); k++)
		json_array_append_new(all, json_pack("{s:s, s:s, s:s}", "key", key->name, "value",
		                                     key->preset, "what", key->what));
	return all;
}

static void print_workloads(void)
{
	const struct sim_workload *w;

	for (uint32_t k = 0; (w = sim_workload_at(k)); k++)
		printf("%-9s %s\n          --size: %s\n", w->name, w->summary, w->sizes);
}

static void print_keys(void)
{
	const struct sim_key *key;

	for (uint32_t k = 0; (key = sim_key_at(k)); k++) {
		printf("%s = %-*s # %s", key->name,
		       (int)(strlen(key->name) < 28 ? 33 - strlen(key->name) : 5), key->preset, key->what);
		printf(key->words ? " (%s)\n" : "\n", key->words);
	}
}

int tool_sim_list(int argc, char **argv)
{
	struct list l = {false, NULL};
	struct gn_error e;

	argp_parse(&argp, argc, argv, 0, NULL, &l);
	if (l.json) {
		json_t *root =
		    json_pack("{s:s, s:o}", "schema", "grapnel-sim-list-1", l.keys ? "keys" : "workloads",
		              l.keys ? keys_json() : workloads_json());

		if (tool_write_json(root, l.json, &e))
			return tool_fail("sim list", &e);
	}
	if (tool_to_stdout(l.json))
		return TOOL_OK;
	if (l.keys)
		print_keys();
	else
		print_workloads();
	return TOOL_OK;
}
