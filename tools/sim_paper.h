/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_paper.h - the experiments of DualOpt's sections 3 and 6: which simulations, and what is read from them.
 */
#ifndef GN_TOOLS_SIM_PAPER_H
#define GN_TOOLS_SIM_PAPER_H

#include <stdio.h>

#include "sim_jobs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In the paper's order: 5 cache-insensitive, 6 cache-friendly, 2 local. */
enum { PAPER_INSENSITIVE = 5, PAPER_REMOTE = 11, PAPER_WORKLOADS = 13, PAPER_MOST_SERIES = 8 };

enum paper_variant {
	PAPER_BASE, PAPER_BYPASS, PAPER_FINE, PAPER_COALESCE, PAPER_CACHE, PAPER_DUALOPT, PAPER_IDEAL,
	PAPER_CLOCK2, PAPER_CLOCK4, PAPER_CLOCK8, PAPER_CLOCK16, PAPER_LINKS2, PAPER_LINKS2_DUALOPT, PAPER_LINKS4, PAPER_LINKS4_DUALOPT, PAPER_LINKS8, PAPER_LINKS16,
	PAPER_GPUS8, PAPER_GPUS8_DUALOPT, PAPER_GPUS16, PAPER_GPUS16_DUALOPT,
	PAPER_WORDS8, PAPER_WORDS16, PAPER_TIMEOUT10, PAPER_TIMEOUT50,
	PAPER_ROUND_ROBIN, PAPER_ROUND_ROBIN_DUALOPT, PAPER_GREEDY, PAPER_GREEDY_DUALOPT,
	PAPER_FLIT32, PAPER_FLIT32_DUALOPT, PAPER_FLIT64, PAPER_FLIT64_DUALOPT, PAPER_VARIANTS
};

struct paper {
	struct sim_jobs jobs;
	const char *folder;
	bool quick;
	const char *size[PAPER_WORKLOADS];
	FILE *report;
	FILE *claims;   /* rows of the table of claims, which the report begins with */
	uint32_t verdicts[3]; /* reproduced, direction only, not */
};

extern const char *const paper_workloads[PAPER_WORKLOADS];

/* paper_job - the simulation of workload w in a variant. */
const struct sim_job *paper_job(const struct paper *p, uint32_t w, enum paper_variant v);

/* Values of all workloads, drawn as bars of one colour; what is no number is left out. */
struct paper_series {
	const char *name;
	double value[PAPER_WORKLOADS];
};

/* paper_plot - a file of the folder: bars of each workload, beside each other. Returns 0 or a code with a message. */
int paper_plot(const struct paper *p, const char *file, const char *title, const struct paper_series *series, uint32_t count,
	       struct gn_error *e);

/* paper_write - all figures, into the report. */
int paper_write(struct paper *p, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
