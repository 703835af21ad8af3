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
		return;
	}
	d->cuda.works = true;
	snprintf(d->cuda.why, sizeof d->cuda.why, "%d device%s, CUDA runtime %d.%d, driver for %d.%d",
	         devices, devices == 1 ? "" : "s", runtime / 1000, runtime % 1000 / 10, driver / 1000,
	         driver % 1000 / 10);
	for (int k = 0; k < devices; k++)
		read_device(d, k);
}
