/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The figures: what is computed from the counters, and the statement of the paper beside it. Numbers are those of its text; bars of
 * single workloads cannot be read off it.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "sim_paper.h"

static double counter(const struct paper *p, uint32_t w, enum paper_variant v, const char *name)
{
	return sim_job_counter(paper_job(p, w, v), name);
}

static double share(double part, double all)
{
	return all > 0 ? part / all : NAN;
}

/* How much less of a counter there is with a variant. */
static double gain(const struct paper *p, uint32_t w, enum paper_variant base, enum paper_variant v, const char *name)
{
	return share(counter(p, w, base, name), counter(p, w, v, name));
}

static struct paper_series gains(const struct paper *p, const char *series, enum paper_variant base, enum paper_variant v,
				 const char *name)
{
	struct paper_series s;

	s.name = series;
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		s.value[w] = gain(p, w, base, v, name);
	return s;
}

static struct paper_series speedups(const struct paper *p, const char *series, enum paper_variant base, enum paper_variant v)
{
	return gains(p, series, base, v, "kernel_cycles");
}

/* Of workloads first to last - 1 that have a value. */
static double mean(const struct paper_series *s, uint32_t first, uint32_t last)
{
	double sum = 0, count = 0;

	for (uint32_t w = first; w < last; w++)
		if (isfinite(s->value[w])) {
			sum += s->value[w];
			count++;
		}
	return count ? sum / count : NAN;
}

static double mean_remote(const struct paper_series *s)
{
	return mean(s, 0, PAPER_REMOTE);
}

/* ---- statements ---- */

enum verdict { REPRODUCED, DIRECTION, NOT };

static void claim(struct paper *p, const char *figure, const char *statement, const char *format, double paper, double here,
		  enum verdict verdict)
{
	static const char *const words[] = {"reproduced", "direction only", "not reproduced"};

	fprintf(p->claims, "| %s | %s | ", figure, statement);
	fprintf(p->claims, format, paper);
	fputs(" | ", p->claims);
	fprintf(p->claims, format, here);
	fprintf(p->claims, " | %s |\n", words[verdict]);
	p->verdicts[verdict]++;
}

/* A factor: on the same side of 1, and how near. */
static void claim_factor(struct paper *p, const char *figure, const char *statement, double paper, double here)
{
	const bool same = fabs(paper - 1) < 0.05 ? fabs(here - 1) < 0.1 : (paper > 1) == (here > 1) && fabs(here - 1) > 0.01;
	const bool near = fabs(here / paper - 1) <= 0.25 && same;

	claim(p, figure, statement, "%.2fx", paper, here, near ? REPRODUCED : same ? DIRECTION : NOT);
}

static void claim_share(struct paper *p, const char *figure, const char *statement, double paper, double here)
{
	claim(p, figure, statement, "%.0f %%", 100 * paper, 100 * here, fabs(paper - here) <= 0.1 ? REPRODUCED : NOT);
}

/* ---- a figure: its drawing and its numbers ---- */

static int figure(struct paper *p, const char *number, const char *title, const struct paper_series *s, uint32_t count,
		  struct gn_error *e)
{
	char file[64];
	int rc;

	snprintf(file, sizeof file, "figure-%s.svg", number);
	rc = paper_plot(p, file, title, s, count, e);
	fprintf(p->report, "## Figure %s: %s\n\n![Figure %s](%s)\n\n| workload |", number, title, number, file);
	for (uint32_t k = 0; k < count; k++)
		fprintf(p->report, " %s |", s[k].name);
	fputs("\n|---|", p->report);
	for (uint32_t k = 0; k < count; k++)
		fputs("---|", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		fprintf(p->report, "\n| %s |", paper_workloads[w]);
		for (uint32_t k = 0; k < count; k++)
			fprintf(p->report, isfinite(s[k].value[w]) ? " %.3f |" : " - |", s[k].value[w]);
	}
	fputs("\n| **mean of 11** |", p->report);
	for (uint32_t k = 0; k < count; k++)
		fprintf(p->report, " %.3f |", mean_remote(&s[k]));
	fputs("\n\n", p->report);
	return rc;
}

/* ---- section 3 ---- */

/* What a faster clock makes faster is left open: links alone saturate, as there; with the switches they do not. */
static int figure_2(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {speedups(p, "2 GHz", PAPER_BASE, PAPER_LINKS2), speedups(p, "4 GHz", PAPER_BASE, PAPER_LINKS4),
					 speedups(p, "8 GHz", PAPER_BASE, PAPER_LINKS8), speedups(p, "16 GHz", PAPER_BASE, PAPER_LINKS16)};
	const struct paper_series t[] = {speedups(p, "2 GHz", PAPER_BASE, PAPER_CLOCK2), speedups(p, "4 GHz", PAPER_BASE, PAPER_CLOCK4),
					 speedups(p, "8 GHz", PAPER_BASE, PAPER_CLOCK8), speedups(p, "16 GHz", PAPER_BASE, PAPER_CLOCK16)};
	static const double paper[] = {1.8, 2.4, 3.1, 3.2};
	int rc;

	for (unsigned k = 0; k < 4; k++) {
		char statement[64];

		snprintf(statement, sizeof statement, "links of %s, mean of 13", s[k].name);
		claim_factor(p, "2", statement, paper[k], mean(&s[k], 0, PAPER_WORKLOADS));
	}
	claim_factor(p, "2", "16 GHz over 8 GHz: saturated", 1.03,
		     mean(&s[3], 0, PAPER_WORKLOADS) / mean(&s[2], 0, PAPER_WORKLOADS));
	claim_factor(p, "2", "aes and fir do not care, 16 GHz", 1, mean(&s[3], PAPER_REMOTE, PAPER_WORKLOADS));
	rc = figure(p, "2", "speedup by the clock of links", s, 4, e);
	return rc ? rc : figure(p, "2-switches", "the same where switches become as much faster", t, 4, e);
}

static int figure_3(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"local", {0}}, {"remote, L1", {0}}, {"remote", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const double all = counter(p, w, PAPER_BASE, "vector_reads") + counter(p, w, PAPER_BASE, "vector_writes");
		const double hits = counter(p, w, PAPER_BASE, "l1v_remote_hits");
		const double remote = counter(p, w, PAPER_BASE, "l1v_remote_reads") + counter(p, w, PAPER_BASE, "l1v_remote_writes");

		s[0].value[w] = share(all - remote, all);
		s[1].value[w] = share(hits, all);
		s[2].value[w] = share(remote - hits, all);
	}
	claim_share(p, "3", "accesses that remote memory serves", 0.4, mean_remote(&s[2]));
	return figure(p, "3", "where accesses are served", s, 3, e);
}

static int figure_4(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"before", {0}}, {"links", {0}}, {"behind", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const double all = counter(p, w, PAPER_BASE, "remote_read_cycles");
		const double links = counter(p, w, PAPER_BASE, "remote_request_cycles") + counter(p, w, PAPER_BASE, "remote_reply_cycles");
		const double before = counter(p, w, PAPER_BASE, "remote_to_rdma_cycles") + counter(p, w, PAPER_BASE, "remote_return_cycles");

		s[0].value[w] = share(before, all);
		s[1].value[w] = share(links, all);
		s[2].value[w] = share(all - links - before, all);
	}
	claim_share(p, "4", "of a remote read's cycles, within links (here, what waits for a port is before them)", 0.8, mean_remote(&s[1]));
	return figure(p, "4", "where the cycles of remote reads go", s, 3, e);
}

static double words_below(const struct paper *p, uint32_t w, uint32_t most)
{
	double some = 0, all = 0;

	for (uint32_t k = 1; k <= 16; k++) {
		char name[32];

		snprintf(name, sizeof name, "remote_words_%u", k);
		all += counter(p, w, PAPER_BASE, name);
		some += k <= most ? counter(p, w, PAPER_BASE, name) : 0;
	}
	return share(some, all);
}

static int figure_5(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"1 word", {0}}, {"to 3", {0}}, {"to 8", {0}}, {"to 15", {0}}};
	static const uint32_t most[] = {1, 3, 8, 15};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		for (unsigned k = 0; k < 4; k++)
			s[k].value[w] = words_below(p, w, most[k]);
	claim_share(p, "5", "cache-insensitive: accesses that use less than 4 words of a line", 0.99, mean(&s[1], 0, PAPER_INSENSITIVE));
	return figure(p, "5", "share of remote reads that use so many words of a line, or fewer", s, 4, e);
}

static int figure_6(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"L1 hits", {0}}, {"could be shared", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		s[0].value[w] = share(counter(p, w, PAPER_BASE, "l1v_remote_hits"), counter(p, w, PAPER_BASE, "l1v_remote_reads"));
		s[1].value[w] = share(counter(p, w, PAPER_IDEAL, "rc_hits") + counter(p, w, PAPER_IDEAL, "rc_merges"),
				      counter(p, w, PAPER_IDEAL, "rc_lookups"));
	}
	claim_share(p, "6", "cache-friendly: remote reads that hit in L1", 0.22, mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	claim_share(p, "6", "the same, bfs", 0.33, s[0].value[1]);
	return figure(p, "6", "remote reads that hit in L1; requests that a cache of 64 MB would have spared", s, 2, e);
}

/* ---- section 6 ---- */

static uint32_t as_the_paper(const struct paper *p, uint32_t w)
{
	const char *name = w < PAPER_INSENSITIVE ? "decided_coalesce" : w < PAPER_REMOTE ? "decided_cache" : NULL;
	const double other = counter(p, w, PAPER_DUALOPT, "decided_coalesce") + counter(p, w, PAPER_DUALOPT, "decided_cache");

	return name ? counter(p, w, PAPER_DUALOPT, name) > 0 : other == 0;
}

static void put_classes(struct paper *p)
{
	fputs("Declared: ", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const char *class_name = counter(p, w, PAPER_DUALOPT, "decided_coalesce") > 0 ? "coalescing"
					 : counter(p, w, PAPER_DUALOPT, "decided_cache") > 0  ? "caching"
					 : counter(p, w, PAPER_DUALOPT, "decided_local") > 0  ? "local"
											      : "nothing: its window was never full";

		fprintf(p->report, "%s %s%s%s", paper_workloads[w], class_name, as_the_paper(p, w) ? "" : " (the paper: another)",
			w + 1 < PAPER_WORKLOADS ? "; " : ".\n\n");
	}
}

static int figures_10_12(struct paper *p, struct gn_error *e)
{
	int rc;

	struct paper_series s[] = {{"words, window", {0}}, {"words, whole", {0}}, {"hits, window", {0}}, {"hits, whole", {0}}};
	double agree = 0;

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		double words = 0, reads = 0;

		for (uint32_t k = 1; k <= 16; k++) {
			char name[32];

			snprintf(name, sizeof name, "remote_words_%u", k);
			words += k * counter(p, w, PAPER_BASE, name);
			reads += counter(p, w, PAPER_BASE, name);
		}
		s[0].value[w] = share(counter(p, w, PAPER_DUALOPT, "decide_words"), 16 * counter(p, w, PAPER_DUALOPT, "decide_reads"));
		s[1].value[w] = share(words, 16 * reads);
		s[2].value[w] = share(counter(p, w, PAPER_DUALOPT, "decide_hits"), counter(p, w, PAPER_DUALOPT, "decide_reads"));
		s[3].value[w] = share(counter(p, w, PAPER_BASE, "l1v_remote_hits"), counter(p, w, PAPER_BASE, "l1v_remote_reads"));
		agree += as_the_paper(p, w);
	}
	claim_share(p, "10, 12", "workloads of the class that the paper has them in", 1, agree / PAPER_WORKLOADS);
	rc = figure(p, "10-12", "what the decision engine sees in its window, and of the whole run", s, 4, e);
	put_classes(p);
	return rc;
}

static int figure_13(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {speedups(p, "DualOpt", PAPER_BASE, PAPER_DUALOPT), speedups(p, "coalesce", PAPER_BASE, PAPER_COALESCE),
					 speedups(p, "cache", PAPER_BASE, PAPER_CACHE)};

	claim_factor(p, "13", "DualOpt, mean", 2.5, mean_remote(&s[0]));
	claim_factor(p, "13", "DualOpt, cache-insensitive", 3.6, mean(&s[0], 0, PAPER_INSENSITIVE));
	claim_factor(p, "13", "DualOpt, cache-friendly", 1.6, mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	claim_factor(p, "13", "DualOpt, mm", 2.6, s[0].value[6]);
	claim_factor(p, "13", "DualOpt, mt", 1, s[0].value[7]);
	return figure(p, "13", "speedup of DualOpt, and of each half of it wherever it is used", s, 3, e);
}

static int figures_14_15(struct paper *p, struct gn_error *e)
{
	const struct paper_series traffic = gains(p, "traffic", PAPER_BASE, PAPER_DUALOPT, "net_bytes");
	struct paper_series latency = gains(p, "latency", PAPER_BASE, PAPER_DUALOPT, "read_latency_cycles");
	int rc;

	claim_factor(p, "14", "bytes between GPUs, reduced by, mean", 4.4, mean_remote(&traffic));
	claim_factor(p, "15", "cycles of a read, reduced by, mean", 2.4, mean_remote(&latency));
	rc = figure(p, "14", "bytes between GPUs without DualOpt over those with it", &traffic, 1, e);
	return rc ? rc : figure(p, "15", "latency of reads without DualOpt over that with it", &latency, 1, e);
}

static int figure_16(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {speedups(p, "bypass", PAPER_BASE, PAPER_BYPASS), speedups(p, "+ fine", PAPER_BASE, PAPER_FINE),
					 speedups(p, "+ coalesce", PAPER_BASE, PAPER_COALESCE)};
	const struct paper_series fine = speedups(p, "", PAPER_BYPASS, PAPER_FINE), coalesce = speedups(p, "", PAPER_FINE, PAPER_COALESCE);

	claim_factor(p, "16", "bypass, atax and bicg", 3.2, (s[0].value[0] + s[0].value[2]) / 2);
	claim_factor(p, "16", "bypass, bfs", 0.75, s[0].value[1]);
	claim_factor(p, "16", "fine-grained over bypass, cache-insensitive", 1.7, mean(&fine, 0, PAPER_INSENSITIVE));
	claim_factor(p, "16", "coalescing over fine-grained, cache-insensitive", 1.2, mean(&coalesce, 0, PAPER_INSENSITIVE));
	claim_factor(p, "16", "coalescing over fine-grained, atax and bicg", 1, (coalesce.value[0] + coalesce.value[2]) / 2);
	return figure(p, "16", "speedup of remote access coalescing, part by part", s, 3, e);
}

static int figure_17(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"remote cache", {0}}, {"L2 before", {0}}, {"L2 with it", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		s[0].value[w] = share(counter(p, w, PAPER_CACHE, "rc_hits") + counter(p, w, PAPER_CACHE, "rc_merges"),
				      counter(p, w, PAPER_CACHE, "rc_lookups"));
		s[1].value[w] = share(counter(p, w, PAPER_BASE, "l2_hits"), counter(p, w, PAPER_BASE, "l2_lookups"));
		s[2].value[w] = share(counter(p, w, PAPER_CACHE, "l2_hits"), counter(p, w, PAPER_CACHE, "l2_lookups"));
	}
	claim_share(p, "17", "cache-friendly: remote accesses that the remote cache serves", 0.35, mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	claim_share(p, "17", "cache-friendly: L2 hits before", 0.21, mean(&s[1], PAPER_INSENSITIVE, PAPER_REMOTE));
	claim_share(p, "17", "cache-friendly: L2 hits with it", 0.13, mean(&s[2], PAPER_INSENSITIVE, PAPER_REMOTE));
	return figure(p, "17", "hits in the remote cache and in L2", s, 3, e);
}

static int figure_18(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {speedups(p, "4 GPUs", PAPER_BASE, PAPER_DUALOPT), speedups(p, "8 GPUs", PAPER_GPUS8, PAPER_GPUS8_DUALOPT),
					 speedups(p, "16 GPUs", PAPER_GPUS16, PAPER_GPUS16_DUALOPT)};

	claim_factor(p, "18", "8 GPUs, mean", 2.8, mean_remote(&s[1]));
	claim_factor(p, "18", "16 GPUs, mean", 2.9, mean_remote(&s[2]));
	return figure(p, "18", "speedup of DualOpt by the number of GPUs", s, 3, e);
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
	const struct paper_series words[] = {speedups(p, "over 8 bytes", PAPER_WORDS8, PAPER_COALESCE),
					     speedups(p, "over 16 bytes", PAPER_WORDS16, PAPER_COALESCE)};
	const struct paper_series timeout[] = {speedups(p, "30 over 10", PAPER_TIMEOUT10, PAPER_COALESCE),
					       speedups(p, "50 over 30", PAPER_COALESCE, PAPER_TIMEOUT50)};
	const struct paper_series machine[] = {
	    speedups(p, "round robin", PAPER_ROUND_ROBIN, PAPER_ROUND_ROBIN_DUALOPT), speedups(p, "greedy", PAPER_GREEDY, PAPER_GREEDY_DUALOPT),
	    speedups(p, "links x2", PAPER_LINKS2, PAPER_LINKS2_DUALOPT),	      speedups(p, "links x4", PAPER_LINKS4, PAPER_LINKS4_DUALOPT),
	    speedups(p, "32-byte flits", PAPER_FLIT32, PAPER_FLIT32_DUALOPT),	      speedups(p, "64-byte flits", PAPER_FLIT64, PAPER_FLIT64_DUALOPT)};
	static const double paper[] = {2.5, 2.7, 2.5, 2.5, 2.0, 1.8};
	int rc;

	claim_factor(p, "text", "words of 4 bytes over 8, cache-insensitive", 1.03, mean(&words[0], 0, PAPER_INSENSITIVE));
	claim_factor(p, "text", "words of 4 bytes over 16, cache-insensitive", 1.15, mean(&words[1], 0, PAPER_INSENSITIVE));
	claim_factor(p, "text", "time-out of 30 cycles over 10, at most", 1.04, largest(&timeout[0]));
	for (unsigned k = 0; k < 6; k++) {
		char statement[64];

		snprintf(statement, sizeof statement, "DualOpt with %s, mean", machine[k].name);
		claim_factor(p, "text", statement, paper[k], mean_remote(&machine[k]));
	}
	rc = figure(p, "text-words", "coalescing words of 4 bytes over larger ones", words, 2, e);
	rc = rc ? rc : figure(p, "text-timeout", "coalescing by its time-out", timeout, 2, e);
	return rc ? rc : figure(p, "text-machine", "speedup of DualOpt on other machines", machine, 6, e);
}

static void sizes(struct paper *p)
{
	fputs("## What was simulated\n\n| workload | --size | cycles without DualOpt | with it |\n|---|---|---|---|\n", p->report);
	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		fprintf(p->report, "| %s | %s | %.0f | %.0f |\n", paper_workloads[w], p->size[w], counter(p, w, PAPER_BASE, "kernel_cycles"),
			counter(p, w, PAPER_DUALOPT, "kernel_cycles"));
	fputs("\nThe machine is Table 1's, and MGPUSim's where that says nothing (`grapnel sim list --keys`). Each result lies beside this report with all "
	      "counters and keys. Not simulated: page migration and Griffin (figures 13 and 19), as there is no model of them; fine-grained L2.\n\n",
	      p->report);
}

int paper_write(struct paper *p, struct gn_error *e)
{
	static int (*const figures[])(struct paper * p, struct gn_error * e) = {
	    figure_2,  figure_3,      figure_4,	 figure_5,  figure_6,  figures_10_12,
	    figure_13, figures_14_15, figure_16, figure_17, figure_18, sensitivity};
	int rc = 0;

	sizes(p);
	for (unsigned k = 0; k < sizeof figures / sizeof *figures && !rc; k++)
		rc = figures[k](p, e);
	return rc;
}
