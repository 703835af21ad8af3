/* SPDX-License-Identifier: Apache-2.0 */
/* queue_round.h - one round of a queue pair mode: queues, a disk thread, a crowd of users, accounts. */
#ifndef GN_TESTS_QUEUE_ROUND_H
#define GN_TESTS_QUEUE_ROUND_H

#include "queue_disk.h"
#include "queue_use.h"
#include "stress.h"

struct queue_mode {
	struct disk_faults faults;
	uint32_t most_threads, commands; /* commands of all threads together */
	uint32_t hasty;
	uint64_t short_ns;
	uint32_t depth_log2_from, depth_log2_to;
};

struct queue_fixture {
	struct use_arguments a;
	struct disk disk;
	uint64_t threads;
	uint32_t depth, first_ticket;
};

static inline int queue_make(struct stress *s, struct queue_fixture *b)
{
	struct gn_nvmeq_options options = {b->depth, 16384, DISK_BLOCK, 1, b->first_ticket};
	struct gn_error error;

	for (uint32_t k = 0; k < b->a.queues; k++) {
		if (gn_nvmeq_create(&b->a.queue[k], s->machine, &options, &error))
			return stress_wrong("%s", error.text);
		gn_nvme_port_init(&b->disk.port[k].port, &b->a.queue[k]);
	}
	b->disk.ports = b->a.queues;
	b->disk.blocks = b->threads * USE_BLOCKS;
	b->disk.bytes = (char *)calloc(b->disk.blocks, DISK_BLOCK);
	b->a.thread = (struct use_thread *)simt_alloc(s->machine, b->threads * sizeof *b->a.thread,
	                                              SIMT_DEVICE, &error);
	b->a.report = (struct use_report *)simt_alloc(s->machine, sizeof *b->a.report, SIMT_DEVICE, &error);
	if (!b->disk.bytes || !b->a.thread || !b->a.report)
		return stress_wrong("out of memory");
	return 0;
}

static inline void queue_unmake(struct stress *s, struct queue_fixture *b)
{
	for (uint32_t k = 0; k < b->a.queues; k++)
		gn_nvmeq_destroy(&b->a.queue[k], s->machine);
	simt_free(s->machine, b->a.thread);
	simt_free(s->machine, b->a.report);
	free(b->disk.bytes);
	free(b);
}

/* The users run while the disk serves; then what they gave up comes home, and the disk stops. */
static inline int queue_serve(struct stress *s, struct queue_fixture *b, struct simt_grid grid)
{
	struct simt_grid one = {1, 1, 0};
	int bad;

	if (pthread_create(&b->disk.thread, NULL, disk_serve, &b->disk))
		return stress_wrong("cannot start a thread");
	bad = stress_run(s, &use_kernel, grid, &b->a);
	simt_store_release_dev_u32(&b->disk.hurry, 1);
	bad = bad || stress_run(s, &bring_home_kernel, one, &b->a);
	simt_store_release_dev_u32(&b->disk.stop, 1);
	pthread_join(b->disk.thread, NULL);
	return bad || stress_run(s, &reap_rest_kernel, one, &b->a);
}

static inline int queue_check_state(const struct queue_fixture *b, const struct gn_nvmeq_state *state,
                                    uint32_t *strays)
{
	uint32_t slots = state->free_ring.tail - state->free_ring.head;

	*strays += state->strays;
	if (state->abandoned || state->abandoned_writes)
		return stress_wrong("%u commands and %u writes still count as abandoned", state->abandoned,
		                    state->abandoned_writes);
	if (slots != b->depth - 1)
		return stress_wrong("%u of %u slots came back", slots, b->depth - 1);
	if (state->tail != state->ticket)
		return stress_wrong("%u entries were never rung for", state->ticket - state->tail);
	return 0;
}

static inline int queue_check(struct stress *s, struct queue_fixture *b)
{
	static const char *const text[] = {"nothing",
	                                   "a completion was lost",
	                                   "a thread got a status that is not its command's",
	                                   "a read returned something else than the block",
	                                   "no slot came back",
	                                   "post refused a command"};
	struct use_report report;
	struct gn_nvmeq_state state;
	uint32_t strays = 0;

	if (simt_move(s->machine, &report, b->a.report, sizeof report, NULL))
		return stress_wrong("cannot look at the result");
	s->operations += report.served + report.timed_out;
	if (report.wrong)
		return stress_wrong("%s", text[report.wrong]);
	if (b->disk.bad_address)
		return stress_wrong("%u commands past the end of the disk", b->disk.bad_address);
	if (b->disk.served != (uint64_t)report.served + report.timed_out)
		return stress_wrong("%u commands were sent, the disk saw %llu",
		                    report.served + report.timed_out, (unsigned long long)b->disk.served);
	for (uint32_t k = 0; k < b->a.queues; k++)
		if (simt_move(s->machine, &state, b->a.queue[k].state, sizeof state, NULL) ||
		    queue_check_state(b, &state, &strays))
			return 1;
	if (strays != b->disk.repeated)
		return stress_wrong("%llu completions came twice, %u were noticed",
		                    (unsigned long long)b->disk.repeated, strays);
	return 0;
}

static inline int queue_round(struct stress *s, const struct queue_mode *mode)
{
	struct queue_fixture *b = (struct queue_fixture *)calloc(1, sizeof *b);
	uint64_t random = draw_mix(s->seed);
	struct simt_grid grid = stress_grid(s, 1 + draw_below(&random, mode->most_threads));
	int bad;

	if (!b)
		return stress_wrong("out of memory");
	b->threads = (uint64_t)grid.blocks * grid.block_threads;
	b->depth = 1u << (mode->depth_log2_from +
	                  draw_below(&random, mode->depth_log2_to - mode->depth_log2_from + 1));
	b->first_ticket = 0u - 2 * b->depth;
	b->a.seed = b->disk.random = s->seed;
	b->a.queues = 1 + draw_below(&random, USE_QUEUES);
	b->a.each = 1 + (uint32_t)(mode->commands / b->threads);
	b->a.hasty = mode->hasty;
	b->a.short_ns = mode->short_ns;
	b->a.patience_ns = stress_patience_ns(s);
	b->a.fail_each = mode->faults.fail_each;
	b->disk.faults = mode->faults;
	bad = queue_make(s, b);
	if (!bad)
		bad = queue_serve(s, b, grid) || queue_check(s, b);
	queue_unmake(s, b);
	return bad;
}

#endif
