/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_check.c - checks of rdma: stores that lose their server, run in the guest. Usage: rdma_check CASE URI.
 * Exit status 0: the case holds; else it says what does not. It prints "loaded" when whoever runs it may do
 * something to the server, and the name of each later state that it has seen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <grapnel/grapnel.h>
#include <store/rdma/control.h>
#include <store/uri.h>

enum { REGION = 256 << 10, PIECE = 4096, THREADS = 32 };
#define PATIENCE_NS 240000000000u
#define SECOND_NS 1000000000u

static struct gn_error error;
static struct simt_machine *machine;
static struct gn_store *store;
static char memory[REGION], host[REGION];

static void must(int code, const char *what)
{
	if (!code)
		return;
	printf("%s: %s: %s\n", what, gn_error_name(code), error.text);
	exit(1);
}

static void check(int holds, const char *what, uint64_t number)
{
	if (holds)
		return;
	printf("%s: does not hold (%" PRIu64 "); last message: %s\n", what, number, error.text);
	exit(1);
}

static void tell(const char *state)
{
	printf("%s\n", state);
	fflush(stdout);
}

static void rest(void)
{
	struct timespec pause = {0, 100000000};

	nanosleep(&pause, NULL);
}

struct sweep {
	struct gn_store_view store;
	char *memory;
	uint64_t failed, late; /* transfers that failed, and those of them by their deadline */
	uint32_t device;       /* status of the last that failed */
	int32_t writes;
};

struct sweep_args {
	struct sweep *sweep;
};

SIMT_FN void sweep(const struct sweep_args *a)
{
	struct sweep *s = a->sweep;

	for (uint64_t at = simt_global_thread() * PIECE; at < REGION; at += simt_global_threads() * PIECE) {
		uint32_t mask = simt_active();
		struct gn_store_status status =
		    s->writes ? gn_store_write_warp(&s->store, mask, 1, at, s->memory + at, PIECE)
		              : gn_store_read_warp(&s->store, mask, 1, at, s->memory + at, PIECE);

		if (!status.code)
			continue;
		simt_reduce_add_relaxed_dev_u64(&s->failed, 1);
		if (status.code == -GN_ETIMEDOUT)
			simt_reduce_add_relaxed_dev_u64(&s->late, 1);
		simt_store_relaxed_dev_u32(&s->device, status.device);
	}
}
SIMT_KERNEL(sweep, struct sweep_args)

static struct sweep state;

/* Move the region by kernels. Returns how many transfers failed. */
static uint64_t move(int writes)
{
	struct sweep_args args = {&state};
	struct simt_grid grid = {1, THREADS, 0};

	state.store = *gn_store_view_of(store);
	state.memory = memory;
	state.writes = writes;
	state.failed = state.late = 0;
	must(simt_launch(machine, &sweep_kernel, grid, &args, NULL), "launch");
	must(simt_wait(machine, NULL), "kernel");
	return state.failed;
}

static void fill(unsigned seed)
{
	for (unsigned k = 0; k < REGION; k++)
		memory[k] = (char)(k * 31 + k / 251 + seed);
}

static void verify(unsigned seed, const char *what)
{
	memcpy(host, memory, REGION);
	fill(seed);
	check(!memcmp(host, memory, REGION), what, seed);
}

static void await_failure(int writes)
{
	uint64_t began = simt_clock_ns();

	while (!move(writes))
		check(simt_clock_ns() - began < PATIENCE_NS, "transfers fail without a server", 0);
	check(state.device == GN_NVME_HOST_PATH || state.late == state.failed, "they say why", state.device);
	tell("failed");
}

static void await_success(void)
{
	uint64_t began = simt_clock_ns();

	for (; move(0); rest())
		check(simt_clock_ns() - began < PATIENCE_NS, "transfers work again", state.failed);
	tell("works");
}

/* The server is killed while kernels read, and nobody waits for long. */
static void case_killed(void)
{
	uint64_t began;

	tell("loaded");
	await_failure(0);
	began = simt_clock_ns();
	check(move(0) == REGION / PIECE, "every read fails", state.failed);
	check(gn_store_read_host(store, 0, host, PIECE, &error) == -GN_EIO, "the host's read fails", 0);
	check(strstr(error.text, "the connection is lost") != NULL, "it says what to do", 0);
	printf("%s\n", error.text);
	/* Deadlines are ten seconds, and the machine is slow. */
	check(simt_clock_ns() - began < 100 * (uint64_t)SECOND_NS, "failures come in time", 0);
	check(gn_store_flush(store, &error) == -GN_EIO, "a flush fails", 0);
}

/* A region that nobody writes to: after the server was started again the store goes on. */
static void case_again(void)
{
	must(move(0) != 0, "reads before");
	memcpy(host, memory, REGION);
	tell("loaded");
	await_failure(0);
	await_success();
	check(!memcmp(host, memory, REGION), "the same bytes as before", 0);
	must(gn_store_read_host(store, 0, memory, PIECE, &error), "the host reads");
	check(!memcmp(host, memory, PIECE), "the host reads the same bytes", 0);
}

/* A region that was written to: after the server was started again the store must be opened again. */
static void case_reopen(const char *uri)
{
	uint64_t began = simt_clock_ns();

	fill(1);
	must(move(1) != 0, "writes before");
	tell("loaded");
	await_failure(1);
	tell("restart");
	do {
		check(gn_store_read_host(store, 0, host, 512, &error) == -GN_EIO, "reads go on failing", 0);
		check(simt_clock_ns() - began < PATIENCE_NS, "the store sees the new server", 0);
	} while (!strstr(error.text, "open it again"));
	printf("%s\n", error.text);
	check(move(0) == REGION / PIECE, "kernels' reads go on failing", state.failed);
	gn_store_close(store);
	must(gn_store_open(&store, machine, uri, NULL, &error), "open again");
	check(!move(0), "the new store works", state.failed);
}

/* The network is away for a while, and the server is not: nothing is lost. */
static void case_network(void)
{
	fill(7);
	must(move(1) != 0, "writes before");
	tell("loaded");
	await_failure(0);
	await_success();
	verify(7, "the bytes that were written before");
	fill(8);
	must(move(1) != 0, "writes after");
	memset(memory, 0, REGION);
	must(gn_store_read_host(store, 0, memory, REGION, &error), "the host reads");
	verify(8, "the bytes that were written after");
	must(gn_store_flush(store, &error), "flush");
}

/* Write and flush, and leave without closing. */
static void case_flush(void)
{
	fill(3);
	must(move(1) != 0, "writes");
	must(gn_store_flush(store, &error), "flush");
	tell("flushed");
	fill(4);
	must(gn_store_write_host(store, 0, memory, REGION, &error), "the host writes");
	tell("written");
}

/* A replica goes on when the server of its second member is killed. */
static void case_survive(void)
{
	const uint64_t began = simt_clock_ns();
	struct gn_store_member member;
	unsigned seed = 6;

	tell("loaded");
	do {
		fill(seed ^= 1);
		must(move(1) != 0, "writes");
		must(move(0) != 0, "reads");
		verify(seed, "what was read");
		must(gn_store_get_member(store, 1, &member), "ask for the member");
		check(simt_clock_ns() - began < PATIENCE_NS, "the server is missed", 0);
	} while (member.use == GN_MEMBER_USED);
	printf("%s\n", member.text);
	fill(8);
	must(move(1) != 0, "writes afterwards");
	must(gn_store_flush(store, &error), "flush");
}

/* Do nothing until somebody ends the process. */
static void case_idle(void)
{
	tell("loaded");
	pause();
}

/* The bytes of the two states of case_flush. */
static void case_pattern(const char *seed)
{
	fill((unsigned)atoi(seed));
	fwrite(memory, 1, REGION, stdout);
}

/* ---- an array through a cache of a quarter of it ---- */

enum { NUMBERS = REGION / 8 };

struct numbers_args {
	struct gn_array numbers;
	uint64_t add;
	int32_t writes, reserved;
};

SIMT_FN void touch(const struct numbers_args *a)
{
	for (uint64_t i = simt_global_thread(); i < NUMBERS; i += simt_global_threads()) {
		if (a->writes)
			gn_write_u64(&a->numbers, i, i * i + a->add);
		else
			gn_read_u64(&a->numbers, i);
	}
}
SIMT_KERNEL(touch, struct numbers_args)

static struct gn_data numbers;

static int touch_all(int writes, uint64_t add)
{
	struct simt_grid grid = {1, 64, 0};
	struct numbers_args args;

	memset(&args, 0, sizeof args);
	args.numbers = numbers.array;
	args.writes = writes;
	args.add = add;
	return gn_launch(&numbers, &touch_kernel, grid, &args, &error);
}

static void open_numbers(const char *uri)
{
	struct gn_options options;

	memset(&options, 0, sizeof options);
	options.element_bytes = 8;
	options.count = NUMBERS;
	options.machine_options.threads = 1;
	options.cache.bytes = REGION / 4;
	options.cache.page_bytes = 4096;
	must(gn_open(&numbers, uri, &options, &error), "open");
	must(touch_all(1, 0), "writes");
	tell("loaded");
}

static void lose_numbers(int writes)
{
	uint64_t began = simt_clock_ns();

	while (!touch_all(writes, 1))
		check(simt_clock_ns() - began < PATIENCE_NS, "accesses fail without a server", 0);
	printf("%s\n", error.text);
	tell("failed");
}

/* The server is killed: accesses fail, the flush fails, and the data can be closed all the same. */
static void case_cache_killed(const char *uri)
{
	uint64_t began;

	open_numbers(uri);
	lose_numbers(0);
	began = simt_clock_ns();
	check(touch_all(1, 2) < 0, "writes fail, too", 0);
	check(gn_flush(&numbers, &error) < 0, "the flush fails", 0);
	printf("%s\n", error.text);
	must(gn_discard(&numbers, &error), "discard");
	check(simt_clock_ns() - began < PATIENCE_NS, "all that in time", 0);
}

/* The network is away: what could not be written stays in the cache, and is in the region after a flush. */
static void case_cache_network(const char *uri)
{
	uint64_t began, got[NUMBERS];

	open_numbers(uri);
	lose_numbers(1);
	began = simt_clock_ns();
	for (; gn_flush(&numbers, &error); rest())
		check(simt_clock_ns() - began < PATIENCE_NS, "a flush works again", 0);
	for (; touch_all(1, 3); rest())
		check(simt_clock_ns() - began < PATIENCE_NS, "writes work again", 0);
	must(gn_flush(&numbers, &error), "flush");
	must(gn_store_read_host(numbers.store, 0, got, sizeof got, &error), "the host reads");
	for (uint64_t k = 0; k < NUMBERS; k++)
		check(got[k] == k * k + 3, "every element is in the region", k);
	must(gn_close(&numbers, &error), "close");
}

static uint64_t posted_before;

/* Say when the note that asks for a flush has gone: the read before it, and then the note. */
static void *tell_when_asked(void *user)
{
	struct gn_control *control = (struct gn_control *)user;

	while (simt_load_acquire_sys_u64(&control->engine->posted) < posted_before + 2 ||
	       simt_load_acquire_sys_u32(&control->engine->lane->link.in_flight))
		rest();
	tell("asked");
	return NULL;
}

static void await_file(const char *name)
{
	const uint64_t began = simt_clock_ns();

	for (; access(name, F_OK); rest())
		check(simt_clock_ns() - began < PATIENCE_NS, name, 0);
}

static void open_control(struct gn_control *control, struct gn_peer *peer, const char *text)
{
	struct gn_rdma_address address;
	struct gn_uri uri;

	must(gn_uri_parse(&uri, text, &error), "URI");
	must(gn_rdma_address_parse(&address, uri.path, &error), "address");
	must(gn_peer_init(peer, &address, 10 * (uint64_t)SECOND_NS, PATIENCE_NS, &error), "peer");
	must(gn_control_open(control, peer, &error), "open");
}

/* The server has stopped before the flush is asked for, goes on, and is told to end. */
static void case_flush_end(const char *text)
{
	struct gn_control control;
	struct gn_peer peer;
	pthread_t teller;

	open_control(&control, &peer, text);
	fill(5);
	must(gn_control_write(&control, 0, memory, REGION, &error), "write");
	tell("loaded");
	await_file("/tmp/go");
	posted_before = control.engine->posted;
	must(pthread_create(&teller, NULL, tell_when_asked, &control), "thread");
	peer.timeout_ns = PATIENCE_NS;
	must(gn_control_flush(&control, &error), "the flush");
	pthread_join(teller, NULL);
	gn_control_close(&control);
	gn_peer_fini(&peer);
}

/* Accesses that the store would never make are refused by the server's device. */
static void case_rights(const char *text)
{
	struct gn_control control;
	struct gn_peer peer;
	uint64_t end;

	open_control(&control, &peer, text);
	end = peer.region.bytes;
	must(gn_control_read(&control, end - 512, host, 512, &error), "the last bytes");
	check(gn_control_read(&control, end - 512, host, 513, &error) == -GN_EACCES, "no byte past the end",
	      0);
	printf("%s\n", error.text);
	tell("past");
	gn_control_close(&control);
	must(gn_control_open(&control, &peer, &error), "open again");
	if (peer.region.flags & GN_HELLO_READ_ONLY)
		check(gn_control_write(&control, 0, host, 512, &error) == -GN_EACCES, "no write", 0);
	gn_control_close(&control);
	must(gn_control_open(&control, &peer, &error), "open a third time");
	control.engine->lane->link.key ^= 0x100;
	check(gn_control_read(&control, 0, host, 512, &error) == -GN_EACCES, "no read by another key", 0);
	gn_control_close(&control);
	gn_peer_fini(&peer);
}

static void open_store(const char *uri)
{
	struct simt_options cpu = {"cpu", 1, 0, SIMT_FAIR, 0};

	must(simt_open(&machine, &cpu, &error), "machine");
	must(gn_store_open(&store, machine, uri, NULL, &error), "open");
	printf("%s\n", gn_store_path(store));
}

static int with_store(const char *name, const char *uri)
{
	if (uri)
		open_store(uri);
	if (!strcmp(name, "killed"))
		case_killed();
	else if (!strcmp(name, "again"))
		case_again();
	else if (!strcmp(name, "reopen"))
		case_reopen(uri);
	else if (!strcmp(name, "network"))
		case_network();
	else if (!strcmp(name, "survive"))
		case_survive();
	else if (!strcmp(name, "idle"))
		case_idle();
	else if (!strcmp(name, "flush"))
		case_flush();
	else {
		printf("usage: rdma_check "
		       "killed|again|reopen|network|survive|idle|flush|flush_end|rights|cache_killed|cache_"
		       "network URI, "
		       "or pattern NUMBER\n");
		return 2;
	}
	if (strcmp(name, "flush"))
		gn_store_close(store);
	return 0;
}

int main(int argc, char **argv)
{
	const char *name = argc == 3 ? argv[1] : "";

	if (!strcmp(name, "pattern"))
		case_pattern(argv[2]);
	else if (!strcmp(name, "rights"))
		case_rights(argv[2]);
	else if (!strcmp(name, "flush_end"))
		case_flush_end(argv[2]);
	else if (!strcmp(name, "cache_killed"))
		case_cache_killed(argv[2]);
	else if (!strcmp(name, "cache_network"))
		case_cache_network(argv[2]);
	else
		return with_store(name, argc == 3 ? argv[2] : NULL);
	return 0;
}
