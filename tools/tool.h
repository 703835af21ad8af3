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

#include <jansson.h>

#include <grapnel/error.h>
#include <grapnel/simt.h>

#include "graph/graph.h"
#include "graph/progress.h"
#include "scope/scope.h"

/* Exit statuses. */
enum { TOOL_OK = 0, TOOL_FAILED = 1, TOOL_USAGE = 2 };

struct tool {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

/* A subcommand that has subcommands of its own. */
struct tool_group {
	const char *name;
	const char *about; /* a sentence for its --help */
	const struct tool *tools;
	unsigned count;
};

/* tool_group_run - run the subcommand that argv[1] names, or print the help. Returns an exit status. */
int tool_group_run(const struct tool_group *g, int argc, char **argv);

int tool_gen(int argc, char **argv);
int tool_convert(int argc, char **argv);
int tool_doctor(int argc, char **argv);
int tool_bfs(int argc, char **argv);
int tool_cc(int argc, char **argv);
int tool_tc(int argc, char **argv);
int tool_query(int argc, char **argv);
int tool_bc(int argc, char **argv);
int tool_add(int argc, char **argv);
int tool_stencil(int argc, char **argv);
int tool_sort(int argc, char **argv);
int tool_mvt(int argc, char **argv);
int tool_atax(int argc, char **argv);
int tool_bicg(int argc, char **argv);
int tool_cache_bench(int argc, char **argv);
int tool_bench(int argc, char **argv);
int tool_gather(int argc, char **argv);
int tool_auto_bench(int argc, char **argv);
int tool_gups(int argc, char **argv);
int tool_pagerank(int argc, char **argv);
int tool_sssp(int argc, char **argv);
int tool_color(int argc, char **argv);
int tool_kmeans(int argc, char **argv);
int tool_mer(int argc, char **argv);
int tool_net_model(int argc, char **argv);
int tool_scope(int argc, char **argv);
int tool_sim(int argc, char **argv);
int tool_serve(int argc, char **argv);
int tool_store(int argc, char **argv);
int tool_nvme(int argc, char **argv);
int tool_tune(int argc, char **argv);
int tool_sweep(int argc, char **argv);

/* The second word of grapnel scope compare; argv[0] is all three. */
int tool_scope_compare(int argc, char **argv);

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
 * tool_size - the value of an option that is a size of `least` bytes or more, such as 64K.
 * Anything else ends the program with a usage error that names the option.
 */
uint64_t tool_size(const struct argp_state *state, const char *option, const char *text, uint64_t least);

/* tool_page - the same of a page: a power of two from 512 to 2M. */
uint32_t tool_page(const struct argp_state *state, const char *option, const char *text);

/*
 * tool_word - the place of an option's value among words, of which the last is NULL.
 * Anything else ends the program with a usage error that names the option and the words.
 */
unsigned tool_word(const struct argp_state *state, const char *option, const char *text,
                   const char *const *words);

/* tool_argument - the one argument that a subcommand takes. A second one is a usage error; what names it. */
void tool_argument(const struct argp_state *state, const char **to, const char *what, const char *text);

/*
 * tool_own_file - insist that a file to be written is not another file of the same command line, which it
 * would replace. Either may be NULL, and may be no file, as "-".
 */
void tool_own_file(const struct argp_state *state, const char *option, const char *path, const char *other);

/* The words of options that several subcommands have, in the order of the library's enums. */
extern const char *const tool_tables[];   /* enum gn_cache_table */
extern const char *const tool_policies[]; /* enum gn_cache_policy */

/*
 * The options of a machine, --machine, --warp-width and --threads: a child of a subcommand's argp, with
 * tool_machine_child in its children. The parser sets state->child_inputs[0] to a struct simt_options at
 * ARGP_KEY_INIT.
 */
extern const struct argp_child tool_machine_child[];
extern const struct argp tool_machine_argp; /* where it is one of several */

/*
 * tool_graph_output - insist that a graph can be written to path: a usage error unless the name
 * is of a format that is written, or a device. Whether the directory takes a file is gn_graph_writable's.
 * @ids  32 or 64 for ids of so many bits, which the format must have; 0: as it has
 */
void tool_graph_output(const struct argp_state *state, const char *path, unsigned ids);

/* tool_ids - the value of --ids: 32 or 64. */
unsigned tool_ids(const struct argp_state *state, const char *text);

#define TOOL_IDS_HELP                                                                                       \
	"bits of a vertex's number in a .gng file: 32 or 64 (default 32; a .bel file always has 64, .bcsr " \
	"and "                                                                                              \
	".bwcsr files 32)"

/* tool_graph_report - one line on stdout about a graph that was written. */
void tool_graph_report(const char *path, const struct gn_graph *g, double seconds);

/* ---- reports ---- */

/* tool_to_stdout - is this file of --json standard output? Then no table is printed. NULL is no file. */
bool tool_to_stdout(const char *json);

/*
 * tool_can_write - could a file be written under this name? Asked before long work, whose result would be
 * lost. Nothing that stays is created. NULL and standard output (-) can.
 */
int tool_can_write(const char *path, struct gn_error *e);

/* tool_json_machine - name, processors and warp_width, as every report has them. */
json_t *tool_json_machine(const struct simt_info *info);

/*
 * tool_utf8 - text as UTF-8, whatever its bytes: each that is no part of a character, and a zero, becomes
 * \xHH. Text that is UTF-8 stays as it is. Owned by the caller; NULL where there is no memory.
 */
char *tool_utf8(const char *text, size_t bytes);

/* tool_json_text - a string of JSON, by tool_utf8; null for NULL. A name or a path goes into a report so. */
json_t *tool_json_text(const char *text);

/*
 * tool_json_context - the host, as scope_environment describes it, for a report of a subcommand; owned by the
 * caller.
 */
json_t *tool_json_context(const char *subcommand);

/*
 * tool_json_join - root with the members of rest.
 * @root, @rest  taken over; NULL, as json_pack gives it where there is no memory, makes the result NULL
 */
json_t *tool_json_join(json_t *root, json_t *rest);

/*
 * tool_write_json - a report to a file, which appears when it is complete, or to standard output (-).
 * @root  taken over; NULL, as json_pack gives it where there is no memory, is a failure like others
 */
int tool_write_json(json_t *root, const char *path, struct gn_error *e);

/* tool_write_json_digits - the same with so many digits of each double, at most 17, which give it back. */
int tool_write_json_digits(json_t *root, const char *path, unsigned digits, struct gn_error *e);

/* tool_write_file - a whole file, or what was there before. */
int tool_write_file(const char *path, const void *data, uint64_t bytes, struct gn_error *e);

/*
 * Files of a report of rows, each in its form: JSON, CSV, Markdown, HTML, SVG. NULL: not wanted, "-":
 * standard output.
 */
enum { TOOL_FORMS = 5 };

struct tool_files {
	const char *path[TOOL_FORMS];
};

/* Their options, --json to --svg, with a struct tool_files as input. */
extern const struct argp tool_files_argp;

/* tool_files_to_stdout - does one go to standard output? Then no table is printed. */
bool tool_files_to_stdout(const struct tool_files *f);

/* tool_files_check - can they be written? Before the run. 0 or a code with a message. */
int tool_files_check(const struct tool_files *f, struct gn_error *e);

/* tool_files_write - write them, and say which could not be. Returns an exit status. */
int tool_files_write(const struct tool_files *f, const char *subcommand, const struct scope_report *report);

/* ---- settings of this machine, which grapnel tune keeps ---- */

/* tool_tuned_path - the file for a machine's settings; host NULL is this machine. */
int tool_tuned_path(char *path, size_t room, const char *host, struct gn_error *e);

/* tool_make_folders - the folders that a file's path names, where they are missing. */
int tool_make_folders(const char *path, struct gn_error *e);

/* tool_tuned - the settings kept in a file, NULL for this machine's; owned by the caller. */
int tool_tuned(const char *path, json_t **settings, struct gn_error *e);

/* tool_tuned_number - a setting such as "page_bytes" or "reach_bytes"; `otherwise` where it was left open. */
double tool_tuned_number(const json_t *settings, const char *name, double otherwise);

/*
 * tool_tuned_defaults - what the user left open, as grapnel tune kept it for this host: values that are 0 are
 * set where the file has one that the command could have been given, and one line on stderr says which. NULL:
 * not wanted. Without a file nothing is said; one that cannot be read or is of another host is named there,
 * and ignored.
 * @machine  of the command, "cpu" or "cuda": settings are for the one they were measured on
 */
void tool_tuned_defaults(const char *subcommand, const char *machine, uint32_t *page_bytes, uint32_t *queues,
                         uint32_t *depth);

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

#endif
