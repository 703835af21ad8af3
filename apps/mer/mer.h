/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mer.h - phase 1 of Meraculous: all k-mers of sequences in a hash table that is spread over nodes.
 *
 * A k-mer is k bases in a row, two bits each, the first the highest. Which strand of the double helix was
 * read is not known, so a k-mer and its reverse complement are one, under the smaller number (k is odd: no
 * k-mer is its own reverse complement). With each go its two neighbouring bases; that is what phase 2 walks
 * along. Threads go over the sequences and send every k-mer by an active message to the node that its hash
 * names, whose network thread counts it: one after the other, so the table needs no locks.
 */
#ifndef GN_MER_MER_H
#define GN_MER_MER_H

#include <grapnel/net.h>

#include "mer/reads.h"

enum { MER_MOST_K = 31 };

struct mer_entry {
	uint64_t kmer;     /* and 1; 0: the entry is free */
	uint32_t count;    /* how often it was read */
	uint32_t left[4];  /* how often this base was before it */
	uint32_t right[4]; /* how often this base was behind it */
};

/* A node's part, in its symmetric memory: open addressing, the next entry if one is taken. */
struct mer_table {
	struct mer_entry *entry;
	uint64_t capacity; /* a power of two; filled to 7/8 */
	uint64_t used;
	uint64_t lost; /* k-mers that found no place */
};

/* Of all nodes, but stats. */
struct mer_result {
	double seconds;
	uint64_t kmers; /* sent */
	uint64_t distinct;
	uint64_t once;   /* of the distinct ones: read once only */
	uint64_t unique; /* of the distinct ones: one base only was ever before it and one behind it */
	struct gn_net_statistics stats; /* of this node */
};

/*
 * mer_heap - bytes that mer_build wants of a node's heap, and as many of its shared memory, for a table of so
 * many entries.
 */
uint64_t mer_heap(uint64_t capacity);

/*
 * mer_build - all nodes call it with the same sequences, once a run.
 * @reads     borrowed until return; each node goes over its share
 * @k         odd, 3 to MER_MOST_K
 * @capacity  entries of a node's table, a power of two
 * @table     receives the node's part; it stays until the run ends
 * Returns 0, -GN_ENOBUFS (the table of a node was full; on all nodes), -GN_ENOMEM, the machine's or the
 * network's code.
 */
int mer_build(struct gn_net *net, const struct mer_reads *reads, uint32_t k, uint64_t capacity,
              struct mer_table **table, struct mer_result *result, struct gn_error *error);

/* What one thread counts: the distinct k-mers, ascending. */
struct mer_reference {
	struct mer_entry *entry;
	uint64_t distinct, kmers;
};

/* mer_reference_build - count by sorting. Returns 0 or -GN_ENOMEM; fini it. */
int mer_reference_build(struct mer_reference *r, const struct mer_reads *reads, uint32_t k);
void mer_reference_fini(struct mer_reference *r);

/* mer_wrong - entries of a table that the reference has not, or has otherwise. */
uint64_t mer_wrong(const struct mer_table *table, const struct mer_reference *r);

/*
 * mer_differs - the message about a table that is not the reference's.
 * @path   of the sequences
 * @wrong  entries, of all nodes, by mer_wrong
 * Returns -GN_EBADMSG.
 */
int mer_differs(const char *path, uint64_t wrong, const struct mer_result *got,
                const struct mer_reference *want, struct gn_error *error);

#endif
