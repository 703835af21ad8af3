/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cuda machine: one device. No function waits for more than one stream, except where cudaFree does. No
 * function changes the calling thread's current device.
 */
#include <stdlib.h>
#include <mutex>

#include <simt/cuda_machine.h>

namespace {

/*
 * A registration of 512 GiB or more has been seen to fail and to leave an error behind, so pieces are
 * smaller.
 */
const size_t largest_piece = (size_t)64 << 30;

/* ---- memory ---- */

/* Pinned memory that controllers reach must be page-aligned; the runtime's own pinned memory is not. */
void *alloc_shared(size_t bytes, const char *what, struct gn_error *error)
{
	const size_t whole = (bytes + 4095) & ~(size_t)4095;
	void *memory = aligned_alloc(4096, whole);

	if (!memory) {
		gn_error_set(error, -GN_ENOMEM, "the host has no memory for %s; ask for less", what);
		return NULL;
	}
	memset(memory, 0, whole);
	if (translate(error,
	              cudaHostRegister(memory, whole, cudaHostRegisterPortable | cudaHostRegisterMapped),
	              what)) {
		free(memory);
		return NULL;
	}
	return memory;
}

/* Zero memory on a stream of its own: any host thread may allocate, and it waits only for the zeros. */
cudaError_t zero(void *memory, size_t bytes)
{
	cudaStream_t stream;
	cudaError_t rc = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

	if (rc != cudaSuccess)
		return rc;
	rc = cudaMemsetAsync(memory, 0, bytes, stream);
	if (rc == cudaSuccess)
		rc = cudaStreamSynchronize(stream);
	cudaStreamDestroy(stream);
	return rc;
}

void *alloc_device(size_t bytes, const char *what, struct gn_error *error)
{
	void *memory = NULL;

	if (translate(error, cudaMalloc(&memory, bytes), what))
		return NULL;
	if (translate(error, zero(memory, bytes), what)) {
		cudaFree(memory);
		return NULL;
	}
	return memory;
}

void *cuda_alloc(struct simt_machine *m, size_t bytes, enum simt_memory where, struct gn_error *error)
{
	/* imported memory of another size is mapped in small pages, of which address translation covers few
	 */
	const size_t page = 2u << 20;
	const int pins = where == SIMT_PINNED;
	char what[64];
	on_device here(m);

	if (where == SIMT_EXPORTED)
		bytes = (bytes + page - 1) & ~(page - 1);
	snprintf(what, sizeof what, "%zu bytes of %s memory", bytes, pins ? "pinned" : "device");
	return pins ? alloc_shared(bytes, what, error) : alloc_device(bytes, what, error);
}

/*
 * Kernels that stay resident. cudaFree and unpinning wait for all kernels on the device, also for these. So
 * memory that is given back meanwhile is kept until the last of these kernels has ended.
 */
struct kept {
	struct kept *next;
	int device;
	void *memory;
};

std::mutex residents_mutex;
int residents;
struct kept *all_kept;

bool keep(int device, void *memory)
{
	const std::lock_guard<std::mutex> lock(residents_mutex);
	struct kept *k = residents ? (struct kept *)malloc(sizeof *k) : NULL;

	if (k) {
		k->next = all_kept;
		k->device = device;
		k->memory = memory;
		all_kept = k;
	}
	return residents;
}

void give_back(int device, void *memory)
{
	struct cudaPointerAttributes attributes;
	on_device here(device);

	if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess &&
	    attributes.type == cudaMemoryTypeHost) {
		translate(NULL, cudaHostUnregister(memory), "unpinning");
		free(memory);
	} else {
		translate(NULL, cudaFree(memory), "freeing");
	}
}

void cuda_free(struct simt_machine *m, void *memory)
{
	if (!keep(of(m)->device, memory))
		give_back(of(m)->device, memory);
}

/* ---- kernels ---- */

/*
 * The library's functions take up to 1.5 KiB of a thread's stack (the frames that ptxas reports from
 * gn__cursor_some down to simt_copy_each). They are called through pointers, so the compiler does not count
 * them in the frame of a kernel, and the driver makes room for that frame alone: calls would overflow without
 * an error.
 */
const size_t frames_of_calls = 1536;
const size_t small_frame = 1024; /* of a kernel: for this much there is always room */

std::mutex room_mutex; /* the limit only grows: between its reading and its change nobody else changes it */

/* Make room for a kernel's own frame, and for calls on top of it. Changing the limit waits for the device. */
cudaError_t make_room(size_t frame)
{
	const std::lock_guard<std::mutex> lock(room_mutex);
	const size_t enough = (frame + frames_of_calls + 255) & ~(size_t)255;
	size_t now = 0;
	const cudaError_t rc = cudaDeviceGetLimit(&now, cudaLimitStackSize);

	return rc == cudaSuccess && now < enough ? cudaDeviceSetLimit(cudaLimitStackSize, enough) : rc;
}

/* Load a kernel, and make room for it. */
cudaError_t load(const struct simt_kernel *kernel)
{
	struct cudaFuncAttributes attributes;
	const cudaError_t rc = cudaFuncGetAttributes(&attributes, kernel->cuda);

	return rc == cudaSuccess && attributes.localSizeBytes > small_frame
	           ? make_room(attributes.localSizeBytes)
	           : rc;
}

/* Load every kernel on the machine's device now: while a kernel stays, loading would wait for its end. */
void load_all(struct simt_machine *m)
{
	on_device here(m);

	for (const struct simt__listed *k = simt__all_listed; k; k = k->next)
		if (load(k->kernel) != cudaSuccess)
			cudaGetLastError(); /* not compiled for this device: its launch reports that */
}

void reside(struct simt_machine *m, int more)
{
	const std::lock_guard<std::mutex> lock(residents_mutex);

	if (more > 0)
		load_all(m);
	residents += more;
	while (!residents && all_kept) {
		struct kept *k = all_kept;

		all_kept = k->next;
		give_back(k->device, k->memory);
		free(k);
	}
}

/* Enable access in one direction; the other direction is enabled by another call. */
int reach(struct simt_machine *m, struct simt_machine *other)
{
	const int to = of(other)->device;
	on_device here(m);
	int can = 0;
	cudaError_t rc;

	if (of(m)->device == to)
		return 0;
	if (cudaDeviceCanAccessPeer(&can, of(m)->device, to) != cudaSuccess || !can) {
		cudaGetLastError();
		return -GN_ENOTSUP;
	}
	rc = cudaDeviceEnablePeerAccess(to, 0);
	cudaGetLastError();
	return rc == cudaSuccess || rc == cudaErrorPeerAccessAlreadyEnabled ? 0 : -GN_ENOTSUP;
}

static_assert(sizeof(cudaIpcMemHandle_t) <= sizeof(((struct simt_exported *)0)->handle),
              "a handle fits its description");

int export_(struct simt_machine *m, void *memory, struct simt_exported *exported)
{
	on_device here(m);
	cudaIpcMemHandle_t handle;

	if (translate(NULL, cudaIpcGetMemHandle(&handle, memory), "exporting"))
		return -GN_ENOTSUP;
	memcpy(exported->handle, &handle, sizeof handle);
	return 0;
}

int import(struct simt_machine *m, const struct simt_exported *exported, void **memory)
{
	on_device here(m);
	cudaIpcMemHandle_t handle;

	memcpy(&handle, exported->handle, sizeof handle);
	return translate(NULL, cudaIpcOpenMemHandle(memory, handle, cudaIpcMemLazyEnablePeerAccess),
	                 "importing")
	           ? -GN_ENOTSUP
	           : 0;
}

void unimport(struct simt_machine *m, const struct simt_exported *exported, void *memory)
{
	on_device here(m);

	(void)exported;
	translate(NULL, cudaIpcCloseMemHandle(memory), "giving back");
}

void unpin(struct simt_machine *m, void *memory, size_t bytes)
{
	on_device here(m);

	for (size_t at = 0; at < bytes; at += largest_piece)
		translate(NULL, cudaHostUnregister((char *)memory + at), "unpinning");
}

/* Memory that is mapped read-only can only be registered read-only. */
cudaError_t register_piece(void *memory, size_t bytes)
{
	const unsigned flags = cudaHostRegisterPortable | cudaHostRegisterMapped;
	cudaError_t rc = cudaHostRegister(memory, bytes, flags);

	if (rc == cudaSuccess || rc == cudaErrorMemoryAllocation)
		return rc;
	cudaGetLastError();
	return cudaHostRegister(memory, bytes, flags | cudaHostRegisterReadOnly);
}

int pin(struct simt_machine *m, void *memory, size_t bytes, void **device, struct gn_error *error)
{
	on_device here(m);
	int rc;

	for (size_t at = 0; at < bytes; at += largest_piece) {
		size_t piece = bytes - at < largest_piece ? bytes - at : largest_piece;
		cudaError_t refused = register_piece((char *)memory + at, piece);

		if (refused == cudaSuccess)
			continue;
		if (at)
			unpin(m, memory, at);
		cudaGetLastError();
		return gn_error_set(error, -GN_ENOMEM,
		                    "cuda: %zu bytes of host memory cannot be pinned (%s at byte %zu); free "
		                    "memory or raise ulimit -l",
		                    bytes, cudaGetErrorString(refused), at);
	}
	rc = translate(error, cudaHostGetDevicePointer(device, memory, 0), "device address of host memory");
	if (rc)
		unpin(m, memory, bytes);
	return rc;
}

/* Never run on a device: no drive was beside a GPU. Which systems allow it the driver alone knows. */
int pin_registers(struct simt_machine *m, void *memory, size_t bytes, void **device, struct gn_error *error)
{
	on_device here(m);
	int id = 0, able = 0;
	cudaError_t rc = cudaGetDevice(&id);

	if (rc == cudaSuccess)
		rc = cudaDeviceGetAttribute(&able, cudaDevAttrHostRegisterSupported, id);
	if (rc == cudaSuccess && !able)
		rc = cudaErrorNotSupported;
	if (rc == cudaSuccess)
		rc = cudaHostRegister(memory, bytes,
		                      cudaHostRegisterPortable | cudaHostRegisterMapped |
		                          cudaHostRegisterIoMemory);
	if (rc == cudaSuccess) {
		rc = cudaHostGetDevicePointer(device, memory, 0);
		if (rc != cudaSuccess)
			cudaHostUnregister(memory);
	}
	if (rc == cudaSuccess)
		return 0;
	cudaGetLastError();
	return gn_error_set(
	    error, -GN_ENOTSUP,
	    "cuda: this GPU cannot ring the doorbells of a drive (%s); use --machine cpu, or put "
	    "the data into a file: store",
	    cudaGetErrorString(rc));
}

/* ---- streams ---- */

/*
 * Refuse to wait for a stream in capture: the wait would be an error of the program and would invalidate the
 * capture.
 */
int refuse_capture(struct simt_stream *s, const char *what, struct gn_error *error)
{
	cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
	int rc = translate(error, cudaStreamIsCapturing(of(s)->handle, &status), what);

	if (!rc && status != cudaStreamCaptureStatusNone)
		rc = gn_error_set(error, -GN_EINVAL,
		                  "cuda: %s: the stream is in capture, so its kernels do not run yet; launch "
		                  "the graph, and wait for that launch",
		                  what);
	return rc;
}

int stream_wait(struct simt_stream *s, struct gn_error *error)
{
	on_device here(s->machine);
	int rc = refuse_capture(s, "wait", error);

	return rc ? rc : translate(error, cudaStreamSynchronize(of(s)->handle), "kernel");
}

int stream_move(struct simt_stream *s, void *to, const void *from, size_t bytes, struct gn_error *error)
{
	on_device here(s->machine);
	int rc = refuse_capture(s, "copy", error);

	if (rc)
		return rc == -GN_EINVAL ? rc : -GN_EIO;
	if (translate(error, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, of(s)->handle), "copy"))
		return -GN_EIO;
	return stream_wait(s, error) ? -GN_EIO : 0;
}

/* An event that is destroyed before it has happened lives on until then. */
int stream_follow(struct simt_stream *s, struct simt_stream *other, struct gn_error *error)
{
	on_device here(other->machine);
	cudaEvent_t event;
	cudaError_t rc = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);

	if (rc == cudaSuccess) {
		rc = cudaEventRecord(event, of(other)->handle);
		if (rc == cudaSuccess) {
			on_device there(s->machine);

			rc = cudaStreamWaitEvent(of(s)->handle, event, 0);
		}
		cudaEventDestroy(event);
	}
	return translate(error, rc, "order of streams") ? -GN_EIO : 0;
}

int not_compiled(const struct simt_kernel *kernel, struct gn_error *error)
{
	return gn_error_set(error, -GN_ENODEV,
	                    "cuda: kernel %s was not compiled by nvcc; compile its source file as CUDA",
	                    kernel->name);
}

/* Only the last call concerns the stream, so the launch can be captured. */
int launch(struct simt_stream *s, const struct simt_kernel *kernel, struct simt_grid grid,
           const void *arguments, struct gn_error *error)
{
	void *parameters[] = {(void *)arguments};
	cudaError_t rc;
	on_device here(s->machine);

	if (!kernel->cuda)
		return not_compiled(kernel, error);
	rc = load(kernel);
	if (rc == cudaSuccess)
		rc = cudaLaunchKernel(kernel->cuda, dim3(grid.blocks), dim3(grid.block_threads), parameters,
		                      grid.shared_bytes, of(s)->handle);
	return translate(error, rc, kernel->name);
}

int prepare(struct simt_machine *m, const struct simt_kernel *kernel, struct gn_error *error)
{
	on_device here(m);

	return kernel->cuda ? translate(error, load(kernel), kernel->name) : not_compiled(kernel, error);
}

int reserve_stack(struct simt_machine *m, size_t frame_bytes, struct gn_error *error)
{
	const size_t most = (size_t)512 << 10; /* local memory of a thread: CUDA programming guide */
	on_device here(m);

	return translate(error, frame_bytes > most ? cudaErrorInvalidValue : make_room(frame_bytes),
	                 "room on the stack");
}

int new_stream(struct simt_stream **stream, struct simt_machine *m, cudaStream_t handle, int adopted,
               struct gn_error *error)
{
	struct cuda_stream *made = (struct cuda_stream *)calloc(1, sizeof *made);

	if (!made)
		return gn_error_set(error, -GN_ENOMEM, "cuda: no memory for a stream");
	made->base.machine = m;
	made->handle = handle;
	made->adopted = adopted;
	*stream = &made->base;
	return 0;
}

int stream_adopt(struct simt_stream **stream, struct simt_machine *m, void *foreign, struct gn_error *error)
{
	return new_stream(stream, m, (cudaStream_t)foreign, 1, error);
}

int stream_create(struct simt_stream **stream, struct simt_machine *m, struct gn_error *error)
{
	cudaStream_t handle;
	on_device here(m);
	int rc = translate(error, cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking), "stream");

	if (rc)
		return rc;
	rc = new_stream(stream, m, handle, 0, error);
	if (rc)
		cudaStreamDestroy(handle);
	return rc;
}

void stream_destroy(struct simt_stream *s)
{
	on_device here(s->machine);

	if (!of(s)->adopted) {
		translate(NULL, cudaStreamSynchronize(of(s)->handle), "stream");
		translate(NULL, cudaStreamDestroy(of(s)->handle), "stream");
	}
	free(of(s));
}

void *stream_handle(const struct simt_stream *s)
{
	return (void *)((const struct cuda_stream *)s)->handle;
}

/* ---- the machine ---- */

void info(const struct simt_machine *m, struct simt_info *out)
{
	*out = of(m)->info;
}

void close_machine(struct simt_machine *m)
{
	struct cuda_machine *c = (struct cuda_machine *)m;

	{
		on_device here(m);

		translate(NULL, cudaStreamSynchronize(c->own.handle), "stream");
		translate(NULL, cudaStreamDestroy(c->own.handle), "stream");
	}
	free(c);
}

const struct simt_machine_ops ops = {cuda_alloc,    cuda_free,
                                     pin,           unpin,
                                     prepare,       info,
                                     close_machine, stream_create,
                                     stream_adopt,  stream_destroy,
                                     stream_handle, launch,
                                     stream_wait,   stream_move,
                                     reach,         export_,
                                     import,        unimport,
                                     reside,        &simt__cuda_managed,
                                     pin_registers, &simt__cuda_spread,
                                     stream_follow, reserve_stack};

int describe(struct cuda_machine *c)
{
	struct cudaDeviceProp properties;

	if (cudaGetDeviceProperties(&properties, c->device) != cudaSuccess)
		return -GN_ENODEV;
	snprintf(c->info.name, sizeof c->info.name, "%.63s", properties.name);
	c->info.is_cuda = 1;
	c->info.processors = (unsigned)properties.multiProcessorCount;
	c->info.warp_width = 32;
	c->info.memory_bytes = properties.totalGlobalMem;
	/* SIMT_KERNEL compiles for 64 registers per thread: 1024 threads on each multiprocessor. */
	c->info.resident_threads = 1024u * c->info.processors;
	return 0;
}

int start(struct cuda_machine *c)
{
	on_device here(c->device);

	return describe(c) || make_room(small_frame) != cudaSuccess ||
	       cudaStreamCreateWithFlags(&c->own.handle, cudaStreamNonBlocking) != cudaSuccess;
}

/* "cuda" is device 0, "cuda:2" device 2. */
int device_of(const char *name)
{
	char *end;
	long device;

	if (name[4] == '\0')
		return 0;
	device = name[4] == ':' ? strtol(name + 5, &end, 10) : -1;
	return device < 0 || *end || end == name + 5 || device > 1024 ? -1 : (int)device;
}

} // namespace

/*
 * Prepare for kernels that stay; called before cuda is first used. Kernels are loaded when the program
 * starts: to load a kernel at its first launch, cuda may wait until the device is idle. (In a program that
 * has used cuda before, load_all loads the kernels that SIMT_KERNEL declares.) Streams get 32 queues instead
 * of 8, because work behind a kernel that stays in the same queue does not begin.
 */
extern "C" void simt__cuda_expect_residents(void)
{
	setenv("CUDA_MODULE_LOADING", "EAGER", 0);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

extern "C" unsigned simt__cuda_devices(void)
{
	int count = 0;

	if (cudaGetDeviceCount(&count) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	return (unsigned)count;
}

extern "C" int simt__cuda_open(struct simt_machine **machine, const struct simt_options *options,
                               struct gn_error *error)
{
	int device = device_of(options->name), count = 0;
	struct cuda_machine *c;
	cudaError_t rc;

	if (device < 0)
		return gn_error_set(error, -GN_EINVAL,
		                    "machine %s: the name is not cuda or cuda:INDEX; give for example cuda:1",
		                    options->name);
	rc = cudaGetDeviceCount(&count);
	cudaGetLastError();
	if (rc != cudaSuccess || device >= count)
		return gn_error_set(error, -GN_ENODEV,
		                    "machine %s: there is no GPU of this number (%d found%s%s); use the "
		                    "machine cpu, or run grapnel doctor",
		                    options->name, count, rc != cudaSuccess ? ": " : "",
		                    rc != cudaSuccess ? cudaGetErrorString(rc) : "");
	c = (struct cuda_machine *)calloc(1, sizeof *c);
	if (!c)
		return gn_error_set(error, -GN_ENOMEM, "machine %s: out of memory", options->name);
	c->base.ops = &ops;
	c->base.own = &c->own.base;
	c->own.base.machine = &c->base;
	c->device = device;
	if (start(c)) {
		cudaGetLastError();
		free(c);
		return gn_error_set(error, -GN_ENODEV,
		                    "machine %s: the GPU cannot be used; grapnel doctor says why",
		                    options->name);
	}
	*machine = &c->base;
	return 0;
}
