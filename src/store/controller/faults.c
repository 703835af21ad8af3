/* SPDX-License-Identifier: Apache-2.0 */
#include <store/controller/faults.h>

enum { REORDER_POSTS = 4 };
/* A completion held back behind others is posted after this time, if no others come. */
#define REORDER_NS 2000000u

/* The finalizer of splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static uint64_t mix(uint64_t z)
{
	z += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

enum gn_fault gn_fault_draw(const struct gn_fault_plan *plan, uint32_t queue, uint64_t number, uint8_t opcode)
{
	const uint32_t chance[] = {0,
	                           plan->delay_ppm,
	                           plan->reorder_ppm,
	                           plan->drop_ppm,
	                           plan->duplicate_ppm,
	                           plan->fail_ppm,
	                           plan->torn_ppm};
	uint64_t draw = mix(mix(plan->seed + queue) + number) % 1000000;

	if (number < plan->first || (plan->writes_only && opcode == GN_NVME_READ))
		return GN_FAULT_NONE;
	for (int fault = GN_FAULT_DELAY; fault <= GN_FAULT_TORN; fault++) {
		if (draw < chance[fault])
			return (enum gn_fault)fault;
		draw -= chance[fault];
	}
	return GN_FAULT_NONE;
}

uint32_t gn_fault_status(const struct gn_fault_plan *plan, uint8_t opcode)
{
	if (plan->fail_status)
		return plan->fail_status & GN_NVME_STATUS_MASK;
	return opcode == GN_NVME_READ    ? GN_NVME_UNRECOVERED_READ
	       : opcode == GN_NVME_WRITE ? GN_NVME_WRITE_FAULT
	                                 : GN_NVME_INTERNAL_ERROR;
}

void gn_fault_hold(struct gn_request_list *shelf, const struct gn_fault_plan *plan, struct gn_request *r,
                   uint64_t now_ns, uint64_t posted)
{
	if (r->fault == GN_FAULT_DELAY) {
		r->due_ns = now_ns + (uint64_t)plan->delay_us * 1000;
		r->due_posts = UINT64_MAX;
	} else {
		r->due_ns = now_ns + REORDER_NS;
		r->due_posts = posted + REORDER_POSTS;
	}
	gn_request_push(shelf, r);
}

struct gn_request *gn_fault_release(struct gn_request_list *shelf, uint64_t now_ns, uint64_t posted)
{
	struct gn_request *before = NULL;

	for (struct gn_request *r = shelf->first; r; before = r, r = r->next) {
		if (r->due_ns > now_ns && r->due_posts > posted)
			continue;
		if (before)
			before->next = r->next;
		else
			shelf->first = r->next;
		if (shelf->last == r)
			shelf->last = before;
		return r;
	}
	return NULL;
}
