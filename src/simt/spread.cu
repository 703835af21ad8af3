/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spread memory of the cuda machine: pieces of several devices' memory, mapped one behind the other by CUDA's
 * virtual memory management. The driver's functions are asked for at run time, so that programs start where
 * there is no driver.
 */
#include <cuda.h>

#include <simt/cuda_machine.h>
#include <simt/spread.h>

namespace {

const uint64_t page = 2 << 20;

struct driver {
	decltype(&cuMemAddressReserve) reserve;
	decltype(&cuMemAddressFree) give_up;
	decltype(&cuMemCreate) create;
	decltype(&cuMemRelease) release;
	decltype(&cuMemMap) map;
	decltype(&cuMemUnmap) unmap;
	decltype(&cuMemSetAccess) set_access;
	decltype(&cuMemGetAllocationGranularity) granularity;
	decltype(&cuPointerGetAttribute) attribute;
	decltype(&cuGetErrorString) text;
};

template <typename Function> int find(const char *name, Function *function)
{
	void *found = NULL;
	cudaDriverEntryPointQueryResult how = cudaDriverEntryPointSymbolNotFound;
#if CUDART_VERSION >= 12050
	cudaError_t rc = cudaGetDriverEntryPointByVersion(name, &found, 11020, cudaEnableDefault, &how);
#else
	cudaError_t rc = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, &how);
#endif

	*function = (Function)found;
	return rc == cudaSuccess && how == cudaDriverEntryPointSuccess && found;
}

int load(struct driver *d)
{
	const int all = find("cuMemAddressReserve", &d->reserve) && find("cuMemAddressFree", &d->give_up) &&
	                find("cuMemCreate", &d->create) && find("cuMemRelease", &d->release) &&
	                find("cuMemMap", &d->map) && find("cuMemUnmap", &d->unmap) &&
	                find("cuMemSetAccess", &d->set_access) &&
	                find("cuMemGetAllocationGranularity", &d->granularity) &&
	                find("cuPointerGetAttribute", &d->attribute) && find("cuGetErrorString", &d->text);

	cudaGetLastError();
	return all;
}

int refuse(const struct driver *d, CUresult rc, const char *what, struct gn_error *error)
{
	const char *text = NULL;

	if (d->text(rc, &text) != CUDA_SUCCESS || !text)
		text = "unknown error";
	return gn_error_set(error, rc == CUDA_ERROR_OUT_OF_MEMORY ? -GN_ENOMEM : -GN_ENOTSUP, "cuda: %s: %s",
	                    what, text);
}

CUmemAllocationProp on(unsigned device)
{
	CUmemAllocationProp p;

	memset(&p, 0, sizeof p);
	p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
	p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	p.location.id = (int)device;
	return p;
}

uint64_t piece_at(const struct simt_spread *s, uint64_t at)
{
	return s->bytes - at < s->piece_bytes ? s->bytes - at : s->piece_bytes;
}

unsigned owner_at(const struct simt_spread *s, uint64_t at)
{
	return s->device[at / s->piece_bytes % s->devices];
}

/* Can the machine's kernels reach the device, and its kernels what the machine has from cudaMalloc? */
int check_device(struct simt_machine *m, unsigned device, int atomics, struct gn_error *error)
{
	const int here = of(m)->device, there = (int)device;
	const unsigned count = simt__cuda_devices();
	int can = 0, back = 0, native = 0;

	if (device >= count)
		return gn_error_set(error, -GN_ENODEV,
		                    "cuda: there is no GPU %u; this process sees %u, from 0", device, count);
	if (here == there)
		return 0;
	if (cudaDeviceCanAccessPeer(&can, here, there) != cudaSuccess ||
	    cudaDeviceCanAccessPeer(&back, there, here) != cudaSuccess || !can || !back) {
		cudaGetLastError();
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "cuda: GPU %d cannot reach the memory of GPU %d; take a GPU that 'nvidia-smi "
		    "topo -p2p r' shows as OK, or host memory",
		    here, there);
	}
	if (cudaDeviceGetP2PAttribute(&native, cudaDevP2PAttrNativeAtomicSupported, here, there) !=
	        cudaSuccess ||
	    (atomics && !native)) {
		cudaGetLastError();
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "cuda: GPU %d cannot do atomics in the memory of GPU %d, because no NVLink is "
		    "between them; only read it (ro), or use host memory",
		    here, there);
	}
	for (int k = 0; k < 2; k++) {
		on_device now(k ? there : here);
		const cudaError_t rc = cudaDeviceEnablePeerAccess(k ? here : there, 0);

		cudaGetLastError();
		if (rc != cudaSuccess && rc != cudaErrorPeerAccessAlreadyEnabled)
			return translate(error, rc, "access of GPUs to each other");
	}
	return 0;
}

int check_devices(const struct simt_spread *s, struct simt_machine *m, struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < s->devices && !rc; k++)
		rc = check_device(m, s->device[k], s->atomics, error);
	return rc;
}

/* Let a device's kernels load and store the whole memory. */
int open_to(const struct driver *d, const struct simt_spread *s, unsigned device, struct gn_error *error)
{
	CUmemAccessDesc access;
	CUresult rc;

	access.location = on(device).location;
	access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
	rc = d->set_access((CUdeviceptr)s->memory, s->bytes, &access, 1);
	return rc == CUDA_SUCCESS ? 0 : refuse(d, rc, "access to another GPU's memory", error);
}

int no_room(unsigned device, uint64_t bytes, struct gn_error *error)
{
	size_t free_bytes = 0, all = 0;
	on_device now((int)device);

	cudaMemGetInfo(&free_bytes, &all);
	cudaGetLastError();
	return gn_error_set(
	    error, -GN_ENOMEM,
	    "cuda: GPU %u has no room for %llu bytes more (%zu of %zu are free); give a smaller "
	    "size, or spread it over more GPUs",
	    device, (unsigned long long)bytes, free_bytes, all);
}

/* A piece stays as long as it is mapped, so its handle is given back at once. */
int map_piece(const struct driver *d, const struct simt_spread *s, uint64_t at, struct gn_error *error)
{
	const CUmemAllocationProp where = on(owner_at(s, at));
	const uint64_t bytes = piece_at(s, at);
	CUmemGenericAllocationHandle handle;
	CUresult rc = d->create(&handle, bytes, &where, 0);

	if (rc == CUDA_ERROR_OUT_OF_MEMORY)
		return no_room(owner_at(s, at), bytes, error);
	if (rc != CUDA_SUCCESS)
		return refuse(d, rc, "memory of another GPU", error);
	rc = d->map((CUdeviceptr)s->memory + at, bytes, 0, handle, 0);
	d->release(handle);
	return rc == CUDA_SUCCESS ? 0 : refuse(d, rc, "mapping another GPU's memory", error);
}

void unmap(const struct driver *d, const struct simt_spread *s, uint64_t mapped)
{
	for (uint64_t at = 0; at < mapped; at += piece_at(s, at))
		d->unmap((CUdeviceptr)s->memory + at, piece_at(s, at));
	d->give_up((CUdeviceptr)s->memory, s->bytes);
}

int zero(const struct simt_spread *s, struct gn_error *error)
{
	const cudaStream_t stream = of(s->machine)->own.handle;
	on_device now(s->machine);
	cudaError_t rc = cudaSuccess;

	for (uint64_t at = 0; at < s->bytes && rc == cudaSuccess; at += piece_at(s, at))
		rc = cudaMemsetAsync(s->memory + at, 0, piece_at(s, at), stream);
	return translate(error, rc == cudaSuccess ? cudaStreamSynchronize(stream) : rc,
	                 "zeroing another GPU's memory");
}

int map_all(const struct driver *d, const struct simt_spread *s, struct gn_error *error)
{
	uint64_t at = 0;
	int rc = 0;

	while (at < s->bytes && !rc) {
		rc = map_piece(d, s, at, error);
		at += rc ? 0 : piece_at(s, at);
	}
	if (!rc)
		rc = open_to(d, s, (unsigned)of(s->machine)->device, error);
	for (unsigned k = 0; k < s->devices && !rc; k++)
		rc = open_to(d, s, s->device[k], error);
	if (!rc)
		rc = zero(s, error);
	if (rc)
		unmap(d, s, at);
	return rc;
}

/* One device has all of it: one piece. */
void shape(struct simt_spread *s)
{
	while (s->devices == 1 && s->piece_bytes < s->bytes)
		s->piece_bytes *= 2;
}

int create(struct simt_spread *s, struct gn_error *error)
{
	on_device here(s->machine);
	struct driver d;
	CUdeviceptr memory = 0;
	CUresult rc;
	int refused;

	if (!load(&d))
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "cuda: this driver has no virtual memory management; install a newer one");
	refused = check_devices(s, s->machine, error);
	if (refused)
		return refused;
	shape(s);
	rc = d.reserve(&memory, s->bytes, page, 0, 0);
	if (rc != CUDA_SUCCESS)
		return gn_error_set(error, -GN_ENOMEM,
		                    "cuda: there are no addresses for %llu bytes; ask for less",
		                    (unsigned long long)s->bytes);
	s->memory = (char *)memory;
	return map_all(&d, s, error);
}

void destroy(struct simt_spread *s)
{
	on_device here(s->machine);
	struct driver d;

	if (load(&d))
		unmap(&d, s, s->bytes);
}

int share(const struct simt_spread *s, struct simt_machine *other, struct gn_error *error)
{
	on_device here(other);
	struct driver d;
	int rc = load(&d) ? check_devices(s, other, error) : -GN_ENOTSUP;

	return rc ? rc : open_to(&d, s, (unsigned)of(other)->device, error);
}

/* Memory of cudaMalloc is open to all devices that were given access; host memory must be pinned. */
int reaches(const struct simt_spread *s, const void *memory)
{
	on_device here(s->machine);
	struct cudaPointerAttributes what;
	struct driver d;
	int plain = 0;

	if (cudaPointerGetAttributes(&what, memory) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	if (what.type != cudaMemoryTypeDevice)
		return what.type == cudaMemoryTypeHost;
	return load(&d) &&
	       d.attribute(&plain, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, (CUdeviceptr)memory) ==
	           CUDA_SUCCESS &&
	       plain;
}

unsigned device(const struct simt_machine *m)
{
	return (unsigned)of(m)->device;
}

} // namespace

const struct simt_spread_ops simt__cuda_spread = {create, destroy, share, reaches, device};
