/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - schedules that look for errors: seeded random and bounded exhaustive. */
#ifndef SIMT_CHECK_H
#define SIMT_CHECK_H

#include <simt/engine.h>

#ifdef __cplusplus
extern "C" {
#endif

void simt__check_wake(struct simt__worker *worker, struct simt__fiber *fiber);
struct simt__fiber *simt__check_pick(struct simt__worker *worker);
void simt__check_relax(struct simt__worker *worker, struct simt__fiber *self);
uint64_t simt__check_clock_ns(const struct simt__worker *worker);

#ifdef __cplusplus
}
#endif

#endif
