/* SPDX-License-Identifier: Apache-2.0 */
/* tier.c - tier: stores: memory, such as another GPU's, that keeps lines of a slower store. */
#include <store/tier/tier.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gn_tier *tier_of(const struct gn_store *store)
{
	return (struct gn_tier *)(uintptr_t)store;
}

/* ---- sweeps ---- */

/*
 * The code of the host's function. A write that the slow store refuses as long as an earlier one may land is
 * a failed one here, because other lines have been written.
 */
static int code_of(int code)
{
	return code == -GN_EBUSY ? -GN_EIO : code == -GN_EAGAIN ? -GN_ETIMEDOUT : code;
}

static const char *remedy(int code)
{
	switch (code) {
	case -GN_ENOSPC: return "free storage";
	case -GN_EAGAIN: return "a kernel used the line all that time: wait for it";
	default: return "repair the store";
	}
}

static int tell_failure(const struct gn_tier *t, struct gn_error *error)
{
	const struct gn_tier_failure *f = t->failure;
	const int code = code_of(f->status.code);
	char device[80] = "";

	if (!f->count)
		return 0;
	if (f->status.device)
		snprintf(device, sizeof device, " (device status: %s, 0x%x)",
		         gn_nvme_status_text(f->status.device), f->status.device);
	return gn_error_set(error, code,
	                    "tier: %u lines could not be written to the slow store (%s) and stay in the fast "
	                    "level; the first failure was %s at byte %llu%s; %s, then flush again",
	                    f->count, t->uri[1], gn_error_name(code),
	                    (unsigned long long)(f->line << t->image.line_log2), device,
	                    remedy(f->status.code));
}

static int launch(struct gn_tier *t, const struct gn_tier_sweep_args *args, struct gn_error *error)
{
	struct simt_grid grid = {1, 128, 0};
	struct simt_info info;
	uint64_t blocks;
	int rc;

	simt_describe(t->base.machine, &info);
	blocks = args->items / grid.block_threads + 1;
	grid.blocks = (uint32_t)(blocks < 8 * info.processors ? blocks : 8 * info.processors);
	memset(t->failure, 0, sizeof *t->failure);
	rc = simt_launch_on(t->stream, &gn_tier_sweep_kernel, grid, args, error);
	return rc ? rc : simt_stream_wait(t->stream, error);
}

/*
 * Write the dirty lines of a range to the slow store.
 * @lines  UINT64_MAX: all
 * @drops  1: the fast level forgets the lines, too
 */
static int sweep(struct gn_tier *t, uint64_t first, uint64_t lines, int drops, struct gn_error *error)
{
	const uint64_t ways = (uint64_t)t->image.sets * GN__TIER_WAYS;
	struct gn_tier_sweep_args args;
	int rc;

	if (!ways || (t->base.view.read_only && !drops))
		return 0;
	memset(&args, 0, sizeof args);
	args.view = t->base.view;
	args.first = first;
	args.lines = lines;
	args.by_line = lines < ways;
	args.items = args.by_line ? lines : ways;
	args.drops = (uint32_t)drops;
	args.failure = t->failure;
	pthread_mutex_lock(&t->mutex);
	rc = launch(t, &args, error);
	rc = rc ? gn_error_prefix(error, -GN_EIO, "tier: the machine failed") : tell_failure(t, error);
	pthread_mutex_unlock(&t->mutex);
	return rc;
}

static int sweep_bytes(struct gn_tier *t, uint64_t offset, size_t bytes, int drops, struct gn_error *error)
{
	const uint32_t log2 = t->image.line_log2;

	return bytes ? sweep(t, offset >> log2, ((offset + bytes - 1) >> log2) - (offset >> log2) + 1, drops,
	                     error)
	             : 0;
}

/* ---- the store ---- */

static void give_back(struct gn_tier *t)
{
	struct simt_machine *machine = t->base.machine;

	simt_stream_destroy(t->stream);
	simt_free(machine, t->image.word);
	simt_free(machine, t->image.set);
	simt_free(machine, t->image.counts);
	simt_free(machine, t->device);
	simt_free(machine, t->failure);
	gn_store_close(t->fast);
	gn_store_close(t->slow);
	free(t->uri[0]);
	free(t->uri[1]);
	pthread_mutex_destroy(&t->mutex);
	free(t);
}

static void describe(struct gn_tier *t)
{
	if (t->fast)
		snprintf(t->base.path, sizeof t->base.path, "%.60s, with lines of %u bytes of: %.60s",
		         t->fast->path, 1u << t->image.line_log2, t->slow->path);
	else
		snprintf(t->base.path, sizeof t->base.path, "no memory for a fast level; %.120s",
		         t->slow->path);
}

static int tier_join(struct gn_store **store, struct simt_machine *machine, struct gn_list *list,
                     const struct gn_store_options *options, struct gn_error *error)
{
	struct gn_tier *t = (struct gn_tier *)calloc(1, sizeof *t);
	int rc;

	if (!t)
		return gn_error_set(error, -GN_ENOMEM, "tier: out of memory");
	t->base.ops = &gn_store_tier;
	t->base.machine = machine;
	t->base.flushes_again = 1; /* what could not be written stays in the fast level */
	pthread_mutex_init(&t->mutex, NULL);
	rc = gn_tier_open(t, list, options, error);
	if (rc) {
		give_back(t);
		return rc;
	}
	t->base.forgets = t->slow->forgets;
	describe(t);
	*store = &t->base;
	return 0;
}

static void tier_close(struct gn_store *store)
{
	sweep(tier_of(store), 0, UINT64_MAX, 0, NULL);
	give_back(tier_of(store));
}

/* ---- the host ---- */

static int tier_read(struct gn_store *store, uint64_t offset, void *to, size_t bytes, struct gn_error *error)
{
	struct gn_tier *t = tier_of(store);
	const int rc = sweep_bytes(t, offset, bytes, 0, error);

	return rc ? rc : gn_store_read_host(t->slow, offset, to, bytes, error);
}

static int tier_write(struct gn_store *store, uint64_t offset, const void *from, size_t bytes,
                      struct gn_error *error)
{
	struct gn_tier *t = tier_of(store);
	const int rc = sweep_bytes(t, offset, bytes, 1, error);

	return rc ? rc : gn_store_write_host(t->slow, offset, from, bytes, error);
}

static int tier_flush(struct gn_store *store, struct gn_error *error)
{
	struct gn_tier *t = tier_of(store);
	const int rc = sweep(t, 0, UINT64_MAX, 0, error);
	const int slow = gn_store_flush(t->slow, rc ? NULL : error);

	return rc ? rc : slow;
}

/* ---- reports ---- */

static void tier_statistics(const struct gn_store *store, struct gn_store_statistics *statistics)
{
	struct gn_tier *t = tier_of(store);
	struct gn_tier_counts counts;
	int rc;

	gn_store_get_statistics(t->slow, statistics);
	statistics->members_out += !t->fast;
	pthread_mutex_lock(&t->mutex);
	rc = simt_stream_move(t->stream, &counts, t->image.counts, sizeof counts, NULL);
	pthread_mutex_unlock(&t->mutex);
	if (rc)
		return;
	statistics->hits = counts.hits;
	statistics->misses = counts.misses;
	statistics->evictions = counts.evictions;
	statistics->write_backs = counts.write_backs;
	statistics->unwritten = counts.failed;
}

static int tier_member(const struct gn_store *store, unsigned k, struct gn_store_member *member)
{
	const struct gn_tier *t = tier_of(store);

	if (k >= GN_TIER_LEVELS)
		return gn_store_get_member(t->slow, k - GN_TIER_LEVELS, member);
	if (!k)
		*member = t->about;
	member->uri = t->uri[k];
	return 0;
}

/*
 * The fast level has no part in it: it keeps lines of the replica's bytes, and the copying changes none of
 * these. A line that is written meanwhile is a write as any other; it is busy, so its bytes stay as they are
 * until the replica need not write them again. No lock: a sweep may wait for the copying.
 */
static int tier_resync(struct gn_store *store, unsigned k, const struct gn_store_others *others,
                       struct gn_error *error)
{
	struct gn_tier *t = tier_of(store);

	if (k < GN_TIER_LEVELS)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "tier: the %s (%s) cannot be put back; only the members of a replica: "
		                    "that is the slow store can",
		                    k ? "slow store" : "fast level", t->uri[k]);
	return gn_store_resync_beside(t->slow, k - GN_TIER_LEVELS, others, error);
}

/* Words and lines are one machine's. */
static int tier_is_open(const struct gn_store *store, struct simt_machine *machine)
{
	return store->machine == machine;
}

const struct gn_store_ops gn_store_tier = {
    "tier",          0,           NULL, tier_join,    tier_close, tier_read,  tier_write, tier_flush,
    tier_statistics, tier_member, NULL, tier_is_open, 1,          tier_resync};
