/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - the counters by name, and what must hold between them. */
#include <sim/stats.h>

#include <inttypes.h>

static const char *const names[] = {
    "kernel_cycles",
    "launches",
    "work_groups",
    "wavefronts",
    "wavefront_instructions",
    "events",
    "wave_cycles",
    "wave_issue_cycles",
    "wave_memory_cycles",
    "wave_scalar_cycles",
    "wave_barrier_cycles",
    "wave_room_cycles",
    "vector_reads",
    "vector_writes",
    "vector_done",
    "vector_latency_cycles",
    "vector_in_flight_cycles",
    "read_latency_cycles",
    "scalar_reads",
    "scalar_done",
    "tlb_lookups",
    "tlb_hits",
    "tlb_merges",
    "tlb_misses",
    "tlb2_hits",
    "tlb2_merges",
    "tlb2_misses",
    "page_walks",
    "l1v_read_lookups",
    "l1v_read_hits",
    "l1v_read_merges",
    "l1v_read_misses",
    "l1v_writes",
    "l1v_write_hits",
    "l1v_remote_reads",
    "l1v_remote_hits",
    "l1v_remote_merges",
    "l1v_bypassed",
    "l1v_remote_writes",
    "l1v_blocked",
    "remote_words_1",
    "remote_words_2",
    "remote_words_3",
    "remote_words_4",
    "remote_words_5",
    "remote_words_6",
    "remote_words_7",
    "remote_words_8",
    "remote_words_9",
    "remote_words_10",
    "remote_words_11",
    "remote_words_12",
    "remote_words_13",
    "remote_words_14",
    "remote_words_15",
    "remote_words_16",
    "l1s_lookups",
    "l1s_hits",
    "l1s_merges",
    "l1s_misses",
    "l2_lookups",
    "l2_hits",
    "l2_merges",
    "l2_misses",
    "l2_write_fills",
    "l2_write_backs",
    "l2_blocked",
    "l2_word_misses",
    "l2_fetched_words",
    "dram_transactions",
    "dram_reads",
    "dram_writes",
    "dram_busy_cycles",
    "remote_transactions",
    "remote_reads",
    "remote_writes",
    "remote_replies",
    "remote_served",
    "remote_vector_reads",
    "remote_read_cycles",
    "remote_to_rdma_cycles",
    "remote_request_cycles",
    "remote_home_cycles",
    "remote_reply_cycles",
    "remote_return_cycles",
    "codec_responses",
    "codec_words",
    "codec_packets",
    "codec_full_packets",
    "codec_timeouts",
    "codec_lines",
    "rc_lookups",
    "rc_hits",
    "rc_merges",
    "rc_misses",
    "rc_write_arounds",
    "rc_write_fills",
    "rc_write_backs",
    "rc_blocked",
    "net_messages",
    "net_bytes",
    "net_flits_in",
    "net_flits_out",
    "net_messages_out",
    "net_hop_flits",
    "decide_accesses",
    "decide_remote",
    "decide_reads",
    "decide_words",
    "decide_lines",
    "decide_hits",
    "migrate_pages",
    "migrate_stall_cycles",
    "migrate_touched",
    "migrate_delayed",
    "migrate_dedicated",
    "migrate_shifting",
    "migrate_shared",
    "migrate_streaming",
    "migrate_drain_cycles",
    "decided_local",
    "decided_coalesce",
    "decided_cache",
};

enum { COUNTERS = sizeof names / sizeof names[0] };
GN__STATIC_ASSERT(sizeof(struct sim_stats) == COUNTERS * sizeof(uint64_t), "a name for each counter");

const char *sim_stat_name(uint32_t k)
{
	return k < COUNTERS ? names[k] : NULL;
}

uint64_t sim_stat_value(const struct sim_stats *s, uint32_t k)
{
	return ((const uint64_t *)(const void *)s)[k];
}

static const char *const cu_names[] = {
    "work_groups",   "wavefronts",      "wavefront_instructions", "vector_reads",     "vector_writes",
    "l1v_read_hits", "l1v_read_merges", "l1v_read_misses",        "l1v_remote_reads", "busy_cycles"};

enum { CU_COUNTERS = sizeof cu_names / sizeof cu_names[0] };
GN__STATIC_ASSERT(sizeof(struct sim_cu_stats) == CU_COUNTERS * sizeof(uint64_t), "a name for each counter");

const char *sim_cu_stat_name(uint32_t k)
{
	return k < CU_COUNTERS ? cu_names[k] : NULL;
}

uint64_t sim_cu_stat_value(const struct sim_cu_stats *s, uint32_t k)
{
	return ((const uint64_t *)(const void *)s)[k];
}

struct law {
	const char *text;
	uint64_t left, right;
};

int sim_stats_check(const struct sim_stats *s, struct gn_error *error)
{
	const struct law laws[] = {
	    {"vector accesses: issued = done", s->vector_reads + s->vector_writes, s->vector_done},
	    {"scalar reads: issued = done", s->scalar_reads, s->scalar_done},
	    {"vector reads: issued = L1 look-ups + bypassed", s->vector_reads,
	     s->l1v_read_lookups + s->l1v_bypassed},
	    {"vector writes: issued = seen by L1", s->vector_writes, s->l1v_writes},
	    {"L1 vector: hits + misses + merges = look-ups",
	     s->l1v_read_hits + s->l1v_read_misses + s->l1v_read_merges,
	     s->l1v_read_lookups + s->l1v_bypassed},
	    {"L1 scalar: hits + misses + merges = look-ups", s->l1s_hits + s->l1s_misses + s->l1s_merges,
	     s->l1s_lookups},
	    {"L1 scalar: look-ups = reads", s->l1s_lookups, s->scalar_reads},
	    {"TLB: hits + misses + merges = look-ups", s->tlb_hits + s->tlb_misses + s->tlb_merges,
	     s->tlb_lookups},
	    {"TLB: look-ups = accesses", s->tlb_lookups,
	     s->vector_reads + s->vector_writes + s->scalar_reads},
	    {"second TLB: hits + misses + merges = misses of the first",
	     s->tlb2_hits + s->tlb2_misses + s->tlb2_merges, s->tlb_misses},
	    {"IOMMU: walks = misses of the second TLB", s->page_walks, s->tlb2_misses},
	    {"L2: hits + misses + merges + whole lines written = look-ups",
	     s->l2_hits + s->l2_misses + s->l2_merges + s->l2_write_fills, s->l2_lookups},
	    {"L2: misses = reads of DRAM", s->l2_misses, s->dram_reads},
	    {"L2: lines written back = writes of DRAM", s->l2_write_backs, s->dram_writes},
	    {"remote cache: hits + misses + merges + whole lines written + passed on = look-ups",
	     s->rc_hits + s->rc_misses + s->rc_merges + s->rc_write_fills + s->rc_write_arounds,
	     s->rc_lookups},
	    {"DRAM: reads + writes = transactions", s->dram_reads + s->dram_writes, s->dram_transactions},
	    {"L1 misses and writes = look-ups of L2 and the remote cache, less what goes through both",
	     s->l1v_read_misses + s->l1s_misses + s->l1v_writes + s->rc_misses + s->rc_write_arounds +
	         s->rc_write_backs,
	     s->l2_lookups + s->rc_lookups},
	    {"remote: requests = served at the home", s->remote_transactions, s->remote_served},
	    {"remote: requests = replies", s->remote_transactions, s->remote_replies},
	    {"network: messages in = out", s->net_messages, s->net_messages_out},
	    {"network: flits in = out", s->net_flits_in, s->net_flits_out},
	    {"pages moved = when asked for + by counters", s->migrate_pages,
	     s->migrate_touched + s->migrate_dedicated + s->migrate_shifting},
	    {"wavefronts: cycles in each state = cycles",
	     s->wave_issue_cycles + s->wave_memory_cycles + s->wave_scalar_cycles + s->wave_barrier_cycles +
	         s->wave_room_cycles,
	     s->wave_cycles},
	    {"Little's law: accesses under way, each cycle = latencies", s->vector_in_flight_cycles,
	     s->vector_latency_cycles},
	    {"remote reads: cycles of the parts = cycles",
	     s->remote_to_rdma_cycles + s->remote_request_cycles + s->remote_home_cycles +
	         s->remote_reply_cycles + s->remote_return_cycles,
	     s->remote_read_cycles},
	};

	for (size_t k = 0; k < sizeof laws / sizeof laws[0]; k++)
		if (laws[k].left != laws[k].right)
			return gn_error_set(error, -GN_EBADMSG,
			                    "the model is wrong, please report: %s does not hold: %" PRIu64
			                    " and %" PRIu64,
			                    laws[k].text, laws[k].left, laws[k].right);
	return 0;
}
