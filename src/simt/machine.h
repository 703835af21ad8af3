/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - what a machine is behind simt/machine.h: a table of functions. The public functions check
 * their arguments and call the table; a machine embeds struct simt_machine as its first member.
 */
#ifndef SIMT_MACHINE_H
#define SIMT_MACHINE_H

#include <grapnel/simt/machine.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All members are set. The grid that launch gets is within bounds; arguments are copied before it returns. */
struct simt_machine_ops {
	void *(*alloc)(struct simt_machine *machine, size_t bytes, enum simt_memory where);
	void (*free)(struct simt_machine *machine, void *memory);
	int (*move)(struct simt_machine *machine, void *to, const void *from, size_t bytes);
	int (*pin)(struct simt_machine *machine, void *memory, size_t bytes, void **device,
	           struct gn_error *error);
	void (*unpin)(struct simt_machine *machine, void *memory, size_t bytes);
	int (*launch)(struct simt_machine *machine, const struct simt_kernel *kernel, struct simt_grid grid,
	              const void *arguments);
	int (*wait)(struct simt_machine *machine);
	void (*info)(const struct simt_machine *machine, struct simt_info *info);
	void (*close)(struct simt_machine *machine);
};

struct simt_machine {
	const struct simt_machine_ops *ops;
	struct gn_error failure; /* the last one: code and words */
};

/* One a kind of machine; config is valid for that kind as far as both kinds share it. */
int simt__cpu_open(struct simt_machine **machine, const struct simt_config *config, struct gn_error *error);
int simt__cuda_open(struct simt_machine **machine, const struct simt_config *config, struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
