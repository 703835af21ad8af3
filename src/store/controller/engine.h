/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - what moves the bytes of a controller thread's requests: io_uring, plain system calls, memcpy.
 */
#ifndef GN_CONTROLLER_ENGINE_H
#define GN_CONTROLLER_ENGINE_H

#include <grapnel/nvmeq.h>
#include <store/controller/request.h>

struct gn_engine;

struct gn_engine_ops {
	/*
	 * Take a request. It comes back on engine->finished, with its status, by the end of some later turn.
	 */
	void (*start)(struct gn_engine *engine, struct gn_request *r);
	/*
	 * Hand everything that was started to the system, once for all, and put what has finished on
	 * engine->finished. If nothing has finished, wait up to wait_ns for something.
	 */
	void (*turn)(struct gn_engine *engine, uint64_t wait_ns);
	void (*close)(struct gn_engine *engine); /* nothing is in flight */
};

/* First member of an engine's own struct. All calls but open and close come from one thread. */
struct gn_engine {
	const struct gn_engine_ops *ops;
	struct gn_request_list finished; /* the controller takes from it */
};

/*
 * Makes the engines of a controller. The controller calls open once a thread.
 * @queue, @count  the queue pairs that the thread serves; requests in flight are fewer than their depths
 * together Returns 0 or a negative code with the message set.
 */
struct gn_medium {
	int (*open)(struct gn_medium *medium, struct gn_engine **engine, const struct gn_nvmeq *queue,
	            uint32_t count, struct gn_error *error);
	uint64_t bytes; /* of the medium: reads past it are zeros, writes past it are dropped */
	int read_only;
};

#endif
