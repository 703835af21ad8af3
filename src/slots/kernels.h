/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.h - the kernels that the host's calls launch. */
#ifndef GN_SLOTS_KERNELS_H
#define GN_SLOTS_KERNELS_H

#include <slots/view.h>

struct gn_slots_resolve_args {
	struct gn__slots_view v;
	struct gn_slots_batch batch;
};

enum gn__slots_change { GN__PIN, GN__UNPIN, GN__MARK };

struct gn_slots_change_args {
	struct gn__slots_view v;
	const int32_t *slot;
	uint32_t count;
	uint32_t change; /* enum gn__slots_change */
};

SIMT_KERNEL_DECLARE(gn_slots_resolve_keys);
SIMT_KERNEL_DECLARE(gn_slots_load);      /* fill from a store that loads reach */
SIMT_KERNEL_DECLARE(gn_slots_write);     /* fill from and to a store behind queue pairs: write what leaves, */
SIMT_KERNEL_DECLARE(gn_slots_read);      /* and read what comes */
SIMT_KERNEL_DECLARE(gn_slots_flush_all); /* write what is marked */
SIMT_KERNEL_DECLARE(gn_slots_change);    /* pins and marks */
SIMT_KERNEL_DECLARE(gn_slots_empty);     /* forget all items */

#endif
