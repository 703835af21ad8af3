/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the kernels that the host's calls launch. */
#ifndef GN_SLOTS_KERNELS_H
#define GN_SLOTS_KERNELS_H

#include <slots/view.h>

struct gn_slots_resolve_args {
	struct gn__slots_view v;
	struct gn_slots_batch batch;
};

struct gn_slots_pin_args {
	struct gn__slots_view v;
	const int32_t *slot;
	uint32_t count;
	uint32_t ends; /* 1: unpin */
};

SIMT_KERNEL_DECLARE(gn_slots_resolve_keys);
SIMT_KERNEL_DECLARE(gn_slots_load); /* fill from a store that loads reach */
SIMT_KERNEL_DECLARE(gn_slots_read); /* fill from a store behind queue pairs */
SIMT_KERNEL_DECLARE(gn_slots_change_pins);
SIMT_KERNEL_DECLARE(gn_slots_empty); /* forget all items */

#endif
