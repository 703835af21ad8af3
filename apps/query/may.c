/* SPDX-License-Identifier: Apache-2.0 */
/* What zone maps say of a condition: comparisons of a column with a constant, joined by and, or, not. */
#include "columns/values.h"
#include "expression.h"

struct zone_view {
	const struct gn_expression *x;
	const struct gn_table_file *table;
	const struct gn_zone *const *zones;
	uint64_t rows;
};

static const struct gn_may anything = {1, 1};

/* -1, 0 or 1: which of a value of a column and of a number is greater. */
static int compare(const struct gn_node *column, union gn_value a, const struct gn_node *number)
{
	double x = a.real, y = number->value.real;

	if (column->type != GN_TYPE_REAL && number->type != GN_TYPE_REAL) {
		const __int128 l = (__int128)a.exact * gn_power_of_ten(number->scale);
		const __int128 r = (__int128)number->value.exact * gn_power_of_ten(column->scale);

		return (l > r) - (l < r);
	}
	if (column->type != GN_TYPE_REAL)
		x = (double)a.exact / (double)gn_power_of_ten(column->scale);
	if (number->type != GN_TYPE_REAL)
		y = (double)number->value.exact / (double)gn_power_of_ten(number->scale);
	return (x > y) - (x < y);
}

uint32_t gn_relation_mirrored(uint32_t relation)
{
	return (relation & GN_EQUAL) | (relation & GN_LESS ? (uint32_t)GN_GREATER : 0) |
	       (relation & GN_GREATER ? (uint32_t)GN_LESS : 0);
}

static struct gn_may may_compare(const struct zone_view *v, const struct gn_node *n)
{
	const struct gn_node *l = &v->x->node[n->left], *r = &v->x->node[n->right];
	const int swapped = l->kind != GN_NODE_COLUMN;
	const struct gn_node *column = swapped ? r : l, *number = swapped ? l : r;
	const uint32_t relation = swapped ? gn_relation_mirrored(n->relation) : n->relation;
	const struct gn_zone *zone;
	uint32_t possible = 0;
	struct gn_may may = {0, 0};

	if (column->kind != GN_NODE_COLUMN || !v->zones[column->column] ||
	    (number->kind != GN_NODE_NUMBER && number->kind != GN_NODE_TEXT))
		return anything;
	zone = v->zones[column->column];
	if (!zone->present)
		return may;
	if (compare(column, zone->least, number) < 0)
		possible |= GN_LESS;
	if (compare(column, zone->most, number) > 0)
		possible |= GN_GREATER;
	if (compare(column, zone->least, number) <= 0 && compare(column, zone->most, number) >= 0)
		possible |= GN_EQUAL;
	may.yes = (possible & relation) != 0;
	may.no = (possible & ~relation) != 0;
	return may;
}

static struct gn_may may_be_null(const struct zone_view *v, const struct gn_node *n)
{
	const struct gn_node *l = &v->x->node[n->left];
	struct gn_may may = anything;

	if (l->kind == GN_NODE_COLUMN && v->zones[l->column]) {
		may.yes = v->zones[l->column]->present < v->rows;
		may.no = v->zones[l->column]->present > 0;
	}
	return may;
}

static struct gn_may may_be(const struct zone_view *v, uint32_t k)
{
	const struct gn_node *n = &v->x->node[k];
	struct gn_may a, b, both;

	switch (n->kind) {
	case GN_NODE_COMPARE: return may_compare(v, n);
	case GN_NODE_IS_NULL: return may_be_null(v, n);
	case GN_NODE_NOT:
		a = may_be(v, n->left);
		both.yes = a.no;
		both.no = a.yes;
		return both;
	case GN_NODE_AND:
	case GN_NODE_OR:
		a = may_be(v, n->left);
		b = may_be(v, n->right);
		both.yes = n->kind == GN_NODE_AND ? a.yes && b.yes : a.yes || b.yes;
		both.no = n->kind == GN_NODE_AND ? a.no || b.no : a.no && b.no;
		return both;
	default: return anything;
	}
}

struct gn_may gn_expression_may(const struct gn_expression *x, const struct gn_table_file *table,
                                const struct gn_zone *const *zones, uint64_t rows)
{
	const struct zone_view v = {x, table, zones, rows};

	return may_be(&v, x->root);
}
