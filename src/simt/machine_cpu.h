/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cpu.h - memory of the cpu machine (memory_cpu.c). */
#ifndef SIMT_MACHINE_CPU_H
#define SIMT_MACHINE_CPU_H

#include <grapnel/simt.h>

void *simt__cpu_alloc(struct simt_machine *machine, size_t bytes, enum simt_memory where,
                      struct gn_error *error);
void simt__cpu_free(struct simt_machine *machine, void *memory);
int simt__cpu_export(struct simt_machine *machine, void *memory, struct simt_exported *exported);
int simt__cpu_import(struct simt_machine *machine, const struct simt_exported *exported, void **memory);
void simt__cpu_unimport(struct simt_machine *machine, const struct simt_exported *exported, void *memory);

#endif
