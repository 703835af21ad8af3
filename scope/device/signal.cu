/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal.cu - what it costs one thread to say that something is there: a store and a fence, a release, a
 * doorbell.
 *
 *   fence/gpu-..., fence/system-...   a store to the place, then the fence
 *   doorbell/post-...                 stores alone, one fence behind all: what the way takes, not how long it
 * is doorbell/release-...              a release of system scope for each, as queue pairs ring
 *   doorbell/entry-...                64 bytes, then a release to another line: a command and its doorbell
 *
 * How long it is until a processor of the host sees a store is in ping-pong/host: there and back.
 */
#include <grapnel/simt.h>

#include "scope/device/device.h"

namespace {

enum { LEAST = 2048, MOST = 1 << 20, WORDS = 64 };
enum way { FENCE_GPU, FENCE_SYSTEM, POST, RELEASE, ENTRY, WAYS };

const char *const way_names[WAYS] = {"fence/gpu", "fence/system", "doorbell/post", "doorbell/release",
                                     "doorbell/entry"};

struct teller {
	struct scope_bench bench; /* first */
	enum way way;
	uint64_t told;
};

template <enum way w> __device__ __forceinline__ void tell(uint64_t *at, uint64_t value)
{
	if (w == RELEASE) {
		simt_store_release_sys_u64(at, value);
		return;
	}
	if (w == ENTRY) {
#pragma unroll
		for (int k = 0; k < 8; k++)
			*(volatile uint64_t *)(at + 32 + k) = value;
		simt_store_release_sys_u64(at, value);
		return;
	}
	*(volatile uint64_t *)at = value;
	if (w == FENCE_GPU)
		__threadfence();
	if (w == FENCE_SYSTEM)
		__threadfence_system();
}

template <enum way w> __global__ void tell_all(uint64_t *at, uint64_t first, uint64_t count, uint64_t *out)
{
	const uint64_t began = simt_clock_ns();

	for (uint64_t k = 0; k < count; k++)
		tell<w>(at, first + k);
	__threadfence_system();
	out[1] = simt_clock_ns() - began;
}

typedef void (*kernel)(uint64_t *, uint64_t, uint64_t, uint64_t *);

kernel kernel_of(enum way w)
{
	switch (w) {
	case FENCE_GPU: return tell_all<FENCE_GPU>;
	case FENCE_SYSTEM: return tell_all<FENCE_SYSTEM>;
	case POST: return tell_all<POST>;
	case RELEASE: return tell_all<RELEASE>;
	default: return tell_all<ENTRY>;
	}
}

int open_cell(const struct scope_cell *c, const struct scope_machine *m, void *state, struct gn_error *e)
{
	struct teller *t = (struct teller *)state;
	int rc;

	for (unsigned k = 0; k < WAYS; k++)
		if (!strncmp(c->row->name, way_names[k], strlen(way_names[k])))
			t->way = (enum way)k;
	rc = scope_bench_open(&t->bench, c, m, 4096, e);
	return rc ? rc : scope_cuda_load(e, kernel_of(t->way));
}

int sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e)
{
	struct teller *t = (struct teller *)state;
	const uint64_t least = operations > LEAST ? operations : (uint64_t)LEAST,
	               count = least < MOST ? least : (uint64_t)MOST;
	int rc;

	kernel_of(t->way)<<<1, 1, 0, scope_bench_stream(&t->bench)>>>((uint64_t *)(void *)t->bench.memory.at,
	                                                              t->told + 1, count, t->bench.word);
	rc = scope_bench_wait(&t->bench, "stores", e);
	t->told += count;
	s->operations = count;
	s->seconds = 1e-9 * (double)t->bench.word[1];
	return rc;
}

/* The last that was told is there; of an entry, every word of it. */
int verify(void *state, struct gn_error *e)
{
	struct teller *t = (struct teller *)state;
	uint64_t word[WORDS];
	int rc = scope_cuda_check(cudaMemcpy(word, t->bench.memory.at, sizeof word, cudaMemcpyDefault),
	                          "words", e);

	for (unsigned k = 32; k < 40 && !rc && t->way == ENTRY; k++)
		if (word[k] != t->told)
			rc = gn_error_set(e, -GN_EIO, "word %u of the entry did not arrive", k - 32);
	if (!rc && word[0] != t->told)
		rc = gn_error_set(e, -GN_EIO, "the last store did not arrive");
	return rc;
}

const struct scope_functions functions = {sizeof(struct teller), scope_device_plan, open_cell, sample, verify,
                                          scope_bench_close};

const struct scope_row rows[] = {
    {"fence/gpu-device", "a store to the GPU's memory and __threadfence, by one thread", NULL, "none", NULL,
     NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"fence/system-device", "a store to the GPU's memory and __threadfence_system, by one thread", NULL,
     "none", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"fence/system-host", "a store to pinned host memory and __threadfence_system, by one thread", NULL,
     "d2h", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"fence/system-peer", "a store to another GPU's memory and __threadfence_system, by one thread", NULL,
     "d2d", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"doorbell/post-host", "stores of one thread to a word of pinned host memory, not waited for", NULL,
     "d2h", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"doorbell/post-peer", "stores of one thread to a word of another GPU's memory, not waited for", NULL,
     "d2d", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"doorbell/release-host", "releases of one thread to a word of pinned host memory", NULL, "d2h", NULL,
     NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"doorbell/release-peer", "releases of one thread to a word of another GPU's memory", NULL, "d2d", NULL,
     NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
    {"doorbell/entry-host", "a command of 64 bytes to pinned host memory and a release for it, by one thread",
     NULL, "d2h", NULL, NULL, SCOPE_LATENCY, SCOPE_DEVICE_CLOCK, &functions},
};

} // namespace

const struct scope_row_table scope_gpu_signal_rows = {rows, sizeof *rows, sizeof rows / sizeof *rows};
