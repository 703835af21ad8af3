/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job over a graph in a .gng file, with nothing of it in memory: through the file store and a cache, or the
 * same kernels on the mapped file, which the system reads on faults. MADV_RANDOM keeps the system from
 * reading around a fault, as a program that knows its accesses would. The way "memory" reads the whole file
 * into the system's page cache before the job begins. Its time is the limit of the two other ways.
 *
 *     bench_graph_file file=FILE work=bfs|cc|sssp|pagerank way=cache|mmap|memory [source=1]
 *         [share=8] [page=0] [layout=csr]
 *
 * share: the cache has the size of the graph divided by it. layout=csr: pagerank goes by vertices, as the
 * other works do, in place of chunks of edges. Prints one JSON object. crc is of the result, which does not
 * depend on the way; graph_file.py compares it, and verifies the jobs.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <zlib.h>

#include <grapnel/cache.h>

#include "bfs/bfs.h"
#include "cc/cc.h"
#include "graph/balance.h"
#include "graph/file.h"
#include "pagerank/pagerank.h"
#include "sssp/sssp.h"
#include "support/engine.h"

enum work { BFS, CC, SSSP, PAGERANK };
enum way { CACHE, MMAP, MEMORY };

struct bench {
	struct simt_machine *machine;
	struct gn_graph_file file;
	struct gn_store *store;
	struct gn_cache *cache; /* not NULL if the way is CACHE */
	struct gn_graph_arrays graph;
	uint64_t *result;    /* room for 8 bytes a vertex */
	uint32_t page_bytes; /* of the cache */
	double seconds;
	uint64_t edges;
};

static struct gn_error error;

/* Nothing of the file stays in memory. */
static void drop(const struct gn_graph_file *f)
{
	bench_must(fdatasync(f->fd) || posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED), f->name);
}

/* All of the file is in memory. */
static void read_all(const struct gn_graph_file *f)
{
	static char bytes[1 << 20];
	uint64_t at = 0;
	ssize_t n;

	while ((n = pread(f->fd, bytes, sizeof bytes, (off_t)at)) > 0)
		at += (uint64_t)n;
	bench_must(n < 0 || at < f->bytes, f->name);
}

static void open_array(struct bench *b, struct gn_array *a, struct gn_graph_section section, uint32_t size)
{
	struct gn_array_options o = {
	    b->cache ? GN_PAGED : GN_DIRECT, b->cache, b->store, section.at, section.bytes / size, size};

	bench_must(gn_array_create(a, b->machine, &o, &error), error.text);
}

static void open_store(struct bench *b, const char *path, enum way way)
{
	struct gn_cache_options c = {0};
	struct gn_cache_info info;
	char uri[4200];

	snprintf(uri, sizeof uri, way == CACHE ? "file:%s?ro" : "host:%s?ro&memory=read-mostly", path);
	bench_must(gn_store_open(&b->store, b->machine, uri, NULL, &error), error.text);
	if (way != CACHE)
		return;
	c.page_bytes = (uint32_t)bench_number("page", 0);
	c.bytes = b->file.bytes / bench_number("share", 8);
	bench_must(gn_cache_create(&b->cache, b->machine, &b->store, 1, &c, &error), error.text);
	bench_must(gn_cache_describe(b->cache, &info, &error), error.text);
	b->page_bytes = info.page_bytes;
	b->graph.pages = c.bytes < b->file.bytes ? info.frames : 0;
}

static void open_graph(struct bench *b, const char *path, enum way way)
{
	bench_must(gn_graph_file_open(&b->file, path, &error), error.text);
	open_store(b, path, way);
	b->graph.vertices = b->file.vertices;
	b->graph.edges = b->file.edges;
	open_array(b, &b->graph.offsets, b->file.offsets, 8);
	open_array(b, &b->graph.neighbours, b->file.neighbours, b->file.id_bytes);
	b->graph.wide = b->file.id_bytes == 8;
	b->result = (uint64_t *)calloc(b->graph.vertices, sizeof *b->result);
	bench_must(!b->result, "no memory for the result");
}

/* As --layout auto. */
static void balance(struct bench *b)
{
	struct gn_balance balance;

	bench_must(gn_balance_begin(&balance, b->file.vertices, b->file.edges,
	                            GN_BALANCE_CHUNK / b->file.id_bytes, &error),
	           error.text);
	bench_must(gn_graph_file_offsets(&b->file, gn_balance_take, &balance, &error), error.text);
	if (gn_balance_suits(&balance, GN_LAYOUT_AUTO))
		bench_must(gn_balance_place(&balance, b->machine, &b->graph, &error), error.text);
	gn_balance_fini(&balance);
}

static void close_graph(struct bench *b)
{
	gn_balance_remove(b->machine, &b->graph);
	gn_array_destroy(&b->graph.offsets, b->machine);
	gn_array_destroy(&b->graph.neighbours, b->machine);
	if (b->cache)
		gn_cache_destroy(b->cache);
	gn_store_close(b->store);
	gn_graph_file_close(&b->file);
	free(b->result);
}

/* ---- the jobs ---- */

static void bfs(struct bench *b)
{
	struct gn_bfs_options o = {0};
	struct gn_bfs_result r;

	o.source = bench_number("source", 1);
	o.algorithm = b->file.flags & GN_GRAPH_UNDIRECTED ? GN_BFS_DIRECTION : GN_BFS_TOP_DOWN;
	bench_must(gn_bfs(b->machine, &b->graph, &o, (uint32_t *)b->result, &r, NULL, &error), error.text);
	b->seconds = r.seconds;
	b->edges = r.edges;
}

static void cc(struct bench *b)
{
	const struct gn_cc_options o = {GN_CC_AFFOREST, (b->file.flags & GN_GRAPH_UNDIRECTED) != 0};
	struct gn_cc_result r;

	bench_must(gn_cc(b->machine, &b->graph, &o, (uint32_t *)b->result, &r, NULL, &error), error.text);
	b->seconds = r.seconds;
	b->edges = r.edges;
}

static void sssp(struct bench *b)
{
	const struct gn_sssp_options o = {bench_number("source", 1), 0, 255};
	struct gn_sssp_result r;

	bench_must(gn_sssp(b->machine, &b->graph, &o, (uint32_t *)b->result, &r, NULL, &error), error.text);
	b->seconds = r.seconds;
	b->edges = r.edges;
}

static void pagerank(struct bench *b)
{
	const struct gn_pagerank_options o = {
	    b->file.flags & GN_GRAPH_UNDIRECTED ? GN_PAGERANK_PULL : GN_PAGERANK_PUSH, 20, 1e-4};
	struct gn_pagerank_result r;

	bench_must(gn_pagerank(b->machine, &b->graph, &o, b->result, &r, NULL, &error), error.text);
	b->seconds = r.seconds;
	b->edges = r.edges;
}

static void print(const struct bench *b)
{
	struct gn_store_statistics s;
	struct rusage usage;

	gn_store_get_statistics(b->store, &s);
	getrusage(RUSAGE_SELF, &usage);
	bench_print(json_pack(
	    "{s:f, s:I, s:I, s:I, s:I, s:I, s:I, s:s}", "seconds", b->seconds, "edges", (json_int_t)b->edges,
	    "graph_bytes", (json_int_t)(b->file.offsets.bytes + b->file.neighbours.bytes), "read_bytes",
	    (json_int_t)(b->cache ? s.read_bytes : (uint64_t)usage.ru_majflt * 4096), "major_faults",
	    (json_int_t)usage.ru_majflt, "page_bytes", (json_int_t)b->page_bytes, "crc",
	    (json_int_t)crc32_z(0, (const unsigned char *)b->result, b->graph.vertices * sizeof *b->result),
	    "path", gn_store_path(b->store)));
}

int main(int argc, char **argv)
{
	static const char *const works[] = {"bfs", "cc", "sssp", "pagerank", NULL};
	static const char *const ways[] = {"cache", "mmap", "memory", NULL};
	static const char *const layouts[] = {"", "csr", NULL};
	static void (*const jobs[])(struct bench *) = {bfs, cc, sssp, pagerank};
	struct bench b = {0};
	enum way way;
	int work;

	bench_begin(argc, argv, "file work way source share page layout");
	work = bench_word("work", works);
	b.machine = bench_machine("cpu", 0, 0);
	way = (enum way)bench_word("way", ways);
	open_graph(&b, bench_text("file", ""), way);
	if (!bench_word("layout", layouts) && work == PAGERANK)
		balance(&b);
	if (way == MEMORY)
		read_all(&b.file);
	else
		drop(&b.file);
	jobs[work](&b);
	print(&b);
	close_graph(&b);
	simt_close(b.machine);
	return 0;
}
