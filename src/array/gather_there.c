/* SPDX-License-Identifier: Apache-2.0 */
#include <array/gather_there.h>

#include <stdio.h>

/*
 * Rows that are larger fill whole sectors of the link, and loads of them are as fast. With several GPUs each
 * writes its part of the rows scattered, so only the smallest rows are worth it (docs/peer.md).
 */
enum { MOST_OF_ONE = 32, MOST_OF_SEVERAL = 8, BLOCK_THREADS = 256 };

int gn_there_find(const struct gn_array *array, struct simt_spread *found)
{
	/* An array with a sample notes its rows when they are moved in the usual way. */
	return array->memory && !array->sample && simt__spread_at(array->memory, found);
}

/* Do the GPUs that have the rows gather them? */
static int is_worth_it(const struct simt_spread *spread, struct simt_machine *machine,
                       const struct gn_array *array, const struct gn_batch *batch)
{
	const uint64_t row_bytes = (uint64_t)batch->elements << array->element_log2;

	return row_bytes <= (spread->devices == 1 ? MOST_OF_ONE : MOST_OF_SEVERAL) &&
	       simt__spread_reaches(spread, machine, batch->index) &&
	       simt__spread_reaches(spread, machine, batch->rows);
}

static int open_machine(struct gn_there *t, const struct simt_spread *spread, unsigned device,
                        struct simt_machine **machine, struct gn_error *error)
{
	struct simt_options options = {0};
	struct simt_info info;
	char name[24];
	unsigned k = 0;
	int rc;

	while (k < t->machines && t->device[k] != device)
		k++;
	if (k == t->machines) {
		if (k == SIMT_SPREAD_MOST)
			return gn_error_set(
			    error, -GN_ENOMEM,
			    "gather: a workspace works with %d GPUs at most; create another one",
			    SIMT_SPREAD_MOST);
		simt_describe(spread->machine, &info);
		snprintf(name, sizeof name, info.is_cuda ? "cuda:%u" : "cpu", device);
		options.name = name;
		rc = simt_open(&t->machine[k], &options, error);
		if (rc)
			return rc;
		t->device[k] = device;
		t->machines++;
	}
	*machine = t->machine[k];
	return 0;
}

/* As many threads as the machine runs at once. */
static struct simt_grid grid_of(const struct simt_machine *machine)
{
	struct simt_grid grid = {0, BLOCK_THREADS, sizeof(struct gn__job)};
	struct simt_info info;

	simt_describe(machine, &info);
	/* The kernel leaves room for twice the threads that simt_describe names. */
	grid.blocks = info.is_cuda ? 2 * info.resident_threads / BLOCK_THREADS : info.processors;
	return grid;
}

static unsigned log2_of(uint64_t power)
{
	unsigned log2 = 0;

	while (power >> log2 > 1)
		log2++;
	return log2;
}

/* The machine of the stream gathers all by itself. */
static int launch_here(struct simt_stream *stream, struct gn_gather_there_args *args, struct gn_error *error)
{
	int rc;

	args->devices = 1;
	args->device = 0;
	rc = simt_launch_on(stream, &gn_gather_there_kernel, grid_of(stream->machine), args, error);
	return gn_error_prefix(error, rc, "gather");
}

/* Every GPU begins after what is on the stream. */
static int fork_all(struct simt_machine *const *machine, unsigned count, struct simt_stream *stream,
                    struct gn_error *error)
{
	for (unsigned k = 0; k < count; k++)
		if (simt__stream_follow(machine[k]->own, stream, error))
			return gn_error_prefix(error, -GN_EIO, "gather");
	return 0;
}

/* The stream goes on after every GPU. */
static int join_all(struct simt_machine *const *machine, unsigned count, struct simt_stream *stream,
                    struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < count; k++)
		if (simt__stream_follow(stream, machine[k]->own, error))
			rc = gn_error_prefix(error, -GN_EIO, "gather");
	return rc;
}

static int launch_all(struct simt_machine *const *machine, struct gn_gather_there_args *args,
                      struct gn_error *error)
{
	int rc = 0;

	for (args->device = 0; args->device < args->devices && !rc; args->device++) {
		rc = simt_launch(machine[args->device], &gn_gather_there_kernel,
		                 grid_of(machine[args->device]), args, error);
		if (rc)
			gn_error_prefix(error, rc, "gather");
	}
	return rc;
}

/* The GPUs work side by side. After a failure none of them uses the caller's memory any more. */
static int launch_there(struct simt_machine *const *machine, struct simt_stream *stream,
                        struct gn_gather_there_args *args, struct gn_error *error)
{
	struct gn_error other = {0, ""};
	int rc = fork_all(machine, args->devices, stream, error);

	rc = rc ? rc : launch_all(machine, args, error);
	if (join_all(machine, args->devices, stream, rc ? &other : error) && !rc)
		rc = -GN_EIO;
	for (unsigned k = 0; k < args->devices && rc; k++)
		simt_wait(machine[k], NULL); /* refused in a capture, where nothing runs */
	return rc;
}

int gn_there_gather(struct gn_there *there, const struct simt_spread *spread, struct simt_stream *stream,
                    const struct gn_array *array, const struct gn_batch *batch, struct gn_error *error)
{
	struct simt_machine *machine[SIMT_SPREAD_MOST];
	struct gn_gather_there_args args;
	int rc = 0;

	args.array = *array;
	args.batch = *batch;
	args.first = (uint64_t)(array->memory - spread->memory);
	args.piece_log2 = log2_of(spread->piece_bytes);
	args.devices = spread->devices;
	if (!is_worth_it(spread, stream->machine, array, batch))
		return launch_here(stream, &args, error);
	for (unsigned k = 0; k < spread->devices && !rc; k++)
		rc = open_machine(there, spread, spread->device[k], &machine[k], error);
	return rc ? rc : launch_there(machine, stream, &args, error);
}

void gn_there_close(struct gn_there *there)
{
	for (unsigned k = 0; k < there->machines; k++)
		simt_close(there->machine[k]);
	there->machines = 0;
}
