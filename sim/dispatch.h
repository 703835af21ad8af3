/* SPDX-License-Identifier: Apache-2.0 */
/* dispatch.h - which work-group runs where: over GPUs, then over the compute units of each. */
#ifndef SIM_DISPATCH_H
#define SIM_DISPATCH_H

#include <sim/event.h>

struct sim_gpu;

struct sim_part {
	uint32_t next, end;
};

/* Of a GPU. Its work-groups are numbered from 0 here. */
struct sim_dispatcher {
	struct sim_event event; /* first: it places a work-group */
	bool busy;              /* the event is set */
	uint32_t next, count;   /* of its work-groups; under partition over compute units: see part */
	uint32_t turn;          /* compute unit that is asked first */
	struct sim_part *part;  /* of each compute unit */
};

/* Returns 0 or -GN_ENOMEM. */
int sim_dispatch_init(struct sim_domain *m, struct sim_gpu *g);

/* sim_dispatch_begin - the launch of the machine starts, on that GPU. */
void sim_dispatch_begin(struct sim_domain *m, struct sim_gpu *g);

/* sim_dispatch_done - a work-group of that GPU has ended. */
void sim_dispatch_done(struct sim_domain *m, struct sim_gpu *g);

#endif
