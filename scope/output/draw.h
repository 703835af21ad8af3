/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - a report's drawings as SVG, each an element of its own. They return 0 or -GN_ENOMEM. */
#ifndef GN_SCOPE_DRAW_H
#define GN_SCOPE_DRAW_H

#include "scope/output/charts.h"

/* One chart: lines with limits, cache sizes and reach of address translation, a matrix, or bars. */
int scope_draw_chart(FILE *to, const struct scope_read *r, const struct scope_chart *c);

/*
 * The roofline of every link that a row names: what was reached of it by size in either direction, its rate,
 * and the slope that the time of the smallest transfer gives. And what each row reached, as bars.
 */
int scope_draw_links(FILE *to, const struct scope_read *r);

#endif
