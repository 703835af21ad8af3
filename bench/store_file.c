/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_file.c - how many random pages a second the threads of a kernel read from a store.
 *
 * Usage: bench_store_file URI [page=4096] [threads=32] [seconds=2] [workers=0] [machine=cpu]
 * `threads` is the queue depth: every thread (every warp, where warps are wide) reads one page after another
 * and waits for each. Prints one JSON object. store_file.py runs it beside fio.
 */
#include <grapnel/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct gn_store_view store;
	char *buffer;   /* a page a reader */
	uint64_t *done; /* pages read, a word a reader */
	uint32_t *failed;
	uint64_t pages;
	uint64_t run_ns;
	uint32_t page_bytes;
};

SIMT_FN uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
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

		if (simt_ballot(mask, s.code != 0)) {
			simt_add_relaxed_dev_u32(a->failed, 1);
			break;
		}
		count++;
	}
	a->done[me] = count;
}
SIMT_KERNEL(read_pages, struct reader)

static uint64_t number(int argc, char **argv, const char *name, uint64_t otherwise)
{
	size_t length = strlen(name);

	for (int k = 2; k < argc; k++)
		if (!strncmp(argv[k], name, length) && argv[k][length] == '=')
			return strtoull(argv[k] + length + 1, NULL, 10);
	return otherwise;
}

static const char *text(int argc, char **argv, const char *name, const char *otherwise)
{
	size_t length = strlen(name);

	for (int k = 2; k < argc; k++)
		if (!strncmp(argv[k], name, length) && argv[k][length] == '=')
			return argv[k] + length + 1;
	return otherwise;
}

static void print(const struct gn_store *store, const struct simt_info *info, const struct reader *a,
                  uint32_t readers, uint64_t pages, uint32_t failed)
{
	struct gn_store_statistics counters;

	gn_store_get_statistics(store, &counters);
	printf(
	    "{\"machine\": \"%s\", \"path\": \"%s\", \"page_bytes\": %u, \"threads\": %u, \"seconds\": %.3f, "
	    "\"pages\": %llu, \"failed\": %u, \"pages_per_second\": %.0f, \"controller_reads\": %llu}\n",
	    info->name, gn_store_path(store), a->page_bytes, readers, (double)a->run_ns / 1e9,
	    (unsigned long long)pages, failed, (double)pages * 1e9 / (double)a->run_ns,
	    (unsigned long long)counters.reads);
}

static int launch(struct simt_machine *machine, const struct simt_info *info, const struct reader *a,
                  uint32_t readers)
{
	uint32_t in_a_block = info->warp_width > 1 ? 1 : readers < 32 ? readers : 32;
	struct simt_grid grid = {readers / in_a_block, in_a_block * info->warp_width, 0};
	int rc = simt_launch(machine, &read_pages_kernel, grid, a);

	return rc ? rc : simt_wait(machine);
}

static int run(struct simt_machine *machine, struct gn_store *store, uint32_t readers, uint32_t page_bytes,
               uint64_t seconds)
{
	struct reader a = {*gn_store_view_of(store), 0, 0, 0, 0, 0, 0};
	uint64_t *done = (uint64_t *)calloc(readers, sizeof *done), all = 0;
	struct simt_info info;
	uint32_t failed = 0;
	int rc;

	simt_describe(machine, &info);
	a.page_bytes = page_bytes;
	a.pages = a.store.capacity_bytes / page_bytes;
	a.run_ns = seconds * 1000000000u;
	a.buffer = (char *)simt_alloc(machine, (size_t)readers * page_bytes, SIMT_DEVICE);
	a.done = (uint64_t *)simt_alloc(machine, readers * sizeof *a.done, SIMT_DEVICE);
	a.failed = (uint32_t *)simt_alloc(machine, 4, SIMT_DEVICE);
	rc = launch(machine, &info, &a, readers);
	if (rc)
		fprintf(stderr, "%s\n", simt_message(machine));
	simt_move(machine, done, a.done, readers * sizeof *done);
	simt_move(machine, &failed, a.failed, sizeof failed);
	for (uint32_t k = 0; k < readers; k++)
		all += done[k];
	print(store, &info, &a, readers, all, failed);
	simt_free(machine, a.buffer);
	simt_free(machine, a.done);
	simt_free(machine, a.failed);
	free(done);
	return rc || failed;
}

int main(int argc, char **argv)
{
	struct simt_options config = {"cpu", 0, 0, SIMT_FAIR, 0};
	struct gn_store_options options;
	struct gn_error error = {0, ""};
	struct simt_machine *machine;
	struct gn_store *store;
	uint32_t page_bytes = (uint32_t)number(argc, argv, "page", 4096);
	uint32_t threads = (uint32_t)number(argc, argv, "threads", 32);
	int rc;

	if (argc < 2 || !threads || (threads > 32 && threads % 32)) {
		fprintf(stderr, "usage: bench_store_file URI [page=4096] [threads=32] [seconds=2] "
		                "[workers=0] [machine=cpu]\n");
		return 2;
	}
	memset(&options, 0, sizeof options);
	options.transfer_bytes = page_bytes;
	config.name = text(argc, argv, "machine", "cpu");
	config.threads = (unsigned)number(argc, argv, "workers", 0);
	if (simt_open(&machine, &config, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	if (gn_store_open(&store, machine, argv[1], &options, &error)) {
		fprintf(stderr, "%s\n", error.text);
		simt_close(machine);
		return 1;
	}
	rc = run(machine, store, threads, page_bytes, number(argc, argv, "seconds", 2));
	gn_store_close(store);
	simt_close(machine);
	return rc ? 1 : 0;
}
