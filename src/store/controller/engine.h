/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.h - an engine moves the bytes of a controller thread's requests: by io_uring, plain system calls or
 * memcpy.
 */
#ifndef GN_CONTROLLER_ENGINE_H
#define GN_CONTROLLER_ENGINE_H

#include <grapnel/nvmeq.h>
#include <store/controller/request.h>

struct gn_engine;

struct gn_engine_ops {
	/*
	 * Start a request. A later turn puts it on engine->finished, with its status.
	 */
	void (*start)(struct gn_engine *engine, struct gn_request *r);
	/*
	 * Submit all started requests to the system together, and put finished requests on engine->finished.
	 * If none has finished, wait up to wait_ns for one.
	 */
	void (*turn)(struct gn_engine *engine, uint64_t wait_ns);
	void (*close)(struct gn_engine *engine); /* nothing is in flight */
};

/* First member of an engine's own struct. One thread makes all calls except open and close. */
struct gn_engine {
	const struct gn_engine_ops *ops;
	struct gn_request_list finished; /* the controller takes requests from it */
};

/*
 * Makes the engines of a controller. The controller calls open once for each thread.
 * @queue, @count  the queue pairs that the thread serves; there are fewer requests in flight than the sum of
 *                 their depths
 * open returns 0 or a negative code with the message set.
 */
struct gn_medium {
	int (*open)(struct gn_medium *medium, struct gn_engine **engine, const struct gn_nvmeq *queue,
	            uint32_t count, struct gn_error *error);
	uint64_t bytes; /* of the medium: reads past it are zeros, writes past it are dropped */
	int read_only;
};

#endif
