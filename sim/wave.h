/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wave.h - how a kernel is written for the simulated machine, and how its wavefronts run.
 *
 * A kernel is a C function that one wavefront of 64 lanes runs. It computes real values, for all lanes at
 * once, and says each instruction by a call: the loads and stores below also move the values. The function
 * runs in a fiber of its own, a little ahead of the timing model, which takes its instructions when it has
 * room for them; so nothing is recorded in files, and the instructions of a long loop take no memory.
 *
 *     static void add_one(struct sim_wave *w, const void *arguments)
 *     {
 *             const struct add_args *a = arguments;
 *             uint32_t index[SIM_LANES], value[SIM_LANES];
 *             uint64_t lanes = 0;
 *
 *             for (uint32_t l = 0; l < SIM_LANES; l++) {
 *                     index[l] = (uint32_t)sim_wave_item(w, l);
 *                     lanes |= (uint64_t)(index[l] < a->count) << l;
 *             }
 *             sim_load_u32(w, lanes, &a->in, index, value);
 *             sim_wait(w, 0);
 *             for (uint32_t l = 0; l < SIM_LANES; l++)
 *                     value[l]++;
 *             sim_valu(w, 1);
 *             sim_store_u32(w, lanes, &a->out, index, value);
 *     }
 */
#ifndef SIM_WAVE_H
#define SIM_WAVE_H

#include <sim/memory.h>
#include <sim/op.h>

struct sim_wave;

typedef void sim_kernel_fn(struct sim_wave *w, const void *arguments);

/* One launch of a kernel over a grid of work-items, x fastest. */
struct sim_launch {
	const char *name;
	sim_kernel_fn *kernel;
	const void *arguments; /* borrowed until the launch is over */
	uint32_t items[2];     /* work-items in x and y; the last work-groups may be partly empty */
	uint32_t group[2];     /* work-items of a work-group in x and y, at most 1024 together */
	uint32_t lds_bytes;    /* of a work-group; 0 at first */
	/* registers of a wavefront (vgprs: of one lane); 0: they do not limit how many fit */
	uint32_t vgprs, sgprs;
	/*
	 * 1: no work-group reads or writes what another one writes in this launch, so that they may run on
	 * different threads. 0: they may, and run one after the other; the order is that of the machine, the
	 * same with any number of threads.
	 */
	int independent;
};

/* ---- inside a kernel ---- */

uint32_t sim_wave_gpu(const struct sim_wave *w); /* that runs it, from 0 */
/* number of its work-group, 0: x, 1: y */
uint32_t sim_wave_group(const struct sim_wave *w, uint32_t axis);
uint32_t sim_wave_local(const struct sim_wave *w, uint32_t lane, uint32_t axis); /* place of a lane in it */
/* global x of a lane; of y: see sim_wave_item_y */
uint64_t sim_wave_item(const struct sim_wave *w, uint32_t lane);
uint64_t sim_wave_item_y(const struct sim_wave *w, uint32_t lane);
uint64_t sim_wave_lanes(const struct sim_wave *w); /* those inside the grid */
void *sim_wave_lds(struct sim_wave *w);            /* the work-group's memory */

void sim_valu(struct sim_wave *w, uint32_t count);
void sim_salu(struct sim_wave *w, uint32_t count);
void sim_lds(struct sim_wave *w, uint32_t count);
void sim_wait(struct sim_wave *w, uint32_t most);
void sim_barrier(struct sim_wave *w); /* other wavefronts of the work-group run on until they are here */

/*
 * Element index[l] of a buffer, for each lane of the mask: one vector instruction. Elements outside the
 * buffer end the run with -GN_EINVAL, which names kernel, work-group, lane and index. x4: four neighbouring
 * elements a lane (float4), the first at index[l].
 */
void sim_load_u8(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                 uint8_t *value);
void sim_load_u32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  uint32_t *value);
void sim_load_f32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  float *value);
void sim_load_f32x4(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                    float (*value)[4]);
void sim_store_u8(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                  const uint8_t *value);
void sim_store_u32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                   const uint32_t *value);
void sim_store_f32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                   const float *value);
void sim_store_f32x4(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b, const uint32_t *index,
                     const float (*value)[4]);

/*
 * One vector instruction whose lines are known, each of them once: at most SIM_MOST_LINES, in buffers of the
 * memory. Moves no values.
 */
void sim_lines(struct sim_wave *w, enum sim_op_kind kind, const struct sim_line *line, uint32_t count);

/* One element for the whole wavefront, through the scalar cache. */
uint32_t sim_scalar_u32(struct sim_wave *w, const struct sim_buffer *b, uint32_t index);

/* ---- what the timing model does with it ---- */

struct sim_group; /* a work-group that runs: its wavefronts, and the memory they share */
struct sim_waves; /* where groups come from: fibers and buffers, used again */

/*
 * sim_waves_create - room for groups, of which one runs at a time: those of a GPU. Everything that a group
 * needs is kept for the next, so that nothing is allocated once as many groups have run at a time as ever
 * will. A group may go on in another thread.
 */
int sim_waves_create(struct sim_waves **waves);
void sim_waves_destroy(struct sim_waves *waves);

/* sim_group_begin - work-group `number` (x fastest) of a launch, on a GPU. NULL: no memory. */
struct sim_group *sim_group_begin(struct sim_waves *waves, const struct sim_launch *launch, uint32_t number,
                                  uint32_t gpu);
uint32_t sim_group_waves(const struct sim_group *g);
struct sim_wave *sim_group_wave(struct sim_group *g, uint32_t k);
void sim_group_end(struct sim_group *g); /* all its wavefronts have ended */

/*
 * sim_wave_next - the next instruction of a wavefront. After SIM_OP_BARRIER it may be asked for only when all
 * other wavefronts of the group have given theirs, or ended. After SIM_OP_END it may not.
 * Returns 0, or what ended the run: error says why.
 */
int sim_wave_next(struct sim_wave *w, struct sim_op *op, struct gn_error *error);

/* sim_wave_soon - sim_wave_next will be called: the host fetches what it needs into its caches meanwhile. */
void sim_wave_soon(const struct sim_wave *w, const struct sim_op *last);

/* sim_launch_groups - work-groups of a launch. */
uint32_t sim_launch_groups(const struct sim_launch *launch);

#endif
