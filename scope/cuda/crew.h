/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crew.h - threads of the host that start one piece of work together: made and brought to their start
 * untimed, each with a clock of its own around its part.
 */
#ifndef GN_SCOPE_CUDA_CREW_H
#define GN_SCOPE_CUDA_CREW_H

#include <pthread.h>

#include "scope/cuda/support.h"

enum { SCOPE_MOST_CREW = 1024 };

struct scope_crew;

struct scope_crew_member {
	struct scope_crew *crew;
	pthread_t thread;
	uint32_t index;
	double begin, end; /* scope_clock */
};

/* Borrowed by its threads until join. */
struct scope_crew {
	uint32_t threads, ready, go;
	void (*work)(void *argument, uint32_t index, uint32_t threads);
	void *argument;
	struct scope_crew_member member[SCOPE_MOST_CREW];
};

/* scope_crew_start - threads that wait for go. 0, or -GN_ENOMEM with none left over. */
int scope_crew_start(struct scope_crew *c, uint32_t threads,
                     void (*work)(void *argument, uint32_t index, uint32_t threads), void *argument,
                     struct gn_error *e);

void scope_crew_go(struct scope_crew *c);

/* scope_crew_join - waits; the first begin and the last end. */
void scope_crew_join(struct scope_crew *c, double *first, double *last);

#endif
