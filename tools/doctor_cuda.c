/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA runtime's view of the GPUs; compiled only into a build with the cuda machine.
 */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <strings.h>

#include "doctor.h"

static struct doctor_gpu *gpu_at(struct doctor *d, const char *address)
{
	for (unsigned k = 0; k < d->gpu_count; k++) {
		if (!strcasecmp(d->gpus[k].address, address))
			return &d->gpus[k];
	}
	/* inside some containers the runtime sees a GPU that the bus does not show */
	if (d->gpu_count == DOCTOR_GPUS)
		return NULL;
	snprintf(d->gpus[d->gpu_count].address, sizeof d->gpus[0].address, "%s", address);
	return &d->gpus[d->gpu_count++];
}

static void read_device(struct doctor *d, int index)
{
	struct cudaDeviceProp properties;
	struct doctor_gpu *g;
	char address[16];

	if (cudaDeviceGetPCIBusId(address, sizeof address, index) ||
	    cudaGetDeviceProperties(&properties, index))
		return;
	g = gpu_at(d, address);
	if (!g)
		return;
	snprintf(g->name, sizeof g->name, "%.40s (sm_%d%d)", properties.name, properties.major,
	         properties.minor);
	g->memory = properties.totalGlobalMem;
}

/* Does GPU 0 reach the memory of another one, with atomics? */
static bool reaches(int other)
{
	int there = 0, back = 0, atomics = 0;
	const bool known =
	    !cudaDeviceCanAccessPeer(&there, 0, other) && !cudaDeviceCanAccessPeer(&back, other, 0) &&
	    !cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, 0, other);

	cudaGetLastError();
	return known && there && back && atomics;
}

static void probe_peers(struct doctor *d, int devices)
{
	int reached = 0;

	for (int k = 1; k < devices; k++)
		reached += reaches(k);
	if (devices < 2)
		doctor_say(&d->peer, false,
		           "there is one GPU only; with a second one, joined to it by NVLink, each can use "
		           "the other's memory");
	else
		doctor_say(&d->peer, reached > 0,
		           "GPU 0 reaches the memory of %d of %d other GPUs with atomics; 'nvidia-smi topo "
		           "-p2p rwna' "
		           "shows each pair",
		           reached, devices - 1);
}

void doctor_probe_cuda(struct doctor *d)
{
	int devices = 0;
	int runtime = 0;
	int driver = 0;
	cudaError_t error = cudaGetDeviceCount(&devices);

	cudaRuntimeGetVersion(&runtime);
	cudaDriverGetVersion(&driver);
	if (error != cudaSuccess || devices == 0) {
		snprintf(d->cuda.why, sizeof d->cuda.why,
		         "the CUDA runtime %d.%d finds no device (%s; driver %d.%d); %s", runtime / 1000,
		         runtime % 1000 / 10, error ? cudaGetErrorString(error) : "none visible",
		         driver / 1000, driver % 1000 / 10,
		         d->gpu_count ? "install or load a driver that is at least as new as the runtime"
		                      : "use --machine cpu");
		doctor_say(&d->peer, false, "no GPU works here; see machine cuda");
		return;
	}
	d->cuda.works = true;
	snprintf(d->cuda.why, sizeof d->cuda.why, "%d device%s, CUDA runtime %d.%d, driver for %d.%d",
	         devices, devices == 1 ? "" : "s", runtime / 1000, runtime % 1000 / 10, driver / 1000,
	         driver % 1000 / 10);
	for (int k = 0; k < devices; k++)
		read_device(d, k);
	probe_peers(d, devices);
}
