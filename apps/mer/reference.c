/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "mer/mer.h"

/* One k-mer of the sequences, and the bases beside it. */
struct occurrence {
	uint64_t kmer;
	uint8_t left, right;
};

/* The bases, each complemented if wanted, as a number that compares as their letters do. */
static uint64_t number(const uint8_t *base, uint32_t k, int other_strand)
{
	uint64_t value = 0;

	for (uint32_t j = 0; j < k; j++)
		value = 4 * value + (other_strand ? 3u - base[k - 1 - j] : base[j]);
	return value;
}

static uint8_t beside(const struct mer_reads *r, uint64_t at, int known, int other_strand)
{
	if (!known || r->base[at] == MER_BREAK)
		return MER_BREAK;
	return other_strand ? (uint8_t)(3 - r->base[at]) : r->base[at];
}

static struct occurrence occurrence_at(const struct mer_reads *r, uint64_t at, uint32_t k)
{
	const int other = number(r->base + at, k, 1) < number(r->base + at, k, 0);
	const uint8_t before = beside(r, at - 1, at > 0, other),
	              behind = beside(r, at + k, at + k < r->count, other);
	struct occurrence o;

	memset(&o, 0, sizeof o);
	o.kmer = number(r->base + at, k, other);
	o.left = other ? behind : before;
	o.right = other ? before : behind;
	return o;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t x = ((const struct occurrence *)a)->kmer, y = ((const struct occurrence *)b)->kmer;

	return x < y ? -1 : x > y;
}

static uint64_t list(const struct mer_reads *r, uint32_t k, struct occurrence *o)
{
	uint64_t count = 0;

	for (uint64_t at = 0; at + k <= r->count; at++)
		if (!memchr(r->base + at, MER_BREAK, k))
			o[count++] = occurrence_at(r, at, k);
	return count;
}

/* Equal k-mers lie side by side. */
static void count_up(struct mer_reference *r, const struct occurrence *o)
{
	struct mer_entry *e = r->entry;

	for (uint64_t j = 0; j < r->kmers; j++) {
		if (!j || o[j].kmer != o[j - 1].kmer) {
			e = &r->entry[r->distinct++];
			memset(e, 0, sizeof *e);
			e->kmer = o[j].kmer + 1;
		}
		e->count++;
		if (o[j].left != MER_BREAK)
			e->left[o[j].left]++;
		if (o[j].right != MER_BREAK)
			e->right[o[j].right]++;
	}
}

int mer_reference_build(struct mer_reference *r, const struct mer_reads *reads, uint32_t k)
{
	struct occurrence *o = (struct occurrence *)malloc((reads->count + 1) * sizeof *o);
	int rc = -GN_ENOMEM;

	memset(r, 0, sizeof *r);
	if (o) {
		r->kmers = list(reads, k, o);
		qsort(o, r->kmers, sizeof *o, ascending);
		r->entry = (struct mer_entry *)malloc((r->kmers + 1) * sizeof *r->entry);
	}
	if (r->entry) {
		count_up(r, o);
		rc = 0;
	}
	free(o);
	return rc;
}

void mer_reference_fini(struct mer_reference *r)
{
	free(r->entry);
	memset(r, 0, sizeof *r);
}

static const struct mer_entry *look_up(const struct mer_reference *r, uint64_t kmer)
{
	uint64_t low = 0, high = r->distinct;

	while (low < high) {
		const uint64_t middle = low + (high - low) / 2;

		if (r->entry[middle].kmer < kmer)
			low = middle + 1;
		else
			high = middle;
	}
	return low < r->distinct && r->entry[low].kmer == kmer ? &r->entry[low] : NULL;
}

uint64_t mer_wrong(const struct mer_table *table, const struct mer_reference *r)
{
	uint64_t wrong = 0;

	for (uint64_t k = 0; k < table->capacity; k++) {
		const struct mer_entry *got = &table->entry[k],
		                       *want = got->kmer ? look_up(r, got->kmer) : NULL;

		wrong += got->kmer &&
		         (!want || memcmp(got, want, offsetof(struct mer_entry, right) + sizeof got->right));
	}
	return wrong;
}

int mer_differs(const char *path, uint64_t wrong, const struct mer_result *got,
                const struct mer_reference *want, struct gn_error *error)
{
	return gn_error_set(
	    error, -GN_EBADMSG,
	    "%s: %llu entries of the table are wrong; %llu k-mers are distinct, by the reference %llu; "
	    "%llu were sent, by the reference %llu; this is a bug, please report it",
	    path, (unsigned long long)wrong, (unsigned long long)got->distinct,
	    (unsigned long long)want->distinct, (unsigned long long)got->kmers,
	    (unsigned long long)want->kmers);
}
