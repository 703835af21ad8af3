/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - items of a store in numbered slots of device memory: a batch of keys goes in, slot numbers come
 * out. Caches of experts, of KV rows and of embeddings can be built from it.
 *
 * A store holds items of one size. Item k begins at byte offset + k * item_bytes. The slab is memory of the
 * machine with room for some of them: slot s begins at slab + s * item_bytes. So the slab is a tensor whose
 * first dimension kernels index by slot. Two calls launch kernels on a stream and wait for nothing:
 *
 *   gn_slots_resolve(slots, &batch, stream, &error)   gives a slot to each key of the batch
 *   gn_slots_fill(slots, stream, &error)              copies the missing items from the store
 *
 * Both have fixed shapes and may be captured in a CUDA graph: keys are read, and slots written, at replay.
 *
 *   keys      A negative key is padding, and gets slot -1. Equal keys get the same slot. A key past
 *             the last item gets slot -1, and -GN_ERANGE is kept (see failures).
 *   places    Any slot may hold any item. If a batch has no more different keys than there are slots
 *             that are not held, each key gets a slot. Otherwise the keys that are left over get -1,
 *             and -GN_ENOBUFS is kept.
 *   held      A held slot keeps its item. A slot is held while it is pinned, or if one of the last
 *             options.keep batches used it. So with keep 1 the slots of a batch may be used on the
 *             same stream until the next resolve. With keep 2 a kernel of another stream may use them
 *             while the next batch is resolved and filled, and must have ended before the resolve
 *             after that.
 *   bytes     After gn_slots_fill the slots of the batch have the bytes of their items. The slots of
 *             hits have them already before it: see batch.missed.
 *   failures  The first failure on the machine is kept until gn_slots_failure takes it. If an item
 *             cannot be read, the fill sets the slots of its keys to -1, and the code is kept. The
 *             next batch tries again. A slot number that is not -1 is always that of the key's item.
 *   order     The fill of a batch must have ended before the next batch is resolved: launch them on
 *             one stream, or order the streams by an event. If the fill has not begun, the resolve
 *             gives -1 to all keys, and -GN_EBUSY is kept. If the fill still runs, all results are
 *             undefined until gn_slots_clear.
 *   changes   The store is read when an item is fetched. If anything else writes the store later, call
 *             gn_slots_clear. A kernel may change the bytes of a slot that is held. If gn_slots_mark
 *             named the slot, they are written to the store before the slot is given away, or by
 *             gn_slots_flush; otherwise they are lost when it is given away. If the write fails, the
 *             item stays in its slot, marked, the code is kept, and the new key gets -1 instead of
 *             that slot.
 *
 * Sources: A. J. Smith, "Sequentiality and prefetching in database systems" (1978), for the lives of the
 * clock (there GCLOCK); N. Bronson and X. Shi, "Open-sourcing F14" (2019), for the counts in the map from key
 * to slot.
 */
#ifndef GRAPNEL_SLOTS_H
#define GRAPNEL_SLOTS_H

#include <grapnel/error.h>
#include <grapnel/simt.h>
#include <grapnel/store.h>

#if !defined(__CUDACC_RTC__)
#ifdef __cplusplus
extern "C" {
#endif

/* Sizes of items, in bytes; a multiple of 16. */
enum { GN_SLOTS_LEAST_ITEM = 16, GN_SLOTS_MOST_ITEM = 64 << 20 };

/* Which slot is given away. */
enum gn_slots_policy {
	/*
	 * A hand goes round. It gives away the first slot that is not held and has no lives, and takes one
	 * life from each slot with lives that it passes. A use sets a slot's lives to 1 + 2 * priority. The
	 * cost is that of the slots that the hand passes
	 */
	GN_SLOTS_CLOCK,
	/*
	 * The slot with the least priority; of those, the one whose last use is the longest ago, counted in
	 * batches. If a batch misses, one block reads eight bytes of each slot up to five times: so take it
	 * for up to some ten thousand slots
	 */
	GN_SLOTS_LRU
};

/* Zero is a good default for every member but item_bytes, and slots or bytes. */
struct gn_slots_options {
	uint64_t item_bytes; /* a multiple of 16, from GN_SLOTS_LEAST_ITEM to GN_SLOTS_MOST_ITEM */
	uint64_t bytes;      /* of the slab, if slots is 0 */
	uint32_t slots;      /* how many; 0: as bytes has room for */
	uint32_t most_keys;  /* of a batch; 0: 4096 */
	uint64_t offset;     /* of item 0 in the store, a multiple of 16 */
	uint64_t items;      /* 0: as many as the store has from offset on */
	enum gn_slots_policy policy;
	uint32_t keep; /* how many batches hold their slots: the newest ones, 1024 at most; 0: 1 */
	/* blocks that copy items; 0: one for each processor. Fewer leave more room for other kernels */
	uint32_t fill_blocks;
	/*
	 * The slab: memory that kernels of the machine reach, 16-byte aligned, of slots * item_bytes, such as
	 * a tensor of the caller's; borrowed until destroy. NULL: allocate it
	 */
	void *slab;
};

struct gn_slots;

/*
 * gn_slots_create - make slots for items of a store. All are empty.
 * @slots    receives them; owned, gn_slots_destroy before the store is closed
 * @store    of this machine, or shared with it; borrowed until destroy
 * Allocates the slab, and 32 bytes of the machine's memory for each slot and 56 for each key of the largest
 * batch. If blocks of a store behind queue pairs do not divide offset and item_bytes, also up to 4 KiB (or a
 * block) for each thread that copies. Loads the kernels, so that batches can be captured. Host. Returns 0,
 * -GN_EINVAL (the message names the option; also: the store has no item), -GN_EFBIG (the numbers of items and
 * of slots need more than 63 bits together), -GN_ENOMEM, -GN_ENODEV (the library was not built for
 * this device), -GN_ENOTSUP (a store of another machine).
 */
int gn_slots_create(struct gn_slots **slots, struct simt_machine *machine, struct gn_store *store,
                    const struct gn_slots_options *options, struct gn_error *error);

/* gn_slots_destroy - free them; NULL does nothing. Does not flush. Host, no kernel running that uses them. */
void gn_slots_destroy(struct gn_slots *slots);

/* The memory and the sizes of slots. */
struct gn_slots_info {
	void *slab; /* slot s begins at slab + s * item_bytes. Borrowed; the machine's memory */
	uint64_t item_bytes;
	uint64_t items; /* keys are 0 to items - 1 */
	uint32_t slots;
	uint32_t most_keys;
	uint64_t metadata_bytes; /* device memory beside the slab */
};

/* gn_slots_describe - fill info. Any host thread. */
void gn_slots_describe(const struct gn_slots *slots, struct gn_slots_info *info);

/* Properties of a batch, or-ed in batch.hints. */
enum gn_slots_hint {
	/* Each key that gets a slot pins it once; call gn_slots_unpin over the same slot numbers later. */
	GN_SLOTS_PIN = 1,
	/* The items will not be used again soon: fetched ones leave first, and a hit gives no lives. */
	GN_SLOTS_ONCE = 2,
	/* Fetch nothing: a key whose item is not resident gets -1, which is no failure. */
	GN_SLOTS_RESIDENT = 4,
	/*
	 * Kernels will write all bytes of the items, after the fill and before the next resolve or flush,
	 * such as new rows of a KV cache. Missing items are not read from the store, and the slots of all are
	 * marked (gn_slots_mark). Only for items that gn_slots_mark accepts
	 */
	GN_SLOTS_OVERWRITE = 8
};

enum { GN_SLOTS_MOST_PRIORITY = 3 };

/* A batch. Its arrays are memory that kernels of the machine reach; key and slot do not overlap. */
struct gn_slots_batch {
	const int64_t *key; /* [count] */
	int32_t *slot;      /* [count], receives the slots; must stay until the fill has ended */
	/* [count], receives 1 if the slot gets its bytes by the fill, 0 if it has them; may be NULL */
	uint8_t *missed;
	uint32_t count; /* up to options.most_keys */
	uint32_t hints; /* of enum gn_slots_hint, or-ed */
	/* of all its items, 0 to GN_SLOTS_MOST_PRIORITY; see enum gn_slots_policy */
	uint32_t priority;
};

/*
 * gn_slots_resolve - give a slot to each key of a batch, after all work that is already on a stream.
 * @batch   copied; its arrays are borrowed until the kernels have ended
 * @stream  of the slots' machine; NULL: the machine's own. It may be in capture: then the call adds one
 *          kernel node
 * Launches one kernel, also for an empty batch, which counts as one of the options.keep batches. Does not
 * wait; allocates nothing. The kernels of all calls on one object must run in order: on one stream, or
 * ordered by events. Only those of pin and unpin may run at any time. Host, one thread at a time. Returns 0
 * (launched), -GN_EINVAL (the message names the argument), with GN_SLOTS_OVERWRITE the codes of
 * gn_slots_mark, or the code of simt_launch_on. gn_slots_failure reports failures on the machine.
 */
int gn_slots_resolve(struct gn_slots *slots, const struct gn_slots_batch *batch, struct simt_stream *stream,
                     struct gn_error *error);

/*
 * gn_slots_fill - fetch the missing items of the batch that was resolved last, after all work that is already
 * on a stream.
 * Launches one kernel, which returns at once if nothing is missing; and one more before it if the store is
 * behind queue pairs and may be written. Does not wait. Stream, capture, threads and return codes as
 * gn_slots_resolve. Call it once after each gn_slots_resolve. After it has run, the slots of items that could
 * not be read are -1 in batch.slot.
 */
int gn_slots_fill(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_slots_pin, gn_slots_unpin - pin slots, and unpin them: a pinned slot keeps its item.
 * @slot   [count] slot numbers as gn_slots_resolve gave them; memory that kernels of the machine reach. -1 is
 *         skipped; a number that occurs n times is pinned or unpinned n times
 * Pin slots while they are held, that is, before the next resolve: later they may have another item.
 * GN_SLOTS_PIN pins them in the resolve. If an item cannot be read, the fill removes the pins that
 * GN_SLOTS_PIN gave its slot; so pin and unpin the slots of a batch only after its fill. Each call launches
 * one kernel, and does not wait. Any stream of the machine, also in capture, and beside the kernels of
 * resolve and fill. If a slot is unpinned while a batch is resolved, that batch may get it or not. Host, one
 * thread a stream at a time. Returns as gn_slots_resolve. A number past the slots (-GN_ERANGE), and an unpin
 * of a slot that is not pinned (-GN_EINVAL), are kept, and change nothing.
 */
int gn_slots_pin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                 struct gn_error *error);
int gn_slots_unpin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                   struct gn_error *error);

/*
 * gn_slots_mark - say that kernels have changed the bytes of slots, or will before the next resolve. Then
 * they are written to the store before the slots are given away. Arguments, launch, stream and threads as
 * gn_slots_pin. Call it while the slots are held and after the fill of their batch, not beside a resolve,
 * fill or flush. Returns as gn_slots_pin; also -GN_EROFS (a store that is open read-only), -GN_ENOTSUP (a
 * store behind queue pairs whose blocks do not divide offset and item_bytes).
 */
int gn_slots_mark(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                  struct gn_error *error);

/*
 * gn_slots_flush - write the items of all marked slots to the store, after all work that is already on a
 * stream; they stay in their slots and are marked no more.
 * Launches one kernel, or none if items cannot be written (gn_slots_mark), and does not wait. Not between a
 * resolve and its fill. No kernel may change or mark slots meanwhile. Stream, capture, threads and return
 * codes as gn_slots_resolve. When it has run, every item that was marked is in the store, or gn_slots_failure
 * reports one that is not. The items are durable after gn_store_flush.
 */
int gn_slots_flush(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_slots_clear - forget all items, after all work that is already on a stream: the store has other bytes
 * now. Pins end, and changes that were not flushed are lost. No kernel may use the slots. Launches one
 * kernel, and does not wait. Stream, capture, threads and return codes as gn_slots_resolve.
 */
int gn_slots_clear(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_slots_failure - take the first failure on the machine since the last call.
 * Any host thread at any time, also while kernels run; waits for nothing. Returns 0 (none); -GN_ERANGE (a key
 * or slot number past the end); -GN_ENOBUFS (a key for which no slot was free); -GN_EBUSY (a resolve before
 * the fill of the last batch); -GN_EINVAL (an unpin of a slot that is not pinned); or the store's code:
 * -GN_EIO, -GN_ETIMEDOUT, -GN_ENOSPC, ... The message has the key or slot, and how many failures there were.
 */
int gn_slots_failure(struct gn_slots *slots, struct gn_error *error);

/* Counts since create. If a batch has a key twice, hits, misses and refused count it twice. */
struct gn_slots_statistics {
	uint64_t batches;
	uint64_t hits;     /* keys whose item was resident */
	uint64_t misses;   /* keys whose item was not */
	uint64_t fetched;  /* items read from the store */
	uint64_t evicted;  /* items whose slot was given to another */
	uint64_t no_slot;  /* items for which no slot was free */
	uint64_t refused;  /* keys past the last item, and keys of a batch that was resolved too early */
	uint64_t failed;   /* items that could not be read or written */
	uint64_t written;  /* items written to the store */
	uint64_t examined; /* slots that were looked at to find one to give away */
};

/*
 * gn_slots_get_statistics - fill statistics, after all work that is already on a stream, for which it waits.
 * @stream  NULL: the machine's own; not in capture
 * Host. Returns 0 or the code of simt_stream_move.
 */
int gn_slots_get_statistics(struct gn_slots *slots, struct simt_stream *stream,
                            struct gn_slots_statistics *statistics, struct gn_error *error);

#ifdef __cplusplus
}
#endif
#endif

#endif
