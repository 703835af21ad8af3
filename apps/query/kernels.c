/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a table that match a condition, and what expressions over them come to.
 *
 * A warp takes zones of rows; its lanes take rows side by side, so that the columns of the condition are read
 * in order. Other columns are read where a row matches, and only there. A lane keeps sums of its own as long
 * as its rows are of one group.
 */
#include "kernels.h"

/* A lane's view of the query. */
struct worker {
	const struct gn_query_args *a;
	struct gn_cursor cursor[GN_QUERY_CURSORS];
	uint64_t sector[GN_QUERY_COLUMNS]; /* of the value read last, and 1; 0: none */
	uint64_t group;                    /* of the sums below */
	uint64_t rows;                     /* that matched, in them */
	struct gn_query_cell cell[GN_QUERY_SLOTS];
	uint64_t row; /* at hand */
};

/* The stack of a program. */
struct stack {
	union gn_value value[GN_QUERY_STACK];
	uint32_t missing; /* bit k: value k is */
	uint32_t depth;
};

SIMT_FN void report(const struct worker *w, uint32_t fault)
{
	if (!simt_cas_relaxed_dev_u32(&w->a->shared->fault, GN_QUERY_SOUND, fault))
		w->a->shared->fault_row = w->row;
}

/* ---- columns ---- */

/* Note which sectors hold needed values. */
SIMT_FN void mark(struct worker *w, uint32_t k, uint64_t byte)
{
	const uint64_t sector = byte / GN_QUERY_SECTOR;
	uint32_t *word = &w->a->columns[k].sectors[sector / 32];
	const uint32_t bit = 1u << sector % 32;

	if (w->sector[k] == sector + 1)
		return;
	w->sector[k] = sector + 1;
	if (!(simt_load_relaxed_dev_u32(word) & bit))
		simt_reduce_or_relaxed_dev_u32(word, bit);
}

SIMT_FN uint32_t read_u32(struct worker *w, uint32_t k)
{
	const struct gn_query_column *c = &w->a->columns[k];

	mark(w, k, w->row * 4);
	return c->cursor < GN_QUERY_CURSORS ? gn_cursor_read_u32(&w->cursor[c->cursor], w->row)
	                                    : gn_read_u32(&c->array, w->row);
}

SIMT_FN uint64_t read_u64(struct worker *w, uint32_t k)
{
	const struct gn_query_column *c = &w->a->columns[k];

	mark(w, k, w->row * 8);
	return c->cursor < GN_QUERY_CURSORS ? gn_cursor_read_u64(&w->cursor[c->cursor], w->row)
	                                    : gn_read_u64(&c->array, w->row);
}

SIMT_FN float float_of(uint32_t bits)
{
	union {
		uint32_t bits;
		float value;
	} u;

	u.bits = bits;
	return u.value;
}

/* Column k of the row. Returns 1 if it is missing. */
SIMT_FN int load(struct worker *w, uint32_t k, union gn_value *value)
{
	switch (w->a->columns[k].type) {
	case GN_COLUMN_DECIMAL: value->exact = (int64_t)read_u64(w, k); return value->exact == GN_MISSING_I64;
	case GN_COLUMN_F64: value->exact = (int64_t)read_u64(w, k); return value->real != value->real;
	case GN_COLUMN_F32: value->real = float_of(read_u32(w, k)); return value->real != value->real;
	case GN_COLUMN_I32: value->exact = (int32_t)read_u32(w, k); return value->exact == GN_MISSING_I32;
	default: value->exact = read_u32(w, k); return value->exact == (int64_t)GN_MISSING_U32;
	}
}

/* ---- arithmetic ---- */

SIMT_FN int64_t add(int64_t a, int64_t b, int *overflow)
{
	const int64_t sum = (int64_t)((uint64_t)a + (uint64_t)b);

	*overflow |= ((a ^ sum) & (b ^ sum)) < 0;
	return sum;
}

SIMT_FN int64_t subtract(int64_t a, int64_t b, int *overflow)
{
	const int64_t difference = (int64_t)((uint64_t)a - (uint64_t)b);

	*overflow |= ((a ^ b) & (a ^ difference)) < 0;
	return difference;
}

SIMT_FN int64_t multiply(int64_t a, int64_t b, int *overflow)
{
	const int64_t product = (int64_t)((uint64_t)a * (uint64_t)b);

	if (a == (int32_t)a && b == (int32_t)b)
		return product;
	if (a == -1)
		*overflow |= b == INT64_MIN;
	else
		*overflow |= a && product / a != b;
	return product;
}

SIMT_FN double checked(double x, int *overflow)
{
	*overflow |= x - x != 0;
	return x;
}

/* An operation on two values that are there. */
SIMT_FN union gn_value apply(uint32_t operation, union gn_value a, union gn_value b, int *overflow)
{
	union gn_value c;

	switch (operation) {
	case GN_OP_ADD: c.exact = add(a.exact, b.exact, overflow); break;
	case GN_OP_SUBTRACT: c.exact = subtract(a.exact, b.exact, overflow); break;
	case GN_OP_MULTIPLY: c.exact = multiply(a.exact, b.exact, overflow); break;
	case GN_OP_REAL_ADD: c.real = checked(a.real + b.real, overflow); break;
	case GN_OP_REAL_SUBTRACT: c.real = checked(a.real - b.real, overflow); break;
	case GN_OP_REAL_MULTIPLY: c.real = checked(a.real * b.real, overflow); break;
	default: c.real = checked(a.real / b.real, overflow); break;
	}
	return c;
}

SIMT_FN int holds(uint32_t relations, int less, int greater)
{
	return (relations & (less      ? (uint32_t)GN_LESS
	                     : greater ? (uint32_t)GN_GREATER
	                               : (uint32_t)GN_EQUAL)) != 0;
}

/* ---- programs ---- */

SIMT_FN void push(struct stack *s, union gn_value value, int missing)
{
	s->value[s->depth] = value;
	s->missing = (s->missing & ~(1u << s->depth)) | (missing ? 1u << s->depth : 0);
	s->depth++;
}

SIMT_FN int is_missing(const struct stack *s, uint32_t k)
{
	return (int)(s->missing >> k & 1);
}

/* Is value k of the stack a condition that is there, and is so? */
SIMT_FN int is_truth(const struct stack *s, uint32_t k, int truth)
{
	return !is_missing(s, k) && (s->value[k].exact != 0) == truth;
}

/* and (deciding 0), or (deciding 1): one side that decides is enough. */
SIMT_FN void join(struct stack *s, int deciding)
{
	const uint32_t a = s->depth - 2, b = s->depth - 1;
	const int decided = is_truth(s, a, deciding) || is_truth(s, b, deciding);
	const int missing = !decided && (is_missing(s, a) || is_missing(s, b));
	union gn_value value;

	value.exact = decided ? deciding : !deciding;
	s->depth -= 2;
	push(s, value, missing);
}

/* An operation that takes two values and gives one. */
SIMT_FN void binary(struct worker *w, struct stack *s, const struct gn_instruction *i)
{
	const uint32_t k = s->depth - 2;
	const union gn_value a = s->value[k], b = s->value[k + 1];
	int missing = is_missing(s, k) || is_missing(s, k + 1), overflow = 0;
	union gn_value c;

	c.exact = 0;
	missing |= i->operation == GN_OP_REAL_DIVIDE && b.real == 0;
	if (missing)
		c.exact = 0;
	else if (i->operation == GN_OP_COMPARE)
		c.exact = holds(i->argument, a.exact<b.exact, a.exact> b.exact);
	else if (i->operation == GN_OP_REAL_COMPARE)
		c.exact = holds(i->argument, a.real<b.real, a.real> b.real);
	else
		c = apply(i->operation, a, b, &overflow);
	if (overflow)
		report(w, GN_QUERY_OVERFLOW);
	s->depth = k;
	push(s, c, missing);
}

/* Bring one of the two values of the operation that follows to the decimal places of the other. */
SIMT_FN void scale(struct worker *w, struct stack *s, const struct gn_instruction *i)
{
	const uint32_t k = s->depth - 1;
	int64_t *value = &s->value[k - i->argument].exact;
	int overflow = 0;

	if (is_missing(s, k) || is_missing(s, k - 1))
		return;
	*value = multiply(*value, i->value.exact, &overflow);
	if (overflow)
		report(w, GN_QUERY_OVERFLOW);
}

/* An operation that changes the top. */
SIMT_FN void unary(struct worker *w, struct stack *s, const struct gn_instruction *i)
{
	const uint32_t k = s->depth - 1;
	union gn_value *top = &s->value[k];
	int overflow = 0;

	if (i->operation == GN_OP_IS_NULL) {
		top->exact = is_missing(s, k);
		s->missing &= ~(1u << k);
	}
	if (is_missing(s, k))
		return;
	switch (i->operation) {
	case GN_OP_REAL: top->real = (double)top->exact / i->value.real; break;
	case GN_OP_NEGATE: top->exact = subtract(0, top->exact, &overflow); break;
	case GN_OP_REAL_NEGATE: top->real = -top->real; break;
	case GN_OP_NOT: top->exact = !top->exact; break;
	default: break;
	}
	if (overflow)
		report(w, GN_QUERY_OVERFLOW);
}

/* One instruction. Returns the place of the next one. */
SIMT_FN uint32_t step(struct worker *w, struct stack *s, uint32_t at)
{
	const struct gn_instruction *i = &w->a->code[at];
	union gn_value value;
	int missing;

	switch (i->operation) {
	case GN_OP_LOAD:
		missing = load(w, i->argument, &value);
		push(s, value, missing);
		break;
	case GN_OP_CONSTANT: push(s, i->value, 0); break;
	case GN_OP_SKIP_FALSE: return is_truth(s, s->depth - 1, 0) ? i->argument : at + 1;
	case GN_OP_SKIP_TRUE: return is_truth(s, s->depth - 1, 1) ? i->argument : at + 1;
	case GN_OP_AND: join(s, 0); break;
	case GN_OP_OR: join(s, 1); break;
	case GN_OP_SCALE: scale(w, s, i); break;
	case GN_OP_REAL:
	case GN_OP_NEGATE:
	case GN_OP_REAL_NEGATE:
	case GN_OP_NOT:
	case GN_OP_IS_NULL: unary(w, s, i); break;
	default: binary(w, s, i); break;
	}
	return at + 1;
}

/* Run a program. Returns 1 if its value is there. */
SIMT_NOINLINE_FN int run(struct worker *w, struct gn_program program, union gn_value *value)
{
	struct stack s;

	s.depth = 0;
	s.missing = 0;
	for (uint32_t at = program.begin; at < program.end;)
		at = step(w, &s, at);
	*value = s.value[0];
	return !is_missing(&s, 0);
}

/* ---- sums ---- */

SIMT_FN void clear(struct worker *w)
{
	w->rows = 0;
	for (uint32_t k = 0; k < w->a->slots; k++) {
		w->cell[k].count = w->cell[k].low.exact = w->cell[k].high = w->cell[k].most = 0;
		w->cell[k].least = ~0ull;
	}
}

SIMT_FN void flush_cell(struct gn_query_cell *to, const struct gn_query_cell *from, int real)
{
	simt_reduce_add_relaxed_dev_u64(&to->count, from->count);
	if (real) {
		simt_reduce_add_relaxed_dev_f64(&to->low.real, from->low.real);
	} else {
		simt_reduce_add_relaxed_dev_u64(&to->low.exact, from->low.exact);
		simt_reduce_add_relaxed_dev_u64(&to->high, from->high);
	}
	simt_reduce_min_relaxed_dev_u64(&to->least, from->least);
	simt_reduce_max_relaxed_dev_u64(&to->most, from->most);
}

/* The lane's sums go to those of all. */
SIMT_NOINLINE_FN void flush(struct worker *w)
{
	const struct gn_query_args *a = w->a;

	if (!w->rows)
		return;
	simt_reduce_add_relaxed_dev_u64(&a->group_rows[w->group], w->rows);
	for (uint32_t k = 0; k < a->slots; k++)
		if (w->cell[k].count)
			flush_cell(&a->cells[w->group * a->slots + k], &w->cell[k], (int)(a->real >> k & 1));
	clear(w);
}

SIMT_FN void sum(struct gn_query_cell *c, union gn_value value, int real)
{
	const uint64_t key = gn_query_key(value, real);

	if (real) {
		c->low.real += value.real;
	} else {
		c->low.exact += (uint32_t)value.exact;
		c->high += (uint64_t)(value.exact >> 32);
	}
	c->least = key < c->least ? key : c->least;
	c->most = key > c->most ? key : c->most;
}

/* The group of the row. */
SIMT_FN uint64_t group_of(struct worker *w)
{
	const struct gn_query_args *a = w->a;
	union gn_value value;
	uint64_t group;

	if (!a->has_group)
		return 0;
	if (load(w, a->group_column, &value))
		return a->groups - 1;
	group = (uint64_t)value.exact - (uint64_t)a->group_base;
	if (group < a->groups - 1)
		return group;
	report(w, GN_QUERY_BAD_GROUP);
	return a->groups - 1;
}

SIMT_FN void take_row(struct worker *w)
{
	const struct gn_query_args *a = w->a;
	const uint64_t group = group_of(w);

	if (group != w->group)
		flush(w);
	w->group = group;
	w->rows++;
	for (uint32_t k = 0; k < a->slots; k++) {
		union gn_value value;

		if (!run(w, a->slot[k], &value))
			continue;
		w->cell[k].count++;
		if (!(a->counts_only >> k & 1))
			sum(&w->cell[k], value, (int)(a->real >> k & 1));
	}
}

SIMT_FN int matches(struct worker *w)
{
	union gn_value value;

	return w->a->where.begin == w->a->where.end || (run(w, w->a->where, &value) && value.exact);
}

/* ---- zones ---- */

SIMT_FN void take_zone(struct worker *w, uint64_t zone)
{
	const uint64_t first = zone * GN_COLUMN_ZONE_ROWS, left = w->a->rows - first;
	const uint64_t end = first + (left < GN_COLUMN_ZONE_ROWS ? left : (uint64_t)GN_COLUMN_ZONE_ROWS);

	for (w->row = first + simt_lane(); w->row < end; w->row += simt_warp_width())
		if (matches(w))
			take_row(w);
}

SIMT_FN struct worker worker_init(const struct gn_query_args *a)
{
	struct worker w;

	w.a = a;
	w.group = 0;
	w.row = 0;
	clear(&w);
	for (uint32_t k = 0; k < a->column_count; k++) {
		w.sector[k] = 0;
		if (a->columns[k].cursor < GN_QUERY_CURSORS)
			w.cursor[a->columns[k].cursor] = gn_cursor_init(&a->columns[k].array);
	}
	return w;
}

SIMT_FN void worker_end(struct worker *w)
{
	flush(w);
	for (uint32_t k = 0; k < w->a->column_count; k++)
		if (w->a->columns[k].cursor < GN_QUERY_CURSORS)
			gn_cursor_end(&w->cursor[w->a->columns[k].cursor]);
}

/* The warp's next zones: the first of them. */
SIMT_FN uint64_t take_batch(const struct gn_query_args *a, uint32_t warp)
{
	uint64_t first = 0;

	if (simt_lane() == 0)
		first = simt_add_relaxed_dev_u64(&a->shared->taken, a->batch);
	return simt_shfl_u64(warp, first, 0);
}

SIMT_FN void gn_query_rows(const struct gn_query_args *a)
{
	const uint32_t warp = simt_whole_warp();
	struct worker w = worker_init(a);

	for (uint64_t first = take_batch(a, warp); first < a->zone_count; first = take_batch(a, warp)) {
		const uint64_t end = first + a->batch < a->zone_count ? first + a->batch : a->zone_count;

		for (uint64_t k = first; k < end; k++)
			take_zone(&w, a->zones[k]);
	}
	worker_end(&w);
}
SIMT_KERNEL(gn_query_rows, struct gn_query_args)
