/* SPDX-License-Identifier: Apache-2.0 */
/* scope.c - `grapnel scope`: measure every way to move data. */
#include "scope.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scope/ranks.h"

#ifdef __cplusplus
extern "C" {
#endif
/* In builds with MPI. */
int scope_ranks_serve(struct gn_error *e) __attribute__((weak));
void scope_ranks_end(void) __attribute__((weak));
#ifdef __cplusplus
}
#endif

/* ---- the command line ---- */

enum { OPT_LIST = 256, OPT_FILTER, OPT_QUICK, OPT_FULL, OPT_DIRECTORY, OPT_TIME, OPT_ROUNDS, OPT_DEADLINE };

static const struct argp_option options[] = {
    {"list", OPT_LIST, NULL, 0, "list the rows; for a row that cannot run here, say what is missing"},
    {"filter", OPT_FILTER, "REGEX", 0,
     "measure only cells whose name matches REGEX; a name is for example memory/copy/bytes:4096/threads:1"},
    {"quick", OPT_QUICK, NULL, 0, "every fourth size and less time for each cell; under two minutes in all"},
    {"full", OPT_FULL, NULL, 0, "sizes up to 4 GiB, more variants, more time for each cell"},
    {"dir", OPT_DIRECTORY, "FOLDER", 0,
     "folder for the files that are written and read (default: the current folder)"},
    {"time", OPT_TIME, "S", 0,
     "seconds for the whole run, from 1: cells get fewer rounds and less time, and cells that are left at "
     "the end are skipped"},
    {"rounds", OPT_ROUNDS, "N", 0,
     "rounds of each cell at most, 1 to 8 (default 6, quick and full 8); a cell that is steady gets fewer"},
    {"deadline", OPT_DEADLINE, "S", 0,
     "seconds after which a cell fails, 1 to 86400 (default 60, quick 20, full 180)"},
    {0},
};

static const char doc[] =
    "Measure every way to move data on this machine. No setting of the machine is changed. All moved data is "
    "checked.\v'grapnel scope compare A.json B.json' says what changed from one report to another.";

/*
 * Under --quick; the rest of two minutes is for looking at the machine, the cell that is under way, and the
 * report.
 */
static const double quick_seconds = 105;

static void check(const struct argp_state *state, const struct scope_request *r)
{
	struct stat st;

	if (stat(r->directory, &st) || !S_ISDIR(st.st_mode))
		argp_error(state,
		           "--dir %s: the folder does not exist; give a folder in which files can be made",
		           r->directory);
}

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct scope_request *r = (struct scope_request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &r->files; break;
	case OPT_LIST: r->list = true; break;
	case OPT_FILTER: r->filter = text; break;
	case OPT_QUICK:
		r->effort = SCOPE_QUICK;
		r->budget = r->budget > 0 ? r->budget : quick_seconds;
		break;
	case OPT_FULL: r->effort = SCOPE_FULL; break;
	case OPT_DIRECTORY: r->directory = text; break;
	case OPT_TIME: r->budget = (double)tool_number(state, "--time", text, 1, 1000000); break;
	case OPT_ROUNDS:
		r->rounds = (uint32_t)tool_number(state, "--rounds", text, 1, SCOPE_MOST_ROUNDS);
		break;
	case OPT_DEADLINE: r->deadline = (double)tool_number(state, "--deadline", text, 1, 86400); break;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: unexpected argument; to choose rows use 'grapnel scope --filter %s'",
		           text, text);
		break;
	case ARGP_KEY_END: check(state, r); break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_files_argp}, {0}};
static const struct argp argp = {options, parse, NULL, doc, children};

/* ---- interrupts ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	interrupted = 1;
	signal(number, SIG_DFL);
}

void scope_interrupts_begin(void)
{
	signal(SIGINT, on_interrupt);
}

bool scope_interrupted(void)
{
	return interrupted;
}

/* ---- the run ---- */

static int measure(const struct scope_request *r, const struct scope_machine *m, const struct scope_plan *p)
{
	struct scope_table table = {!tool_files_to_stdout(&r->files), isatty(STDERR_FILENO) == 1, NULL};
	const double began = tool_seconds();
	struct scope_report report;
	struct gn_error e = {0, ""};
	uint32_t failed;
	int status;

	if (tool_files_check(&r->files, &e))
		return tool_fail("scope", &e);
	if (table.on) {
		scope_table_machine(m);
		scope_table_plan(p, m, r->budget);
	}
	scope_interrupts_begin();
	if (scope_run(p, m, r->budget, scope_table_step, &table, &report)) {
		fputs("grapnel scope: no memory for the results\n", stderr);
		return TOOL_FAILED;
	}
	failed = scope_table_end(&table, &report, tool_seconds() - began);
	if (table.on)
		scope_print_findings(&report);
	status = tool_files_write(&r->files, "scope", &report);
	scope_report_free(&report);
	return failed || scope_interrupted() ? TOOL_FAILED : status;
}

static int plan_and_measure(const struct scope_request *r, const struct scope_machine *m)
{
	struct scope_plan *p;
	struct gn_error e = {0, ""};
	int status = TOOL_OK;

	if (scope_plan_make(m, r->filter, &p, &e)) {
		tool_fail("scope", &e);
		return e.code == -GN_EINVAL ? TOOL_USAGE : TOOL_FAILED;
	}
	if (!scope_plan_count(p)) {
		fprintf(stderr,
		        "grapnel scope: --filter %s matches no cell; 'grapnel scope --list' lists the rows\n",
		        r->filter);
		status = TOOL_USAGE;
	} else if (r->list) {
		scope_print_list(p, m);
	} else {
		status = measure(r, m, p);
	}
	scope_plan_free(p);
	return status;
}

/* Another rank than 0 only takes part. */
static int serve(void)
{
	struct gn_error e = {0, ""};

	return scope_ranks_serve(&e) ? tool_fail("scope", &e) : TOOL_OK;
}

int tool_scope(int argc, char **argv)
{
	struct scope_request r = {SCOPE_NORMAL, NULL, ".", {{NULL}}, false, 0, 0, 0};
	struct scope_machine m;
	int status;

	if (argc > 1 && !strcmp(argv[1], "compare")) {
		char name[] = "grapnel scope compare";

		argv[1] = name;
		return tool_scope_compare(argc - 1, argv + 1);
	}
	argp_parse(&argp, argc, argv, 0, NULL, &r);
	scope_machine_find(&m, r.effort, r.directory);
	if (m.rank)
		return serve();
	if (r.deadline > 0)
		m.deadline = r.deadline;
	if (r.rounds)
		m.most_rounds = r.rounds;
	if (m.least_rounds > m.most_rounds)
		m.least_rounds = m.most_rounds;
	status = plan_and_measure(&r, &m);
	if (scope_ranks_end)
		scope_ranks_end();
	return status;
}
