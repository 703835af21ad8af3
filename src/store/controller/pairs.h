/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - the queue pairs of a block store, with the controller that serves them.
 */
#ifndef GN_CONTROLLER_PAIRS_H
#define GN_CONTROLLER_PAIRS_H

#include <store/controller/controller.h>
#include <store/settings.h>

enum { GN_PAIRS_MOST = 1024 };

/* A member of a store's struct. */
struct gn_pairs {
	struct simt_machine *machine;
	uint32_t count, depth;
	struct gn_nvmeq *queue;  /* [count], for the host */
	struct gn_nvmeq *device; /* [count], the same in device memory */
	struct gn_controller *controller;
};

/*
 * gn_pairs_plan - how many queue pairs a store has, and of what kind: as the settings say, else the defaults.
 * Returns 0 or -GN_EINVAL with the message set.
 */
int gn_pairs_plan(struct gn_nvmeq_options *options, uint32_t *count, struct simt_machine *machine,
                  const struct gn_store_settings *settings, uint32_t block_bytes, struct gn_error *error);

/*
 * gn_pairs_open - make queue pairs on a machine and start serving them.
 * @medium  borrowed until close
 * @block_bytes  of the namespace
 * Returns 0 or a negative code with the message set.
 */
int gn_pairs_open(struct gn_pairs *pairs, struct simt_machine *machine,
                  const struct gn_store_settings *settings, struct gn_medium *medium, uint32_t block_bytes,
                  struct gn_error *error);

/* gn_pairs_close - stop the controller, free the queues. Also to be called if gn_pairs_open failed. */
void gn_pairs_close(struct gn_pairs *pairs);

/* gn_pairs_view - fill the view that kernels get of a store behind queue pairs. */
void gn_pairs_view(const struct gn_pairs *pairs, const struct gn_store_settings *settings,
                   const struct gn_medium *medium, struct gn_store_view *view);

#endif
