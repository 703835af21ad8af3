/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/cuda/crew.h"

#include <sched.h>
#include <string.h>

#include <grapnel/simt.h>

#include "scope/sampling.h"

namespace {

enum { WAIT, WORK, GO_HOME };

void *run(void *argument)
{
	struct scope_crew_member *m = (struct scope_crew_member *)argument;
	struct scope_crew *c = m->crew;
	uint32_t go;

	simt_add_relaxed_sys_u32(&c->ready, 1);
	while ((go = simt_load_acquire_sys_u32(&c->go)) == WAIT)
		;
	m->begin = scope_clock();
	if (go == WORK)
		c->work(c->argument, m->index, c->threads);
	m->end = scope_clock();
	return NULL;
}

} // namespace

int scope_crew_start(struct scope_crew *c, uint32_t threads,
                     void (*work)(void *argument, uint32_t index, uint32_t threads), void *argument,
                     struct gn_error *e)
{
	memset(c, 0, sizeof *c);
	c->work = work;
	c->argument = argument;
	for (uint32_t k = 0; k < threads && k < SCOPE_MOST_CREW; k++) {
		c->member[k].crew = c;
		c->member[k].index = k;
		if (pthread_create(&c->member[k].thread, NULL, run, &c->member[k])) {
			double first, last;

			simt_store_release_sys_u32(&c->go, GO_HOME);
			scope_crew_join(c, &first, &last);
			return gn_error_set(e, -GN_ENOMEM, "only %u of %u threads could be started", k,
			                    threads);
		}
		c->threads = k + 1;
	}
	while (simt_load_acquire_sys_u32(&c->ready) < c->threads)
		sched_yield();
	return 0;
}

void scope_crew_go(struct scope_crew *c)
{
	simt_store_release_sys_u32(&c->go, WORK);
}

void scope_crew_join(struct scope_crew *c, double *first, double *last)
{
	*first = 1e300;
	*last = 0;
	for (uint32_t k = 0; k < c->threads; k++) {
		pthread_join(c->member[k].thread, NULL);
		*first = c->member[k].begin < *first ? c->member[k].begin : *first;
		*last = c->member[k].end > *last ? c->member[k].end : *last;
	}
}
