/* SPDX-License-Identifier: Apache-2.0 */
#include "tiles.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int slot_open(struct gn_tiled *t, unsigned slot, uint64_t bytes, uint32_t element_bytes,
                     struct gn_error *error)
{
	struct gn_array_options o = {GN_DIRECT, NULL, NULL, 0, bytes / element_bytes, element_bytes};
	char uri[64];
	int rc;

	snprintf(uri, sizeof uri, "host:%llu?memory=device", (unsigned long long)bytes);
	rc = gn_store_open(&t->store[slot], t->machine, uri, NULL, error);
	if (rc)
		return rc;
	o.store = t->store[slot];
	rc = gn_array_create(&t->array[slot], t->machine, &o, error);
	if (rc)
		gn_store_close(t->store[slot]);
	return rc;
}

int gn_tiled_open(struct gn_tiled *t, struct simt_machine *machine, struct gn_store *far, uint64_t bytes,
                  uint32_t element_bytes, struct gn_error *error)
{
	int rc = 0;

	memset(t, 0, sizeof *t);
	t->machine = machine;
	t->far = gn_store_view_of(far)->memory;
	for (; t->slots < GN_TILES_SLOTS && !rc; t->slots += !rc)
		rc = slot_open(t, t->slots, bytes, element_bytes, error);
	return rc;
}

void gn_tiled_close(struct gn_tiled *t)
{
	while (t->slots) {
		gn_array_destroy(&t->array[--t->slots], t->machine);
		gn_store_close(t->store[t->slots]);
	}
}

static int stream_failed(int rc, struct gn_error *error)
{
	return gn_error_prefix(error, rc, "tile");
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static char *near_of(const struct gn_tiled *t, unsigned slot, uint64_t at)
{
	return gn_store_view_of(t->store[slot])->memory + at;
}

/* Host memory is pinned in pieces of so many bytes, and CUDA may refuse a copy that is of two of them. */
static const uint64_t pinned_piece = 1ull << 36;

int gn_tiled_in(const struct gn_tiled *t, struct simt_stream *stream, unsigned slot, uint64_t far,
                uint64_t near, uint64_t bytes, struct gn_error *error)
{
	int rc = 0;

	for (uint64_t part; bytes && !rc; far += part, near += part, bytes -= part) {
		part = least(bytes, pinned_piece - far % pinned_piece);
		rc = simt_stream_move(stream, near_of(t, slot, near), t->far + far, (size_t)part, error);
	}
	return stream_failed(rc, error);
}

int gn_tiled_out(const struct gn_tiled *t, struct simt_stream *stream, unsigned slot, uint64_t far,
                 uint64_t near, uint64_t bytes, struct gn_error *error)
{
	int rc = 0;

	for (uint64_t part; bytes && !rc; far += part, near += part, bytes -= part) {
		part = least(bytes, pinned_piece - far % pinned_piece);
		rc = simt_stream_move(stream, t->far + far, near_of(t, slot, near), (size_t)part, error);
	}
	return stream_failed(rc, error);
}

int gn_tiled_failure(struct gn_tiled *t, struct gn_error *error)
{
	int rc = 0;

	for (unsigned k = 0; k < t->slots && !rc; k++)
		rc = gn_array_failure(&t->array[k], error);
	return rc;
}

int gn_tiles_launch(struct simt_stream *stream, const struct simt_kernel *kernel, struct simt_grid grid,
                    const void *arguments, struct gn_error *error)
{
	int rc = simt_launch_on(stream, kernel, grid, arguments, error);

	return stream_failed(rc ? rc : simt_stream_wait(stream, error), error);
}

/* ---- a pass ---- */

struct worker {
	uint64_t count;
	int (*work)(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
	            struct gn_error *error);
	void *user;
	unsigned slot;
	struct simt_stream *stream;
	struct gn_error error; /* code 0: it went well */
};

/* Every second tile. */
static void *work_tiles(void *user)
{
	struct worker *w = (struct worker *)user;

	for (uint64_t tile = w->slot; tile < w->count; tile += GN_TILES_SLOTS)
		if (w->work(w->user, w->stream, w->slot, tile, &w->error))
			break;
	return NULL;
}

/* Slot 0 is this thread's, and slot 1 too if the system starts no other thread. */
static int work_all(struct worker w[GN_TILES_SLOTS], struct gn_error *error)
{
	pthread_t thread;
	const int alone = pthread_create(&thread, NULL, work_tiles, &w[1]);

	work_tiles(&w[0]);
	if (alone)
		work_tiles(&w[1]);
	else
		pthread_join(thread, NULL);
	for (unsigned k = 0; k < GN_TILES_SLOTS; k++)
		if (w[k].error.code)
			return gn_error_set(error, w[k].error.code, "%s", w[k].error.text);
	return 0;
}

int gn_tiles_run(struct simt_machine *machine, uint64_t count,
                 int (*work)(void *user, struct simt_stream *stream, unsigned slot, uint64_t tile,
                             struct gn_error *error),
                 void *user, struct gn_error *error)
{
	struct worker w[GN_TILES_SLOTS];
	int rc = 0;

	memset(w, 0, sizeof w);
	for (unsigned k = 0; k < GN_TILES_SLOTS && !rc; k++) {
		w[k].count = count;
		w[k].work = work;
		w[k].user = user;
		w[k].slot = k;
		rc = simt_stream_create(&w[k].stream, machine, error);
	}
	if (!rc)
		rc = work_all(w, error);
	for (unsigned k = 0; k < GN_TILES_SLOTS; k++)
		simt_stream_destroy(w[k].stream);
	return rc;
}
