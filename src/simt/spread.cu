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
	decltype(&cuMemGetAccess) get_access;
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
	                find("cuMemSetAccess", &d->set_access) && find("cuMemGetAccess", &d->get_access) &&
	                find("cuPointerGetAttribute", &d->attribute) && find("cuGetErrorString", &d->text);

	cudaGetLastError();
	return all;
}

/* Asked for once; NULL: the driver has not got them. */
const struct driver *the_driver(void)
{
	static struct driver d;
	static const int all = load(&d);

	return all ? &d : NULL;
}

int no_driver(struct gn_error *error)
{
	return gn_error_set(error, -GN_ENOTSUP,
	                    "cuda: this driver has no virtual memory management; install a newer one");
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

/* Do kernels of each of two devices reach the other's memory, and with atomics? */
int reach_each_other(int one, int other, struct gn_error *error)
{
	int there = 0, back = 0, atomics = 0;

	if (cudaDeviceCanAccessPeer(&there, one, other) != cudaSuccess ||
	    cudaDeviceCanAccessPeer(&back, other, one) != cudaSuccess ||
	    cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, one, other) !=
	        cudaSuccess ||
	    !there || !back || !atomics) {
		cudaGetLastError();
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "cuda: GPU %d and GPU %d do not reach each other's memory with atomics, which needs "
		    "NVLink; take GPUs that 'nvidia-smi topo -p2p rwna' shows as OK, or host memory",
		    one, other);
	}
	return 0;
}

int let_reach(int one, int other, struct gn_error *error)
{
	on_device now(one);
	const cudaError_t rc = cudaDeviceEnablePeerAccess(other, 0);

	cudaGetLastError();
	return rc == cudaErrorPeerAccessAlreadyEnabled ? 0
	                                               : translate(error, rc, "access of GPUs to each other");
}

/* Also what they have from cudaMalloc. */
int check_pair(unsigned one, unsigned other, struct gn_error *error)
{
	int rc = one == other ? 0 : reach_each_other((int)one, (int)other, error);

	if (!rc && one != other)
		rc = let_reach((int)one, (int)other, error);
	if (!rc && one != other)
		rc = let_reach((int)other, (int)one, error);
	return rc;
}

int check_devices(const struct simt_spread *s, struct simt_machine *m, struct gn_error *error)
{
	const unsigned here = (unsigned)of(m)->device, count = simt__cuda_devices();
	int rc = 0;

	for (unsigned k = 0; k < s->devices; k++)
		if (s->device[k] >= count)
			return gn_error_set(error, -GN_ENODEV,
			                    "cuda: there is no GPU %u; this process sees %u, from 0",
			                    s->device[k], count);
	for (unsigned k = 0; k < s->devices && !rc; k++) {
		rc = check_pair(here, s->device[k], error);
		for (unsigned j = 0; j < k && !rc; j++)
			rc = check_pair(s->device[j], s->device[k], error);
	}
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

/* On a stream of its own: it waits for the zeros alone. */
int zero(const struct simt_spread *s, struct gn_error *error)
{
	cudaStream_t stream;
	on_device now(s->machine);
	cudaError_t rc = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);

	if (rc != cudaSuccess)
		return translate(error, rc, "zeroing another GPU's memory");
	for (uint64_t at = 0; at < s->bytes && rc == cudaSuccess; at += piece_at(s, at))
		rc = cudaMemsetAsync(s->memory + at, 0, piece_at(s, at), stream);
	if (rc == cudaSuccess)
		rc = cudaStreamSynchronize(stream);
	cudaStreamDestroy(stream);
	return translate(error, rc, "zeroing another GPU's memory");
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
	const struct driver *d = the_driver();
	CUdeviceptr memory = 0;
	int refused = d ? check_devices(s, s->machine, error) : no_driver(error);

	if (refused)
		return refused;
	shape(s);
	if (d->reserve(&memory, s->bytes, page, 0, 0) != CUDA_SUCCESS)
		return gn_error_set(error, -GN_ENOMEM,
		                    "cuda: there are no addresses for %llu bytes; ask for less",
		                    (unsigned long long)s->bytes);
	s->memory = (char *)memory;
	return map_all(d, s, error);
}

void destroy(struct simt_spread *s)
{
	on_device here(s->machine);

	unmap(the_driver(), s, s->bytes);
}

int share(const struct simt_spread *s, struct simt_machine *other, struct gn_error *error)
{
	on_device here(other);
	const int rc = check_devices(s, other, error);

	return rc ? rc : open_to(the_driver(), s, (unsigned)of(other)->device, error);
}

int is_open(const struct simt_spread *s, struct simt_machine *m)
{
	const CUmemLocation where = on((unsigned)of(m)->device).location;
	unsigned long long flags = 0;

	return the_driver()->get_access(&flags, &where, (CUdeviceptr)s->memory) == CUDA_SUCCESS &&
	       flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

int reaches(const struct simt_spread *s, struct simt_machine *m, const void *memory)
{
	on_device here(m);
	struct cudaPointerAttributes what;
	int plain = 0;

	(void)s;
	if (cudaPointerGetAttributes(&what, memory) != cudaSuccess) {
		cudaGetLastError();
		return 0;
	}
	if (what.type != cudaMemoryTypeDevice)
		return what.type == cudaMemoryTypeHost;
	return what.device == of(m)->device &&
	       the_driver()->attribute(&plain, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
	                               (CUdeviceptr)memory) == CUDA_SUCCESS &&
	       plain;
}

unsigned device(const struct simt_machine *m)
{
	return (unsigned)of(m)->device;
}

} // namespace

const struct simt_spread_ops simt__cuda_spread = {create, destroy, share, is_open, reaches, device};
