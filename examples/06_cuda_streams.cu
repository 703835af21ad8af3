// SPDX-License-Identifier: Apache-2.0
// 06_cuda_streams.cu - how does an array behind a cache fit into a CUDA program of mine?
//
// The program's own __global__ kernels, streams, allocator and graph; Grapnel gives gn::array<T> and a flush
// that is a launch like any other. Two streams use one cache at once: on one a graph steps x and flushes, the
// other sums y.
//
//     nvcc -O3 -std=c++17 -arch=native 06_cuda_streams.cu $(pkg-config --cflags --libs grapnel) -o 06 && ./06
//
// Exits 77 where there is no GPU. Expected output:
//     x after 10 steps: 1.998047, in the store: 1.998047
//     sum of y: 4194304
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <grapnel/grapnel.hpp>

enum { COUNT = 4 << 20, BLOCKS = 264, THREADS = 256 };

// An array is a handle: pass it by value. Thread by thread, as if all of it were in device memory.
__global__ void step(gn::array<float> x, float *last)
{
	for (uint64_t i = simt_global_thread(); i < x.size(); i += simt_global_threads()) {
		x[i] = x[i] * 0.5f + 1.0f;
		if (i == x.size() - 1)
			*last = x[i];
	}
}

__global__ void sum(const gn::array<float> y, unsigned long long *total)
{
	unsigned long long mine = 0;

	for (uint64_t i = simt_global_thread(); i < y.size(); i += simt_global_threads())
		mine += (unsigned long long)y[i];
	atomicAdd(total, mine);
}

static struct gn_error error;

static void must(int code)
{
	if (code) {
		std::fprintf(stderr, "06_cuda_streams: %s: %s\n", gn_error_name(code), error.text);
		std::exit(code == -GN_ENODEV ? 77 : 1);
	}
}

static void cuda(cudaError_t code)
{
	if (code != cudaSuccess)
		must(gn_error_set(&error, -GN_EIO, "%s", cudaGetErrorString(code)));
}

// A graph of one step and a flush. The stream is the program's; Grapnel launches into its capture.
static cudaGraphExec_t capture(cudaStream_t s, simt_stream *adopted, gn_cache *cache, gn::array<float> x,
                               float *last)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	cuda(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	step<<<BLOCKS, THREADS, 0, s>>>(x, last);
	must(gn_cache_flush_on(cache, adopted, &error));
	cuda(cudaStreamEndCapture(s, &graph));
	cuda(cudaGraphInstantiate(&executable, graph, 0));
	cuda(cudaGraphDestroy(graph));
	return executable;
}

int main()
{
	struct simt_options machine_options = {"cuda"};
	struct gn_cache_options options = {4 << 20}; // an eighth of the data
	const std::vector<float> ones(COUNT, 1.0f);
	struct gn_array x, y;
	struct simt_machine *machine;
	struct simt_stream *adopted;
	struct gn_store *store;
	struct gn_cache *cache;
	cudaStream_t one, two;
	unsigned long long *total, sum_of_y;
	float *last, x_last, stored;

	must(simt_open(&machine, &machine_options, &error));
	must(gn_store_open(&store, machine, "host:32M", nullptr, &error)); // x and y; or "file:/data/xy.bin"
	must(gn_store_write_host(store, COUNT * sizeof(float), ones.data(), COUNT * sizeof(float), &error));
	must(gn_cache_create(&cache, machine, &store, 1, &options, &error));
	struct gn_array_options shape = {GN_PAGED, cache, store, 0, COUNT, sizeof(float)};
	must(gn_array_create(&x, machine, &shape, &error));
	shape.offset = COUNT * sizeof(float);
	must(gn_array_create(&y, machine, &shape, &error));
	cuda(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
	cuda(cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
	must(simt_stream_adopt(&adopted, machine, one, &error));
	cuda(cudaMallocAsync(&last, sizeof *last, one)); // kernels write where the program likes
	cuda(cudaMallocAsync(&total, sizeof *total, two));
	cuda(cudaMemsetAsync(total, 0, sizeof *total, two));
	cudaGraphExec_t graph = capture(one, adopted, cache, gn::array<float>(x), last);
	for (int k = 0; k < 10; k++)
		cuda(cudaGraphLaunch(graph, one));
	sum<<<BLOCKS, THREADS, 0, two>>>(gn::array<float>(y), total);
	cuda(cudaMemcpyAsync(&x_last, last, sizeof x_last, cudaMemcpyDefault, one));
	cuda(cudaMemcpyAsync(&sum_of_y, total, sizeof sum_of_y, cudaMemcpyDefault, two));
	cuda(cudaStreamSynchronize(one));
	must(gn_cache_flush_result(cache, adopted, &error)); // every step is in the store, durably
	must(gn_store_read_host(store, (COUNT - 1) * sizeof(float), &stored, sizeof stored, &error));
	cuda(cudaStreamSynchronize(two));
	must(gn_array_failure(&x, &error));
	std::printf("x after 10 steps: %f, in the store: %f\nsum of y: %llu\n", x_last, stored, sum_of_y);

	cuda(cudaFreeAsync(last, one));
	cuda(cudaFreeAsync(total, two));
	simt_stream_destroy(adopted);
	gn_array_destroy(&x, machine);
	gn_array_destroy(&y, machine);
	gn_cache_destroy(cache);
	gn_store_close(store);
	simt_close(machine);
	return 0;
}
