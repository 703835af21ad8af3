/* SPDX-License-Identifier: Apache-2.0 */
#include "scope/mpi/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool begun;
static const char *missing = "start it under an MPI launcher: mpirun -n 2 grapnel scope";

/* ---- the begin and the end ---- */

/*
 * What launchers tell their processes; without one nothing is to be gained from MPI, and it takes a second.
 */
static bool launched(void)
{
	return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMI_SIZE") || getenv("PMIX_RANK");
}

void scope_machine_find_ranks(struct scope_machine *m)
{
	int level = MPI_THREAD_SINGLE, rank = 0, ranks = 1;

	if (begun || !launched() || MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
		return;
	begun = true;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	m->rank = (uint32_t)rank;
	m->ranks = (uint32_t)ranks;
	if (level < MPI_THREAD_SERIALIZED)
		missing = "this MPI allows calls from one thread only";
	else
		missing = ranks < 2 ? "needs two processes; the launcher started one" : NULL;
}

const char *scope_ranks_missing(void)
{
	return missing;
}

void scope_ranks_end(void)
{
	const struct scope_rank_command end = {SCOPE_RANK_END, 0, 0, 0};
	int ranks = 0;

	if (!begun)
		return;
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int k = 1; k < ranks; k++)
		scope_rank_ask(k, &end, NULL);
	MPI_Finalize();
}

/* ---- rank 0 ---- */

int scope_rank_ask(int peer, const struct scope_rank_command *c, struct gn_error *e)
{
	struct scope_rank_report report;
	int code = MPI_Send(c, sizeof *c, MPI_BYTE, peer, SCOPE_TAG_COMMAND, MPI_COMM_WORLD);

	if (code == MPI_SUCCESS)
		code = MPI_Recv(&report, sizeof report, MPI_BYTE, peer, SCOPE_TAG_REPORT, MPI_COMM_WORLD,
		                MPI_STATUS_IGNORE);
	if (code != MPI_SUCCESS)
		return scope_rank_check(code, "asking another rank", e);
	return report.rc ? gn_error_set(e, (int)report.rc, "rank %d: %.230s", peer, report.text) : 0;
}

/* ---- the others ---- */

/* Asleep while nothing is measured with this rank: it must not disturb what is. */
static int next(struct scope_rank_command *c, bool awake, struct gn_error *e)
{
	int there = awake, code = MPI_SUCCESS;

	while (!there && code == MPI_SUCCESS) {
		code = MPI_Iprobe(0, SCOPE_TAG_COMMAND, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
		if (!there)
			usleep(1000);
	}
	if (code == MPI_SUCCESS)
		code =
		    MPI_Recv(c, sizeof *c, MPI_BYTE, 0, SCOPE_TAG_COMMAND, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return scope_rank_check(code, "waiting for rank 0", e);
}

static int answer(int rc, const struct gn_error *said, struct gn_error *e)
{
	struct scope_rank_report report = {rc, ""};

	snprintf(report.text, sizeof report.text, "%.*s", (int)sizeof report.text - 1, said->text);
	return scope_rank_check(
	    MPI_Send(&report, sizeof report, MPI_BYTE, 0, SCOPE_TAG_REPORT, MPI_COMM_WORLD),
	    "answering rank 0", e);
}

/* One command but a part; what it says goes into the answer. */
static int obey(const struct scope_rank_command *c, struct scope_rank_fixture *b, struct gn_error *said)
{
	switch ((enum scope_rank_word)c->word) {
	case SCOPE_RANK_OPEN: return scope_fixture_open(b, (enum scope_rank_part)c->part, c->bytes, said);
	case SCOPE_RANK_CHECK: return scope_fixture_check(b, c->operations, said);
	case SCOPE_RANK_PART: scope_fixture_spoil(b); return 0;
	case SCOPE_RANK_CLOSE: scope_fixture_close(b); return 0;
	default: return 0;
	}
}

int scope_ranks_serve(struct gn_error *e)
{
	struct scope_rank_fixture fixture = {0};
	struct scope_rank_command c = {0};
	int rc = 0;

	while (!rc && c.word != SCOPE_RANK_END) {
		struct gn_error said = {0};

		rc = next(&c, fixture.out != NULL, e);
		if (!rc)
			rc = answer(obey(&c, &fixture, &said), &said, e);
		if (!rc && c.word == SCOPE_RANK_PART)
			rc = scope_part_run(&fixture, (enum scope_rank_part)c.part, c.operations, e);
	}
	scope_fixture_close(&fixture);
	MPI_Finalize();
	return rc;
}
