/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "generate/machine.h"
#include "graph/read.h"
#include "graph/write.h"
#include "table_tool.h"
#include "tool.h"

enum { OPT_ROWS = 256, OPT_MACHINE, OPT_MEMORY, OPT_IDS };

struct request {
	struct gn_generate_options options;
	const char *kind;
	const char *out;
	struct simt_options machine; /* its name is NULL: OpenMP's threads */
	uint64_t memory;             /* of the machine, to be used */
	bool scaled, has_degree;
	uint64_t rows; /* of a table */
	bool is_table;
	unsigned ids; /* 0: it was not given */
};

static const struct argp_option options[] = {
    {"scale", 'n', "N", 0, "make 2^N vertices, N from 0 to 31 (must be given for a graph)"},
    {"rows", OPT_ROWS, "N", 0, "of taxis: make N rows (must be given)"},
    {"degree", 'd', "D", 0, "draw D * 2^N edges (default 16)"},
    {"seed", 's', "S", 0, "seed of the random numbers; each seed gives another graph or table (default 1)"},
    {"undirected", 'u', NULL, 0,
     "store every edge in both directions, as the GAP benchmark does for its kron and urand graphs; without "
     "this option each drawn edge is stored once, at its source"},
    {"keep", 'k', NULL, 0,
     "keep self loops and duplicate edges; without this option they are dropped, as GAP does"},
    {"ids", OPT_IDS, "BITS", 0, TOOL_IDS_HELP, 0},
    {"machine", OPT_MACHINE, "NAME", 0,
     "draw and sort the edges of a graph by kernels on this machine: cpu, cuda or cuda:INDEX (default: by "
     "OpenMP's threads)"},
    {"memory", OPT_MEMORY, "SIZE", 0,
     "with --machine: memory of the machine to use at most, for example 16G; a larger graph is made in parts "
     "(default half of a GPU's memory, a quarter of the host's)"},
    {0},
};

static error_t finish_table(struct argp_state *state, const struct request *g)
{
	if (!g->rows)
		argp_error(state, "the size of the table is not given; give --rows N");
	if (g->scaled || g->has_degree || g->options.undirected || g->options.keep || g->machine.name ||
	    g->memory || g->ids)
		argp_error(state, "--scale, --degree, --undirected, --keep, --ids, --machine and --memory "
		                  "are for graphs; leave "
		                  "them out");
	if (!tool_is_table(g->out))
		argp_error(state, "%s: a table is written as a .gnt file; give a name that ends in .gnt",
		           g->out);
	return 0;
}

static error_t finish(struct argp_state *state, struct request *g)
{
	if (state->arg_num != 2)
		argp_error(state, "give a generator (kron, urand or taxis) and a file to write; see --help");
	g->is_table = !strcmp(g->kind, "taxis");
	if (g->is_table)
		return finish_table(state, g);
	if (strcmp(g->kind, "kron") && strcmp(g->kind, "urand"))
		argp_error(state, "%s: unknown generator; give kron, urand or taxis", g->kind);
	if (g->rows)
		argp_error(state, "--rows is for taxis; leave it out");
	if (!g->scaled)
		argp_error(state, "the size of the graph is not given; give --scale N, N from 0 to 31");
	if (g->memory && !g->machine.name)
		argp_error(state, "--memory is for --machine; give --machine NAME, or leave --memory out");
	g->options.kind = GN_GENERATOR_KRON;
	if (!strcmp(g->kind, "urand"))
		g->options.kind = GN_GENERATOR_URAND;
	g->options.wide = g->ids == 64;
	tool_graph_output(state, g->out, g->ids);
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *g = (struct request *)state->input;

	switch (key) {
	case 'n':
		g->options.scale = (unsigned)tool_number(state, "--scale", arg, 0, GN_GENERATOR_MAX_SCALE);
		g->scaled = true;
		return 0;
	case 'd':
		g->options.degree = tool_number(state, "--degree", arg, 0, UINT64_C(1) << 32);
		g->has_degree = true;
		return 0;
	case 's': g->options.seed = tool_number(state, "--seed", arg, 0, UINT64_MAX); return 0;
	case OPT_ROWS: g->rows = tool_number(state, "--rows", arg, 1, UINT64_C(1) << 32); return 0;
	case OPT_IDS: g->ids = tool_ids(state, arg); return 0;
	case OPT_MACHINE: g->machine.name = arg; return 0;
	case OPT_MEMORY: g->memory = tool_size(state, "--memory", arg, 1); return 0;
	case 'u': g->options.undirected = true; return 0;
	case 'k': g->options.keep = true; return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			g->kind = arg;
		else if (state->arg_num == 1)
			g->out = arg;
		else
			argp_error(state, "%s: too many arguments; give one file to write", arg);
		return 0;
	case ARGP_KEY_END: return finish(state, g);
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "kron|urand --scale N OUT\ntaxis --rows N OUT.gnt",
    "Generate a graph with the parameters of the GAP benchmark suite and write it, as a Grapnel graph file "
    "(.gng) or as grapnel convert does (.bel, .bcsr), or a table. kron is a Kronecker (R-MAT) graph with A "
    "0.57, B 0.19, C 0.19 and permuted vertices. urand joins uniformly random pairs of vertices. taxis is a "
    "table of taxi trips, written as a column file; 0.03 % of them have 30 miles or more, 0.08 % take more "
    "than 9000 seconds.\vThe same options give the same file on every machine and with any number of "
    "threads (OMP_NUM_THREADS). With --machine a .gng file is written part by part, so it may be larger "
    "than the host's memory and the GPU's.",
};

/* Is it a .gng file, which is written part by part? Other formats and devices are written whole. */
static bool is_written_in_parts(const char *path)
{
	enum gn_graph_format format;
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return false;
	return !gn_graph_format_of(path, &format, NULL) && format == GN_FORMAT_GNG;
}

static int generate_on(struct simt_machine *machine, const struct request *g,
                       const struct gn_generate_options *o, struct gn_graph *graph, struct gn_error *e)
{
	int err;

	if (is_written_in_parts(g->out))
		return gn_generate_file(g->out, graph, machine, o, g->memory, e);
	err = gn_generate_graph(graph, machine, o, g->memory, e);
	return err ? err : gn_graph_write(graph, g->out, &o->progress, e);
}

static int generate_by_kernels(const struct request *g, const struct gn_generate_options *o,
                               struct gn_graph *graph, struct gn_error *e)
{
	struct simt_machine *machine;
	int err = simt_open(&machine, &g->machine, e);

	if (err)
		return err;
	err = generate_on(machine, g, o, graph, e);
	simt_close(machine);
	return err;
}

static int generate_on_host(const struct request *g, const struct gn_generate_options *o,
                            struct gn_graph *graph, struct gn_error *e)
{
	const int err = gn_graph_generate(graph, o, e);

	return err ? err : gn_graph_write(graph, g->out, &o->progress, e);
}

static int generate(const struct request *g, struct gn_graph *graph, struct gn_error *e)
{
	struct gn_generate_options o = g->options;
	struct tool_bar bar;
	int err = gn_graph_writable(g->out, e);

	if (err)
		return err;
	o.progress = tool_bar_begin(&bar);
	err = g->machine.name ? generate_by_kernels(g, &o, graph, e) : generate_on_host(g, &o, graph, e);
	tool_bar_end(&bar);
	return err;
}

int tool_gen(int argc, char **argv)
{
	struct request g;
	struct gn_graph graph = {0};
	struct gn_error e = {0};
	double start = tool_seconds();

	memset(&g, 0, sizeof g);
	g.options.degree = 16;
	g.options.seed = 1;
	argp_parse(&argp, argc, argv, 0, NULL, &g);
	if (g.is_table)
		return tool_gen_taxis(g.out, g.rows, g.options.seed);
	if (generate(&g, &graph, &e)) {
		gn_graph_fini(&graph);
		return tool_fail("gen", &e);
	}
	tool_graph_report(g.out, &graph, tool_seconds() - start);
	gn_graph_fini(&graph);
	return TOOL_OK;
}
