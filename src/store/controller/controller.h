/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h - an NVMe controller in software: host threads that serve queue pairs.
 *
 * A thread goes round its queue pairs: fetch every command that the doorbells show, hand all of them to the
 * engine at once, post the completions of what has finished. With nothing to do it gives the processor away,
 * first by yielding, then in naps: the threads that wait for it may need the same core.
 */
#ifndef GN_CONTROLLER_CONTROLLER_H
#define GN_CONTROLLER_CONTROLLER_H

#include <grapnel/store.h>
#include <store/controller/engine.h>

struct gn_controller;

/*
 * gn_controller_start - serve queue pairs.
 * @queue   [count], borrowed until stop; host-readable
 * @medium  borrowed until stop
 * @faults  borrowed until return; NULL for a controller that works
 * @threads  0 to let it decide, else how many; never more than queues
 * Returns 0, -GN_ENOMEM, or what the medium's open returned.
 */
int gn_controller_start(struct gn_controller **controller, const struct gn_nvmeq *queue, uint32_t count,
                        struct gn_medium *medium, const struct gn_fault_plan *faults, unsigned threads,
                        struct gn_error *error);

/*
 * gn_controller_stop - wait for what is being executed, then end the threads. Commands that were not fetched
 * are not executed, completions that were held back do not come.
 */
void gn_controller_stop(struct gn_controller *controller);

/* gn_controller_threads - how many threads serve. */
unsigned gn_controller_threads(const struct gn_controller *controller);

/* gn_controller_get_statistics - add what was completed so far. Any thread. */
void gn_controller_get_statistics(const struct gn_controller *controller,
                                  struct gn_store_statistics *statistics);

#endif
