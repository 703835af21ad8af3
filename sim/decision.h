/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision.h - DualOpt's decision engine (section 4.3): it watches accesses that arrive at vector L1 caches,
 * then declares an optimization, once. Accesses are counted whether they hit or not.
 *
 * With decide.interval it declares again and again, which the paper leaves to the future: so many accesses
 * after a decision a window of the same length begins. Coalescing rests meanwhile, as what goes around L1
 * says nothing about hits; the cache of remote data, behind L1, stays in use.
 */
#ifndef SIM_DECISION_H
#define SIM_DECISION_H

#include <sim/access.h>

struct sim_machine;

enum sim_verdict { SIM_UNDECIDED, SIM_LOCAL, SIM_COALESCE, SIM_CACHE };

/* Of a GPU. Where all decide together (decide.scope = system) the last two are the same for all. */
struct sim_decision {
	uint64_t seen; /* accesses, since the beginning or the last decision */
	uint64_t accesses, remote, reads, words, hits; /* of the window */
	/* that words are of: of reads, or with decide.block_of = line those that came into L1 */
	uint64_t lines;
	enum sim_verdict verdict;
	bool looking; /* the warm-up is over, and the verdict not there */
};

/*
 * sim_decide_by - the flow chart (Figure 11) on percentages: remote accesses, words used of lines, hits of
 * remote reads.
 */
enum sim_verdict sim_decide_by(const struct sim_decision *d, uint64_t remote_percent, uint64_t block_percent,
                               uint64_t hit_percent);

/*
 * sim_decide_begin - what is used before any decision: everything that is switched on, or nothing if one is
 * to come.
 */
void sim_decide_begin(struct sim_machine *m);

/*
 * sim_decide_window - at the end of a window of time (window.h): what GPUs have seen is added up; warm-ups
 * and windows end here, and verdicts hold from here on.
 */
void sim_decide_window(struct sim_machine *m);

/*
 * sim_decide_see - an access arrives at a vector cache. sim_decide_hit - it is a remote read, and hits.
 * sim_decide_touch - with decide.block_of = line: it is a remote read whose line is in L1, or comes, and so
 * many words were not read of it before.
 */
void sim_decide_see(struct sim_domain *m, const struct sim_access *a);
void sim_decide_hit(struct sim_domain *m, const struct sim_access *a);
void sim_decide_touch(struct sim_domain *m, const struct sim_access *a, uint32_t words, bool comes);

#endif
