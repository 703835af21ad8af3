/* SPDX-License-Identifier: Apache-2.0 */
#include "log_kernel.h"

/* The messages of all lanes, as gn__net_append does it for up to four words: more of them. */
SIMT_FN int append_long(const struct scope_log_args *a, struct gn__log *log, uint64_t head, uint64_t value)
{
	const uint32_t mask = simt_whole_warp(), lanes = simt_warp_width();
	uint64_t ticket = 0;
	int rc = 0;

	if (simt_lane() == 0)
		rc = gn__log_reserve(log, lanes * a->words, &ticket);
	simt_warp_sync(mask);
	rc = (int)simt_shfl_u32(mask, (uint32_t)rc, 0);
	if (rc)
		return rc;
	ticket = simt_shfl_u64(mask, ticket, 0) + simt_lane();
	for (uint32_t w = 1; w < a->words; w++)
		gn__log_put(log, ticket + w * lanes, value + (w - SCOPE_LOG_SUMMED));
	if (simt_lane())
		gn__log_put(log, ticket, head);
	simt_warp_sync(mask);
	if (simt_lane() == 0)
		gn__log_commit(log, ticket, head | (uint64_t)(lanes - 1) << 53);
	return 0;
}

/* The messages of all lanes. Returns 0 or -GN_EAGAIN to all of them. */
SIMT_FN int append_group(const struct scope_log_args *a, struct gn__log *log, uint64_t head, uint64_t value)
{
	const struct gn__net_words w = {head, value, value + 1, value + 2};

	return a->words <= SCOPE_LOG_SHORT ? gn__net_append(log, simt_whole_warp(), a->words, &w)
	                                   : append_long(a, log, head, value);
}

SIMT_FN void append(const struct scope_log_args *a, uint64_t warp)
{
	const uint64_t deadline = simt_clock_ns() + scope_log_patience_ns;
	struct gn__log *log = &a->log[simt_block()];

	for (uint64_t k = 0; k < a->each; k++) {
		const uint64_t head = gn__message_head(GN__MESSAGE_CHANGE | GN__MESSAGE_WIDE, 1, k & 0xfffff);

		while (append_group(a, log, head, scope_log_value(a->seed, warp, k, simt_lane()))) {
			if (simt_ballot(simt_whole_warp(), simt_clock_ns() > deadline))
				return;
			if (simt_lane() == 0)
				gn__log_is_full(log, simt_warp_width() * a->words); /* looks for room */
			simt_relax();
		}
	}
}

/* Each lane its column, of which the first word comes last: it says that the others are there. */
SIMT_FN uint64_t read_words(struct gn__log_reader *r, uint32_t words)
{
	const uint32_t lanes = simt_warp_width();
	uint64_t sum = 0;

	for (uint32_t w = 0; w < words; w++) {
		uint64_t *word = &r->word[(r->at + w * lanes + simt_lane()) & (r->capacity - 1)];

		sum += w == SCOPE_LOG_SUMMED ? *word : 0;
		*word = 0;
	}
	r->at += words * lanes;
	return sum;
}

/* For messages of the usual length the loop is unrolled: its loads need not wait for each other. */
SIMT_FN uint64_t read_group(const struct scope_log_args *a, struct gn__log_reader *r)
{
	return a->words == SCOPE_LOG_SHORT ? read_words(r, SCOPE_LOG_SHORT) : read_words(r, a->words);
}

SIMT_FN void read_log(const struct scope_log_args *a)
{
	const uint64_t groups = a->each * (simt_block_threads() / simt_warp_width() - 1);
	const uint64_t deadline = simt_clock_ns() + scope_log_patience_ns;
	struct gn__log_reader r = a->reader[simt_block()];
	uint64_t sum = 0;

	for (uint64_t k = 0; k < groups; k++) {
		while (!simt_ballot(simt_whole_warp(), simt_lane() == 0 && gn__log_peek(&r))) {
			if (simt_ballot(simt_whole_warp(), simt_clock_ns() > deadline))
				return;
			simt_relax();
		}
		simt_warp_sync(simt_whole_warp());
		sum += read_group(a, &r);
		simt_warp_sync(simt_whole_warp());
		if (simt_lane() == 0 &&
		    (k % SCOPE_LOG_RELEASE == SCOPE_LOG_RELEASE - 1 || k + 1 == groups || !gn__log_peek(&r)))
			gn__log_release(&r);
	}
	simt_add_relaxed_dev_u64(a->sum, sum);
	if (simt_lane() == 0)
		a->reader[simt_block()] = r;
}

SIMT_FN void scope_log_run(const struct scope_log_args *a)
{
	if (a->by_warps && simt_thread() < simt_warp_width())
		read_log(a);
	else
		append(a, simt_global_thread() / simt_warp_width());
}
SIMT_KERNEL(scope_log_run, struct scope_log_args)
