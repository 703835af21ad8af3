/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - a thread that looks after a drive while kernels use its queue pairs.
 *
 * It takes care of commands that were given up: Abort; if the completion of one does not come within a second
 * after that, or the controller does not answer Abort, a reset of the controller, after which the queue pairs
 * go on. When the controller is gone or fatal, or a reset fails, the store has failed: from then on the
 * thread completes every command itself, with GN_NVME_HOST_ABORTED, so that nobody waits for a deadline. It
 * does so in the place of the controller: by entries of the completion queues.
 *
 * It does so only when the controller moves no data any more: it was stopped, or it was cut off from memory
 * (gn_dma.cut). Until then commands end by their deadlines. Before a controller is stopped, the thread takes
 * the locks of the doorbells, so that nobody rings one of a controller that is not enabled.
 *
 * When the system wants a drive that is well, what the drive was told to do ends first, as long as that takes
 * no more than a few seconds; then it is shut down in order, which writes its cache to its medium, and given
 * back.
 *
 * The state of a GPU's queue pairs lies where the host does not reach it. Their commands end by their
 * deadlines; nobody aborts them. When a command of the host is lost, the store fails instead of being reset.
 */
#ifndef GN_STORE_NVME_WATCH_H
#define GN_STORE_NVME_WATCH_H

#include <store/nvme/block.h>

/* What the thread knows of a queue pair. */
struct gn_watched {
	uint32_t tail;      /* where it writes the next completion */
	uint32_t *answered; /* [depth]: command id + 1 that it completed; 0: none that is outstanding */
	uint32_t
	    *aborted; /* [depth]: command id + 1 that was given up, for which it has sent Abort; 0: none */
	uint64_t *since_ns; /* [depth]: when it first saw that one */
	int busy;           /* some of aborted are not 0 */
	int silent;         /* it holds the locks of the doorbells */
	uint32_t held;      /* slots that it holds, during a reset */
	uint32_t *slot;     /* [depth]: those */
};

struct gn_watch {
	struct gn_block *block;
	struct gn_watched *pair; /* [pairs] */
	uint32_t pairs; /* of the block's pairs, those that the host reaches: all, or none but the host's */
	int can_reset;
	/*
	 * 1 if the system wants the device back; says so once. Then release gives it back: 0, or a negative
	 * code, and it is called again. NULL: never
	 */
	int (*wanted)(void *user);
	int (*release)(void *user);
	void *user;
	uint64_t finish_ns; /* how long commands may take to end when the device is wanted; 0: 5 seconds */
	int owed;           /* the device is wanted and was not yet released */
	int quiet;          /* the store has failed, and the controller moves no data any more */
	pthread_t thread;
	int running;
	uint32_t stop;
	uint32_t resets;
	uint64_t read_timeouts, write_timeouts; /* commands that it saw given up; flushes count as writes */
};

/*
 * gn_watch_start - begin to look after an open block store. block, wanted, release and user are set.
 * Returns 0 or -GN_ENOMEM.
 */
int gn_watch_start(struct gn_watch *w, struct simt_machine *machine, struct gn_error *error);

/* gn_watch_stop - end the thread; before the queue pairs are freed. */
void gn_watch_stop(struct gn_watch *w);

#endif
