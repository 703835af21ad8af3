/* SPDX-License-Identifier: Apache-2.0 */
/* slots.h - slots as the host sees them. */
#ifndef GN_SLOTS_SLOTS_H
#define GN_SLOTS_SLOTS_H

#include <slots/kernels.h>

struct gn_slots {
	struct simt_machine *machine;
	struct gn_store *store;
	struct gn__slots_view view;
	void *owned;              /* the slab, if it was allocated */
	struct simt_grid resolve; /* its blocks are the most */
	struct simt_grid fill;
	uint64_t metadata_bytes;
	uint32_t told; /* failures that gn_slots_failure has told about */
};

#endif
