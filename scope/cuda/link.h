/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - what a GPU is attached by. */
#ifndef GN_SCOPE_CUDA_LINK_H
#define GN_SCOPE_CUDA_LINK_H

#include "scope/cuda/support.h"

/* All 0 where it is not known. */
struct scope_pcie {
	uint32_t generation, width;           /* now */
	uint32_t most_generation, most_width; /* what both ends could do */
	const char *source;                   /* "nvml" or "sysfs"; NULL: neither knows */
};

/*
 * scope_pcie_of - the PCIe link of the device at a bus address ("0000:1b:00.0"). Asks the driver's management
 * library, which knows the real link in virtual machines too, if there is one on this machine; otherwise
 * sysfs.
 */
struct scope_pcie scope_pcie_of(const char *address);

#endif
