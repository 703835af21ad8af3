/* SPDX-License-Identifier: Apache-2.0 */
/* Section 3: where the time of remote accesses goes, and why. Figures 2 to 6. */
#include <math.h>

#include "sim_paper.h"

/* Links of half, as many and twice the machine's bytes a cycle: how far each is from the paper's factors. */
static void put_rates(struct paper *p, const double *paper)
{
	static const enum paper_variant by_clock[] = {PAPER_LINKS_HALF, PAPER_BASE,   PAPER_LINKS2,
	                                              PAPER_LINKS4,     PAPER_LINKS8, PAPER_LINKS16,
	                                              PAPER_LINKS32};

	fputs("| links, times this machine's | 2 GHz | 4 GHz | 8 GHz | 16 GHz | off by, root mean square "
	      "|\n|---|---|---|---|---|---|\n| the paper |",
	      p->report);
	for (unsigned k = 0; k < 4; k++)
		fprintf(p->report, " %.2fx |", paper[k]);
	fputs(" |\n", p->report);
	for (unsigned rate = 0; rate < 3; rate++) {
		double squares = 0;

		fprintf(p->report, "| %g |", 0.5 * (1 << rate));
		for (unsigned k = 0; k < 4; k++) {
			const struct paper_series s =
			    paper_speedups(p, "", by_clock[rate], by_clock[rate + k + 1]);
			const double here = paper_mean(&s, 0, PAPER_WORKLOADS), off = here / paper[k] - 1;

			squares += off * off;
			fprintf(p->report, " %.2fx |", here);
		}
		fprintf(p->report, " %.0f %% |\n", 100 * sqrt(squares / 4));
	}
	fputs("\n", p->report);
}

static int figure_2(struct paper *p, struct gn_error *e)
{
	const struct paper_series s[] = {paper_speedups(p, "2 GHz", PAPER_BASE, PAPER_LINKS2),
	                                 paper_speedups(p, "4 GHz", PAPER_BASE, PAPER_LINKS4),
	                                 paper_speedups(p, "8 GHz", PAPER_BASE, PAPER_LINKS8),
	                                 paper_speedups(p, "16 GHz", PAPER_BASE, PAPER_LINKS16)};
	static const double paper[] = {1.8, 2.4, 3.1, 3.2};
	int rc;

	for (unsigned k = 0; k < 4; k++) {
		char statement[64];

		snprintf(statement, sizeof statement, "links of %s, mean of 13", s[k].name);
		paper_claim_factor(p, "2", statement, paper[k], paper_mean(&s[k], 0, PAPER_WORKLOADS));
	}
	paper_claim_factor(p, "2", "16 GHz over 8 GHz: saturated", 1.03,
	                   paper_mean(&s[3], 0, PAPER_WORKLOADS) / paper_mean(&s[2], 0, PAPER_WORKLOADS));
	paper_claim_factor(p, "2", "aes and fir do not care, 16 GHz", 1,
	                   paper_mean(&s[3], PAPER_REMOTE, PAPER_WORKLOADS));
	rc = paper_figure(p, "2", "speedup by the clock of links", s, 4, e);
	put_rates(p, paper);
	return rc;
}

static int figure_3(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"local", {0}}, {"remote, L1", {0}}, {"remote", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const double all = paper_counter(p, w, PAPER_BASE, "vector_reads") +
		                   paper_counter(p, w, PAPER_BASE, "vector_writes");
		const double hits = paper_counter(p, w, PAPER_BASE, "l1v_remote_hits");
		const double remote = paper_counter(p, w, PAPER_BASE, "l1v_remote_reads") +
		                      paper_counter(p, w, PAPER_BASE, "l1v_remote_writes");

		s[0].value[w] = paper_share(all - remote, all);
		s[1].value[w] = paper_share(hits, all);
		s[2].value[w] = paper_share(remote - hits, all);
	}
	paper_claim_share(p, "3", "accesses that remote memory serves", 0.4, paper_mean_remote(&s[2]));
	return paper_figure(p, "3", "where accesses are served", s, 3, e);
}

static int figure_4(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"before", {0}}, {"links", {0}}, {"behind", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		const double all = paper_counter(p, w, PAPER_BASE, "remote_read_cycles");
		const double links = paper_counter(p, w, PAPER_BASE, "remote_request_cycles") +
		                     paper_counter(p, w, PAPER_BASE, "remote_reply_cycles");
		const double before = paper_counter(p, w, PAPER_BASE, "remote_to_rdma_cycles") +
		                      paper_counter(p, w, PAPER_BASE, "remote_return_cycles");

		s[0].value[w] = paper_share(before, all);
		s[1].value[w] = paper_share(links, all);
		s[2].value[w] = paper_share(all - links - before, all);
	}
	paper_claim_share(p, "4", "of a remote read's cycles, within links (what waits for L1 counts too)",
	                  0.8, paper_mean_remote(&s[1]));
	return paper_figure(p, "4", "where the cycles of remote reads go", s, 3, e);
}

static double words_below(const struct paper *p, uint32_t w, uint32_t most)
{
	double some = 0, all = 0;

	for (uint32_t k = 1; k <= 16; k++) {
		char name[32];

		snprintf(name, sizeof name, "remote_words_%u", k);
		all += paper_counter(p, w, PAPER_BASE, name);
		some += k <= most ? paper_counter(p, w, PAPER_BASE, name) : 0;
	}
	return paper_share(some, all);
}

static int figure_5(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"1 word", {0}}, {"to 3", {0}}, {"to 8", {0}}, {"to 15", {0}}};
	static const uint32_t most[] = {1, 3, 8, 15};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++)
		for (unsigned k = 0; k < 4; k++)
			s[k].value[w] = words_below(p, w, most[k]);
	paper_claim_share(p, "5", "cache-insensitive: accesses that use less than 4 words of a line", 0.99,
	                  paper_mean(&s[1], 0, PAPER_INSENSITIVE));
	return paper_figure(p, "5", "share of remote reads that use so many words of a line, or fewer", s, 4,
	                    e);
}

static int figure_6(struct paper *p, struct gn_error *e)
{
	struct paper_series s[] = {{"L1 hits", {0}}, {"could be shared", {0}}};

	for (uint32_t w = 0; w < PAPER_WORKLOADS; w++) {
		s[0].value[w] = paper_share(paper_counter(p, w, PAPER_BASE, "l1v_remote_hits"),
		                            paper_counter(p, w, PAPER_BASE, "l1v_remote_reads"));
		s[1].value[w] = paper_share(paper_counter(p, w, PAPER_IDEAL, "rc_hits") +
		                                paper_counter(p, w, PAPER_IDEAL, "rc_merges"),
		                            paper_counter(p, w, PAPER_IDEAL, "rc_lookups"));
	}
	paper_claim_share(p, "6", "cache-friendly: remote reads that hit in L1", 0.22,
	                  paper_mean(&s[0], PAPER_INSENSITIVE, PAPER_REMOTE));
	paper_claim_share(p, "6", "the same, bfs", 0.33, s[0].value[1]);
	return paper_figure(
	    p, "6", "remote reads that hit in L1; requests that a cache of 64 MB would have spared", s, 2, e);
}

int paper_section_3(struct paper *p, struct gn_error *e)
{
	static int (*const figures[])(struct paper * p, struct gn_error * e) = {figure_2, figure_3, figure_4,
	                                                                        figure_5, figure_6};
	int rc = 0;

	for (unsigned k = 0; k < sizeof figures / sizeof *figures && !rc; k++)
		rc = figures[k](p, e);
	return rc;
}
