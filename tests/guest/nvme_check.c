/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvme_check.c - checks of nvme: stores, run in the guest. Usage: nvme_check CASE URI [NUMBER...]. Exit
 * status 0: the case holds; else it says what does not.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grapnel/grapnel.h>

enum { REGION = 256 << 10, THREADS = 32 };

static struct gn_error error;
static struct simt_machine *machine;
static struct gn_store *store;
static const struct gn_store_view *view;

static void must(int code, const char *what)
{
	if (!code)
		return;
	printf("%s: %s: %s\n", what, gn_error_name(code), error.text);
	exit(1);
}

static void check(int holds, const char *what, uint64_t at)
{
	if (holds)
		return;
	printf("%s: wrong at %" PRIu64 "\n", what, at);
	exit(1);
}

static void open_store(const char *uri)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};

	must(simt_open(&machine, &cpu, &error), "machine");
	must(gn_store_open(&store, machine, uri, NULL, &error), "open");
	view = gn_store_view_of(store);
	printf("%s\n", gn_store_path(store));
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void fill(unsigned char *to, size_t bytes, uint64_t seed)
{
	for (size_t k = 0; k < bytes; k++)
		to[k] = (unsigned char)mix(seed * REGION + k + 1);
}

static void launch(const struct simt_kernel *kernel, const void *arguments)
{
	struct simt_grid grid = {1, THREADS, 0};

	must(simt_launch(machine, kernel, grid, arguments, NULL), "launch");
	must(simt_wait(machine, NULL), "kernel");
}

/* ---- offsets: every block by kernels, any bytes by the host ---- */

struct moves {
	struct gn_store_view store;
	char *memory;
	uint64_t bytes; /* of the region */
	uint32_t piece; /* bytes of a transfer */
	int32_t writes;
	uint64_t failed;
	uint32_t code, device; /* of the last failure */
};

static struct moves *moves;

struct moves_args {
	struct moves *moves;
};

SIMT_FN void move_pieces(const struct moves_args *a)
{
	struct moves *m = a->moves;
	struct gn_store_status status;

	for (uint64_t at = simt_global_thread() * m->piece; at < m->bytes;
	     at += simt_global_threads() * m->piece) {
		uint32_t mask = simt_active();

		if (m->writes)
			status = gn_store_write_warp(&m->store, mask, 1, at, m->memory + at, m->piece);
		else
			status = gn_store_read_warp(&m->store, mask, 1, at, m->memory + at, m->piece);
		if (status.code) {
			simt_reduce_add_relaxed_dev_u64(&m->failed, 1);
			m->code = (uint32_t)-status.code;
			m->device = status.device;
		}
	}
}
SIMT_KERNEL(move_pieces, struct moves_args)

SIMT_FN void move_elements(const struct moves_args *a)
{
	struct moves *m = a->moves;

	for (uint64_t at = simt_global_thread() * 16; at < m->bytes; at += simt_global_threads() * 16) {
		struct gn_store_status status = gn_store_read_thread(&m->store, at, m->memory + at, 16);

		if (status.code)
			simt_reduce_add_relaxed_dev_u64(&m->failed, 1);
	}
}
SIMT_KERNEL(move_elements, struct moves_args)

static void run_moves(const struct simt_kernel *kernel, int writes, uint32_t piece, uint64_t bytes)
{
	struct moves_args args = {moves};

	moves->store = *view;
	moves->writes = writes;
	moves->piece = piece;
	moves->bytes = bytes;
	moves->failed = 0;
	launch(kernel, &args);
}

static void make_moves(void)
{
	moves = (struct moves *)calloc(1, sizeof *moves);
	moves->memory = (char *)aligned_alloc(4096, REGION);
}

static void case_offsets(void)
{
	unsigned char *model = (unsigned char *)malloc(REGION), *got = (unsigned char *)malloc(REGION);

	make_moves();
	for (uint32_t piece = view->block_bytes; piece <= view->transfer_bytes; piece *= 2) {
		fill(model, REGION, piece);
		memcpy(moves->memory, model, REGION);
		run_moves(&move_pieces_kernel, 1, piece, REGION);
		check(!moves->failed, "kernel writes", piece);
		must(gn_store_read_host(store, 0, got, REGION, &error), "host read");
		check(!memcmp(got, model, REGION), "host reads what kernels wrote, pieces of", piece);
		memset(moves->memory, 0, REGION);
		run_moves(&move_pieces_kernel, 0, piece, REGION);
		check(!moves->failed && !memcmp(moves->memory, model, REGION), "kernels read, pieces of",
		      piece);
	}
	for (uint64_t k = 0; k < 100; k++) {
		uint64_t at = mix(k + 1) % (REGION - 20000), bytes = 1 + mix(k + 7777) % 20000;

		fill(model + at, bytes, k);
		must(gn_store_write_host(store, at, model + at, bytes, &error), "host write");
	}
	memset(moves->memory, 0, REGION);
	run_moves(&move_elements_kernel, 0, 16, REGION / 16);
	check(!moves->failed && !memcmp(moves->memory, model, REGION / 16), "single threads read", 0);
	must(gn_store_read_host(store, 0, got, REGION, &error), "host read");
	check(!memcmp(got, model, REGION), "host writes at any offset", 0);
	must(gn_store_flush(store, &error), "flush");
}

/* ---- the last block, and past it ---- */

static void case_end(void)
{
	unsigned char bytes[8192], got[8192];

	fill(bytes, sizeof bytes, 5);
	must(gn_store_write_host(store, view->capacity_bytes - sizeof bytes, bytes, sizeof bytes, &error),
	     "write at the end");
	must(gn_store_read_host(store, view->capacity_bytes - sizeof got, got, sizeof got, &error),
	     "read at the end");
	check(!memcmp(bytes, got, sizeof got), "the last bytes", view->capacity_bytes);
	check(gn_store_read_host(store, view->capacity_bytes - 1, got, 2, &error) == -GN_ERANGE,
	      "past the end is refused", view->capacity_bytes);
	make_moves();
	moves->store = *view;
	moves->store.capacity_bytes *= 2;
	/* What the host refuses, the drive must, too. */
	{
		struct gn_store_status status =
		    gn_store_read_warp(&moves->store, 1, 1, view->capacity_bytes, moves->memory, 4096);

		check(status.code == -GN_EIO && status.device == GN_NVME_LBA_OUT_OF_RANGE,
		      "the drive refuses blocks past the end with its status", status.device);
	}
}

/* ---- errors of the medium ---- */

static void case_error(uint64_t sector, int writes)
{
	uint64_t at = sector * 512 / view->block_bytes * view->block_bytes;
	uint32_t wanted = writes ? GN_NVME_WRITE_FAULT : GN_NVME_UNRECOVERED_READ;
	struct gn_store_status status;
	unsigned char block[4096];
	int rc;

	make_moves();
	status = writes ? gn_store_write_warp(view, 1, 1, at, moves->memory, view->block_bytes)
	                : gn_store_read_warp(view, 1, 1, at, moves->memory, view->block_bytes);
	check(status.code == -GN_EIO && status.device == wanted, "a thread gets the drive's status",
	      status.device);
	rc = writes ? gn_store_write_host(store, at, block, view->block_bytes, &error)
	            : gn_store_read_host(store, at, block, view->block_bytes, &error);
	printf("%s\n", error.text);
	check(rc == -GN_EIO && strstr(error.text, writes ? "write fault" : "unrecovered read"),
	      "the host's message names the status", (uint64_t)-rc);
	must(gn_store_read_host(store, 0, block, sizeof block, &error), "another block is read");
	status = gn_store_read_warp(view, 1, 1, 0, moves->memory, view->block_bytes);
	check(!status.code, "other blocks are read by threads", 0);
}

/* ---- an array over a cache that is smaller ---- */

struct square_args {
	struct gn_array numbers;
	uint64_t wrong;
	uint64_t *wrongs;
	int32_t phase; /* 0: write i, 1: square, 2: compare */
	int32_t reserved;
};

SIMT_FN void square(const struct square_args *a)
{
	for (uint64_t i = simt_global_thread(); i < gn_count(&a->numbers); i += simt_global_threads()) {
		uint64_t k = a->phase == 2 ? (i * 7919) % gn_count(&a->numbers) : i;
		uint64_t x = a->phase ? gn_read_u64(&a->numbers, k) : k;

		if (a->phase == 2 && x != k * k)
			simt_reduce_add_relaxed_dev_u64(a->wrongs, 1);
		if (a->phase < 2)
			gn_write_u64(&a->numbers, k, a->phase ? x * x : x);
	}
}
SIMT_KERNEL(square, struct square_args)

static void case_array(const char *uri, uint64_t page)
{
	struct simt_grid grid = {2, 64, 0};
	struct gn_options options;
	struct square_args args;
	struct gn_data numbers;
	uint64_t wrong = 0, got[512];

	memset(&options, 0, sizeof options);
	memset(&args, 0, sizeof args);
	options.element_bytes = 8;
	options.count = 1 << 14;
	options.machine_options.threads = 1;
	options.cache.bytes = 16 * page;
	options.cache.page_bytes = (uint32_t)page;
	must(gn_open(&numbers, uri, &options, &error), "open");
	args.numbers = numbers.array;
	args.wrongs = &wrong;
	for (args.phase = 0; args.phase < 3; args.phase++)
		must(gn_launch(&numbers, &square_kernel, grid, &args, &error), "kernel");
	check(!wrong, "elements read back", wrong);
	must(gn_flush(&numbers, &error), "flush");
	for (uint64_t k = 0; k < options.count; k += 512) {
		must(gn_store_read_host(numbers.store, k * 8, got, sizeof got, &error), "host read");
		for (uint64_t j = 0; j < 512; j++)
			check(got[j] == (k + j) * (k + j), "element on the drive", k + j);
	}
	must(gn_close(&numbers, &error), "close");
}

/* ---- removal: kernels read until they are told to stop by failures ---- */

static void case_removal(uint64_t patience)
{
	uint64_t began = simt_clock_ns(), rounds = 0, failed_at;
	int rc;

	make_moves();
	printf("loading\n");
	fflush(stdout);
	do {
		run_moves(&move_pieces_kernel, 0, view->block_bytes, REGION);
		rounds++;
	} while (!moves->failed && simt_clock_ns() - began < patience * 1000000000u);
	check(moves->failed > 0, "reads fail after the removal; rounds", rounds);
	printf("after %" PRIu64 " rounds reads fail: code %u, status 0x%x\n", rounds, moves->code,
	       moves->device);
	failed_at = simt_clock_ns();
	run_moves(&move_pieces_kernel, 0, view->block_bytes, REGION);
	check(moves->failed == REGION / view->block_bytes, "every read fails", moves->failed);
	rc = gn_store_read_host(store, 0, moves->memory, 4096, &error);
	printf("the host: %s: %s\n", gn_error_name(rc), error.text);
	check(rc < 0, "the host's read fails", 0);
	check(simt_clock_ns() - failed_at < 5000000000u, "failures come at once; ns",
	      simt_clock_ns() - failed_at);
}

/* ---- a drive that is too slow for its time-outs: commands are given up, and the store goes on ---- */

static void case_slow(void)
{
	uint64_t began = simt_clock_ns(), good = 0;
	struct gn_store_statistics counted;
	unsigned char *model = (unsigned char *)malloc(REGION), got[4096];
	int rc;

	make_moves();
	fill(model, REGION, 3);
	for (uint64_t at = 0; at < sizeof got;) {
		rc = gn_store_write_host(store, at, model + at, 512, &error);
		check(simt_clock_ns() - began < 200000000000u, "the first writes come through", at);
		at += rc ? 0 : 512;
	}
	run_moves(&move_pieces_kernel, 0, view->block_bytes, REGION / 2);
	printf("%" PRIu64 " reads failed: code %u, status 0x%x\n", moves->failed, moves->code, moves->device);
	check(moves->failed > 0, "too many reads time out", 0);
	began = simt_clock_ns();
	while (good < 8) {
		rc = gn_store_read_host(store, good * 512, got, 512, &error);
		check(simt_clock_ns() - began < 200000000000u, "single reads come through again", good);
		if (rc) {
			printf("%s\n", error.text);
			continue;
		}
		check(!memcmp(got, model + good * 512, 512), "what was written is read", good);
		good++;
	}
	gn_store_get_statistics(store, &counted);
	printf("read time-outs %" PRIu64 ", aborts %" PRIu64 ", resets %" PRIu64 ", reads %" PRIu64 "\n",
	       counted.read_timeouts, counted.aborts, counted.resets, counted.reads);
	check(counted.read_timeouts > 0 && counted.aborts > 0 && counted.resets > 0 && counted.reads >= 8,
	      "time-outs and resets are counted", counted.resets);
}

int main(int argc, char **argv)
{
	const char *name = argc > 2 ? argv[1] : "";
	uint64_t number = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

	if (!strcmp(name, "array")) {
		case_array(argv[2], number);
		return 0;
	}
	if (argc > 2)
		open_store(argv[2]);
	if (!strcmp(name, "offsets"))
		case_offsets();
	else if (!strcmp(name, "end"))
		case_end();
	else if (!strcmp(name, "read_error") || !strcmp(name, "write_error"))
		case_error(number, name[0] == 'w');
	else if (!strcmp(name, "slow"))
		case_slow();
	else if (!strcmp(name, "removal"))
		case_removal(number);
	else {
		printf(
		    "usage: nvme_check offsets|end|array|read_error|write_error|slow|removal URI [NUMBER]\n");
		return 2;
	}
	gn_store_close(store);
	simt_close(machine);
	return 0;
}
