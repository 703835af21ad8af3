/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.h - every size, latency and policy of the simulated machine, by name.
 *
 * A configuration file has one "key = value" a line; # begins a comment. Values are numbers, sizes ("16K"),
 * yes or no, or one of a few words. What a file does not name stays as it was, so files can be laid one over
 * the other. The table of keys is in keys.c; `sim/configs/mgpusim.conf` names them all, with what they mean.
 */
#ifndef SIM_CONFIG_H
#define SIM_CONFIG_H

#include <grapnel/error.h>
#include <stddef.h>
#include <stdint.h>

/* Values of keys that are words, in the order of the table. */
enum sim_split { SIM_SPLIT_PARTITION, SIM_SPLIT_ROUND_ROBIN, SIM_SPLIT_GREEDY };
enum sim_dram_page { SIM_DRAM_CLOSED, SIM_DRAM_OPEN };
enum sim_id_of { SIM_ID_OF_WORD, SIM_ID_OF_REPLY };
enum sim_buffer_of { SIM_BUFFER_OF_REPLIES, SIM_BUFFER_OF_WORDS };
enum sim_timeout_from { SIM_TIMEOUT_OLDEST, SIM_TIMEOUT_LAST };
enum sim_migrate_policy { SIM_MIGRATE_NONE, SIM_MIGRATE_PAGE, SIM_MIGRATE_FIRST_TOUCH, SIM_MIGRATE_GRIFFIN };
enum sim_decide_scope { SIM_DECIDE_SYSTEM, SIM_DECIDE_GPU };
enum sim_decide_block_of { SIM_BLOCK_OF_READ, SIM_BLOCK_OF_LINE };
enum sim_memory_placement { SIM_PLACE_BY_WORKLOAD, SIM_PLACE_INTERLEAVED, SIM_PLACE_DISTRIBUTED };

/* A private cache: vector (of a CU) or scalar (of a shader engine). */
struct sim_config_l1 {
	uint64_t bytes, ways, directory_cycles, bank_cycles, mshr, transactions;
};

/* A banked write-back cache: L2, or the cache of remote data. */
struct sim_config_cache {
	uint64_t bytes, ways, banks, interleave, read_cycles, fill_cycles, mshr;
};

struct sim_config {
	uint64_t gpus, shader_engines, cus_per_engine, memory_placement;
	uint64_t dispatch_gpus, dispatch_cus, dispatch_cycles, launch_cycles, end_cycles;
	uint64_t simds, slots, vgprs, sgprs, lds_bytes;
	uint64_t valu_issue, valu_cycles, salu_cycles, lds_cycles, vmem_issue;
	uint64_t instruction_pipe, transaction_pipe, in_flight, rob, translate_cycles, return_cycles;
	uint64_t tlb_entries, tlb_mshr, tlb2_sets, tlb2_ways, tlb2_mshr, tlb2_cycles, walk_cycles, walks;
	struct sim_config_l1 l1v, l1s;
	uint64_t l1_invalidate;
	struct sim_config_cache l2;
	uint64_t dram_page, dram_queue, dram_write_buffer, dram_channels, dram_banks, dram_row_bytes,
	    dram_clock, dram_front, dram_burst;
	uint64_t dram_cl, dram_cwl, dram_rcd, dram_rp, dram_ras, dram_rrd, dram_rtp, dram_wr;
	uint64_t rdma_cycles;
	uint64_t net_gpus_per_switch, net_ports, net_flit_bytes, net_encoding, net_clock, net_scale_latency;
	uint64_t net_switch_cycles, net_hop_cycles, net_channels, net_gap_cycles, net_eject_cycles,
	    net_buffer, net_request_bytes, net_header_bytes;
	uint64_t fine, bypass, mshr_masks, coalesce, remote_cache, decide;
	uint64_t granularity, fine_l2, bypass_capped;
	uint64_t codec_packet, codec_id, codec_id_of, codec_buffer, codec_buffer_of, codec_timeout,
	    codec_timeout_from;
	struct sim_config_cache rc;
	uint64_t rc_write_allocate, rc_write_buffer;
	uint64_t migrate_policy, migrate_moves, migrate_fault_cycles, migrate_flush, migrate_flush_cycles;
	uint64_t migrate_delayed, migrate_period, migrate_weight, migrate_least, migrate_dedicated;
	uint64_t decide_scope, decide_warmup, decide_warmup_cycles, decide_window, decide_interval,
	    decide_remote, decide_block, decide_block_of, decide_hit;
};

enum sim_key_kind { SIM_KEY_NUMBER, SIM_KEY_BYTES, SIM_KEY_YES_NO, SIM_KEY_WORD };

/* A line of the table. */
struct sim_key {
	const char *name;
	size_t offset; /* of a uint64_t in struct sim_config */
	enum sim_key_kind kind;
	uint64_t least, most; /* of numbers and sizes */
	const char *words;    /* SIM_KEY_WORD: separated by spaces; the value is the place, from 0 */
	const char *preset;   /* the value of a fresh configuration, as a file has it */
	const char *what;     /* with its unit */
};

/* sim_key_at - the keys in the order of the table; NULL behind the last. */
const struct sim_key *sim_key_at(uint32_t k);

/* sim_key_word - word k of several, which must be there; *length: of the word alone. */
const char *sim_key_word(const char *words, uint64_t k, size_t *length);

/* sim_key_text - the value of a key in a configuration, as a file has it. Returns buffer. */
char *sim_key_text(const struct sim_config *c, const struct sim_key *key, char *buffer, size_t bytes);

/* sim_config_init - MGPUSim's R9 Nano with four GPUs, without any of DualOpt's mechanisms. */
void sim_config_init(struct sim_config *c);

/*
 * sim_config_set - "key=value" or "key = value".
 * Returns 0, -GN_ENOENT (no such key) or -GN_EINVAL; error names the key and what it may be.
 */
int sim_config_set(struct sim_config *c, const char *assignment, struct gn_error *error);

/* A configuration that comes with the program: a file of sim/configs. */
struct sim_shipped {
	const char *name; /* "dualopt.conf" */
	const char *text;
};

/* sim_shipped_at - all of them; NULL behind the last. */
const struct sim_shipped *sim_shipped_at(uint32_t k);

/*
 * sim_config_read - a file, or where there is none of this name one that comes with the program.
 * Returns 0, -GN_ENOENT, -GN_EIO, or as sim_config_set; error names file and line.
 */
int sim_config_read(struct sim_config *c, const char *path, struct gn_error *error);

/*
 * sim_config_optimize - a preset of keys: none, bypass, fine, coalesce, cache or dualopt.
 * Returns 0 or -GN_ENOENT.
 */
int sim_config_optimize(struct sim_config *c, const char *preset, struct gn_error *error);

/*
 * sim_config_check - can a machine be built so? sim_machine_create asks.
 * Returns 0 or -GN_EINVAL; error names the keys that do not fit together, and what would.
 */
int sim_config_check(const struct sim_config *c, struct gn_error *error);

#endif
