/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logs.h - messages through logs (log_kernel.h), a log for each block: the logs of a shape, and the threads
 * of the host that read them, for rows and for bench/net_log.c. What was read is summed, and the sum
 * compared.
 */
#ifndef GN_SCOPE_LOGS_H
#define GN_SCOPE_LOGS_H

#include <pthread.h>

#include "fixture.h"
#include "log_kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SCOPE_MOST_READERS = 14 };

struct scope_logs_shape {
	uint32_t blocks, warps; /* of a block; the one that reads is among them */
	uint32_t log_words;     /* of a log, a power of two */
	uint32_t words;         /* of a message */
	bool by_warps;          /* the first warp of a block reads, in the machine's memory */
	uint32_t readers;       /* otherwise so many threads of the host, in pinned memory */
};

struct scope_logs;

struct scope_log_reader {
	pthread_t thread;
	struct scope_logs *of;
	uint32_t first; /* of its logs */
	uint64_t sum;
};

struct scope_logs {
	struct fixture *fixture; /* borrowed; its machine is open */
	struct scope_log_args args;
	struct simt_grid grid;
	uint32_t producers; /* warps of a block */
	uint64_t *word, *released;
	struct gn__log_reader
	    *host; /* [blocks]: as the host's threads see it, or the first image of the kernel's */
	uint64_t sum, expected;
	uint32_t readers;
	struct scope_log_reader reader[SCOPE_MOST_READERS];
};

/* scope_logs_open - of zero bytes; scope_logs_close in any case. */
int scope_logs_open(struct scope_logs *l, struct fixture *fixture, const struct scope_logs_shape *s,
                    struct gn_error *e);
void scope_logs_close(struct scope_logs *l);

/*
 * scope_logs_run - so many messages, or as many more as each warp needs to have the same, appended and read.
 * @done  how many it were; @seconds: from the launch until all is read
 */
int scope_logs_run(struct scope_logs *l, uint64_t messages, uint64_t *done, double *seconds,
                   struct gn_error *e);

/* scope_logs_check - has everything come that was appended in all runs? 0, -GN_EIO. */
int scope_logs_check(struct scope_logs *l, struct gn_error *e);

#ifdef __cplusplus
}
#endif

#endif
