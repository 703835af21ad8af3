/* SPDX-License-Identifier: Apache-2.0 */
/*
 * simt.h - one source for several machines: the functions of device code, and those of the host.
 *
 * Device code is written once, in the common subset of C11, C++17 and CUDA C, as plain functions marked
 * SIMT_FN. A kernel is such a function over one argument struct:
 *
 *     struct scale_args { float *x; uint64_t count; float by; };
 *
 *     SIMT_FN void scale(const struct scale_args *a)
 *     {
 *             for (uint64_t i = simt_global_thread(); i < a->count; i += simt_global_threads())
 *                     a->x[i] *= a->by;
 *     }
 *     SIMT_KERNEL(scale, struct scale_args)
 *
 * The host launches it on any machine: simt_launch(machine, &scale_kernel, grid, &args, &error). Compiled by
 * a C or C++ compiler it runs on the cpu machine; compiled by nvcc it runs on cpu and cuda.
 *
 * This file declares every function; their code is in detail/simt/. Only there are CUDA intrinsics, compiler
 * atomics and assembly. explore.h runs a kernel under every schedule, or under many random ones.
 */
#ifndef GRAPNEL_SIMT_H
#define GRAPNEL_SIMT_H

#include <grapnel/detail/simt/base.h>
#include <grapnel/detail/simt/atomic.h>
#include <grapnel/detail/simt/copy.h>
#include <grapnel/detail/simt/kernel.h>
#include <grapnel/detail/simt/reduce.h>
#include <grapnel/detail/simt/wait.h>
#include <grapnel/detail/simt/warp.h>
#include <grapnel/error.h>

/*
 * The marks of device code (detail/simt/base.h):
 *
 *   SIMT_FN            a function that kernels may call. Inside it: no static tables, no recursion, no goto
 *                      over an initialised declaration
 *   SIMT_INLINE_FN     one that is always inlined; SIMT_NOINLINE_FN: never
 *   SIMT_ON_CUDA       1 while nvcc compiles for the device
 *
 * The functions below are called by threads of a kernel. A host thread may call them as the only thread of a
 * grid.
 */

/* ---- a thread's place ---- */

/*
 * A grid has blocks, a block has threads, and consecutive threads of a block form warps of simt_warp_width()
 * lanes. Blocks need not run at the same time; threads of a block do.
 */

/* simt_thread - index of this thread in its block, from 0. */
SIMT_FN uint32_t simt_thread(void);

/* simt_block_threads - threads in a block, 1 to 1024. */
SIMT_FN uint32_t simt_block_threads(void);

/* simt_block - index of this block in the grid, from 0. */
SIMT_FN uint32_t simt_block(void);

/* simt_blocks - blocks in the grid. */
SIMT_FN uint32_t simt_blocks(void);

/* simt_global_thread - index of this thread in the grid, from 0. */
SIMT_FN uint64_t simt_global_thread(void);

/* simt_global_threads - threads in the grid. */
SIMT_FN uint64_t simt_global_threads(void);

/* simt_warp_width - lanes in a warp: 32 on cuda; on cpu the machine's setting, 1 to 32. */
SIMT_FN uint32_t simt_warp_width(void);

/* simt_whole_warp - the mask of all simt_warp_width() lanes; for warps in which all of them run. */
SIMT_FN uint32_t simt_whole_warp(void);

/* simt_lane - index of this thread in its warp, from 0. */
SIMT_FN uint32_t simt_lane(void);

/*
 * simt_processor - the number of the processor that runs this thread: a multiprocessor, or an OS thread of
 * the cpu machine. Use it to spread threads over queues. 0 on host threads.
 */
SIMT_FN uint32_t simt_processor(void);

/* ---- a warp's lanes together ---- */

/*
 * A mask is a set of lanes: lane k is bit k. A collective takes the mask of the lanes that call it:
 *   before  every lane of mask calls the same collective with the same mask; the caller is in mask
 *   after   all of them return together. simt_warp_sync, simt_copy and simt_copy_each also order memory:
 *           each lane of mask sees what the others wrote before the call. The others order no memory
 * In divergent code call `mask = simt_active()`, and then collectives over that mask. On cpu the
 * launch ends with -GN_EDEADLK if a lane of the mask has ended, or if lanes wait in different collectives. On
 * cuda the result is undefined.
 */

/* simt_popcount - number of lanes in mask. */
SIMT_FN uint32_t simt_popcount(uint32_t mask);

/* simt_first_lane - lowest lane of mask, which must not be empty. */
SIMT_FN uint32_t simt_first_lane(uint32_t mask);

/* simt_rank - number of lanes of mask below this one: 0 for the first, popcount - 1 for the last. */
SIMT_FN uint32_t simt_rank(uint32_t mask);

/*
 * simt_active - the lanes that make this call together with this one; at least the caller. Code must be right
 * also if only the caller is returned: the other lanes are there for speed.
 */
SIMT_INLINE_FN uint32_t simt_active(void);

/* simt_ballot - collective: the lanes of mask whose predicate is not 0. */
SIMT_FN uint32_t simt_ballot(uint32_t mask, int predicate);

/* simt_shfl_u32, simt_shfl_u64 - collective: the value that lane source passed; source is in mask. */
SIMT_FN uint32_t simt_shfl_u32(uint32_t mask, uint32_t value, uint32_t source);
SIMT_FN uint64_t simt_shfl_u64(uint32_t mask, uint64_t value, uint32_t source);

/* simt_match_any_u64 - collective: the lanes of mask that passed the same value as the caller. */
SIMT_FN uint32_t simt_match_any_u64(uint32_t mask, uint64_t value);

/* simt_or_u32 - collective: the values of all lanes of mask, or-ed. */
SIMT_FN uint32_t simt_or_u32(uint32_t mask, uint32_t value);

/* simt_warp_sync - collective: wait until all lanes of mask have come here; orders memory among them. */
SIMT_FN void simt_warp_sync(uint32_t mask);

/*
 * simt_copy - collective: the lanes of mask copy one run of bytes together.
 * @mask       the calling lanes; all pass the same to, from and bytes
 * @to, @from  16-byte aligned, not overlapping; device memory, or host memory that the device reaches
 * @bytes      a multiple of 16
 * Earlier accesses of the lanes are ordered before the copy, and after it every lane of mask sees the copied
 * bytes. For other threads publish them with a release. The copy bypasses caches that may be stale
 * (a controller may have written the source), so an acquire before the call suffices.
 */
SIMT_FN void simt_copy(uint32_t mask, void *to, const void *from, size_t bytes);

/*
 * simt_copy_each - collective: the lanes of mask copy many runs of bytes together, one for each lane of
 * wants.
 * @mask   the calling lanes
 * @wants  lanes of mask, the same for all. Each passes a run of its own: to, from and bytes as for simt_copy.
 *         The arguments of the other lanes are ignored. Runs do not overlap
 *
 * Memory order as simt_copy. Each lane has four pieces of 16 bytes in flight, also of different runs, so a
 * short run does not cost a round trip of its own.
 */
SIMT_NOINLINE_FN void simt_copy_each(uint32_t mask, uint32_t wants, void *to, const void *from,
                                     uint32_t bytes);

/* ---- atomics ---- */

/*
 * simt_load, simt_store, simt_cas, simt_reduce - atomics: indivisible accesses. Memory order and scope are
 * part of their names.
 *
 *     T simt_load_ORDER_SCOPE_T(const T *p);
 *     void simt_store_ORDER_SCOPE_T(T *p, T value);
 *     T simt_cas_ORDER_SCOPE_T(T *p, T expected, T desired);
 *     T simt_OP_ORDER_SCOPE_T(T *p, T value);
 *     void simt_reduce_OP_relaxed_SCOPE_T(T *p, T value);
 *
 * For example simt_add_relaxed_dev_u64(&sum, 1). cas stores desired if *p equals expected. cas and OP return
 * the value before; reduce returns nothing, so the thread does not wait. Only the combinations that Grapnel
 * uses exist (detail/simt/atomic.h).
 *
 *   OP       add, and, or, xor, min, max
 *   T        u32, u64; for loads and stores also u8 and u16; for reduce's add also f64, a double
 *   relaxed  an order: indivisible, orders nothing else
 *   acquire  an order: later accesses of this thread come after it
 *   release  an order: earlier accesses of this thread come before it
 *   acq_rel  an order: both
 *   seq_cst  an order: both, and all threads see these accesses in one order; on cpu alone
 *   dev      a scope: seen by every thread of the same machine
 *   sys      a scope: seen by the host, other devices and controllers too
 *   any      a scope: as dev; the word may also lie in a block's shared memory
 *
 * The cpu machine has one scope. Addresses are naturally aligned. On cuda atomics of scope dev and sys take
 * global memory only (of a device or the host). Sources: C11 section 7.17; PTX ISA, "Memory Consistency
 * Model".
 */

/*
 * simt_fence_acq_rel_dev, simt_fence_acq_rel_sys - for the threads of the scope, every access of this thread
 * before the fence is ordered before every access after it.
 */
SIMT_FN void simt_fence_acq_rel_dev(void);
SIMT_FN void simt_fence_acq_rel_sys(void);

/* ---- waiting, time, the block ---- */

/*
 * simt_relax - give the processor to other threads for a moment. Call it in every loop that polls memory. On
 * cpu it switches to another fiber, so that thousands of waiting threads overlap on one OS thread; on a host
 * thread it yields the processor. Orders nothing.
 */
SIMT_FN void simt_relax(void);

/*
 * simt_backoff - simt_relax with a pause that doubles after each round. On cpu it is simt_relax.
 * @rounds     how often the thread has polled in vain so far
 * @doublings  the longest pause is 20 nanoseconds << doublings: choose a fraction of the expected wait
 * Use it if many threads poll one word: they slow each other down, and the thread for which they wait. Orders
 * nothing.
 */
SIMT_FN void simt_backoff(uint32_t rounds, uint32_t doublings);

/*
 * simt_clock_ns - a clock in nanoseconds that never goes back; its resolution is 1 us or better. It is the
 * same on all threads of a machine. Under the random schedule and in simt_explore it counts steps, so that
 * runs can be repeated.
 */
SIMT_FN uint64_t simt_clock_ns(void);

/*
 * simt_block_sync - barrier of the block.
 *   before  every thread of the block that has not ended calls it, none from divergent code
 *   after   every thread of the block sees what the others wrote before it
 */
SIMT_FN void simt_block_sync(void);

/* simt_shared - the block's shared memory: grid.shared_bytes of it, 16-byte aligned, not initialised. */
SIMT_FN void *simt_shared(void);

/* ---- kernels ---- */

/*
 * SIMT_KERNEL, SIMT_KERNEL_RESIDENT, SIMT_KERNEL_SMALL, SIMT_KERNEL_DECLARE - make a kernel of a function.
 *
 *     SIMT_KERNEL(function, argument type)
 *     SIMT_KERNEL_RESIDENT(function, argument type, threads)
 *     SIMT_KERNEL_SMALL(function, argument type)
 *     SIMT_KERNEL_DECLARE(function);
 *
 * SIMT_KERNEL defines `const struct simt_kernel <function>_kernel` (detail/simt/kernel.h), which simt_launch
 * takes; every thread of the grid then calls function(const argument type *). The arguments are copied at
 * launch; what they point to stays the caller's. SIMT_KERNEL_DECLARE declares that kernel in other sources.
 *
 * SIMT_KERNEL_RESIDENT chooses how many threads of the kernel a multiprocessor holds at once. 1024, as in
 * SIMT_KERNEL, leaves 64 registers to each; 2048 leaves 32, for short kernels that mostly wait for memory. On
 * a GPU whose multiprocessors hold 1536 threads 2048 means 1024. It has no effect on the cpu machine.
 *
 * SIMT_KERNEL_SMALL is for blocks of at most 512 threads; it leaves 128 registers to each.
 */

/* ---- host: machines, memory, launches ---- */

/*
 * For host threads only. Memory and streams: any host thread at any time. Launches, moves and waits: one host
 * thread a stream at a time; simt_launch, simt_wait and simt_move use the machine's own stream. A call that
 * fails says in error->text what failed, where, and what to do; error may be NULL.
 * The comment of each call says what it waits for. These may wait for the whole device, because CUDA does:
 * simt_free, simt_unregister, simt_close; simt_prepare or else the first launch of a kernel;
 * simt_reserve_stack.
 */

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

struct simt_machine;
struct simt_stream;

/*
 * How the cpu machine picks the next thread.
 *   fair    every OS thread goes round its fibers; the default, and the only one that uses several OS threads
 *   random  one OS thread. At every wait, and at every atomic of a source compiled with SIMT_PREEMPT, a
 *           generator seeded with options.seed chooses the next thread; the same seed gives the same run
 *
 * simt_explore (explore.h) runs all schedules within a bound.
 */
enum simt_schedule { SIMT_FAIR, SIMT_RANDOM };

/* Zero is a good default for every member but name. */
struct simt_options {
	const char *name;            /* "cpu", "cuda" or "cuda:1" */
	unsigned threads;            /* cpu: OS threads; 0 for one a core */
	unsigned warp_width;         /* cpu: 1 to 32, a power of two; 0 for 1 */
	enum simt_schedule schedule; /* cpu */
	uint64_t seed;               /* cpu: of the random schedule */
};

/* Properties of a machine. */
struct simt_info {
	char name[64]; /* "cpu", or the device's own name */
	int is_cuda;
	unsigned processors; /* multiprocessors, or OS threads */
	unsigned warp_width;
	uint64_t memory_bytes; /* of the device; of the host for cpu */
	/* how many threads it runs at once, beside kernels that stay: a good grid for kernels that wait */
	unsigned resident_threads;
};

/* Where memory lies. On cpu all are the host's. */
enum simt_memory {
	SIMT_DEVICE, /* the device's own; the host reaches it by simt_move only */
	SIMT_PINNED, /* pinned host memory; both sides use the same address */
	/* As SIMT_DEVICE; simt_export shares it with other processes. On cpu a file in memory (memfd) */
	SIMT_EXPORTED
};

/* Names memory for other processes of the same host. Plain data, to be sent as it is. */
struct simt_exported {
	char host[40]; /* Linux's boot_id */
	uint64_t handle[8];
};

/* How many threads run a kernel, and the shared memory of each block. */
struct simt_grid {
	uint32_t blocks;        /* 1 to 2^31 - 1 */
	uint32_t block_threads; /* 1 to 1024 */
	uint32_t shared_bytes;  /* dynamic shared memory a block, at most 48 KiB */
};

/*
 * simt_open - open a machine.
 * @machine  receives it; owned, close with simt_close
 * @options  which and how; borrowed until return
 * Returns 0, -GN_ENODEV (no such machine, or not built in: the message says how to get it),
 * -GN_EINVAL, -GN_ENOMEM.
 */
int simt_open(struct simt_machine **machine, const struct simt_options *options, struct gn_error *error);

/*
 * simt_close - wait for running kernels, then free the machine. Before it, free all memory from simt_alloc
 * and destroy all streams.
 */
void simt_close(struct simt_machine *machine);

/* simt_describe - fill info. */
void simt_describe(const struct simt_machine *machine, struct simt_info *info);

/*
 * simt_devices - how many machines there are of a kind, "cpu" (1) or "cuda" (GPUs; 0 where the library has
 * none).
 */
unsigned simt_devices(const char *kind);

/*
 * simt_enable_peer - make the device memory of another machine of this process accessible to kernels of
 * machine, at the same addresses. Returns 0, or -GN_ENOTSUP: the devices do not reach each other.
 */
int simt_enable_peer(struct simt_machine *machine, struct simt_machine *other, struct gn_error *error);

/*
 * simt_export - describe memory from simt_alloc(SIMT_EXPORTED) for other processes; valid until it is freed.
 * simt_import - map memory that another process exported, for a machine of the same kind. Both processes may
 * load and change it. End it by simt_unimport, with the same machine and description, before the machine is
 * closed. The memory exists as long as any process has it. Return 0 or -GN_ENOTSUP: the memory is of another
 * host, user or container, its process has ended, or this system does not support it.
 */
int simt_export(struct simt_machine *machine, void *memory, struct simt_exported *exported,
                struct gn_error *error);
int simt_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory,
                struct gn_error *error);
void simt_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory);

/*
 * simt_alloc - memory for a machine, zeroed; aligned to 4096 bytes if pinned, to 256 if the device's.
 * Returns NULL if there is not enough (error->code is -GN_ENOMEM) or the device failed (-GN_EIO). Free it by
 * simt_free. Do not call it while any stream is in capture: CUDA forbids that.
 */
void *simt_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where, struct gn_error *error);

/* simt_free - free memory from simt_alloc; NULL does nothing. */
void simt_free(struct simt_machine *machine, void *memory);

/*
 * simt_move - copy bytes between host and device memory in any direction; waits for the launches of the
 * machine's own stream before it and returns when the bytes are there.
 * Returns 0 or -GN_EIO (a launch before it failed, or the copy did).
 */
int simt_move(struct simt_machine *machine, void *to, const void *from, size_t bytes, struct gn_error *error);

/*
 * simt_register - make host memory of the caller accessible to the device.
 * @memory, @bytes  page-aligned; stays the caller's; registered in pieces of at most 64 GiB, because on some
 *                  systems one very large registration fails and makes the context unusable
 * @device    receives the address by which the device reaches it (the same address on cpu)
 * Returns 0, -GN_ENOMEM (cannot be pinned), -GN_EINVAL (not page-aligned, or 0 bytes), -GN_EIO (the device
 * failed). On failure nothing stays registered.
 */
int simt_register(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                  struct gn_error *error);

/* simt_unregister - end simt_register; same memory and bytes. May wait for the device. */
void simt_unregister(struct simt_machine *machine, void *memory, size_t bytes);

/*
 * simt_launch - run a kernel over a grid on the machine's own stream.
 * @arguments  the kernel's argument struct, copied
 * On cuda the first launch makes room on the stack for the kernel's local arrays and for the library. A
 * program that launches by <<<>>> calls simt_reserve_stack, if its kernel has more than 1024 bytes of local
 * arrays. Launches of one stream run in order. The call may return before the kernel ends; simt_wait waits.
 * On cpu it first waits for the stream's last launch. Returns 0, -GN_EINVAL (a grid out of bounds),
 * -GN_ENODEV (the kernel was not compiled for this machine), -GN_ENOMEM, -GN_EIO (what the device said).
 */
int simt_launch(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
                const void *arguments, struct gn_error *error);

/*
 * simt_wait - wait for every launch of the machine's own stream.
 * Returns 0, or why a cpu launch was abandoned: -GN_EDEADLK (lanes waited for lanes that do not come),
 * -GN_EINVAL (simt_shfl from a lane outside the mask), -GN_ENOMEM; -GN_EIO if the device failed.
 */
int simt_wait(struct simt_machine *machine, struct gn_error *error);

/*
 * simt_prepare - load a kernel now, with room on the stack. Otherwise its first launch does so, and CUDA may
 * wait for that until the device is idle. Prepare each kernel whose first launch is beside running kernels,
 * or in a capture. Returns 0, -GN_ENODEV (not compiled for this machine), -GN_ENOMEM, -GN_EIO.
 */
int simt_prepare(struct simt_machine *machine, const struct simt_kernel *kernel, struct gn_error *error);

/*
 * simt_reserve_stack - make room on the stack for a kernel that the program launches by itself.
 * @frame_bytes  its own frame: localSizeBytes of cudaFuncGetAttributes
 * All kernels of the device share this setting, which only grows. simt_open sets it for frames of 1024 bytes.
 * A kernel with a larger frame needs this call before its first launch: otherwise its calls overwrite memory.
 * May wait for the device; not while a stream is in capture. Any host thread. Returns 0, -GN_ENOMEM, -GN_EIO
 * (the message has the device's error, for example that its stack cannot be so large). On cpu it does
 * nothing.
 */
int simt_reserve_stack(struct simt_machine *machine, size_t frame_bytes, struct gn_error *error);

/*
 * Streams: launches of one stream run in order, launches of several streams run at the same time. On cuda a
 * stream is a cudaStream_t. On cpu the OS threads are divided among the streams that have work, and a kernel
 * that waits for a kernel of another stream may wait for ever.
 *
 * simt_stream_create - a new stream, not ordered with any other (on cuda also not with the legacy default
 * stream).
 * @stream  receives it; owned, simt_stream_destroy before simt_close
 * Returns 0, -GN_ENOMEM, -GN_EIO.
 */
int simt_stream_create(struct simt_stream **stream, struct simt_machine *machine, struct gn_error *error);

/*
 * simt_stream_adopt - use a stream of the program's own.
 * @cuda_stream  a cudaStream_t of the machine's device (0, cudaStreamLegacy and cudaStreamPerThread too);
 *               stays the caller's and outlives the adoption. It may be in capture, now or later: a launch
 *               then becomes a node of the graph and does nothing else.
 * Waits for nothing. Returns 0, -GN_ENOTSUP (the machine is not cuda), -GN_ENOMEM.
 */
int simt_stream_adopt(struct simt_stream **stream, struct simt_machine *machine, void *cuda_stream,
                      struct gn_error *error);

/*
 * simt_stream_destroy - wait for its launches and free it. An adopted stream is not waited for, and stays
 * the caller's. NULL does nothing.
 */
void simt_stream_destroy(struct simt_stream *stream);

/* simt_stream_handle - the cudaStream_t behind it; NULL on cpu. Borrowed. */
void *simt_stream_handle(const struct simt_stream *stream);

/* simt_launch_on - simt_launch on this stream. Codes as simt_launch. */
int simt_launch_on(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                   const void *arguments, struct gn_error *error);

/*
 * simt_stream_wait - wait for this stream's launches and for nothing else.
 * Codes as simt_wait; -GN_EINVAL while the stream is in capture; the capture stays valid.
 */
int simt_stream_wait(struct simt_stream *stream, struct gn_error *error);

/*
 * simt_stream_move - simt_move after this stream's launches; waits for this stream only. Codes as simt_move;
 * -GN_EINVAL while the stream is in capture. If the bytes are aligned 8-byte words, at most 256 bytes,
 * kernels of other streams may change them by atomics meanwhile: each word then has an old or a new value.
 */
int simt_stream_move(struct simt_stream *stream, void *to, const void *from, size_t bytes,
                     struct gn_error *error);

/* simt_stream_machine - the machine it belongs to. Borrowed. */
struct simt_machine *simt_stream_machine(const struct simt_stream *stream);

#ifdef __cplusplus
}
#endif
#endif

#endif
