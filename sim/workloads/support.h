/* SPDX-License-Identifier: Apache-2.0 */
/*
 * support.h - what the workloads share: sizes, values, comparing with the reference, lanes.
 */
#ifndef SIM_WORKLOADS_SUPPORT_H
#define SIM_WORKLOADS_SUPPORT_H

#include <stdlib.h>

#include <sim/stream.h>
#include <sim/workload.h>

#include "graph/graph.h"

/* One number of a size: its default, and what it may be. */
struct sim_size {
	const char *name;
	double value; /* the default; what was asked for */
	double least, most;
	uint32_t multiple; /* of what it must be a whole multiple; 0: it need not be whole */
};

/*
 * sim_sizes_read - the numbers of --size, in their order; those behind the last stay as they are. Words and
 * any of "x , ;" between them mean nothing: "4096 points 1 iteration" is 4096 and 1. Returns 0 or -GN_EINVAL
 * with what may be asked for.
 */
int sim_sizes_read(const char *text, const char *workload, struct sim_size *sizes, uint32_t count,
                   struct gn_error *error);

/* sim_random - the next of a sequence (splitmix64); sim_random_below: less than bound; sim_random_f32: in [0,
 * 1). */
uint64_t sim_random(uint64_t *state);
uint64_t sim_random_below(uint64_t *state, uint64_t bound);
float sim_random_f32(uint64_t *state);
void sim_random_fill(uint64_t *state, float *value, uint64_t count);

/* sim_same_f32 - but for roundings: to 1 part in 10000 of the larger one, or of `scale`. 0 or -GN_EBADMSG. */
int sim_same_f32(const char *what, const float *got, const float *want, uint64_t count, float scale,
                 struct gn_error *error);
int sim_same_u32(const char *what, const uint32_t *got, const uint32_t *want, uint64_t count,
                 struct gn_error *error);

/*
 * sim_buffers - allocate buffers one behind the other. Returns 0, or a code with a message.
 */
struct sim_wanted {
	struct sim_buffer *buffer;
	uint64_t bytes;
	enum sim_placement placement;
};
int sim_buffers(struct sim_memory *memory, const char *workload, const struct sim_wanted *wanted,
                uint32_t count, struct gn_error *error);

/* sim_state - zeroed memory for a workload; NULL with a message. The caller frees it. */
void *sim_state(size_t bytes, const char *workload, struct gn_error *error);

/* Compressed sparse rows, columns ascending in a row. */
struct sim_csr {
	uint32_t rows;
	uint64_t entries;
	uint32_t *offset; /* rows + 1 */
	uint32_t *column;
	float *value;
};

/*
 * sim_csr_random - entries at random places, all different. normal: those of a column add up to 1.
 * Returns 0 or -GN_ENOMEM, and then holds nothing.
 */
int sim_csr_random(struct sim_csr *m, uint32_t rows, uint64_t entries, int normal, uint64_t *random);
void sim_csr_fini(struct sim_csr *m);

/* sim_csr_copy - into buffers that are large enough. */
void sim_csr_copy(const struct sim_csr *m, const struct sim_buffer *offset, const struct sim_buffer *column,
                  const struct sim_buffer *value);

/*
 * sim_graph_get - the graph of a search: request's file, or one that is drawn; its size is "vertices, mean
 * degree".
 * Returns 0 or a code with a message; gn_graph_fini in any case.
 */
int sim_graph_get(struct gn_graph *g, const struct sim_request *request, const char *workload,
                  struct gn_error *error);

/* sim_graph_largest - the vertex of the highest degree, from which searches begin. */
uint32_t sim_graph_largest(const struct gn_graph *g);

/* A recorded stream that is run: the state of workloads that do so. */
struct sim_replay {
	struct sim_stream *stream;
	struct sim_buffer memory;
};

/*
 * sim_replay_open - its memory, interleaved; replay is zeroed before. Codes as sim_stream_open; name is for
 * messages. The others are next, check and destroy of a workload. A stream has no values: they are compared
 * when it is recorded, and check only says whether all of it was run.
 */
int sim_replay_open(struct sim_replay *replay, int fd, const char *name, struct sim_memory *memory,
                    struct gn_error *error);
int sim_replay_next(void *replay, struct sim_launch *launch);
int sim_replay_check(void *replay, struct gn_error *error);
void sim_replay_destroy(void *replay);

/* ---- lanes ---- */

/* sim_items - the global number of each lane's item; returns those below count. */
static inline uint64_t sim_items(const struct sim_wave *w, uint32_t *item, uint64_t count)
{
	uint64_t lanes = 0;

	for (uint32_t l = 0; l < SIM_LANES; l++) {
		const uint64_t t = sim_wave_item(w, l);

		item[l] = (uint32_t)t;
		lanes |= (uint64_t)(t < count) << l;
	}
	return lanes & sim_wave_lanes(w);
}

/* sim_load_uniform - the same element for all lanes, by a vector load: one line. */
static inline float sim_load_uniform_f32(struct sim_wave *w, uint64_t lanes, const struct sim_buffer *b,
                                         uint32_t element)
{
	uint32_t index[SIM_LANES];
	float value[SIM_LANES];

	for (uint32_t l = 0; l < SIM_LANES; l++)
		index[l] = element;
	value[lanes ? __builtin_ctzll(lanes) : 0] = 0;
	sim_load_f32(w, lanes, b, index, value);
	return value[lanes ? __builtin_ctzll(lanes) : 0];
}

/* sim_launch_row - a launch over a row of items; its work-groups are not said to be independent. */
static inline void sim_launch_row(struct sim_launch *l, const char *name, sim_kernel_fn *kernel,
                                  const void *arguments, uint64_t items, uint32_t group)
{
	const struct sim_launch row = {name, kernel, arguments, {(uint32_t)items, 1}, {group, 1}, 0, 0, 0, 0};

	*l = row;
}

extern const struct sim_workload sim__atax, sim__bfs, sim__bicg, sim__pr, sim__spmv, sim__km, sim__mm,
    sim__mm_right, sim__mt, sim__st, sim__bs, sim__sc, sim__aes, sim__fir, sim__add, sim__phases,
    sim__grapnel_bfs, sim__stream;

#endif
