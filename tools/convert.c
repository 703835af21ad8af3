/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "graph/read.h"
#include "graph/write.h"
#include "table_tool.h"
#include "tool.h"

enum { OPT_TYPES = 256, OPT_SKIP, OPT_IDS };

struct request {
	struct gn_graph_read_options options;
	struct gn_import_options table;
	const char *in;
	const char *out;
	bool is_table; /* out is a .gnt file */
	unsigned ids;  /* 0: it was not given */
};

static const struct argp_option options[] = {
    {"undirected", 'u', NULL, 0,
     "add the opposite direction of every edge, unless the file says that it has both; without this option "
     "edges are directed"},
    {"simple", 's', NULL, 0, "drop self loops and duplicate edges; without this option they are kept"},
    {"ids", OPT_IDS, "BITS", 0, TOOL_IDS_HELP, 0},
    {"types", OPT_TYPES, "LIST", 0,
     "of a table: NAME=TYPE,... for columns whose type is not to be found out; i32, i64, u32, f32, f64, "
     "string or decimal(N), an exact number with N digits behind the point, or none: the column is left out"},
    {"skip-bad-rows", OPT_SKIP, NULL, 0,
     "of a table: leave out rows that have too many or too few fields, or one that its column's type cannot "
     "hold; without this option they are a failure. In both cases they are counted, and the first are named"},
    {0},
};

/* The end of a name tells a table from a graph. */
static void check_kind(struct request *c, const struct argp_state *state)
{
	const bool from_table = gn_table_source_of(c->in) != GN_SOURCE_NONE;

	c->is_table = tool_is_table(c->out);
	if (!c->is_table && from_table)
		argp_error(state, "%s: a table becomes a .gnt file; give a name that ends in .gnt", c->out);
	if (!c->is_table)
		tool_graph_output(state, c->out, c->ids);
	else if (!from_table)
		argp_error(
		    state,
		    "%s: a .gnt file is made of a .csv, .csv.gz, .parquet, .arrow or .feather file; give one",
		    c->in);
	if (!c->is_table && (c->table.types || c->table.skip_bad))
		argp_error(state, "--types and --skip-bad-rows are for tables; leave them out");
	if (c->is_table && (c->options.undirected || c->options.simple || c->ids))
		argp_error(state, "--undirected, --simple and --ids are for graphs; leave them out");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct request *c = (struct request *)state->input;

	switch (key) {
	case 'u': c->options.undirected = true; return 0;
	case 's': c->options.simple = true; return 0;
	case OPT_IDS: c->ids = tool_ids(state, arg); return 0;
	case OPT_TYPES:
		if (c->table.types)
			argp_error(state, "--types is given twice; give one list, NAME=TYPE,NAME=TYPE");
		c->table.types = arg;
		return 0;
	case OPT_SKIP: c->table.skip_bad = 1; return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num == 0)
			c->in = arg;
		else if (state->arg_num == 1)
			c->out = arg;
		else
			argp_error(state, "%s: too many arguments; give one file to read and one to write",
			           arg);
		return 0;
	case ARGP_KEY_END:
		if (state->arg_num != 2)
			argp_error(state, "give a file to read and a file to write; see --help");
		check_kind(c, state);
		return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    "IN OUT\nTABLE OUT.gnt",
    "Read the graph IN and write it as OUT, or read TABLE and write it as the column file OUT.gnt. The ends "
    "of their names are their formats. Read and written are .gng (Grapnel's own), .bel (EMOGI's: OUT.bel "
    "stands for the files OUT.bel.col, OUT.bel.dst and, with weights, OUT.bel.val), .bcsr and .bwcsr "
    "(Subway's). Read alone are .mtx (Matrix Market), .el and .wel (text edge lists), these also as .gz, "
    ".sg and .wsg (GAP serialized). A table is .csv or .csv.gz (the first row names the columns, an empty "
    "field is a missing value), .parquet, or .arrow or .feather (Arrow's IPC file); grapnel doctor says "
    "whether this program reads the last three.\vVertices are numbered from 0 (in .mtx from 1). OUT is "
    "written under another name and renamed when it is complete; after a failure an older OUT is unchanged. "
    "Files of a .bel graph that are there already are not replaced. Only a .gng file says whether its edges "
    "are there in both directions; a .bcsr file has no weights.",
};

static int convert(const struct request *c, struct gn_graph *graph, struct gn_error *e)
{
	struct gn_graph_read_options o = c->options;
	struct tool_bar bar;
	int err = gn_graph_writable(c->out, e);

	if (err)
		return err;
	o.progress = tool_bar_begin(&bar);
	err = gn_graph_read(graph, c->in, &o, e);
	graph->wide = c->ids == 64;
	if (!err)
		err = gn_graph_write(graph, c->out, &o.progress, e);
	tool_bar_end(&bar);
	return err;
}

int tool_convert(int argc, char **argv)
{
	struct request c = {{false, false, 0, {NULL, NULL}}};
	struct gn_graph graph = {0};
	struct gn_error e = {0};
	enum gn_graph_format format;
	double start = tool_seconds();

	argp_parse(&argp, argc, argv, 0, NULL, &c);
	if (c.is_table)
		return tool_convert_table(c.in, c.out, &c.table);
	if (convert(&c, &graph, &e)) {
		gn_graph_fini(&graph);
		return tool_fail("convert", &e);
	}
	tool_graph_report(c.out, &graph, tool_seconds() - start);
	if (graph.weight && !gn_graph_format_of(c.out, &format, NULL) && format == GN_FORMAT_BCSR)
		puts("a .bcsr file holds no weights: they were left out");
	gn_graph_fini(&graph);
	return TOOL_OK;
}
