/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mpi/ranks.h - how rank 0 has another rank do its part of a cell: a command is a message, and a report comes
 * back.
 *
 * A sample: rank 0 sends the command, the other spoils what it is to receive and says that it is ready, both
 * do their part (scope_part_run), and what ends it is a message of the part itself. The clock runs from
 * "ready" to that message.
 */
#ifndef GN_SCOPE_MPI_RANKS_H
#define GN_SCOPE_MPI_RANKS_H

#include "scope/ranks.h"

#define OMPI_SKIP_MPICXX 1 /* the C interface also where this is compiled as C++ */
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

enum scope_rank_word { SCOPE_RANK_OPEN, SCOPE_RANK_PART, SCOPE_RANK_CHECK, SCOPE_RANK_CLOSE, SCOPE_RANK_END };
enum scope_rank_part { SCOPE_TURNS, SCOPE_ONE_WAY, SCOPE_BOTH_WAYS };
enum { SCOPE_TAG_COMMAND = 1, SCOPE_TAG_REPORT, SCOPE_TAG_DATA, SCOPE_TAG_END, SCOPE_MOST_WINDOW = 64 };

struct scope_rank_command {
	uint64_t word, part; /* enum scope_rank_word, enum scope_rank_part */
	uint64_t bytes, operations;
};

/* What a command came to. */
struct scope_rank_report {
	int64_t rc;
	char text[240];
};

/* Both ends' memory: a buffer for every message of a window, out and in. */
struct scope_rank_fixture {
	int peer;
	bool sends, receives; /* here, in this part */
	uint64_t bytes, window;
	char *out, *in;
};

/* scope_rank_check - 0, or -GN_EIO with MPI's words. */
int scope_rank_check(int code, const char *what, struct gn_error *e);

/* The memory of a part, filled. 0, -GN_ENOMEM. */
int scope_fixture_open(struct scope_rank_fixture *b, enum scope_rank_part part, uint64_t bytes,
                       struct gn_error *e);
void scope_fixture_close(struct scope_rank_fixture *b);
void scope_fixture_spoil(struct scope_rank_fixture *b);

/* Is what came in what the peer sends? At most the first so many buffers of the window. 0, -GN_EIO. */
int scope_fixture_check(const struct scope_rank_fixture *b, uint64_t operations, struct gn_error *e);

/* This rank's part of so many operations. */
int scope_part_run(struct scope_rank_fixture *b, enum scope_rank_part part, uint64_t operations,
                   struct gn_error *e);

/* Rank 0: send a command to a peer and, but for a part, wait for its report. */
int scope_rank_ask(int peer, const struct scope_rank_command *c, struct gn_error *e);

/* Why rank 0 may not call MPI from the threads that measure, or NULL. */
const char *scope_ranks_missing(void);

#endif
