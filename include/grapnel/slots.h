/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h - items of a store in numbered slots of device memory: a batch of keys in, slot numbers out. It is
 * what caches of experts, of KV rows and of embeddings are made of.
 *
 * A store holds items of one size. Item k begins at byte offset + k * item_bytes. The slab is memory of the
 * machine with room for some of them: slot s begins at slab + s * item_bytes. So the slab is a tensor whose
 * first dimension kernels index by slot. Two calls launch kernels on a stream and wait for nothing:
 *
 *   gn_slots_resolve(slots, &batch, stream, &error)   gives a slot to each key of the batch
 *   gn_slots_fill(slots, stream, &error)              copies the items that are missing from the store
 *
 * Both have fixed shapes and may be captured in a CUDA graph: keys are read, and slots written, at replay.
 *
 *   keys      A negative key is padding, and gets slot -1. Equal keys get the same slot. A key past the last
 *             item gets slot -1, and -GN_ERANGE is kept.
 *   which     Any slot may hold any item. As long as a batch has no more different keys than there are slots
 *             that are not held, each key gets a slot. Else the keys that are left over get -1, and
 *             -GN_ENOBUFS is kept.
 *   held      A slot is held while it is pinned, and by the batches that used it last: by the newest one, and
 *             with options.keep of 2 or more also by those before. A held slot keeps its item. So the slots
 *             of a batch may be used on the same stream until the next resolve; with keep 2, a kernel of
 *             another stream may use them while the next batch is resolved and filled, and must have ended
 *             before the resolve after that.
 *   bytes     After gn_slots_fill the slots of the batch have the bytes of their items. Between the two
 *             calls those of hits already have them: see batch.missed.
 *   failures  An item that cannot be read is not resident. Its keys' slots become -1 in the same fill, and
 *             its code is kept. The next batch tries again.
 *   order     The fill of a batch must have ended before the next batch is resolved: launch them on one
 *             stream, or let a stream wait for the other. A resolve that comes before the fill has begun
 * gives -1 to all keys, and -GN_EBUSY is kept. What a resolve beside a running fill does is undefined until
 * gn_slots_clear. changes   A store is read when an item is fetched. If somebody else writes it later, call
 * gn_slots_clear. A kernel may change the bytes of a slot that is held. After gn_slots_mark they are written
 * to the store before the slot is given away, or by gn_slots_flush; without it they are lost then. If that
 * write fails, the item stays in its slot, marked, and the code is kept. The key for which the slot was meant
 * gets -1.
 *
 * What is kept: the first failure, until gn_slots_failure takes it. Nothing is wrong silently: a slot number
 * that is not -1 is that of the key's item.
 *
 * Sources: the lives of the clock are those of A. J. Smith, "Sequentiality and prefetching in database
 * systems" (1978), where they are called GCLOCK; counts of what passes a group of the map: N. Bronson and X.
 * Shi, "Open-sourcing F14" (2019).
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
	 * A hand goes round. It takes the first slot without lives, and takes one life from each slot that it
	 * passes. Each use gives a slot 1 + 2 * priority lives. Costs as much as it passes
	 */
	GN_SLOTS_CLOCK,
	/*
	 * The slot with the least priority; of those, the one whose last use is the longest ago, counted in
	 * batches. A batch that misses reads eight bytes of each slot up to five times, by one block: for up
	 * to some ten thousand slots
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
	uint32_t keep; /* batches that hold their slots, 1024 at most; 0: 1, the newest */
	/* of the grid that copies; 0: one a processor. Fewer leave more to other kernels */
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
 * Allocates the slab, 32 bytes of the machine's memory for each slot, and 56 for each key of a batch. For a
 * store behind queue pairs whose blocks do not divide offset and item_bytes also up to 4 KiB (or a
 * block) for each thread that copies. Loads the kernels, so that batches can be captured. Host. Returns 0,
 * -GN_EINVAL (an option, in words; a store without an item), -GN_EFBIG (more than 2^63 as the product of
 * items and slots, each rounded up to a power of two), -GN_ENOMEM, -GN_ENODEV (the library was not built for
 * this device), -GN_ENOTSUP (a store of another machine).
 */
int gn_slots_create(struct gn_slots **slots, struct simt_machine *machine, struct gn_store *store,
                    const struct gn_slots_options *options, struct gn_error *error);

/* gn_slots_destroy - free them; NULL is nothing. Does not flush. Host, no kernel running that uses them. */
void gn_slots_destroy(struct gn_slots *slots);

/* What slots are. */
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

/* What a batch asks for beside its keys; or-ed in batch.hints. */
enum gn_slots_hint {
	/* Each key with a slot pins it once; end that by gn_slots_unpin over the same slot numbers. */
	GN_SLOTS_PIN = 1,
	/* The items will not be wanted again soon: a missing one leaves first, a hit gives no new lives. */
	GN_SLOTS_ONCE = 2,
	/* Fetch nothing: a key whose item is not resident gets -1, which is no failure. */
	GN_SLOTS_RESIDENT = 4,
	/*
	 * Kernels will write all bytes of the items, after the fill and before the next resolve or flush:
	 * missing ones are not read from the store, and all are marked (gn_slots_mark), as new rows of a KV
	 * cache. Only for items that can be written
	 */
	GN_SLOTS_OVERWRITE = 8
};

enum { GN_SLOTS_MOST_PRIORITY = 3 };

/* A batch. Its arrays are memory that kernels of the machine reach; key and slot do not overlap. */
struct gn_slots_batch {
	const int64_t *key; /* [count] */
	int32_t *slot;      /* [count], receives the slots; must stay until the fill has ended */
	/* [count], receives 1 where the slot has its bytes only after the fill, else 0; NULL: not wanted */
	uint8_t *missed;
	uint32_t count; /* up to options.most_keys */
	uint32_t hints; /* of enum gn_slots_hint, or-ed */
	/* of its items, 0 to GN_SLOTS_MOST_PRIORITY; enum gn_slots_policy says what it means */
	uint32_t priority;
};

/*
 * gn_slots_resolve - give a slot to each key of a batch, after all work that is already on a stream.
 * @batch   copied; its arrays are borrowed until the kernels have ended
 * @stream  of the slots' machine; NULL: the machine's own. It may be in capture: then the call adds one
 *          kernel node
 * Launches one kernel, and does not wait. It allocates nothing. An empty batch launches it, too: it is a
 * batch for options.keep. All calls on one object are in order with each other: on one stream, or ordered by
 * events; but pins and unpins may run at any time. Host, one thread at a time. Returns 0 (launched),
 * -GN_EINVAL (an argument, in words; a stream of another machine), with GN_SLOTS_OVERWRITE the codes of
 * gn_slots_mark, or the code of simt_launch_on. What fails on the machine is kept: gn_slots_failure.
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
 * gn_slots_pin, gn_slots_unpin - pin slots, and end that: a pinned slot keeps its item.
 * @slot   [count] slot numbers as gn_slots_resolve gave them; memory that kernels of the machine reach. -1 is
 *         left out; a number that is there several times counts as often
 * Pin slots while they are held, or they may already be another item's: that is, before the next resolve;
 * with GN_SLOTS_PIN resolve does it. A slot of an item that could not be read is not pinned any more, if
 * GN_SLOTS_PIN had pinned it; so pin and unpin the slots of a batch only after its fill. Each launches one
 * kernel, and does not wait. Any stream of the machine, also in capture, and beside the kernels of resolve
 * and fill: a slot that is unpinned while a batch is resolved is or is not available to that batch. Host, one
 * thread a stream at a time. Returns as gn_slots_resolve. A number past the slots (-GN_ERANGE), and an unpin
 * of a slot that is not pinned (-GN_EINVAL), are kept, and change nothing.
 */
int gn_slots_pin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                 struct gn_error *error);
int gn_slots_unpin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                   struct gn_error *error);

/*
 * gn_slots_mark - kernels have changed the bytes of slots, or will before the next resolve: write them to the
 * store before the slots are given away. Arguments, launch, stream and threads as gn_slots_pin. Call it while
 * the slots are held and after the fill of their batch, not beside a resolve, fill or flush. Returns as
 * gn_slots_pin; also -GN_EROFS (a store that is open read-only), -GN_ENOTSUP (a store behind queue pairs
 * whose blocks do not divide offset and item_bytes).
 */
int gn_slots_mark(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                  struct gn_error *error);

/*
 * gn_slots_flush - write the items of all marked slots to the store, after all work that is already on a
 * stream; they stay in their slots and are marked no more.
 * Launches one kernel, and does not wait. Not between a resolve and its fill. No kernel may change or mark
 * slots meanwhile. Stream, capture, threads and return codes as gn_slots_resolve. When it has run, every item
 * that was marked is in the store, or gn_slots_failure tells of one that is not. Durable it is after
 * gn_store_flush.
 */
int gn_slots_flush(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_slots_clear - forget all items, after all work that is already on a stream: the store has other bytes
 * now. Pins end, and changes that were not flushed are lost. No kernel may use the slots. Launches one
 * kernel, and does not wait. Stream, capture, threads and return codes as gn_slots_resolve.
 */
int gn_slots_clear(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error);

/*
 * gn_slots_failure - the first failure on the machine since the last call, which this call takes.
 * Any host thread at any time, also while kernels run; waits for nothing. Returns 0 (none); -GN_ERANGE (a key
 * or slot number past the end); -GN_ENOBUFS (a key for which no slot was to be had); -GN_EBUSY (a resolve
 * before the fill of the batch before); -GN_EINVAL (an unpin too many); or what the store said: -GN_EIO,
 * -GN_ETIMEDOUT, -GN_ENOSPC, ... The message has the key or slot, and how many failures there were.
 */
int gn_slots_failure(struct gn_slots *slots, struct gn_error *error);

/* What was done since create. Of hits, misses and refused a key that is in a batch several times is several.
 */
struct gn_slots_statistics {
	uint64_t batches;
	uint64_t hits;     /* keys whose item was resident */
	uint64_t misses;   /* keys whose item was not */
	uint64_t fetched;  /* items read from the store */
	uint64_t evicted;  /* items whose slot was given to another */
	uint64_t no_slot;  /* items for which no slot was to be had */
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
