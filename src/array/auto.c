/* SPDX-License-Identifier: Apache-2.0 */
/* auto.c - gn_auto: open, give the array of a launch, decide after a launch, switch, close. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

enum {
	PAGES_4K = 3,
	LEAST_FRAMES = 16,
	FEWEST_TOUCHES = 64, /* with fewer touches nothing is decided */
	LONGEST_STEP = 64    /* the most launches between two samples */
};

static const double WORTH_A_CHANGE =
    0.9; /* a change must move less than this part of the current choice: it drops a filled cache */

/* ---- the current choice ---- */

static int create_array(struct gn_auto *x, struct gn_error *error)
{
	const struct gn_array_options c = {
	    x->cache ? GN_PAGED : GN_DIRECT, x->cache, x->store, x->options.offset, x->options.count,
	    x->options.element_bytes};

	return gn_array_create(&x->array, x->machine, &c, error);
}

static int create_cache(struct gn_auto *x, int choice, struct gn_error *error)
{
	struct gn_cache_options o;

	if (choice == GN_AUTO_DIRECT)
		return 0;
	memset(&o, 0, sizeof o);
	o.bytes = x->options.cache_bytes;
	o.page_bytes = gn_auto_page_bytes[choice];
	o.policy = x->options.policy;
	return gn_cache_create(&x->cache, x->machine, &x->store, 1, &o, error);
}

static void give_back(struct gn_auto *x)
{
	if (x->array.failure)
		gn_array_destroy(&x->array, x->machine);
	if (x->cache)
		gn_cache_destroy(x->cache);
	x->cache = NULL;
}

/*
 * Replace cache and array by those of a choice; the old ones go first, because two caches may not fit. The
 * array keeps its failure.
 */
static int take(struct gn_auto *x, int choice, struct gn_error *error)
{
	struct gn_failure failure = {0, 0, 0, 0, 0};
	int rc;

	if (x->array.failure)
		failure = *x->array.failure;
	give_back(x);
	x->choice = choice;
	rc = create_cache(x, choice, error);
	if (!rc)
		rc = create_array(x, error);
	if (!rc)
		*x->array.failure = failure;
	return rc;
}

int gn__auto_switch(struct gn_auto *x, int choice, struct gn_error *error)
{
	const int before = x->choice;
	int rc = gn_auto_flush(x, error);

	if (rc)
		return rc;
	rc = take(x, choice, error);
	if (rc && take(x, before, error))
		return rc;
	x->switches++;
	return rc ? rc : 1;
}

/* ---- opening ---- */

/*
 * Is a cache with pages of this size possible? If loads reach the store, small pages cost no more on a miss,
 * so no page larger than 4 KiB is wanted; but the direct table must fit in the cache's default budget.
 */
static int can_page(const struct gn_auto *x, const struct simt_info *machine, unsigned p)
{
	const struct gn_store_view *s = gn_store_view_of(x->store);
	const uint64_t bytes = gn_auto_page_bytes[p], cache = x->options.cache_bytes;
	const uint64_t table = s->capacity_bytes / bytes * 8 + cache / bytes * 20 + (64 << 10);

	if (bytes % s->block_bytes || cache / bytes < LEAST_FRAMES)
		return 0;
	if (s->kind == GN_STORE_QUEUES)
		return s->transfer_bytes >= bytes;
	return p == PAGES_4K || (p < PAGES_4K && table <= machine->memory_bytes / 64 + cache / 50);
}

static int fill_setup(struct gn_auto *x, struct gn_error *error)
{
	const struct gn_auto_options *c = &x->options;
	const struct gn_store_view *s = gn_store_view_of(x->store);
	struct gn_auto_setup *b = &x->setup;
	struct simt_info machine;

	if (!c->count || !c->cache_bytes || !c->element_bytes)
		return gn_error_set(error, -GN_EINVAL,
		                    "auto: count, element_bytes or cache_bytes is 0; give all three");
	simt_describe(x->machine, &machine);
	b->first_byte = c->offset;
	b->bytes = c->count * c->element_bytes;
	b->cache_bytes = c->cache_bytes;
	b->near_bytes = c->near_bytes ? c->near_bytes
	                              : machine.processors * (machine.is_cuda ? 192ull << 10 : 1ull << 20);
	b->reach_bytes = c->reach_bytes ? c->reach_bytes : 1ull << 30;
	b->element_bytes = c->element_bytes;
	b->block_log2 = (uint32_t)__builtin_ctz(s->block_bytes);
	b->has_memory = s->kind == GN_STORE_MEMORY;
	b->is_near = b->has_memory && !machine.is_cuda;
	b->warp_width = machine.warp_width;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		b->can |= (uint32_t)can_page(x, &machine, p) << p;
	return b->can ? 0
	              : gn_error_set(error, -GN_EINVAL,
	                             "auto: a cache of %llu bytes has room for fewer than 16 pages of any "
	                             "size that the store (%s) can transfer; give a larger cache_bytes",
	                             (unsigned long long)c->cache_bytes, gn_store_path(x->store));
}

/* The first choice: the smallest pages if loads reach the store, else the size nearest to 4 KiB. */
static int first_choice(const struct gn_auto_setup *b)
{
	int choice = b->has_memory ? 0 : PAGES_4K;

	if (b->is_near)
		return GN_AUTO_DIRECT;
	while (choice > 0 && !(b->can >> choice & 1))
		choice--;
	while (!(b->can >> choice & 1))
		choice++;
	return choice;
}

static int build(struct gn_auto *x, struct gn_error *error)
{
	int rc = fill_setup(x, error);

	if (!rc)
		rc = gn__auto_make_sample(x, error);
	if (!rc)
		rc = take(x, first_choice(&x->setup), error);
	return rc ? rc : gn__auto_sample(x, error);
}

int gn_auto_open(struct gn_auto **choice, struct simt_machine *machine, struct gn_store *store,
                 const struct gn_auto_options *options, struct gn_error *error)
{
	struct gn_auto *x = (struct gn_auto *)calloc(1, sizeof *x);
	int rc;

	*choice = NULL;
	if (!x)
		return gn_error_set(error, -GN_ENOMEM, "auto: out of memory");
	x->machine = machine;
	x->store = store;
	x->options = *options;
	rc = build(x, error);
	if (rc)
		gn_auto_close(x);
	else
		*choice = x;
	return rc;
}

void gn_auto_close(struct gn_auto *x)
{
	if (!x)
		return;
	give_back(x);
	gn__auto_forget_sample(x);
	free(x);
}

/* ---- launch by launch ---- */

struct gn_array gn_auto_array(const struct gn_auto *x)
{
	struct gn_array array = x->array;

	array.sample = x->sampling ? x->sample : NULL;
	if (x->sampling)
		gn__array_bounds(&array, 0);
	return array;
}

/*
 * Decide after a launch with a sample. Samples become rarer as long as the choice does not change.
 * @choice  in: the current choice; out: the choice for the next launch
 * Returns 0, -GN_ENOMEM or a code of the machine.
 */
static int decide(struct gn_auto *x, int *choice, struct gn_error *error)
{
	const struct gn_auto_log last = x->before;
	struct gn_auto_analysis seen;
	int rc = gn__auto_collect(x, error);

	x->sampling = 0;
	if (rc)
		return gn_error_prefix(error, rc, "auto: the sampled accesses cannot be fetched");
	rc = gn__auto_analyse(&x->setup, &x->log, &last, &seen);
	if (rc)
		return gn_error_set(error, rc, "auto: the sampled accesses cannot be analysed: %s",
		                    gn_error_name(rc));
	x->next_sample = x->launches + 1;
	if (seen.touches < FEWEST_TOUCHES) /* too few to decide */
		return 0;
	x->analysis = seen;
	x->log.covered = seen.covered;
	x->before = x->log;
	x->log = last;
	/* needs two samples; and from batches one cannot tell how single accesses to their rows would be */
	if (seen.before && 2 * seen.batch < seen.touches)
		x->batches = gn__auto_batches(&x->setup, &seen);
	if (!x->samples++ || seen.lines[seen.best] < WORTH_A_CHANGE * seen.lines[x->choice])
		*choice = seen.best;
	if (x->samples == 1 || *choice != x->choice)
		x->step = 1;
	else if (x->step < LONGEST_STEP)
		x->step *= 2;
	x->next_sample = x->launches + x->step;
	return 0;
}

int gn_auto_adapt(struct gn_auto *x, struct gn_error *error)
{
	int choice = x->choice, rc = 0;

	x->launches++;
	if (x->sampling)
		rc = decide(x, &choice, error);
	if (rc)
		return rc;
	if (choice != x->choice)
		rc = gn__auto_switch(x, choice, error);
	if (rc >= 0 && x->launches + 1 >= x->next_sample) {
		const int again = gn__auto_sample(x, error);

		rc = again ? again : rc;
	}
	return rc;
}

int gn_auto_flush(struct gn_auto *x, struct gn_error *error)
{
	if (x->array.read_only)
		return 0;
	return x->cache ? gn_cache_flush(x->cache, error) : gn_store_flush(x->store, error);
}

int gn_auto_failure(struct gn_auto *x, struct gn_error *error)
{
	return gn_array_failure(&x->array, error);
}

enum gn_auto_advice gn_auto_advice(const struct gn_auto *x)
{
	return x->batches                    ? GN_ADVICE_GATHER
	       : x->choice == GN_AUTO_DIRECT ? GN_ADVICE_DIRECT
	                                     : GN_ADVICE_PAGED;
}

void gn_auto_describe(const struct gn_auto *x, struct gn_auto_state *state)
{
	memset(state, 0, sizeof *state);
	state->mode = x->choice == GN_AUTO_DIRECT ? GN_DIRECT : GN_PAGED;
	state->page_bytes = x->choice == GN_AUTO_DIRECT ? 0 : gn_auto_page_bytes[x->choice];
	state->advice = gn_auto_advice(x);
	state->launches = x->launches;
	state->samples = x->samples;
	state->switches = x->switches;
}
