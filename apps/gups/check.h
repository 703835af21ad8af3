/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - is the table what the updates must have made of it? */
#ifndef GN_GUPS_CHECK_H
#define GN_GUPS_CHECK_H

#include "gups/gups.h"

enum { GUPS_MOST_DRAWN = 1 << 28 }; /* numbers, by all nodes together, to compare every word */

/* gups_every_word - can every word be compared in a time that fits the updates'? */
uint32_t gups_every_word(const struct gups *g, uint64_t nodes);

/*
 * gups_check - compare this node's part with the sequence, which the host draws again. All nodes call it
 * after a barrier, when every update was done once.
 * @every_word  1: each node draws the sequence of all nodes from its beginning, and compares every word of
 * its part. 0: each node draws its own updates only. The nodes add up what each of them must have received,
 * and compare the sum (inc) or the exclusive or (xor) of each part: an update at a wrong node is seen, one at
 * a wrong word of the right node is not
 * @part        device memory
 * @wrong       receives the number of words, or of parts, of all nodes that are wrong
 * Returns 0; -GN_ENOMEM (on all nodes, if one lacks memory); the machine's or the network's code.
 */
int gups_check(struct gn_net *net, const struct gups *g, uint32_t every_word, const uint64_t *part,
               uint64_t *wrong, struct gn_error *error);

#endif
