/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a machine as the functions of grapnel/simt.h see it: a table of functions. The public functions
 * check their arguments and call the table. A machine embeds struct simt_machine as its first member, and its
 * streams embed struct simt_stream.
 */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#include <grapnel/simt.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Managed memory: host and device use the same address, and its pages move to the one that touches them. Any
 * host thread, while no kernel uses the memory.
 */
struct simt_managed_ops {
	/* Zeroed, in host memory. Returns 0 or -GN_ENOMEM: there is less free memory on the device. */
	int (*alloc)(struct simt_machine *machine, size_t bytes, void **memory, struct gn_error *error);
	void (*free)(struct simt_machine *machine, void *memory, size_t bytes);
	/* Bring all of it to host memory, with a hint: kernels mostly read it, or read and write it. */
	int (*settle)(struct simt_machine *machine, void *memory, size_t bytes, int read_mostly,
	              struct gn_error *error);
};

struct simt_spread;

/* Memory on other devices; see spread.h, whose functions call these. Any host thread. */
struct simt_spread_ops {
	int (*create)(struct simt_spread *spread, struct gn_error *error);
	void (*destroy)(struct simt_spread *spread);
	int (*share)(const struct simt_spread *spread, struct simt_machine *other, struct gn_error *error);
	int (*is_open)(const struct simt_spread *spread, struct simt_machine *machine);
	int (*reaches)(const struct simt_spread *spread, struct simt_machine *machine, const void *memory);
	unsigned (*device)(const struct simt_machine *machine);
};

extern const struct simt_spread_ops simt__cpu_spread, simt__cuda_spread;

/*
 * All functions but the last are set. The grid that launch gets is within bounds; launch copies the arguments
 * before it returns.
 */
struct simt_machine_ops {
	void *(*alloc)(struct simt_machine *machine, size_t bytes, enum simt_memory where,
	               struct gn_error *error);
	void (*free)(struct simt_machine *machine, void *memory);
	int (*pin)(struct simt_machine *machine, void *memory, size_t bytes, void **device,
	           struct gn_error *error);
	void (*unpin)(struct simt_machine *machine, void *memory, size_t bytes);
	int (*prepare)(struct simt_machine *machine, const struct simt_kernel *kernel,
	               struct gn_error *error);
	void (*info)(const struct simt_machine *machine, struct simt_info *info);
	void (*close)(struct simt_machine *machine);

	int (*stream_create)(struct simt_stream **stream, struct simt_machine *machine,
	                     struct gn_error *error);
	int (*stream_adopt)(struct simt_stream **stream, struct simt_machine *machine, void *foreign,
	                    struct gn_error *error);
	void (*stream_destroy)(struct simt_stream *stream);
	void *(*stream_handle)(const struct simt_stream *stream);
	int (*launch)(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
	              const void *arguments, struct gn_error *error);
	int (*wait)(struct simt_stream *stream, struct gn_error *error);
	int (*move)(struct simt_stream *stream, void *to, const void *from, size_t bytes,
	            struct gn_error *error);

	int (*enable_peer)(struct simt_machine *machine, struct simt_machine *other);
	/* exported->host is set and names this host */
	int (*export_)(struct simt_machine *machine, void *memory, struct simt_exported *exported);
	int (*import)(struct simt_machine *machine, const struct simt_exported *exported, void **memory);
	void (*unimport)(struct simt_machine *machine, const struct simt_exported *exported, void *memory);
	void (*reside)(struct simt_machine *machine, int more);
	const struct simt_managed_ops *managed; /* NULL: the machine has no memory but the host's */
	/* as pin, of registers of a PCI device that are mapped into the process; ended by unpin */
	int (*pin_registers)(struct simt_machine *machine, void *memory, size_t bytes, void **device,
	                     struct gn_error *error);
	const struct simt_spread_ops *spread;
	/* The stream's later launches begin when the other's earlier ones have ended. The kind is the same.
	 */
	int (*follow)(struct simt_stream *stream, struct simt_stream *other, struct gn_error *error);
	/* NULL: fibers have stacks of their own */
	int (*reserve_stack)(struct simt_machine *machine, size_t frame_bytes, struct gn_error *error);
};

/*
 * Tells holders whether a stream still exists. It outlives the stream, whose address another stream may have
 * by then.
 */
struct simt__life {
	uint32_t holders;
	uint32_t ended;
};

struct simt_stream {
	struct simt_machine *machine;
	struct simt__life *life; /* NULL: the machine's own */
};

struct simt_machine {
	const struct simt_machine_ops *ops;
	struct simt_stream *own; /* the stream of simt_launch, simt_wait and simt_move */
	unsigned taken;          /* processors that kernels which stay take from other kernels */
};

/* Open a machine of a kind. The caller has checked the options that both kinds have. */
int simt__cpu_open(struct simt_machine **machine, const struct simt_options *options, struct gn_error *error);
int simt__cuda_open(struct simt_machine **machine, const struct simt_options *options,
                    struct gn_error *error);

/*
 * simt__stream_follow - let what is launched on a stream later begin when all that was launched on the other
 * has ended; the streams are of machines of one kind. Waits for nothing on cuda, where the streams may be in
 * capture: the second one then joins it. On cpu it waits for the other stream, whose failure becomes the
 * stream's, too. Host, the thread of both.
 * Returns 0, -GN_EIO, -GN_ENOTSUP (another kind).
 */
int simt__stream_follow(struct simt_stream *stream, struct simt_stream *other, struct gn_error *error);

/* The number of GPUs that this process sees. */
unsigned simt__cuda_devices(void);

/*
 * simt__expect_residents - kernels will be launched that stay resident. To be called before the process uses
 * cuda and before it has threads (because of setenv).
 */
void simt__expect_residents(void);
void simt__cuda_expect_residents(void);

/* The program's kernels that cuda can launch. */
extern struct simt__listed *simt__all_listed;

/*
 * simt__life_hold - the life of a stream; given back by simt__life_drop. Any host thread that may use the
 * stream.
 */
struct simt__life *simt__life_hold(const struct simt_stream *stream);

/* simt__life_ended - has the stream been destroyed? Its launches have ended before that. Any host thread. */
int simt__life_ended(const struct simt__life *life);

/* simt__life_drop - give back a life; NULL is allowed. */
void simt__life_drop(struct simt__life *life);

/*
 * simt__reside - count kernels that stay.
 * @more  1: a kernel is launched that stays until it is told to end; -1: it has ended
 * Meanwhile simt_free keeps memory if giving it back would wait for that kernel.
 */
void simt__reside(struct simt_machine *machine, int more);

/*
 * simt__take_processors - say how many processors kernels that stay will take. simt_describe counts no
 * resident threads there. Host, before other threads use the machine.
 */
void simt__take_processors(struct simt_machine *machine, unsigned processors);

/*
 * simt__register_registers - let threads of the machine reach the mapped registers of a PCI device.
 * @device  receives the address by which they do; the same on cpu
 * Ended by simt_unregister. Returns 0, -GN_ENOTSUP: this GPU or driver cannot; the message says what to do.
 */
int simt__register_registers(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                             struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
