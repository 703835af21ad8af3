/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spread.h - memory that lies on one or several devices of a machine's kind and is used through one address:
 * piece k is on device[k % devices]. Kernels of the machine it was made for reach all of it, and so do
 * kernels of these devices.
 */
#ifndef SIMT_SPREAD_H
#define SIMT_SPREAD_H

#include <simt/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIMT_SPREAD_MOST = 32 }; /* devices */

struct simt_spread {
	struct simt_machine *machine;
	unsigned devices;
	unsigned device[SIMT_SPREAD_MOST]; /* numbers, as in "cuda:1" */
	uint64_t piece_bytes;              /* a power of two, 2 MiB or more */
	uint64_t bytes;                    /* a multiple of 2 MiB */
	char *memory;
	struct simt_spread *next; /* used by spread.c only */
};

/*
 * simt__spread_init - say where memory will lie.
 * @devices      their numbers, separated by plus signs: "1", "0+1"; each once
 * @piece_bytes  0: 32 MiB
 * Returns 0 or -GN_EINVAL: the text is not that.
 */
int simt__spread_init(struct simt_spread *spread, struct simt_machine *machine, const char *devices,
                      uint64_t piece_bytes, struct gn_error *error);

/*
 * simt__spread_create - allocate the memory, zeroed.
 * @bytes  rounded up to 2 MiB
 * The devices and the machine's must reach each other, with atomics. On cpu a device stands for nothing: all
 * memory is the host's. Host. Returns 0, -GN_ENODEV (no such device), -GN_ENOTSUP (a device is not reached,
 * or the driver cannot), -GN_ENOMEM, -GN_EIO; says which and what to do.
 */
int simt__spread_create(struct simt_spread *spread, uint64_t bytes, struct gn_error *error);

/* simt__spread_destroy - free it. No kernel uses it any more. */
void simt__spread_destroy(struct simt_spread *spread);

/* simt__spread_share - let kernels of another machine reach it too. Returns 0, -GN_ENOTSUP. */
int simt__spread_share(const struct simt_spread *spread, struct simt_machine *other, struct gn_error *error);

/* simt__spread_at - copy the description of the spread memory that holds an address. Returns 1, or 0: none.
 */
int simt__spread_at(const void *address, struct simt_spread *found);

/* simt__spread_is_open - may kernels of a machine use the memory? Those of another kind never may. */
int simt__spread_is_open(const struct simt_spread *spread, struct simt_machine *machine);

/*
 * simt__spread_reaches - may kernels of all its devices use memory that a program gives to a machine to which
 * the spread memory is open? Memory of that device by cudaMalloc, and pinned memory. Memory from elsewhere
 * may be closed to other devices.
 */
int simt__spread_reaches(const struct simt_spread *spread, struct simt_machine *machine, const void *memory);

/* The number of a machine's device. */
unsigned simt__device_of(const struct simt_machine *machine);

#ifdef __cplusplus
}
#endif

#endif
