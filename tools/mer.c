/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel mer: a table of k-mers that is spread over nodes; mer in Gravel's figures 12 and 15 and table 5. */
#include <stdio.h>
#include <string.h>

#include "mer/mer.h"
#include "net.h"

enum { OPT_TABLE = 256, OPT_VERIFY };

/* Entries of a node's table if nothing is said: two for each base, at most 192 MiB of them. */
static const uint64_t default_most_entries = 1u << 22;

struct request {
	struct tool_net net;
	const char *path;
	uint32_t k;
	uint64_t capacity; /* 0: chosen */
	bool verify;
	struct mer_reads reads;
	struct mer_reference want; /* when verify */
	struct mer_result result;  /* node 0's; stats: of all nodes */
	uint64_t wrong;
	uint32_t nodes;
};

static const struct argp_option options[] = {
    {"kmer", 'k', "K", 0, "bases of a k-mer, odd, 3 to 31 (default 21)", 0},
    {"table", OPT_TABLE, "N", 0,
     "entries, of 48 bytes, of a node's table, a power of two (default: by the bases, at most "
     "4194304)",
     0},
    {"verify", OPT_VERIFY, NULL, 0, "compare every entry with what one thread counts by sorting", 0},
    {0},
};

static error_t parse(int key, char *text, struct argp_state *state)
{
	struct request *q = (struct request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->net; break;
	case 'k':
		q->k = (uint32_t)tool_number(state, "--kmer", text, 3, MER_MOST_K);
		if (q->k % 2 == 0)
			argp_error(
			    state,
			    "--kmer %s: not odd; of an even number of bases both strands may read the same",
			    text);
		break;
	case OPT_TABLE:
		q->capacity = tool_number(state, "--table", text, 8, 1ull << 40);
		if (q->capacity & (q->capacity - 1))
			argp_error(state, "--table %s: not a power of two", text);
		break;
	case OPT_VERIFY: q->verify = true; break;
	case ARGP_KEY_ARG:
		if (q->path)
			argp_error(state, "%s: one argument too many; one file is expected", text);
		q->path = text;
		break;
	case ARGP_KEY_END:
		if (!q->path)
			argp_error(state, "a file with sequences is needed; see --help");
		break;
	default: return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = {{&tool_net_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    options,
    parse,
    "FILE",
    "Phase 1 of Meraculous: all k-mers of a FASTA or FASTQ file, also as .gz, with the bases beside "
    "them, in a hash table that is spread over nodes; every k-mer is an active message.",
    children,
    NULL,
    NULL};

/* ---- the run ---- */

static int node_main(struct gn_net *net, void *argument)
{
	struct request *q = (struct request *)argument;
	struct mer_table *table;
	struct mer_result result;
	uint64_t wrong = 0;
	int rc = mer_build(net, &q->reads, q->k, q->capacity, &table, &result);

	if (!rc)
		rc = tool_net_gather(net, &q->net, &result.stats);
	if (!rc && q->verify)
		wrong = mer_wrong(table, &q->want);
	if (!rc)
		rc = gn_net_reduce_u64(gn_net_host(net), GN_ADD, &wrong, 1);
	if (!rc && !gn_net_node(net)) {
		q->result = result;
		q->nodes = gn_net_nodes(net);
		q->wrong = wrong;
	}
	return rc;
}

static bool is_right(const struct request *q)
{
	return !q->wrong && q->result.distinct == q->want.distinct && q->result.kmers == q->want.kmers;
}

static double kmers_per_second(const struct request *q)
{
	return (double)q->result.kmers / q->result.seconds;
}

static void print(const struct request *q)
{
	const struct mer_result *r = &q->result;

	printf("%s: %u nodes, %llu %u-mers, %.3f s, %.3f M/s%s\n", q->path, q->nodes,
	       (unsigned long long)r->kmers, q->k, r->seconds, 1e-6 * kmers_per_second(q),
	       q->verify ? ", verified" : "");
	printf("  %llu distinct, %llu of them read once, %llu with one base on either side\n",
	       (unsigned long long)r->distinct, (unsigned long long)r->once, (unsigned long long)r->unique);
	tool_net_print(&r->stats);
}

static json_t *report(const struct request *q)
{
	const struct mer_result *s = &q->result;
	json_t *r =
	    json_pack("{s:s, s:s, s:i, s:i, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:o}", "schema",
	              "grapnel-mer-1", "file", q->path, "nodes", (int)q->nodes, "k", (int)q->k, "sequences",
	              (json_int_t)q->reads.sequences, "kmers", (json_int_t)s->kmers, "seconds", s->seconds,
	              "kmers_per_second", kmers_per_second(q), "distinct", (json_int_t)s->distinct, "once",
	              (json_int_t)s->once, "unique", (json_int_t)s->unique, "table", (json_int_t)q->capacity,
	              "net", tool_net_json(&q->net, &s->stats));

	if (r && q->verify)
		json_object_set_new(r, "verified", json_boolean(is_right(q)));
	return r;
}

/* ---- before and behind it ---- */

static int prepare(struct request *q, struct gn_error *e)
{
	int rc = mer_reads_load(&q->reads, q->path, e);

	if (rc)
		return rc;
	if (!q->capacity)
		for (q->capacity = 64;
		     q->capacity < 2 * q->reads.count && q->capacity < default_most_entries;)
			q->capacity *= 2;
	q->net.config.heap_bytes = q->net.config.shared_bytes = mer_heap(q->capacity);
	if (q->verify && mer_reference_build(&q->want, &q->reads, q->k))
		return gn_error_set(e, -GN_ENOMEM, "%s: no memory for the reference's count of %llu bases",
		                    q->path, (unsigned long long)q->reads.count);
	return 0;
}

static int run(struct request *q, struct gn_error *e)
{
	const int rc = tool_net_run("mer", &q->net, node_main, q, e);

	if (rc == -GN_ENOBUFS)
		return gn_error_set(e, rc,
		                    "%s: the table of a node is full; give more nodes, or --table %llu",
		                    q->path, (unsigned long long)(2 * q->capacity));
	if (!rc && q->nodes && q->verify && !is_right(q))
		return gn_error_set(
		    e, -GN_EBADMSG,
		    "%llu entries are wrong, %llu k-mers are distinct instead of %llu: this is a bug; "
		    "please report it",
		    (unsigned long long)q->wrong, (unsigned long long)q->result.distinct,
		    (unsigned long long)q->want.distinct);
	return rc;
}

int tool_mer(int argc, char **argv)
{
	struct gn_error e;
	struct request q;
	int rc;

	memset(&q, 0, sizeof q);
	q.k = 21;
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	rc = prepare(&q, &e);
	if (!rc)
		rc = run(&q, &e);
	if (!rc && q.nodes && q.net.json)
		rc = tool_write_json(report(&q), q.net.json, &e);
	if (!rc && q.nodes && !tool_to_stdout(q.net.json))
		print(&q);
	mer_reference_fini(&q.want);
	mer_reads_fini(&q.reads);
	return rc ? tool_fail("mer", &e) : TOOL_OK;
}
