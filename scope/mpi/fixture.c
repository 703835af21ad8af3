/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/mpi/ranks.h"

#include <stdlib.h>
#include <string.h>

#include "scope/pattern.h"

enum { WINDOW_BYTES = 4 << 20, PAGE = 4096 };

int scope_rank_check(int code, const char *what, struct gn_error *e)
{
	char words[MPI_MAX_ERROR_STRING] = "";
	int length;

	if (code == MPI_SUCCESS)
		return 0;
	MPI_Error_string(code, words, &length);
	return gn_error_set(e, -GN_EIO, "%s: %.200s", what, words);
}

/* ---- memory ---- */

static int own_rank(void)
{
	int rank = 0;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return rank;
}

/* Two at least, so that a message can be on its way while the one before is taken in. */
static uint64_t window_of(enum scope_rank_part part, uint64_t bytes)
{
	const uint64_t fit = WINDOW_BYTES / bytes;

	const uint64_t most = SCOPE_MOST_WINDOW;

	return part == SCOPE_TURNS ? 1 : fit > most ? most : fit < 2 ? 2 : fit;
}

int scope_fixture_open(struct scope_rank_fixture *b, enum scope_rank_part part, uint64_t bytes,
                       struct gn_error *e)
{
	b->bytes = bytes;
	b->window = window_of(part, bytes);
	b->sends = part != SCOPE_ONE_WAY || !own_rank();
	b->receives = part != SCOPE_ONE_WAY || own_rank();
	b->out = (char *)malloc(b->window * bytes);
	b->in = (char *)malloc(b->window * bytes);
	if (!b->out || !b->in) {
		scope_fixture_close(b);
		return gn_error_set(e, -GN_ENOMEM, "out of memory for %llu messages of %llu bytes",
		                    (unsigned long long)b->window, (unsigned long long)bytes);
	}
	scope_fill(b->out, b->window * bytes, (uint64_t)own_rank() + 100);
	scope_fill(b->in, b->window * bytes, 1);
	return 0;
}

void scope_fixture_close(struct scope_rank_fixture *b)
{
	free(b->out);
	free(b->in);
	b->out = b->in = NULL;
}

void scope_fixture_spoil(struct scope_rank_fixture *b)
{
	const uint64_t step = b->bytes < PAGE ? b->bytes : (uint64_t)PAGE;

	for (uint64_t at = 0; at < b->window * b->bytes; at += step)
		b->in[at] = (char)~b->in[at];
}

int scope_fixture_check(const struct scope_rank_fixture *b, uint64_t operations, struct gn_error *e)
{
	const uint64_t used = operations < b->window ? operations : b->window;

	return b->receives
	           ? scope_check(b->in, used * b->bytes, (uint64_t)b->peer + 100, "the messages received", e)
	           : 0;
}

/* ---- parts ---- */

/* One message to and one from the other, again and again; rank 0 begins. */
static int turns(struct scope_rank_fixture *b, uint64_t operations)
{
	uint64_t messages = 2 * operations;
	int code = MPI_SUCCESS;

	for (bool sends = !own_rank(); messages && code == MPI_SUCCESS; sends = !sends, messages--)
		code =
		    sends ? MPI_Send(b->out, (int)b->bytes, MPI_BYTE, b->peer, SCOPE_TAG_DATA, MPI_COMM_WORLD)
		          : MPI_Recv(b->in, (int)b->bytes, MPI_BYTE, b->peer, SCOPE_TAG_DATA, MPI_COMM_WORLD,
		                     MPI_STATUS_IGNORE);
	return code;
}

/* Up to a window of messages under way, each direction. */
static int window(struct scope_rank_fixture *b, uint64_t count)
{
	MPI_Request request[2 * SCOPE_MOST_WINDOW];
	int code = MPI_SUCCESS, requests = 0;

	for (uint64_t k = 0; k < count && b->receives && code == MPI_SUCCESS; k++)
		code = MPI_Irecv(b->in + k * b->bytes, (int)b->bytes, MPI_BYTE, b->peer, SCOPE_TAG_DATA,
		                 MPI_COMM_WORLD, &request[requests++]);
	for (uint64_t k = 0; k < count && b->sends && code == MPI_SUCCESS; k++)
		code = MPI_Isend(b->out + k * b->bytes, (int)b->bytes, MPI_BYTE, b->peer, SCOPE_TAG_DATA,
		                 MPI_COMM_WORLD, &request[requests++]);
	return code == MPI_SUCCESS ? MPI_Waitall(requests, request, MPI_STATUSES_IGNORE) : code;
}

/* It is over when the other has said that all has come. */
static int agree_on_end(const struct scope_rank_fixture *b)
{
	char mine = 1, other;

	return MPI_Sendrecv(&mine, 1, MPI_BYTE, b->peer, SCOPE_TAG_END, &other, 1, MPI_BYTE, b->peer,
	                    SCOPE_TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int scope_part_run(struct scope_rank_fixture *b, enum scope_rank_part part, uint64_t operations,
                   struct gn_error *e)
{
	int code = MPI_SUCCESS;

	if (part == SCOPE_TURNS)
		return scope_rank_check(turns(b, operations), "messages in turn", e);
	for (uint64_t done = 0; done < operations && code == MPI_SUCCESS; done += b->window)
		code = window(b, operations - done < b->window ? operations - done : b->window);
	if (code == MPI_SUCCESS)
		code = agree_on_end(b);
	return scope_rank_check(code, "messages in windows", e);
}
