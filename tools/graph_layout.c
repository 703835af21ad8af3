/* SPDX-License-Identifier: Apache-2.0 */
/* How launches over all vertices are handed out: --layout and --chunk. */
#include <stdio.h>

#include "graph_job.h"

enum { OPT_LAYOUT = 0x600, OPT_CHUNK };

static const struct argp_option options[] = {
    {"layout", OPT_LAYOUT, "NAME", 0,
     "how launches over all vertices are divided among warps: csr (by vertices), balanced (by chunks of the "
     "same number of edges, with a list of their start vertices in the machine's memory), or auto (balanced "
     "if one vertex has at least as many edges as 16 chunks) (default auto for pagerank and cc --algorithm "
     "sv, else csr)"},
    {"chunk", OPT_CHUNK, "SIZE", 0,
     "with --layout balanced or auto: bytes of neighbours in a chunk, a power of two from 512 to 64K "
     "(default 4K)"},
    {0},
};

/* In the order of enum gn_layout. */
static const char *const layouts[] = {"csr", "balanced", "auto", NULL};

static void check_chunk(const struct graph_layout_options *o, const struct argp_state *state)
{
	if (!o->chunk_bytes)
		return;
	if (o->asked == GN_LAYOUT_CSR)
		argp_error(state, o->given
		                      ? "--chunk is for --layout balanced and --layout auto; leave it out"
		                      : "--chunk is for --layout balanced and --layout auto; give one of "
		                        "them too");
	if (o->chunk_bytes < GN_BALANCE_LEAST || o->chunk_bytes > GN_BALANCE_MOST ||
	    o->chunk_bytes & (o->chunk_bytes - 1))
		argp_error(state, "--chunk %llu: give a power of two from 512 to 64K",
		           (unsigned long long)o->chunk_bytes);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct graph_options *o = (struct graph_options *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = o; return 0;
	case OPT_LAYOUT:
		o->layout.asked = (enum gn_layout)tool_word(state, "--layout", arg, layouts);
		o->layout.given = true;
		return 0;
	case OPT_CHUNK: o->layout.chunk_bytes = tool_size(state, "--chunk", arg, 1); return 0;
	/* A job may choose the layout at the end of its own options, which is after the end of these. */
	case ARGP_KEY_SUCCESS: check_chunk(&o->layout, state); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse, NULL, NULL, graph_state_child};

const struct argp_child graph_layout_child[] = {{&argp}, {0}};

/* ---- the list of start vertices ---- */

int graph_layout_open(struct graph_layout *l, struct simt_machine *machine, const struct graph_input *in,
                      const struct graph_options *o, struct gn_graph_arrays *graph, struct gn_error *e)
{
	const double begin = tool_seconds();
	struct gn_balance b;
	int rc;

	if (o->layout.asked == GN_LAYOUT_CSR)
		return 0;
	l->chunk_bytes = o->layout.chunk_bytes ? o->layout.chunk_bytes : (uint64_t)GN_BALANCE_CHUNK;
	rc = gn_balance_begin(&b, in->vertices, in->edges, (uint32_t)(l->chunk_bytes / in->id_bytes), e);
	if (!rc)
		rc = graph_input_offsets(in, gn_balance_take, &b, e);
	l->longest = b.longest;
	l->widest = b.widest;
	l->fits = gn_balance_fits(&b);
	if (!rc && gn_balance_suits(&b, o->layout.asked)) {
		rc = gn_balance_place(&b, machine, graph, e);
		l->no_room = rc == -GN_ENOMEM && o->layout.asked == GN_LAYOUT_AUTO;
		l->chunks = rc ? 0 : b.chunks;
	}
	gn_balance_fini(&b);
	l->seconds = tool_seconds() - begin;
	return l->no_room ? 0 : gn_error_prefix(e, rc, "%s", o->graph);
}

/* ---- what is said ---- */

static uint64_t start_bytes(const struct graph_layout *l)
{
	return l->chunks ? (l->chunks + 1) * sizeof(uint32_t) : 0;
}

static void print_csr(const struct graph_report *r, FILE *to)
{
	const struct graph_layout *l = &r->layout;

	if (!r->input->edges)
		fprintf(to, "csr: there are no edges\n");
	else if (!l->fits)
		fprintf(to, "csr: %llu vertices begin in one chunk, more than %d\n",
		        (unsigned long long)l->widest, GN_BALANCE_RANGE);
	else if (l->no_room)
		fprintf(to, "csr: the machine has no memory for the start vertices of the chunks\n");
	else
		fprintf(to, "csr: the longest list has %llu edges, less than %d chunks\n",
		        (unsigned long long)l->longest, GN_BALANCE_SKEWED);
}

void graph_layout_print(const struct graph_report *r, FILE *to)
{
	const struct graph_layout *l = &r->layout;

	if (r->options->layout.asked == GN_LAYOUT_CSR)
		return;
	fprintf(to, "  layout               ");
	if (!l->chunks)
		print_csr(r, to);
	else
		fprintf(
		    to,
		    "balanced: %llu chunks of %llu bytes, %llu bytes of start vertices, made in %.3f s; the "
		    "longest list has %llu edges\n",
		    (unsigned long long)l->chunks, (unsigned long long)l->chunk_bytes,
		    (unsigned long long)start_bytes(l), l->seconds, (unsigned long long)l->longest);
}

json_t *graph_layout_json(const struct graph_report *r)
{
	const struct graph_layout *l = &r->layout;
	const enum gn_layout asked = r->options->layout.asked;

	if (asked == GN_LAYOUT_CSR)
		return json_null();
	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f}", "asked", layouts[asked], "used",
	                 layouts[l->chunks ? GN_LAYOUT_BALANCED : GN_LAYOUT_CSR], "chunk_bytes",
	                 (json_int_t)l->chunk_bytes, "chunks", (json_int_t)l->chunks, "start_bytes",
	                 (json_int_t)start_bytes(l), "longest_list", (json_int_t)l->longest, "most_vertices",
	                 (json_int_t)l->widest, "seconds", l->seconds);
}
