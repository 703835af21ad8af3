/* SPDX-License-Identifier: Apache-2.0 */
/* grapnel mer: a table of k-mers that is spread over nodes; mer in Gravel's figures 12 and 15 and table 5. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mer/mer.h"
#include "net.h"

enum { KMER, TABLE };

/* Entries of a node's table if nothing is said: two for each base, at most 192 MiB of them. */
static const uint64_t default_most_entries = 1u << 22;

struct request {
	struct tool_net net;
	uint64_t capacity;
	struct mer_reads reads;
	struct mer_reference want; /* if verify */
	struct mer_result result;  /* node 0's */
};

static const char *kmer_wrong(uint64_t k, const uint64_t *all)
{
	(void)all;
	return k % 2 ? NULL
	             : "give an odd number: with an even number of bases both strands may read the same";
}

static const struct tool_net_option options[] = {
    {"kmer", 'k', "K", "bases of a k-mer, odd, 3 to 31 (default 21)", 21, 3, MER_MOST_K, kmer_wrong},
    {"table", 0, "N",
     "entries of 48 bytes in each node's table, a power of two (default: by the number of bases, at most "
     "4194304)",
     0, 8, 1ull << 40, tool_net_not_a_power},
    {0},
};

static int prepare(struct tool_net *n, struct gn_error *e)
{
	struct request *q = (struct request *)n;
	const int rc = mer_reads_load(&q->reads, n->path, e);

	if (rc)
		return rc;
	q->capacity = n->value[TABLE];
	if (!q->capacity)
		for (q->capacity = 64;
		     q->capacity < 2 * q->reads.count && q->capacity < default_most_entries;)
			q->capacity *= 2;
	n->config.heap_bytes = n->config.shared_bytes = mer_heap(q->capacity);
	if (n->verify && mer_reference_build(&q->want, &q->reads, (uint32_t)n->value[KMER]))
		return gn_error_set(e, -GN_ENOMEM,
		                    "%s: out of memory for the reference's count of %llu bases", n->path,
		                    (unsigned long long)q->reads.count);
	return 0;
}

/* Those k-mers that are missing or too many, and those sent too often or not often enough. */
static double missed(const struct request *q)
{
	return fabs((double)q->result.distinct - (double)q->want.distinct) +
	       fabs((double)q->result.kmers - (double)q->want.kmers);
}

static int node(struct gn_net *net, struct tool_net *n, struct tool_net_part *part, struct gn_error *error)
{
	struct request *q = (struct request *)n;
	struct mer_table *table;
	struct mer_result r;
	const int rc = mer_build(net, &q->reads, (uint32_t)n->value[KMER], q->capacity, &table, &r, error);

	if (rc)
		return rc;
	part->seconds = r.seconds;
	part->stats = r.stats;
	part->wrong = n->verify ? (double)mer_wrong(table, &q->want) : 0;
	if (gn_net_node(net))
		return 0;
	q->result = r;
	if (n->verify)
		part->wrong += missed(q);
	return 0;
}

static int explain(const struct tool_net *n, int rc, struct gn_error *e)
{
	const struct request *q = (const struct request *)n;

	if (rc == -GN_EBADMSG && n->wrong > 0)
		return mer_differs(n->path, (uint64_t)(n->wrong - missed(q)), &q->result, &q->want, e);
	if (rc != -GN_ENOBUFS)
		return rc;
	return gn_error_set(e, rc, "%s: the table of a node is full; give more nodes, or --table %llu",
	                    n->path, (unsigned long long)(2 * q->capacity));
}

static double kmers_per_second(const struct request *q)
{
	return (double)q->result.kmers / q->net.seconds;
}

static void print(const struct tool_net *n)
{
	const struct request *q = (const struct request *)n;
	const struct mer_result *r = &q->result;

	printf("%llu %llu-mers, %.3f s, %.3f M/s%s\n", (unsigned long long)r->kmers,
	       (unsigned long long)n->value[KMER], n->seconds, 1e-6 * kmers_per_second(q),
	       n->verify ? ", verified" : "");
	printf("  %llu distinct, %llu of them read once, %llu with one base on either side\n",
	       (unsigned long long)r->distinct, (unsigned long long)r->once, (unsigned long long)r->unique);
}

static json_t *report(const struct tool_net *n)
{
	const struct request *q = (const struct request *)n;
	const struct mer_result *r = &q->result;

	return json_pack("{s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:I}", "k", (json_int_t)n->value[KMER],
	                 "sequences", (json_int_t)q->reads.sequences, "kmers", (json_int_t)r->kmers,
	                 "kmers_per_second", kmers_per_second(q), "distinct", (json_int_t)r->distinct, "once",
	                 (json_int_t)r->once, "unique", (json_int_t)r->unique, "table",
	                 (json_int_t)q->capacity);
}

static void fini(struct tool_net *n)
{
	mer_reference_fini(&((struct request *)n)->want);
	mer_reads_fini(&((struct request *)n)->reads);
}

static const struct tool_net_command command = {
    "mer",
    "Phase 1 of Meraculous: count all k-mers of a FASTA or FASTQ file, also as .gz, with the bases beside "
    "them, in a hash table that is spread over nodes. Every k-mer is an active message.",
    options,
    "FILE",
    "compare every entry with the counts of one thread, which sorts the k-mers",
    "entries are wrong",
    prepare,
    node,
    print,
    report,
    NULL,
    NULL,
    NULL,
    explain,
    fini};

int tool_mer(int argc, char **argv)
{
	return tool_net_main(&command, sizeof(struct request), argc, argv);
}
