/* SPDX-License-Identifier: Apache-2.0 */
/* relay_kernels.c - the end of the rings of net/relay.h: changes come, and are done where they are local. */
#include <net/relay.h>

/* Slots that a lane looks at together: their loads are under way at the same time. */
enum { LOOK = 4 };
GN__STATIC_ASSERT(LOOK * 32 <= GN_RELAY_SLOTS, "a ring has as many as a warp looks at together");

SIMT_FN void change(const struct gn_net_view *n, uint64_t head, uint64_t operand)
{
	const uint32_t how = gn_message_kind(head) - GN_MESSAGE_CHANGE;

	gn__net_change_there(n->heap + gn_message_place(head) * 4, how, operand, 0, gn_message_is_wide(head) ? 8 : 4, 0);
}

/* The next slots of a ring, as far as they are full. A warp; returns how many. */
SIMT_FN uint32_t take(const struct gn_net_view *n, const struct gn_relay_reader *r, uint64_t at, uint32_t all)
{
	const uint32_t width = simt_warp_width(), lane = simt_lane();
	uint64_t head[LOOK], operand[LOOK];
	uint32_t taken = 0;

	for (uint32_t k = 0; k < LOOK; k++)
		simt_load_pair_sys(&r->slot[(at + k * width + lane) & (r->capacity - 1)].head, &head[k], &operand[k]);
	for (uint32_t k = 0; k < LOOK; k++) {
		const uint32_t empty = all & ~simt_ballot(all, head[k] != 0), full = empty ? simt_first_lane(empty) : width;

		/* all lanes come to every ballot: the first hole ends what is taken, not the loop */
		if (taken == k * width && lane < full) {
			change(n, head[k], operand[k]);
			simt_store_pair_sys(&r->slot[(at + k * width + lane) & (r->capacity - 1)].head, 0, 0);
		}
		taken += taken == k * width ? full : 0;
	}
	return taken;
}

/*
 * A warp looks at its ring; all lanes hold the same r. What it has read it gives back when the ring is empty, or a quarter of
 * it. Returns 1: some came.
 */
SIMT_FN uint32_t serve(const struct gn_net_view *n, struct gn_relay_reader *r, uint32_t all)
{
	const uint32_t taken = take(n, r, r->at, all);

	r->at += taken;
	if (r->at != r->given && (!taken || r->at - r->given >= r->capacity / 4)) {
		simt_warp_sync(all); /* all lanes' changes, and the slots that they emptied, are before R7 */
		if (!simt_lane())
			simt_store_release_sys_u64(r->released, r->at); /* R7 */
		r->given = r->at;
	}
	return taken != 0;
}

/* Rounds in vain between looks at the host's word: it lies behind PCIe, and each is longer than a round. */
enum { ROUNDS = 512 };

/* A warp a ring. */
SIMT_FN void gn_relay_work(const struct gn_relay_args *a)
{
	const uint32_t width = simt_warp_width(), all = width == 32 ? ~0u : (1u << width) - 1;
	const uint32_t warp = (uint32_t)(simt_global_thread() / width);
	struct gn_relay_reader r;
	uint32_t moved = 1, vain = 0, stop = 0;

	if (warp >= a->readers)
		return;
	r = a->reader[warp];
	while (moved || !stop) {
		if (!moved && vain++ % ROUNDS == 0) /* before the last look at the ring */
			stop = simt_shfl_u32(all, simt_lane() ? 0 : simt_load_acquire_sys_u32(a->stop), 0);
		moved = serve(&a->net, &r, all);
		if (!moved)
			simt_relax();
	}
	if (!simt_lane())
		a->reader[warp] = r;
}
SIMT_KERNEL(gn_relay_work, struct gn_relay_args)
