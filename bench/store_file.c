/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.c - how many random pages a second the threads of a kernel read from a store.
 *
 *     bench_store_file uri=URI [page=4096] [threads=32] [seconds=2] [workers=0] [machine=cpu] [numbered=0]
 *
 * `threads` is the queue depth: every thread (every warp, where warps are wide) reads one page after another
 * and waits for each. numbered=1: the first 8 bytes of each page are its number, which is checked. Prints one
 * JSON object. store_file.py runs it beside fio, stripe.py on stripes.
 */
#include <grapnel/store.h>

#include <stdlib.h>
#include <string.h>

#include "support/engine.h"

struct reader {
	struct gn_store_view store;
	char *buffer;   /* a page a reader */
	uint64_t *done; /* pages read, a word a reader */
	uint32_t *failed;
	uint64_t pages;
	uint64_t run_ns;
	uint32_t page_bytes, numbered;
};

SIMT_FN uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

SIMT_FN int has_number(const struct reader *a, const char *buffer, uint64_t page)
{
	uint64_t number;

	memcpy(&number, buffer, sizeof number);
	return !a->numbered || number == page;
}

SIMT_FN void read_pages(const struct reader *a)
{
	uint32_t mask = simt_active();
	uint64_t me = simt_global_thread() / simt_warp_width(), count = 0,
	         state = (me + 1) * 0x9e3779b97f4a7c15u;
	uint64_t until = simt_clock_ns() + a->run_ns;
	char *buffer = a->buffer + me * a->page_bytes;

	while (simt_ballot(mask, simt_clock_ns() < until) == mask) {
		uint64_t page = next_random(&state) % a->pages;
		struct gn_store_status s = gn_store_read_warp(&a->store, mask, simt_rank(mask) == 0,
		                                              page * a->page_bytes, buffer, a->page_bytes);

		if (simt_ballot(mask, s.code != 0 || !has_number(a, buffer, page))) {
			simt_add_relaxed_dev_u32(a->failed, 1);
			break;
		}
		count++;
	}
	a->done[me] = count;
}
SIMT_KERNEL(read_pages, struct reader)

/* Until the time is over. Returns the pages of all readers. */
static uint64_t run(struct simt_machine *m, struct reader *a, uint32_t readers)
{
	uint64_t *done = (uint64_t *)calloc(readers, sizeof *done), all = 0;
	struct simt_grid grid;
	struct simt_info info;
	uint32_t failed = 0;

	simt_describe(m, &info);
	grid.block_threads = info.warp_width > 1 ? 1 : readers < 32 ? readers : 32;
	grid.blocks = readers / grid.block_threads;
	grid.block_threads *= info.warp_width;
	grid.shared_bytes = 0;
	a->buffer = (char *)bench_alloc(m, (size_t)readers * a->page_bytes, SIMT_DEVICE);
	a->done = (uint64_t *)bench_alloc(m, readers * sizeof *a->done, SIMT_DEVICE);
	a->failed = (uint32_t *)bench_alloc(m, sizeof *a->failed, SIMT_DEVICE);
	bench_launch(m, &read_pages_kernel, grid, a);
	bench_must(!done, "no memory");
	bench_must_run(simt_move(m, done, a->done, readers * sizeof *done, &bench_error));
	bench_must_run(simt_move(m, &failed, a->failed, sizeof failed, &bench_error));
	bench_must(failed != 0, "a transfer failed, or a page is not the one that was wanted");
	for (uint32_t k = 0; k < readers; k++)
		all += done[k];
	simt_free(m, a->buffer);
	simt_free(m, a->done);
	simt_free(m, a->failed);
	free(done);
	return all;
}

int main(int argc, char **argv)
{
	struct gn_store_options options;
	struct gn_store_statistics counters;
	struct gn_error e = {0, ""};
	struct simt_machine *m;
	struct gn_store *store;
	struct simt_info info;
	struct reader a;
	uint32_t threads;
	uint64_t pages;

	memset(&options, 0, sizeof options);
	memset(&a, 0, sizeof a);
	bench_begin(argc, argv, "uri page threads seconds workers machine numbered");
	threads = (uint32_t)bench_number("threads", 32);
	bench_must(!threads || (threads > 32 && threads % 32), "threads: up to 32, or a multiple of 32");
	a.page_bytes = options.transfer_bytes = (uint32_t)bench_number("page", 4096);
	a.numbered = (uint32_t)bench_number("numbered", 0);
	a.run_ns = bench_number("seconds", 2) * 1000000000u;
	m = bench_machine(bench_text("machine", "cpu"), (unsigned)bench_number("workers", 0), 0);
	bench_must(gn_store_open(&store, m, bench_text("uri", ""), &options, &e), e.text);
	a.store = *gn_store_view_of(store);
	a.pages = a.store.capacity_bytes / a.page_bytes;
	pages = run(m, &a, threads);
	simt_describe(m, &info);
	gn_store_get_statistics(store, &counters);
	bench_print(json_pack("{s:s, s:s, s:i, s:i, s:f, s:I, s:f, s:I}", "machine", info.name, "path",
	                      gn_store_path(store), "page_bytes", (int)a.page_bytes, "threads", (int)threads,
	                      "seconds", 1e-9 * (double)a.run_ns, "pages", (json_int_t)pages,
	                      "pages_per_second", (double)pages * 1e9 / (double)a.run_ns, "controller_reads",
	                      (json_int_t)counters.reads));
	gn_store_close(store);
	simt_close(m);
	return 0;
}
