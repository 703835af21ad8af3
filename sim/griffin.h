/* SPDX-License-Identifier: Apache-2.0 */
/*
 * griffin.h - Griffin's three mechanisms for pages that move between GPUs (Baruah et al., HPCA 2020).
 *
 * Delayed first touch: a page goes to the first GPU that asks for it, unless that GPU has more pages than the
 * others. Then the page goes to the next GPU that asks, or to the GPU that used it most in the period.
 * Classification: accesses are counted for each page and GPU, and looked at each period. A page that one GPU
 * uses most goes to that GPU. A page that several GPUs use stays. Draining: a page leaves when the accesses
 * to it that are under way have ended. The owner's compute units go on meanwhile.
 *
 * Accesses are counted where they leave a TLB. The constants are ours (docs/sim.md).
 */
#ifndef SIM_GRIFFIN_H
#define SIM_GRIFFIN_H

#include <sim/access.h>
#include <sim/config.h>

struct sim_machine;

/* Wanted: a walk waits for a move to be free; its owner's touches do not keep it. */
enum sim_touch { SIM_UNTOUCHED, SIM_WANTED, SIM_DELAYED, SIM_TOUCHED };

enum sim_page_class {
	SIM_PAGE_IDLE,      /* hardly used */
	SIM_PAGE_STREAMING, /* used, but no more */
	SIM_PAGE_SHARED,
	SIM_PAGE_SHIFTING, /* another GPU than the owner uses it now */
	SIM_PAGE_DEDICATED /* to one GPU */
};

/* Of a page by a GPU. */
struct sim_page_use {
	uint32_t now;  /* accesses in this period */
	uint32_t rate; /* a period, in 1/256: the average over periods, of which later ones count more */
};

struct sim_griffin {
	uint64_t period;          /* the one that is now: its number since the machine began */
	struct sim_page_use *use; /* of page 0 by each GPU, of page 1 ...; NULL: not Griffin */
	uint32_t *under_way;      /* accesses to each page */
	uint32_t draining;        /* pages */
	uint64_t held[SIM_MOST_GPUS], held_by_all; /* pages that came at a touch */
};

/* sim_griffin_grow - there are more pages. Returns 0 or -GN_ENOMEM. */
int sim_griffin_grow(struct sim_machine *m, uint64_t before, uint64_t pages);
void sim_griffin_fini(struct sim_machine *m);

/*
 * sim_griffin_window - a window begins, and the core's clock is there: the first of a period looks at the
 * period before. Periods follow each other over launches. No event marks their ends: it would keep a launch
 * from ending. One in which nothing happens at all is passed over.
 */
void sim_griffin_window(struct sim_machine *m, uint64_t begin);

/* sim_griffin_see - an access leaves its TLB. sim_griffin_left - it is over. */
void sim_griffin_see(struct sim_domain *m, struct sim_access *a);
void sim_griffin_left(struct sim_domain *m, const struct sim_access *a);

/*
 * sim_griffin_touch - a GPU asks the IOMMU for a page, which is away: another's; and a move is free or not.
 * Returns whether the page moves there, now or once a move is free: then the GPU asks again.
 */
bool sim_griffin_touch(struct sim_domain *m, uint64_t page, uint8_t gpu, bool away, bool is_free);

/*
 * sim_griffin_class - of a page that lies on GPU home, at the end of a period whose accesses are in rate;
 * *to: who uses it most, or for SIM_PAGE_SHIFTING most now.
 */
enum sim_page_class sim_griffin_class(const struct sim_config *c, const struct sim_page_use *use,
                                      uint8_t home, uint8_t *to);

#endif
