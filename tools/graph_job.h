/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_job.h - what the subcommands share that run one job over a graph behind a store, as `grapnel bfs` and
 * `grapnel cc` do. Options, the graph's input and arrays, the parts of a report.
 */
#ifndef GN_TOOL_GRAPH_JOB_H
#define GN_TOOL_GRAPH_JOB_H

#include <stdbool.h>

#include <grapnel/cache.h>
#include <grapnel/store.h>

#include "far.h"
#include "graph/arrays.h"
#include "graph/balance.h"
#include "graph/file.h"
#include "graph/state.h"
#include "graph_steps.h"
#include "tool.h"

/* ---- options ---- */

/* In the order of the words of --mode. */
enum graph_mode { GRAPH_PAGED, GRAPH_DIRECT, GRAPH_AUTO };

/* The largest page that gn_auto may choose. */
enum { GRAPH_AUTO_PAGE = 65536 };

/* Whether vertices are numbered by their degrees first, and each edge is kept once. */
enum graph_order { GRAPH_ORDER_NEVER, GRAPH_ORDER_AUTO, GRAPH_ORDER_ALWAYS };

/* Where a job keeps what it knows of each vertex. In the order of the words of --state. */
enum graph_state_kind { GRAPH_STATE_DEVICE, GRAPH_STATE_HOST, GRAPH_STATE_FILE };

struct graph_state_options {
	enum graph_state_kind kind;
	uint64_t cache_bytes;  /* 0: one eighth of the state */
	uint32_t page_bytes;   /* 0: as suits the store */
	uint32_t vertex_bytes; /* of a vertex's state; set by a subcommand whose job has any */
};

struct graph_layout_options {
	enum gn_layout asked; /* a subcommand may set its default before parsing, or at its ARGP_KEY_END */
	bool given;
	uint64_t chunk_bytes; /* 0: it was not given */
};

struct graph_options {
	const char *subcommand; /* its name */
	const char *graph;
	bool undirected;
	struct simt_options machine;
	struct tool_far far;
	enum graph_mode mode;
	const char *json;
	const char *svg;
	bool trust;
	bool explain;
	bool steps; /* report each */
	/* The subcommand's own parser sets these two: their help says what is written and compared. */
	const char *out;
	bool verify;
	bool weights; /* set by a subcommand that reads the weights of edges */
	/* And these two: directed graphs are refused; what the job asks for, after that. */
	bool undirected_only;
	enum graph_order order;
	struct graph_state_options state;
	struct graph_layout_options layout;
};

/*
 * GRAPH, the options of a machine and those above: the child of a subcommand's argp, with a
 * struct graph_options as input.
 */
extern const struct argp_child graph_options_child[];

/* The same for a job that knows something of each vertex: --state, --state-cache and --state-page too. */
extern const struct argp_child graph_state_child[];

/* And for one whose launches may be divided by edges: --layout and --chunk too. */
extern const struct argp_child graph_layout_child[];

/* graph_options_init - what holds unless the command line says otherwise; o is all 0. */
void graph_options_init(struct graph_options *o, const char *subcommand);

const char *graph_mode_name(enum graph_mode mode);

/* ---- the graph ---- */

/* A graph behind a store, ready to be read by kernels. */
struct graph_input {
	struct gn_graph_file file; /* of a .gng file */
	struct gn_graph graph;     /* in memory: other formats, or for verifying */
	bool has_file, has_graph;
	bool both_directions; /* every edge is stored in both directions, as the graph's flags say */
	uint64_t vertices, edges;
	uint32_t id_bytes; /* of a neighbour in the store: 4 or 8 */
	uint32_t weight;   /* GN_WEIGHT_*; NONE also where the weights are not read */
	uint64_t offsets_at, neighbours_at, weights_at; /* in the store */
	uint64_t bytes;                                 /* of the arrays that are read */
	bool ordered;         /* in the store are other numbers of the vertices than in file and graph */
	double order_seconds; /* what that took */
	double load_seconds;  /* until the graph was in the store: opening it, and copying */
	struct gn_store *store;
	const char *subcommand; /* for messages */
};

/*
 * graph_input_open - read what must be read, prove it sound unless o->trust, and open the store.
 * Returns 0 or a code with a message; then nothing is left open.
 */
int graph_input_open(struct graph_input *in, struct simt_machine *machine, const struct graph_options *o,
                     const struct gn_progress *progress, struct gn_error *e);
void graph_input_close(struct graph_input *in);

/* graph_order_check - refuse a directed graph for a job that is for undirected ones. @flags  of the graph */
int graph_order_check(const struct graph_options *o, uint32_t flags, struct gn_error *e);

/* graph_order_wanted - whether the graph is to be ordered before it is stored. */
int graph_order_wanted(const struct graph_input *in, const struct graph_options *o, bool *wanted,
                       struct gn_error *e);

/* The graph in memory, read now if it is not there yet. */
int graph_input_load(struct graph_input *in, const struct gn_progress *progress, struct gn_error *e);

/*
 * graph_input_offsets - hand out the offsets, from the file or from the graph in memory: the store is not
 * read, so its cache stays as it is. Not of a graph that was ordered. As gn_graph_file_offsets.
 */
int graph_input_offsets(const struct graph_input *in, gn_graph_take_offsets *take, void *context,
                        struct gn_error *e);

/* The arrays over a graph's store, as the mode has them. */
struct graph_arrays {
	struct gn_cache *cache; /* paged: of all arrays; auto: of all but the neighbours; else NULL */
	struct gn_graph_arrays graph;
};

/*
 * graph_state_open - a place for the state of so many vertices; nothing where it is on the machine.
 * @place  all 0. Close in any case.
 */
int graph_state_open(struct gn_state_place *place, struct simt_machine *machine,
                     const struct graph_options *o, uint64_t vertices, struct gn_error *e);
void graph_state_close(struct gn_state_place *place);

struct graph_report;
struct graph_searches;

/* How launches over all vertices are handed out; all 0 where that is csr, asked for or by default. */
struct graph_layout {
	uint64_t chunk_bytes;
	uint64_t chunks;          /* 0: by vertices */
	bool fits;                /* could be by chunks */
	bool no_room;             /* --layout auto, and the machine had no memory for the start vertices */
	uint64_t longest, widest; /* as in struct gn_balance */
	double seconds;           /* that the list of start vertices took */
};

/*
 * graph_layout_open - choose, and let the graph have its list of start vertices.
 * @l  all 0
 * Returns 0 or a code with a message; gn_balance_remove in any case.
 */
int graph_layout_open(struct graph_layout *l, struct simt_machine *machine, const struct graph_input *in,
                      const struct graph_options *o, struct gn_graph_arrays *graph, struct gn_error *e);

/* graph_arrays_open - Returns 0 or a code with a message; close in any case. */
int graph_arrays_open(struct graph_arrays *a, struct simt_machine *machine, const struct graph_input *in,
                      const struct graph_options *o, struct gn_error *e);
void graph_arrays_close(struct graph_arrays *a, struct simt_machine *machine);

/* The report's cache, choice and explanation. */
void graph_arrays_describe(const struct graph_arrays *a, struct graph_report *r);

/* ---- the job ---- */

/* A job in progress: the machine, the graph, its arrays, room for the result. */
struct graph_job {
	const struct graph_options *options;
	struct simt_machine *machine;
	struct graph_input input;
	struct graph_arrays arrays;
	struct gn_state_place state; /* of the arrays, if they have one */
	struct graph_layout layout;
	struct gn_progress progress;
	struct graph_steps steps; /* of a job that is not several searches */
	uint32_t *result;         /* of every vertex */
};

/*
 * graph_job_steps - an empty report of a job's steps, to which graph_steps_listener adds a row for each.
 * @kind    the members that this job has beside the common ones
 * @before  the cache's counters when the first step begins; NULL: all 0
 */
struct graph_steps graph_job_steps(const struct graph_job *j, const struct graph_steps_kind *kind,
                                   const struct gn_cache_statistics *before);

/*
 * graph_job_reference - read the graph into memory for a reference, and make room for its result.
 * @want  receives `bytes` bytes for each vertex, which the caller frees; NULL on failure
 */
int graph_job_reference(struct graph_job *j, uint32_t bytes, void **want, struct gn_error *e);

/* ---- the report ---- */

/* What there is to say about a run, whatever the job was. The job itself sets the second part. */
struct graph_report {
	const struct graph_options *options;
	const struct graph_input *input;
	struct simt_info machine;
	struct gn_cache_info cache;       /* zero in direct mode */
	struct gn_cache_info state_cache; /* zero where state is on the machine */
	struct gn_auto_state choice;      /* mode auto: at the end */
	/* mode auto: in words; empty if nothing was chosen, because there are no edges */
	char explain[4096];
	struct gn_store_statistics store;
	struct graph_layout layout;
	char path[512]; /* which way the bytes went */

	double seconds;        /* of several searches their mean */
	uint64_t edges;        /* read */
	uint64_t needed_bytes; /* that any such job must read */
	int verified;          /* 1, 0, or -1: was not asked */
	/* not NULL: the job was several searches (graph_search.h) */
	const struct graph_searches *searches;
	const struct graph_steps *steps; /* NULL: those of the searches are reported */
};

/* Edges a second. */
double graph_report_teps(const struct graph_report *r);

/* The table's first lines, what the job says comes behind them, and its last lines. */
void graph_report_begin(const struct graph_report *r, FILE *to);
void graph_report_end(const struct graph_report *r, const char *verified, FILE *to);

/* The table's line about the state of vertices, and the JSON object's member; none, and null, on the machine.
 */
void graph_state_print(const struct graph_report *r, FILE *to);
json_t *graph_state_json(const struct graph_report *r);

/* The same of the layout: none, and null, where it is csr, asked for or by default. */
void graph_layout_print(const struct graph_report *r, FILE *to);
json_t *graph_layout_json(const struct graph_report *r);

/* The JSON object's member "graph". */
json_t *graph_report_graph(const struct graph_report *r);

/*
 * graph_report_join - add to the job's own members those from "mode" on, which every job has. "data_bytes" is
 * what a cache of all data would hold; jobs over arrays and tables (far_job.h, query) have it too.
 * @root  taken over; NULL, as json_pack gives it where there is no memory, stays NULL
 */
json_t *graph_report_join(json_t *root, const struct graph_report *r);

/* ---- the subcommand ---- */

/* What a subcommand does. Each function gets the subcommand's own data. */
struct graph_command {
	const char *title;          /* names the job in a drawing, "Breadth-first search", say */
	const char *title_verified; /* the drawing's words for a result that was verified */
	const char *needed;         /* says what the needed bytes are */
	const char *verified;       /* the table's words for a result that was verified */
	/*
	 * Run the job, which is open, and set the report's seconds and edges, and its needed_bytes if not all
	 * that the job reads is needed. 0 or a code with a message.
	 */
	int (*run)(void *user, struct graph_job *j, struct graph_report *r, struct gn_error *e);
	/* Compare the result with a reference. NULL: run does so. */
	int (*verify)(void *user, struct graph_job *j, struct gn_error *e);
	json_t *(*json)(const void *user, const struct graph_report *r);
	void (*print)(const void *user, const struct graph_report *r); /* the table's lines about the job */
	const struct graph_steps_kind *steps; /* NULL: the job is searches, which have steps of their own */
};

/*
 * graph_command_run - a subcommand from its options to its exit status. Results are written only for a run
 * that went well.
 */
int graph_command_run(const struct graph_command *c, const struct graph_options *o, void *user);

/* graph_report_svg - draw the traffic to a file. */
int graph_report_svg(const struct graph_report *r, const struct graph_command *c, struct gn_error *e);

#endif
