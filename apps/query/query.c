/* SPDX-License-Identifier: Apache-2.0 */
/* From texts to programs, groups and zones. */
#include "graph/graph.h"
#include "query.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct gn_error *e)
{
	return gn_error_set(e, -GN_ENOMEM, "query: out of memory");
}

int gn_query_begin(struct gn_query *q, const struct gn_table_file *table, const char *where,
                   struct gn_error *e)
{
	int rc;

	memset(q, 0, sizeof *q);
	q->table = table;
	q->groups = 1;
	q->in_where = (unsigned char *)calloc(table->column_count, 1);
	if (!q->in_where)
		return no_memory(e);
	if (!where)
		return 0;
	q->where = (struct gn_expression *)malloc(sizeof *q->where);
	if (!q->where)
		return no_memory(e);
	rc = gn_expression_parse(q->where, table, where, "where", e);
	if (!rc && q->where->node[q->where->root].type != GN_TYPE_TRUTH)
		rc = gn_error_set(e, -GN_EINVAL,
		                  "where: \"%.200s\" is no condition; compare it with something", where);
	if (!rc)
		gn_expression_uses(q->where, q->in_where);
	return rc;
}

/* ---- aggregates ---- */

static enum gn_node_type type_of(const struct gn_expression *x)
{
	return x->node[x->root].type;
}

static int check_type(const struct gn_expression *x, enum gn_aggregate what, struct gn_error *e)
{
	if (type_of(x) == GN_TYPE_EXACT || type_of(x) == GN_TYPE_REAL)
		return 0;
	if (what == GN_WANT_COUNT && x->node[x->root].kind != GN_NODE_TEXT)
		return 0;
	return gn_error_set(e, -GN_EINVAL,
	                    "%s: \"%.200s\" is %s, which is no number; only count takes others", x->what,
	                    x->text, type_of(x) == GN_TYPE_TEXT ? "text" : "a condition");
}

static const char *name_of(enum gn_aggregate what)
{
	return what == GN_WANT_SUM   ? "sum"
	       : what == GN_WANT_AVG ? "avg"
	       : what == GN_WANT_MIN ? "min"
	       : what == GN_WANT_MAX ? "max"
	                             : "count";
}

static int add_slot(struct gn_query *q, enum gn_aggregate what, const char *text, struct gn_error *e)
{
	struct gn_query_slot *slot;

	if (q->slots == GN_QUERY_SLOTS)
		return gn_error_set(e, -GN_EINVAL,
		                    "query: more than %d expressions; ask for the others in a second query",
		                    (int)GN_QUERY_SLOTS);
	slot = (struct gn_query_slot *)calloc(1, sizeof *slot);
	if (!slot)
		return no_memory(e);
	q->slot[q->slots++] = slot;
	return gn_expression_parse(&slot->expression, q->table, text, name_of(what), e);
}

int gn_query_aggregate(struct gn_query *q, enum gn_aggregate what, const char *text, struct gn_error *e)
{
	uint32_t k = 0;
	int rc = 0;

	while (k < q->slots && strcmp(q->slot[k]->expression.text, text) != 0)
		k++;
	if (k == q->slots)
		rc = add_slot(q, what, text, e);
	if (!rc)
		rc = check_type(&q->slot[k]->expression, what, e);
	if (!rc)
		q->slot[k]->aggregates |= what;
	return rc;
}

/* ---- groups ---- */

static int find_range(struct gn_query *q, const struct gn_column *c, int64_t *least, int64_t *most,
                      struct gn_error *e)
{
	struct gn_zone *zones;
	int rc = gn_table_zones(q->table, c, &zones, e), any = 0;

	if (rc)
		return rc;
	*least = *most = 0;
	q->map_bytes += c->zones.bytes;
	for (uint64_t k = 0; k < gn_table_zone_count(q->table); k++) {
		if (!zones[k].present)
			continue;
		*least = !any || zones[k].least.exact < *least ? zones[k].least.exact : *least;
		*most = !any || zones[k].most.exact > *most ? zones[k].most.exact : *most;
		any = 1;
	}
	free(zones);
	/* a file that is trusted may be damaged */
	if (c->type == GN_COLUMN_STRING && any && *most >= (int64_t)c->words)
		return gn_error_set(e, -GN_EBADMSG,
		                    "group-by: the zone maps of column %s have strings that are not in its "
		                    "dictionary; the file is damaged, convert the table again",
		                    c->name);
	return 0;
}

int gn_query_group(struct gn_query *q, const char *column, struct gn_error *e)
{
	/* the parser knows how to say which columns there are */
	struct gn_query_slot slot;
	const struct gn_column *c;
	int64_t least = 0, most = 0;
	int rc = gn_expression_parse(&slot.expression, q->table, column, "group-by", e);

	if (rc)
		return rc;
	if (slot.expression.node[slot.expression.root].kind != GN_NODE_COLUMN)
		return gn_error_set(e, -GN_EINVAL, "group-by: \"%.200s\" is no column; give one", column);
	q->group = slot.expression.node[slot.expression.root].column;
	c = &q->table->columns[q->group];
	if (gn_column_is_real(c->type))
		return gn_error_set(e, -GN_EINVAL, "group-by: column %s holds %s; give one that is exact",
		                    c->name, gn_column_type_name(c->type));
	rc = find_range(q, c, &least, &most, e);
	if (rc)
		return rc;
	if (c->type == GN_COLUMN_STRING && (uint64_t)most - (uint64_t)least >= GN_QUERY_MOST_GROUPS)
		return gn_error_set(e, -GN_EINVAL,
		                    "group-by: column %s has up to %llu different strings; at most %d can be "
		                    "grouped",
		                    c->name, (unsigned long long)most - (unsigned long long)least + 1,
		                    GN_QUERY_MOST_GROUPS);
	if ((uint64_t)most - (uint64_t)least >= GN_QUERY_MOST_GROUPS)
		return gn_error_set(e, -GN_EINVAL,
		                    "group-by: column %s has values from %lld to %lld (without its point); "
		                    "they may be at most %d apart",
		                    c->name, (long long)least, (long long)most, GN_QUERY_MOST_GROUPS - 1);
	q->has_group = 1;
	q->group_base = least;
	q->groups = (uint64_t)(most - least) + 2;
	return 0;
}

/* ---- zones ---- */

static int load_maps(struct gn_query *q, struct gn_zone **maps, struct gn_error *e)
{
	int rc = 0;

	for (uint32_t k = 0; !rc && k < q->table->column_count; k++) {
		if (!q->in_where[k])
			continue;
		rc = gn_table_zones(q->table, &q->table->columns[k], &maps[k], e);
		q->map_bytes += q->table->columns[k].zones.bytes;
	}
	return rc;
}

static void choose_zones(struct gn_query *q, struct gn_zone *const *maps, const struct gn_zone **at)
{
	const uint64_t all = gn_table_zone_count(q->table);

	for (uint64_t z = 0; z < all; z++) {
		const uint64_t left = q->table->rows - z * GN_COLUMN_ZONE_ROWS;

		for (uint32_t k = 0; k < q->table->column_count; k++)
			at[k] = maps[k] ? &maps[k][z] : NULL;
		if (!q->where ||
		    gn_expression_may(q->where, q->table, at, gn__min_u64(left, GN_COLUMN_ZONE_ROWS)).yes)
			q->zones[q->zone_count++] = z;
	}
}

/* Pages of the condition's columns, and those of them that no zone is left of. */
static void count_pages(struct gn_query *q)
{
	for (uint32_t k = 0; k < q->table->column_count; k++) {
		const uint64_t width = gn_column_width(q->table->columns[k].type);
		const uint64_t all = (q->table->rows * width + GN_TABLE_FILE_PAGE - 1) / GN_TABLE_FILE_PAGE;
		uint64_t read = 0, last = UINT64_MAX;

		if (!q->in_where[k])
			continue;
		for (uint64_t z = 0; z < q->zone_count; z++) {
			const uint64_t page = q->zones[z] * GN_COLUMN_ZONE_ROWS * width / GN_TABLE_FILE_PAGE;

			read += page != last;
			last = page;
		}
		q->pages += all;
		q->pages_skipped += all - read;
	}
}

static int find_zones(struct gn_query *q, struct gn_error *e)
{
	const uint32_t columns = q->table->column_count;
	struct gn_zone **maps = (struct gn_zone **)calloc(columns, sizeof *maps);
	const struct gn_zone **at = (const struct gn_zone **)calloc(columns, sizeof *at);
	int rc;

	q->zones = (uint64_t *)malloc((gn_table_zone_count(q->table) + 1) * sizeof *q->zones);
	rc = maps && at && q->zones ? load_maps(q, maps, e) : no_memory(e);
	if (!rc) {
		choose_zones(q, maps, at);
		count_pages(q);
	}
	for (uint32_t k = 0; maps && k < columns; k++)
		free(maps[k]);
	free(maps);
	free(at);
	return rc;
}

int gn_query_ready(struct gn_query *q, struct gn_error *e)
{
	int rc = q->where ? gn_expression_compile(q->where, &q->compiler, &q->where_program, e) : 0;

	for (uint32_t k = 0; !rc && k < q->slots; k++)
		rc = gn_expression_compile(&q->slot[k]->expression, &q->compiler, &q->slot_program[k], e);
	if (!rc && q->has_group && gn_compiler_column(&q->compiler, q->group) < 0)
		rc = gn_error_set(e, -GN_EINVAL, "query: it reads more than %d columns",
		                  (int)GN_QUERY_COLUMNS);
	return rc ? rc : find_zones(q, e);
}

void gn_query_end(struct gn_query *q)
{
	for (uint32_t k = 0; k < q->slots; k++)
		free(q->slot[k]);
	free(q->where);
	free(q->in_where);
	free(q->zones);
	memset(q, 0, sizeof *q);
}
