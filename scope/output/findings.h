/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h - what looks wrong: each a text of what was seen with its figures, why that may be, and what to
 * do.
 */
#ifndef GN_SCOPE_FINDINGS_H
#define GN_SCOPE_FINDINGS_H

#include "scope/output/read.h"

struct scope_finding {
	const struct scope_read *r;
	json_t *texts;
};

/* scope_findings_in - as scope_findings, of a report that was read; NULL: no memory. */
json_t *scope_findings_in(const struct scope_read *r);

/* scope_find - one finding, less important than those before it. */
void scope_find(struct scope_finding *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A list of names for a text: at most three of them and how many more. */
struct scope_names {
	char text[420];
	uint32_t count;
};

void scope_names_add(struct scope_names *n, const char *name);
const char *scope_names_end(struct scope_names *n);

/* What the machine says of its links, what the samples show, and who else was there. */
void scope_find_in_links(struct scope_finding *f);
void scope_find_in_samples(struct scope_finding *f);
void scope_find_in_environment(struct scope_finding *f);

/*
 * Two clusters of samples with nothing between them? The means of both, and the smaller one's share, are
 * given.
 */
bool scope_is_bimodal(const double *value, uint32_t count, double *low, double *high, double *share);

/*
 * In each round, later samples slower than the first ones beyond the noise? By how much at least: 0.1 is a
 * tenth; 0: not.
 */
double scope_slowing(const struct scope_read_cell *c);

#endif
