/* SPDX-License-Identifier: Apache-2.0 */
/*
 * op.h - what a wavefront does, as the timing model sees it: a stream of instructions without values.
 *
 * It is the one thing that the two halves of the simulator share: wave.c runs a kernel and makes the stream,
 * the compute units (cu.c) take it instruction by instruction. A stream does not depend on time, so every
 * configuration of the machine sees the same one.
 */
#ifndef SIM_OP_H
#define SIM_OP_H

#include <stdint.h>

enum {
	SIM_LANES = 64, /* of a wavefront */
	SIM_LINE_BYTES = 64,
	SIM_PAGE_BYTES = 4096,
	SIM_MOST_LINES = 128, /* of one instruction: 16 bytes a lane, each on two lines */
	SIM_MOST_GPUS = 16
};

enum sim_op_kind {
	SIM_OP_VALU,    /* count vector instructions, one behind the other */
	SIM_OP_SALU,    /* count scalar instructions */
	SIM_OP_LDS,     /* count instructions on the work-group's own memory */
	SIM_OP_LOAD,    /* a vector load: lines, coalesced; none where all lanes are off */
	SIM_OP_STORE,   /* a vector store: the same */
	SIM_OP_SCALAR,  /* a scalar load: one line */
	SIM_OP_WAIT,    /* until at most count vector accesses of this wavefront are under way (s_waitcnt) */
	SIM_OP_BARRIER, /* of the work-group */
	SIM_OP_END
};

/*
 * Bytes of one line that an instruction touches. Lines stand in the order in which lanes first touch them;
 * one line stands once. What the coalescer of the hardware does, done where the lanes' addresses are at hand.
 */
struct sim_line {
	uint64_t address; /* virtual, a multiple of SIM_LINE_BYTES */
	uint64_t bytes;   /* bit k: byte k */
};

struct sim_op {
	enum sim_op_kind kind;
	uint32_t count; /* of instructions; of LOAD, STORE, SCALAR: of lines; of WAIT: see there */
	/* LOAD, STORE, SCALAR: borrowed until the next op of this wavefront is taken */
	const struct sim_line *line;
};

/* How many wavefront instructions an op is; the end is one (s_endpgm), as in MGPUSim's counts. */
static inline uint32_t sim_op_instructions(const struct sim_op *op)
{
	return op->kind == SIM_OP_VALU || op->kind == SIM_OP_SALU || op->kind == SIM_OP_LDS ? op->count : 1;
}

/* DualOpt's bitmask (section 4.1): bit k, word k of 4 bytes is touched. */
static inline uint32_t sim_line_words(const struct sim_line *l)
{
	uint64_t x = l->bytes | l->bytes >> 1;

	/* a bit of each four, and these next to each other */
	x = (x | x >> 2) & 0x1111111111111111;
	x = (x | x >> 3) & 0x0303030303030303;
	x = (x | x >> 6) & 0x000f000f000f000f;
	x = (x | x >> 12) & 0x000000ff000000ff;
	return (uint32_t)(x | x >> 24) & 0xffff;
}

#endif
