/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream.h - recorded access streams: what the warps of some launches did, in a file.
 *
 *     file     "grapnel stream 1", launches, the end
 *     launch   its head (see struct sim_stream_head), the bytes of each warp's code, the codes, up to a
 *              multiple of 8
 *     code     operations, one behind the other; numbers are little-endian groups of 7 bits, the last one
 *              below 128
 *       0                end
 *       1 n              n basic blocks
 *       2 n              wait until at most n vector accesses are under way
 *       3 n, 4 n         load, store n lines; a line is its distance from the code's line before (zigzag),
 *                        then the first of its bytes and how many, or 64 and a mask of 8 bytes
 *       5                a barrier of the block
 *     end      a head of kind 2: how many launches, and the CRC-32 of all before
 *
 * Words are little-endian. Lines are counted from the beginning of the memory that was recorded, pages of
 * SIM_PAGE_BYTES. A file without an end was not recorded to the end, or its results were wrong.
 */
#ifndef SIM_STREAM_H
#define SIM_STREAM_H

#include <stdio.h>

#include <sim/wave.h>

enum {
	SIM_STREAM_LANES = 32,      /* of a warp at most */
	SIM_STREAM_MOST_WARPS = 16, /* of a block: wavefronts of a work-group */
	SIM_STREAM_MOST_BLOCKS = 1 << 20,
	SIM_STREAM_NAME = 48,
	/* What a basic block counts as: a compare, the arithmetic of an address, a branch. A guess. */
	SIM_STREAM_VECTOR = 4,
	SIM_STREAM_SCALAR = 1
};

/* ---- writing ---- */

/* Code in memory; zero is empty. After a failure it stays short, and sim_stream_put_launch says so. */
struct sim_code {
	uint8_t *bytes;
	size_t used, room;
	uint64_t line; /* the last one */
	int failed;    /* no memory */
};

void sim_code_blocks(struct sim_code *c, uint64_t count);
void sim_code_wait(struct sim_code *c, uint64_t most);
void sim_code_barrier(struct sim_code *c);
/* @kind  SIM_OP_LOAD or SIM_OP_STORE; lines have addresses that count from 0 */
void sim_code_lines(struct sim_code *c, enum sim_op_kind kind, const struct sim_line *line, uint32_t count);
void sim_code_end(struct sim_code *c);

/* A file that is being written. */
struct sim_stream_writer {
	FILE *to; /* the caller's */
	uint32_t crc;
	uint64_t launches;
};

/* What stands before a launch's codes. */
struct sim_stream_head {
	uint64_t kind;              /* 1; at the end 2 */
	uint64_t pages;             /* of memory in use; at the end: launches */
	uint32_t blocks, warps;     /* warps of a block; at the end: CRC-32, 0 */
	char name[SIM_STREAM_NAME]; /* of the kernel, with 0 behind it */
};

/* Each returns 0, or -GN_EIO, -GN_ENOMEM with a message. */
int sim_stream_begin(struct sim_stream_writer *w, FILE *to, struct gn_error *error);
int sim_stream_put_launch(struct sim_stream_writer *w, const struct sim_stream_head *head,
                          const struct sim_code *codes, struct gn_error *error);
int sim_stream_end(struct sim_stream_writer *w, struct gn_error *error);

/* ---- reading ---- */

struct sim_stream;

/*
 * sim_stream_open - map a file and look through all of it; what is read later cannot be wrong.
 * @fd    borrowed until return; name: for messages
 * Returns 0; -GN_EBADMSG (no stream, or a damaged one: where), -GN_EIO, -GN_ENOMEM.
 */
int sim_stream_open(struct sim_stream **stream, int fd, const char *name, struct gn_error *error);
void sim_stream_close(struct sim_stream *s);

/* sim_stream_pages - of memory that its accesses lie in. */
uint64_t sim_stream_pages(const struct sim_stream *s);

/* sim_stream_ended - 1: all of its launches have been given, and next has said so. */
int sim_stream_ended(const struct sim_stream *s);

/*
 * sim_stream_next - the next launch, to be run on the simulated machine: a warp is a wavefront, a block a
 * work-group.
 * @address  of sim_stream_pages() pages of simulated memory
 * Returns 1, or 0: there is none. What it borrows from the stream is good until the next one.
 */
int sim_stream_next(struct sim_stream *s, uint64_t address, struct sim_launch *launch);

#endif
