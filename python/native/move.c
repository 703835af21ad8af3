/* SPDX-License-Identifier: Apache-2.0 */
/* move.c - batches of rows between arrays and the caller's memory. */
#include "object.h"

#include <stdio.h>
#include <string.h>

/* ---- which workspace ---- */

static struct gn__way *find_way(struct gn__machine *m, uint64_t stream, uint64_t capture)
{
	for (unsigned k = 0; k < m->ways; k++)
		if (m->way[k].taken && m->way[k].stream == stream && m->way[k].capture == capture)
			return &m->way[k];
	return NULL;
}

/* A workspace that nobody has taken, or whose graph has ended. */
static struct gn__way *spare_way(struct gn__machine *m)
{
	for (unsigned k = 0; k < m->ways; k++)
		if (!m->way[k].taken)
			return &m->way[k];
	for (unsigned k = 0; k < m->ways; k++)
		if (m->way[k].taken && m->way[k].term && simt_load_acquire_sys_u32(&m->way[k].term->ended)) {
			gn__term_end(m->way[k].term);
			simt_stream_destroy(m->way[k].adopted);
			m->way[k].term = NULL;
			m->way[k].taken = 0;
			return &m->way[k];
		}
	return NULL;
}

/*
 * Two batches at once sort in two workspaces. A stream's batches follow one another. A graph is launched on
 * any stream, so each capture has a workspace of its own, as long as there is the graph.
 */
int gn__way_of(struct gn__machine *m, uint64_t stream, struct gn__way **way)
{
	const uint64_t per_thread = 2; /* cudaStreamPerThread: one number for the streams of all threads */
	struct gn_error error;
	uint64_t capture;
	int rc;

	if (stream == per_thread)
		return gn__failed(
		    -GN_EINVAL, 0, -1,
		    "the stream is CUDA's per-thread default stream, which cannot be told from that "
		    "of other threads; give a stream that was created");
	rc = gn__capture_of(stream, &capture);

	*way = rc ? NULL : find_way(m, stream, capture);
	if (rc || *way)
		return rc;
	*way = spare_way(m);
	if (!*way && capture)
		return gn__failed(
		    -GN_ENOBUFS, 0, -1,
		    "no workspace is left for one more capture; call Machine.reserve before it");
	if (!*way && !(rc = gn__add_way(m)))
		*way = &m->way[m->ways - 1];
	if (!rc && simt_stream_adopt(&(*way)->adopted, m->machine, (void *)(uintptr_t)stream, &error))
		rc = gn__failed_as(&error);
	if (rc)
		return rc;
	(*way)->taken = 1;
	(*way)->stream = stream;
	(*way)->capture = capture;
	(*way)->term = capture ? gn__term_of(stream) : NULL;
	return 0;
}

/* ---- failures ---- */

int gn__check(struct gn__object *o)
{
	const struct gn_failure *f = o->array.failure;
	uint32_t device;
	int64_t index;
	char text[sizeof gn_flat_failure()->text];
	struct gn_error error;
	int64_t row;

	if (simt_load_acquire_sys_u32(&f->state) != 2) /* else index and device are not there yet */
		return 0;
	index = (int64_t)f->index;
	device = f->device;
	if (!gn_array_failure(&o->array, &error))
		return 0;
	row = index < 0 ? -1 : index / (int64_t)o->elements;
	if (error.code == -GN_ERANGE && row < 0)
		snprintf(text, sizeof text,
		         "a row number is negative, or far past the end; the array has rows 0 to %llu",
		         (unsigned long long)o->rows - 1);
	else if (error.code == -GN_ERANGE)
		snprintf(text, sizeof text, "row %lld is past the end; the array has rows 0 to %llu",
		         (long long)row, (unsigned long long)o->rows - 1);
	else
		snprintf(text, sizeof text, "row %lld: %s", (long long)row, error.text);
	return gn__failed(error.code, device, row, text);
}

/* ---- a batch ---- */

struct course {
	struct gn__object *array;
	struct gn_gather *gather;
	struct simt_stream *stream; /* NULL: the machine's own */
	int scatter;
};

/* Launch pieces, each as large as the workspace, one after the other. */
static int launch(const struct course *c, const uint64_t *index, char *rows, uint64_t count)
{
	struct gn__object *o = c->array;
	const uint64_t row_bytes = (uint64_t)o->elements * o->element_bytes, most = o->machine->rows;
	struct gn_batch batch;
	struct gn_error error;
	int rc = 0;

	memset(&batch, 0, sizeof batch);
	batch.elements = o->elements;
	for (uint64_t at = 0; at < count && !rc; at += batch.count) {
		batch.index = index + at;
		batch.rows = rows + at * row_bytes;
		batch.count = count - at < most ? count - at : most;
		if (c->stream)
			rc = (c->scatter ? gn_scatter_rows_on : gn_gather_rows_on)(c->gather, c->stream,
			                                                           &o->array, &batch, &error);
		else
			rc = (c->scatter ? gn_scatter_rows : gn_gather_rows)(c->gather, &o->array, &batch,
			                                                     &error);
	}
	return rc ? gn__failed_as(&error) : 0;
}

/* The same on the machine's own stream, and wait for the end of it. */
static int launch_and_wait(const struct course *c, const uint64_t *index, char *rows, uint64_t count)
{
	struct simt_machine *machine = c->array->machine->machine;
	struct gn_error error;
	const int rc = launch(c, index, rows, count), waited = simt_wait(machine, &error);

	if (rc)
		return rc;
	return waited ? gn__failed_as(&error) : 0;
}

static int move(int64_t array, int scatter, uint64_t stream, const uint64_t *index, uint64_t count,
                char *rows)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	struct course c = {o, NULL, NULL, scatter};
	struct gn__way *way;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = gn__check(o);
	if (!rc && o->machine->is_cuda) {
		rc = gn__way_of(o->machine, stream, &way);
		if (!rc) {
			c.gather = way->gather;
			c.stream = way->adopted;
			rc = launch(&c, index, rows, count);
		}
	} else if (!rc) {
		c.gather = o->machine->own;
		rc = launch_and_wait(&c, index, rows, count);
		rc = rc ? rc : gn__check(o);
	}
	return gn__leave(o, rc);
}

int gn_flat_gather(int64_t array, uint64_t stream, const uint64_t *index, uint64_t count, void *rows)
{
	return move(array, 0, stream, index, count, (char *)rows);
}

int gn_flat_scatter(int64_t array, uint64_t stream, const uint64_t *index, uint64_t count, const void *rows)
{
	return move(array, 1, stream, index, count, (char *)rows);
}

/* ---- with memory that the machine need not reach ---- */

enum { STAGE_BYTES = 4 << 20 };

/* Pinned memory for the numbers of some rows and, on cuda, the rows; returns how many, or a negative code. */
static int64_t stage(struct gn__object *o)
{
	struct gn__machine *m = o->machine;
	const uint64_t row_bytes = (uint64_t)o->elements * o->element_bytes,
	               each = sizeof(uint64_t) + (m->is_cuda ? row_bytes : 0), least = each + 16,
	               want = least > STAGE_BYTES ? least : STAGE_BYTES;
	uint64_t fit;

	if (m->stage_bytes < want) {
		struct gn_error error;

		simt_free(m->machine, m->stage);
		m->stage_bytes = 0;
		m->stage = (char *)simt_alloc(m->machine, want, SIMT_PINNED, &error);
		if (!m->stage) {
			gn_error_prefix(&error, error.code, "a copy of the rows");
			return gn__failed_as(&error);
		}
		m->stage_bytes = want;
	}
	fit = (m->stage_bytes - 16) / each;
	return (int64_t)(fit < m->rows ? fit : m->rows);
}

struct numbers {
	const uint64_t *index; /* NULL: first, first + step ... */
	int64_t first, step;
};

/* One piece, through the stage. */
static int staged(const struct course *c, const struct numbers *n, uint64_t at, uint64_t count, char *rows)
{
	struct gn__machine *m = c->array->machine;
	const uint64_t row_bytes = (uint64_t)c->array->elements * c->array->element_bytes;
	uint64_t *index = (uint64_t *)m->stage;
	char *copy = m->stage + ((count * sizeof *index + 15) & ~(uint64_t)15);
	int rc;

	for (uint64_t k = 0; k < count; k++)
		index[k] = n->index ? n->index[at + k] : (uint64_t)(n->first + (int64_t)(at + k) * n->step);
	if (!m->is_cuda)
		return launch_and_wait(c, index, rows + at * row_bytes, count);
	if (c->scatter)
		memcpy(copy, rows + at * row_bytes, count * row_bytes);
	rc = launch_and_wait(c, index, copy, count);
	if (!rc && !c->scatter)
		memcpy(rows + at * row_bytes, copy, count * row_bytes);
	return rc;
}

static int move_host(int64_t array, int scatter, const struct numbers *n, uint64_t count, char *rows)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	struct course c = {o, NULL, NULL, scatter};
	int64_t most = 0;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	c.gather = o->machine->own;
	/* What streams were given before comes before, as the order of the caller's program says. */
	rc = o->machine->is_cuda ? gn__settle(o->machine) : 0;
	rc = rc ? rc : gn__check(o);
	if (!rc && !o->machine->is_cuda && n->index) {
		rc = launch_and_wait(&c, n->index, rows, count);
	} else if (!rc && count) {
		most = stage(o);
		rc = most < 0 ? (int)most : 0;
		for (uint64_t at = 0; at < count && !rc; at += (uint64_t)most)
			rc = staged(&c, n, at, count - at < (uint64_t)most ? count - at : (uint64_t)most,
			            rows);
	}
	/* Only now: what the array has kept of one row is no reason to leave out others. */
	rc = rc ? rc : gn__check(o);
	return gn__leave(o, rc);
}

int gn_flat_gather_host(int64_t array, const uint64_t *index, int64_t first, int64_t step, uint64_t count,
                        void *rows)
{
	const struct numbers n = {index, first, step};

	return move_host(array, 0, &n, count, (char *)rows);
}

int gn_flat_scatter_host(int64_t array, const uint64_t *index, int64_t first, int64_t step, uint64_t count,
                         const void *rows)
{
	const struct numbers n = {index, first, step};

	return move_host(array, 1, &n, count, (char *)rows);
}

/* ---- prefetch, check ---- */

static int prefetch(struct gn__object *o, uint64_t stream, uint64_t offset, uint64_t bytes)
{
	struct gn_error error;
	struct gn__way *way;
	int rc;

	if (!o->cache)
		return 0;
	if (!o->machine->is_cuda)
		return gn_cache_prefetch_range(o->cache, o->store, offset, bytes, &error)
		           ? gn__failed_as(&error)
		           : 0;
	rc = gn__way_of(o->machine, stream, &way);
	if (!rc && gn_cache_prefetch_range_on(o->cache, way->adopted, o->store, offset, bytes, &error))
		rc = gn__failed_as(&error);
	return rc;
}

int gn_flat_prefetch(int64_t array, uint64_t stream, uint64_t first, uint64_t count)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	if (first > o->rows || count > o->rows - first) {
		rc = gn__failed(-GN_ERANGE, 0, -1, "the rows to prefetch reach past the array's end");
	} else {
		const uint64_t row_bytes = (uint64_t)o->elements * o->element_bytes;

		gn__lock(o);
		rc = prefetch(o, stream, o->offset + first * row_bytes, count * row_bytes);
		pthread_mutex_unlock(&o->machine->lock);
	}
	gn__put(o);
	return rc;
}

static int check(int64_t array, int settles)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	int rc = 0;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	if (settles)
		rc = gn__settle(o->machine);
	rc = rc ? rc : gn__check(o);
	return gn__leave(o, rc);
}

int gn_flat_hold(int64_t array)
{
	return gn__take(array, GN__ARRAY) ? 0 : gn_flat_failure()->code;
}

int gn_flat_let_go(int64_t array)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);

	if (!o)
		return gn_flat_failure()->code;
	gn__put(o);
	gn__put(o); /* for gn_flat_hold */
	return 0;
}

int gn_flat_check(int64_t array)
{
	return check(array, 0);
}

int gn_flat_settle(int64_t array)
{
	return check(array, 1);
}
