/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the paper leaves open (docs/sim.md): for each question the other answers that are a key, and what they
 * make of DualOpt. Everything else stays as it was chosen.
 */
#include <math.h>

#include "sim_paper.h"

/* Which of the two runs that are compared has the key: the machine without DualOpt, with it, or both. */
enum { BASE = 1, DUALOPT = 2, BOTH = 3 };

struct answer {
	const char *question;
	unsigned runs;
	const char *set[PAPER_MOST_SETS][2];
};

static const struct answer answers[] = {
    {"as chosen", BOTH, {{NULL, NULL}}},
    {"bandwidth of a link, 32 GB/s", BOTH, {{"net.clock", "x1/2"}}},
    {"", BOTH, {{"net.clock", "x2"}}},
    {"rows of DRAM stay open", BOTH, {{"dram.page", "closed"}}},
    {"requests of ready rows first", BOTH, {{"dram.queue", "1"}}},
    {"encoding, 25 %", BOTH, {{"net.encoding_percent", "0"}}},
    {"header, 4 bytes", BOTH, {{"net.header_bytes", "8"}}},
    {"", BOTH, {{"net.header_bytes", "8"}, {"codec.packet_bytes", "68"}}},
    {"words of a packet, 10; 3 bits say 8", DUALOPT, {{"codec.packet_bytes", "52"}}},
    {"a read of k words has k IDs", DUALOPT, {{"codec.id_of", "reply"}}},
    {"buffer of 64 responses", DUALOPT, {{"codec.buffer_of", "words"}}},
    {"", DUALOPT, {{"codec.buffer", "65536"}}},
    {"time-out from the oldest", DUALOPT, {{"codec.timeout_from", "last"}}},
    {"a packet waits 30 cycles though the link is idle", DUALOPT, {{"codec.timeout", "1"}}},
    {"L1 bounds bypassed reads", DUALOPT, {{"dualopt.bypass_capped", "no"}}},
    {"reorder buffer of 128", BOTH, {{"cu.rob", "512"}}},
    {"MSHRs have masks", DUALOPT, {{"dualopt.mshr_masks", "no"}}},
    {"MSHR 32 is L1's", BOTH, {{"l2.mshr", "32"}, {"rdma_cache.mshr", "32"}}},
    {"", BOTH, {{"l1v.mshr", "16"}, {"l1v.transactions", "16"}}},
    {"32 transactions of L1", BOTH, {{"l1v.transactions", "16"}}},
    {"", BOTH, {{"l1v.transactions", "64"}}},
    {"remote cache as fast as L2",
     DUALOPT,
     {{"rdma_cache.read_cycles", "60"}, {"rdma_cache.fill_cycles", "60"}}},
    {"its banks, 16", DUALOPT, {{"rdma_cache.banks", "4"}}},
    {"it keeps whole lines written", DUALOPT, {{"rdma_cache.write_allocate", "no"}}},
    {"L2 of 0.5 MB in every mode", DUALOPT, {{"l2.size", "2M"}}},
    {"all GPUs decide together", DUALOPT, {{"decide.scope", "gpu"}}},
    {"decided once", DUALOPT, {{"decide.interval", "300000"}}},
    {"warm-up of 100,000 cycles", DUALOPT, {{"decide.warmup_cycles", "0"}}},
    {"", DUALOPT, {{"decide.warmup_cycles", "0"}, {"decide.warmup", "100000"}}},
    {"", DUALOPT, {{"decide.warmup_cycles", "300000"}}},
    {"window of 20,000", DUALOPT, {{"decide.window", "2000"}}},
    {"", DUALOPT, {{"decide.window", "50000"}}},
    {"words of each read; 0.2 is 3.2", DUALOPT, {{"decide.block_of", "line"}}},
    {"", DUALOPT, {{"decide.block_percent", "12"}}},
    {"", DUALOPT, {{"decide.block_percent", "30"}}},
    {"L1 forgets between kernels", BOTH, {{"l1.invalidate", "no"}}},
    {"time of kernels, with 1600 cycles each", BOTH, {{"dispatch.end_cycles", "0"}}},
    {"requests and replies share buffers", BOTH, {{"net.channels", "2"}}},
    {"placement by workload", BOTH, {{"memory.placement", "interleaved"}}},
    {"over first touch, a fault of 1000 cycles",
     BASE,
     {{"migrate.policy", "first_touch"}, {"migrate.flush", "no"}}},
    {"", BASE, {{"migrate.policy", "first_touch"}, {"migrate.flush", "no"}, {"migrate.fault_cycles", "100"}}},
    {"",
     BASE,
     {{"migrate.policy", "first_touch"}, {"migrate.flush", "no"}, {"migrate.fault_cycles", "10000"}}},
};
enum { ANSWERS = sizeof answers / sizeof *answers };

int paper_add_answers(struct paper *p, const struct tool_sim *base)
{
	int rc = 0;

	p->answers = p->jobs.count;
	for (uint32_t a = 0; a < ANSWERS && !rc; a++)
		for (uint32_t w = 0; w < PAPER_REMOTE && !rc; w++) {
			rc = paper_add(p, base, w, "none", answers[a].runs & BASE ? answers[a].set : NULL);
			rc = rc ? rc
			        : paper_add(p, base, w, "dualopt",
			                    answers[a].runs & DUALOPT ? answers[a].set : NULL);
		}
	return rc;
}

static const struct sim_job *job_of(const struct paper *p, uint32_t a, uint32_t w, bool dualopt)
{
	return &p->jobs.job[p->answers + 2 * (a * PAPER_REMOTE + w) + dualopt];
}

static struct paper_series gains(const struct paper *p, uint32_t a, const char *counter)
{
	struct paper_series s = {counter, {0}};

	for (uint32_t w = 0; w < PAPER_REMOTE; w++)
		s.value[w] = paper_share(sim_job_counter(job_of(p, a, w, false), counter),
		                         sim_job_counter(job_of(p, a, w, true), counter));
	return s;
}

static void put_row(const struct paper *p, uint32_t a)
{
	const struct paper_series cycles = gains(p, a, "kernel_cycles"), bytes = gains(p, a, "net_bytes"),
	                          latency = gains(p, a, "read_latency_cycles");
	const struct answer *x = &answers[a];
	uint32_t classed = 0;
	char text[32];

	for (uint32_t w = 0; w < PAPER_REMOTE; w++)
		classed += paper_classed(job_of(p, a, w, true), w);
	fprintf(p->report, "| %s | ", x->question);
	for (uint32_t k = 0; k < PAPER_MOST_SETS && x->set[k][0]; k++)
		fprintf(p->report, "%s`%s = %s`", k ? ", " : "", x->set[k][0],
		        paper_value(p, x->set[k][1], text, sizeof text));
	fprintf(p->report, " | %.2f | %.2f | %.2f | %.2f | %.2f | %u |\n", paper_mean_remote(&cycles),
	        paper_mean(&cycles, 0, PAPER_INSENSITIVE),
	        paper_mean(&cycles, PAPER_INSENSITIVE, PAPER_REMOTE), paper_mean_remote(&bytes),
	        paper_mean_remote(&latency), classed);
}

void paper_write_answers(const struct paper *p)
{
	if (!p->answers)
		return;
	fputs("## What the answers matter\n\nFactors by which DualOpt is faster, and bytes between GPUs and "
	      "cycles of reads are fewer; of the 11 workloads that are not local, how many are of the "
	      "paper's class.\n\n"
	      "| question, and its answer | instead | DualOpt | cache-insensitive | cache-friendly | bytes | "
	      "cycles of a read | classes |\n|---|---|---|---|---|---|---|---|\n",
	      p->report);
	for (uint32_t a = 0; a < ANSWERS; a++)
		put_row(p, a);
	fputs("\n", p->report);
}
