/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpus.h - what the CUDA part tells the rest about the GPUs. The functions are there in builds with CUDA
 * only; the rest declares them weak and asks whether they are.
 */
#ifndef GN_SCOPE_GPUS_H
#define GN_SCOPE_GPUS_H

#include "scope/scope.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * scope_machine_find_gpus - fill in m->gpu, m->gpus and m->event_tick; where no GPU can be used, m->gpus
 * stays 0 and m->no_gpu says why ("no device: ...", a static string or one that lives as long as the
 * process). m->rank, the host's fields and the limits are there already. Changes no setting; may create the
 * devices' contexts. Never fails otherwise.
 */
void scope_machine_find_gpus(struct scope_machine *m);

/*
 * scope_environment_gpus - all that a figure could depend on: driver and runtime version, and of each device
 * its name, bus address, attributes (notes on managed memory, atomics), clocks, ECC, MIG. An object, owned by
 * the caller; NULL: no memory.
 */
json_t *scope_environment_gpus(const struct scope_machine *m);

#ifdef __cplusplus
}
#endif

#endif
