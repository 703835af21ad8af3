/* SPDX-License-Identifier: Apache-2.0 */
/* object.c - handles: which objects are open, who uses them, and what a fork leaves of them. */
#include "object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A handle is a serial number above the number of a place in the table. */
enum { PLACE_BITS = 20 };

static struct {
	pthread_mutex_t lock;
	struct gn__object **object;
	int64_t room;
	int64_t serial;
} table = {PTHREAD_MUTEX_INITIALIZER, NULL, 0, 0};

static __thread struct gn_flat_failure failure;

/* ---- failures ---- */

const struct gn_flat_failure *gn_flat_failure(void)
{
	return &failure;
}

int gn__failed(int code, uint32_t device, int64_t row, const char *text)
{
	failure.code = code;
	failure.device = device;
	failure.row = row;
	snprintf(failure.text, sizeof failure.text, "%s", text);
	return code;
}

int gn__failed_as(const struct gn_error *error)
{
	return gn__failed(error->code, 0, -1, error->text);
}

const char *gn_flat_code_name(int code)
{
	return gn_error_name(code);
}

int gn_flat_size(const char *text, uint64_t *bytes)
{
	const int rc = gn_size_parse(text, bytes);

	return rc ? gn__failed(rc, 0, -1, "not a size; give a number of bytes, or such as 64K, 1M or 8G") : 0;
}

const char *gn_flat_version(void)
{
	return gn_version_text();
}

/* ---- a fork ---- */

/* The child has none of the threads that serve these objects, so it may neither use nor close them. */
static void fork_in_child(void)
{
	for (int64_t k = 0; k < table.room; k++)
		if (table.object[k])
			table.object[k]->forked = 1;
	pthread_mutex_unlock(&table.lock);
}

static void fork_begins(void)
{
	pthread_mutex_lock(&table.lock);
}

static void fork_in_parent(void)
{
	pthread_mutex_unlock(&table.lock);
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(fork_begins, fork_in_parent, fork_in_child);
}

/* ---- the table ---- */

/* A free place; -1: there is no memory. */
static int64_t free_place(void)
{
	const int64_t room = table.room ? 2 * table.room : 64;
	struct gn__object **more;

	for (int64_t k = 0; k < table.room; k++)
		if (!table.object[k])
			return k;
	if (room > 1 << PLACE_BITS)
		return -1;
	more = (struct gn__object **)realloc(table.object, (size_t)room * sizeof *more);
	if (!more)
		return -1;
	memset(more + table.room, 0, (size_t)(room - table.room) * sizeof *more);
	table.object = more;
	table.room = room;
	return room == 64 ? 0 : room / 2;
}

struct gn__object *gn__new(enum gn__kind kind, struct gn__object *const *parent, unsigned parents)
{
	struct gn__object *o = (struct gn__object *)calloc(1, sizeof *o);

	if (!o) {
		gn__failed(-GN_ENOMEM, 0, -1, "out of host memory");
		return NULL;
	}
	o->kind = kind;
	o->parents = parents;
	for (unsigned k = 0; k < parents; k++)
		o->parent[k] = parent[k];
	return o;
}

int64_t gn__publish(struct gn__object *o, int code)
{
	int64_t place = -1;

	if (code) {
		free(o);
		return code;
	}
	pthread_mutex_lock(&table.lock);
	place = free_place();
	if (place >= 0) {
		o->handle = ++table.serial << PLACE_BITS | place;
		table.object[place] = o;
		for (unsigned k = 0; k < o->parents; k++)
			o->parent[k]->children++;
	}
	pthread_mutex_unlock(&table.lock);
	if (place >= 0)
		return o->handle;
	if (o->kind == GN__MACHINE)
		gn__machine_end(o->machine);
	else
		gn__end(o, 1);
	free(o);
	return gn__failed(-GN_ENOMEM, 0, -1, "there are too many open objects; close some");
}

static const char *name_of(enum gn__kind kind)
{
	static const char *const names[] = {"object", "machine", "store", "cache", "array", "set of slots"};

	return names[kind];
}

static struct gn__object *refuse(int code, const char *format, const char *what)
{
	char text[200];

	snprintf(text, sizeof text, format, what);
	gn__failed(code, 0, -1, text);
	return NULL;
}

/* The open object of a handle; the table is locked. GN__FREE: of any kind. */
static struct gn__object *find(int64_t handle, enum gn__kind kind)
{
	const int64_t place = handle & ((1 << PLACE_BITS) - 1);
	struct gn__object *o = handle > 0 && place < table.room ? table.object[place] : NULL;

	if (!o || o->handle != handle || o->closing)
		return refuse(-GN_EINVAL, "the %s is closed; open it again", name_of(kind));
	if (kind != GN__FREE && o->kind != kind)
		return refuse(-GN_EINVAL, "the handle is not that of an open %s", name_of(kind));
	if (o->forked)
		return refuse(-GN_EINVAL,
		              "the %s was opened before this process was forked; open it in this process, or "
		              "start processes by spawn",
		              name_of(o->kind));
	return o;
}

struct gn__object *gn__take(int64_t handle, enum gn__kind kind)
{
	struct gn__object *o;

	pthread_mutex_lock(&table.lock);
	o = find(handle, kind);
	if (o)
		o->calls++;
	pthread_mutex_unlock(&table.lock);
	return o;
}

void gn__put(struct gn__object *o)
{
	pthread_mutex_lock(&table.lock);
	o->calls--;
	pthread_mutex_unlock(&table.lock);
}

void gn__lock(struct gn__object *o)
{
	pthread_mutex_lock(&o->machine->lock);
}

int gn__leave(struct gn__object *o, int rc)
{
	pthread_mutex_unlock(&o->machine->lock);
	gn__put(o);
	return rc;
}

/* ---- the end ---- */

/* Keep others from an object that nobody uses. */
static struct gn__object *begin_close(int64_t handle)
{
	struct gn__object *o;

	pthread_mutex_lock(&table.lock);
	o = find(handle, GN__FREE);
	if (o && o->children)
		o = refuse(-GN_EBUSY, "the %s is in use; close first what was opened on it",
		           name_of(o->kind));
	else if (o && o->calls)
		o = refuse(-GN_EBUSY, "another thread uses the %s; close it when that call has returned",
		           name_of(o->kind));
	else if (o)
		o->closing = 1;
	pthread_mutex_unlock(&table.lock);
	return o;
}

static void end_close(struct gn__object *o, int rc)
{
	pthread_mutex_lock(&table.lock);
	o->closing = 0;
	if (!rc) {
		table.object[o->handle & ((1 << PLACE_BITS) - 1)] = NULL;
		for (unsigned k = 0; k < o->parents; k++)
			o->parent[k]->children--;
	}
	pthread_mutex_unlock(&table.lock);
	if (!rc)
		free(o);
}

int gn_flat_close(int64_t handle, int discard)
{
	struct gn__object *o = begin_close(handle);
	int rc;

	if (!o)
		return failure.code;
	if (o->kind == GN__MACHINE) {
		gn__machine_end(o->machine);
		rc = 0;
	} else {
		struct gn__machine *m = o->machine;

		pthread_mutex_lock(&m->lock);
		rc = gn__end(o, discard);
		pthread_mutex_unlock(&m->lock);
	}
	end_close(o, rc);
	return rc;
}
