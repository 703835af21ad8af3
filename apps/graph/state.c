/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <stdlib.h>
#include <string.h>

#include "scan.h"

static uint64_t page_up(uint64_t bytes)
{
	return (bytes + GN_STATE_PAGE - 1) / GN_STATE_PAGE * GN_STATE_PAGE;
}

uint64_t gn_state_place_bytes(uint64_t vertices, uint32_t bytes_per_vertex)
{
	return page_up(vertices * bytes_per_vertex) + (uint64_t)GN_STATES * GN_STATE_PAGE;
}

int gn_state_begin(struct gn_scanner *s, struct gn_error *error)
{
	const struct gn_state_place *place = s->graph->state;
	int rc;

	if (!place)
		return 0;
	rc = gn_cache_flush(place->cache, error);
	return rc ? rc : gn_cache_invalidate(place->cache, error);
}

static int init_near(const struct gn_scanner *s, struct gn_state *state, struct gn_error *error)
{
	state->near = simt_alloc(s->machine, state->count * state->bytes, SIMT_DEVICE, error);
	if (state->near)
		return 0;
	return gn_error_set(error, -GN_ENOMEM,
	                    "%s: out of memory on the machine for the state of %llu vertices; keep it in a "
	                    "store (--state host), or take a machine with more memory",
	                    s->job, (unsigned long long)state->count);
}

/* What a job before has written becomes 0 again. */
static int clear(struct gn_state_place *place, uint64_t at, uint64_t end, struct gn_error *error)
{
	const uint64_t piece = 1 << 20, dirty = end < place->used ? end : place->used;
	void *zeros = calloc(1, piece);
	int rc = zeros ? 0
	               : gn_error_set(error, -GN_ENOMEM, "out of memory for %llu bytes of zeros",
	                              (unsigned long long)piece);

	for (; at < dirty && !rc; at += piece)
		rc = gn_store_write_host(place->store, at, zeros, dirty - at < piece ? dirty - at : piece,
		                         error);
	free(zeros);
	if (end > place->used)
		place->used = end;
	return rc;
}

static int init_far(struct gn_scanner *s, struct gn_state *state, struct gn_error *error)
{
	struct gn_state_place *place = s->graph->state;
	const struct gn_array_options how = {GN_PAGED,     place->cache, place->store,
	                                     s->state_end, state->count, state->bytes};
	int rc = gn_array_create(&state->far, s->machine, &how, error);

	if (rc)
		return rc;
	state->at = s->state_end;
	s->state_end = page_up(state->at + state->count * state->bytes);
	return clear(place, state->at, state->at + state->count * state->bytes, error);
}

int gn_state_init(struct gn_scanner *s, struct gn_state *state, uint32_t bytes, struct gn_error *error)
{
	memset(state, 0, sizeof *state);
	state->count = s->graph->vertices;
	state->bytes = bytes;
	s->state[s->states++] = state;
	return s->graph->state ? init_far(s, state, error) : init_near(s, state, error);
}

int gn_state_write(const struct gn_scanner *s, const struct gn_state *state, const void *from,
                   struct gn_error *error)
{
	const size_t bytes = state->count * state->bytes;

	if (state->near)
		return gn_scanner_machine(s, simt_move(s->machine, state->near, from, bytes, error), error);
	return gn_store_write_host(s->graph->state->store, state->at, from, bytes, error);
}

int gn_state_read(const struct gn_scanner *s, const struct gn_state *state, void *to, struct gn_error *error)
{
	const struct gn_state_place *place = s->graph->state;
	const size_t bytes = state->count * state->bytes;
	int rc;

	if (state->near)
		return gn_scanner_machine(s, simt_move(s->machine, to, state->near, bytes, error), error);
	rc = gn_cache_flush_range(place->cache, place->store, state->at, bytes, error);
	return rc ? rc : gn_store_read_host(place->store, state->at, to, bytes, error);
}

int gn_state_failure(const struct gn_scanner *s, struct gn_error *error)
{
	int rc = 0;

	for (uint32_t k = 0; k < s->states && !rc; k++)
		rc = s->state[k]->near ? 0 : gn_array_failure(&s->state[k]->far, error);
	return rc;
}

void gn_state_fini(const struct gn_scanner *s)
{
	for (uint32_t k = 0; k < s->states; k++)
		if (s->state[k]->near)
			simt_free(s->machine, s->state[k]->near);
		else
			gn_array_destroy(&s->state[k]->far, s->machine);
}
