/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_paper.h - the experiments of DualOpt's sections 3 and 6: which simulations, and what is read from them.
 */
#ifndef GN_TOOLS_SIM_PAPER_H
#define GN_TOOLS_SIM_PAPER_H

#include <stdio.h>

#include "sim_jobs.h"

/* In the paper's order: 5 cache-insensitive, 6 cache-friendly, 2 local. */
enum { PAPER_INSENSITIVE = 5, PAPER_REMOTE = 11, PAPER_WORKLOADS = 13, PAPER_MOST_SETS = 3 };

/* Places in the row of a workload's sizes: what --quick and the whole report take for all other figures. */
enum { PAPER_SIZES = 4, PAPER_QUICK = 1, PAPER_FULL = 2 };

enum paper_variant {
	PAPER_BASE,
	PAPER_BYPASS,
	PAPER_FINE,
	PAPER_COALESCE,
	PAPER_CACHE,
	PAPER_DUALOPT,
	PAPER_IDEAL,
	PAPER_LINKS_HALF,
	PAPER_LINKS2,
	PAPER_LINKS2_DUALOPT,
	PAPER_LINKS4,
	PAPER_LINKS4_DUALOPT,
	PAPER_LINKS8,
	PAPER_LINKS16,
	PAPER_LINKS32,
	PAPER_GPUS8,
	PAPER_GPUS8_DUALOPT,
	PAPER_GPUS16,
	PAPER_GPUS16_DUALOPT,
	PAPER_WORDS8,
	PAPER_WORDS16,
	PAPER_TIMEOUT10,
	PAPER_TIMEOUT50,
	PAPER_FINE_L2,
	PAPER_ROUND_ROBIN,
	PAPER_ROUND_ROBIN_DUALOPT,
	PAPER_GREEDY,
	PAPER_GREEDY_DUALOPT,
	PAPER_FLIT32,
	PAPER_FLIT32_DUALOPT,
	PAPER_FLIT64,
	PAPER_FLIT64_DUALOPT,
	PAPER_MIGRATE,
	PAPER_FIRST_TOUCH,
	PAPER_VARIANTS
};

struct paper {
	struct sim_jobs jobs;
	const char *folder;
	bool quick;
	uint64_t clock; /* net.clock of the machine that is compared */
	const char *size[PAPER_WORKLOADS];
	const char *given[PAPER_WORKLOADS]; /* the user's size; NULL: by the rule */
	uint32_t answers;                   /* the first job of other answers; 0: they are not run */
	uint32_t sized;                     /* the first job of other sizes; 0: they are not run */
	FILE *report;
	FILE *claims;         /* rows of the table of claims, which the report begins with */
	uint32_t verdicts[3]; /* reproduced, direction only, not */
};

extern const char *const paper_workloads[PAPER_WORKLOADS];
extern const char *const paper_sizes[PAPER_WORKLOADS][PAPER_SIZES];

/*
 * paper_add - a simulation of workload w with a preset and keys over base; set NULL, or at most
 * PAPER_MOST_SETS keys and values up to a NULL. Returns 0 or a code.
 */
int paper_add(struct paper *p, const struct tool_sim *base, uint32_t w, const char *opt,
              const char *const (*set)[2]);

/*
 * paper_value - a value as the key takes it. "x2" of net.clock is twice the machine's own, within what the
 * key may be; text has room for it.
 */
const char *paper_value(const struct paper *p, const char *value, char *text, size_t bytes);

/* paper_job - the simulation of workload w in a variant. */
const struct sim_job *paper_job(const struct paper *p, uint32_t w, enum paper_variant v);

/* Values of all workloads, drawn as bars of one colour; what is no number is left out. */
struct paper_series {
	const char *name;
	double value[PAPER_WORKLOADS];
};

/* ---- what figures are made of ---- */

/* A counter of a workload in a variant; a part of a whole, NAN where that is nothing. */
double paper_counter(const struct paper *p, uint32_t w, enum paper_variant v, const char *name);
double paper_share(double part, double all);

/* How much less of a counter there is with a variant; of cycles: its speedup. */
struct paper_series paper_gains(const struct paper *p, const char *series, enum paper_variant base,
                                enum paper_variant v, const char *name);
struct paper_series paper_speedups(const struct paper *p, const char *series, enum paper_variant base,
                                   enum paper_variant v);

/* Of workloads first to last - 1 that have a value; of those that are not local. */
double paper_mean(const struct paper_series *s, uint32_t first, uint32_t last);
double paper_mean_remote(const struct paper_series *s);

enum paper_verdict { PAPER_REPRODUCED, PAPER_DIRECTION, PAPER_NOT };

/* A row of the table of statements. Of a factor: near, or on the same side of 1; of a share: near. */
void paper_claim(struct paper *p, const char *figure, const char *statement, const char *format, double paper,
                 double here, enum paper_verdict verdict);
void paper_claim_factor(struct paper *p, const char *figure, const char *statement, double paper,
                        double here);
void paper_claim_share(struct paper *p, const char *figure, const char *statement, double paper, double here);

/* A figure of the report: its drawing and its numbers. */
int paper_figure(struct paper *p, const char *number, const char *title, const struct paper_series *s,
                 uint32_t count, struct gn_error *e);

/* paper_classed - was workload w declared in a run to be what the paper says? Not if nothing was decided. */
bool paper_classed(const struct sim_job *job, uint32_t w);

/*
 * paper_add_answers - both runs of every other answer. paper_write_answers - the table of them, if they were
 * added.
 */
int paper_add_answers(struct paper *p, const struct tool_sim *base);
void paper_write_answers(const struct paper *p);

/*
 * paper_add_sizes - both runs of every workload at every size. paper_write_sizes - the table and the drawing
 * of them, if they were added.
 */
int paper_add_sizes(struct paper *p, const struct tool_sim *base);
int paper_write_sizes(const struct paper *p, struct gn_error *e);

int paper_section_3(struct paper *p, struct gn_error *e);
int paper_section_6(struct paper *p, struct gn_error *e);

/* paper_write - all figures, into the report. */
int paper_write(struct paper *p, struct gn_error *e);

#endif
