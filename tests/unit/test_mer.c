/* SPDX-License-Identifier: Apache-2.0 */
/* k-mers over nodes are those that one thread counts, and sequences are read as they stand in their files. */
#include "test_spread_support.h"

#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "mer/mer.h"

/* ---- files ---- */

/* Read text as a file. */
static int read_text(struct mer_reads *r, const char *text, int gzipped, struct gn_error *e)
{
	char path[] = "/tmp/grapnel-mer-XXXXXX";
	const int fd = mkstemp(path);
	gzFile file = gzdopen(fd, gzipped ? "wb" : "wbT");
	int rc;

	assert_non_null(file);
	assert_int_equal(gzwrite(file, text, (unsigned)strlen(text)), strlen(text));
	gzclose(file);
	rc = mer_reads_load(r, path, e);
	unlink(path);
	return rc;
}

static void expect_bases(const char *text, int gzipped, uint64_t sequences, const char *bases)
{
	struct gn_error e = {0, ""};
	struct mer_reads r;

	if (read_text(&r, text, gzipped, &e))
		fail_msg("%s", e.text);
	assert_int_equal(r.sequences, sequences);
	assert_int_equal(r.count, strlen(bases));
	for (uint64_t k = 0; k < r.count; k++)
		assert_int_equal("ACGT."[r.base[k]], bases[k]);
	mer_reads_fini(&r);
}

static void files_are_read_as_they_stand(void **state)
{
	(void)state;
	for (int gzipped = 0; gzipped < 2; gzipped++) {
		expect_bases(">one two\nACGT\nacgu\n>three\nGNG\n", gzipped, 2, "ACGTACGT.G.G.");
		expect_bases(">crlf\r\nAC\r\n\r\nGT", gzipped, 1, "ACGT.");
		expect_bases("@a\nACG\n+\n@+>\n@b\nTT\n+b\n@@", gzipped, 2, "ACG.TT.");
		expect_bases("@lines\nAC\nGT\n+\n!!\n@!\n\n@none\n\n+\n\n", gzipped, 2, "ACGT..");
	}
}

static void expect_refusal(const char *text, const char *words)
{
	struct gn_error e = {0, ""};
	struct mer_reads r;

	assert_int_equal(read_text(&r, text, 0, &e), -GN_EBADMSG);
	if (!strstr(e.text, words))
		fail_msg("said \"%s\", wanted \"%s\"", e.text, words);
	mer_reads_fini(&r);
}

static void what_is_no_sequence_is_refused(void **state)
{
	struct gn_error e;
	struct mer_reads r;

	(void)state;
	expect_refusal("", "line 1");
	expect_refusal("ACGT\n", "line 1");
	expect_refusal(">a\nAC7T\n", "line 2");
	expect_refusal("@a\nACG\n+\n!!\n", "line 5");
	expect_refusal("@a\nACG\n+\n!!!!\n", "line 4");
	expect_refusal("@a\nACG\n", "line 3");
	expect_refusal("@a\nACG\n+\n!!!\n>b\nA\n", "begins with @");
	assert_int_equal(mer_reads_load(&r, "/nowhere/at/all.fa", &e), -GN_ENOENT);
	mer_reads_fini(&r);
}

static void a_cut_stream_is_refused(void **state)
{
	char path[] = "/tmp/grapnel-mer-XXXXXX", text[4000];
	const int fd = mkstemp(path);
	gzFile file = gzdopen(dup(fd), "wb");
	struct gn_error e = {0, ""};
	struct mer_reads r;

	(void)state;
	for (size_t k = 0; k < sizeof text; k++)
		text[k] = "ACGT"[k * k / 7 % 4];
	text[0] = '>';
	text[1] = '\n';
	gzwrite(file, text, sizeof text);
	gzclose(file);
	assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) - 9), 0);
	close(fd);
	assert_int_equal(mer_reads_load(&r, path, &e), -GN_EBADMSG);
	assert_non_null(strstr(e.text, "cut"));
	mer_reads_fini(&r);
	unlink(path);
}

/* ---- counting ---- */

struct trial {
	struct mer_reads reads;
	struct mer_reference want;
	uint32_t k;
	uint64_t capacity;
	int expected;
};

static int node_main(struct gn_net *net, void *argument)
{
	const struct trial *t = (const struct trial *)argument;
	struct mer_table *table;
	struct mer_result result;

	CHECK_EQUAL(mer_build(net, &t->reads, t->k, t->capacity, &table, &result, NULL), t->expected);
	if (t->expected)
		return 0;
	CHECK_EQUAL(result.kmers, t->want.kmers);
	CHECK_EQUAL(result.distinct, t->want.distinct);
	CHECK_EQUAL(mer_wrong(table, &t->want), 0);
	return 0;
}

static void run_all(struct trial *t)
{
	assert_int_equal(mer_reference_build(&t->want, &t->reads, t->k), 0);
	for (unsigned k = 0; k < SHAPES; k++)
		run_on(&shapes[k], mer_heap(t->capacity), node_main, t);
	mer_reference_fini(&t->want);
}

/* By hand: in ACGTT there are ACG (CGT on the other strand), CGT, GTT (AAC). */
static void three_mers_by_hand(void **state)
{
	static const struct mer_entry want[2] = {{1 + 1, 1, {0}, {0, 0, 0, 0}}, {1 + 6, 2, {0}, {0}}};
	struct gn_error e = {0, ""};
	struct trial t;

	(void)state;
	memset(&t, 0, sizeof t);
	t.k = 3;
	t.capacity = 64;
	assert_int_equal(read_text(&t.reads, ">x\nACGTT\n", 0, &e), 0);
	assert_int_equal(mer_reference_build(&t.want, &t.reads, 3), 0);
	assert_int_equal(t.want.kmers, 3);
	assert_int_equal(t.want.distinct, 2);
	for (unsigned k = 0; k < 2; k++) {
		assert_int_equal(t.want.entry[k].kmer, want[k].kmer);
		assert_int_equal(t.want.entry[k].count, want[k].count);
	}
	/*
	 * AAC: read as GTT with C before it, so G comes behind; nothing comes before, there the sequence
	 * ended
	 */
	assert_int_equal(t.want.entry[0].right[2], 1);
	assert_int_equal(t.want.entry[0].left[0] + t.want.entry[0].left[1] + t.want.entry[0].left[2] +
	                     t.want.entry[0].left[3],
	                 0);
	/*
	 * ACG: once with T behind it, once read as CGT with A before it and T behind it: A before, T behind
	 */
	assert_int_equal(t.want.entry[1].right[3], 2);
	assert_int_equal(t.want.entry[1].left[0], 1);
	mer_reference_fini(&t.want);
	run_all(&t);
	mer_reads_fini(&t.reads);
}

/* Pieces of a random genome, from either strand, with unknown bases here and there. */
static void draw_reads(struct trial *t)
{
	enum { GENOME = 700, READ = 60, READS = 60 };
	uint64_t x = 88172645463325252ull;
	char genome[GENOME], *text = (char *)malloc(READS * (READ + 4) + 1), *to = text;
	struct gn_error e = {0, ""};

	for (int k = 0; k < GENOME; k++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		genome[k] = "ACGT"[x % 4];
	}
	for (int r = 0; r < READS; r++) {
		const int at = (int)((x ^= x << 13, x ^= x >> 7, x ^= x << 17) % (GENOME - READ));

		to += sprintf(to, ">\n");
		for (int k = 0; k < READ; k++) {
			const char base = genome[r % 2 ? at + k : at + READ - 1 - k];

			*to++ = k == r && r % 4 == 0 ? 'N'
			        : r % 2              ? base
			                             : "TGCA"[strchr("ACGT", base) - "ACGT"];
		}
		*to++ = '\n';
	}
	*to = 0;
	assert_int_equal(read_text(&t->reads, text, 1, &e), 0);
	free(text);
}

static void kmers_are_those_that_sorting_counts(void **state)
{
	static const uint32_t ks[] = {3, 15, 31};
	struct trial t;

	(void)state;
	memset(&t, 0, sizeof t);
	draw_reads(&t);
	for (unsigned k = 0; k < sizeof ks / sizeof ks[0]; k++) {
		t.k = ks[k];
		t.capacity = 4096;
		run_all(&t);
	}
	mer_reads_fini(&t.reads);
}

/* Who reports it gives the numbers, which say whether k-mers were lost, doubled or spoilt. */
static void a_difference_is_said_with_its_numbers(void **state)
{
	const struct mer_result got = {0.5, 1000, 700, 3, 4, {0}};
	const struct mer_reference want = {NULL, 702, 1001};
	struct gn_error e = {0, ""};

	(void)state;
	assert_int_equal(mer_differs("reads.fa", 5, &got, &want, &e), -GN_EBADMSG);
	assert_non_null(strstr(e.text, "reads.fa: 5 entries of the table are wrong"));
	assert_non_null(strstr(e.text, "700 k-mers are distinct, by the reference 702"));
	assert_non_null(strstr(e.text, "1000 were sent, by the reference 1001"));
	assert_non_null(strstr(e.text, "please report it"));
}

static void a_full_table_is_said_on_all_nodes(void **state)
{
	struct trial t;

	(void)state;
	memset(&t, 0, sizeof t);
	draw_reads(&t);
	t.k = 15;
	t.capacity = 64;
	t.expected = -GN_ENOBUFS;
	run_all(&t);
	mer_reads_fini(&t.reads);
}

/* A sequence that is shorter than k, or than there are nodes. */
static void short_sequences_have_no_kmers(void **state)
{
	struct gn_error e = {0, ""};
	struct trial t;

	(void)state;
	memset(&t, 0, sizeof t);
	t.k = 5;
	t.capacity = 64;
	assert_int_equal(read_text(&t.reads, ">x\nACGT\n", 0, &e), 0);
	run_all(&t);
	mer_reads_fini(&t.reads);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(files_are_read_as_they_stand),
	    cmocka_unit_test(what_is_no_sequence_is_refused),
	    cmocka_unit_test(a_cut_stream_is_refused),
	    cmocka_unit_test(three_mers_by_hand),
	    cmocka_unit_test(kmers_are_those_that_sorting_counts),
	    cmocka_unit_test(a_difference_is_said_with_its_numbers),
	    cmocka_unit_test(a_full_table_is_said_on_all_nodes),
	    cmocka_unit_test(short_sequences_have_no_kmers),
	};

	few_cases("three_mers_by_hand");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
