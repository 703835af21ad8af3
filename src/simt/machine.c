/* SPDX-License-Identifier: Apache-2.0 */
#include <simt/machine.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_cuda(struct simt_machine **machine, const struct simt_options *options,
                     struct gn_error *error)
{
#ifdef GN_CUDA
	return simt__cuda_open(machine, options, error);
#else
	(void)machine;
	return gn_error_set(error, -GN_ENODEV,
	                    "machine \"%s\": this build has no cuda machine; build it with the cuda preset "
	                    "(cmake --preset cuda, needs nvcc) or use \"cpu\"",
	                    options->name);
#endif
}

int simt_open(struct simt_machine **machine, const struct simt_options *options, struct gn_error *error)
{
	*machine = NULL;
	if (!options->name)
		return gn_error_set(error, -GN_EINVAL,
		                    "the machine has no name; give \"cpu\", \"cuda\" or \"cuda:1\"");
	if (!strcmp(options->name, "cpu"))
		return simt__cpu_open(machine, options, error);
	if (!strcmp(options->name, "cuda") || !strncmp(options->name, "cuda:", 5))
		return open_cuda(machine, options, error);
	return gn_error_set(error, -GN_ENODEV,
	                    "machine \"%s\" does not exist; use \"cpu\", \"cuda\" or \"cuda:1\"",
	                    options->name);
}

void simt_close(struct simt_machine *machine)
{
	if (machine)
		machine->ops->close(machine);
}

void simt_describe(const struct simt_machine *machine, struct simt_info *info)
{
	memset(info, 0, sizeof *info);
	machine->ops->info(machine, info);
	if (machine->taken && info->processors > 1) {
		const unsigned most = info->processors - 1,
		               taken = machine->taken < most ? machine->taken : most;

		info->resident_threads -= info->resident_threads / info->processors * taken;
	}
}

void simt__take_processors(struct simt_machine *machine, unsigned processors)
{
	machine->taken = processors;
}

unsigned simt_devices(const char *kind)
{
#ifdef GN_CUDA
	if (!strcmp(kind, "cuda"))
		return simt__cuda_devices();
#endif
	return !strcmp(kind, "cpu");
}

int simt_enable_peer(struct simt_machine *machine, struct simt_machine *other, struct gn_error *error)
{
	const int rc = machine->ops == other->ops ? machine->ops->enable_peer(machine, other) : -GN_ENOTSUP;
	struct simt_info to, from;

	if (!rc)
		return 0;
	simt_describe(machine, &to);
	simt_describe(other, &from);
	return gn_error_set(
	    error, rc,
	    "the memory of the machine %s is not accessible to the machine %s; use two GPUs that "
	    "reach each other, or one",
	    from.name, to.name);
}

/* Returns 0 or -GN_ENOTSUP. */
static int host_of(struct simt_exported *exported)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t bytes = -1;

	memset(exported, 0, sizeof *exported);
	if (fd >= 0) {
		bytes = read(fd, exported->host, sizeof exported->host - 1);
		close(fd);
	}
	return bytes > 0 ? 0 : -GN_ENOTSUP;
}

int simt_export(struct simt_machine *machine, void *memory, struct simt_exported *exported,
                struct gn_error *error)
{
	int rc = host_of(exported);

	rc = rc ? rc : machine->ops->export_(machine, memory, exported);
	return rc ? gn_error_set(error, rc,
	                         "the memory cannot be shared with other processes: it was not allocated as "
	                         "exported (SIMT_EXPORTED), or this system does not support that")
	          : 0;
}

int simt_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory,
                struct gn_error *error)
{
	struct simt_exported here;
	int rc;

	*memory = NULL;
	if (host_of(&here))
		return gn_error_set(error, -GN_ENOTSUP,
		                    "nothing can be imported: /proc/sys/kernel/random/boot_id, which names "
		                    "this host, cannot be read");
	if (memcmp(here.host, exported->host, sizeof here.host) != 0)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "the memory was exported on another host; import it on the host that exported it");
	rc = machine->ops->import(machine, exported, memory);
	return rc ? gn_error_set(error, rc,
	                         "memory of another process cannot be imported: the process has ended, or is "
	                         "of another user or container, or this system does not support that")
	          : 0;
}

void simt_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory)
{
	if (memory)
		machine->ops->unimport(machine, exported, memory);
}

void simt__expect_residents(void)
{
#ifdef GN_CUDA
	simt__cuda_expect_residents();
#endif
}

struct simt__listed *simt__all_listed;

/* Called by one thread, while the program's static variables are initialised. */
int simt__list(struct simt__listed *kernel)
{
	kernel->next = simt__all_listed;
	simt__all_listed = kernel;
	return 0;
}

void simt__reside(struct simt_machine *machine, int more)
{
	machine->ops->reside(machine, more);
}

int simt__stream_follow(struct simt_stream *stream, struct simt_stream *other, struct gn_error *error)
{
	if (stream->machine->ops != other->machine->ops)
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "streams of machines of two kinds cannot be ordered; wait for the first one by "
		    "simt_stream_wait");
	return stream->machine->ops->follow(stream, other, error);
}

int simt__register_registers(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                             struct gn_error *error)
{
	return machine->ops->pin_registers(machine, memory, bytes, device, error);
}

void *simt_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where, struct gn_error *error)
{
	return machine->ops->alloc(machine, bytes ? bytes : 1, where, error);
}

void simt_free(struct simt_machine *machine, void *memory)
{
	if (memory)
		machine->ops->free(machine, memory);
}

int simt_register(struct simt_machine *machine, void *memory, size_t bytes, void **device,
                  struct gn_error *error)
{
	*device = NULL;
	if ((uintptr_t)memory % 4096 || bytes % 4096 || !bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "cannot register %zu bytes at address %p; size and address must be "
		                    "multiples of 4096, and the size not 0",
		                    bytes, memory);
	return machine->ops->pin(machine, memory, bytes, device, error);
}

void simt_unregister(struct simt_machine *machine, void *memory, size_t bytes)
{
	machine->ops->unpin(machine, memory, bytes);
}

int simt_prepare(struct simt_machine *machine, const struct simt_kernel *kernel, struct gn_error *error)
{
	return machine->ops->prepare(machine, kernel, error);
}

int simt_reserve_stack(struct simt_machine *machine, size_t frame_bytes, struct gn_error *error)
{
	return machine->ops->reserve_stack ? machine->ops->reserve_stack(machine, frame_bytes, error) : 0;
}

/* ---- the machine's own stream ---- */

int simt_launch(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
                const void *arguments, struct gn_error *error)
{
	return simt_launch_on(machine->own, kernel, grid, arguments, error);
}

int simt_wait(struct simt_machine *machine, struct gn_error *error)
{
	return simt_stream_wait(machine->own, error);
}

int simt_move(struct simt_machine *machine, void *to, const void *from, size_t bytes, struct gn_error *error)
{
	return simt_stream_move(machine->own, to, from, bytes, error);
}

/* ---- any stream ---- */

struct simt__life *simt__life_hold(const struct simt_stream *stream)
{
	__atomic_fetch_add(&stream->life->holders, 1, __ATOMIC_RELAXED);
	return stream->life;
}

int simt__life_ended(const struct simt__life *life)
{
	return (int)__atomic_load_n(&life->ended, __ATOMIC_ACQUIRE);
}

void simt__life_drop(struct simt__life *life)
{
	if (life && __atomic_fetch_sub(&life->holders, 1, __ATOMIC_ACQ_REL) == 1)
		free(life);
}

/* Complete a new stream of any machine. @rc  the result of creating it */
static int give_life(struct simt_stream **stream, int rc, struct gn_error *error)
{
	struct simt__life *life = rc ? NULL : (struct simt__life *)calloc(1, sizeof *life);

	if (rc)
		return rc;
	if (!life) {
		(*stream)->machine->ops->stream_destroy(*stream);
		*stream = NULL;
		return gn_error_set(error, -GN_ENOMEM, "no memory for a stream");
	}
	life->holders = 1;
	(*stream)->life = life;
	return 0;
}

int simt_stream_create(struct simt_stream **stream, struct simt_machine *machine, struct gn_error *error)
{
	*stream = NULL;
	return give_life(stream, machine->ops->stream_create(stream, machine, error), error);
}

int simt_stream_adopt(struct simt_stream **stream, struct simt_machine *machine, void *cuda_stream,
                      struct gn_error *error)
{
	*stream = NULL;
	return give_life(stream, machine->ops->stream_adopt(stream, machine, cuda_stream, error), error);
}

void simt_stream_destroy(struct simt_stream *stream)
{
	struct simt__life *life;

	if (!stream)
		return;
	life = stream->life;
	stream->machine->ops->stream_destroy(stream);
	__atomic_store_n(&life->ended, 1, __ATOMIC_RELEASE);
	simt__life_drop(life);
}

void *simt_stream_handle(const struct simt_stream *stream)
{
	return stream->machine->ops->stream_handle(stream);
}

int simt_launch_on(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                   const void *arguments, struct gn_error *error)
{
	if (!kernel || (kernel->argument_bytes && !arguments))
		return gn_error_set(error, -GN_EINVAL,
		                    "a launch needs a kernel and its arguments; give &NAME_kernel and the "
		                    "address of its argument struct");
	if (!grid.blocks || grid.blocks > 0x7fffffff || !grid.block_threads || grid.block_threads > 1024 ||
	    grid.shared_bytes > 48 * 1024)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "kernel %s: a grid of %u blocks of %u threads with %u bytes of shared memory is not "
		    "possible; give 1 to 2147483647 blocks, 1 to 1024 threads and at most 49152 bytes",
		    kernel->name, grid.blocks, grid.block_threads, grid.shared_bytes);
	return stream->machine->ops->launch(stream, kernel, grid, arguments, error);
}

int simt_stream_wait(struct simt_stream *stream, struct gn_error *error)
{
	return stream->machine->ops->wait(stream, error);
}

int simt_stream_move(struct simt_stream *stream, void *to, const void *from, size_t bytes,
                     struct gn_error *error)
{
	const int rc = stream->machine->ops->move(stream, to, from, bytes, error);

	if (rc && error)
		error->code = rc; /* not that of the launch before */
	return rc;
}

struct simt_machine *simt_stream_machine(const struct simt_stream *stream)
{
	return stream->machine;
}
