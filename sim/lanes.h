/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes.h - the instructions of a warp, out of what each of its lanes was seen to do by itself.
 *
 * The cpu machine runs lanes one after another; a GPU runs them together, and where they part, one side after
 * the other. Which lanes are together follows from where they are in the code: of those that come next, the
 * deepest in the stack, then the lowest site, goes first, with all lanes that are there. Blocks are seen too,
 * so a lane that skips what another does is known to be behind it.
 */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include <sim/stream.h>
#include <simt/observe.h>

/* One lane: what was seen and is not yet an instruction. */
struct sim_lane {
	struct simt__seen *seen;
	uint32_t read, written, room;
	int ended;
};

struct sim_lanes {
	struct sim_lane lane[SIM_STREAM_LANES];
	struct sim_code code; /* its instructions so far */
	uint64_t blocks;      /* not yet in code */
	uint32_t loads;       /* 1: one is under way that nobody has waited for */
	uint32_t behind;      /* stores since the last load */
};

/* sim_lanes_begin - a warp of so many lanes (32 where there are more); zeroed before. */
void sim_lanes_begin(struct sim_lanes *w, uint32_t lanes);
/*
 * sim_lanes_see - the next thing that a lane does; addresses are those of the stream. Order among lanes does
 * not matter.
 */
void sim_lanes_see(struct sim_lanes *w, uint32_t lane, const struct simt__seen *seen);
/* sim_lanes_end - a lane does nothing more. When the last one has ended, code is complete. */
void sim_lanes_end(struct sim_lanes *w, uint32_t lane);
void sim_lanes_fini(struct sim_lanes *w);

#endif
