/* SPDX-License-Identifier: Apache-2.0 */
/* sim_observed.h - kernels whose lanes part and meet in known ways. */
#ifndef GN_TESTS_SIM_OBSERVED_H
#define GN_TESTS_SIM_OBSERVED_H

#include <grapnel/simt.h>

/* Arrays of 32-bit words. */
struct observed {
	uint32_t *in, *other, *out;
	uint32_t rounds;
};

SIMT_KERNEL_DECLARE(observed_rows);
SIMT_KERNEL_DECLARE(observed_odd);
SIMT_KERNEL_DECLARE(observed_nested);
SIMT_KERNEL_DECLARE(observed_called);
SIMT_KERNEL_DECLARE(observed_atomic);
SIMT_KERNEL_DECLARE(observed_ticket);
SIMT_KERNEL_DECLARE(observed_block);
SIMT_KERNEL_DECLARE(observed_copy);

#endif
