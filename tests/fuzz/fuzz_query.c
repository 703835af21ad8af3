/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed text to the parser of expressions, as a condition and as a sum, over a table of a few rows: it refuses
 * it, or what it makes can be compiled, pruned and evaluated.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns/write.h"
#include "fuzz.h"
#include "query/query.h"

static struct gn_table_file table;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct gn_column columns[] = {
	    {"i", GN_COLUMN_I32}, {"m", GN_COLUMN_DECIMAL, 2}, {"d", GN_COLUMN_F64}, {"w", GN_COLUMN_STRING}};
	char path[] = "/tmp/grapnel-fuzz-XXXXXX";
	struct gn_table_writer *w;
	union gn_value word;

	(void)argc;
	(void)argv;
	FUZZ_REQUIRE(!close(mkstemp(path)));
	FUZZ_REQUIRE(!gn_table_writer_begin(&w, path, columns, 4, 20, NULL));
	FUZZ_REQUIRE(!gn_table_word(w, 3, "x", 1, &word, NULL));
	for (int k = 0; k < 20; k++) {
		struct gn_cell cell[4] = {{k == 3, {k}}, {k == 4, {k * 55}}, {k == 5, {0}}, {k % 2, {0}}};

		cell[2].value.real = k / 3.0;
		FUZZ_REQUIRE(!gn_table_writer_row(w, cell, NULL));
	}
	FUZZ_REQUIRE(!gn_table_writer_end(w, NULL));
	FUZZ_REQUIRE(!gn_table_open(&table, path, NULL));
	unlink(path);
	return 0;
}

static int prepare(struct gn_query *q, const char *text, int as_condition, struct gn_error *e)
{
	int rc = gn_query_begin(q, &table, as_condition ? text : NULL, e);

	if (!rc && !as_condition)
		rc = gn_query_aggregate(q, GN_WANT_SUM, text, e);
	return rc ? rc : gn_query_ready(q, e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	for (int as_condition = 0; as_condition < 2; as_condition++) {
		struct gn_query_result result = {0};
		struct gn_error e = {0};
		struct gn_query q;
		int rc = prepare(&q, text, as_condition, &e);

		FUZZ_REQUIRE(!rc || (rc == e.code && e.text[0]));
		if (!rc)
			rc = gn_query_reference(&q, &result, NULL, &e);
		FUZZ_REQUIRE(!rc || rc == -GN_EINVAL || rc == -GN_ERANGE);
		/* no row of a zone that was skipped may match */
		FUZZ_REQUIRE(rc || q.zone_count || !result.rows);
		gn_query_result_free(&result);
		gn_query_end(&q);
	}
	free(text);
	return 0;
}
