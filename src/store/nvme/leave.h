/* SPDX-License-Identifier: Apache-2.0 */
/*
 * leave.h - how the thread that looks after a drive (watch.h) ends its use: after a failure, or because the
 * system wants the device. Only that thread calls these.
 */
#ifndef GN_STORE_NVME_LEAVE_H
#define GN_STORE_NVME_LEAVE_H

#include <store/nvme/watch.h>

#define GN_WATCH_BUSY_NS 200000u        /* between two looks while there is something to do */
#define GN_WATCH_COLLECT_NS 5000000000u /* until all threads have given slots or doorbells back */

/* gn_watch_queue - one of the queue pairs that the thread looks after. */
struct gn_nvmeq *gn_watch_queue(const struct gn_watch *w, uint32_t k);

void gn_watch_nap(uint64_t ns);

/* gn_watch_reap - take the completions that are there; those who gave up do not poll any more. */
void gn_watch_reap(const struct gn_nvmeq *q);

/* gn_watch_hold_doorbells - keep the other threads from ringing doorbells. Returns 0 or -GN_ETIMEDOUT. */
int gn_watch_hold_doorbells(struct gn_watch *w);

/* gn_watch_take_over - from now on this thread is the controller of the queue pairs. */
void gn_watch_take_over(struct gn_watch *w);

/* gn_watch_answer_all - complete what is outstanding, with GN_NVME_HOST_ABORTED. After taking over. */
void gn_watch_answer_all(struct gn_watch *w);

/* gn_watch_is_quiet - 1: the drive moves no data any more. If it cannot be stopped it is cut off. */
int gn_watch_is_quiet(const struct gn_watch *w);

/* gn_watch_settle - complete what is outstanding if the drive is quiet, now or since an earlier call. */
void gn_watch_settle(struct gn_watch *w, int quiet);

/* gn_watch_fail - the store has failed: stop the drive at once. */
void gn_watch_fail(struct gn_watch *w, const struct gn_error *why);

/* gn_watch_is_wanted - does the system want the device, and has it not got it yet? */
int gn_watch_is_wanted(struct gn_watch *w);

/* gn_watch_leave - the system wants a drive that is well: let it finish, shut it down, and stop it. */
void gn_watch_leave(struct gn_watch *w);

/* gn_watch_give_back - let the system have the device. Nothing moves without it. */
void gn_watch_give_back(struct gn_watch *w);

#endif
