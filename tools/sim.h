/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - what the subcommands of `grapnel sim` share: what to simulate, and what came of it.
 */
#ifndef GN_TOOLS_SIM_H
#define GN_TOOLS_SIM_H

#include <sim/machine.h>
#include <sim/workload.h>

#include "tool.h"

enum { TOOL_SIM_FILES = 8, TOOL_SIM_SETS = 64 };

/* What the options say; strings are borrowed. Zero: MGPUSim's machine, the workload's own size. */
struct tool_sim {
	const char *config[TOOL_SIM_FILES]; /* files, laid one over the other */
	uint32_t configs;
	uint32_t gpus;                  /* 0: as the files say */
	const char *opt;                /* a preset; NULL: as the files say */
	const char *set[TOOL_SIM_SETS]; /* "key=value", over all that */
	uint32_t sets;
	struct sim_request request;
	uint32_t threads;         /* that run a machine; 0: one */
	const char *trace, *heat; /* files; NULL: none */
	bool by_cu;               /* a result has counters by compute unit */
};

/* The options of it: a child of a subcommand's argp, whose parser gets the struct tool_sim as its input. */
extern const struct argp tool_sim_argp;

/* tool_sim_configure - the machine that the options describe. Returns 0 or a code with a message. */
int tool_sim_configure(const struct tool_sim *s, struct sim_config *config, struct gn_error *e);

/* tool_sim_workload - by name; else a usage error that lists them. */
const struct sim_workload *tool_sim_workload(const struct argp_state *state, const char *name);

/* What came of a run. */
struct tool_sim_result {
	struct sim_config config;
	struct sim_stats stats;
	json_t *links;           /* of sim_machine_link; json_decref it */
	json_t *by_gpu;          /* of sim_machine_gpu_stats; json_decref it */
	json_t *by_cu;           /* of sim_machine_cu_stats, or NULL; json_decref it */
	double seconds;          /* of this process */
	struct gn_error checked; /* code 0: all results are those of the reference */
};

/*
 * tool_sim_simulate - a workload to its end, with the comparison of its results. They may be wrong: see
 * checked. Returns 0 or a code with a message; then r holds nothing.
 */
int tool_sim_simulate(const struct tool_sim *s, const struct sim_workload *workload,
                      struct tool_sim_result *r, struct gn_error *e);

/* tool_sim_report - a result as JSON, whose links and counters by GPU go into it; NULL: no memory. */
json_t *tool_sim_report(const struct tool_sim *s, const struct sim_workload *workload,
                        struct tool_sim_result *r);

/*
 * Files of a machine that was watched (sim/trace.h), or standard output (-): a trace in Chrome's format; a
 * heat map of links, which carry so many flits a cycle. Return 0 or a code with a message.
 */
int tool_sim_write_trace(const struct sim_machine *m, const char *path, struct gn_error *e);
int tool_sim_write_heat(const struct sim_machine *m, const char *path, uint64_t flits_a_cycle,
                        struct gn_error *e);

int tool_sim_run(int argc, char **argv);
int tool_sim_list(int argc, char **argv);
int tool_sim_sweep(int argc, char **argv);
int tool_sim_explain(int argc, char **argv);
int tool_sim_paper(int argc, char **argv);

#endif
