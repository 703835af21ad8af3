/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool.h - what the subcommands of the grapnel command share.
 *
 * A subcommand is one file with one function of the type in struct tool. argv[0] is
 * "grapnel SUBCOMMAND", so that argp's own messages begin as all others do. Results go to stdout,
 * messages to stderr, each as "grapnel SUBCOMMAND: what, where, what to do".
 */
#ifndef GN_TOOL_H
#define GN_TOOL_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <grapnel/error.h>

#include "graph/graph.h"
#include "graph/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exit statuses. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

struct tool {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

int tool_gen(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_bfs(int argc, char **argv);
int tool_cache_bench(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_gather(int argc, char **argv);
int tool_auto_bench(int argc, char **argv);

/* tool_fail - print e as the message of a subcommand; returns TOOL_FAILED. */
int tool_fail(const char *subcommand, const struct gn_error *e);

/* tool_seconds - a clock that only goes forward. */
double tool_seconds(void);

/*
 * tool_number - the value of an option that is a whole number from least to most.
 * Anything else ends the program with a usage error that names the option.
 */
uint64_t tool_number(const struct argp_state *state, const char *option, const char *text, uint64_t least,
                     uint64_t most);

/*
 * tool_graph_output - insist that a graph can be written to path: a usage error unless the name
 * ends in .gng or is a device. Whether the directory takes a file is gn_graph_file_writable's.
 */
void tool_graph_output(const struct argp_state *state, const char *path);

/* tool_graph_report - one line on stdout about a graph that was written. */
void tool_graph_report(const char *path, const struct gn_graph *g, double seconds);

/* A progress bar on stderr, drawn only on a terminal and at most ten times a second. */
struct tool_bar {
	bool on;
	double drawn; /* when, by tool_seconds */
	bool shown;   /* there is something to wipe */
};

/* Start a bar; the listener it returns borrows b until tool_bar_end. */
struct gn_progress tool_bar_begin(struct tool_bar *b);

/* Wipe the bar, before anything else is printed. */
void tool_bar_end(struct tool_bar *b);

#ifdef __cplusplus
}
#endif

#endif
