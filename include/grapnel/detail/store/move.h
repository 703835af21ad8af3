/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/store/move.h - the threads of a kernel move bytes between a store and memory.
 */
#include <grapnel/store.h> /* declares these functions; before the guard, because it includes this file */
#ifndef GRAPNEL_STORE_MOVE_H
#define GRAPNEL_STORE_MOVE_H

#include <grapnel/nvmeq.h>
#include <grapnel/trace.h>

SIMT_FN const struct gn_nvmeq *gn__store_queue(const struct gn_store_view *s)
{
	return &s->queue[simt_processor() % s->queue_count];
}

/* Of these queue pairs of one store: may a write that timed out still change these bytes? */
SIMT_FN int gn__store_write_hazard(const struct gn_nvmeq *q, uint32_t queues, uint64_t offset, uint32_t bytes)
{
	const uint32_t block = q->block_bytes;

	for (uint32_t k = 0; k < queues; k++)
		if (gn_nvmeq_write_hazard(&q[k], offset / block, (bytes + block - 1) / block))
			return 1;
	return 0;
}

/* How often a command that failed is posted again, if its status allows that. */
enum { GN__STORE_RETRIES = 2 };

/*
 * Post one transfer and wait for it. A retry changes *cid. After -GN_ETIMEDOUT its slot is no longer the
 * caller's.
 */
SIMT_FN struct gn_store_status gn__store_transfer(const struct gn_nvmeq *q, uint32_t *cid, uint32_t opcode,
                                                  uint64_t offset, uint32_t bytes, uint64_t deadline)
{
	struct gn_store_status status = {0, 0};
	uint32_t blocks = (bytes + q->block_bytes - 1) / q->block_bytes;

	for (uint32_t tries = 0;; tries++) {
		status.code = gn_nvmeq_post(q, *cid, opcode, offset / q->block_bytes, blocks);
		if (!status.code)
			status.code = gn_nvmeq_wait(q, *cid, deadline, &status.device);
		if (status.code != -GN_EIO || tries == GN__STORE_RETRIES || !gn__nvmeq_may_retry(q, *cid))
			return status;
		*cid = gn_nvmeq_renew(q, *cid);
	}
}

/* The leader's status, to every lane of mask. */
SIMT_FN struct gn_store_status gn__store_share(uint32_t mask, uint32_t leader, struct gn_store_status status)
{
	status.code = (int32_t)simt_shfl_u32(mask, (uint32_t)status.code, leader);
	status.device = simt_shfl_u32(mask, status.device, leader);
	return status;
}

/*
 * No slot was free: serve the queue once, and pause if there was nothing to serve. A thread that gets a slot
 * uses it and gives it back inside the loop in which it waited (see gn__store_move_blocks). Returns 0 (try
 * again) or -GN_ETIMEDOUT.
 */
SIMT_FN int gn__store_backoff(const struct gn_nvmeq *q, uint64_t deadline)
{
	const int late = simt_clock_ns() > deadline;

	if (!gn__nvmeq_serve(q))
		simt_relax();
	return late ? -GN_ETIMEDOUT : 0;
}

/* The state of one lane's part in a transfer of many lanes. */
enum gn__store_part { GN__STORE_NONE, GN__STORE_WANTS, GN__STORE_FILLS, GN__STORE_POSTED, GN__STORE_LANDED };

/* One lane's transfer behind queue pairs. */
struct gn__store_move {
	uint32_t part; /* enum gn__store_part */
	uint32_t opcode;
	uint32_t cid;
	uint32_t bytes;
	uint64_t offset;
	uint64_t deadline;
	struct gn_store_status status;
	uint32_t tries; /* how often it was posted again */
	uint32_t reserved;
};

/*
 * End a transfer and give its slot back. A transfer that timed out keeps the slot until its completion
 * comes.
 */
SIMT_FN void gn__store_move_ends(const struct gn_nvmeq *q, struct gn__store_move *m)
{
	if (m->status.code != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, m->cid);
	m->part = GN__STORE_NONE;
}

SIMT_FN void gn__store_move_posts(const struct gn_nvmeq *q, struct gn__store_move *m)
{
	m->status.code = gn_nvmeq_post(q, m->cid, m->opcode, m->offset / q->block_bytes,
	                               (m->bytes + q->block_bytes - 1) / q->block_bytes);
	m->part = GN__STORE_POSTED;
	if (m->status.code)
		gn__store_move_ends(q, m);
}

/* One lane's next step: take a slot, post, or poll for the completion. */
SIMT_FN void gn__store_move_on(const struct gn_nvmeq *q, struct gn__store_move *m)
{
	int code;

	if (m->part == GN__STORE_WANTS) {
		if (gn__nvmeq_try_begin(q, &m->cid)) {
			m->status.code = gn__store_backoff(q, m->deadline);
			if (m->status.code)
				m->part = GN__STORE_NONE;
		} else if (m->opcode == GN_NVME_WRITE) {
			m->part = GN__STORE_FILLS;
		} else {
			gn__store_move_posts(q, m);
		}
	} else if (m->part == GN__STORE_POSTED) {
		code = gn_nvmeq_poll(q, m->cid, m->deadline, &m->status.device);
		if (code == -GN_EAGAIN)
			return;
		if (code == -GN_EIO && m->tries < GN__STORE_RETRIES && gn__nvmeq_may_retry(q, m->cid)) {
			m->tries++;
			m->cid = gn_nvmeq_renew(q, m->cid);
			gn__store_move_posts(q, m);
			return;
		}
		m->status.code = code;
		m->part = GN__STORE_LANDED;
		if (code || m->opcode == GN_NVME_WRITE)
			gn__store_move_ends(q, m);
	}
}

/*
 * The transfers of many lanes through a queue pair. Slots are taken, used and given back in one loop. The
 * lanes of a warp can need each other's slots, and after a loop of its own a lane with a slot might have to
 * stand still until other lanes, which still wait for slots, leave that loop. Each lane serves the queue pair
 * that it waits for; those of a warp are one, or on a stripe one a member.
 */
SIMT_NOINLINE_FN struct gn_store_status gn__store_move_blocks(const struct gn_nvmeq *q, uint32_t mask,
                                                              int wants, uint32_t opcode, uint64_t offset,
                                                              void *memory, uint32_t bytes,
                                                              uint64_t timeout_ns)
{
	struct gn__store_move m = {
	    (uint32_t)(wants ? GN__STORE_WANTS : GN__STORE_NONE), opcode, 0, bytes, offset, 0, {0, 0}, 0, 0};
	uint32_t parts, ready;

	m.deadline = simt_clock_ns() + timeout_ns;
	for (;;) {
		gn__store_move_on(q, &m);
		parts = simt_or_u32(mask, 1u << m.part);
		if (parts & 1u << GN__STORE_FILLS) {
			ready = simt_ballot(mask, m.part == GN__STORE_FILLS);
			simt_copy_each(mask, ready, gn_nvmeq_buffer(q, m.cid), memory, (bytes + 15) & ~15u);
			if (m.part == GN__STORE_FILLS)
				gn__store_move_posts(q, &m);
		}
		if (parts & 1u << GN__STORE_LANDED) {
			ready = simt_ballot(mask, m.part == GN__STORE_LANDED);
			GN_TRACE(copy);
			simt_copy_each(mask, ready, memory, gn_nvmeq_buffer(q, m.cid), (bytes + 15) & ~15u);
			if (m.part == GN__STORE_LANDED)
				gn__store_move_ends(q, &m);
		}
		if (parts == 1u << GN__STORE_NONE)
			break;
	}
	return m.status;
}

/* The four functions of store.h for a store over other stores (detail/store/tier.h). */
SIMT_NOINLINE_FN struct gn_store_status gn__set_read(const struct gn_store_view *s, uint32_t mask, int wants,
                                                     uint64_t offset, void *to, uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__set_write(const struct gn_store_view *s, uint32_t mask, int wants,
                                                      uint64_t offset, const void *from, uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__set_read_few(const struct gn_store_view *s, uint64_t offset,
                                                         void *to, uint32_t bytes);
SIMT_NOINLINE_FN struct gn_store_status gn__set_write_few(const struct gn_store_view *s, uint64_t offset,
                                                          const void *from, uint32_t bytes);

SIMT_FN struct gn_store_status gn_store_read_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                  uint64_t offset, void *to, uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};

	if (s->kind == GN_STORE_QUEUES) {
		if (simt_unlikely(s->members))
			return gn__set_read(s, mask, wants, offset, to, bytes);
		return gn__store_move_blocks(gn__store_queue(s), mask, wants, GN_NVME_READ, offset, to, bytes,
		                             s->timeout_ns);
	}
	simt_copy_each(mask, simt_ballot(mask, wants), to, s->memory + offset, (bytes + 15) & ~15u);
	return ok;
}

/*
 * simt__copy_element from byte-addressable stores: read one run for each lane of wants, and give an element
 * of these bytes to each lane that asks for one. It cannot fail.
 * @from  each lane's own: view.memory + offset, 16-byte aligned
 */
SIMT_INLINE_FN struct simt__element gn__store_load_asked(uint32_t mask, uint32_t wants, void *to,
                                                         const char *from, uint32_t bytes,
                                                         struct simt__element ask)
{
	return simt__copy_element(mask, wants, to, from, bytes, ask);
}

/* gn__store_load_asked for runs of one line each (detail/simt/copy.h). */
SIMT_INLINE_FN struct simt__element gn__store_load_lines(uint32_t mask, uint32_t wants, void *to,
                                                         const char *from, struct simt__element ask)
{
	return simt__copy_lines_element(mask, wants, to, from, ask);
}

/*
 * gn_store_write_warp to the queue pairs of one store.
 * @q  [queues], the host's among them: all of them are asked for writes that timed out
 */
SIMT_FN struct gn_store_status gn__store_write_blocks(const struct gn_nvmeq *q, uint32_t queues,
                                                      uint32_t mine, uint32_t mask, int wants,
                                                      uint64_t offset, const void *from, uint32_t bytes,
                                                      uint64_t timeout_ns)
{
	const int busy = wants && gn__store_write_hazard(q, queues, offset, bytes);
	struct gn_store_status status;

	status = gn__store_move_blocks(&q[mine], mask, wants && !busy, GN_NVME_WRITE, offset,
	                               (void *)(uintptr_t)from, bytes, timeout_ns);
	if (busy)
		status.code = -GN_EBUSY;
	return status;
}

SIMT_FN struct gn_store_status gn_store_write_warp(const struct gn_store_view *s, uint32_t mask, int wants,
                                                   uint64_t offset, const void *from, uint32_t bytes)
{
	const int32_t code = wants && s->read_only ? -GN_EROFS : 0;
	struct gn_store_status status = {0, 0};

	wants = wants && !code;
	if (s->kind == GN_STORE_MEMORY)
		simt_copy_each(mask, simt_ballot(mask, wants), s->memory + offset, from, (bytes + 15) & ~15u);
	else if (simt_unlikely(s->members))
		status = gn__set_write(s, mask, wants, offset, from, bytes);
	else
		status = gn__store_write_blocks(s->queue, s->queue_count + s->host_queues,
		                                simt_processor() % s->queue_count, mask, wants, offset, from,
		                                bytes, s->timeout_ns);
	status.code = code ? code : status.code;
	return status;
}

/* Read bytes if a slot is free now, else return -GN_EAGAIN. */
SIMT_FN struct gn_store_status gn__store_try_read(const struct gn_nvmeq *q, uint64_t offset, void *to,
                                                  uint32_t bytes, uint64_t deadline)
{
	struct gn_store_status status = {0, 0};
	uint32_t cid;

	status.code = gn__nvmeq_try_begin(q, &cid);
	if (status.code)
		return status;
	status = gn__store_transfer(q, &cid, GN_NVME_READ, offset, bytes, deadline);
	if (!status.code)
		memcpy(to, gn_nvmeq_buffer(q, cid) + offset % q->block_bytes, bytes);
	if (status.code != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return status;
}

/*
 * Load a few bytes of byte-addressable memory. Aligned words of 4 or 8 bytes are loaded atomically, so that a
 * reader never sees half of another thread's write.
 */
SIMT_FN void gn__store_take(void *to, const char *from, uint32_t bytes)
{
	uint32_t narrow, at;
	uint64_t wide;

	if (bytes == 4 && !((uintptr_t)from & 3)) {
		narrow = simt_load_relaxed_dev_u32((const uint32_t *)(const void *)from);
		memcpy(to, &narrow, 4);
	} else if (!(((uintptr_t)from | bytes) & 7)) {
		for (at = 0; at < bytes; at += 8) {
			wide = simt_load_relaxed_dev_u64((const uint64_t *)(const void *)(from + at));
			memcpy((char *)to + at, &wide, 8);
		}
	} else {
		memcpy(to, from, bytes);
	}
}

SIMT_FN void gn__store_give(char *to, const void *from, uint32_t bytes)
{
	uint32_t narrow, at;
	uint64_t wide;

	if (bytes == 4 && !((uintptr_t)to & 3)) {
		memcpy(&narrow, from, 4);
		simt_store_relaxed_dev_u32((uint32_t *)(void *)to, narrow);
	} else if (!(((uintptr_t)to | bytes) & 7)) {
		for (at = 0; at < bytes; at += 8) {
			memcpy(&wide, (const char *)from + at, 8);
			simt_store_relaxed_dev_u64((uint64_t *)(void *)(to + at), wide);
		}
	} else {
		memcpy(to, from, bytes);
	}
}

/* gn_store_read_thread from a queue pair. */
SIMT_FN struct gn_store_status gn__store_read_few(const struct gn_nvmeq *q, uint64_t offset, void *to,
                                                  uint32_t bytes, uint64_t timeout_ns)
{
	const uint64_t deadline = simt_clock_ns() + timeout_ns;
	struct gn_store_status status = {0, 0};

	while (!status.code) {
		status = gn__store_try_read(q, offset, to, bytes, deadline);
		if (status.code != -GN_EAGAIN)
			return status;
		status.code = gn__store_backoff(q, deadline);
	}
	return status;
}

SIMT_FN struct gn_store_status gn_store_read_thread(const struct gn_store_view *s, uint64_t offset, void *to,
                                                    uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};

	if (s->kind == GN_STORE_QUEUES) {
		if (simt_unlikely(s->members))
			return gn__set_read_few(s, offset, to, bytes);
		return gn__store_read_few(gn__store_queue(s), offset, to, bytes, s->timeout_ns);
	}
	gn__store_take(to, s->memory + offset, bytes);
	return ok;
}

/* Write bytes if a slot is free now, else return -GN_EAGAIN. The block is read, changed and written. */
SIMT_FN struct gn_store_status gn__store_try_write(const struct gn_nvmeq *q, uint64_t offset,
                                                   const void *from, uint32_t bytes, uint64_t deadline)
{
	struct gn_store_status status = {0, 0};
	uint32_t cid;

	status.code = gn__nvmeq_try_begin(q, &cid);
	if (status.code)
		return status;
	status = gn__store_transfer(q, &cid, GN_NVME_READ, offset, bytes, deadline);
	if (!status.code) {
		memcpy(gn_nvmeq_buffer(q, cid) + offset % q->block_bytes, from, bytes);
		cid = gn_nvmeq_renew(q, cid);
		status = gn__store_transfer(q, &cid, GN_NVME_WRITE, offset, bytes, deadline);
	}
	if (status.code != -GN_ETIMEDOUT)
		gn_nvmeq_end(q, cid);
	return status;
}

/* gn_store_write_thread to the queue pairs of one store; arguments as for gn__store_write_blocks. */
SIMT_FN struct gn_store_status gn__store_write_few(const struct gn_nvmeq *q, uint32_t queues, uint32_t mine,
                                                   uint64_t offset, const void *from, uint32_t bytes,
                                                   uint64_t timeout_ns)
{
	const uint64_t deadline = simt_clock_ns() + timeout_ns;
	struct gn_store_status status = {0, 0};

	if (gn__store_write_hazard(q, queues, offset, 1))
		status.code = -GN_EBUSY;
	while (!status.code) {
		status = gn__store_try_write(&q[mine], offset, from, bytes, deadline);
		if (status.code != -GN_EAGAIN)
			return status;
		status.code = gn__store_backoff(&q[mine], deadline);
	}
	return status;
}

SIMT_FN struct gn_store_status gn_store_write_thread(const struct gn_store_view *s, uint64_t offset,
                                                     const void *from, uint32_t bytes)
{
	struct gn_store_status ok = {0, 0};

	if (s->kind == GN_STORE_QUEUES) {
		if (simt_unlikely(s->members))
			return gn__set_write_few(s, offset, from, bytes);
		return gn__store_write_few(s->queue, s->queue_count + s->host_queues,
		                           simt_processor() % s->queue_count, offset, from, bytes,
		                           s->timeout_ns);
	}
	gn__store_give(s->memory + offset, from, bytes);
	return ok;
}

#include <grapnel/detail/store/set.h>
#include <grapnel/detail/store/replica.h>
#include <grapnel/detail/store/replica_write.h>
#include <grapnel/detail/store/tier.h>

#endif
