/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream - a recorded access stream (sim/stream.h) once more: the timing of it, on any machine. A stream has
 * no values; whoever recorded it has compared them, or it has no end and is not read.
 */
#include <sim/workloads/support.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int sim_replay_open(struct sim_replay *r, int fd, const char *name, struct sim_memory *memory,
                    struct gn_error *error)
{
	struct sim_wanted wanted = {&r->memory, 0, SIM_INTERLEAVED};
	const int rc = sim_stream_open(&r->stream, fd, name, error);

	if (rc)
		return rc;
	wanted.bytes = sim_stream_pages(r->stream) * SIM_PAGE_BYTES;
	wanted.bytes += wanted.bytes ? 0 : 1; /* nothing was accessed */
	return sim_buffers(memory, name, &wanted, 1, error);
}

int sim_replay_next(void *replay, struct sim_launch *launch)
{
	struct sim_replay *r = (struct sim_replay *)replay;

	return sim_stream_next(r->stream, r->memory.address, launch);
}

int sim_replay_check(void *replay, struct gn_error *error)
{
	return sim_stream_ended(((const struct sim_replay *)replay)->stream)
	           ? 0
	           : gn_error_set(error, -GN_EBADMSG, "stream: the recorded stream was not run to its end");
}

void sim_replay_destroy(void *replay)
{
	if (replay)
		sim_stream_close(((struct sim_replay *)replay)->stream);
	free(replay);
}

static int create(void **state, const struct sim_request *request, struct sim_memory *memory,
                  struct gn_error *error)
{
	struct sim_replay *r;
	int fd, rc;

	if (!request->input)
		return gn_error_set(error, -GN_EINVAL,
		                    "stream: --input FILE is needed; give a file that --record has written");
	r = (struct sim_replay *)sim_state(sizeof *r, "stream", error);
	*state = r;
	if (!r)
		return -GN_ENOMEM;
	fd = open(request->input, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return gn_error_set(error, -GN_ENOENT, "%s: %s", request->input, strerror(errno));
	rc = sim_replay_open(r, fd, request->input, memory, error);
	close(fd);
	return rc;
}

const struct sim_workload sim__stream = {
    "stream",
    "what --record has written, from --input; its results were compared then",
    "none",
    create,
    sim_replay_next,
    sim_replay_check,
    sim_replay_destroy,
    1,
    1,
    0};
