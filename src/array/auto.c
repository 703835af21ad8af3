/* SPDX-License-Identifier: Apache-2.0 */
/* The object: its cache, its sample, and what it does between launches. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>
#include <array/auto_kernels.h>

enum {
	FIRST_CHOICE = 3, /* 4 KiB */
	TOUCHES = 20480,
	STAGES = 16,
	LEAST_REGIONS = 16,
	LAUNCHES_AHEAD = 8,
	FEWEST_TOUCHES = 64, /* below nothing is decided */
	MOST_MISSES = 1 << 22
};

/* ---- a choice in force ---- */

static int create_array(struct gn_auto *x, struct gn_cache *cache, struct gn_array *array, struct gn_error *error)
{
	struct gn_array_config c;

	memset(&c, 0, sizeof c);
	c.mode = cache ? GN_PAGED : GN_DIRECT;
	c.cache = cache;
	c.store = x->store;
	c.offset = x->config.offset;
	c.count = x->config.count;
	c.element_bytes = x->config.element_bytes;
	return gn_array_create(array, x->machine, &c, error);
}

static int create_cache(struct gn_auto *x, int choice, struct gn_cache **cache, struct gn_error *error)
{
	struct gn_cache_options o;

	*cache = NULL;
	if (choice == GN_AUTO_DIRECT)
		return 0;
	memset(&o, 0, sizeof o);
	o.bytes = x->config.cache_bytes;
	o.page_bytes = gn_auto_page_bytes[choice];
	o.policy = x->config.policy;
	return gn_cache_create(cache, x->machine, &x->store, 1, &o, error);
}

/* The old cache goes first: two may not fit. The array keeps its failure. */
static int take_choice(struct gn_auto *x, int choice, struct gn_error *error)
{
	struct gn_failure failure = {0, 0, 0, 0, 0};
	int rc = 0;

	if (x->array.failure)
		failure = *x->array.failure;
	if (x->array.failure)
		gn_array_destroy(&x->array, x->machine);
	if (x->cache)
		gn_cache_destroy(x->cache);
	x->cache = NULL;
	rc = create_cache(x, choice, &x->cache, error);
	if (!rc)
		rc = create_array(x, x->cache, &x->array, error);
	if (!rc)
		*x->array.failure = failure;
	x->choice = choice;
	x->fresh = 1;
	x->steady = 0;
	return rc;
}

static int switch_to(struct gn_auto *x, int choice, struct gn_error *error)
{
	const int before = x->choice;
	int rc = gn_auto_flush(x, error);

	if (rc)
		return rc;
	rc = take_choice(x, choice, error);
	if (rc && take_choice(x, before, error))
		return rc;
	x->switches++;
	return rc ? rc : 1;
}

/* ---- looking ---- */

static void forget_sample(struct gn_auto *x)
{
	simt_free(x->machine, x->image.touch);
	simt_free(x->machine, x->image.misses);
	simt_free(x->machine, x->sample);
	free(x->log);
	free(x->seen);
}

static uint32_t misses_size(const struct gn_auto *x)
{
	const uint64_t most = x->config.cache_bytes / 256;
	uint32_t size = 1024;

	while (size < MOST_MISSES && size < most && (uint64_t)size * 512 < x->config.count * x->config.element_bytes)
		size *= 2;
	return size;
}

/* Where the hash of a region must lie at the end: so that a few regions of the array are looked at. */
static uint32_t least_keep(const struct gn_auto *x)
{
	const uint64_t regions = (x->config.count * x->config.element_bytes >> GN_SAMPLE_REGION_LOG2) + 1;

	return regions <= LEAST_REGIONS ? UINT32_MAX : (uint32_t)(4294967295.0 * LEAST_REGIONS / (double)regions);
}

static int make_sample(struct gn_auto *x, struct gn_error *error)
{
	const struct gn_store_view *view = gn_store_view_of(x->store);
	struct gn_sample *s = &x->image;

	s->room = x->config.touches ? x->config.touches : (uint32_t)TOUCHES;
	s->stage = s->room / STAGES + 1;
	s->least = least_keep(x);
	s->base = x->config.offset;
	s->memory = view->kind == GN_STORE_MEMORY ? view->memory + x->config.offset : NULL;
	s->miss_mask = misses_size(x) - 1;
	s->touch = (uint64_t *)simt_alloc(x->machine, s->room * sizeof *s->touch, SIMT_DEVICE);
	s->misses = (uint32_t *)simt_alloc(x->machine, ((size_t)s->miss_mask + 1) * sizeof *s->misses, SIMT_DEVICE);
	x->sample = (struct gn_sample *)simt_alloc(x->machine, sizeof *x->sample, SIMT_DEVICE);
	x->log = (uint64_t *)malloc(s->room * sizeof *x->log);
	return s->touch && s->misses && x->sample && x->log ? 0 : gn_error_set(error, -GN_ENOMEM, "auto: no memory for its sample");
}

static int clear(struct gn_auto *x, void *memory, uint64_t bytes)
{
	const struct gn_auto_clear_args args = {(uint32_t *)memory, bytes / 4};
	const struct simt_grid grid = {64, 256, 0};

	return simt_launch(x->machine, &gn_auto_clear_kernel, grid, &args);
}

/*
 * What a page costs, and what going around the cache costs once: in whole lines of the store's memory, one of which is
 * what lanes that read side by side pay.
 */
static void set_rent(const struct gn_auto *x, struct gn_sample *s)
{
	const double line = x->rates.line + 4 * x->rates.sector;
	const double once = x->rates.line + x->rates.sector + x->rates.lost;
	double price;

	s->rent = s->once = 0;
	if (!x->has_direct || x->choice == GN_AUTO_DIRECT || line <= 0)
		return;
	price = x->rates.together[x->choice] / line + 1.5;
	s->rent = price > 1e6 ? 1000000 : (uint32_t)price;
	s->once = once > line ? (uint32_t)(once / line + 0.5) : 1;
}

/* The next launch is looked at. */
static int look(struct gn_auto *x, struct gn_error *error)
{
	struct gn_sample *s = &x->image;
	int rc;

	s->next = 0;
	s->keep = s->least < UINT32_MAX / 16 ? UINT32_MAX / 16 : s->least;
	set_rent(x, s);
	rc = clear(x, s->touch, s->room * sizeof *s->touch);
	if (!rc)
		rc = clear(x, s->misses, ((uint64_t)s->miss_mask + 1) * sizeof *s->misses);
	if (!rc)
		rc = simt_move(x->machine, x->sample, s, sizeof *s);
	x->looking = !rc;
	return rc ? gn_error_set(error, rc, "auto: %s", simt_message(x->machine)) : 0;
}

/* ---- what was seen ---- */

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

enum { BLOCK_LOG2 = 9 }; /* the smallest page */

/* The distinct blocks of 512 B of the sifted log, in order. Returns their number. */
static uint64_t blocks_of(const uint64_t *touch, uint64_t count, uint64_t *to)
{
	uint64_t n = 0;

	for (uint64_t k = 0; k < count; k++)
		to[k] = touch[k] >> GN_TOUCH_LINE_SHIFT >> (BLOCK_LOG2 - GN_SAMPLE_LINE_LOG2);
	qsort(to, count, sizeof *to, by_number);
	for (uint64_t k = 0; k < count; k++)
		if (!n || to[k] != to[n - 1])
			to[n++] = to[k];
	return n;
}

static int looked_at(uint64_t block, uint32_t keep)
{
	return gn_sample_hash(block >> (GN_SAMPLE_REGION_LOG2 - BLOCK_LOG2)) < keep;
}

/* Of the pages of this launch, in regions that both looks kept, how many did the look before see too? */
static double common(const struct gn_auto *x, const uint64_t *block, uint64_t count, uint32_t keep, uint32_t shift)
{
	uint64_t both = 0, all = 0, at = 0, last = UINT64_MAX;

	for (uint64_t k = 0; k < count; k++) {
		const uint64_t page = block[k] >> shift;

		if (page == last || !looked_at(block[k], x->seen_keep) || !looked_at(block[k], keep))
			continue;
		last = page;
		all++;
		while (at < x->seen_count && x->seen[at] >> shift < page)
			at++;
		both += at < x->seen_count && x->seen[at] >> shift == page;
	}
	return all < 16 ? -1 : (double)both / (double)all;
}

static int compare_looks(struct gn_auto *x, uint32_t keep, struct gn_auto_study *study)
{
	uint64_t *block = (uint64_t *)malloc((study->touches + 1) * sizeof *block);
	uint64_t count;

	if (!block)
		return -GN_ENOMEM;
	count = blocks_of(x->log, study->touches, block);
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES && x->seen && study->covered >= 0.9; p++)
		study->again[p] = common(x, block, count, keep, (uint32_t)__builtin_ctz(gn_auto_page_bytes[p]) - BLOCK_LOG2);
	free(x->seen);
	x->seen = block;
	x->seen_count = count;
	x->seen_keep = keep;
	return 0;
}

static int study(struct gn_auto *x, struct gn_auto_study *out)
{
	struct gn_auto_study_input in;
	struct gn_sample s;
	int rc = simt_move(x->machine, &s, x->sample, sizeof s);

	memset(&in, 0, sizeof in);
	in.touch = x->log;
	in.noted = s.next;
	in.count = s.next < s.room ? s.next : s.room;
	in.keep = s.keep;
	in.element_bytes = x->config.element_bytes;
	in.first_byte = x->config.offset;
	in.bytes = x->config.count * x->config.element_bytes;
	in.cache_bytes = x->config.cache_bytes;
	in.near_bytes = x->rates.near_bytes;
	in.reach_bytes = x->rates.reach_bytes;
	for (unsigned k = 0; k < GN_SAMPLE_STRIPES; k++)
		in.accesses += s.accesses[k][0];
	if (!rc)
		rc = simt_move(x->machine, x->log, x->image.touch, in.count * sizeof *x->log);
	if (!rc)
		rc = gn__auto_study(&in, out);
	return rc ? rc : compare_looks(x, s.keep, out);
}

/* ---- deciding ---- */

/* How wrong the forecasts of this kind of choice are, as far as the clock has shown: what is wrong for one is for all. */
static double error_of(const struct gn_auto *x, int choice)
{
	double error = 1;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if ((c == GN_AUTO_DIRECT) == (choice == GN_AUTO_DIRECT) && x->measured[c] > 0 && x->forecast.seconds[c] > 0)
			error = x->measured[c] / x->forecast.seconds[c];
	return error;
}

/* What a choice takes, as far as is known. */
static double price(const struct gn_auto *x, int choice)
{
	return x->measured[choice] > 0 ? x->measured[choice] : x->forecast.seconds[choice] * error_of(x, choice);
}

/* With its share of what the change to it takes, if it stays for a few launches. */
static double price_changed(const struct gn_auto *x, int choice)
{
	const double change = choice == x->choice ? 0 : choice == GN_AUTO_DIRECT ? x->rates.change / 2 : x->rates.change;

	return price(x, choice) + change / LAUNCHES_AHEAD;
}

/* The choice in force, unless another is better by so much; direct wins where it is as good. */
static int cheapest(const struct gn_auto *x, double by)
{
	int best = x->choice;

	for (int c = 0; c < GN_AUTO_CHOICES; c++)
		if (x->forecast.seconds[c] >= 0 && price_changed(x, c) < price_changed(x, best))
			best = c;
	if (x->has_direct && price_changed(x, GN_AUTO_DIRECT) < 1.05 * price_changed(x, best))
		best = GN_AUTO_DIRECT;
	return price_changed(x, best) < price(x, x->choice) / by ? best : x->choice;
}

static int are_alike(double before, double now)
{
	return now < 1.2 * before && before < 1.2 * now;
}

/* When to look again, if nothing happens: at once, where one look cannot tell. */
static void plan_look(struct gn_auto *x, int changes)
{
	const int unsure = x->forecast.unsure && x->study.again[0] < 0;

	x->patience = changes ? 1 : 2 * x->patience;
	x->quiet_until = x->launches + x->patience;
	x->next_look = unsure ? x->launches : 16 * x->launches;
}

static int decide(struct gn_auto *x, int *choice)
{
	struct gn_auto_study seen;
	int rc = study(x, &seen);

	*choice = x->choice;
	x->looking = 0;
	if (rc)
		return rc;
	if (seen.touches < FEWEST_TOUCHES) { /* too little to tell: look at the next */
		x->next_look = x->launches;
		return 0;
	}
	/* What the clock said holds for launches like those before. */
	if (!x->looks || !are_alike((double)x->study.accesses, (double)seen.accesses))
		memset(x->measured, 0, sizeof x->measured);
	x->looks++;
	x->study = seen;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		x->again[p] = seen.again[p] >= 0 ? seen.again[p] : x->again[p];
	gn__auto_forecast(&x->study, &x->rates, &x->config, x->has_direct, x->again, &x->forecast);
	*choice = cheapest(x, x->looks == 1 ? 1 : 1.1);
	plan_look(x, *choice != x->choice);
	return 0;
}

/* Filling the cache is what a first launch pays for the next. */
static double without_filling(const struct gn_auto *x, double seconds)
{
	const int p = x->choice < GN_AUTO_PAGE_SIZES ? x->choice : 0;
	const struct gn_auto_paged *seen = &x->study.paged[p];
	const double filling = x->choice == GN_AUTO_DIRECT || !x->looks ? 0
		: x->again[p] * (seen->first - seen->second) * x->rates.together[p] / (x->study.share * x->study.covered);

	return seconds - filling > seconds / 2 ? seconds - filling : seconds / 2;
}

/*
 * A launch that was only timed. Where launches of one choice differ by a fifth, what the clock said of others says nothing
 * any more, and perhaps a new phase began: look. Returns the choice for the next launch.
 */
static int weigh(struct gn_auto *x, double seconds)
{
	double *known = &x->measured[x->choice];

	if (x->steady && !are_alike(*known, seconds) && x->launches >= x->quiet_until) {
		memset(x->measured, 0, sizeof x->measured);
		*known = seconds;
		x->next_look = x->launches;
		return x->choice;
	}
	*known = x->fresh ? without_filling(x, seconds) : x->steady && *known < seconds ? *known : seconds;
	x->steady = !x->fresh;
	x->fresh = 0;
	return x->looks ? cheapest(x, 1.1) : x->choice;
}

int gn_auto_adapt(struct gn_auto *x, struct gn_error *error)
{
	const double seconds = gn__auto_seconds() - x->begun;
	int choice = x->choice, rc = 0;

	x->launches++;
	if (x->looking)
		rc = decide(x, &choice);
	else
		choice = weigh(x, seconds);
	if (rc)
		return gn_error_set(error, rc, "auto: what was seen cannot be made sense of: %s", gn_error_name(rc));
	if (choice != x->choice)
		rc = switch_to(x, choice, error);
	return rc >= 0 && x->launches >= x->next_look && look(x, error) ? error->code : rc;
}

/* ---- the object ---- */

static int check_config(const struct gn_auto_config *c, struct gn_error *error)
{
	if (!c->count || !c->cache_bytes)
		return gn_error_set(error, -GN_EINVAL, "auto: count and cache_bytes must be given");
	return c->touches && c->touches < STAGES * 8
		       ? gn_error_set(error, -GN_EINVAL, "auto: a sample of %u touches is too small; take 128 or more", c->touches)
		       : 0;
}

static int first_choice(const struct gn_auto *x)
{
	int choice = FIRST_CHOICE;

	while (choice > 0 && !gn__auto_can_page(x->store, &x->config, (unsigned)choice))
		choice--;
	while (choice < GN_AUTO_PAGE_SIZES - 1 && !gn__auto_can_page(x->store, &x->config, (unsigned)choice))
		choice++;
	return choice;
}

static int build(struct gn_auto *x, struct gn_error *error)
{
	int rc = check_config(&x->config, error);

	if (rc)
		return rc;
	if (x->config.rates)
		x->rates = *x->config.rates;
	x->has_direct = gn_store_view_of(x->store)->kind == GN_STORE_MEMORY;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		x->again[p] = 0.5;
	x->patience = 1;
	rc = make_sample(x, error);
	if (!rc && !x->rates.measured)
		rc = gn__auto_measure(x->machine, x->store, &x->config, &x->rates, error);
	if (rc)
		return rc;
	if (x->config.rates)
		*x->config.rates = x->rates;
	rc = take_choice(x, first_choice(x), error);
	if (!rc)
		rc = look(x, error);
	return rc;
}

int gn_auto_open(struct gn_auto **choice, struct simt_machine *machine, struct gn_store *store,
		 const struct gn_auto_config *config, struct gn_error *error)
{
	struct gn_auto *x = (struct gn_auto *)calloc(1, sizeof *x);
	int rc;

	*choice = NULL;
	if (!x)
		return gn_error_set(error, -GN_ENOMEM, "auto: out of memory");
	x->machine = machine;
	x->store = store;
	x->config = *config;
	rc = build(x, error);
	x->config.rates = NULL; /* was borrowed */
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
	if (x->array.failure)
		gn_array_destroy(&x->array, x->machine);
	if (x->cache)
		gn_cache_destroy(x->cache);
	forget_sample(x);
	free(x);
}

struct gn_array gn_auto_array(struct gn_auto *x)
{
	struct gn_array array = x->array;

	array.sample = x->looking ? x->sample : NULL;
	x->begun = gn__auto_seconds();
	return array;
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
	if (x->choice != GN_AUTO_DIRECT)
		return GN_ADVICE_PAGED;
	return x->forecast.class_seen == GN_CLASS_INSENSITIVE && x->forecast.lost_seconds > x->forecast.stream_seconds
		       ? GN_ADVICE_GATHER
		       : GN_ADVICE_DIRECT;
}

void gn_auto_describe(const struct gn_auto *x, struct gn_auto_state *state)
{
	memset(state, 0, sizeof *state);
	state->mode = x->choice == GN_AUTO_DIRECT ? GN_DIRECT : GN_PAGED;
	state->page_bytes = x->choice == GN_AUTO_DIRECT ? 0 : gn_auto_page_bytes[x->choice];
	state->advice = gn_auto_advice(x);
	state->class_seen = x->forecast.class_seen;
	state->launches = x->launches;
	state->looks = x->looks;
	state->switches = x->switches;
	state->forecast_seconds = x->looks ? x->forecast.seconds[x->choice] : 0;
}
