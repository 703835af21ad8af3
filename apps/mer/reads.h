/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reads.h - sequences of DNA from a FASTA or FASTQ file, plain or gzipped, one behind the other in memory.
 */
#ifndef GN_MER_READS_H
#define GN_MER_READS_H

#include <stdint.h>

#include <grapnel/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A base is 0 A, 1 C, 2 G, 3 T, so 3 - b is its complement. */
enum { MER_BREAK = 4 }; /* no known base: N and the like, and the end of a sequence */

struct mer_reads {
	uint8_t *base; /* count of them */
	uint64_t count;
	uint64_t sequences;
};

/*
 * mer_reads_load - read all sequences of a file.
 * @path  FASTA ('>', any number of lines) or FASTQ ('@', '+', as many qualities as bases), by its first
 *        character
 * @r     receives them; fini it, also on failure
 * Host. Returns 0, -GN_ENOENT and the like for a file that cannot be opened, -GN_EBADMSG, with the line, for
 * what is neither format, ends too early or is damaged, -GN_ENOMEM.
 */
int mer_reads_load(struct mer_reads *r, const char *path, struct gn_error *e);

/* mer_reads_fini - free the memory. Zeroed reads are fine. */
void mer_reads_fini(struct mer_reads *r);

#ifdef __cplusplus
}
#endif

#endif
