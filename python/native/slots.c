/* SPDX-License-Identifier: Apache-2.0 */
/* slots.c - slots of flat.h: batches of keys in, slot numbers out. */
#include "object.h"

#include <stdio.h>
#include <string.h>

/* ---- make and describe ---- */

static int make_slots(struct gn__object *o, struct gn__object *store, const struct gn_slots_options *options)
{
	struct gn_error error;

	o->machine = store->machine;
	o->store = store->store;
	return gn_slots_create(&o->slots, o->machine->machine, o->store, options, &error)
	           ? gn__failed_as(&error)
	           : 0;
}

/* A number that has 32 bits there; the largest one stands for all that have more, and is refused. */
static uint32_t narrow(uint64_t number)
{
	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

int64_t gn_flat_slots(int64_t store, uint64_t item_bytes, uint64_t items, uint64_t offset, uint64_t slots,
                      uint64_t most_keys, int policy, uint64_t keep, uint64_t fill_blocks, void *slab)
{
	struct gn__object *on = gn__take(store, GN__STORE), *o = on ? gn__new(GN__SLOTS, &on, 1) : NULL;
	struct gn_slots_options options;
	int64_t rc;

	if (!on)
		return gn_flat_failure()->code;
	memset(&options, 0, sizeof options);
	options.item_bytes = item_bytes;
	options.items = items;
	options.offset = offset;
	options.slots = narrow(slots);
	options.most_keys = narrow(most_keys);
	options.policy = (enum gn_slots_policy)policy;
	options.keep = narrow(keep);
	options.fill_blocks = narrow(fill_blocks);
	options.slab = slab;
	gn__lock(on);
	rc = gn__publish(o, o ? make_slots(o, on, &options) : -GN_ENOMEM);
	gn__leave(on, 0);
	return rc;
}

int gn_flat_slots_describe(int64_t slots, uint64_t value[6])
{
	struct gn__object *o = gn__take(slots, GN__SLOTS);
	struct gn_slots_info info;

	if (!o)
		return gn_flat_failure()->code;
	gn_slots_describe(o->slots, &info);
	value[0] = (uint64_t)(uintptr_t)info.slab;
	value[1] = info.item_bytes;
	value[2] = info.items;
	value[3] = info.slots;
	value[4] = info.most_keys;
	value[5] = info.metadata_bytes;
	gn__put(o);
	return 0;
}

/* ---- failures ---- */

/* The first failure on the machine that was not told, in words. */
static int told(struct gn__object *o)
{
	struct gn_error error;

	return gn_slots_failure(o->slots, &error) ? gn__failed_as(&error) : 0;
}

static int wait_own(struct gn__machine *m)
{
	struct gn_error error;

	return simt_wait(m->machine, &error) ? gn__failed_as(&error) : 0;
}

/* ---- a call ---- */

/* A stream needs no workspace here, so it is adopted for the call alone. NULL on cpu: the machine's own. */
static struct gn__object *begin(int64_t slots, uint64_t stream, struct simt_stream **adopted)
{
	struct gn__object *o = gn__take(slots, GN__SLOTS);
	struct gn_error error;

	*adopted = NULL;
	if (!o)
		return NULL;
	gn__lock(o);
	if (!o->machine->is_cuda ||
	    !simt_stream_adopt(adopted, o->machine->machine, (void *)(uintptr_t)stream, &error))
		return o;
	gn__leave(o, gn__failed_as(&error));
	return NULL;
}

/* On cpu the call waits, and tells what failed on the machine; on cuda nobody knows it yet. */
static int end(struct gn__object *o, struct simt_stream *adopted, int rc, const struct gn_error *error)
{
	if (rc && error)
		gn__failed_as(error);
	simt_stream_destroy(adopted);
	if (!o->machine->is_cuda && !rc)
		rc = wait_own(o->machine);
	if (!o->machine->is_cuda && !rc)
		rc = told(o);
	return gn__leave(o, rc);
}

static int refuse_count(uint64_t count)
{
	char text[120];

	snprintf(text, sizeof text, "slots: %llu numbers are too many for one call; give fewer than 2^32",
	         (unsigned long long)count);
	return gn__failed(-GN_EINVAL, 0, -1, text);
}

int gn_flat_slots_resolve(int64_t slots, uint64_t stream, const int64_t *key, int32_t *slot, uint8_t *missed,
                          uint64_t count, uint32_t hints, uint32_t priority)
{
	const struct gn_slots_batch batch = {key, slot, missed, (uint32_t)count, hints, priority};
	struct simt_stream *adopted;
	struct gn__object *o;
	struct gn_error error;
	int rc;

	if (count > UINT32_MAX)
		return refuse_count(count);
	o = begin(slots, stream, &adopted);
	if (!o)
		return gn_flat_failure()->code;
	rc = told(o);
	if (rc)
		return end(o, adopted, rc, NULL);
	return end(o, adopted, gn_slots_resolve(o->slots, &batch, adopted, &error), &error);
}

/* What needs only the stream. */
static int on_stream(int64_t slots, uint64_t stream,
                     int (*call)(struct gn_slots *, struct simt_stream *, struct gn_error *))
{
	struct simt_stream *adopted;
	struct gn__object *o = begin(slots, stream, &adopted);
	struct gn_error error;

	return o ? end(o, adopted, call(o->slots, adopted, &error), &error) : gn_flat_failure()->code;
}

int gn_flat_slots_fill(int64_t slots, uint64_t stream)
{
	return on_stream(slots, stream, gn_slots_fill);
}

int gn_flat_slots_flush(int64_t slots, uint64_t stream)
{
	return on_stream(slots, stream, gn_slots_flush);
}

int gn_flat_slots_clear(int64_t slots, uint64_t stream)
{
	return on_stream(slots, stream, gn_slots_clear);
}

static int change(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count,
                  int (*call)(struct gn_slots *, const int32_t *, uint32_t, struct simt_stream *,
                              struct gn_error *))
{
	struct simt_stream *adopted;
	struct gn__object *o;
	struct gn_error error;

	if (count > UINT32_MAX)
		return refuse_count(count);
	o = begin(slots, stream, &adopted);
	if (!o)
		return gn_flat_failure()->code;
	return end(o, adopted, call(o->slots, slot, (uint32_t)count, adopted, &error), &error);
}

int gn_flat_slots_pin(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count)
{
	return change(slots, stream, slot, count, gn_slots_pin);
}

int gn_flat_slots_unpin(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count)
{
	return change(slots, stream, slot, count, gn_slots_unpin);
}

int gn_flat_slots_mark(int64_t slots, uint64_t stream, const int32_t *slot, uint64_t count)
{
	return change(slots, stream, slot, count, gn_slots_mark);
}

/* ---- statistics and failures ---- */

static int check(int64_t slots, int settles)
{
	struct gn__object *o = gn__take(slots, GN__SLOTS);
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	gn__lock(o);
	rc = settles ? gn__settle(o->machine) : 0;
	return gn__leave(o, rc ? rc : told(o));
}

int gn_flat_slots_check(int64_t slots)
{
	return check(slots, 0);
}

int gn_flat_slots_settle(int64_t slots)
{
	return check(slots, 1);
}

int gn_flat_slots_statistics(int64_t slots, uint64_t stream, uint64_t value[10])
{
	struct simt_stream *adopted;
	struct gn__object *o = begin(slots, stream, &adopted);
	struct gn_slots_statistics s;
	struct gn_error error;
	int rc;

	if (!o)
		return gn_flat_failure()->code;
	rc = gn_slots_get_statistics(o->slots, adopted, &s, &error);
	if (!rc) {
		const uint64_t all[10] = {s.batches, s.hits,    s.misses, s.fetched, s.evicted,
		                          s.no_slot, s.refused, s.failed, s.written, s.examined};

		memcpy(value, all, sizeof all);
	}
	return end(o, adopted, rc, &error);
}

/* ---- the end ---- */

int gn__slots_flush_all(struct gn__object *o)
{
	struct gn_error error;
	int rc = gn__settle(o->machine);

	if (!rc && gn_slots_flush(o->slots, NULL, &error))
		rc = gn__failed_as(&error);
	rc = rc ? rc : wait_own(o->machine);
	return rc ? rc : told(o);
}
