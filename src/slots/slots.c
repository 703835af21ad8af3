/* SPDX-License-Identifier: Apache-2.0 */
#include <slots/block.h>
#include <slots/slots.h>

#include <store/store.h>

#include <stdlib.h>
#include <string.h>

enum { GN__DEFAULT_KEYS = 4096, GN__MOST_SLOTS = 1 << 30, GN__MOST_KEYS = 1 << 28 };

/*
 * Bytes that a warp moves at once. Loads: what its lanes have in flight. Queue pairs: one command, and less
 * if blocks do not divide items, because each thread then has so much memory of its own.
 */
enum { GN__LOAD_PIECE = 4096, GN__READ_PIECE = 64 << 10, GN__BOUNCE_PIECE = 4096 };

/* ---- options ---- */

static int check_options(const struct gn_slots_options *o, struct gn_error *error)
{
	if (o->item_bytes < GN_SLOTS_LEAST_ITEM || o->item_bytes > GN_SLOTS_MOST_ITEM || o->item_bytes % 16)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: items of %llu bytes are not possible; give a multiple of 16 from "
		                    "%d to %d",
		                    (unsigned long long)o->item_bytes, (int)GN_SLOTS_LEAST_ITEM,
		                    (int)GN_SLOTS_MOST_ITEM);
	if (o->offset % 16)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "slots: item 0 cannot begin at byte %llu of the store; give a multiple of "
		    "16",
		    (unsigned long long)o->offset);
	if (o->most_keys > GN__MOST_KEYS)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: batches of %u keys are not possible; give at most %d",
		                    o->most_keys, (int)GN__MOST_KEYS);
	if (o->policy != GN_SLOTS_CLOCK && o->policy != GN_SLOTS_LRU)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: there is no policy %d; give one of enum gn_slots_policy",
		                    (int)o->policy);
	if (o->keep > 1024)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: %u batches cannot hold their slots; give at most 1024", o->keep);
	if ((uintptr_t)o->slab % 16)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: a slab at address %p is not possible; align it to 16 bytes",
		                    o->slab);
	return 0;
}

static int choose_slots(struct gn__slots_view *v, const struct gn_slots_options *o, struct gn_error *error)
{
	const uint64_t slots = o->slots ? o->slots : o->bytes / o->item_bytes;

	if (!slots || slots > GN__MOST_SLOTS)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: %llu slots are not possible; give 1 to %d by options.slots, or "
		                    "their bytes together by options.bytes",
		                    (unsigned long long)slots, (int)GN__MOST_SLOTS);
	v->slots = (uint32_t)slots;
	v->groups = v->slots / GN__SLOTS_PER_GROUP + 1;
	v->slot_bits = 1;
	while ((v->slots - 1) >> v->slot_bits)
		v->slot_bits++;
	return 0;
}

static int choose_items(struct gn__slots_view *v, const struct gn_slots_options *o, const char *path,
                        struct gn_error *error)
{
	const uint64_t capacity = v->store.capacity_bytes,
	               there = o->offset < capacity ? (capacity - o->offset) / o->item_bytes : 0;

	v->item_bytes = o->item_bytes;
	v->offset = o->offset;
	v->items = o->items ? o->items : there;
	if (!there || v->items > there)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: the store (%s) has room for %llu items of %llu bytes from byte "
		                    "%llu on; give fewer items, or a larger store",
		                    path, (unsigned long long)there, (unsigned long long)o->item_bytes,
		                    (unsigned long long)o->offset);
	if (v->items > 1ull << (63 - v->slot_bits))
		return gn_error_set(error, -GN_EFBIG,
		                    "slots: %llu items and %u slots are too many: the bits of both numbers "
		                    "together are more than 63; give fewer slots",
		                    (unsigned long long)v->items, v->slots);
	return 0;
}

/* ---- grids and pieces ---- */

/*
 * How items are copied from memory. On cuda a block of 8 warps a multiprocessor keeps a link busy and leaves
 * room for other kernels.
 */
static void shape_loads(struct gn_slots *s, const struct simt_info *info)
{
	struct gn__slots_fill *f = &s->view.fill;
	const uint64_t many = GN__LOAD_PIECE / s->view.item_bytes;

	f->piece = GN__LOAD_PIECE;
	f->cuts = (uint32_t)((s->view.item_bytes + f->piece - 1) / f->piece);
	f->lanes = !many ? 1 : many < info->warp_width ? (uint32_t)many : info->warp_width;
	s->fill.block_threads = info->is_cuda ? 256 : info->warp_width;
}

/* The largest piece of a store behind queue pairs; a power of two, so no unit of a stripe divides one. */
static uint32_t read_piece(const struct gn_store_view *store, uint32_t most)
{
	uint32_t piece = most;

	while (piece > store->transfer_bytes)
		piece /= 2;
	if (store->members && store->unit_log2 && piece > 1u << store->unit_log2)
		piece = 1u << store->unit_log2;
	return piece < store->block_bytes ? store->block_bytes : piece;
}

/* How many pieces of the store an item touches at most. */
static uint32_t store_cuts(const struct gn__slots_view *v)
{
	const uint32_t piece = v->fill.piece;

	return !(v->offset % piece) && !(v->item_bytes % piece) ? (uint32_t)(v->item_bytes / piece)
	                                                        : (uint32_t)((v->item_bytes - 1) / piece + 2);
}

static void shape_reads(struct gn_slots *s, const struct simt_info *info)
{
	struct gn__slots_view *v = &s->view;
	const int whole = gn__slots_whole(v);

	v->fill.piece = read_piece(&v->store, whole ? GN__READ_PIECE : GN__BOUNCE_PIECE);
	v->fill.lanes = 1;
	v->fill.cuts = store_cuts(v);
	s->fill.block_threads = info->is_cuda && whole ? 128 : info->is_cuda ? 32 : 64;
}

/*
 * Blocks of resolve have half the threads that a multiprocessor's registers serve, so that one finds room
 * beside other kernels. On cpu a block of one thread needs no barriers.
 */
static void shape(struct gn_slots *s, const struct gn_slots_options *o)
{
	struct simt_info info;

	simt_describe(s->machine, &info);
	s->resolve.blocks = info.processors;
	s->resolve.block_threads = info.is_cuda ? 512 : info.warp_width == 1 ? 1 : 4 * info.warp_width;
	s->resolve.shared_bytes = s->fill.shared_bytes = sizeof(struct gn__slots_block);
	s->fill.blocks = o->fill_blocks ? o->fill_blocks : info.processors;
	if (s->view.store.kind == GN_STORE_MEMORY)
		shape_loads(s, &info);
	else
		shape_reads(s, &info);
	s->view.fill.flush_cuts = store_cuts(&s->view);
}

/* ---- create and destroy ---- */

static void *metadata(struct gn_slots *s, uint64_t bytes)
{
	s->metadata_bytes += bytes;
	return simt_alloc(s->machine, bytes, SIMT_DEVICE, NULL);
}

static int allocate(struct gn_slots *s, void *slab)
{
	struct gn__slots_view *v = &s->view;
	const uint64_t readers = (uint64_t)s->fill.blocks * s->fill.block_threads;
	const int bounces = !gn__slots_whole(v);

	v->group = (struct gn__slots_group *)metadata(s, v->groups * sizeof *v->group);
	v->key = (int64_t *)metadata(s, v->slots * sizeof *v->key);
	v->use = (uint32_t *)metadata(s, v->slots * sizeof *v->use);
	v->pins = (uint32_t *)metadata(s, v->slots * sizeof *v->pins);
	v->fetch = (struct gn__slots_fetch *)metadata(s, v->most_keys * sizeof *v->fetch);
	v->follower = (struct gn__slots_follower *)metadata(s, v->most_keys * sizeof *v->follower);
	v->seen = (uint32_t *)metadata(s, v->seens * sizeof *v->seen);
	v->shared = (struct gn__slots_shared *)metadata(s, sizeof *v->shared);
	v->fill.bounce = bounces ? (char *)metadata(s, readers * v->fill.piece) : NULL;
	v->record = (struct gn__slots_record *)simt_alloc(s->machine, sizeof *v->record, SIMT_PINNED, NULL);
	if (!slab)
		slab = s->owned = simt_alloc(s->machine, v->slots * v->item_bytes, SIMT_DEVICE, NULL);
	v->slab = (char *)slab;
	return v->group && v->key && v->use && v->pins && v->fetch && v->follower && v->seen && v->shared &&
	               (v->fill.bounce || !bounces) && v->record && v->slab
	           ? 0
	           : -GN_ENOMEM;
}

/* Load the kernels now: for the first launch of one cuda may wait for the device, or refuse it in a capture.
 */
static int load_kernels(struct gn_slots *s, struct gn_error *error)
{
	const struct simt_kernel *const kernels[] = {&gn_slots_resolve_keys_kernel, &gn_slots_load_kernel,
	                                             &gn_slots_write_kernel,        &gn_slots_read_kernel,
	                                             &gn_slots_flush_all_kernel,    &gn_slots_change_kernel,
	                                             &gn_slots_empty_kernel};
	int rc = 0;

	for (size_t k = 0; k < sizeof kernels / sizeof kernels[0] && !rc; k++)
		rc = simt_prepare(s->machine, kernels[k], error);
	return rc;
}

static int start(struct gn_slots *s, const struct gn_slots_options *o, struct gn_error *error)
{
	int rc = allocate(s, o->slab);

	if (rc)
		return gn_error_set(error, rc,
		                    "slots: cannot allocate a slab of %llu bytes and %llu bytes for %u slots "
		                    "and batches of %u keys; give fewer slots",
		                    (unsigned long long)(s->view.slots * s->view.item_bytes),
		                    (unsigned long long)s->metadata_bytes, s->view.slots, s->view.most_keys);
	rc = load_kernels(s, error);
	if (rc)
		return gn_error_prefix(error, rc, "slots: their kernels cannot be loaded");
	rc = gn_slots_clear(s, NULL, error);
	if (rc)
		return rc;
	rc = simt_wait(s->machine, error);
	return gn_error_prefix(error, rc, "slots");
}

static int build(struct gn_slots *s, const struct gn_slots_options *o, struct gn_error *error)
{
	struct gn__slots_view *v = &s->view;
	int rc = gn_store_check_machine(s->store, s->machine, error);

	v->store = *gn_store_view_of(s->store);
	if (!rc)
		rc = check_options(o, error);
	if (!rc)
		rc = choose_slots(v, o, error);
	if (!rc)
		rc = choose_items(v, o, gn_store_path(s->store), error);
	if (rc)
		return rc;
	v->policy = o->policy;
	v->keep = o->keep ? o->keep : 1;
	v->most_keys = o->most_keys ? o->most_keys : (uint32_t)GN__DEFAULT_KEYS;
	v->seens = 2 * v->most_keys;
	shape(s, o);
	return start(s, o, error);
}

int gn_slots_create(struct gn_slots **slots, struct simt_machine *machine, struct gn_store *store,
                    const struct gn_slots_options *options, struct gn_error *error)
{
	struct gn_slots *s;
	int rc;

	*slots = NULL;
	if (!store)
		return gn_error_set(error, -GN_EINVAL, "slots: the store is NULL; open it first");
	s = (struct gn_slots *)calloc(1, sizeof *s);
	if (!s)
		return gn_error_set(error, -GN_ENOMEM, "slots: out of host memory");
	s->machine = machine;
	s->store = store;
	rc = build(s, options, error);
	if (rc)
		gn_slots_destroy(s);
	else
		*slots = s;
	return rc;
}

void gn_slots_destroy(struct gn_slots *slots)
{
	if (!slots)
		return;
	simt_free(slots->machine, slots->view.group);
	simt_free(slots->machine, slots->view.key);
	simt_free(slots->machine, slots->view.use);
	simt_free(slots->machine, slots->view.pins);
	simt_free(slots->machine, slots->view.fetch);
	simt_free(slots->machine, slots->view.follower);
	simt_free(slots->machine, slots->view.seen);
	simt_free(slots->machine, slots->view.shared);
	simt_free(slots->machine, slots->view.fill.bounce);
	simt_free(slots->machine, slots->view.record);
	simt_free(slots->machine, slots->owned);
	free(slots);
}

void gn_slots_describe(const struct gn_slots *slots, struct gn_slots_info *info)
{
	const struct gn__slots_view *v = &slots->view;

	memset(info, 0, sizeof *info);
	info->slab = v->slab;
	info->item_bytes = v->item_bytes;
	info->items = v->items;
	info->slots = v->slots;
	info->most_keys = v->most_keys;
	info->metadata_bytes = slots->metadata_bytes;
}
