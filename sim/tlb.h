/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tlb.h - from virtual to physical: a TLB before each L1 cache, one in each GPU, and the IOMMU of the system,
 * which is asked over the network.
 */
#ifndef SIM_TLB_H
#define SIM_TLB_H

#include <sim/access.h>
#include <sim/arena.h>
#include <sim/config.h>
#include <sim/divide.h>

struct sim_gpu;
struct sim_tlb;

enum { SIM_PAGE_KINDS = 128 };

/* Pages in sets, the last used first. */
struct sim_pages {
	uint32_t *page; /* way 0 of each set, then way 1 of each ...; 0: none */
	uint32_t sets, ways;
	struct sim_divisor by_sets;
	uint16_t kind[SIM_PAGE_KINDS]; /* of one set: pages that are alike: mostly none is */
};

/* sim_pages_clear - none is known. */
void sim_pages_clear(struct sim_pages *p);

/* A page that a TLB has asked for. */
struct sim_tlb_miss {
	struct sim_event event;    /* first */
	struct sim_tlb_miss *next; /* that waits for the same walk, or for one to be free */
	struct sim_tlb *tlb;
	uint64_t page; /* 0: free */
	struct sim_fifo waiting;
};

struct sim_tlb {
	struct sim_gpu *gpu;
	struct sim_fifo stuck; /* behind an access that found no free miss */
	struct sim_tlb_miss *miss;
	uint32_t misses;
	struct sim_pages pages;
} __attribute__((aligned(64)));

/* A page that a GPU has asked the IOMMU for. */
struct sim_walk {
	struct sim_message message; /* first */
	struct sim_gpu *gpu;
	struct sim_tlb_miss *first;
	uint64_t page; /* 0: free */
};

struct sim_tlb2 {
	struct sim_pages pages;
	struct sim_walk *walk;
	uint32_t walks;
	struct sim_tlb_miss *stuck, **stuck_end;
};

struct sim_mmu {
	uint64_t next; /* cycle in which it takes the next request */
	uint32_t busy;
	struct sim_fifo waiting;
};

/* Returns 0 or -GN_ENOMEM. */
int sim_tlb_init(struct sim_tlb *t, struct sim_arena *arena, struct sim_gpu *gpu, const struct sim_config *c);
int sim_tlb2_init(struct sim_tlb2 *t, struct sim_arena *arena, struct sim_gpu *gpu,
                  const struct sim_config *c);
void sim_tlb2_fini(struct sim_tlb2 *t);

/* sim_translate - an access gets its physical line, and goes on to its L1 cache. */
void sim_translate(struct sim_domain *m, struct sim_access *a);

/* sim_walk_answer - the IOMMU answers a walk. sim_tlb_forget - all TLBs forget a page. */
void sim_walk_answer(struct sim_domain *m, struct sim_walk *w);
void sim_tlb_forget(struct sim_domain *m, uint64_t page);

#endif
