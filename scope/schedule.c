/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/schedule.h"

#include <math.h>
#include <stdlib.h>

static double width_of(const struct scope_result *r)
{
	struct scope_statistics s;

	if (scope_result_statistics(r, &s) || s.median <= 0)
		return INFINITY;
	return fmax(s.high - s.median, s.median - s.low) / s.median;
}

void scope_turn_judge(struct scope_turn *t, const struct scope_result *r, const struct scope_machine *m)
{
	t->width = r->status == SCOPE_MEASURED ? width_of(r) : 0;
	t->over = t->over || r->status != SCOPE_MEASURED || r->rounds >= m->most_rounds ||
	          r->rounds >= SCOPE_MOST_ROUNDS || (r->rounds >= m->least_rounds && t->width <= m->spread);
}

/*
 * The interval of two or three rounds is wide by Student's t alone: how far they are apart says more about
 * what a next one brings.
 */
static double urgency(const struct scope_turn *t, const struct scope_result *r)
{
	struct scope_statistics s;

	if (r->rounds < 2 || scope_result_statistics(r, &s) || s.median <= 0)
		return t->width;
	return (s.most_round - s.least_round) / s.median / r->rounds;
}

struct order {
	double urgency;
	uint32_t cell;
};

static int most_urgent(const void *a, const void *b)
{
	const struct order *x = (const struct order *)a, *y = (const struct order *)b;

	if (x->urgency < y->urgency || x->urgency > y->urgency)
		return x->urgency < y->urgency ? 1 : -1;
	return (x->cell > y->cell) - (x->cell < y->cell);
}

static uint32_t sorted(const struct scope_turn *turn, const struct scope_result *result, uint32_t cells,
                       struct order *order)
{
	uint32_t count = 0;

	for (uint32_t k = 0; k < cells; k++)
		if (!turn[k].over) {
			order[count].urgency = urgency(&turn[k], &result[k]);
			order[count++].cell = k;
		}
	qsort(order, count, sizeof *order, most_urgent);
	return count;
}

uint32_t scope_turns_choose(struct scope_turn *turn, const struct scope_result *result, uint32_t cells,
                            double seconds)
{
	struct order *order = (struct order *)malloc((cells + 1) * sizeof *order);
	const uint32_t count = order ? sorted(turn, result, cells, order) : 0;
	uint32_t chosen = 0;

	for (uint32_t k = 0; k < cells; k++)
		turn[k].chosen = false;
	for (uint32_t k = 0; k < count; k++) {
		struct scope_turn *t = &turn[order[k].cell];

		if (t->cost > seconds)
			continue;
		seconds -= t->cost;
		t->chosen = true;
		chosen++;
	}
	free(order);
	return chosen;
}
