/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a system of GPUs that runs kernels and counts cycles.
 *
 *     struct sim_config config;
 *
 *     sim_config_init(&config);
 *     sim_config_optimize(&config, "dualopt", &error);
 *     sim_machine_create(&machine, &config, memory, 1, &error);
 *     while (workload->next(state, &launch))
 *             sim_machine_launch(machine, &launch, &error);
 *     cycles = sim_machine_stats(machine)->kernel_cycles;
 *
 * The same configuration, memory and launches give the same counts, whatever the number of threads. All
 * functions are called by one thread.
 */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <sim/config.h>
#include <sim/stats.h>
#include <sim/wave.h>

struct sim_machine;

/* A direction of a link between a GPU or the IOMMU and a switch, or between switches. */
struct sim_link_stats {
	const char *name; /* "gpu0-sw0" */
	uint64_t messages, flits, bytes;
	uint64_t busy_cycles; /* rounded down */
};

/*
 * sim_machine_create - a machine with nothing in its caches.
 * @config  copied; as many GPUs as memory has
 * @memory  borrowed until destroy
 * @threads  from 1, the caller's among them: they run GPUs side by side (window.h). More than there are GPUs
 *           are of no use
 * Returns 0, -GN_EINVAL (sim_config_check's; another number of GPUs than memory's; no threads) or -GN_ENOMEM.
 */
int sim_machine_create(struct sim_machine **machine, const struct sim_config *config,
                       struct sim_memory *memory, uint32_t threads, struct gn_error *error);
void sim_machine_destroy(struct sim_machine *m);

/*
 * sim_machine_launch - run a launch to its end.
 * Returns 0; -GN_EINVAL, a work-group fits on no compute unit; what the kernel ended with; -GN_EDEADLK,
 * nothing moves: error says what waits where; -GN_EBADMSG, a law of conservation does not hold
 * (sim_stats_check). After a failure the machine can only be destroyed.
 */
int sim_machine_launch(struct sim_machine *m, const struct sim_launch *launch, struct gn_error *error);

/* sim_machine_stats - counts of all launches so far; borrowed until destroy. */
const struct sim_stats *sim_machine_stats(const struct sim_machine *m);

/*
 * sim_machine_gpu_stats - the part of them that GPU k has counted; NULL behind the last. The rest, of the
 * network and the IOMMU, no GPU has.
 */
const struct sim_stats *sim_machine_gpu_stats(const struct sim_machine *m, uint32_t k);

/* sim_machine_cu_stats - what compute unit k of a GPU has counted; NULL behind the last. */
const struct sim_cu_stats *sim_machine_cu_stats(const struct sim_machine *m, uint32_t gpu, uint32_t k);

/* sim_machine_link - direction k of a link. Returns 0, or -GN_ENOENT: there are not so many. */
int sim_machine_link(struct sim_machine *m, uint32_t k, struct sim_link_stats *s);

#endif
