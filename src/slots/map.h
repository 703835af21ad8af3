/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - from a key to its slot: a hash table of the resident items.
 *
 * The table is an array of groups. An item lies in the group that its hash names, or, where that was full, in
 * the first one behind it that was not. A full group counts the items that passed it, so a search ends at a
 * group that none has passed. When an item leaves, the counts on its way become less: nothing of it stays,
 * however often items change. There are 7 places for each 4 slots, so that an item always finds one.
 *
 * Lookups run beside each other only. Insertions and removals may run beside each other: both change a word
 * of their own by one atomic, and counts by others. Source: N. Bronson and X. Shi, "Open-sourcing F14"
 * (2019).
 */
#ifndef GN_SLOTS_MAP_H
#define GN_SLOTS_MAP_H

#include <slots/view.h>

/* Source: the finalizer of MurmurHash3 (A. Appleby). */
SIMT_FN uint64_t gn__key_hash(int64_t key)
{
	uint64_t h = (uint64_t)key + 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 33) * 0xff51afd7ed558ccdu;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53u;
	return h ^ h >> 33;
}

/* A place in a table of so many, by 32 bits of a hash. */
SIMT_FN uint32_t gn__place_of(uint32_t hash, uint32_t places)
{
	return (uint32_t)((uint64_t)hash * places >> 32);
}

SIMT_FN uint32_t gn__home_of(const struct gn__slots_view *v, int64_t key)
{
	return gn__place_of((uint32_t)(gn__key_hash(key) >> 32), v->groups);
}

SIMT_FN uint32_t gn__next_group(const struct gn__slots_view *v, uint32_t group)
{
	return group + 1 < v->groups ? group + 1 : 0;
}

SIMT_FN uint64_t gn__map_word(const struct gn__slots_view *v, int64_t key, uint32_t slot)
{
	return (uint64_t)key << v->slot_bits | slot;
}

enum { GN__GROUP_LOADS = (GN__GROUP_WORDS + 1) / 2 };

/* Search a group. Returns the word of the key, or GN__NO_ITEM; *passed: the items that passed the group. */
SIMT_FN uint64_t gn__group_find(const struct gn__slots_view *v, const struct gn__slots_group *group,
                                int64_t key, uint64_t *passed)
{
	uint64_t word[2 * GN__GROUP_LOADS], found = GN__NO_ITEM;

	SIMT_UNROLL
	for (int k = 0; k < GN__GROUP_LOADS; k++)
		simt_load_two_relaxed_sys_u64((const uint64_t *)(const void *)group + 2 * k, &word[2 * k],
		                              &word[2 * k + 1]);
	*passed = word[0];
	SIMT_UNROLL
	for (int k = 1; k < 2 * GN__GROUP_LOADS; k++)
		found = word[k] >> v->slot_bits == (uint64_t)key ? word[k] : found;
	return found;
}

/* Look a key up. Returns its slot; view.slots: it has none. */
SIMT_FN uint32_t gn__map_find(const struct gn__slots_view *v, int64_t key)
{
	uint32_t group = gn__home_of(v, key);
	uint64_t passed = 1;

	for (uint32_t tries = 0; tries < v->groups && passed; tries++) {
		const uint64_t word = gn__group_find(v, &v->group[group], key, &passed);

		if (word != GN__NO_ITEM)
			return (uint32_t)(word & ((1ull << v->slot_bits) - 1));
		group = gn__next_group(v, group);
	}
	return v->slots;
}

/* Put a word into a group. Returns 0 if it is full. */
SIMT_FN int gn__group_put(struct gn__slots_group *group, uint64_t word)
{
	for (int k = 0; k < GN__GROUP_WORDS; k++)
		if (simt_load_relaxed_dev_u64(&group->word[k]) == GN__NO_ITEM &&
		    simt_cas_relaxed_dev_u64(&group->word[k], GN__NO_ITEM, word) == GN__NO_ITEM)
			return 1;
	return 0;
}

/* Insert a key that is not there. */
SIMT_FN void gn__map_insert(const struct gn__slots_view *v, int64_t key, uint32_t slot)
{
	const uint64_t word = gn__map_word(v, key, slot);
	uint32_t group = gn__home_of(v, key);

	while (!gn__group_put(&v->group[group], word)) {
		simt_reduce_add_relaxed_dev_u64(&v->group[group].passed, 1);
		group = gn__next_group(v, group);
	}
}

/* Clear a word of a group. Returns 0 if it is not there. */
SIMT_FN int gn__group_drop(struct gn__slots_group *group, uint64_t word)
{
	for (int k = 0; k < GN__GROUP_WORDS; k++)
		if (simt_load_relaxed_dev_u64(&group->word[k]) == word) {
			simt_store_relaxed_dev_u64(&group->word[k], GN__NO_ITEM);
			return 1;
		}
	return 0;
}

/* Remove a key that is there. */
SIMT_FN void gn__map_remove(const struct gn__slots_view *v, int64_t key, uint32_t slot)
{
	const uint64_t word = gn__map_word(v, key, slot);
	uint32_t group = gn__home_of(v, key);

	/* bounded, for callers that broke the order of calls */
	for (uint32_t tries = 0; tries < v->groups && !gn__group_drop(&v->group[group], word); tries++) {
		simt_reduce_add_relaxed_dev_u64(&v->group[group].passed, (uint64_t)-1);
		group = gn__next_group(v, group);
	}
}

#endif
