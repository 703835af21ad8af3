/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decision.h - DualOpt's decision engine (section 4.3): it watches accesses that arrive at vector L1 caches, then
 * declares an optimization, once. Accesses are counted whether they hit or not.
 *
 * With decide.interval it declares again and again, which the paper leaves to the future: so many accesses after a
 * decision a window of the same length begins. Coalescing rests meanwhile, as what goes around L1 says nothing about
 * hits; the cache of remote data, behind L1, stays in use.
 */
#ifndef SIM_DECISION_H
#define SIM_DECISION_H

#include <sim/access.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sim_verdict { SIM_UNDECIDED, SIM_LOCAL, SIM_COALESCE, SIM_CACHE };

/* Of a GPU, or of all. */
struct sim_decision {
	uint64_t seen, accesses, remote, reads, words, hits;
	uint64_t lines; /* that words are of: of reads, or with decide.block_of = line those that came into L1 */
	uint64_t since; /* accesses since the decision */
	enum sim_verdict verdict;
};

/* sim_decide_by - the flow chart (Figure 11) on percentages: remote accesses, words used of lines, hits of remote reads. */
enum sim_verdict sim_decide_by(const struct sim_decision *d, uint64_t remote_percent, uint64_t block_percent,
			       uint64_t hit_percent);

/* sim_decide_begin - what is used before any decision: everything that is switched on, or nothing if one is to come. */
void sim_decide_begin(struct sim_machine *m);

/*
 * sim_decide_see - an access arrives at a vector cache. sim_decide_hit - it is a remote read, and hits.
 * sim_decide_touch - with decide.block_of = line: it is a remote read whose line is in L1, or comes, and so many words were
 * not read of it before.
 */
void sim_decide_see(struct sim_machine *m, const struct sim_access *a);
void sim_decide_hit(struct sim_machine *m, const struct sim_access *a);
void sim_decide_touch(struct sim_machine *m, const struct sim_access *a, uint32_t words, bool comes);

#ifdef __cplusplus
}
#endif

#endif
