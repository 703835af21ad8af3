/* SPDX-License-Identifier: Apache-2.0 */
#include <slots/kernels.h>

#include <slots/fill.h>
#include <slots/map.h>
#include <slots/place.h>

/* ---- resolve ---- */

/* A slot with the item of a key of the batch: it is used, and pinned if that is wanted. */
SIMT_FN void use_slot(const struct gn_slots_resolve_args *a, uint32_t slot, uint32_t now)
{
	uint32_t *use = &a->v.use[slot], word = gn__use_of(&a->batch, now);

	if (a->batch.hints & GN_SLOTS_ONCE)
		word = (simt_load_relaxed_dev_u32(use) & ~GN__STAMP) | now;
	simt_store_relaxed_dev_u32(use, word);
	if (a->batch.hints & GN_SLOTS_PIN)
		simt_reduce_add_relaxed_dev_u32(&a->v.pins[slot], 1);
	if (a->batch.hints & GN_SLOTS_OVERWRITE)
		simt_reduce_or_relaxed_dev_u32(&a->v.pins[slot], GN__DIRTY);
}

/*
 * The place in the batch of the key that stands for all that are equal to the missing key at `position`. If
 * it is this one, *seen is its place in the table.
 */
SIMT_FN uint32_t leader_of(const struct gn_slots_resolve_args *a, uint32_t position, int64_t key,
                           uint32_t *seen)
{
	uint32_t at = gn__place_of((uint32_t)gn__key_hash(key), a->v.seens), there;

	for (;; at = at + 1 < a->v.seens ? at + 1 : 0) {
		there = simt_load_relaxed_dev_u32(&a->v.seen[at]);
		if (!there)
			there = simt_cas_relaxed_dev_u32(&a->v.seen[at], 0, position + 1);
		if (!there)
			break;
		if (a->batch.key[there - 1] == key)
			return there - 1;
	}
	*seen = at;
	return position;
}

/* Note the keys of a warp whose items are missing, each item once. The whole warp calls it. */
SIMT_FN void note_missing(const struct gn_slots_resolve_args *a, uint32_t position, int64_t key, int misses)
{
	struct gn__slots_fetch fetch = {key, -1, position, 0, a->v.slots, 0, 0, 0};
	struct gn__slots_follower follower = {position, position};
	uint32_t at;

	if (misses)
		follower.leader = leader_of(a, position, key, &fetch.seen);
	at = gn__warp_append(&a->v.shared->missing, misses && follower.leader == position);
	if (misses && follower.leader == position)
		a->v.fetch[at] = fetch;
	at = gn__warp_append(&a->v.shared->followers, follower.leader != position);
	if (follower.leader != position)
		a->v.follower[at] = follower;
}

/* Look up one key for each lane that is there. The whole warp calls it. */
SIMT_FN void look_up(const struct gn_slots_resolve_args *a, uint32_t position, int there, uint32_t now)
{
	const int64_t key = there ? a->batch.key[position] : -1;
	const int past = key >= (int64_t)a->v.items, asks = key >= 0 && !past;
	const uint32_t slot = asks ? gn__map_find(&a->v, key) : a->v.slots;
	const int hits = slot < a->v.slots, misses = asks && !hits;
	struct gn_slots_statistics *s = &a->v.shared->statistics;

	if (there)
		a->batch.slot[position] = hits ? (int32_t)slot : -1;
	if (there && a->batch.missed)
		a->batch.missed[position] = 0;
	if (hits)
		use_slot(a, slot, now);
	if (simt_unlikely(past))
		SIMT_COLD(gn__slots_refuse)(&a->v, key, -GN_ERANGE);
	gn__warp_count(&s->hits, hits);
	gn__warp_count(&s->refused, past);
	if (!simt_ballot(simt_whole_warp(), misses))
		return;
	gn__warp_count(&s->misses, misses);
	if (!(a->batch.hints & GN_SLOTS_RESIDENT))
		note_missing(a, position, key, misses);
}

/* The items of the batch before are not there yet: no key gets a slot. */
SIMT_FN void refuse_batch(const struct gn_slots_resolve_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->batch.count; k += simt_global_threads()) {
		a->batch.slot[k] = -1;
		if (a->batch.missed)
			a->batch.missed[k] = 0;
		simt_reduce_add_relaxed_dev_u64(&a->v.shared->statistics.refused, 1);
	}
	if (simt_global_thread() == 0)
		gn__slots_refuse(&a->v, a->batch.count ? a->batch.key[0] : -1, -GN_EBUSY);
}

/* What is left when all keys were looked up. One block calls it. */
SIMT_FN void end_batch(const struct gn_slots_resolve_args *a, uint32_t now)
{
	struct gn__slots_shared *s = a->v.shared;

	if (simt_unlikely(!(now & GN__AGE)))
		gn__cut_ages(&a->v, now);
	if (s->missing)
		gn__place_all(&a->v, &a->batch, now);
	if (simt_thread() == 0) {
		s->now = (now + 1) & GN__STAMP;
		s->statistics.batches++;
	}
}

SIMT_FN void gn_slots_resolve_keys(const struct gn_slots_resolve_args *a)
{
	const uint32_t now = a->v.shared->now, lane = simt_lane();
	const int early = a->v.shared->pending != 0;

	if (early)
		refuse_batch(a);
	else
		for (uint64_t first = simt_global_thread() - lane; first < a->batch.count;
		     first += simt_global_threads())
			look_up(a, (uint32_t)first + lane, first + lane < a->batch.count, now);
	if (gn__block_is_last(&a->v.shared->ended) && !early)
		end_batch(a, now);
}
SIMT_KERNEL(gn_slots_resolve_keys, struct gn_slots_resolve_args)

/* ---- fill ---- */

SIMT_FN void gn_slots_load(const struct gn_slots_resolve_args *a)
{
	const uint32_t pending = a->v.shared->pending;

	if (!pending)
		return;
	if (a->v.fill.lanes > 1)
		gn__load_items(&a->v, pending);
	else
		gn__load_pieces(&a->v, pending);
	gn__fill_map(&a->v, pending);
	if (gn__block_is_last(&a->v.shared->moved))
		gn__fill_end(&a->v, pending);
}
SIMT_KERNEL(gn_slots_load, struct gn_slots_resolve_args)

SIMT_FN void gn_slots_read(const struct gn_slots_resolve_args *a)
{
	const uint32_t pending = a->v.shared->pending;

	if (!pending)
		return;
	gn__read_pieces(&a->v, pending);
	gn__fill_map(&a->v, pending);
	if (gn__block_is_last(&a->v.shared->moved))
		gn__fill_end(&a->v, pending);
}
SIMT_KERNEL(gn_slots_read, struct gn_slots_resolve_args)

/* Before gn_slots_read: items that leave and have other bytes than the store. */
SIMT_FN void gn_slots_write(const struct gn_slots_resolve_args *a)
{
	if (a->v.shared->pending)
		gn__write_pieces(&a->v, a->v.shared->pending);
}
SIMT_KERNEL(gn_slots_write, struct gn_slots_resolve_args)

SIMT_FN void gn_slots_flush_all(const struct gn_slots_resolve_args *a)
{
	gn__flush_pieces(&a->v);
	if (gn__block_is_last(&a->v.shared->moved))
		gn__flush_end(&a->v);
}
SIMT_KERNEL(gn_slots_flush_all, struct gn_slots_resolve_args)

/* ---- pins and marks ---- */

SIMT_FN void unpin(const struct gn__slots_view *v, uint32_t slot)
{
	uint32_t pins = simt_load_relaxed_dev_u32(&v->pins[slot]), seen;

	for (;; pins = seen) {
		if (!(pins & GN__PINS)) {
			gn__slots_refuse(v, slot, -GN_EINVAL);
			return;
		}
		/* a release: whoever takes the slot comes behind this thread's reads of it */
		seen = simt_cas_acq_rel_dev_u32(&v->pins[slot], pins, pins - 1);
		if (seen == pins)
			return;
	}
}

SIMT_FN void change_slot(const struct gn_slots_change_args *a, uint32_t slot)
{
	switch (a->change) {
	case GN__PIN: simt_reduce_add_relaxed_dev_u32(&a->v.pins[slot], 1); break;
	case GN__UNPIN: unpin(&a->v, slot); break;
	default: simt_reduce_or_relaxed_dev_u32(&a->v.pins[slot], GN__DIRTY);
	}
}

SIMT_FN void gn_slots_change(const struct gn_slots_change_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->count; k += simt_global_threads()) {
		const int32_t slot = a->slot[k];

		if (slot >= 0 && (uint32_t)slot < a->v.slots)
			change_slot(a, (uint32_t)slot);
		else if (slot >= 0)
			gn__slots_refuse(&a->v, slot, -GN_ERANGE);
	}
}
SIMT_KERNEL(gn_slots_change, struct gn_slots_change_args)

/* ---- forgetting ---- */

SIMT_FN void gn_slots_empty(const struct gn_slots_resolve_args *a)
{
	for (uint64_t k = simt_global_thread(); k < a->v.groups; k += simt_global_threads()) {
		a->v.group[k].passed = 0;
		for (int at = 0; at < GN__GROUP_WORDS; at++)
			a->v.group[k].word[at] = GN__NO_ITEM;
	}
	for (uint64_t slot = simt_global_thread(); slot < a->v.slots; slot += simt_global_threads()) {
		a->v.key[slot] = -1;
		a->v.use[slot] = GN__UNUSED;
		a->v.pins[slot] = 0;
	}
	for (uint64_t k = simt_global_thread(); k < a->v.seens; k += simt_global_threads())
		a->v.seen[k] = 0;
	if (simt_global_thread() == 0) {
		struct gn__slots_shared *s = a->v.shared;

		s->pending = s->missing = s->followers = s->failed = s->ended = s->moved = 0;
	}
}
SIMT_KERNEL(gn_slots_empty, struct gn_slots_resolve_args)
