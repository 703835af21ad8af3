/* SPDX-License-Identifier: Apache-2.0 */
/*
 * grapnel gather: what a batch of rows costs, beside the same rows read as they come and beside the link.
 *
 * For each size of a row and each draw, one batch of row numbers is read in four ways: as they come by plain
 * loads from the store, each row once in order of addresses (the limit of what order can give), by
 * gn_gather_rows and by gn_gather_grid. A smaller batch is changed by gn_scatter_rows and read back by
 * gn_gather_block. Every word that was gathered is compared; one that is wrong makes the run fail.
 */
#include <stdlib.h>
#include <string.h>

#include "gather.h"

enum {
	OPT_DATA = 256,
	OPT_CACHE,
	OPT_PAGE,
	OPT_TABLE,
	OPT_ROWS,
	OPT_COUNT,
	OPT_OUT,
	OPT_DRAW,
	OPT_THETA,
	OPT_REPEAT,
	OPT_JSON
};

static const struct argp_option options[] = {
    {"data", OPT_DATA, "SIZE", 0, "how much there is, in host memory (default 256M)", 0},
    {"cache", OPT_CACHE, "SIZE", 0, "bytes of cache (default one tenth of the data)", 0},
    {"page", OPT_PAGE, "SIZE", 0, "page size, a power of two from 512 to 2M (default as tuned, else 4K)", 0},
    {"table", OPT_TABLE, "NAME", 0, "auto, direct or sets (default auto)", 0},
    {"rows", OPT_ROWS, "SIZES", 0,
     "bytes of a row, a multiple of 4; several with commas (default 4,64,512,1024)", 0},
    {"count", OPT_COUNT, "N", 0, "rows of a batch (default one for every 256 bytes of the data)", 0},
    {"out", OPT_OUT, "SIZE", 0,
     "most bytes of a batch's rows; fewer rows if need be (default half of the data)", 0},
    {"draw", OPT_DRAW, "NAME", 0, "uniform, zipf or both (default both)", 0},
    {"theta", OPT_THETA, "X", 0, "exponent of zipf, below 1 (default 0.99)", 0},
    {"repeat", OPT_REPEAT, "N", 0, "runs of each; the median counts (default 3)", 0},
    {"json", OPT_JSON, "FILE", 0, "write the result as JSON; - for standard output, without the table", 0},
    {0},
};

static void sizes_option(const struct argp_state *state, struct gather_request *q, const char *text)
{
	char *copy = strdup(text), *rest = NULL;

	q->sizes = 0;
	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		const uint64_t bytes = tool_size(state, "--rows", word, 1);

		if (q->sizes == GATHER_SIZES || bytes % 4 || bytes > 1 << 20)
			argp_error(state, "--rows %s: up to %d multiples of 4, each 1M at most", text,
			           GATHER_SIZES);
		q->row_bytes[q->sizes++] = (uint32_t)bytes;
	}
	free(copy);
}

static double theta_option(const struct argp_state *state, const char *text)
{
	char *end;
	const double theta = strtod(text, &end);

	if (*end || !(theta > 0 && theta < 1))
		argp_error(state, "--theta %s: not a number between 0 and 1", text);
	return theta;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	static const char *const draws[] = {"both", "uniform", "zipf", NULL};
	struct gather_request *q = (struct gather_request *)state->input;

	switch (key) {
	case ARGP_KEY_INIT: state->child_inputs[0] = &q->machine; return 0;
	case OPT_DATA: q->data_bytes = tool_size(state, "--data", arg, 1); return 0;
	case OPT_CACHE: q->cache_bytes = tool_size(state, "--cache", arg, 1); return 0;
	case OPT_PAGE: q->page_bytes = tool_page(state, "--page", arg); return 0;
	case OPT_TABLE:
		q->table = (enum gn_cache_table)tool_word(state, "--table", arg, tool_tables);
		return 0;
	case OPT_ROWS: sizes_option(state, q, arg); return 0;
	case OPT_COUNT: q->count = tool_number(state, "--count", arg, 1, UINT32_MAX); return 0;
	case OPT_OUT: q->out_bytes = tool_size(state, "--out", arg, 1); return 0;
	case OPT_DRAW: q->draws = tool_word(state, "--draw", arg, draws); return 0;
	case OPT_THETA: q->theta = theta_option(state, arg); return 0;
	case OPT_REPEAT:
		q->repeat = (unsigned)tool_number(state, "--repeat", arg, 1, GATHER_REPEAT);
		return 0;
	case OPT_JSON: q->json = arg; return 0;
	case ARGP_KEY_ARG: argp_error(state, "%s: no argument is wanted, only options", arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    options,
    parse,
    NULL,
    "Measure batches of rows beside reading them as they come.\vEvery word gathered is checked. Exit status: "
    "0 it went "
    "well, 1 the run failed or a word was wrong, 2 it was called wrongly.",
    tool_machine_child,
    NULL,
    NULL,
};

static void standard(struct gather_request *q)
{
	static const uint32_t row_bytes[] = {4, 64, 512, 1024};

	memset(q, 0, sizeof *q);
	q->machine.name = "cpu";
	q->data_bytes = 256u << 20;
	q->sizes = sizeof row_bytes / sizeof row_bytes[0];
	memcpy(q->row_bytes, row_bytes, sizeof row_bytes);
	q->repeat = 3;
	q->theta = 0.99;
}

/* What was left open depends on the data. */
static void complete(struct gather_request *q)
{
	tool_tuned_defaults("gather", q->machine.name, &q->page_bytes, NULL, NULL);
	if (!q->page_bytes)
		q->page_bytes = 4096;
	if (!q->cache_bytes)
		q->cache_bytes = q->data_bytes / 10;
	if (!q->count)
		q->count = q->data_bytes / 256 ? q->data_bytes / 256 : 1;
	if (!q->out_bytes)
		q->out_bytes = q->data_bytes / 2;
}

int tool_gather(int argc, char **argv)
{
	struct gather_request q;
	struct gather_bench b;
	struct gn_error e;
	int rc;

	memset(&b, 0, sizeof b);
	memset(&e, 0, sizeof e);
	standard(&q);
	argp_parse(&argp, argc, argv, 0, NULL, &q);
	complete(&q);
	b.q = &q;
	rc = gather_run(&b, &e);
	if (!rc && q.json)
		rc = gather_write_json(&b, &e);
	if (!rc && !tool_to_stdout(q.json))
		gather_print(&b);
	gather_close(&b);
	return rc ? tool_fail("gather", &e) : TOOL_OK;
}
