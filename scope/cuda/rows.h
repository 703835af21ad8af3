/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the rows of this folder, for rows.cu to list. */
#ifndef GN_SCOPE_CUDA_ROWS_H
#define GN_SCOPE_CUDA_ROWS_H

#include "scope/cuda/transfer.h"

/* Each table is as long as its enum says: rows.cu lists all of it. */

/* copy_rows.cu */
enum { SCOPE_COPY_ROWS = 28 };
extern const struct scope_transfer_row scope_copies[SCOPE_COPY_ROWS];

/* peer_rows.cu */
enum { SCOPE_PEER_ROWS = 17 };
extern const struct scope_transfer_row scope_peers[SCOPE_PEER_ROWS];

/* many_rows.cu */
enum { SCOPE_MANY_ROWS = 5 };
extern const struct scope_transfer_row scope_many[SCOPE_MANY_ROWS];

/* managed.cu */
enum scope_how { SCOPE_DEMAND, SCOPE_PREFETCH, SCOPE_PREFETCH_BATCH, SCOPE_DISCARD_BATCH };
enum scope_where { SCOPE_AT_HOST, SCOPE_AT_GPU };

struct scope_managed_row {
	struct scope_row row; /* first: a pointer to it is one to this */
	enum scope_how how;
	enum scope_where from, to;
	bool both;
};

int scope_managed_open(const struct scope_cell *c, const struct scope_machine *m, void **state,
                       struct gn_error *e);
int scope_managed_sample(void *state, uint64_t operations, struct scope_sample *s, struct gn_error *e);
int scope_managed_verify(void *state, struct gn_error *e);
void scope_managed_close(void *state);

/* managed_rows.cu */
enum { SCOPE_MANAGED_ROWS = 13 };
extern const struct scope_managed_row scope_manageds[SCOPE_MANAGED_ROWS];

/* allocation.cu */
enum scope_owner {
	SCOPE_BY_MALLOC,         /* cudaMalloc */
	SCOPE_BY_POOL,           /* cudaMallocAsync from a pool that keeps what comes back */
	SCOPE_BY_RETURNING_POOL, /* the same of one that gives it back when the stream is synchronised */
	SCOPE_BY_HOST_ALLOC,     /* cudaHostAlloc */
	SCOPE_BY_MANAGED,        /* cudaMallocManaged */
	SCOPE_BY_REGISTER,       /* cudaHostRegister of memory that is there */
};

struct scope_allocation_row {
	struct scope_row row; /* first */
	enum scope_owner owner;
	enum scope_kind pages; /* of registered memory */
};

enum { SCOPE_ALLOCATION_ROWS = 8 };
extern const struct scope_allocation_row scope_allocations[SCOPE_ALLOCATION_ROWS];

/* calls.cu */
enum scope_call {
	SCOPE_CALL_LAUNCH,
	SCOPE_CALL_COPY,
	SCOPE_CALL_EVENT,
	SCOPE_CALL_SYNCHRONISE,
	SCOPE_CALL_LAUNCH_WAIT,
	SCOPE_CALL_GRAPH,
	SCOPE_CALL_INSTANTIATE,
	SCOPE_CALL_KERNELS,    /* on the device: kernels behind each other */
	SCOPE_CALL_GRAPH_NODES /* on the device: a graph of kernels behind each other */
};

struct scope_call_row {
	struct scope_row row; /* first */
	enum scope_call call;
};

enum { SCOPE_CALL_ROWS = 9 };
extern const struct scope_call_row scope_calls[SCOPE_CALL_ROWS];

#endif
