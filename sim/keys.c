/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keys.c - the keys of a configuration file, and their values as text.
 *
 * A line of the table: the key; its member of struct sim_config; the least and the greatest value, or the
 * words; the value of a fresh configuration, as a file has it; and a description, which `grapnel sim list
 * --keys` prints. A key begins with its part of the machine, parts are in the order in which a request meets
 * them. Cycles are those of the GPUs' clock unless a description says otherwise.
 */
#include <sim/config.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct sim_config, field)
#define NUMBER(name, field, least, most, preset, what)                           \
	{                                                                        \
		name, AT(field), SIM_KEY_NUMBER, least, most, NULL, preset, what \
	}
#define BYTES(name, field, least, most, preset, what)                           \
	{                                                                       \
		name, AT(field), SIM_KEY_BYTES, least, most, NULL, preset, what \
	}
#define YES_NO(name, field, preset, what)                                     \
	{                                                                     \
		name, AT(field), SIM_KEY_YES_NO, 0, 1, "no yes", preset, what \
	}
#define WORD(name, field, words, preset, what)                           \
	{                                                                \
		name, AT(field), SIM_KEY_WORD, 0, 0, words, preset, what \
	}

static const struct sim_key keys[] = {
    NUMBER("gpus", gpus, 1, 16, "4", "GPUs"),
    NUMBER("gpu.shader_engines", shader_engines, 1, 64, "16",
           "shader engines of a GPU; each has one scalar cache"),
    NUMBER("gpu.cus_per_engine", cus_per_engine, 1, 16, "4", "compute units of a shader engine"),

    WORD("memory.placement", memory_placement, "workload interleaved distributed", "workload",
         "how buffers lie on GPUs that a workload does not put on one: as it says, or all alike"),

    WORD("dispatch.gpus", dispatch_gpus, "partition round_robin greedy", "partition",
         "how work-groups go to GPUs: contiguous parts, one after the other, to whichever has room"),
    WORD("dispatch.cus", dispatch_cus, "partition round_robin greedy", "partition",
         "how the work-groups of a GPU go to its compute units; greedy: to the emptiest"),
    NUMBER("dispatch.cycles", dispatch_cycles, 1, 10000, "4",
           "cycles to dispatch a work-group of 1 to 4 wavefronts; one more for each further one"),
    NUMBER("dispatch.launch_cycles", launch_cycles, 0, 1000000, "0",
           "cycles of a launch before its first work-group"),
    NUMBER("dispatch.end_cycles", end_cycles, 0, 1000000, "1600",
           "cycles of a launch after its last work-group"),

    NUMBER("cu.simds", simds, 1, 16, "4", "vector units of a compute unit"),
    NUMBER("cu.wavefronts_per_simd", slots, 1, 64, "10", "wavefronts that a vector unit holds"),
    NUMBER("cu.vgprs", vgprs, 64, 1 << 24, "16384", "vector registers of a vector unit, counted by lane"),
    NUMBER("cu.sgprs", sgprs, 16, 1 << 24, "3200", "scalar registers of a compute unit"),
    BYTES("cu.lds", lds_bytes, 0, 1 << 24, "64K", "local memory of a compute unit"),
    NUMBER("cu.valu_issue", valu_issue, 1, 64, "4", "cycles until a vector unit takes the next instruction"),
    NUMBER("cu.valu_cycles", valu_cycles, 1, 1000, "7",
           "cycles until a wavefront goes on after a vector instruction"),
    NUMBER("cu.salu_cycles", salu_cycles, 1, 1000, "5",
           "cycles until a wavefront goes on after a scalar instruction"),
    NUMBER("cu.lds_cycles", lds_cycles, 1, 1000, "6",
           "cycles until a wavefront goes on after an instruction on local memory"),
    NUMBER("cu.vmem_issue", vmem_issue, 1, 1000, "5",
           "cycles until a wavefront goes on after a load or store, which is then under way"),
    NUMBER("cu.instruction_pipe", instruction_pipe, 1, 1000, "6",
           "cycles of a load or store before its lines are formed"),
    NUMBER("cu.transaction_pipe", transaction_pipe, 1, 1000, "60",
           "cycles of a line through the vector memory unit; one line a cycle"),
    NUMBER("cu.in_flight", in_flight, 128, 4096, "512",
           "lines of loads and stores under way in a compute unit"),
    NUMBER("cu.rob", rob, 1, 4096, "128", "lines in the reorder buffer; they come back in order"),
    NUMBER("cu.translate_cycles", translate_cycles, 1, 1000, "5",
           "cycles from the vector memory unit through reorder buffer and TLB to L1"),
    NUMBER("cu.return_cycles", return_cycles, 1, 1000, "3", "cycles from L1 back to the wavefront"),

    NUMBER("tlb.entries", tlb_entries, 1, 1024, "64", "pages in the TLB of an L1 cache, fully associative"),
    NUMBER("tlb.mshr", tlb_mshr, 1, 64, "4", "pages for which the TLB of an L1 cache asks at a time"),
    NUMBER("tlb2.sets", tlb2_sets, 1, 1 << 20, "16384", "sets of the TLB of a GPU"),
    NUMBER("tlb2.ways", tlb2_ways, 1, 1024, "64", "ways of the TLB of a GPU"),
    NUMBER("tlb2.mshr", tlb2_mshr, 1, 1024, "64", "pages for which the TLB of a GPU asks at a time"),
    NUMBER("tlb2.cycles", tlb2_cycles, 1, 1000, "3", "cycles of an answer of the TLB of a GPU"),
    NUMBER("mmu.walk_cycles", walk_cycles, 1, 100000, "100",
           "cycles of a page walk in the one IOMMU of the system"),
    NUMBER("mmu.walks", walks, 1, 1024, "16", "page walks at a time"),

    BYTES("l1v.size", l1v.bytes, 64, 1 << 26, "16K", "bytes of the L1 vector cache of a compute unit"),
    NUMBER("l1v.ways", l1v.ways, 1, 1024, "4", "ways of the vector cache"),
    NUMBER("l1v.directory_cycles", l1v.directory_cycles, 1, 1000, "2",
           "cycles until the vector cache knows whether a line is there"),
    NUMBER("l1v.bank_cycles", l1v.bank_cycles, 1, 1000, "60",
           "cycles to read or fill a line of the vector cache"),
    NUMBER("l1v.mshr", l1v.mshr, 1, 1024, "16", "lines for which the vector cache asks at a time"),
    NUMBER("l1v.transactions", l1v.transactions, 1, 4096, "16",
           "accesses in the vector cache at a time, hits too"),
    BYTES("l1s.size", l1s.bytes, 64, 1 << 26, "16K", "bytes of the L1 scalar cache of a shader engine"),
    NUMBER("l1s.ways", l1s.ways, 1, 1024, "4", "ways of the scalar cache"),
    NUMBER("l1s.directory_cycles", l1s.directory_cycles, 1, 1000, "2",
           "cycles until the scalar cache knows whether a line is there"),
    NUMBER("l1s.bank_cycles", l1s.bank_cycles, 1, 1000, "1",
           "cycles to read or fill a line of the scalar cache"),
    NUMBER("l1s.mshr", l1s.mshr, 1, 1024, "16", "lines for which the scalar cache asks at a time"),
    NUMBER("l1s.transactions", l1s.transactions, 1, 4096, "16",
           "accesses in the scalar cache at a time, hits too"),
    YES_NO("l1.invalidate", l1_invalidate, "no", "whether L1 caches forget their lines at each launch"),

    BYTES("l2.size", l2.bytes, 64, 1ull << 32, "2M", "bytes of the L2 cache of a GPU, all banks"),
    NUMBER("l2.ways", l2.ways, 1, 1024, "16", "ways of the L2 cache"),
    NUMBER("l2.banks", l2.banks, 1, 256, "16", "banks of the L2 cache of a GPU"),
    BYTES("l2.interleave", l2.interleave, 64, 4096, "128",
          "bytes that lie side by side in one bank of the L2 cache"),
    NUMBER("l2.read_cycles", l2.read_cycles, 1, 1000, "12", "cycles from a request to the answer of a hit"),
    NUMBER("l2.fill_cycles", l2.fill_cycles, 1, 1000, "12", "cycles from a line's arrival to the answer"),
    NUMBER("l2.mshr", l2.mshr, 1, 1024, "64", "lines for which a bank of the L2 cache asks at a time"),

    WORD("dram.page", dram_page, "closed open", "open", "whether a row is closed after each access"),
    NUMBER("dram.queue", dram_queue, 1, 4096, "32",
           "requests that the controller of a channel chooses from, the oldest; 1: in the order of arrival"),
    NUMBER("dram.write_buffer", dram_write_buffer, 1, 4096, "64",
           "lines that wait to be written in a channel"),
    NUMBER("dram.channels", dram_channels, 1, 256, "16", "channels of a GPU; as many as l2.banks"),
    NUMBER("dram.banks", dram_banks, 1, 1024, "16", "banks of a channel"),
    BYTES("dram.row", dram_row_bytes, 64, 1 << 20, "2K", "bytes of a row"),
    NUMBER("dram.clock", dram_clock, 1, 100, "2",
           "cycles of one clock of DRAM, which counts the times below"),
    NUMBER("dram.front", dram_front, 1, 1000, "20", "cycles of the controller's queues, without waiting"),
    NUMBER("dram.burst", dram_burst, 1, 64, "1", "clocks of a line on the data bus"),
    NUMBER("dram.cl", dram_cl, 1, 1000, "7", "clocks from read to data"),
    NUMBER("dram.cwl", dram_cwl, 1, 1000, "2", "clocks from write to data"),
    NUMBER("dram.rcd", dram_rcd, 1, 1000, "7", "clocks from activate to read or write"),
    NUMBER("dram.rp", dram_rp, 1, 1000, "7", "clocks of a precharge"),
    NUMBER("dram.ras", dram_ras, 1, 1000, "17", "clocks from activate to precharge, at least"),
    NUMBER("dram.rrd", dram_rrd, 1, 1000, "2", "clocks between activates of two banks"),
    NUMBER("dram.rtp", dram_rtp, 1, 1000, "3", "clocks from read to precharge"),
    NUMBER("dram.wr", dram_wr, 1, 1000, "8", "clocks from the end of written data to precharge"),

    NUMBER("rdma.cycles", rdma_cycles, 1, 1000, "1", "cycles of a message through an RDMA engine"),
    NUMBER("net.gpus_per_switch", net_gpus_per_switch, 1, 16, "2",
           "GPUs of a switch; switches meet in a root switch, which the IOMMU is at too"),
    NUMBER("net.switch_ports", net_ports, 2, 64, "16", "ports of any switch"),
    BYTES("net.flit_bytes", net_flit_bytes, 1, 4096, "16",
          "bytes of a flit; a link carries net.clock flits a cycle in each direction"),
    NUMBER("net.encoding_percent", net_encoding, 0, 1000, "25",
           "what encoding adds to the bytes of a message"),
    NUMBER("net.clock", net_clock, 1, 64, "1", "clock of the links over that of the GPUs"),
    YES_NO("net.scale_latency", net_scale_latency, "no",
           "whether net.clock divides the latency of switches too"),
    NUMBER("net.switch_cycles", net_switch_cycles, 1, 100000, "140",
           "cycles of a flit in the pipeline of a switch"),
    NUMBER("net.hop_cycles", net_hop_cycles, 0, 1000, "2",
           "cycles of a flit through a crossbar, without waiting"),
    NUMBER("net.gap_cycles", net_gap_cycles, 0, 1000, "1",
           "clocks of a link between the messages that a GPU sends: its port takes the next when the last "
           "has gone"),
    NUMBER("net.eject_cycles", net_eject_cycles, 1, 1000, "1",
           "cycles from a message's last flit to its receiver"),
    NUMBER("net.channels", net_channels, 1, 2, "1",
           "2: requests and replies have buffers of their own in switches; 1: they share them"),
    NUMBER("net.buffer_flits", net_buffer, 1, 65536, "156",
           "flits that an input of a switch holds, of each channel: its pipeline and port; net.clock times "
           "as many where latency stays"),
    NUMBER("net.request_bytes", net_request_bytes, 1, 4096, "12",
           "bytes of a request, before the data of a write"),
    NUMBER("net.header_bytes", net_header_bytes, 1, 4096, "4",
           "bytes of a reply before its data, and of an acknowledgement"),

    YES_NO("dualopt.bypass", bypass, "no", "remote reads do not enter L1 (SCBU)"),
    YES_NO("dualopt.fine", fine, "no",
           "bitmasks travel with remote reads, replies carry only the words asked for (BGU)"),
    YES_NO("dualopt.mshr_masks", mshr_masks, "no",
           "MSHRs know masks; without, fine reads of one line never share an entry"),
    YES_NO("dualopt.coalesce", coalesce, "no",
           "replies to one GPU share packets (CoDec); whole lines do if codec.packet_bytes is large enough"),
    YES_NO("dualopt.cache", remote_cache, "no", "remote lines are kept in a cache before the RDMA engine"),
    YES_NO("dualopt.decide", decide, "no",
           "the mechanisms above wait until the decision engine declares them"),
    NUMBER("dualopt.granularity", granularity, 4, 16, "4", "bytes of a word of fine replies: 4, 8 or 16"),
    YES_NO("dualopt.fine_l2", fine_l2, "no",
           "L2 brings and keeps only the words that remote reads ask for, if dualopt.fine is used"),
    YES_NO("dualopt.bypass_capped", bypass_capped, "yes",
           "whether l1v.transactions bounds remote reads that do not enter L1"),
    NUMBER("codec.packet_bytes", codec_packet, 8, 4096, "64", "bytes of a packet, with net.header_bytes"),
    NUMBER("codec.id_bytes", codec_id, 0, 16, "2", "bytes of a word's response ID"),
    WORD("codec.id_of", codec_id_of, "word reply", "word", "what has a response ID in a packet"),
    NUMBER("codec.buffer", codec_buffer, 1, 65536, "64",
           "responses that a buffer (one for each other GPU) holds"),
    WORD("codec.buffer_of", codec_buffer_of, "replies words", "replies", "what codec.buffer counts"),
    NUMBER("codec.timeout", codec_timeout, 1, 100000, "30",
           "cycles after which a packet goes though it is not full"),
    WORD("codec.timeout_from", codec_timeout_from, "oldest last", "oldest",
         "of which response the time-out counts from"),
    BYTES("rdma_cache.size", rc.bytes, 64, 1ull << 32, "1536K",
          "bytes of the RDMA cache of a GPU, which holds remote lines, all banks"),
    NUMBER("rdma_cache.ways", rc.ways, 1, 1024, "16", "ways of the RDMA cache"),
    NUMBER("rdma_cache.banks", rc.banks, 1, 256, "16", "banks of the RDMA cache of a GPU"),
    BYTES("rdma_cache.interleave", rc.interleave, 64, 4096, "128",
          "bytes that lie side by side in one bank of the RDMA cache"),
    NUMBER("rdma_cache.read_cycles", rc.read_cycles, 1, 1000, "12",
           "cycles from a request to the answer of a hit"),
    NUMBER("rdma_cache.fill_cycles", rc.fill_cycles, 1, 1000, "12",
           "cycles from a line's arrival to the answer"),
    NUMBER("rdma_cache.mshr", rc.mshr, 1, 1024, "64",
           "lines for which a bank of the RDMA cache asks at a time"),
    YES_NO("rdma_cache.write_allocate", rc_write_allocate, "yes",
           "whether writes of whole lines stay in the RDMA cache; others go on to the home GPU if their line "
           "is not there"),
    NUMBER("rdma_cache.write_buffer", rc_write_buffer, 1, 65536, "1024",
           "lines of a GPU that are being written back"),
    WORD("migrate.policy", migrate_policy, "none page first_touch griffin", "none",
         "what moves a page to the GPU that asks the IOMMU for it: nothing, each request, only the first, or "
         "Griffin's mechanisms"),
    NUMBER("migrate.moves", migrate_moves, 1, 1024, "16", "pages that move at a time"),
    NUMBER("migrate.fault_cycles", migrate_fault_cycles, 1, 1000000, "1000",
           "cycles of the driver from the fault until the owner hears of it"),
    YES_NO("migrate.flush", migrate_flush, "yes",
           "whether the owner drops its L1 lines and translations, and stands still meanwhile"),
    NUMBER("migrate.flush_cycles", migrate_flush_cycles, 1, 1000000, "500",
           "cycles of this flush, until the page leaves"),
    YES_NO("migrate.delayed", migrate_delayed, "yes",
           "griffin: whether a GPU with more pages than the others gets no page by touching it first"),
    NUMBER("migrate.period", migrate_period, 0, 1 << 30, "10000",
           "griffin: cycles after which pages are classified; 0: never"),
    NUMBER("migrate.weight", migrate_weight, 1, 100, "50",
           "griffin: percent of the last period in the average of a page's accesses"),
    NUMBER("migrate.least", migrate_least, 1, 1 << 20, "16",
           "griffin: accesses in a period, on average, below which a page stays"),
    NUMBER("migrate.dedicated", migrate_dedicated, 100, 10000, "200",
           "griffin: percent of any other GPU's accesses that one must have to get a page"),
    WORD("decide.scope", decide_scope, "system gpu", "system", "whether all GPUs decide together"),
    NUMBER("decide.warmup", decide_warmup, 0, 1000000000, "1000",
           "accesses to L1 before the decision engine looks at any"),
    NUMBER("decide.warmup_cycles", decide_warmup_cycles, 0, 1000000000, "0",
           "cycles before the decision engine looks at any access"),
    NUMBER("decide.window", decide_window, 1, 1000000000, "20000",
           "remote accesses at which it looks before it decides"),
    NUMBER("decide.interval", decide_interval, 0, 1000000000, "0",
           "accesses to L1 after a decision until it looks at remote accesses anew, without coalescing; 0: "
           "never"),
    NUMBER("decide.remote_percent", decide_remote, 0, 100, "2",
           "percent of accesses that are remote; below, nothing is declared: access is mostly local"),
    NUMBER("decide.block_percent", decide_block, 0, 100, "20",
           "percent of a remote line's words that are read; below this, and hits below decide.hit_percent: "
           "coalescing is declared, else caching"),
    WORD("decide.block_of", decide_block_of, "read line", "read",
         "whose words decide.block_percent counts: of each remote read, or of each line while it is in L1"),
    NUMBER("decide.hit_percent", decide_hit, 0, 100, "40", "percent of remote reads that hit in L1"),
};

const struct sim_key *sim_key_at(uint32_t k)
{
	return k < sizeof keys / sizeof keys[0] ? &keys[k] : NULL;
}

const char *sim_key_word(const char *words, uint64_t k, size_t *length)
{
	while (k--)
		words = strchr(words, ' ') + 1;
	*length = strcspn(words, " ");
	return words;
}

char *sim_key_text(const struct sim_config *c, const struct sim_key *key, char *buffer, size_t bytes)
{
	uint64_t value = *(const uint64_t *)(const void *)((const char *)c + key->offset);
	size_t length;
	const char *word;

	if (key->words) {
		word = sim_key_word(key->words, value, &length);
		snprintf(buffer, bytes, "%.*s", (int)length, word);
	} else if (key->kind == SIM_KEY_BYTES && value && !(value & 1023)) {
		snprintf(buffer, bytes, value & 0xfffff ? "%" PRIu64 "K" : "%" PRIu64 "M",
		         value & 0xfffff ? value >> 10 : value >> 20);
	} else {
		snprintf(buffer, bytes, "%" PRIu64, value);
	}
	return buffer;
}
