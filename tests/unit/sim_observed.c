/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_observed.h"

/* Lane l reads l rows of 32 words; all write. */
SIMT_FN void observed_rows(const struct observed *a)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < simt_lane(); k++)
		sum += a->in[32 * k + simt_lane()];
	a->out[simt_lane()] = sum;
}

/* Every other lane reads one array, then all read the other. */
SIMT_FN void observed_odd(const struct observed *a)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < a->rounds; k++) {
		if ((k + simt_lane()) & 1)
			sum += simt_load_relaxed_dev_u32(&a->other[32 * k + simt_lane()]);
		sum += simt_load_relaxed_dev_u32(&a->in[32 * k + simt_lane()]);
	}
	a->out[simt_lane()] = sum;
}

/* A loop of its own length in each lane, within one that all run as often. */
SIMT_FN void observed_nested(const struct observed *a)
{
	for (uint32_t k = 0; k < a->rounds; k++) {
		uint32_t sum = simt_load_relaxed_dev_u32(&a->other[32 * k + simt_lane()]);

		for (uint32_t n = 0; n < (simt_lane() + k) % 4; n++)
			sum += simt_load_relaxed_dev_u32(&a->in[32 * n + simt_lane()]);
		simt_store_relaxed_dev_u32(&a->out[32 * k + simt_lane()], sum);
	}
}

SIMT_NOINLINE_FN uint32_t read_twice(const uint32_t *p)
{
	return simt_load_relaxed_dev_u32(p) + simt_load_relaxed_dev_u32(p + 32);
}

/* Lanes call a function from two places: each half by itself. They meet behind both. */
SIMT_FN void observed_called(const struct observed *a)
{
	uint32_t sum;

	if (simt_lane() < 16)
		sum = read_twice(a->in + simt_lane()) + 1;
	else
		sum = read_twice(a->other + simt_lane()) * 3;
	a->out[simt_lane()] = sum;
}

/* One word for all lanes: added to; swapped by one lane, and in vain by the others. */
SIMT_FN void observed_atomic(const struct observed *a)
{
	simt_add_relaxed_dev_u32(&a->out[0], 1);
	simt_warp_sync(0xffffffffu);
	simt_cas_relaxed_dev_u32(&a->out[32], 0, simt_lane() + 1);
}

/* A warp reads the rows whose turns it gets. */
SIMT_FN void observed_ticket(const struct observed *a)
{
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t row = 0;

		if (!simt_lane())
			row = simt_add_relaxed_dev_u32(&a->out[0], 1);
		row = simt_shfl_u32(0xffffffffu, row, 0);
		a->out[32 * (1 + simt_block()) + simt_lane()] = a->in[32 * row + simt_lane()];
	}
}

/* Warp 1 reads behind the barrier what warp 0 wrote before it. */
SIMT_FN void observed_block(const struct observed *a)
{
	if (simt_thread() < 32)
		a->out[simt_thread()] = simt_thread();
	simt_block_sync();
	if (simt_thread() >= 32)
		a->out[simt_thread()] = simt_load_relaxed_dev_u32(&a->out[simt_thread() - 32]);
}

/* The warp moves 1024 bytes together. */
SIMT_FN void observed_copy(const struct observed *a)
{
	simt_copy(0xffffffffu, a->out, a->in, 1024);
}

SIMT_KERNEL(observed_rows, struct observed)
SIMT_KERNEL(observed_odd, struct observed)
SIMT_KERNEL(observed_nested, struct observed)
SIMT_KERNEL(observed_called, struct observed)
SIMT_KERNEL(observed_atomic, struct observed)
SIMT_KERNEL(observed_ticket, struct observed)
SIMT_KERNEL(observed_block, struct observed)
SIMT_KERNEL(observed_copy, struct observed)
