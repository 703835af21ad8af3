/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_search.h - what the subcommands share whose job starts from a vertex, as `grapnel bfs` and `grapnel
 * sssp` do: one search from --source, or one after the other from the vertices that --sources draws. Between
 * them the store, the cache and the arrays stay as they are: the first search finds an empty cache, the
 * others what those before them left.
 */
#ifndef GN_TOOL_GRAPH_SEARCH_H
#define GN_TOOL_GRAPH_SEARCH_H

#include "graph_job.h"

/* ---- options ---- */

enum { GRAPH_MOST_SOURCES = 1024, GRAPH_LEAST_DEGREE = 3 /* of a vertex that --sources draws */ };

struct graph_search_options {
	struct graph_options graph;
	uint64_t source;  /* the subcommand's parser sets it; UINT64_MAX: it was not given, and is 0 */
	uint32_t sources; /* to draw; 0: none */
	uint64_t seed;
	bool seeded;
};

/* The options of graph_layout_child, and --sources and --seed. Its input is a struct graph_search_options.
 */
extern const struct argp_child graph_search_child[];

/* graph_search_options_init - what holds unless the command line says otherwise; o is all 0. */
void graph_search_options_init(struct graph_search_options *o, const char *subcommand);

/* ---- the searches ---- */

struct graph_search {
	uint32_t number; /* from 0 */
	uint32_t source;
	void *result; /* result_bytes of the kind, zero at first */
	/* The job sets these. */
	double seconds;
	uint64_t reached;      /* vertices */
	uint64_t edges;        /* read */
	uint64_t needed_bytes; /* that any such search must read */
	/* When it had ended: of this search and all before it. Of the cache zero unless the mode is paged. */
	struct gn_cache_info cache;
	struct gn_store_statistics store;
	struct graph_steps steps;
};

/* What a job does with a search; each is given the job's own data. */
struct graph_search_kind {
	/* Search, with every word of its state anew; the result goes to j->result. 0 or a code with a
	 * message. */
	int (*run)(void *user, struct graph_job *j, struct graph_search *s, struct gn_error *e);
	/* Compare j->result with a reference. 0 or a code with a message. */
	int (*verify)(void *user, struct graph_job *j, uint32_t source, struct gn_error *e);
	/* What the report says of this search alone, beginning with its source. */
	json_t *(*members)(const void *user, const struct graph_search *s);
	const struct graph_steps_kind *steps;
	size_t result_bytes; /* of what a search keeps for the report */
};

struct graph_searches {
	const struct graph_search_options *options;
	const struct graph_search_kind *kind;
	void *user;                  /* for kind */
	struct graph_search *search; /* [count] */
	void *results;               /* of all searches */
	uint32_t count;
};

/*
 * graph_searches_run - find the sources, search from each, verify each if that was asked for, and fill the
 * report: its seconds are the mean, its other numbers the sums. It is the run of a struct graph_command.
 * @all  a struct graph_searches
 */
int graph_searches_run(void *all, struct graph_job *j, struct graph_report *r, struct gn_error *e);

/*
 * graph_searches_command - graph_command_run for searches; they are freed.
 * @all  the first three members are set
 */
int graph_searches_command(const struct graph_command *c, struct graph_searches *all);

/* graph_searches_seconds - the time of all searches together; at least one has ended. */
double graph_searches_seconds(const struct graph_searches *all);

/* The lines of the table about the times, and one line a search. */
void graph_searches_print(const struct graph_searches *all, FILE *to);

/*
 * graph_searches_join - add to the job's own members those of the search, or of all searches, and those of
 * every report.
 * @root  taken over, as by graph_report_join
 */
json_t *graph_searches_join(json_t *root, const struct graph_searches *all, const struct graph_report *r);

/* ---- sources ---- */

/* Vertices with an edge count of GRAPH_LEAST_DEGREE or more, while they are drawn. */
struct graph_sources {
	uint64_t stream; /* of the seed */
	uint32_t count;  /* wanted */
	uint32_t found;  /* of them so far */
	uint32_t vertex[GRAPH_MOST_SOURCES];
	uint64_t key[GRAPH_MOST_SOURCES]; /* ascending */
};

/* graph_sources_begin - draw `count` vertices, by a seed. The first of them are those of a smaller count. */
void graph_sources_begin(struct graph_sources *s, uint64_t seed, uint32_t count);

/* graph_sources_look - look at n vertices from `first` on. @offsets  n + 1 of them */
void graph_sources_look(struct graph_sources *s, const uint64_t *offsets, uint64_t first, uint64_t n);

/*
 * graph_sources_draw - the sources of an input, from its file or its copy in memory: its store is not read,
 * so its cache stays empty. All are different if there are enough; otherwise they come in turns.
 * @source  receives o->sources of them
 * Returns 0; -GN_ENOENT (no vertex has so many edges); -GN_ENOMEM; what the file could not be read with.
 */
int graph_sources_draw(const struct graph_input *in, const struct graph_search_options *o, uint32_t *source,
                       struct gn_error *e);

#endif
