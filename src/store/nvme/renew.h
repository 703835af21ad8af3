/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renew.h - a queue pair whose controller was stopped: its commands are completed by the host, and its queues
 * begin anew. The state of the queue pair lies in host memory.
 */
#ifndef GN_STORE_NVME_RENEW_H
#define GN_STORE_NVME_RENEW_H

#include <grapnel/nvmeq.h>

/*
 * gn_nvmeq_hold_doorbells - keep all other threads from ringing the doorbells, for a controller that is being
 * stopped. Waits for a thread that rings one at this moment. gn_nvmeq_renew_all gives the doorbells back.
 * @deadline  on simt_clock_ns
 * Returns 0, or -GN_ETIMEDOUT: nothing is held.
 */
int gn_nvmeq_hold_doorbells(struct gn_nvmeq *q, uint64_t deadline);

/*
 * gn_nvmeq_is_idle - has the controller completed every command that it was told of? 1 or 0. The caller holds
 * the doorbells; this rings that of the completion queue if the controller may wait for it.
 */
int gn_nvmeq_is_idle(const struct gn_nvmeq *q);

/* gn_nvmeq_posted - where a stopped controller would have posted its next completion. */
uint32_t gn_nvmeq_posted(const struct gn_nvmeq *q);

/*
 * gn_nvmeq_answer - complete the commands that are outstanding, as many as the completion queue has room for.
 * @tail      of gn_nvmeq_posted; kept by the caller, the only one who answers
 * @answered  [depth], zero at first: command id + 1 of the one answered in each slot; 0: none is outstanding
 * @status    status field, with GN_NVME_DO_NOT_RETRY or not
 * Threads may post, poll and reap meanwhile.
 */
void gn_nvmeq_answer(struct gn_nvmeq *q, uint32_t *tail, uint32_t *answered, uint32_t status);

/*
 * gn_nvmeq_renew_all - let both queues begin at entry 0 and phase 1, as a controller that was enabled
 * expects. The caller holds every slot, so no thread posts, and the doorbells; threads may still look for
 * completions. The caller then clears `answered` of gn_nvmeq_answer, because command ids repeat.
 * @deadline  on simt_clock_ns
 * Returns 0, or -GN_ETIMEDOUT: a thread that looks for completions does not end; nothing has changed.
 */
int gn_nvmeq_renew_all(struct gn_nvmeq *q, uint64_t deadline);

#endif
