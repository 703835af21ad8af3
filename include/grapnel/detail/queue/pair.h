/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/queue/pair.h - what a queue pair is made of (nvmeq.h): its slots, the words of their states, and
 * what its threads share.
 */
#ifndef GRAPNEL_QUEUE_PAIR_H
#define GRAPNEL_QUEUE_PAIR_H

#include <grapnel/nvme.h>
#include <grapnel/ring.h>
#include <grapnel/simt.h>

/* A command slot. */
struct gn_nvmeq_slot {
	uint64_t word; /* command id, state and status: GN__NVMEQ_* */
	uint64_t lba;  /* of the command in flight; others look at these three when it is abandoned */
	uint32_t blocks;
	uint32_t opcode;
	uint32_t ticket;
	uint32_t reserved;
};

/* What the threads share; words of different winners on different lines. */
struct gn_nvmeq_state {
	uint32_t ticket;
	uint32_t pad_ticket[31];
	uint32_t tail; /* published to the controller; only the holder of tail_lock writes it */
	uint32_t tail_lock;
	uint32_t pad_tail[30];
	uint32_t head; /* next completion; only the holder of reap_lock writes it */
	uint32_t reap_lock;
	uint32_t pad_head[30];
	uint32_t rung; /* head as the controller knows it; only the holder of head_lock writes it */
	uint32_t head_lock;
	uint32_t abandoned;        /* commands given up and still outstanding */
	uint32_t abandoned_writes; /* writes and deallocations among them */
	uint32_t strays;           /* completions that fitted no outstanding command, ever */
	uint32_t lent;             /* slots of reads that no thread waits for (detail/store/begin.h) */
	uint32_t pad_rung[26];
	struct gn_ring free_ring;
};

/*
 * A queue pair. Plain data; the same bytes on host and device. Submission and completion entries, doorbells
 * and buffers lie where the controller and the threads reach them; state, marks, slots and free ids may lie
 * in device memory.
 */
struct gn_nvmeq {
	struct gn_nvme_command *sq;
	struct gn_nvme_completion *cq;
	uint32_t *sq_doorbell;
	uint32_t *cq_doorbell;
	struct gn_nvmeq_state *state;
	uint32_t *mark;             /* [depth]: ticket + 1 once the entry is ready */
	struct gn_nvmeq_slot *slot; /* [depth] */
	uint32_t *free_id;          /* [depth]: records of state->free_ring */
	char *buffer;               /* [depth][buffer_bytes]: data of the commands */
	const uint64_t *prp_list;   /* [depth][buffer_bytes / 4096]: bus addresses, first page included */
	uint64_t prp_list_bus;      /* bus address of prp_list */
	uint32_t buffer_bytes;      /* the largest transfer, a power of two from 4096 to 2 MiB */
	uint32_t depth;             /* a power of two, 2 to 32768 */
	uint32_t depth_log2;
	uint32_t block_bytes; /* of the namespace */
	uint32_t nsid;
	uint32_t attached; /* 1: the doorbells are a controller's registers, not memory of this queue pair */
};

/*
 * Does a command of this opcode change the blocks of its slot? Admin queues have other commands under these
 * opcodes; their slots have no blocks.
 */
SIMT_FN int gn__nvmeq_changes(uint32_t opcode)
{
	return opcode == GN_NVME_WRITE || opcode == GN_NVME_DATASET_MANAGEMENT;
}

enum { GN__NVMEQ_IDLE = 0, GN__NVMEQ_PENDING = 1, GN__NVMEQ_DONE = 2, GN__NVMEQ_ABANDONED = 3 };
/* What a slot keeps of a status field. */
enum { GN__NVMEQ_KEPT = GN_NVME_STATUS_MASK | GN_NVME_DO_NOT_RETRY };

SIMT_FN uint64_t gn__nvmeq_word(uint32_t cid, uint32_t state, uint32_t status)
{
	return cid | (uint64_t)state << 16 | (uint64_t)status << 32;
}

SIMT_FN uint32_t gn__nvmeq_cid(uint64_t word)
{
	return (uint32_t)word & 0xffff;
}

SIMT_FN uint32_t gn__nvmeq_slot_state(uint64_t word)
{
	return (uint32_t)(word >> 16) & 3;
}

SIMT_FN void gn__nvmeq_put_back(const struct gn_nvmeq *q, uint32_t index)
{
	struct gn_ring *free_ring = &q->state->free_ring;
	uint32_t ticket;

	/* There is a place for every slot; a refusal can only be a consumer that has not released yet. */
	while (gn_ring_reserve(free_ring, &ticket))
		simt_relax();
	q->free_id[gn_ring_slot(free_ring, ticket)] = index;
	gn_ring_commit(free_ring, ticket);
}

/* Entries that one thread looks at together: completions or marks, a line or two of memory. */
enum { GN__NVMEQ_AT_ONCE = 8 };

/* Of entries that were looked at, bit k for the k-th: how many may be taken, which are those before a gap. */
SIMT_FN uint32_t gn__nvmeq_before_gap(uint32_t ready)
{
	return simt_first_lane(~ready);
}

#endif
