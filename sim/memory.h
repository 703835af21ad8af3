/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h - the memory of the simulated machine: what is allocated, on which GPU each page lies, and the
 * real bytes.
 *
 * One virtual address space for all GPUs, pages of SIM_PAGE_BYTES. Values live in host memory; the timing
 * model sees addresses only.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <grapnel/error.h>
#include <sim/op.h>

/* How the pages of a buffer lie on GPUs. */
enum sim_placement {
	/* page by page, round robin over all buffers; the next buffer goes on where this one ended */
	SIM_INTERLEAVED,
	SIM_DISTRIBUTED, /* a contiguous part of floor(pages / GPUs) on each GPU, the rest on the last */
	SIM_ON_ONE       /* on one GPU */
};

struct sim_buffer {
	/*
	 * its bytes, 0 at first; page-aligned, so that lanes may not cross a line where the kernel's would
	 * not
	 */
	void *host;
	uint64_t address; /* virtual; page-aligned, never 0 */
	uint64_t bytes;
};

struct sim_memory;

/* sim_memory_create - of so many GPUs, 1 to SIM_MOST_GPUS. Returns 0, -GN_EINVAL or -GN_ENOMEM. */
int sim_memory_create(struct sim_memory **memory, uint32_t gpus);
void sim_memory_destroy(struct sim_memory *memory);
uint32_t sim_memory_gpus(const struct sim_memory *memory);

/*
 * sim_memory_alloc - a buffer, which the memory owns.
 * @gpu  of SIM_ON_ONE
 * Returns 0, -GN_EINVAL (no bytes, no such GPU) or -GN_ENOMEM.
 */
int sim_memory_alloc(struct sim_memory *memory, uint64_t bytes, enum sim_placement placement, uint32_t gpu,
                     struct sim_buffer *buffer);

/* sim_memory_place - buffers to come lie so, whatever they are asked to, but for those of SIM_ON_ONE. */
void sim_memory_place(struct sim_memory *memory, enum sim_placement placement);

/*
 * sim_memory_home - the GPU that a virtual address lies on, from 0. sim_memory_frame - the number of its page
 * among those of that GPU, from 0: which DRAM channel and bank it is in follows from that. Addresses of no
 * buffer: UINT32_MAX.
 */
uint32_t sim_memory_home(const struct sim_memory *memory, uint64_t address);
uint32_t sim_memory_frame(const struct sim_memory *memory, uint64_t address);

/* sim_memory_pages - numbers of pages (address / SIM_PAGE_BYTES) in use so far are below that. */
uint64_t sim_memory_pages(const struct sim_memory *memory);

/* sim_memory_move - a page goes to another GPU (page migration). Its values stay where they are. */
int sim_memory_move(struct sim_memory *memory, uint64_t address, uint32_t gpu);

#endif
