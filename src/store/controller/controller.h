/* SPDX-License-Identifier: Apache-2.0 */
/*
 * controller.h - an NVMe controller in software: host threads that serve queue pairs.
 *
 * In each round a thread serves all its queue pairs: it fetches every command up to the doorbells, starts all
 * of them in the engine at once, and posts the completions of finished requests. Without work it gives up the
 * processor, first by yielding, then by naps: the threads that wait for it may need the same core.
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
 * @faults  borrowed until return; NULL: no faults
 * @threads  number of threads; 0: the controller decides. Never more than queues
 * Returns 0, -GN_ENOMEM, or what the medium's open returned.
 */
int gn_controller_start(struct gn_controller **controller, const struct gn_nvmeq *queue, uint32_t count,
                        struct gn_medium *medium, const struct gn_fault_plan *faults, unsigned threads,
                        struct gn_error *error);

/*
 * gn_controller_stop - wait for the requests in the engines, then end the threads. Commands that were not
 * fetched are not executed, and completions that were held back are not posted.
 */
void gn_controller_stop(struct gn_controller *controller);

/* gn_controller_threads - the number of threads that serve. */
unsigned gn_controller_threads(const struct gn_controller *controller);

/* gn_controller_get_statistics - add the statistics of all commands completed so far. Any thread. */
void gn_controller_get_statistics(const struct gn_controller *controller,
                                  struct gn_store_statistics *statistics);

#endif
