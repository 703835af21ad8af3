// SPDX-License-Identifier: Apache-2.0
// CUDA graphs of slots, replayed under eviction: keys drawn on the device, resolve, fill, and a kernel that
// compares every word of every slot. First on one stream; then two batches in one graph, where the second is
// resolved and filled on one stream while the first is compared on another; each with a clock and with lists,
// from memory that loads reach and from queue pairs. At the end the last batch's slots are the ones that a
// host's table of keys expects.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include <grapnel/grapnel.h>

enum { KEYS = 192, ITEM = 4096, ITEMS = 4096, SLOTS = 640 };

static uint32_t replays = 3000;

static void must(bool ok, const char *what, const char *why = "")
{
	if (ok)
		return;
	std::fprintf(stderr, "slots: %s: %s\n", what, why);
	std::fflush(stderr);
	_exit(1);
}

static void cuda(cudaError_t rc, const char *what)
{
	must(rc == cudaSuccess, what, cudaGetErrorString(rc));
}

__host__ __device__ static uint64_t word_of(uint64_t k)
{
	return (k + 1) * 0x9e3779b97f4a7c15u;
}

// What the kernels of a graph share.
struct state {
	uint64_t round; // counts batches
	uint64_t wrong, compared, resident;
};

__host__ __device__ static int64_t key_of(uint64_t round, uint32_t k)
{
	const uint64_t x = word_of(round * KEYS + k) ^ word_of(k) >> 29;

	if (k % 17 == 3)
		return -1;
	return (int64_t)((x >> 20) % (k % 2 ? (uint64_t)ITEMS : (uint64_t)ITEMS / 16));
}

// The next batch's keys.
__global__ void draw(struct state *s, int64_t *key)
{
	const uint64_t round = s->round;

	__syncthreads();
	if (threadIdx.x < KEYS)
		key[threadIdx.x] = key_of(round, threadIdx.x);
	if (threadIdx.x == 0)
		s->round = round + 1;
}

// A block a key: each word of its slot.
__global__ void compare(struct state *s, const int64_t *key, const int32_t *slot, const uint8_t *missed,
                        const char *slab)
{
	const int64_t k = key[blockIdx.x];
	const int32_t at = slot[blockIdx.x];
	unsigned long long wrong = 0;

	if (k < 0 || at < 0) {
		wrong = threadIdx.x == 0 && (at >= 0) != (k >= 0);
	} else {
		const uint64_t *word = (const uint64_t *)(slab + (uint64_t)at * ITEM);

		for (uint32_t n = threadIdx.x; n < ITEM / 8; n += blockDim.x)
			wrong += word[n] != word_of((uint64_t)k * (ITEM / 8) + n);
		if (threadIdx.x == 0)
			atomicAdd((unsigned long long *)&s->compared, 1ull);
		if (threadIdx.x == 0 && !missed[blockIdx.x])
			atomicAdd((unsigned long long *)&s->resident, 1ull);
	}
	if (wrong)
		atomicAdd((unsigned long long *)&s->wrong, wrong);
}

// ---- the fixture ----

struct batch {
	int64_t *key;
	int32_t *slot;
	uint8_t *missed;
};

struct fixture {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn_slots *slots;
	struct gn_slots_info info;
	struct state *state;
	struct batch batch[2];
	cudaStream_t moves, uses;
	struct simt_stream *stream; // moves, adopted
	struct gn_error error;
	size_t fills; // kernels of a fill
};

static void open_fixture(struct fixture *b, const char *scheme, enum gn_slots_policy policy, uint32_t keep)
{
	struct gn_slots_options options = {};
	uint64_t *words = (uint64_t *)malloc(ITEMS * (size_t)ITEM);
	char uri[64];

	b->fills = std::strcmp(scheme, "host") ? 2 : 1; // behind queue pairs victims are written first
	std::snprintf(uri, sizeof uri, "%s:%d", scheme, ITEMS * ITEM);
	must(!gn_store_open(&b->store, b->machine, uri, nullptr, &b->error), "store", b->error.text);
	for (uint64_t k = 0; k < (uint64_t)ITEMS * ITEM / 8; k++)
		words[k] = word_of(k);
	must(!gn_store_write_host(b->store, 0, words, ITEMS * (size_t)ITEM, &b->error), "store",
	     b->error.text);
	free(words);
	options.item_bytes = ITEM;
	options.slots = SLOTS;
	options.most_keys = KEYS;
	options.policy = policy;
	options.keep = keep;
	must(!gn_slots_create(&b->slots, b->machine, b->store, &options, &b->error), "slots", b->error.text);
	gn_slots_describe(b->slots, &b->info);
	cuda(cudaMemset(b->state, 0, sizeof *b->state), "state");
	cuda(cudaDeviceSynchronize(), "state");
}

static void close_fixture(struct fixture *b)
{
	gn_slots_destroy(b->slots);
	gn_store_close(b->store);
}

// ---- graphs ----

static void add_moves(struct fixture *b, const struct batch *batch)
{
	const struct gn_slots_batch keys = {batch->key, batch->slot, batch->missed, KEYS, 0, 0};

	draw<<<1, 256, 0, b->moves>>>(b->state, batch->key);
	must(!gn_slots_resolve(b->slots, &keys, b->stream, &b->error), "resolve in capture", b->error.text);
	must(!gn_slots_fill(b->slots, b->stream, &b->error), "fill in capture", b->error.text);
}

static void add_use(struct fixture *b, const struct batch *batch, cudaStream_t stream)
{
	compare<<<KEYS, 128, 0, stream>>>(b->state, batch->key, batch->slot, batch->missed,
	                                  (const char *)b->info.slab);
}

// `first` waits for all that is on `behind`.
static void order(cudaStream_t behind, cudaStream_t first)
{
	cudaEvent_t event;

	cuda(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
	cuda(cudaEventRecord(event, first), "event");
	cuda(cudaStreamWaitEvent(behind, event, 0), "event");
	cuda(cudaEventDestroy(event), "event");
}

static cudaGraphExec_t capture(struct fixture *b, bool two)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;
	size_t nodes = 0;

	cuda(cudaStreamBeginCapture(b->moves, cudaStreamCaptureModeGlobal), "capture");
	add_moves(b, &b->batch[0]);
	if (two) {
		order(b->uses, b->moves);
		add_use(b, &b->batch[0], b->uses);
		add_moves(b, &b->batch[1]); // beside the use of the first
		order(b->moves, b->uses);
	}
	add_use(b, &b->batch[two], b->moves);
	cuda(cudaStreamEndCapture(b->moves, &graph), "capture");
	cuda(cudaGraphGetNodes(graph, nullptr, &nodes), "graph");
	must(nodes == (two ? 2 : 1) * (3 + b->fills), "graph", "not one node a launch");
	cuda(cudaGraphInstantiate(&executable, graph, 0), "graph");
	cudaGraphDestroy(graph);
	return executable;
}

// The last batch's keys are resident where it said, and its bytes are there.
static void check_last(struct fixture *b, const struct batch *batch, uint64_t round)
{
	int32_t slot[KEYS];
	uint64_t words[ITEM / 8];

	cuda(cudaMemcpy(slot, batch->slot, sizeof slot, cudaMemcpyDeviceToHost), "slots");
	for (uint32_t k = 0; k < KEYS; k++) {
		const int64_t key = key_of(round, k);

		must((slot[k] >= 0) == (key >= 0), "the last batch", "a slot is not as its key");
		if (key < 0)
			continue;
		cuda(cudaMemcpy(words, (char *)b->info.slab + (size_t)slot[k] * ITEM, ITEM,
		                cudaMemcpyDeviceToHost),
		     "slab");
		for (uint64_t n = 0; n < ITEM / 8; n++)
			must(words[n] == word_of((uint64_t)key * (ITEM / 8) + n), "the last batch",
			     "a word is not its item's");
	}
}

static void check_counts(struct fixture *b, uint64_t batches)
{
	struct gn_slots_statistics s;
	struct state state;
	uint32_t keys = 0;

	for (uint32_t k = 0; k < KEYS; k++)
		keys += key_of(0, k) >= 0;
	cuda(cudaMemcpy(&state, b->state, sizeof state, cudaMemcpyDeviceToHost), "state");
	must(!gn_slots_get_statistics(b->slots, b->stream, &s, &b->error), "statistics", b->error.text);
	must(!gn_slots_failure(b->slots, &b->error), "failure", b->error.text);
	must(state.wrong == 0, "replay", "words are wrong");
	must(state.round == batches && s.batches == batches, "replay", "not every batch ran");
	must(state.compared == batches * keys, "replay", "not every key was compared");
	must(state.resident == s.hits && s.hits + s.misses == batches * keys, "statistics",
	     "are not the keys");
	must(s.evicted + SLOTS == s.fetched && s.evicted > batches, "statistics", "too little was evicted");
	must(!s.no_slot && !s.refused && !s.failed, "statistics", "something failed");
}

static void run(struct fixture *b, const char *scheme, enum gn_slots_policy policy, bool two)
{
	cudaGraphExec_t graph;
	uint64_t began;

	open_fixture(b, scheme, policy, two ? 2 : 1);
	graph = capture(b, two);
	began = simt_clock_ns();
	for (uint32_t k = 0; k < replays; k++)
		cuda(cudaGraphLaunch(graph, b->moves), "replay");
	cuda(cudaStreamSynchronize(b->moves), "replay");
	std::printf("slots: %s, %s, %s: %u replays, %.1f us each\n", scheme,
	            policy == GN_SLOTS_CLOCK ? "clock" : "lru", two ? "two streams" : "one stream", replays,
	            (double)(simt_clock_ns() - began) * 1e-3 / replays);
	check_counts(b, (uint64_t)replays * (two ? 2 : 1));
	check_last(b, &b->batch[two], (uint64_t)replays * (two ? 2 : 1) - 1);
	cuda(cudaGraphExecDestroy(graph), "graph");
	close_fixture(b);
}

static void allocate(struct fixture *b)
{
	cuda(cudaMalloc(&b->state, sizeof *b->state), "cudaMalloc");
	for (int k = 0; k < 2; k++) {
		cuda(cudaMalloc(&b->batch[k].key, KEYS * sizeof(int64_t)), "cudaMalloc");
		cuda(cudaMalloc(&b->batch[k].slot, KEYS * sizeof(int32_t)), "cudaMalloc");
		cuda(cudaMalloc(&b->batch[k].missed, KEYS), "cudaMalloc");
	}
	cuda(cudaStreamCreateWithFlags(&b->moves, cudaStreamNonBlocking), "stream");
	cuda(cudaStreamCreateWithFlags(&b->uses, cudaStreamNonBlocking), "stream");
	must(!simt_stream_adopt(&b->stream, b->machine, b->moves, &b->error), "adopt", b->error.text);
}

// slots [REPLAYS]
int main(int argc, char **argv)
{
	const struct simt_options options = {"cuda", 0, 0, SIMT_FAIR, 0};
	const char *const schemes[] = {"host", "memq"};
	struct fixture b = {};
	const int rc = simt_open(&b.machine, &options, &b.error);

	if (rc == -GN_ENODEV) {
		std::printf("%s\n", b.error.text);
		return 77;
	}
	must(!rc, "machine", b.error.text);
	if (argc > 1)
		replays = (uint32_t)strtoul(argv[1], nullptr, 10);
	allocate(&b);
	for (const char *scheme : schemes)
		for (int policy = GN_SLOTS_CLOCK; policy <= GN_SLOTS_LRU; policy++)
			for (int two = 0; two < 2; two++)
				run(&b, scheme, (enum gn_slots_policy)policy, two);
	simt_stream_destroy(b.stream);
	simt_close(b.machine);
	return 0;
}
