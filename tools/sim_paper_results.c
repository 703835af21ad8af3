/* SPDX-License-Identifier: Apache-2.0 */
/* Section 6: what DualOpt makes of it. Figures 10 to 19, and what the text says without one. */
#include "sim_paper.h"

bool paper_classed(const struct sim_job *job, uint32_t w)
{
	const double coalesce = sim_job_counter(job, "decided_coalesce"),
	             cache = sim_job_counter(job, "decided_cache"),
	             local = sim_job_counter(job, "decided_local");

	return w < PAPER_INSENSITIVE ? coalesce > cache
	       : w < PAPER_REMOTE    ? cache > coalesce
	                             : local > coalesce + cache;
}

static void put_classes(struct paper *p)
{
	fputs("Declared: ", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const char *class_name = paper_counter(p, w, PAPER_DUALOPT, "decided_coalesce") > 0
		                             ? "coalescing"
		                         : paper_counter(p, w, PAPER_DUALOPT, "decided_cache") > 0 ? "caching"
		                         : paper_counter(p, w, PAPER_DUALOPT, "decided_local") > 0
		                             ? "local"
		                             : "nothing: its window was never full";

		fprintf(p->report, "%s %s%s%s", paper_workloads[w], class_name,
		        paper_classed(paper_job(p, w, PAPER_DUALOPT), w) ? "" : " (the paper: another)",
		        w + 1 < PAPER_WORKLOADS ? "; " : ".\n\n");
	}
}

static int figures_10_12(struct paper *p, struct gn_error *e)
{
	int rc;

	struct paper_series s[] = {
	    {"words, window", {0}}, {"words, whole", {0}}, {"hits, window", {0}}, {"hits, whole", {0}}};
	double agree = 0;

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		double words = 0, reads = 0;

		for (uint32_t k = 1; k <= 16; k++) {
			char name[32];

			snprintf(name, sizeof name, "remote_words_%u", k);
			words += k * paper_counter(p, w, PAPER_BASE, name);
			reads += paper_counter(p, w, PAPER_BASE, name);
		}
		s[0].value[w] = paper_share(paper_counter(p, w, PAPER_DUALOPT, "decide_words"),
		                            16 * paper_counter(p, w, PAPER_DUALOPT, "decide_lines"));
		s[1].value[w] = paper_share(words, 16 * reads);
		s[2].value[w] = paper_share(paper_counter(p, w, PAPER_DUALOPT, "decide_hits"),
		                            paper_counter(p, w, PAPER_DUALOPT, "decide_reads"));
		s[3].value[w] = paper_share(paper_counter(p, w, PAPER_BASE, "l1v_remote_hits"),
		                            paper_counter(p, w, PAPER_BASE, "l1v_remote_reads"));
		agree += paper_classed(paper_job(p, w, PAPER_DUALOPT), w);
	}
	paper_claim_share(p, "10, 12", "workloads of the class that the paper has them in", 1,
	                  agree / PAPER_WORKLOADS);
	rc = paper_figure(p, "10-12", "what the decision engine sees in its window, and of the whole run", s,
	                  4, e);
	put_classes(p);
	return rc;
}

static int figure_13(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {paper_speedups(p, "DualOpt", PAPER_BASE, PAPER_DUALOPT),
	                                 paper_speedups(p, "coalesce", PAPER_BASE, PAPER_COALESCE),
	                                 paper_speedups(p, "cache", PAPER_BASE, PAPER_CACHE),
	                                 paper_speedups(p, "page migration", PAPER_BASE, PAPER_MIGRATE)};
	const double migration = s[3].value[0] < s[3].value[2] ? s[3].value[0] : s[3].value[2];

	paper_claim_factor(p, "13", "DualOpt, mean", 2.5, paper_mean_remote(&s[0]));
	paper_claim_factor(p, "13", "DualOpt, cache-insensitive", 3.6,
	                   paper_mean(&s[0], 0, PAPER_INSENSITIVE));
	paper_claim_factor(p, "13", "DualOpt, cache-friendly", 1.6,
	                   paper_mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	paper_claim_factor(p, "13", "DualOpt, mm", 2.6, s[0].value[6]);
	paper_claim_factor(p, "13", "DualOpt, mt", 1, s[0].value[7]);
	paper_claim(p, "13", "page migration beats none on atax and bicg: more than", "%.2fx", 1, migration,
	            migration > 1 ? PAPER_REPRODUCED : PAPER_NOT);
	return paper_figure(
	    p, "13", "speedup of DualOpt, of each half of it wherever it is used, and of page migration", s,
	    4, e);
}

/* Packets that carry replies: each request is a packet of its own. */
static double reply_packets(const struct paper *p, uint32_t w, enum paper_variant v)
{
	return paper_counter(p, w, v, "net_messages") - paper_counter(p, w, v, "remote_transactions");
}

/* The paper does not say what it counts: by each measure, how much less there is, the mean of each class. */
static void put_traffic(struct paper *p)
{
	static const struct {
		const char *name;
		uint32_t first, last;
	} classes[] = {{"cache-insensitive", 0, PAPER_INSENSITIVE},
	               {"cache-friendly", PAPER_INSENSITIVE, PAPER_REMOTE},
	               {"both", 0, PAPER_REMOTE}};
	const struct paper_series bytes = paper_gains(p, "", PAPER_BASE, PAPER_DUALOPT, "net_bytes"),
	                          flits = paper_gains(p, "", PAPER_BASE, PAPER_DUALOPT, "net_flits_in"),
	                          packets = paper_gains(p, "", PAPER_BASE, PAPER_DUALOPT, "net_messages");
	struct paper_series replies = {"", {0}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		replies.value[w] =
		    paper_share(reply_packets(p, w, PAPER_BASE), reply_packets(p, w, PAPER_DUALOPT));
	fputs("| between GPUs, reduced by | bytes | flits | packets | packets of replies "
	      "|\n|---|---|---|---|---|\n",
	      p->report);
	for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
		const uint32_t first = classes[k].first, last = classes[k].last;

		fprintf(p->report, "| %s | %.2fx | %.2fx | %.2fx | %.2fx |\n", classes[k].name,
		        paper_mean(&bytes, first, last), paper_mean(&flits, first, last),
		        paper_mean(&packets, first, last), paper_mean(&replies, first, last));
	}
	fputs("\n", p->report);
}

static int figures_14_15(struct paper *p, struct gn_error *e)
{
	const struct paper_series traffic = paper_gains(p, "traffic", PAPER_BASE, PAPER_DUALOPT, "net_bytes");
	struct paper_series latency =
	    paper_gains(p, "latency", PAPER_BASE, PAPER_DUALOPT, "read_latency_cycles");
	int rc;

	paper_claim_factor(p, "14", "bytes between GPUs, reduced by, mean", 4.4, paper_mean_remote(&traffic));
	paper_claim_factor(p, "15", "cycles of a read, reduced by, mean", 2.4, paper_mean_remote(&latency));
	rc = paper_figure(p, "14", "bytes between GPUs without DualOpt over those with it", &traffic, 1, e);
	put_traffic(p);
	return rc ? rc
	          : paper_figure(p, "15", "latency of reads without DualOpt over that with it", &latency, 1,
	                         e);
}

static int figure_16(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {paper_speedups(p, "bypass", PAPER_BASE, PAPER_BYPASS),
	                                 paper_speedups(p, "+ fine", PAPER_BASE, PAPER_FINE),
	                                 paper_speedups(p, "+ coalesce", PAPER_BASE, PAPER_COALESCE)};
	const struct paper_series fine = paper_speedups(p, "", PAPER_BYPASS, PAPER_FINE),
	                          coalesce = paper_speedups(p, "", PAPER_FINE, PAPER_COALESCE);

	paper_claim_factor(p, "16", "bypass, atax and bicg", 3.2, (s[0].value[0] + s[0].value[2]) / 2);
	paper_claim_factor(p, "16", "bypass, bfs", 0.75, s[0].value[1]);
	paper_claim_factor(p, "16", "fine-grained over bypass, cache-insensitive", 1.7,
	                   paper_mean(&fine, 0, PAPER_INSENSITIVE));
	paper_claim_factor(p, "16", "coalescing over fine-grained, cache-insensitive", 1.2,
	                   paper_mean(&coalesce, 0, PAPER_INSENSITIVE));
	paper_claim_factor(p, "16", "coalescing over fine-grained, atax and bicg", 1,
	                   (coalesce.value[0] + coalesce.value[2]) / 2);
	return paper_figure(p, "16", "speedup of remote access coalescing, part by part", s, 3, e);
}

static int figure_17(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"remote cache", {0}}, {"L2 before", {0}}, {"L2 with it", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		s[0].value[w] = paper_share(paper_counter(p, w, PAPER_CACHE, "rc_hits") +
		                                paper_counter(p, w, PAPER_CACHE, "rc_merges"),
		                            paper_counter(p, w, PAPER_CACHE, "rc_lookups"));
		s[1].value[w] = paper_share(paper_counter(p, w, PAPER_BASE, "l2_hits"),
		                            paper_counter(p, w, PAPER_BASE, "l2_lookups"));
		s[2].value[w] = paper_share(paper_counter(p, w, PAPER_CACHE, "l2_hits"),
		                            paper_counter(p, w, PAPER_CACHE, "l2_lookups"));
	}
	paper_claim_share(p, "17", "cache-friendly: remote accesses that the remote cache serves", 0.35,
	                  paper_mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	paper_claim_share(p, "17", "cache-friendly: L2 hits before", 0.21,
	                  paper_mean(&s[1], PAPER_INSENSITIVE, PAPER_REMOTE));
	paper_claim_share(p, "17", "cache-friendly: L2 hits with it", 0.13,
	                  paper_mean(&s[2], PAPER_INSENSITIVE, PAPER_REMOTE));
	return paper_figure(p, "17", "hits in the remote cache and in L2", s, 3, e);
}

static int figure_18(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {paper_speedups(p, "4 GPUs", PAPER_BASE, PAPER_DUALOPT),
	                                 paper_speedups(p, "8 GPUs", PAPER_GPUS8, PAPER_GPUS8_DUALOPT),
	                                 paper_speedups(p, "16 GPUs", PAPER_GPUS16, PAPER_GPUS16_DUALOPT)};

	paper_claim_factor(p, "18", "8 GPUs, mean", 2.8, paper_mean_remote(&s[1]));
	paper_claim_factor(p, "18", "16 GPUs, mean", 2.9, paper_mean_remote(&s[2]));
	return paper_figure(p, "18", "speedup of DualOpt by the number of GPUs", s, 3, e);
}

static int figure_19(struct paper *p, struct gn_error *e)
{
	const struct paper_series s = paper_speedups(p, "DualOpt", PAPER_FIRST_TOUCH, PAPER_DUALOPT);

	paper_claim_factor(p, "19", "over Griffin (here: pages that move at the first touch), mean", 4,
	                   paper_mean_remote(&s));
	return paper_figure(
	    p, "19", "speedup of DualOpt over pages that move at the first touch, in the manner of Griffin",
	    &s, 1, e);
}

/* ---- what the text says without a figure ---- */

static double largest(const struct paper_series *s)
{
	double most = 0;

	for (uint32_t w = 0; w < PAPER_INSENSITIVE; w++)
		most = s->value[w] > most ? s->value[w] : most;
	return most;
}

static int sensitivity(struct paper *p, struct gn_error *e)
{
	const struct paper_series words[] = {
	    paper_speedups(p, "over 8 bytes", PAPER_WORDS8, PAPER_COALESCE),
	    paper_speedups(p, "over 16 bytes", PAPER_WORDS16, PAPER_COALESCE)};
	const struct paper_series timeout[] = {
	    paper_speedups(p, "30 over 10", PAPER_TIMEOUT10, PAPER_COALESCE),
	    paper_speedups(p, "50 over 30", PAPER_COALESCE, PAPER_TIMEOUT50)};
	const struct paper_series machine[] = {
	    paper_speedups(p, "round robin", PAPER_ROUND_ROBIN, PAPER_ROUND_ROBIN_DUALOPT),
	    paper_speedups(p, "greedy", PAPER_GREEDY, PAPER_GREEDY_DUALOPT),
	    paper_speedups(p, "links x2", PAPER_LINKS2, PAPER_LINKS2_DUALOPT),
	    paper_speedups(p, "links x4", PAPER_LINKS4, PAPER_LINKS4_DUALOPT),
	    paper_speedups(p, "32-byte flits", PAPER_FLIT32, PAPER_FLIT32_DUALOPT),
	    paper_speedups(p, "64-byte flits", PAPER_FLIT64, PAPER_FLIT64_DUALOPT)};
	const struct paper_series l2 = paper_speedups(p, "lines over words", PAPER_FINE_L2, PAPER_COALESCE);
	static const double paper[] = {2.5, 2.7, 2.5, 2.5, 2.0, 1.8};
	int rc;

	paper_claim_factor(p, "text", "words of 4 bytes over 8, cache-insensitive", 1.03,
	                   paper_mean(&words[0], 0, PAPER_INSENSITIVE));
	paper_claim_factor(p, "text", "words of 4 bytes over 16, cache-insensitive", 1.15,
	                   paper_mean(&words[1], 0, PAPER_INSENSITIVE));
	paper_claim_factor(p, "text", "time-out of 30 cycles over 10, at most", 1.04, largest(&timeout[0]));
	paper_claim_factor(p, "text", "lines over words in L2, cache-insensitive, at most", 1.02,
	                   largest(&l2));
	for (unsigned k = 0; k < 6; k++) {
		char statement[64];

		snprintf(statement, sizeof statement, "DualOpt with %s, mean", machine[k].name);
		paper_claim_factor(p, "text", statement, paper[k], paper_mean_remote(&machine[k]));
	}
	rc = paper_figure(p, "text-words", "coalescing words of 4 bytes over larger ones", words, 2, e);
	rc = rc ? rc : paper_figure(p, "text-l2", "coalescing with whole lines in L2 over words", &l2, 1, e);
	rc = rc ? rc : paper_figure(p, "text-timeout", "coalescing by its time-out", timeout, 2, e);
	return rc ? rc
	          : paper_figure(p, "text-machine", "speedup of DualOpt on other machines", machine, 6, e);
}

int paper_section_6(struct paper *p, struct gn_error *e)
{
	static int (*const figures[])(struct paper * p, struct gn_error * e) = {
	    figures_10_12, figure_13, figures_14_15, figure_16, figure_17, figure_18, figure_19, sensitivity};
	int rc = 0;

	for (unsigned k = 0; k < sizeof figures / sizeof *figures && !rc; k++)
		rc = figures[k](p, e);
	return rc;
}
