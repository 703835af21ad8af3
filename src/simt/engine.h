/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - the parts of the cpu machine.
 *
 *   launch   one kernel over one grid; shared by the workers, which take its blocks by a counter
 *   worker   one OS thread with its fibers; a block never leaves its worker, so nothing below is shared
 *   block    threads with a barrier and shared memory
 *   warp     up to 32 lanes of a block that meet in collectives (only if warps have more than one lane)
 *   fiber    runs one thread after another. A thread that waits keeps its fiber, and the next thread starts
 *            on another fiber. So a thread that never waits costs only a function call.
 *
 * A fiber is in one of these places: running; ready (a collective or barrier has released it); in the ring of
 * fibers that called simt_relax; held by a warp or block until other lanes come; idle.
 */
#ifndef SIMT_ENGINE_H
#define SIMT_ENGINE_H

#include <grapnel/simt.h>
#include <simt/fiber.h>

#ifdef __cplusplus
extern "C" {
#endif

struct simt__check;

struct simt__launch {
	const struct simt_kernel *kernel;
	const void *arguments;
	struct simt_grid grid;
	uint32_t next_block; /* atomic: the first block not taken */
	/*
	 * limit of the blocks that a worker begins while its threads wait, until other workers had time to
	 * join
	 */
	uint32_t share;
	int failed;  /* atomic: set once, last, by the thread that writes error */
	int failing; /* atomic: 1: a thread writes error */
	struct gn_error error;
	char begun, ended; /* addresses for SIMT__ACQUIRE and SIMT__RELEASE */
};

/*
 * The rounds of a machine, both atomic. In a round every worker that runs threads gives each of its threads
 * that wait a turn. It is for decisions that cost no more than time if they are wrong: a round may end early
 * when a worker joins or leaves.
 */
struct simt__rounds {
	uint64_t ended;   /* rounds << 32 | workers that have ended the present one */
	uint32_t members; /* workers that run threads */
};

struct simt__fiber {
	struct simt__lane lane; /* first: simt__self points here */
	struct simt__context context;
	struct simt__worker *worker;
	struct simt__block *block;
	struct simt__warp *warp;             /* NULL if warps have one lane */
	struct simt__fiber *next, *previous; /* in the ring, or ready, or idle (next only) */
	struct simt__fiber *next_waiting;    /* at the block's barrier */
	struct simt__fiber *older;           /* the fiber that the worker made before this one */
	uint64_t result;                     /* of the collective in which the fiber waited */
	/* for the thread sanitizer: words that the fiber's next fence acquires */
	const void *read[4];
	uint8_t in_ring;
	uint8_t at_point, pass; /* checking schedules: see check.h */
	uint32_t slot;          /* index among the candidates; SIMT__NO_SLOT if the fiber cannot run */
};

/* The collective in which a lane waits. */
enum simt__collective { SIMT__BALLOT, SIMT__OR, SIMT__SHFL, SIMT__MATCH, SIMT__SYNC, SIMT__COPY };

/* Lanes that have arrived at one collective with one mask. arrived is neither empty nor equal to mask. */
struct simt__meeting {
	uint32_t mask, arrived;
	uint32_t collective;
};

struct simt__warp {
	uint32_t live;    /* lanes that have not ended, also those that have not begun */
	uint32_t stopped; /* live lanes that wait: in a meeting or simt_active, at the barrier, relaxing */
	uint32_t meeting, gathering, at_barrier; /* subsets of stopped */
	uint32_t meetings;
	struct simt__fiber *lanes[32];
	struct simt__meeting open[32];
	uint64_t value[32]; /* each lane's argument of its meeting */
	uint8_t source[32]; /* the lane whose value each lane wants (shfl) */
	void *site[32];     /* the address from which each lane called */
	size_t depth[32];   /* the depth of each lane's stack (simt_active) */
};

struct simt__block {
	struct simt__block *next_free, *older;
	uint32_t index;
	uint32_t threads, begun, ended;
	uint32_t arrived; /* threads at the barrier */
	struct simt__fiber *waiting, *waiting_last;
	void *shared;
	struct simt__warp *warps;
};

struct simt__worker {
	struct simt__launch *launch;
	struct simt__check *check; /* NULL: the fair schedule */
	struct simt__context main;
	uint32_t processor, warp_width;
	uint32_t most_live; /* no new block is begun while this number of threads is live */

	struct simt__block *feed; /* the block whose threads are being begun; NULL if all are begun */
	uint32_t exhausted;       /* 1: the launch has no more blocks */
	uint32_t live;            /* threads of begun blocks that have not ended */
	uint32_t taken;           /* blocks of the launch that this worker has begun */
	uint64_t joined_ns;       /* when the worker joined; 0: other workers have had time to join */

	struct simt__fiber *ready, *ready_last;
	struct simt__fiber *cursor; /* the fiber of the ring that relaxed last; NULL: the ring is empty */
	uint32_t ring;              /* number of fibers in the ring */
	uint32_t turns;             /* that the ring gave since all its fibers had one */
	uint32_t round;             /* of the machine: the last that this worker has ended */
	struct simt__rounds *rounds, alone; /* of the machine; alone: of a worker without one */
	uint32_t relaxes;                   /* since a fiber last made progress */
	uint32_t since_turn;     /* threads ended, or lanes resumed, since the ring last had a turn */
	uint64_t quiet_since_ns; /* 0: not quiet; with the next two, see quiet_round in worker.c */
	uint64_t yielded_ns, slept_ns;

	struct simt__fiber *idle, *fibers;
	struct simt__stacks *stacks;
	void *watch; /* of simt__stack_watch */
	struct simt__block *free_blocks, *blocks;
	struct simt_grid blocks_for; /* the grid for which blocks were made */
};

enum { SIMT__NO_SLOT = 0xffffffff };

/* stack.c: stacks of one OS thread, taken a slab at a time and given back at its end. */
enum { SIMT__STACKS_A_SLAB = 32 };
/* A new fiber with its stack, all zeros; NULL if there is no memory. */
struct simt__fiber *simt__stack_fiber(struct simt__stacks **stacks, void **low, size_t *bytes);
void simt__stacks_free(struct simt__stacks *stacks);
/*
 * From now on the calling OS thread prints a message when a fiber uses up its stack, unless the program
 * handles SIGSEGV itself. Returns the argument for simt__stack_unwatch on the same OS thread; NULL: nothing
 * to end.
 */
void *simt__stack_watch(void);
void simt__stack_unwatch(void *memory);

/* block.c */
/* Take the launch's next block into worker->feed. Returns 0 if there is none (or no memory: it failed). */
int simt__block_begin(struct simt__worker *worker);
/* Bind fiber to the next thread of worker->feed. */
void simt__thread_begin(struct simt__worker *worker, struct simt__fiber *fiber);
void simt__thread_end(struct simt__worker *worker, struct simt__fiber *fiber);
/* Abandon all blocks that are begun. */
void simt__blocks_abandon(struct simt__worker *worker);
void simt__blocks_free(struct simt__worker *worker);

/*
 * warp.c: a lane has stopped or ended. If no lane of the warp runs now, resume lanes that wait in
 * simt_active, or fail if no lane can ever be resumed.
 */
void simt__warp_settle(struct simt__warp *warp, struct simt__block *block);
/* fiber's lane relaxes. The caller clears its bit of stopped when it runs again. */
void simt__warp_stop(struct simt__fiber *fiber);
void simt__warp_begin(struct simt__warp *warp, uint32_t lanes);
void simt__warp_end_lane(struct simt__warp *warp, struct simt__fiber *fiber);

/* worker.c */
/* Prepare a worker for the calling OS thread; simt__worker_fini undoes this. */
void simt__worker_init(struct simt__worker *worker, uint32_t processor, uint32_t warp_width,
                       uint32_t most_live);
void simt__worker_fini(struct simt__worker *worker);
/* Run blocks of launch until none is left or it failed; on return no fiber holds a thread. */
void simt__worker_run(struct simt__worker *worker, struct simt__launch *launch);
/* The calling fiber cannot continue until simt__wake: run other fibers. */
void simt__hold(struct simt__worker *worker, struct simt__fiber *self);
void simt__wake(struct simt__worker *worker, struct simt__fiber *fiber);
/* simt_relax of self on the fair schedule: run other fibers. */
void simt__fair_relax(struct simt__worker *worker, struct simt__fiber *self);
/* An idle fiber, or a new one; NULL if there is no memory for its stack. */
struct simt__fiber *simt__fiber_take(struct simt__worker *worker);
/* Switch from self to `to`; NULL is the OS thread's own context. */
void simt__go(struct simt__worker *worker, struct simt__fiber *self, struct simt__fiber *to);
/* Returns 1 if a thread of the grid can be begun now; its block is then worker->feed. */
int simt__feed(struct simt__worker *worker);

/* launch.c */
void simt__launch_init(struct simt__launch *launch, const struct simt_kernel *kernel, struct simt_grid grid,
                       const void *arguments);
/* Record the launch's failure; the first one stays. */
void simt__launch_fail(struct simt__launch *launch, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline int simt__launch_failed(const struct simt__launch *launch)
{
	return __atomic_load_n(&launch->failed, __ATOMIC_ACQUIRE);
}

/* The system's clock, under every schedule. */
uint64_t simt__system_ns(void);

/*
 * simt__give_way - let other threads of the system run. A yield costs nothing if none is ready. But where
 * others compute, Linux runs each of them for a time slice before this thread looks again; after a short
 * sleep it looks soon. So when a yield took long, the next ones of this thread are sleeps.
 */
void simt__give_way(void);

/* The fiber of the calling thread of a kernel; NULL on host threads and between fibers. */
extern struct simt__lane simt__host_lane;
static inline struct simt__fiber *simt__fiber_self(void)
{
	return simt__self == &simt__host_lane ? NULL : (struct simt__fiber *)simt__self;
}

#ifdef __cplusplus
}
#endif

#endif
