/* SPDX-License-Identifier: Apache-2.0 */
/*
 * faults.h - faults that a controller makes on purpose. Under the same plan the n-th command of a queue gets
 * the same fault, independent of timing.
 */
#ifndef GN_CONTROLLER_FAULTS_H
#define GN_CONTROLLER_FAULTS_H

#include <grapnel/store.h>
#include <store/controller/request.h>

enum gn_fault {
	GN_FAULT_NONE,
	GN_FAULT_DELAY,
	GN_FAULT_REORDER,
	GN_FAULT_DROP,
	GN_FAULT_DUPLICATE,
	GN_FAULT_FAIL,
	GN_FAULT_TORN
};

/* gn_fault_draw - the fault of the command with this number on this queue. */
enum gn_fault gn_fault_draw(const struct gn_fault_plan *plan, uint32_t queue, uint64_t number,
                            uint8_t opcode);

/* gn_fault_status - the status of a command that fails by plan. */
uint32_t gn_fault_status(const struct gn_fault_plan *plan, uint8_t opcode);

/* Must the completion of a finished request be held back? */
static inline int gn_fault_holds(const struct gn_request *r)
{
	return r->fault == GN_FAULT_DELAY || r->fault == GN_FAULT_REORDER;
}

/*
 * gn_fault_hold - put a finished request on the shelf.
 * @posted  number of completions that its port has posted
 */
void gn_fault_hold(struct gn_request_list *shelf, const struct gn_fault_plan *plan, struct gn_request *r,
                   uint64_t now_ns, uint64_t posted);

/* gn_fault_release - take a request that is due off the shelf. Returns NULL if none is. */
struct gn_request *gn_fault_release(struct gn_request_list *shelf, uint64_t now_ns, uint64_t posted);

#endif
