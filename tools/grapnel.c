/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grapnel command: finds the subcommand and hands it the rest of the line.
 */
#include <grapnel/version.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

#ifndef GRAPNEL_VERSION
#define GRAPNEL_VERSION "unknown"
#endif

static const struct tool tools[] = {
    {"doctor", "say what this machine has, and what Grapnel can use of it", tool_doctor},
    {"gen", "generate a synthetic graph or table", tool_gen},
    {"bfs", "breadth-first search of a graph that may be larger than the cache", tool_bfs},
    {"cc", "connected components of a graph that may be larger than the cache", tool_cc},
    {"bc", "betweenness centrality of a graph that may be larger than the cache", tool_bc},
    {"pagerank", "PageRank of a graph that may be larger than the cache, or is spread over nodes",
     tool_pagerank},
    {"sssp", "shortest paths in a graph that may be larger than the cache, or is spread over nodes",
     tool_sssp},
    {"tc", "count the triangles of a graph that may be larger than the cache", tool_tc},
    {"query", "sums and averages over the rows of a table that may be larger than the cache", tool_query},
    {"add", "C = A + B, three arrays that may be larger than the cache", tool_add},
    {"mvt", "x1 += A y1, x2 += A^T y2, of a matrix that may be larger than the cache", tool_mvt},
    {"atax", "y = A^T (A x), of a matrix that may be larger than the cache", tool_atax},
    {"bicg", "q = A p, s = A^T r, of a matrix that may be larger than the cache", tool_bicg},
    {"stencil", "Jacobi steps over a grid that may be larger than the cache", tool_stencil},
    {"sort", "sort keys that may be more than memory holds", tool_sort},
    {"sweep", "run a job with smaller and smaller caches, and draw how much slower it becomes", tool_sweep},
    {"bench", "run workloads with Grapnel and without it, beside the machine's limits", tool_bench},
    {"cache-bench", "measure hits and misses of the cache beside the machine's limits", tool_cache_bench},
    {"gather", "measure batches of rows beside reading the rows one by one", tool_gather},
    {"auto-bench", "run twelve access patterns in every mode and in the mode that the library chooses",
     tool_auto_bench},
    {"gups", "random updates of a table that is spread over many nodes", tool_gups},
    {"color", "colour the vertices of a graph that is spread over many nodes", tool_color},
    {"kmeans", "cluster points that are spread over many nodes", tool_kmeans},
    {"mer", "count the k-mers of DNA in a table that is spread over many nodes", tool_mer},
    {"net-model", "simulate the rate of small messages between up to 65536 nodes", tool_net_model},
    {"scope", "measure every way to move data on this machine", tool_scope},
    {"sim", "simulate workloads on several GPUs, without or with the DualOpt hardware", tool_sim},
    {"store",
     "the bytes of a store, such as a stripe, replica or tier of files or drives: read, write, rebuild",
     tool_store},
    {"nvme", "drive NVMe drives from user space: list, bind, identify, read, write, measure", tool_nvme},
    {"serve", "lend memory or files to Grapnel on other machines, by RDMA", tool_serve},
    {"tune", "derive settings for this machine from a report of grapnel scope", tool_tune},
    {"convert", "convert a graph or a table of another format to a Grapnel file", tool_convert},
};

enum { TOOLS = sizeof tools / sizeof tools[0] };

static void help(FILE *to)
{
	fputs("Usage: grapnel SUBCOMMAND [OPTION...]\nGPU threads reach data outside GPU memory, without "
	      "help of a CPU thread.\n\n",
	      to);
	for (unsigned k = 0; k < TOOLS; k++)
		fprintf(to, "  %-12s %s\n", tools[k].name, tools[k].summary);
	fputs(
	    "\n  grapnel SUBCOMMAND --help prints the options of a subcommand\n  grapnel --version         "
	    "prints the version\n\nExit status: 0 success, 1 the run failed, 2 the command line is wrong.\n",
	    to);
}

static const struct tool *find(const char *name)
{
	for (unsigned k = 0; k < TOOLS; k++) {
		if (!strcmp(tools[k].name, name))
			return &tools[k];
	}
	return NULL;
}

/* A full disk behind stdout shows only when the buffer is written out. */
static int flushed(const char *name, int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr,
	        "grapnel %s: writing to standard output failed; check the disk, file or pipe behind it\n",
	        name);
	return status ? status : TOOL_FAILED;
}

static int run(const struct tool *t, int argc, char **argv)
{
	char name[64];

	snprintf(name, sizeof name, "grapnel %s", t->name);
	argv[0] = name;
	argp_err_exit_status = TOOL_USAGE;
	argp_program_version = "grapnel " GRAPNEL_VERSION;
	signal(SIGXFSZ, SIG_IGN); /* a file over the limit is then an error of the write, which is reported */
	return flushed(t->name, t->run(argc, argv));
}

int main(int argc, char **argv)
{
	const struct tool *t;

	if (argc < 2) {
		fputs("grapnel: no subcommand given; 'grapnel --help' lists the subcommands\n", stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
		help(stdout);
		return flushed("help", TOOL_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("grapnel %s\n", gn_version_text());
		return flushed("version", TOOL_OK);
	}
	t = find(argv[1]);
	if (t)
		return run(t, argc - 1, argv + 1);
	fprintf(stderr, "grapnel: %s: unknown subcommand; 'grapnel --help' lists the subcommands\n", argv[1]);
	return TOOL_USAGE;
}
