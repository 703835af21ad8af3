/* SPDX-License-Identifier: Apache-2.0 */
/* scope.h - what the files of `grapnel scope` share. */
#ifndef GN_TOOL_SCOPE_H
#define GN_TOOL_SCOPE_H

#include "scope/scope.h"
#include "tool.h"

/* What the user asked for. */
struct scope_request {
	enum scope_effort effort;
	const char *filter, *directory;
	struct tool_files files;
	bool list;
	double budget;   /* seconds for all; 0: no limit */
	double deadline; /* seconds for a cell; 0: as the effort has it */
	uint32_t rounds; /* of a cell at most; 0: as the effort has it */
};

/* scope_print_list - the rows of a plan: how many cells each has, what it is, or what it lacks. */
void scope_print_list(const struct scope_plan *p, const struct scope_machine *m);

/* A table that grows with the run, and on a terminal a line below it that says how far it is. */
struct scope_table {
	bool on;                     /* the table, on standard output */
	bool terminal;               /* the line, on standard error */
	const struct scope_row *row; /* whose cells are being printed */
};

/*
 * scope_table_step - for scope_run, with a struct scope_table. False when the user has interrupted the run.
 */
bool scope_table_step(void *table, const struct scope_progress *progress);

/* scope_table_machine - a few lines about where the run is made, before it. */
void scope_table_machine(const struct scope_machine *m);

/* scope_table_plan - how many cells there are and how long that takes, before the run. */
void scope_table_plan(const struct scope_plan *p, const struct scope_machine *m, double budget);

/* scope_table_end - how many cells were measured, skipped, failed. Returns how many failed. */
uint32_t scope_table_end(const struct scope_table *t, const struct scope_report *r, double seconds);

/* scope_print_findings - what looks wrong in a report, if anything does. */
void scope_print_findings(const struct scope_report *report);

/*
 * scope_interrupts_begin - from now on the first interrupt ends the run after its present cell, the second at
 * once.
 */
void scope_interrupts_begin(void);
bool scope_interrupted(void);

#endif
