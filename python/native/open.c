/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - stores, caches and arrays of flat.h: how they are made, what they are, and their end. */
#include "object.h"

#include <store/store.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- stores ---- */

int64_t gn_flat_store(int64_t machine, const char *uri)
{
	struct gn__object *on = gn__take(machine, GN__MACHINE), *o = on ? gn__new(GN__STORE, &on, 1) : NULL;
	struct gn_error error;
	int64_t rc;

	if (!on)
		return gn_flat_failure()->code;
	gn__lock(on);
	rc = o ? gn_store_open(&o->store, on->machine->machine, uri, NULL, &error) : -GN_ENOMEM;
	if (rc && o)
		gn__failed_as(&error);
	if (o)
		o->machine = on->machine;
	rc = gn__publish(o, (int)rc);
	gn__leave(on, 0);
	return rc;
}

/* The host's address of a store that is host memory; NULL if the host does not reach it. */
static void *memory_of(const struct gn__object *o)
{
	const struct gn_store_view *view = gn_store_view_of(o->store);

	if (view->kind != GN_STORE_MEMORY)
		return NULL;
	return o->machine->is_cuda ? gn__host_address(view->memory) : view->memory;
}

int gn_flat_store_describe(int64_t store, char *path, uint64_t value[5])
{
	struct gn__object *o = gn__take(store, GN__STORE);
	const struct gn_store_view *view;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	view = gn_store_view_of(o->store);
	snprintf(path, 192, "%s", gn_store_path(o->store));
	value[0] = view->capacity_bytes;
	value[1] = view->block_bytes;
	value[2] = view->read_only;
	value[3] = view->kind == GN_STORE_MEMORY;
	value[4] = (uint64_t)(uintptr_t)memory_of(o);
	return gn__leave(o, 0);
}

int gn_flat_store_statistics(int64_t store, uint64_t value[16])
{
	struct gn__object *o = gn__take(store, GN__STORE);
	struct gn_store_statistics moved;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	gn_store_get_statistics(o->store, &moved);
	value[0] = moved.reads;
	value[1] = moved.writes;
	value[2] = moved.read_bytes;
	value[3] = moved.written_bytes;
	value[4] = moved.failed;
	value[5] = moved.members_out;
	value[6] = moved.retries;
	value[7] = moved.read_timeouts;
	value[8] = moved.write_timeouts;
	value[9] = moved.aborts;
	value[10] = moved.resets;
	value[11] = moved.hits;
	value[12] = moved.misses;
	value[13] = moved.evictions;
	value[14] = moved.write_backs;
	value[15] = moved.unwritten;
	return gn__leave(o, 0);
}

/* What the host does with a store: 0 reads, 1 writes, 2 flushes. */
static int host_access(int64_t store, int what, uint64_t offset, void *memory, uint64_t bytes)
{
	struct gn__object *o = gn__take(store, GN__STORE);
	struct gn_error error;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	if (what == 0)
		rc = gn_store_read_host(o->store, offset, memory, bytes, &error);
	else if (what == 1)
		rc = gn_store_write_host(o->store, offset, memory, bytes, &error);
	else
		rc = gn_store_flush(o->store, &error);
	return gn__leave(o, rc ? gn__failed_as(&error) : 0);
}

int gn_flat_store_read(int64_t store, uint64_t offset, void *to, uint64_t bytes)
{
	return host_access(store, 0, offset, to, bytes);
}

int gn_flat_store_write(int64_t store, uint64_t offset, const void *from, uint64_t bytes)
{
	return host_access(store, 1, offset, (void *)from, bytes);
}

int gn_flat_store_flush(int64_t store)
{
	return host_access(store, 2, 0, NULL, 0);
}

int gn_flat_store_member(int64_t store, uint32_t k, const char **uri, int *use, char *text)
{
	struct gn__object *o = gn__take(store, GN__STORE);
	struct gn_store_member member;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = !gn_store_get_member(o->store, k, &member);
	*uri = member.uri;
	*use = (int)member.use;
	snprintf(text, sizeof member.text, "%s", member.text);
	return gn__leave(o, rc);
}

static void let_others(void *machine, int go_on)
{
	struct gn__machine *m = (struct gn__machine *)machine;

	if (go_on)
		pthread_mutex_unlock(&m->lock);
	else
		pthread_mutex_lock(&m->lock);
}

int gn_flat_store_resync(int64_t store, uint32_t k)
{
	struct gn__object *o = gn__take(store, GN__STORE);
	struct gn_store_others others = {let_others, NULL};
	struct gn_error error;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	others.user = o->machine;
	gn__lock(o);
	rc = gn_store_resync_beside(o->store, k, &others, &error);
	return gn__leave(o, rc ? gn__failed_as(&error) : 0);
}

/* ---- caches ---- */

/* Create what was asked for on the taken stores; on[0] is the machine. */
static int64_t new_cache(struct gn__object *const *on, unsigned count, const struct gn_cache_options *options)
{
	struct gn__object *o = gn__new(GN__CACHE, on, count + 1);
	struct gn_store *store[GN_CACHE_STORES];
	struct gn_error error;
	int rc;

	for (unsigned k = 0; k < count; k++) {
		store[k] = on[k + 1]->store;
		if (on[k + 1]->machine != on[0]->machine)
			return gn__publish(o, gn__failed(-GN_EINVAL, 0, -1, "a store is of another machine"));
	}
	gn__lock(on[0]);
	rc = o ? gn_cache_create(&o->cache, on[0]->machine->machine, store, count, options, &error)
	       : -GN_ENOMEM;
	pthread_mutex_unlock(&on[0]->machine->lock);
	if (rc && o)
		gn__failed_as(&error);
	if (o)
		o->machine = on[0]->machine;
	return gn__publish(o, rc);
}

int64_t gn_flat_cache(int64_t machine, const int64_t *stores, unsigned count, uint64_t bytes,
                      uint32_t page_bytes, int policy, int table, uint32_t ways, uint64_t budget_bytes,
                      int statistics, const char *peers)
{
	struct gn__object *on[GN__PARENTS];
	struct gn_cache_options options;
	unsigned taken = 0;
	int64_t rc;

	if (!count || count > GN_CACHE_STORES)
		return gn__failed(-GN_EINVAL, 0, -1, "a cache has 1 to 8 stores; give so many");
	memset(&options, 0, sizeof options);
	options.bytes = bytes;
	options.page_bytes = page_bytes;
	options.policy = (enum gn_cache_policy)policy;
	options.table = (enum gn_cache_table)table;
	options.ways = ways;
	options.budget_bytes = budget_bytes;
	options.statistics = statistics;
	options.peers = peers;
	while (taken <= count &&
	       (on[taken] = taken ? gn__take(stores[taken - 1], GN__STORE) : gn__take(machine, GN__MACHINE)))
		taken++;
	rc = taken > count ? new_cache(on, count, &options) : gn_flat_failure()->code;
	while (taken)
		gn__put(on[--taken]);
	return rc;
}

int gn_flat_cache_describe(int64_t cache, uint64_t value[16])
{
	struct gn__object *o = gn__take(cache, GN__CACHE);
	struct gn_cache_info info;
	struct gn_error error;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	if (gn_cache_describe(o->cache, &info, &error))
		return gn__leave(o, gn__failed_as(&error));
	value[0] = info.frames;
	value[1] = info.pages;
	value[2] = info.frame_bytes;
	value[3] = info.metadata_bytes;
	value[4] = info.page_bytes;
	value[5] = info.ways;
	value[6] = info.dirty_pages;
	value[7] = info.write_failures;
	value[8] = info.statistics.hits;
	value[9] = info.statistics.misses;
	value[10] = info.statistics.fetched;
	value[11] = info.statistics.written;
	value[12] = info.statistics.evicted;
	value[13] = info.statistics.bypassed;
	value[14] = info.statistics.fetched_bytes;
	value[15] = info.statistics.written_bytes;
	return gn__leave(o, 0);
}

static int flush(struct gn__object *o)
{
	struct gn_error error;
	int rc = gn__settle(o->machine);

	if (rc)
		return rc;
	rc = o->cache ? gn_cache_flush(o->cache, &error) : gn_store_flush(o->store, &error);
	return rc ? gn__failed_as(&error) : 0;
}

int gn_flat_cache_flush(int64_t cache)
{
	struct gn__object *o = gn__take(cache, GN__CACHE);

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	return gn__leave(o, flush(o));
}

int gn_flat_flush(int64_t array)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	int rc, failed;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = flush(o);
	failed = rc ? 0 : gn__check(o);
	return gn__leave(o, rc ? rc : failed);
}

int gn_flat_cache_invalidate(int64_t cache)
{
	struct gn__object *o = gn__take(cache, GN__CACHE);
	struct gn_error error;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = gn__settle(o->machine);
	if (!rc && gn_cache_invalidate(o->cache, &error))
		rc = gn__failed_as(&error);
	return gn__leave(o, rc);
}

/* ---- arrays ---- */

static int make_array(struct gn__object *o, struct gn__object *store, struct gn__object *cache)
{
	struct gn_array_options options;
	struct gn_error error;

	memset(&options, 0, sizeof options);
	options.mode = cache ? GN_PAGED : GN_DIRECT;
	options.cache = o->cache = cache ? cache->cache : NULL;
	options.store = o->store = store->store;
	options.offset = o->offset;
	options.count = o->rows * o->elements;
	options.element_bytes = o->element_bytes;
	if (store->machine != o->machine || (cache && cache->machine != o->machine))
		return gn__failed(-GN_EINVAL, 0, -1,
		                  "the store or the cache is of another machine; open it on this one");
	if (!o->rows || !o->elements || options.count / o->elements != o->rows)
		return gn__failed(-GN_EINVAL, 0, -1, "an array has 1 row or more, of 1 element or more");
	return gn_array_create(&o->array, o->machine->machine, &options, &error) ? gn__failed_as(&error) : 0;
}

int64_t gn_flat_array(int64_t machine, int64_t cache, int64_t store, uint64_t offset, uint64_t rows,
                      uint32_t element_bytes, uint32_t elements)
{
	struct gn__object *on[3] = {gn__take(machine, GN__MACHINE), NULL, NULL}, *o = NULL;
	int64_t rc = gn_flat_failure()->code;

	if (on[0] && (on[1] = gn__take(store, GN__STORE)))
		on[2] = cache ? gn__take(cache, GN__CACHE) : NULL;
	if (on[0] && on[1] && (on[2] || !cache) && (o = gn__new(GN__ARRAY, on, cache ? 3 : 2))) {
		o->offset = offset;
		o->rows = rows;
		o->elements = elements;
		o->element_bytes = element_bytes;
		o->machine = on[0]->machine;
		gn__lock(on[0]);
		rc = gn__publish(o, make_array(o, on[1], on[2]));
		pthread_mutex_unlock(&on[0]->machine->lock);
	} else {
		rc = gn_flat_failure()->code;
	}
	for (int k = 0; k < 3; k++)
		if (on[k])
			gn__put(on[k]);
	return rc;
}

int64_t gn_flat_view(int64_t array, void *to, uint64_t room)
{
	struct gn__object *o = gn__take(array, GN__ARRAY);
	int rc = 0;

	if (!o)
		return gn_flat_failure()->code;
	if (to && room < sizeof o->array)
		rc = gn__failed(-GN_EINVAL, 0, -1, "there is no room for the struct of an array");
	else if (to)
		memcpy(to, &o->array, sizeof o->array);
	gn__put(o);
	return rc ? rc : (int64_t)sizeof o->array;
}

/* ---- the end ---- */

int gn__end(struct gn__object *o, int discard)
{
	int rc = 0;

	if (!discard && o->kind == GN__CACHE)
		rc = flush(o);
	else if (!discard && o->kind == GN__SLOTS)
		rc = gn__slots_flush_all(o);
	else if (o->kind != GN__STORE)
		rc = gn__settle(o->machine);
	if (!discard && !rc && o->kind == GN__ARRAY)
		rc = gn__check(o);
	if (rc && !discard)
		return rc;
	switch (o->kind) {
	case GN__ARRAY: gn_array_destroy(&o->array, o->machine->machine); break;
	case GN__CACHE: gn_cache_destroy(o->cache); break;
	case GN__SLOTS: gn_slots_destroy(o->slots); break;
	default: gn_store_close(o->store); break;
	}
	return 0;
}
