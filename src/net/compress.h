/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compress.h - leaves out bytes that neighbouring messages share.
 *
 * Adjacent messages with the same number of words form a run; word r of each is a column. Of a column only
 * the bytes from the first to the last that differ anywhere in the run are sent for each message; the other
 * bytes are sent once. (Conveyors also strip constant bytes of a buffer.) Additions to counters of one node
 * differ only in the low bytes of the place: 3 bytes instead of 16.
 *
 *     run       u16 messages, u8 words of each (0: the run is plain words, and u16 is their number), u8 0;
 *               its columns; its bytes
 *     column    u64 the bytes that all share (0 where they differ), u8 first byte that differs,
 *               u8 number of bytes that differ
 *     bytes     of message after message, column after column
 */
#ifndef GN_NET_COMPRESS_H
#define GN_NET_COMPRESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The functions write and read up to this number of bytes behind the compressed bytes, and ignore them. */
enum { GN_COMPRESS_SLACK = 8 };

/*
 * gn_compress - compress messages.
 * @word, @words  complete messages
 * @to            [most + GN_COMPRESS_SLACK] bytes
 * Returns the number of compressed bytes; 0: it would be more than most.
 */
uint32_t gn_compress(const uint64_t *word, uint32_t words, void *to, uint32_t most);

/*
 * gn_decompress - decompress messages.
 * @from  [bytes], and GN_COMPRESS_SLACK further bytes that can be read
 * Returns 0, or -GN_EBADMSG: the bytes are not exactly `words` compressed words.
 */
int gn_decompress(const void *from, uint32_t bytes, uint64_t *word, uint32_t words);

#ifdef __cplusplus
}
#endif

#endif
