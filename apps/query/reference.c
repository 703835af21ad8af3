/* SPDX-License-Identifier: Apache-2.0 */
/* Row by row on the host: the expression's own nodes, with numbers of 128 bits between them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "columns/values.h"
#include "graph/graph.h"
#include "graph/io.h"
#include "query.h"

enum { PART_ROWS = 1 << 14 };

/* A value of a node. */
struct value {
	int missing;
	__int128 exact; /* also a condition, and a string's place */
	double real;
};

struct reading {
	const struct gn_query *q;
	void **values;  /* by the table's columns: PART_ROWS of them, or NULL */
	uint64_t first; /* row of the first */
	uint64_t row;
	struct gn_query_result *result;
	int overflow;
	struct gn_error *e;
};

static int64_t narrow(struct reading *r, __int128 value)
{
	r->overflow |= value != (int64_t)value;
	return (int64_t)value;
}

static double checked(struct reading *r, double value)
{
	r->overflow |= !isfinite(value);
	return value;
}

static double as_real(const struct gn_node *n, const struct value *v)
{
	return n->type == GN_TYPE_REAL ? v->real
	                               : (double)(int64_t)v->exact / (double)gn_power_of_ten(n->scale);
}

/* With more decimal places. */
static __int128 scaled(struct reading *r, const struct gn_node *n, const struct value *v, uint32_t scale)
{
	return narrow(r, v->exact * gn_power_of_ten(scale - n->scale));
}

static struct value value_of_column(const struct reading *r, uint32_t column)
{
	const uint32_t type = r->q->table->columns[column].type;
	struct value v = {0};
	union gn_value raw;

	v.missing = !gn_column_value(type, r->values[column], r->row - r->first, &raw);
	if (gn_column_is_real(type))
		v.real = raw.real;
	else
		v.exact = raw.exact;
	return v;
}

static struct value number_of(const struct gn_node *n)
{
	struct value v = {0};

	if (n->type == GN_TYPE_REAL)
		v.real = n->value.real;
	else
		v.exact = n->value.exact;
	return v;
}

static void calculate_exact(struct reading *r, const struct gn_node *n, const struct gn_node *l,
                            const struct value *a, const struct gn_node *k, const struct value *b,
                            struct value *v)
{
	if (n->kind == GN_NODE_MULTIPLY)
		v->exact = narrow(r, a->exact * b->exact);
	else if (n->kind == GN_NODE_ADD)
		v->exact = narrow(r, scaled(r, l, a, n->scale) + scaled(r, k, b, n->scale));
	else
		v->exact = narrow(r, scaled(r, l, a, n->scale) - scaled(r, k, b, n->scale));
}

static void calculate_real(struct reading *r, const struct gn_node *n, double a, double b, struct value *v)
{
	if (n->kind == GN_NODE_ADD)
		v->real = checked(r, a + b);
	else if (n->kind == GN_NODE_SUBTRACT)
		v->real = checked(r, a - b);
	else if (n->kind == GN_NODE_MULTIPLY)
		v->real = checked(r, a * b);
	else if (b == 0)
		v->missing = 1;
	else
		v->real = checked(r, a / b);
}

static struct value evaluate(struct reading *r, const struct gn_expression *x, uint32_t k);

static struct value arithmetic(struct reading *r, const struct gn_expression *x, const struct gn_node *n)
{
	const struct gn_node *l = &x->node[n->left], *k = &x->node[n->right];
	const struct value a = evaluate(r, x, n->left), b = evaluate(r, x, n->right);
	struct value v = {0};

	v.missing = a.missing || b.missing;
	if (v.missing)
		return v;
	if (n->type == GN_TYPE_REAL)
		calculate_real(r, n, as_real(l, &a), as_real(k, &b), &v);
	else
		calculate_exact(r, n, l, &a, k, &b, &v);
	return v;
}

static struct value comparison(struct reading *r, const struct gn_expression *x, const struct gn_node *n)
{
	const struct gn_node *l = &x->node[n->left], *k = &x->node[n->right];
	const int with_number = l->kind == GN_NODE_NUMBER || k->kind == GN_NODE_NUMBER;
	const struct value a = evaluate(r, x, n->left), b = evaluate(r, x, n->right);
	struct value v = {0};
	int less, greater;

	v.missing = a.missing || b.missing;
	if (v.missing)
		return v;
	if (l->type == GN_TYPE_REAL || k->type == GN_TYPE_REAL) {
		less = as_real(l, &a) < as_real(k, &b);
		greater = as_real(l, &a) > as_real(k, &b);
	} else {
		const __int128 p = a.exact * gn_power_of_ten(n->scale - l->scale);
		const __int128 q = b.exact * gn_power_of_ten(n->scale - k->scale);

		/* two values are brought to common places of 64 bits; a constant is compared as it is */
		r->overflow |= !with_number && (p != (int64_t)p || q != (int64_t)q);
		less = p < q;
		greater = p > q;
	}
	v.exact = (less && n->relation & GN_LESS) || (greater && n->relation & GN_GREATER) ||
	          (!less && !greater && n->relation & GN_EQUAL);
	return v;
}

static struct value logic(struct reading *r, const struct gn_expression *x, const struct gn_node *n)
{
	const int deciding = n->kind == GN_NODE_OR;
	const struct value a = evaluate(r, x, n->left);
	struct value b;

	if (!a.missing && a.exact == deciding)
		return a;
	b = evaluate(r, x, n->right);
	return (!b.missing && b.exact == deciding) || !a.missing ? b : a;
}

static struct value evaluate(struct reading *r, const struct gn_expression *x, uint32_t k)
{
	const struct gn_node *n = &x->node[k];
	struct value v;

	switch (n->kind) {
	case GN_NODE_NUMBER:
	case GN_NODE_TEXT: return number_of(n);
	case GN_NODE_COLUMN: return value_of_column(r, n->column);
	case GN_NODE_COMPARE: return comparison(r, x, n);
	case GN_NODE_AND:
	case GN_NODE_OR: return logic(r, x, n);
	case GN_NODE_NEGATE:
		v = evaluate(r, x, n->left);
		v.exact = n->type == GN_TYPE_EXACT && !v.missing ? narrow(r, -v.exact) : 0;
		v.real = -v.real;
		return v;
	case GN_NODE_NOT:
		v = evaluate(r, x, n->left);
		v.exact = !v.exact;
		return v;
	case GN_NODE_IS_NULL:
		v = evaluate(r, x, n->left);
		v.exact = v.missing;
		v.missing = 0;
		return v;
	default: return arithmetic(r, x, n);
	}
}

/* ---- rows ---- */

static uint64_t group_of(const struct reading *r)
{
	struct value v;

	if (!r->q->has_group)
		return 0;
	v = value_of_column(r, r->q->group);
	return v.missing ? r->q->groups - 1 : (uint64_t)(v.exact - r->q->group_base);
}

static void take_value(struct reading *r, uint64_t group, uint32_t slot)
{
	const struct gn_expression *x = &r->q->slot[slot]->expression;
	const struct value v = evaluate(r, x, x->root);
	const int real = x->node[x->root].type == GN_TYPE_REAL;
	struct gn_query_total one = {1};

	if (v.missing)
		return;
	one.exact = v.exact;
	one.real = v.real;
	one.sizes = fabs(v.real);
	one.least.exact = (int64_t)v.exact;
	if (real)
		one.least.real = v.real;
	one.most = one.least;
	gn_query_total_add(&r->result->totals[group * r->q->slots + slot], &one, real);
}

static int take_row(struct reading *r)
{
	const struct gn_expression *where = r->q->where;
	uint64_t group;

	if (where) {
		const struct value v = evaluate(r, where, where->root);

		if (!r->overflow && (v.missing || !v.exact))
			return 0;
	}
	group = group_of(r);
	if (group >= r->q->groups)
		return gn_error_set(r->e, -GN_EBADMSG, "query: row %llu: its group is not in the zone maps",
		                    (unsigned long long)r->row);
	r->result->rows++;
	r->result->group_rows[group]++;
	for (uint32_t k = 0; k < r->q->slots; k++)
		take_value(r, group, k);
	return r->overflow
	           ? gn_error_set(r->e, -GN_ERANGE,
	                          "query: row %llu: a value is too large for 64 bits, or for a double",
	                          (unsigned long long)r->row)
	           : 0;
}

static int read_part(struct reading *r, uint64_t rows)
{
	const struct gn_table_file *f = r->q->table;
	int rc = 0;

	for (uint32_t k = 0; !rc && k < f->column_count; k++) {
		const uint64_t width = gn_column_width(f->columns[k].type);

		if (r->values[k])
			rc = gn__input_read(f->fd, f->name, f->columns[k].data.at + r->first * width,
			                    r->values[k], rows * width, r->e);
	}
	return rc;
}

static int read_all(struct reading *r, const struct gn_progress *progress)
{
	const uint64_t all = r->q->table->rows;
	int rc = 0;

	for (r->first = 0; !rc && r->first < all; r->first += PART_ROWS) {
		const uint64_t n = gn__min_u64(all - r->first, PART_ROWS);

		gn_progress_step(progress, "verifying", r->first, all);
		rc = read_part(r, n);
		for (r->row = r->first; !rc && r->row < r->first + n; r->row++)
			rc = take_row(r);
	}
	return rc;
}

/* Every column that an expression names, or the group. */
static int make_room(struct reading *r)
{
	const struct gn_query *q = r->q;
	unsigned char uses[GN_COLUMN_MOST] = {0};

	r->values = (void **)calloc(q->table->column_count, sizeof *r->values);
	if (q->where)
		gn_expression_uses(q->where, uses);
	for (uint32_t k = 0; k < q->slots; k++)
		gn_expression_uses(&q->slot[k]->expression, uses);
	if (q->has_group)
		uses[q->group] = 1;
	for (uint32_t k = 0; r->values && k < q->table->column_count; k++) {
		r->values[k] = uses[k] ? malloc((size_t)PART_ROWS * 8) : NULL;
		if (uses[k] && !r->values[k])
			return gn_error_set(r->e, -GN_ENOMEM, "query: out of memory to verify");
	}
	return r->values ? 0 : gn_error_set(r->e, -GN_ENOMEM, "query: out of memory to verify");
}

int gn_query_reference(const struct gn_query *q, struct gn_query_result *result,
                       const struct gn_progress *progress, struct gn_error *e)
{
	struct reading r = {q, NULL, 0, 0, result, 0, e};
	int rc = gn_query_result_init(result, q, e);

	if (!rc)
		rc = make_room(&r);
	if (!rc)
		rc = read_all(&r, progress);
	for (uint32_t k = 0; r.values && k < q->table->column_count; k++)
		free(r.values[k]);
	free(r.values);
	return rc;
}
