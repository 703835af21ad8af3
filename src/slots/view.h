/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - slots as their kernels see them: plain data, made by gn_slots_create. */
#ifndef GN_SLOTS_VIEW_H
#define GN_SLOTS_VIEW_H

#include <grapnel/slots.h>

enum { GN__GROUP_WORDS = 7, GN__SLOTS_PER_GROUP = 4 };

/* A part of the map (map.h): a line of 64 bytes. */
struct gn__slots_group {
	uint64_t passed; /* items that lie in a later group because this one was full when they came */
	uint64_t word[GN__GROUP_WORDS]; /* key << slot_bits | slot, or GN__NO_ITEM */
};
GN__STATIC_ASSERT(sizeof(struct gn__slots_group) == 64, "a group is two sectors");

static const uint64_t GN__NO_ITEM = ~0ull;

/*
 * The last use of a slot, in one word: the batch's number in the low bits, the priority, the lives. An age is
 * a difference of batch numbers, modulo their range. Every 2^22 batches the ages beyond 2^22 are cut to that,
 * so that none comes round (place.h).
 */
enum { GN__STAMP_BITS = 24, GN__AGE_BITS = 22, GN__PRIORITY_SHIFT = 24, GN__LIVES_SHIFT = 28 };
static const uint32_t GN__STAMP = (1u << GN__STAMP_BITS) - 1;
static const uint32_t GN__AGE = (1u << GN__AGE_BITS) - 1;
static const uint32_t GN__UNUSED = ~0u; /* of a slot without an item */

/* What view.pins says of a slot: how many pins it has, and further bits. */
static const uint32_t GN__PINS = (1u << 30) - 1;
static const uint32_t GN__LOST = 1u << 30;  /* while items that failed are seen to: its item is one */
static const uint32_t GN__DIRTY = 1u << 31; /* its item has other bytes than the store */

/* An item that the batch misses. */
struct gn__slots_fetch {
	int64_t key;
	int64_t gone;      /* the item that leaves, or -1 */
	uint32_t position; /* in the batch, of the key that stands for all equal ones */
	uint32_t seen;     /* its place in view.seen */
	uint32_t slot;     /* where it comes */
	int32_t code;      /* of a failed read or write, else 0 */
	uint32_t writes;   /* 1: the item that leaves was changed, and has to be written before */
	uint32_t kept;     /* 1: it could not be written, and stays */
};

/* A key of the batch that is equal to a missing one. */
struct gn__slots_follower {
	uint32_t position, leader; /* places in the batch */
};

/* What the kernels of one object share, in device memory. Counters that change together lie together. */
struct gn__slots_shared {
	uint32_t now;     /* number of the next batch */
	uint32_t pending; /* items that gn_slots_fill has to fetch */
	uint32_t hand;    /* the slot at which the clock's search goes on */
	uint32_t once;    /* where items that are wanted once look first */
	uint32_t pad[28];
	uint32_t ended;     /* blocks of a resolve that have come to their end */
	uint32_t moved;     /* the same of a fill or a flush */
	uint32_t missing;   /* entries of view.fetch while a batch is looked up */
	uint32_t followers; /* of view.follower */
	uint32_t failed;    /* items that could not be read, or written, in the running kernels */
	/* of the batch whose items are pending */
	int32_t *slot;
	uint32_t count;
	uint32_t hints;
	uint32_t pad_batch[24];
	struct gn_slots_statistics statistics;
};

/* The first failure, in pinned memory, which the host reads while kernels run. */
struct gn__slots_record {
	uint32_t state;  /* 0 none, 1 being written, 2 there */
	int32_t code;    /* negative */
	int64_t key;     /* or slot number */
	uint32_t device; /* what the device said: an NVMe status field, or 0 */
	uint32_t count;  /* failures, ever */
	uint32_t writes; /* 1: the key's item could not be written */
	uint32_t reserved;
};

/* How items are copied (fill.h). */
struct gn__slots_fill {
	uint32_t piece;      /* the most bytes of an item that are moved at once */
	uint32_t cuts;       /* into how many pieces an item falls at most */
	uint32_t flush_cuts; /* the same, of pieces that begin at multiples of `piece` in the store */
	uint32_t lanes;      /* loads: items that a warp copies at once */
	/* queue pairs whose blocks do not divide items: [threads of the grid][piece]; else NULL */
	char *bounce;
};

struct gn__slots_view {
	struct gn__slots_group *group;
	int64_t *key;                        /* [slots], or -1 */
	uint32_t *use;                       /* [slots] */
	uint32_t *pins;                      /* [slots] */
	struct gn__slots_fetch *fetch;       /* [most_keys] */
	struct gn__slots_follower *follower; /* [most_keys] */
	uint32_t *seen; /* [seens]: missing keys of the batch, by hash: place in the batch + 1, or 0 */
	struct gn__slots_shared *shared;
	struct gn__slots_record *record;
	char *slab;
	uint64_t item_bytes, offset, items;
	uint32_t groups, slots, slot_bits, most_keys, seens;
	uint32_t policy; /* enum gn_slots_policy */
	uint32_t keep;
	struct gn__slots_fill fill;
	struct gn_store_view store;
};

/* Keep the first failure; later ones are only counted. Any thread. */
SIMT_NOINLINE_FN void gn__slots_fail(struct gn__slots_record *r, int64_t key, struct gn_store_status status,
                                     uint32_t writes)
{
	if (!simt_load_relaxed_dev_u32(&r->state) && !simt_cas_acq_rel_dev_u32(&r->state, 0, 1)) {
		r->code = status.code;
		r->key = key;
		r->device = status.device;
		r->writes = writes;
		simt_store_release_sys_u32(&r->state, 2);
	}
	simt_reduce_add_relaxed_sys_u32(&r->count, 1);
}

/* The same for what no device said. */
SIMT_NOINLINE_FN void gn__slots_refuse(const struct gn__slots_view *v, int64_t key, int code)
{
	const struct gn_store_status status = {code, 0};

	gn__slots_fail(v->record, key, status, 0);
}

/* Are items whole blocks of the store? */
SIMT_FN int gn__slots_whole(const struct gn__slots_view *v)
{
	return v->store.kind == GN_STORE_MEMORY ||
	       (!(v->offset % v->store.block_bytes) && !(v->item_bytes % v->store.block_bytes));
}

/* Can slots be changed, and their items written? */
SIMT_FN int gn__slots_may_write(const struct gn__slots_view *v)
{
	return !v->store.read_only && gn__slots_whole(v);
}

/* Where a slot begins. */
SIMT_FN char *gn__slot_at(const struct gn__slots_view *v, uint32_t slot)
{
	return v->slab + slot * v->item_bytes;
}

#endif
