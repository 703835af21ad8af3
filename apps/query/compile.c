/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes in the order in which a stack machine takes them. */
#include <string.h>

#include "columns/values.h"
#include "expression.h"

static int too_large(struct gn_compiler *c, const struct gn_node *n, const char *what)
{
	return gn_error_set(c->e, -GN_EINVAL, "%s: position %u of \"%.200s\": %s", c->expression->what, n->at,
	                    c->expression->text, what);
}

/* @grows  by how many places the stack grows: 1, 0, or -1 */
static int emit(struct gn_compiler *c, const struct gn_node *n, enum gn_operation operation,
                uint32_t argument, union gn_value value, int grows)
{
	if (c->count == GN_QUERY_CODE)
		return too_large(c, n, "the query has more than 1024 operations");
	c->depth = (uint32_t)((int)c->depth + grows);
	if (c->depth > GN_QUERY_STACK)
		return too_large(
		    c, n,
		    "the expression nests too deeply to the right; put what is in parentheses to "
		    "the left");
	c->code[c->count].operation = operation;
	c->code[c->count].argument = argument;
	c->code[c->count++].value = value;
	return 0;
}

static int emit_plain(struct gn_compiler *c, const struct gn_node *n, enum gn_operation operation,
                      uint32_t argument, int grows)
{
	const union gn_value none = {0};

	return emit(c, n, operation, argument, none, grows);
}

int gn_compiler_column(struct gn_compiler *c, uint32_t column)
{
	for (uint32_t k = 0; k < c->columns; k++)
		if (c->column[k] == column)
			return (int)k;
	if (c->columns == GN_QUERY_COLUMNS)
		return -1;
	c->column[c->columns] = column;
	return (int)c->columns++;
}

static int compile(struct gn_compiler *c, uint16_t k);

static int compile_column(struct gn_compiler *c, const struct gn_node *n)
{
	const int place = gn_compiler_column(c, n->column);

	return place < 0 ? too_large(c, n, "the query reads more than 24 columns")
	                 : emit_plain(c, n, GN_OP_LOAD, (uint32_t)place, 1);
}

/* A node as an exact number. A constant gets so many decimal places, at least its own; others keep theirs. */
static int compile_exact(struct gn_compiler *c, uint16_t k, uint32_t scale)
{
	const struct gn_node *n = &c->expression->node[k];
	union gn_value value = {gn_power_of_ten(scale - n->scale)};

	if (n->kind != GN_NODE_NUMBER)
		return compile(c, k);
	if (__builtin_mul_overflow(value.exact, n->value.exact, &value.exact))
		return too_large(c, n, "the number has too many digits beside the other side's");
	return emit(c, n, GN_OP_CONSTANT, 0, value, 1);
}

/* @below  where the node's value lies: so many values below the top */
static int bring_to_scale(struct gn_compiler *c, uint16_t k, uint32_t below, uint32_t scale)
{
	const struct gn_node *n = &c->expression->node[k];
	const union gn_value value = {gn_power_of_ten(scale - n->scale)};

	if (n->kind == GN_NODE_NUMBER || n->scale == scale)
		return 0;
	return emit(c, n, GN_OP_SCALE, below, value, 0);
}

/* Both sides. They are scaled when both are there, because beside a missing value nothing is too large. */
static int compile_both_exact(struct gn_compiler *c, const struct gn_node *n, uint32_t left_scale,
                              uint32_t right_scale)
{
	int rc = compile_exact(c, n->left, left_scale);

	if (!rc)
		rc = compile_exact(c, n->right, right_scale);
	if (!rc)
		rc = bring_to_scale(c, n->left, 1, left_scale);
	return rc ? rc : bring_to_scale(c, n->right, 0, right_scale);
}

static int compile_real(struct gn_compiler *c, uint16_t k)
{
	const struct gn_node *n = &c->expression->node[k];
	union gn_value value;
	int rc = compile(c, k);

	if (rc || n->type == GN_TYPE_REAL)
		return rc;
	value.real = (double)gn_power_of_ten(n->scale);
	return emit(c, n, GN_OP_REAL, 0, value, 0);
}

static int is_exact(const struct gn_compiler *c, const struct gn_node *n)
{
	return c->expression->node[n->left].type == GN_TYPE_EXACT &&
	       c->expression->node[n->right].type == GN_TYPE_EXACT;
}

/* Both sides, of the same kind of number, and what becomes of them. */
static int compile_both(struct gn_compiler *c, const struct gn_node *n, int exact, uint32_t left_scale,
                        uint32_t right_scale, enum gn_operation operation)
{
	int rc = exact ? compile_both_exact(c, n, left_scale, right_scale) : compile_real(c, n->left);

	if (!rc && !exact)
		rc = compile_real(c, n->right);
	return rc ? rc : emit_plain(c, n, operation, n->relation, -1);
}

static int compile_arithmetic(struct gn_compiler *c, const struct gn_node *n)
{
	static const enum gn_operation exact[] = {GN_OP_ADD, GN_OP_SUBTRACT, GN_OP_MULTIPLY};
	static const enum gn_operation real[] = {GN_OP_REAL_ADD, GN_OP_REAL_SUBTRACT, GN_OP_REAL_MULTIPLY,
	                                         GN_OP_REAL_DIVIDE};
	const struct gn_node *node = c->expression->node;
	const int product = n->kind == GN_NODE_MULTIPLY;

	if (n->type == GN_TYPE_REAL)
		return compile_both(c, n, 0, 0, 0, real[n->kind - GN_NODE_ADD]);
	return compile_both(c, n, 1, product ? node[n->left].scale : n->scale,
	                    product ? node[n->right].scale : n->scale, exact[n->kind - GN_NODE_ADD]);
}

/* A string is its place in the dictionary. */
static int compile_text(struct gn_compiler *c, const struct gn_node *n)
{
	return emit(c, n, GN_OP_CONSTANT, 0, n->value, 1);
}

enum { NEVER = 0, ALWAYS = GN_LESS | GN_EQUAL | GN_GREATER };

/*
 * The relation of values of so many decimal places to a constant, which is brought to their places. Beyond
 * all of them or between two of them it has no place of its own; the relation to its neighbour says the same.
 */
static uint32_t relation_at(uint32_t scale, const struct gn_node *number, uint32_t relation,
                            int64_t *constant)
{
	const int64_t value = number->value.exact;
	int64_t power, rest;

	if (scale >= number->scale) {
		if (!__builtin_mul_overflow(value, gn_power_of_ten(scale - number->scale), constant))
			return relation;
		*constant = 0;
		return relation & (uint32_t)(value > 0 ? GN_LESS : GN_GREATER) ? ALWAYS : NEVER;
	}
	power = gn_power_of_ten(number->scale - scale);
	rest = value % power;
	*constant = value / power - (rest < 0);
	if (!rest)
		return relation;
	return (relation & GN_LESS ? GN_LESS | GN_EQUAL : 0) | (relation & GN_GREATER);
}

static int compile_beside_number(struct gn_compiler *c, const struct gn_node *n, uint16_t other,
                                 const struct gn_node *number, uint32_t relation)
{
	union gn_value constant;
	int rc;

	relation = relation_at(c->expression->node[other].scale, number, relation, &constant.exact);
	rc = compile(c, other);
	if (!rc)
		rc = emit(c, number, GN_OP_CONSTANT, 0, constant, 1);
	return rc ? rc : emit_plain(c, n, GN_OP_COMPARE, relation, -1);
}

static int compile_compare(struct gn_compiler *c, const struct gn_node *n)
{
	const struct gn_node *left = &c->expression->node[n->left], *right = &c->expression->node[n->right];
	int rc;

	if (left->type == GN_TYPE_TEXT) {
		rc = compile(c, n->left);
		if (!rc)
			rc = compile(c, n->right);
		return rc ? rc : emit_plain(c, n, GN_OP_COMPARE, n->relation, -1);
	}
	if (is_exact(c, n) && right->kind == GN_NODE_NUMBER)
		return compile_beside_number(c, n, n->left, right, n->relation);
	if (is_exact(c, n) && left->kind == GN_NODE_NUMBER)
		return compile_beside_number(c, n, n->right, left, gn_relation_mirrored(n->relation));
	return compile_both(c, n, is_exact(c, n), n->scale, n->scale,
	                    is_exact(c, n) ? GN_OP_COMPARE : GN_OP_REAL_COMPARE);
}

/* The right side is skipped where the left one decides. */
static int compile_logic(struct gn_compiler *c, const struct gn_node *n)
{
	const int both = n->kind == GN_NODE_AND;
	uint32_t skip;
	int rc = compile(c, n->left);

	skip = c->count;
	if (!rc)
		rc = emit_plain(c, n, both ? GN_OP_SKIP_FALSE : GN_OP_SKIP_TRUE, 0, 0);
	if (!rc)
		rc = compile(c, n->right);
	if (!rc)
		rc = emit_plain(c, n, both ? GN_OP_AND : GN_OP_OR, 0, -1);
	if (!rc)
		c->code[skip].argument = c->count;
	return rc;
}

static int compile_one(struct gn_compiler *c, const struct gn_node *n, enum gn_operation operation)
{
	const int rc = compile(c, n->left);

	return rc ? rc : emit_plain(c, n, operation, 0, 0);
}

static int compile(struct gn_compiler *c, uint16_t k)
{
	const struct gn_node *n = &c->expression->node[k];

	switch (n->kind) {
	case GN_NODE_NUMBER: return emit(c, n, GN_OP_CONSTANT, 0, n->value, 1);
	case GN_NODE_TEXT: return compile_text(c, n);
	case GN_NODE_COLUMN: return compile_column(c, n);
	case GN_NODE_NEGATE:
		return compile_one(c, n, n->type == GN_TYPE_REAL ? GN_OP_REAL_NEGATE : GN_OP_NEGATE);
	case GN_NODE_COMPARE: return compile_compare(c, n);
	case GN_NODE_AND:
	case GN_NODE_OR: return compile_logic(c, n);
	case GN_NODE_NOT: return compile_one(c, n, GN_OP_NOT);
	case GN_NODE_IS_NULL: return compile_one(c, n, GN_OP_IS_NULL);
	default: return compile_arithmetic(c, n);
	}
}

int gn_expression_compile(const struct gn_expression *x, struct gn_compiler *c, struct gn_program *program,
                          struct gn_error *e)
{
	int rc;

	c->expression = x;
	c->e = e;
	c->depth = 0;
	program->begin = c->count;
	rc = compile(c, (uint16_t)x->root);
	program->end = c->count;
	return rc;
}

void gn_expression_uses(const struct gn_expression *x, unsigned char *uses)
{
	for (uint32_t k = 0; k < x->count; k++)
		if (x->node[k].kind == GN_NODE_COLUMN)
			uses[x->node[k].column] = 1;
}
