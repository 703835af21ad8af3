/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.h - which cells of a run have another round: those that are not sure, the widest first. */
#ifndef GN_SCOPE_SCHEDULE_H
#define GN_SCOPE_SCHEDULE_H

#include "scope/scope.h"

/* What is known of a cell on the way. */
struct scope_turn {
	double seconds; /* that a round may take for sampling */
	double cost;    /* that its last round took, opening and all */
	double width;   /* half its interval as a share of its median */
	bool chosen;    /* for this pass */
	bool over;      /* no further rounds */
	bool told;      /* who listens to the run knows its result */
};

/*
 * scope_turn_judge - after a round: how unsure the cell is, and whether it is over by the machine's limits.
 */
void scope_turn_judge(struct scope_turn *t, const struct scope_result *r, const struct scope_machine *m);

/*
 * scope_turns_choose - of the cells that are not over, as many as their last rounds say fit into so many
 * seconds. First go those whose rounds differ most for their number; one with a single round counts by the
 * interval of its samples. Returns how many are chosen; 0 also where there is no memory to sort them.
 */
uint32_t scope_turns_choose(struct scope_turn *turn, const struct scope_result *result, uint32_t cells,
                            double seconds);

#endif
