/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stats.h - what a machine has counted since it was made.
 *
 * Cycles are those of the GPUs' clock. Vector accesses are lines of one instruction each. "Remote": of a line
 * that another GPU holds. docs/sim.md says how they hang together.
 */
#ifndef SIM_STATS_H
#define SIM_STATS_H

#include <grapnel/error.h>
#include <stddef.h>
#include <stdint.h>

struct sim_stats {
	uint64_t kernel_cycles, launches, work_groups, wavefronts, wavefront_instructions, events;

	uint64_t wave_cycles, wave_issue_cycles, wave_memory_cycles, wave_scalar_cycles, wave_barrier_cycles,
	    wave_room_cycles;

	uint64_t vector_reads, vector_writes, vector_done, vector_latency_cycles, vector_in_flight_cycles;
	uint64_t read_latency_cycles, scalar_reads, scalar_done;

	uint64_t tlb_lookups, tlb_hits, tlb_merges, tlb_misses, tlb2_hits, tlb2_merges, tlb2_misses,
	    page_walks;

	uint64_t l1v_read_lookups, l1v_read_hits, l1v_read_merges, l1v_read_misses, l1v_writes,
	    l1v_write_hits;
	uint64_t l1v_remote_reads, l1v_remote_hits, l1v_remote_merges, l1v_bypassed, l1v_remote_writes,
	    l1v_blocked;
	uint64_t remote_words[16];
	uint64_t l1s_lookups, l1s_hits, l1s_merges, l1s_misses;

	uint64_t l2_lookups, l2_hits, l2_merges, l2_misses, l2_write_fills, l2_write_backs, l2_blocked;
	/* misses of words whose line is there or on its way; words that all misses bring */
	uint64_t l2_word_misses, l2_fetched_words;
	uint64_t dram_transactions, dram_reads, dram_writes, dram_busy_cycles;

	uint64_t remote_transactions, remote_reads, remote_writes, remote_replies, remote_served;
	/* those that the next six are of; remote_reads counts scalar loads too */
	uint64_t remote_vector_reads;
	uint64_t remote_read_cycles, remote_to_rdma_cycles, remote_request_cycles, remote_home_cycles,
	    remote_reply_cycles, remote_return_cycles;

	uint64_t codec_responses, codec_words, codec_packets, codec_full_packets, codec_timeouts, codec_lines;
	uint64_t rc_lookups, rc_hits, rc_merges, rc_misses, rc_write_arounds, rc_write_fills, rc_write_backs,
	    rc_blocked;

	uint64_t net_messages, net_bytes, net_flits_in, net_flits_out, net_messages_out, net_hop_flits;

	uint64_t decide_accesses, decide_remote, decide_reads, decide_words, decide_lines, decide_hits;
	uint64_t migrate_pages, migrate_stall_cycles; /* stall: of GPUs */
	/* pages that moved when they were asked for; that did not, though first touched; that moved by
	 * counters */
	uint64_t migrate_touched, migrate_delayed, migrate_dedicated, migrate_shifting;
	/* pages found so, each period; cycles in which pages waited to leave */
	uint64_t migrate_shared, migrate_streaming, migrate_drain_cycles;
	uint64_t decided_local, decided_coalesce, decided_cache; /* GPUs */
};

/* Of a compute unit. The sum over all of a GPU is its counter of that name; cycles are counted here alone. */
struct sim_cu_stats {
	uint64_t work_groups, wavefronts, wavefront_instructions, vector_reads, vector_writes;
	uint64_t l1v_read_hits, l1v_read_merges, l1v_read_misses, l1v_remote_reads;
	uint64_t busy_cycles; /* with a work-group at least; to the last time it became empty */
};

/* sim_cu_stat_name - of counter k, in the order of the structure; NULL behind the last. */
const char *sim_cu_stat_name(uint32_t k);
uint64_t sim_cu_stat_value(const struct sim_cu_stats *s, uint32_t k);

/* sim_stat_name - of counter k, in the order of the structure; NULL behind the last. */
const char *sim_stat_name(uint32_t k);
uint64_t sim_stat_value(const struct sim_stats *s, uint32_t k);

/*
 * sim_stats_check - the laws of conservation, once nothing is on its way.
 * Returns 0, or -GN_EBADMSG: error says which does not hold, and the counts.
 */
int sim_stats_check(const struct sim_stats *s, struct gn_error *error);

#endif
