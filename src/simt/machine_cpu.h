/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cpu.h - memory of the cpu machine (memory_cpu.c). */
#ifndef SIMT_MACHINE_CPU_H
#define SIMT_MACHINE_CPU_H

#include <grapnel/simt/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

void *simt__cpu_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where);
void simt__cpu_free(struct simt_machine *machine, void *memory);

#ifdef __cplusplus
}
#endif

#endif
