/* SPDX-License-Identifier: Apache-2.0 */
/*
 * radix.h - sort keys in a machine's own memory.
 */
#ifndef GN_SORT_RADIX_H
#define GN_SORT_RADIX_H

#include <grapnel/error.h>
#include <grapnel/simt.h>

/*
 * gn_radix_sort - sort unsigned keys by their low bits, the smallest first. Stable: keys whose low bits are
 * equal keep their order.
 * @keys       [count] keys in memory of the machine, aligned to a key; changed
 * @spare      [count] the same, not overlapping keys; changed
 * @key_bytes  4 or 8
 * @bits       how many of the low bits to sort by, 1 to 8 * key_bytes. Fewer bits take fewer passes, one for
 *             each 8. The higher bits are carried along
 * @sorted     receives keys or spare: where the result is
 * Takes up to 2 MiB more of the machine's memory. Each pass reads the keys twice and writes them once. Runs
 * on the machine's own stream, behind earlier launches, and waits for the result. Host.
 * Returns 0; -GN_EINVAL (key_bytes, bits); -GN_ENOMEM; what the machine failed with. Then the order of the
 * keys is undefined, and some may be lost.
 * Source: Merrill and Grimshaw, "High performance and scalable radix sorting", 2011: counts of each block's
 * part, a scan of them, and a scatter through shared memory.
 */
int gn_radix_sort(struct simt_machine *machine, void *keys, void *spare, uint64_t count, uint32_t key_bytes,
                  unsigned bits, void **sorted, struct gn_error *error);

#endif
