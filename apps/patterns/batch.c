/* SPDX-License-Identifier: Apache-2.0 */
#include "batch.h"

#include <string.h>

enum { MOST_WORDS = 64 << 20 }; /* of a batch's rows */

int gn_pattern_batch_open(struct gn_pattern_batch *b, struct simt_machine *machine,
                          const struct gn_pattern_list *list, const struct gn_pattern_args *args,
                          struct gn_error *error)
{
	struct gn_batch *rows = &b->rows;

	b->machine = machine;
	b->all = list->share_words ? args->touches / list->share_words : args->words / GN_PATTERN_ROW_WORDS;
	rows->elements = list->elements;
	rows->count = b->all < MOST_WORDS / list->elements ? b->all : MOST_WORDS / list->elements;
	rows->index =
	    (const uint64_t *)simt_alloc(machine, rows->count * sizeof(uint64_t), SIMT_DEVICE, error);
	rows->rows = simt_alloc(machine, rows->count * rows->elements * 4, SIMT_DEVICE, error);
	if (!rows->index || !rows->rows)
		return gn_error_set(error, -GN_ENOMEM,
		                    "patterns: out of memory for batches of %llu rows of %u bytes",
		                    (unsigned long long)rows->count, 4 * rows->elements);
	return gn_gather_create(&b->gather, machine, rows->count, error);
}

void gn_pattern_batch_close(struct gn_pattern_batch *b)
{
	gn_gather_destroy(b->gather);
	simt_free(b->machine, (void *)(uintptr_t)b->rows.index);
	simt_free(b->machine, b->rows.rows);
}

static int launch(struct gn_pattern_batch *b, const struct simt_kernel *kernel, struct simt_grid grid,
                  const struct gn_pattern_args *args, struct gn_error *error)
{
	const int rc = simt_launch(b->machine, kernel, grid, args, error);

	return gn_error_prefix(error, rc, "%s", kernel->name);
}

/* One batch: everything is launched, nothing is waited for. */
static int launch_one(struct gn_pattern_batch *b, const struct gn_pattern *p, struct simt_grid grid,
                      struct gn_pattern_args *args, struct gn_error *error)
{
	int rc = launch(b, p->list->fill, grid, args, error);

	if (!rc)
		rc = gn_gather_rows(b->gather, &args->array, &args->batch, error);
	if (!rc)
		rc = launch(b, p->writes ? &gn_pattern_bump_kernel : &gn_pattern_compare_kernel, grid, args,
		            error);
	if (!rc && p->writes)
		rc = gn_scatter_rows(b->gather, &args->array, &args->batch, error);
	return rc;
}

int gn_pattern_batch_launch(struct gn_pattern_batch *b, const struct gn_pattern *pattern,
                            struct simt_grid grid, struct gn_pattern_args *args, struct gn_error *error)
{
	int rc = 0;

	args->batch = b->rows;
	for (args->first = 0; args->first < b->all && !rc; args->first += b->rows.count) {
		const uint64_t rest = b->all - args->first;

		args->batch.count = rest < b->rows.count ? rest : b->rows.count;
		rc = launch_one(b, pattern, grid, args, error);
	}
	if (rc)
		return rc;
	rc = simt_wait(b->machine, error);
	return gn_error_prefix(error, rc, "%s as batches", pattern->name);
}
