/* SPDX-License-Identifier: Apache-2.0 */
/* By recursive descent; each level of precedence is a function. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "columns/values.h"
#include "expression.h"

struct parser {
	struct gn_expression *x;
	const struct gn_table_file *table;
	const char *at;    /* of the token at hand */
	const char *end;   /* behind it */
	const char *start; /* of the text */
	uint32_t depth;
	int rc;
	struct gn_error *e;
};

/* ---- tokens ---- */

static uint32_t position(const struct parser *p)
{
	return (uint32_t)(p->at - p->start) + 1;
}

static void fail_at(struct parser *p, uint32_t at, const char *what)
{
	if (!p->rc)
		p->rc = gn_error_set(p->e, -GN_EINVAL, "%s: position %u of \"%.200s\": %s", p->x->what, at,
		                     p->start, what);
}

static void fail(struct parser *p, const char *what)
{
	fail_at(p, position(p), what);
}

static const char *end_of_quoted(const char *at)
{
	const char quote = *at++;

	while (*at && (*at != quote || at[1] == quote))
		at += *at == quote ? 2 : 1;
	return *at ? at + 1 : NULL;
}

static const char *end_of_number(const char *at)
{
	while (isdigit((unsigned char)*at) || *at == '.')
		at++;
	if (*at == 'e' || *at == 'E') {
		at++;
		at += *at == '+' || *at == '-';
		while (isdigit((unsigned char)*at))
			at++;
	}
	return at;
}

static const char *end_of_word(const char *at)
{
	while (isalnum((unsigned char)*at) || *at == '_')
		at++;
	return at;
}

/* <= >= <> != == are of two characters. */
static const char *end_of_sign(const char *at)
{
	const int two = (at[1] == '=' && strchr("<>=!", at[0])) || (at[0] == '<' && at[1] == '>');

	return at + 1 + two;
}

static int is_number(const char *at)
{
	return isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]));
}

static void next(struct parser *p)
{
	p->at = p->end + strspn(p->end, " \t\r\n");
	if (!*p->at)
		p->end = p->at;
	else if (*p->at == '\'' || *p->at == '"')
		p->end = end_of_quoted(p->at);
	else if (is_number(p->at))
		p->end = end_of_number(p->at);
	else if (isalpha((unsigned char)*p->at) || *p->at == '_')
		p->end = end_of_word(p->at);
	else
		p->end = end_of_sign(p->at);
	if (p->end)
		return;
	fail(p, "the quote is not closed");
	p->end = p->at + strlen(p->at);
}

static int is(const struct parser *p, const char *word)
{
	const size_t length = (size_t)(p->end - p->at);

	return length == strlen(word) && !strncasecmp(p->at, word, length);
}

static int take(struct parser *p, const char *word)
{
	const int found = is(p, word);

	if (found)
		next(p);
	return found;
}

/* ---- nodes ---- */

static uint16_t add_node(struct parser *p, enum gn_node_kind kind, uint32_t at)
{
	struct gn_expression *x = p->x;

	if (x->count == GN_EXPRESSION_NODES) {
		fail_at(p, at, "the expression is too long; it may have 256 parts");
		return 0;
	}
	memset(&x->node[x->count], 0, sizeof x->node[0]);
	x->node[x->count].kind = kind;
	x->node[x->count].at = at;
	return (uint16_t)x->count++;
}

static struct gn_node *node(struct parser *p, uint16_t k)
{
	return &p->x->node[k];
}

static int is_numeric(enum gn_node_type type)
{
	return type == GN_TYPE_EXACT || type == GN_TYPE_REAL;
}

static void want_numbers(struct parser *p, uint16_t k, const struct gn_node *n)
{
	if (!is_numeric(node(p, k)->type))
		fail_at(p, n->at, "this needs numbers on both sides");
}

static void want_truth(struct parser *p, uint16_t k, uint32_t at)
{
	if (node(p, k)->type != GN_TYPE_TRUTH)
		fail_at(p, at, "this needs conditions, such as a comparison");
}

static uint16_t parse_or(struct parser *p);

/* ---- what stands for itself ---- */

static uint16_t parse_number(struct parser *p)
{
	const uint16_t k = add_node(p, GN_NODE_NUMBER, position(p));
	const size_t length = (size_t)(p->end - p->at);
	struct gn_node *n = node(p, k);
	struct gn_number number;

	if (!gn_number_read(p->at, length, &number) || length > 400) {
		fail(p, "this is not a number");
	} else if (number.has_exponent) {
		n->type = GN_TYPE_REAL;
		n->value.real = strtod(p->at, NULL);
		if (n->value.real - n->value.real != 0)
			fail(p, "the number is too large");
	} else if (!number.fits || number.fraction > GN_COLUMN_MOST_SCALE) {
		fail(p, "the number has too many digits; give it an exponent, as in 1.5e0, to make it a "
		        "double");
	} else {
		n->type = GN_TYPE_EXACT;
		n->scale = number.fraction;
		n->value.exact = number.value;
	}
	next(p);
	return k;
}

static uint16_t parse_text(struct parser *p)
{
	const uint16_t k = add_node(p, GN_NODE_TEXT, position(p));
	struct gn_node *n = node(p, k);

	n->type = GN_TYPE_TEXT;
	n->text = p->at + 1;
	n->length = (uint32_t)(p->end - p->at) - (p->end - p->at >= 2 ? 2 : 1);
	next(p);
	return k;
}

static void list_columns(const struct gn_table_file *f, char *to, size_t room)
{
	size_t used = 0;

	for (uint32_t k = 0; k < f->column_count && used < room; k++) {
		const size_t length = strlen(f->columns[k].name);

		if (used + length + 8 > room) {
			strcpy(to + used, ", ...");
			return;
		}
		memcpy(to + used, k ? ", " : "", k ? 2 : 0);
		used += k ? 2 : 0;
		memcpy(to + used, f->columns[k].name, length + 1);
		used += length;
	}
}

static void unknown_column(struct parser *p, const char *name, size_t length)
{
	char list[300];

	list_columns(p->table, list, sizeof list);
	if (!p->rc)
		p->rc = gn_error_set(
		    p->e, -GN_EINVAL, "%s: position %u of \"%.60s\": %.*s is no column; there are %s",
		    p->x->what, position(p), p->start, (int)(length < 60 ? length : 60), name, list);
}

/* The name between double quotes, where a doubled quote is one. Returns its length; no name is longer. */
static size_t unquote(const struct parser *p, char name[GN_COLUMN_MOST_NAME + 1])
{
	size_t length = 0;

	for (const char *at = p->at + 1; at < p->end - 1 && length <= GN_COLUMN_MOST_NAME; at++) {
		name[length++] = *at;
		at += *at == '"';
	}
	return length;
}

static uint16_t parse_column(struct parser *p)
{
	const uint16_t k = add_node(p, GN_NODE_COLUMN, position(p));
	const int quoted = *p->at == '"';
	char unquoted[GN_COLUMN_MOST_NAME + 1];
	const size_t length = quoted ? unquote(p, unquoted) : (size_t)(p->end - p->at);
	const char *name = quoted ? unquoted : p->at;
	const int found = p->rc ? -1 : gn_table_find(p->table, name, length);
	struct gn_node *n = node(p, k);

	if (found < 0) {
		unknown_column(p, name, length);
	} else {
		const struct gn_column *c = &p->table->columns[found];

		n->column = (uint32_t)found;
		n->scale = c->scale;
		n->type = c->type == GN_COLUMN_STRING  ? GN_TYPE_TEXT
		          : gn_column_is_real(c->type) ? GN_TYPE_REAL
		                                       : GN_TYPE_EXACT;
	}
	next(p);
	return k;
}

/* A column of such a name is given in double quotes. */
static int is_reserved(const struct parser *p)
{
	return is(p, "and") || is(p, "or") || is(p, "not") || is(p, "is") || is(p, "null");
}

/* A parenthesis, a not or a sign. Nothing nests deeper, so that the parser's own stack is bounded. */
static int enter(struct parser *p)
{
	if (++p->depth > GN_EXPRESSION_DEPTH)
		fail(p, "the expression nests too deeply; it may do so 64 times");
	return !p->rc;
}

static uint16_t parse_parenthesis(struct parser *p)
{
	uint16_t k;

	if (!enter(p))
		return 0;
	next(p);
	k = parse_or(p);
	if (!take(p, ")"))
		fail(p, "a closing parenthesis is missing");
	p->depth--;
	return k;
}

static uint16_t parse_primary(struct parser *p)
{
	if (p->rc)
		return 0;
	if (is(p, "("))
		return parse_parenthesis(p);
	if (is_number(p->at))
		return parse_number(p);
	if (*p->at == '\'')
		return parse_text(p);
	if (*p->at == '"' || (end_of_word(p->at) != p->at && !is_reserved(p)))
		return parse_column(p);
	fail(p, *p->at ? "a column, a number or a parenthesis is wanted here"
	               : "the expression ends where a column, a number or a parenthesis is wanted");
	return 0;
}

/* ---- operators ---- */

static uint16_t parse_unary(struct parser *p);

/* A negative constant is a constant, which zone maps are held against. */
static void negate(struct gn_node *n)
{
	if (n->type == GN_TYPE_REAL)
		n->value.real = -n->value.real;
	else
		n->value.exact = -n->value.exact; /* it was read without a sign */
}

static uint16_t parse_negative(struct parser *p)
{
	const uint32_t at = position(p);
	uint16_t inner, k;

	if (!enter(p))
		return 0;
	next(p);
	inner = k = parse_unary(p);
	if (node(p, inner)->kind == GN_NODE_NUMBER) {
		negate(node(p, inner));
	} else {
		k = add_node(p, GN_NODE_NEGATE, at);
		node(p, k)->left = inner;
		node(p, k)->type = node(p, inner)->type;
		node(p, k)->scale = node(p, inner)->scale;
		want_numbers(p, inner, node(p, k));
	}
	p->depth--;
	return k;
}

static uint16_t parse_unary(struct parser *p)
{
	return is(p, "-") ? parse_negative(p) : parse_primary(p);
}

/* The type of left and right together. */
static void type_of_both(struct parser *p, struct gn_node *n)
{
	const struct gn_node *l = node(p, n->left), *r = node(p, n->right);

	want_numbers(p, n->left, n);
	want_numbers(p, n->right, n);
	n->type = l->type == GN_TYPE_EXACT && r->type == GN_TYPE_EXACT && n->kind != GN_NODE_DIVIDE
	              ? GN_TYPE_EXACT
	              : GN_TYPE_REAL;
	if (n->type == GN_TYPE_REAL)
		return;
	n->scale = n->kind == GN_NODE_MULTIPLY ? l->scale + r->scale
	           : l->scale > r->scale       ? l->scale
	                                       : r->scale;
	if (n->scale > GN_COLUMN_MOST_SCALE)
		fail_at(p, n->at,
		        "the product has more than 18 decimal places; multiply one side by 1e0 to make it a "
		        "double");
}

static uint16_t join(struct parser *p, enum gn_node_kind kind, uint32_t at, uint16_t left, uint16_t right)
{
	const uint16_t k = add_node(p, kind, at);

	node(p, k)->left = left;
	node(p, k)->right = right;
	return k;
}

static uint16_t parse_product(struct parser *p)
{
	uint16_t k = parse_unary(p);

	while (!p->rc && (is(p, "*") || is(p, "/"))) {
		const enum gn_node_kind kind = is(p, "*") ? GN_NODE_MULTIPLY : GN_NODE_DIVIDE;
		const uint32_t at = position(p);

		next(p);
		k = join(p, kind, at, k, parse_unary(p));
		type_of_both(p, node(p, k));
	}
	return k;
}

static uint16_t parse_sum(struct parser *p)
{
	uint16_t k = parse_product(p);

	while (!p->rc && (is(p, "+") || is(p, "-"))) {
		const enum gn_node_kind kind = is(p, "+") ? GN_NODE_ADD : GN_NODE_SUBTRACT;
		const uint32_t at = position(p);

		next(p);
		k = join(p, kind, at, k, parse_product(p));
		type_of_both(p, node(p, k));
	}
	return k;
}

static uint32_t relation_of(const struct parser *p)
{
	static const struct {
		const char *sign;
		uint32_t relation;
	} signs[] = {{"=", GN_EQUAL},
	             {"==", GN_EQUAL},
	             {"<", GN_LESS},
	             {">", GN_GREATER},
	             {"<=", GN_LESS | GN_EQUAL},
	             {">=", GN_GREATER | GN_EQUAL},
	             {"!=", GN_LESS | GN_GREATER},
	             {"<>", GN_LESS | GN_GREATER}};

	for (unsigned k = 0; k < sizeof signs / sizeof signs[0]; k++)
		if (is(p, signs[k].sign))
			return signs[k].relation;
	return 0;
}

static int same_text(const struct gn_node *n, const char *word, uint32_t length)
{
	uint32_t k = 0;

	for (uint32_t j = 0; j < n->length; j++, k++) {
		if (k == length || n->text[j] != word[k])
			return 0;
		j += n->text[j] == '\''; /* a doubled quote is one */
	}
	return k == length;
}

/* A string beside a column is its place in the column's dictionary. */
static void find_text(struct parser *p, struct gn_node *text, uint32_t column)
{
	struct gn_dictionary d;
	const int rc = gn_table_dictionary(p->table, &p->table->columns[column], &d, p->e);

	text->value.exact = -1;
	if (rc) {
		p->rc = rc;
		return;
	}
	for (uint32_t k = 0; k < d.words; k++)
		if (same_text(text, d.bytes + d.offsets[k], d.offsets[k + 1] - d.offsets[k]))
			text->value.exact = k;
	free(d.memory);
}

static void compare_text(struct parser *p, struct gn_node *n)
{
	struct gn_node *l = node(p, n->left), *r = node(p, n->right);

	if (n->relation != GN_EQUAL && n->relation != (GN_LESS | GN_GREATER))
		fail_at(p, n->at, "strings are compared by = and != only");
	else if (l->type != r->type || l->kind == r->kind)
		fail_at(p, n->at, "a column of strings is compared with a string in single quotes");
	else if (!p->rc)
		find_text(p, l->kind == GN_NODE_TEXT ? l : r,
		          l->kind == GN_NODE_TEXT ? r->column : l->column);
}

static uint16_t parse_null(struct parser *p, uint16_t left)
{
	const uint32_t at = position(p);
	const int negated = (next(p), take(p, "not"));
	uint16_t k;

	if (!take(p, "null"))
		fail(p, "null is wanted behind is");
	k = join(p, GN_NODE_IS_NULL, at, left, left);
	node(p, k)->type = GN_TYPE_TRUTH;
	if (node(p, left)->type == GN_TYPE_TEXT && node(p, left)->kind == GN_NODE_TEXT)
		fail_at(p, at, "a string in quotes is never null");
	if (negated) {
		k = join(p, GN_NODE_NOT, at, k, k);
		node(p, k)->type = GN_TYPE_TRUTH;
	}
	return k;
}

static uint16_t parse_comparison(struct parser *p)
{
	uint16_t k = parse_sum(p);
	const uint32_t at = position(p), relation = p->rc ? 0 : relation_of(p);

	if (!p->rc && is(p, "is"))
		return parse_null(p, k);
	if (!relation)
		return k;
	next(p);
	k = join(p, GN_NODE_COMPARE, at, k, parse_sum(p));
	node(p, k)->relation = relation;
	if (node(p, node(p, k)->left)->type == GN_TYPE_TEXT ||
	    node(p, node(p, k)->right)->type == GN_TYPE_TEXT)
		compare_text(p, node(p, k));
	else
		type_of_both(p, node(p, k));
	node(p, k)->type = GN_TYPE_TRUTH;
	return k;
}

static uint16_t parse_not(struct parser *p)
{
	const uint32_t at = position(p);
	uint16_t inner, k;

	if (!is(p, "not"))
		return parse_comparison(p);
	if (!enter(p))
		return 0;
	next(p);
	inner = parse_not(p);
	want_truth(p, inner, at);
	k = join(p, GN_NODE_NOT, at, inner, inner);
	node(p, k)->type = GN_TYPE_TRUTH;
	p->depth--;
	return k;
}

static uint16_t parse_and(struct parser *p)
{
	uint16_t k = parse_not(p);

	while (!p->rc && is(p, "and")) {
		const uint32_t at = position(p);

		next(p);
		k = join(p, GN_NODE_AND, at, k, parse_not(p));
		want_truth(p, node(p, k)->left, at);
		want_truth(p, node(p, k)->right, at);
		node(p, k)->type = GN_TYPE_TRUTH;
	}
	return k;
}

static uint16_t parse_or(struct parser *p)
{
	uint16_t k = parse_and(p);

	while (!p->rc && is(p, "or")) {
		const uint32_t at = position(p);

		next(p);
		k = join(p, GN_NODE_OR, at, k, parse_and(p));
		want_truth(p, node(p, k)->left, at);
		want_truth(p, node(p, k)->right, at);
		node(p, k)->type = GN_TYPE_TRUTH;
	}
	return k;
}

int gn_expression_parse(struct gn_expression *x, const struct gn_table_file *table, const char *text,
                        const char *what, struct gn_error *e)
{
	struct parser p = {x, table, text, text, text, 0, 0, e};

	x->text = text;
	x->what = what;
	x->count = 0;
	memset(&x->node[0], 0, sizeof x->node[0]); /* what a failure leaves is looked at, too */
	next(&p);
	x->root = parse_or(&p);
	if (!p.rc && *p.at)
		fail(&p, "an operator is wanted here");
	return p.rc;
}
