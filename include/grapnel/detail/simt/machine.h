/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/simt/machine.h - the host's side: open a machine, give it memory, launch kernels.
 *
 * Host threads only. Memory and streams: any host thread at any time. Launches, moves and waits: one host thread a
 * stream at a time; simt_launch, simt_wait, simt_move and simt_message are those of the machine's own stream. What a
 * call waits for stands with it; none waits for the whole device, but that simt_free and simt_close may (cuda's own
 * freeing does).
 */
#ifndef GRAPNEL_SIMT_MACHINE_H
#define GRAPNEL_SIMT_MACHINE_H

#include <grapnel/error.h>
#include <grapnel/detail/simt/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct simt_machine;
struct simt_stream;

/*
 * How the cpu machine picks the next thread.
 *   fair    every OS thread goes round its fibers; the default, and the only one that uses several OS threads
 *   random  one OS thread; at every point of a source compiled with SIMT_PREEMPT, and at every wait, a thread
 *           chosen by a generator seeded with config.seed; the same seed gives the same run
 * Bounded exhaustive schedules are run by simt_explore (explore.h).
 */
enum simt_schedule { SIMT_FAIR, SIMT_RANDOM };

/* Zero is a good default for every member but name. */
struct simt_config {
	const char *name;            /* "cpu", "cuda" or "cuda:1" */
	unsigned threads;            /* cpu: OS threads; 0 for one a core */
	unsigned warp_width;         /* cpu: 1 to 32, a power of two; 0 for 1 */
	enum simt_schedule schedule; /* cpu */
	uint64_t seed;               /* cpu: of the random schedule */
};

/* What a machine is. */
struct simt_info {
	char name[64];           /* "cpu", or the device's own name */
	int is_cuda;
	unsigned processors;     /* multiprocessors, or OS threads */
	unsigned warp_width;
	uint64_t memory_bytes;   /* of the device; of the host for cpu */
	unsigned resident_threads; /* how many threads it runs at once: a good grid for work that waits */
};

/* Where memory lies. On cpu both are the host's. */
enum simt_memory {
	SIMT_DEVICE, /* the device's own; the host reaches it by simt_move only */
	SIMT_SHARED, /* pinned host memory; both sides use the same address */
	SIMT_EXPORTED /* as SIMT_DEVICE; simt_export lets other processes have it too. On cpu its pages are those of tmpfs */
};

/* Memory that its process lets others of the same host have. Plain data, to be sent as it is. */
struct simt_exported {
	char host[40];      /* of the host, as long as it is up: Linux's boot_id */
	uint64_t handle[8]; /* the machine's */
};

struct simt_grid {
	uint32_t blocks;        /* 1 and more */
	uint32_t block_threads; /* 1 to 1024 */
	uint32_t shared_bytes;  /* dynamic shared memory a block, at most 48 KiB */
};

/* A kernel as SIMT_KERNEL makes it. Plain data; owned by the program. */
struct simt_kernel {
	const char *name;
	size_t argument_bytes;
	void (*cpu)(const void *arguments);
	const void *cuda; /* NULL if this source was not compiled by nvcc */
};

/*
 * SIMT_KERNEL(function, argument type) defines `const struct simt_kernel <function>_kernel`. The
 * arguments are copied at launch; what they point to is the caller's. Declare it elsewhere with
 * SIMT_KERNEL_DECLARE(function).
 *
 * SIMT_KERNEL_RESIDENT(function, argument type, threads) chooses how many threads of it a multiprocessor holds at
 * once: 1024, as SIMT_KERNEL does, leaves 64 registers to each; 2048 leaves 32, for short kernels that mostly wait
 * for memory. The cpu machine does not care.
 */
#ifdef __cplusplus
#define SIMT__EXTERN extern "C"
#else
#define SIMT__EXTERN extern
#endif
#define SIMT_KERNEL_DECLARE(function) SIMT__EXTERN const struct simt_kernel function##_kernel

/* The program's kernels for cuda, listed before main: one is loaded when it is first launched, which waits for kernels that stay. */
struct simt__listed {
	const struct simt_kernel *kernel;
	struct simt__listed *next;
};
SIMT__EXTERN int simt__list(struct simt__listed *kernel);
#if defined(__CUDACC__)
#define SIMT_KERNEL_RESIDENT(function, argument_type, threads)                                    \
	static __global__ void __launch_bounds__(1024, (threads) / 1024)                              \
		function##__cuda(const __grid_constant__ argument_type arguments)                     \
	{                                                                                             \
		function(&arguments);                                                                 \
	}                                                                                             \
	static void function##__cpu(const void *arguments)                                            \
	{                                                                                             \
		function((const argument_type *)arguments);                                           \
	}                                                                                             \
	SIMT_KERNEL_DECLARE(function);                                                                \
	const struct simt_kernel function##_kernel = {#function, sizeof(argument_type), function##__cpu, \
						      (const void *)function##__cuda};             \
	static struct simt__listed function##__entry = {&function##_kernel, 0};                       \
	static const int function##__listed __attribute__((unused)) = simt__list(&function##__entry);
#else
#define SIMT_KERNEL_RESIDENT(function, argument_type, threads)                                    \
	static void function##__cpu(const void *arguments)                                            \
	{                                                                                             \
		function((const argument_type *)arguments);                                           \
	}                                                                                             \
	SIMT_KERNEL_DECLARE(function);                                                                \
	const struct simt_kernel function##_kernel = {#function, sizeof(argument_type), function##__cpu, 0};
#endif
#define SIMT_KERNEL(function, argument_type) SIMT_KERNEL_RESIDENT(function, argument_type, 1024)

/*
 * simt_open - open a machine.
 * @machine  receives it; owned, close with simt_close
 * @config   which and how; borrowed until return
 * Returns 0, -GN_ENODEV (no such machine, or not built in: the message says how to get it),
 * -GN_EINVAL, -GN_ENOMEM.
 */
int simt_open(struct simt_machine **machine, const struct simt_config *config, struct gn_error *error);

/*
 * simt_close - wait for what runs, then give everything back. Memory from simt_alloc must be freed before, streams
 * destroyed.
 */
void simt_close(struct simt_machine *machine);

/* simt_describe - what an open machine is. */
void simt_describe(const struct simt_machine *machine, struct simt_info *info);

/* simt_devices - how many machines there are of a kind, "cpu" (1) or "cuda" (GPUs; 0 where the library has none). */
unsigned simt_devices(const char *kind);

/*
 * simt_reach - let kernels of one machine load and change the device memory of another of this process, by its addresses.
 * Returns 0, or -GN_ENOTSUP: they cannot.
 */
int simt_reach(struct simt_machine *machine, struct simt_machine *other);

/*
 * simt_export - let other processes have memory from simt_alloc(SIMT_EXPORTED), as long as it is not freed.
 * simt_import - an address for memory that another process exported, for a machine of the same kind. Both may load and
 * change it. Give it back by simt_unimport, with the same machine and description, before the machine is closed: it stays
 * what it is as long as anybody has it.
 * Return 0 or -GN_ENOTSUP: it is of another host or user or container, its process has ended, or this system cannot.
 */
int simt_export(struct simt_machine *machine, void *memory, struct simt_exported *exported);
int simt_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory);
void simt_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory);

/*
 * simt_alloc - memory for a machine, zeroed; aligned to 4096 bytes if shared, to 256 if the device's.
 * Returns NULL when there is not enough. Free with simt_free. Not while any stream is in capture: cuda forbids it.
 */
void *simt_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where);

/* simt_free - give back what simt_alloc gave; NULL is nothing. */
void simt_free(struct simt_machine *machine, void *memory);

/*
 * simt_move - copy bytes between host and device memory in any direction; waits for the launches of the machine's own
 * stream before it and returns when the bytes are there.
 * Returns 0 or -GN_EIO (a launch before it failed, or the copy did).
 */
int simt_move(struct simt_machine *machine, void *to, const void *from, size_t bytes);

/*
 * simt_register - let the device reach host memory that the caller owns.
 * @memory, @bytes  page-aligned; stays the caller's; registered in pieces of at most 64 GiB, because one
 *                  very large registration fails on some systems and poisons the context
 * @device    receives the address by which the device reaches it (the same address on cpu)
 * Returns 0, -GN_ENOMEM (cannot be pinned: says how much was asked), -GN_EINVAL. On failure nothing stays
 * registered.
 */
int simt_register(struct simt_machine *machine, void *memory, size_t bytes, void **device,
		  struct gn_error *error);

/* simt_unregister - end simt_register; same memory and bytes. */
void simt_unregister(struct simt_machine *machine, void *memory, size_t bytes);

/*
 * simt_launch - run a kernel over a grid on the machine's own stream.
 * @arguments  the kernel's argument struct, copied
 * Launches of one stream run in order. May return before the kernel ends; simt_wait waits. On cpu it first waits for
 * the stream's launch before.
 * Returns 0, -GN_EINVAL (a grid out of bounds), -GN_ENODEV (the kernel was not compiled for this machine).
 */
int simt_launch(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
		const void *arguments);

/*
 * simt_wait - wait for every launch of the machine's own stream.
 * Returns 0; -GN_EDEADLK if threads of a cpu launch waited for lanes that had ended (the launch was
 * abandoned); -GN_EIO if the device failed. The message of the failure: simt_message.
 */
int simt_wait(struct simt_machine *machine);

/* simt_message - the last failure of the machine's own stream in words, "" if there was none. Borrowed. */
const char *simt_message(const struct simt_machine *machine);

/*
 * simt_prepare - load a kernel now. The first launch of a kernel otherwise loads it, for which cuda may wait until the
 * device is idle: prepare what is launched first beside running kernels, or into a capture.
 * Returns 0, -GN_ENODEV (not compiled for this machine), -GN_EIO.
 */
int simt_prepare(struct simt_machine *machine, const struct simt_kernel *kernel);

/*
 * Streams: launches of one run in order, launches of several at the same time. On cuda a stream is a cudaStream_t; on
 * cpu the OS threads divide themselves among the streams that have work, and a launch that waits for another stream's
 * may wait for ever.
 *
 * simt_stream_create - a new stream, ordered with no other (on cuda: not with the legacy default stream either).
 * @stream  receives it; owned, simt_stream_destroy before simt_close
 * Returns 0, -GN_ENOMEM, -GN_EIO.
 */
int simt_stream_create(struct simt_stream **stream, struct simt_machine *machine, struct gn_error *error);

/*
 * simt_stream_adopt - use a stream of the program's own.
 * @cuda_stream  a cudaStream_t of the machine's device (0, cudaStreamLegacy and cudaStreamPerThread too); stays the
 *               caller's and outlives the adoption. It may be in capture, now or later: a launch then becomes a node of
 *               the graph and does nothing else.
 * Waits for nothing. Returns 0, -GN_ENOTSUP (the machine is not cuda), -GN_ENOMEM.
 */
int simt_stream_adopt(struct simt_stream **stream, struct simt_machine *machine, void *cuda_stream,
		      struct gn_error *error);

/* simt_stream_destroy - wait for its launches and free it; an adopted one is only forgotten. NULL is nothing. */
void simt_stream_destroy(struct simt_stream *stream);

/* simt_stream_handle - the cudaStream_t behind it; NULL on cpu. Borrowed. */
void *simt_stream_handle(const struct simt_stream *stream);

/* simt_launch_on - simt_launch on this stream. Codes as simt_launch; the message: simt_stream_message. */
int simt_launch_on(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
		   const void *arguments);

/*
 * simt_stream_wait - wait for this stream's launches and for nothing else.
 * Codes as simt_wait; -GN_EINVAL while the stream is in capture, which stays whole.
 */
int simt_stream_wait(struct simt_stream *stream);

/*
 * simt_stream_move - simt_move behind this stream's launches; waits for this stream only.
 * Codes as simt_move; -GN_EINVAL while the stream is in capture.
 */
int simt_stream_move(struct simt_stream *stream, void *to, const void *from, size_t bytes);

/* simt_stream_message - the last failure of this stream in words, "" if there was none. Borrowed. */
const char *simt_stream_message(const struct simt_stream *stream);

/* simt_stream_machine - the machine it belongs to. Borrowed. */
struct simt_machine *simt_stream_machine(const struct simt_stream *stream);

#ifdef __cplusplus
}
#endif

#endif
