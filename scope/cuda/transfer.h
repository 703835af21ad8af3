/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.h - rows that move bytes from one memory to another: copies by engines and by kernels, loads and
 * stores by kernels.
 *
 *   way       one direction of a row: how, from what memory to what memory, by which GPU
 *   flow      a way with its memory and its lane, in a cell that is open
 *   slot      an operation's part of a flow's memory. Operations go round, so that no cache has what comes
 *             next: over
 *             2.5 times L2 where a cache could serve it, otherwise over 16 MiB
 *
 * A sample poisons the slots it will write, empties L2 (and the host's caches, where the row says so), and
 * times its operations behind a gate. Verified are the slots of the last sample: every word, by the GPU and,
 * where the memory is the host's, by the host too.
 */
#ifndef GN_SCOPE_CUDA_TRANSFER_H
#define GN_SCOPE_CUDA_TRANSFER_H

#include "scope/cuda/memory.h"

enum scope_method {
	SCOPE_COPY,        /* cudaMemcpyAsync */
	SCOPE_COPY_PEER,   /* cudaMemcpyPeerAsync */
	SCOPE_COPY_BATCH,  /* one cudaMemcpyBatchAsync for all operations of a sample */
	SCOPE_COPY_KERNEL, /* a kernel that loads and stores 16 bytes a thread, four at once */
	SCOPE_COPY_BULK,   /* a kernel of cp.async.bulk through shared memory */
	SCOPE_READ,        /* a kernel that loads and sums up: Comm|Scope's section 3.3 */
	SCOPE_WRITE,       /* a kernel that stores */
	SCOPE_LOCAL_READ,  /* the same of the GPU's own memory, with all threads that it has room for */
	SCOPE_LOCAL_WRITE,
};

/* Which GPU: that of "gpu" or "from", that of "to". */
enum { SCOPE_A, SCOPE_B };

struct scope_way {
	enum scope_method method;
	enum scope_kind from, to;
	uint8_t from_gpu, to_gpu, by; /* SCOPE_A, SCOPE_B; host memory is filled by its GPU */
	uint8_t times; /* operations for one of the sample's: 2 for traffic that is only there to be met */
	bool counted;
};

enum {
	SCOPE_NODES = 1,     /* a cell for each NUMA node: memory and thread are there */
	SCOPE_FLUSHED = 2,   /* the host's caches are flushed before each sample */
	SCOPE_UNGATED = 4,   /* the calls wait for the host's part, so that they cannot stand behind a gate */
	SCOPE_PEERS = 8,     /* peer access is on */
	SCOPE_NO_PEERS = 16, /* and off */
	SCOPE_COLD = 32,     /* L2 could serve it: it is emptied, and operations go round over more */
	SCOPE_WIDTHS = 64,   /* cells for 4 and for 16 bytes a thread */
	SCOPE_WALL = 128,    /* more than one GPU begins: the host's clock */
	SCOPE_BULK = 256,    /* needs cp.async.bulk: compute capability 9.0 */
};

struct scope_flow {
	struct scope_way way;
	uint32_t from_gpu, to_gpu, by; /* GPUs */
	struct scope_memory from, to, sum;
	uint64_t seed, expected;
	uint64_t next, first, count; /* slots: of the next sample, of the last one */
};

struct scope_transfer {
	const struct scope_transfer_row *row;
	const struct scope_machine *machine;
	struct scope_lanes lanes;
	struct scope_flow *flow; /* flow k is on lane k */
	uint32_t flows, room;
	uint64_t bytes, slots;
	uint32_t width, processors;
	int32_t node;
	struct scope_node_visit visit;
	struct scope_flush flush[SCOPE_MOST_GPUS]; /* of the GPUs that take part, when the row is cold */
};

/* A row, and what is common to all functions of it. The row comes first: a pointer to it is one to this. */
struct scope_transfer_row {
	struct scope_row row;
	struct scope_way way[2];
	uint32_t ways, flags;
	uint64_t least, most; /* bytes */
	/* instead of way[]: adds the flows of a cell */
	int (*build)(struct scope_transfer *t, const struct scope_cell *c, struct gn_error *e);
};

/* scope_transfers: of rows with way[]; rows that plan otherwise put a table of the same functions together.
 */
extern const struct scope_functions scope_transfers;

int scope_transfer_plan(const struct scope_row *row, const struct scope_machine *m, struct scope_plan *p);
int scope_transfer_open(const struct scope_cell *c, const struct scope_machine *m, void *state,
                        struct gn_error *e);
int scope_transfer_sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e);
int scope_transfer_verify(void *state, struct gn_error *e);
void scope_transfer_close(void *state);

/* scope_way_of - a way of one GPU, or to and from it. times > 1: traffic that is only there to be met. */
constexpr struct scope_way scope_way_of(enum scope_method method, enum scope_kind from, enum scope_kind to,
                                        uint8_t times = 1)
{
	return scope_way{method, from, to, SCOPE_A, SCOPE_A, SCOPE_A, times, times == 1};
}

/* scope_transfer_make - a row of one way or two. */
constexpr struct scope_transfer_row scope_transfer_make(const char *name, const char *summary,
                                                        const char *paper, const char *direction,
                                                        const char *limit, uint32_t flags, uint64_t least,
                                                        struct scope_way a, struct scope_way b = {},
                                                        const char *second = NULL)
{
	return scope_transfer_row{{name, summary, paper, direction, limit, second, SCOPE_BANDWIDTH,
	                           flags & SCOPE_WALL ? SCOPE_HOST_CLOCK : SCOPE_EVENTS, &scope_transfers},
	                          {a, b},
	                          b.times ? 2u : 1u,
	                          flags,
	                          least,
	                          4ull << 30,
	                          NULL};
}

/* scope_transfer_missing - what these flags need and a GPU of the machine has not, or NULL. */
const char *scope_transfer_missing(const struct scope_machine *m, uint32_t flags);

/* scope_transfer_add - one more flow; memory comes later. */
int scope_transfer_add(struct scope_transfer *t, const struct scope_way *way, uint32_t from_gpu,
                       uint32_t to_gpu, uint32_t by, struct gn_error *e);

/*
 * scope_most_bytes - of one buffer when a cell has so many of the host and of a GPU: an eighth of what is
 * free, together.
 */
uint64_t scope_most_bytes(const struct scope_machine *m, uint32_t host_buffers, uint32_t gpu_buffers,
                          uint64_t most);

/* ---- kernels (move.cu) ---- */

/* scope_move_load - onto the current GPU: every kernel of this file. */
int scope_move_load(struct gn_error *e);

/*
 * Launched on the stream's GPU, not waited for. width: 4 or 16 bytes a thread. sum: += every 32-bit word that
 * was read.
 */
int scope_move_copy(void *to, const void *from, uint64_t bytes, uint32_t processors, cudaStream_t s,
                    struct gn_error *e);
int scope_move_read(const void *from, uint64_t bytes, uint32_t width, unsigned long long *sum, cudaStream_t s,
                    struct gn_error *e);
int scope_move_write(void *to, uint64_t bytes, uint64_t seed, uint32_t width, cudaStream_t s,
                     struct gn_error *e);

/* scope_move_expected - sum += what scope_move_read finds in a pattern of this seed, without reading any. */
int scope_move_expected(uint64_t bytes, uint64_t seed, unsigned long long *sum, cudaStream_t s,
                        struct gn_error *e);

/* scope_peer - access between two GPUs, both ways, on or off. */
int scope_peer(uint32_t a, uint32_t b, bool on, struct gn_error *e);

#endif
