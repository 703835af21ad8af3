/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress.h - how a long step says how far it is.
 */
#ifndef GN_GRAPH_PROGRESS_H
#define GN_GRAPH_PROGRESS_H

#include <stdint.h>

/*
 * A listener. A NULL listener, or a NULL step, means nobody listens.
 * @step  called now and then, always by the thread that called the long function, with the work
 *        done so far, the whole of it (0 when unknown) and the name of the present stage
 * @user  handed to step as it is
 */
struct gn_progress {
	void (*step)(void *user, const char *stage, uint64_t done, uint64_t total);
	void *user;
};

static inline void gn_progress_step(const struct gn_progress *p, const char *stage, uint64_t done,
                                    uint64_t total)
{
	if (p && p->step)
		p->step(p->user, stage, done, total);
}

#endif
