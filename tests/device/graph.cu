// SPDX-License-Identifier: Apache-2.0 A CUDA graph of a prefetch, the program's own kernels and two flushes,
// of a range and of all, replayed while another stream stands still: whatever waited for the whole device
// would wait for that stream, and the test for its deadline. Outputs lie in memory of three allocators; a
// second stream reads through the same cache meanwhile. Then failures, polled while kernels run. And a graph
// of a gather and a scatter, replayed with other indices in the buffer that was captured.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <grapnel/gather.h>
#include <grapnel/grapnel.hpp>

enum { COUNT = 128 << 10, REPLAYS = 100, OUTPUTS = 3, BLOCKS = 64, THREADS = 256, PAGE = 4096 };
enum { ROWS = 5000, ROW_WORDS = 4, GATHERS = 20 };
enum { DEADLINE_S = 30 };

static void must(bool ok, const char *what, const char *why = "")
{
	if (ok)
		return;
	std::fprintf(stderr, "graph: %s: %s\n", what, why);
	std::fflush(stderr);
	_exit(1); // without waiting for what still runs
}

static void cuda(cudaError_t rc, const char *what)
{
	must(rc == cudaSuccess, what, cudaGetErrorString(rc));
}

// ---- the program's own kernels ----

__global__ void bump(gn::array<uint64_t> x, uint64_t *out)
{
	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads()) {
		x[i] += 1;
		out[i] = x[i];
	}
}

__global__ void sum(const gn::array<uint64_t> x, unsigned long long *total)
{
	unsigned long long mine = 0;

	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads())
		mine += x[i];
	atomicAdd(total, mine);
}

// Runs until the host says so, or for too long.
struct spin {
	uint32_t begun, end, ended, late;
};

__global__ void stand(struct spin *s)
{
	const uint64_t deadline = simt_clock_ns() + DEADLINE_S * 1000000000ull;

	simt_store_release_sys_u32(&s->begun, 1);
	while (!simt_load_acquire_sys_u32(&s->end) && simt_clock_ns() < deadline)
		simt_relax();
	s->late = simt_clock_ns() >= deadline;
	simt_store_release_sys_u32(&s->ended, 1);
}

__global__ void fail_and_stand(gn::array<uint64_t> x, struct spin *s)
{
	x[x.size() + 7] = 1;
	simt_store_release_sys_u32(&s->begun, 1);
	while (!simt_load_acquire_sys_u32(&s->end))
		simt_relax();
}

__global__ void write_first(gn::array<uint64_t> x, uint64_t value)
{
	x[0] = value;
}

// ---- the fixture ----

struct fixture {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_cache *cache;
	gn::array<uint64_t> bumped, still; // halves of the store
	struct spin *spin;
	cudaStream_t spinning, user;
	struct simt_stream *stream; // user, adopted
	cudaMemPool_t pool;
	uint64_t *out[OUTPUTS];
	unsigned long long *total;
	struct gn_error error;
};

static uint64_t word(uint64_t i)
{
	return i * 2654435761u + 17;
}

static gn::array<uint64_t> half(struct fixture *b, uint64_t offset)
{
	const struct gn_array_options options = {GN_PAGED, b->cache, b->store, offset, COUNT, 8};
	struct gn_array raw;

	must(!gn_array_create(&raw, b->machine, &options, &b->error), "array", b->error.text);
	return gn::array<uint64_t>(raw);
}

static void open_cache(struct fixture *b)
{
	struct gn_cache_options options = {};
	uint64_t *words = (uint64_t *)malloc(2 * COUNT * 8);

	must(!gn_store_open(&b->store, b->machine, "host:2M", nullptr, &b->error), "store", b->error.text);
	for (uint64_t i = 0; i < 2 * COUNT; i++)
		words[i] = word(i);
	must(!gn_store_write_host(b->store, 0, words, 2 * COUNT * 8, &b->error), "store", b->error.text);
	free(words);
	options.bytes = 512 << 10; // a quarter: the kernels evict and write back
	options.page_bytes = PAGE;
	must(!gn_cache_create(&b->cache, b->machine, &b->store, 1, &options, &b->error), "cache",
	     b->error.text);
	b->bumped = half(b, 0);
	b->still = half(b, COUNT * 8);
}

// Memory as programs get it: plainly, in stream order, and from a pool of their own as frameworks do.
static void allocate(struct fixture *b)
{
	cudaMemPoolProps props = {};

	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	cuda(cudaMemPoolCreate(&b->pool, &props), "pool");
	cuda(cudaMalloc(&b->out[0], COUNT * 8), "cudaMalloc");
	cuda(cudaMallocAsync(&b->out[1], COUNT * 8, b->user), "cudaMallocAsync");
	cuda(cudaMallocFromPoolAsync(&b->out[2], COUNT * 8, b->pool, b->user), "cudaMallocFromPoolAsync");
	cuda(cudaMalloc(&b->total, sizeof *b->total), "cudaMalloc");
	cuda(cudaMemset(b->total, 0, sizeof *b->total), "cudaMemset");
	b->spin = (struct spin *)simt_alloc(b->machine, sizeof *b->spin, SIMT_PINNED, NULL);
	must(b->spin != nullptr, "pinned memory");
}

// A kernel that was never launched is loaded by its first launch, which may wait for the device: load it
// before.
template <typename kernel> static void load(kernel k)
{
	cudaFuncAttributes attributes;

	cuda(cudaFuncGetAttributes(&attributes, k), "loading a kernel");
}

static void open_fixture(struct fixture *b)
{
	cuda(cudaStreamCreateWithFlags(&b->spinning, cudaStreamNonBlocking), "stream");
	cuda(cudaStreamCreateWithFlags(&b->user, cudaStreamNonBlocking), "stream");
	must(!simt_stream_adopt(&b->stream, b->machine, b->user, &b->error), "adopt", b->error.text);
	open_cache(b);
	allocate(b);
	load(bump);
	load(sum);
	load(stand);
	load(fail_and_stand);
	load(write_first);
	cuda(cudaDeviceSynchronize(), "start");
}

// Only once nothing stands: freeing waits for the device.
static void close_fixture(struct fixture *b)
{
	cuda(cudaFreeAsync(b->out[1], b->user), "free");
	cuda(cudaFreeAsync(b->out[2], b->user), "free");
	cuda(cudaStreamSynchronize(b->user), "free");
	cudaFree(b->out[0]);
	cudaFree(b->total);
	cudaMemPoolDestroy(b->pool);
	simt_free(b->machine, b->spin);
	gn_array_destroy(b->bumped.raw(), b->machine);
	gn_array_destroy(b->still.raw(), b->machine);
	gn_cache_destroy(b->cache);
	gn_store_close(b->store);
	simt_stream_destroy(b->stream);
	cudaStreamDestroy(b->user);
	cudaStreamDestroy(b->spinning);
}

// ---- standing still ----

static void wait_for(const uint32_t *flag, const char *what)
{
	const uint64_t deadline = simt_clock_ns() + DEADLINE_S * 1000000000ull;

	while (!simt_load_acquire_sys_u32(flag))
		must(simt_clock_ns() < deadline, what, "never came");
}

static void begin_standing(struct fixture *b)
{
	memset(b->spin, 0, sizeof *b->spin);
	stand<<<1, 1, 0, b->spinning>>>(b->spin);
	cuda(cudaGetLastError(), "stand");
	wait_for(&b->spin->begun, "the standing kernel");
}

static void still_standing(const struct fixture *b, const char *behind)
{
	must(!simt_load_acquire_sys_u32(&b->spin->ended), behind, "it waited for the whole device");
}

static void *synchronize(void *synchronized)
{
	cudaDeviceSynchronize();
	simt_store_release_sys_u32((uint32_t *)synchronized, 1);
	return nullptr;
}

// That the standing kernel does hold up a synchronisation of the device: else nothing was shown.
static void end_standing(struct fixture *b)
{
	uint32_t synchronized = 0;
	pthread_t thread;

	must(!pthread_create(&thread, nullptr, synchronize, &synchronized), "thread");
	usleep(200000);
	must(!simt_load_acquire_sys_u32(&synchronized), "the premise",
	     "a device synchronisation did not wait");
	still_standing(b, "the premise");
	simt_store_release_sys_u32(&b->spin->end, 1);
	pthread_join(thread, nullptr);
	must(!b->spin->late, "the standing kernel", "it came to its deadline");
}

// ---- the graph ----

static cudaGraphExec_t capture(struct fixture *b)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;
	size_t nodes = 0;

	cuda(cudaStreamBeginCapture(b->user, cudaStreamCaptureModeGlobal), "capture");
	must(!gn_cache_prefetch_range_on(b->cache, b->stream, b->store, 0, 64 * PAGE, &b->error),
	     "prefetch_range_on in capture", b->error.text);
	for (int k = 0; k < OUTPUTS; k++)
		bump<<<BLOCKS, THREADS, 0, b->user>>>(b->bumped, b->out[k]);
	must(simt_stream_wait(b->stream, &b->error) == -GN_EINVAL, "wait in capture", "was not refused");
	must(!gn_cache_flush_range_on(b->cache, b->stream, b->store, 0, COUNT * 4, &b->error),
	     "flush_range_on in capture", b->error.text);
	must(!gn_cache_flush_on(b->cache, b->stream, &b->error), "flush_on in capture", b->error.text);
	cuda(cudaStreamEndCapture(b->user, &graph), "capture");
	cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "graph");
	must(nodes == OUTPUTS + 3, "graph", "not one node a launch");
	cuda(cudaGraphInstantiate(&executable, graph, 0), "graph");
	cudaGraphDestroy(graph);
	return executable;
}

static void check_results(struct fixture *b)
{
	uint64_t *words = (uint64_t *)malloc(COUNT * 8);

	for (int k = 0; k < OUTPUTS; k++) {
		must(!simt_stream_move(b->stream, words, b->out[k], COUNT * 8, &b->error), "move",
		     b->error.text);
		for (uint64_t i = 0; i < COUNT; i++)
			must(words[i] == word(i) + OUTPUTS * (REPLAYS - 1) + k + 1, "output",
			     "is not what was computed");
	}
	must(!gn_store_read_host(b->store, 0, words, COUNT * 8, &b->error), "store", b->error.text);
	for (uint64_t i = 0; i < COUNT; i++)
		must(words[i] == word(i) + OUTPUTS * REPLAYS, "store",
		     "holds something else after the graph's flush");
	free(words);
}

static void read_beside(struct fixture *b, struct simt_stream *reading)
{
	sum<<<BLOCKS, THREADS, 0, (cudaStream_t)simt_stream_handle(reading)>>>(b->still, b->total);
	cuda(cudaGetLastError(), "sum");
}

static void check_reads(struct fixture *b, struct simt_stream *reading, uint64_t times)
{
	unsigned long long total = 0, want = 0;

	must(!simt_stream_move(reading, &total, b->total, sizeof total, &b->error), "move", b->error.text);
	for (uint64_t i = COUNT; i < 2 * COUNT; i++)
		want += word(i);
	must(total == times * want, "the other stream", "read something else");
}

static void replay_beside_a_standing_kernel(struct fixture *b)
{
	struct simt_stream *reading;
	cudaGraphExec_t graph;
	uint64_t began;

	must(!simt_stream_create(&reading, b->machine, &b->error), "stream", b->error.text);
	begin_standing(b);
	graph = capture(b);
	still_standing(b, "capture");
	began = simt_clock_ns();
	for (int k = 0; k < REPLAYS; k++) {
		cuda(cudaGraphLaunch(graph, b->user), "replay");
		if (k % 10 == 0)
			read_beside(b, reading);
	}
	must(!simt_stream_wait(b->stream, &b->error), "wait", b->error.text);
	std::printf("graph: %d replays in %.1f ms\n", REPLAYS, (double)(simt_clock_ns() - began) * 1e-6);
	still_standing(b, "the graph");
	must(!gn_cache_flush_result(b->cache, b->stream, &b->error), "flush", b->error.text);
	check_results(b);
	check_reads(b, reading, REPLAYS / 10);
	must(!gn_cache_flush(b->cache, &b->error), "flush", b->error.text);
	must(!gn_cache_invalidate(b->cache, &b->error), "invalidate", b->error.text);
	must(!gn_array_failure(b->bumped.raw(), &b->error), "array", b->error.text);
	must(!gn_array_failure(b->still.raw(), &b->error), "array", b->error.text);
	still_standing(b, "flush, invalidate and looking");
	end_standing(b);
	cudaGraphExecDestroy(graph);
	simt_stream_destroy(reading);
}

// ---- batches of rows ----

struct rows {
	struct gn_gather *gather;
	struct gn_batch batch;   // index and rows in the device's memory
	uint64_t *index, *words; // the host's
};

// Rows are four words of `still`; numbers repeat, and some name no row. Other ones each time.
static uint64_t row_number(int replay, uint64_t k)
{
	const uint64_t x = (k + 1) * 0x9e3779b97f4a7c15u + (uint64_t)replay * 0xbf58476d1ce4e5b9u;

	return k % 100 == 7 ? (uint64_t)COUNT : (x >> 30) % (COUNT / ROW_WORDS);
}

static uint64_t gathered_word(int replay, uint64_t k, uint64_t at)
{
	const uint64_t row = row_number(replay, k);

	return row < COUNT / ROW_WORDS ? word(COUNT + row * ROW_WORDS + at) : 0;
}

static void open_rows(struct fixture *b, struct rows *r)
{
	void *index, *rows;

	must(!gn_gather_create(&r->gather, b->machine, ROWS, &b->error), "gather", b->error.text);
	cuda(cudaMalloc(&index, ROWS * 8), "cudaMalloc");
	cuda(cudaMalloc(&rows, ROWS * ROW_WORDS * 8), "cudaMalloc");
	r->batch.index = (const uint64_t *)index;
	r->batch.rows = rows;
	r->batch.count = ROWS;
	r->batch.elements = ROW_WORDS;
	r->index = (uint64_t *)malloc(ROWS * 8);
	r->words = (uint64_t *)malloc(ROWS * ROW_WORDS * 8);
	must(r->index && r->words, "memory");
}

static void close_rows(struct rows *r)
{
	gn_gather_destroy(r->gather);
	cudaFree((void *)r->batch.index);
	cudaFree(r->batch.rows);
	free(r->index);
	free(r->words);
}

// Nothing was launched on the machine before that could have loaded the kernels: gn_gather_create has.
static cudaGraphExec_t capture_rows(struct fixture *b, const struct rows *r)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;
	size_t nodes = 0;

	cuda(cudaStreamBeginCapture(b->user, cudaStreamCaptureModeGlobal), "capture");
	must(!gn_gather_rows_on(r->gather, b->stream, b->still.raw(), &r->batch, &b->error),
	     "gather_rows_on in capture", b->error.text);
	must(!gn_scatter_rows_on(r->gather, b->stream, b->still.raw(), &r->batch, &b->error),
	     "scatter_rows_on in capture", b->error.text);
	cuda(cudaStreamEndCapture(b->user, &graph), "capture");
	cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "graph");
	must(nodes >= 6, "graph", "not a node for each kernel of two batches");
	cuda(cudaGraphInstantiate(&executable, graph, 0), "graph");
	cudaGraphDestroy(graph);
	return executable;
}

static void check_rows(struct fixture *b, struct rows *r, int replay)
{
	must(!simt_stream_move(b->stream, r->words, r->batch.rows, ROWS * ROW_WORDS * 8, &b->error), "move",
	     b->error.text);
	for (uint64_t k = 0; k < ROWS; k++)
		for (uint64_t at = 0; at < ROW_WORDS; at++)
			must(r->words[k * ROW_WORDS + at] == gathered_word(replay, k, at), "a gathered row",
			     "is another");
}

// The scatter writes what was just gathered: the array stays as it is, or a row was put elsewhere.
static void replay_a_gather(struct fixture *b)
{
	struct rows r = {};
	cudaGraphExec_t graph;

	open_rows(b, &r);
	graph = capture_rows(b, &r);
	for (int replay = 0; replay < GATHERS; replay++) {
		for (uint64_t k = 0; k < ROWS; k++)
			r.index[k] = row_number(replay, k);
		must(!simt_stream_move(b->stream, (void *)r.batch.index, r.index, ROWS * 8, &b->error),
		     "move", b->error.text);
		cuda(cudaGraphLaunch(graph, b->user), "replay");
		check_rows(b, &r, replay);
		must(gn_array_failure(b->still.raw(), &b->error) == -GN_ERANGE, "a row that is not there",
		     "was not told");
	}
	cudaGraphExecDestroy(graph);
	close_rows(&r);
}

// ---- failures ----

// Again and again: the host's forgetting must reach the device.
static void poll_array_failure(struct fixture *b)
{
	for (int again = 0; again < 3; again++) {
		const uint64_t deadline = simt_clock_ns() + DEADLINE_S * 1000000000ull;
		int rc = 0;

		memset(b->spin, 0, sizeof *b->spin);
		fail_and_stand<<<1, 1, 0, b->user>>>(b->bumped, b->spin);
		while (!rc && simt_clock_ns() < deadline)
			rc = gn_array_failure(b->bumped.raw(), &b->error);
		simt_store_release_sys_u32(&b->spin->end, 1);
		must(rc == -GN_ERANGE, "polled failure", rc ? b->error.text : "never came");
		must(!simt_stream_wait(b->stream, &b->error), "wait", b->error.text);
	}
}

static void limit_writes(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = bytes;
	must(!setrlimit(RLIMIT_FSIZE, &limit), "setrlimit");
}

static int flush_once(struct fixture *b)
{
	must(!gn_cache_flush_on(b->cache, b->stream, &b->error), "flush_on", b->error.text);
	must(!simt_stream_wait(b->stream, &b->error), "wait", b->error.text);
	return gn_cache_flush_result(b->cache, b->stream, &b->error);
}

// A file that cannot be written, then can.
static void hear_of_failed_flushes(struct fixture *b)
{
	struct gn_cache_options cache = {};
	struct gn_array_options array = {GN_PAGED, nullptr, nullptr, 0, 1 << 10, 8};
	struct fixture f = *b;
	struct gn_array raw;
	char uri[128];

	snprintf(uri, sizeof uri, "file:/tmp/grapnel-graph-%d?create=1M&direct=0", (int)getpid());
	must(!gn_store_open(&f.store, f.machine, uri, nullptr, &f.error), "file", f.error.text);
	cache.bytes = 64 << 10;
	must(!gn_cache_create(&f.cache, f.machine, &f.store, 1, &cache, &f.error), "cache", f.error.text);
	array.cache = f.cache;
	array.store = f.store;
	must(!gn_array_create(&raw, f.machine, &array, &f.error), "array", f.error.text);
	for (uint64_t again = 1; again <= 3; again++) {
		uint64_t first = 0;

		write_first<<<1, 1, 0, f.user>>>(gn::array<uint64_t>(raw), again);
		limit_writes(0);
		must(flush_once(&f) == -GN_EIO, "a flush that fails", "said nothing");
		must(std::strstr(f.error.text, "1 pages") != nullptr, "a flush that fails", f.error.text);
		must(gn_cache_write_failure(f.cache, &f.error) == -GN_EIO, "write failure", "said nothing");
		must(!gn_cache_write_failure(f.cache, &f.error), "write failure", "said it twice");
		limit_writes(RLIM_INFINITY);
		must(!flush_once(&f), "flush", f.error.text);
		must(!gn_store_read_host(f.store, 0, &first, 8, &f.error) && first == again, "file",
		     "holds something else");
	}
	gn_array_destroy(&raw, f.machine);
	gn_cache_destroy(f.cache);
	gn_store_close(f.store);
	*std::strchr(uri, '?') = '\0';
	unlink(uri + std::strlen("file:"));
}

int main()
{
	struct simt_options options = {};
	struct fixture b = {};
	int code;

	options.name = "cuda";
	code = simt_open(&b.machine, &options, &b.error);
	if (code == -GN_ENODEV) {
		std::printf("skipped: %s\n", b.error.text);
		return 77;
	}
	must(!code, "machine", b.error.text);
	open_fixture(&b);
	replay_beside_a_standing_kernel(&b);
	replay_a_gather(&b);
	poll_array_failure(&b);
	hear_of_failed_flushes(&b);
	close_fixture(&b);
	simt_close(b.machine);
	std::printf("graph: replays, streams and failures are as they should be\n");
	return 0;
}
