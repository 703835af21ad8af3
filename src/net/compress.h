/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress.h - messages without the bytes that they share with their neighbours.
 *
 * Messages of as many words, one behind the other, form a run; word r of each is a column. Of a column only
 * the bytes from the first to the last that differ anywhere in the run travel, the others once (conveyors
 * strip constant bytes of a buffer likewise). Additions to counters of one node differ in the low bytes of
 * the place only: 3 bytes instead of 16.
 *
 *     run       u16 messages, u8 words of each (0: a run of so many plain words), u8 0; its columns;
 *               its bytes
 *     column    u64 the bytes that all share (0 where they differ), u8 first byte that differs,
 *               u8 how many differ
 *     bytes     of message after message, column after column
 */
#ifndef GN_NET_COMPRESS_H
#define GN_NET_COMPRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Behind what is compressed so many bytes are written and read in vain. */
enum { GN_COMPRESS_SLACK = 8 };

/*
 * gn_compress - compress messages.
 * @word, @words  whole messages
 * @to            most + GN_COMPRESS_SLACK bytes
 * Returns the bytes it took, 0: more than most.
 */
uint32_t gn_compress(const uint64_t *word, uint32_t words, void *to, uint32_t most);

/*
 * gn_decompress - get them back.
 * @from  bytes, and GN_COMPRESS_SLACK more that can be read
 * Returns 0, or -GN_EBADMSG: they are not so many words compressed.
 */
int gn_decompress(const void *from, uint32_t bytes, uint64_t *word, uint32_t words);

#ifdef __cplusplus
}
#endif

#endif
