/* SPDX-License-Identifier: Apache-2.0 */
/* The object: opened, asked for its array, looked back at, closed. */
#include <stdlib.h>
#include <string.h>

#include <array/auto.h>

enum { FIRST_CHOICE = 3 /* 4 KiB */ };

static int check_config(const struct gn_auto_config *c, struct gn_error *error)
{
	if (!c->count || !c->cache_bytes)
		return gn_error_set(error, -GN_EINVAL, "auto: count and cache_bytes must be given");
	return 0;
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
	struct simt_info machine;
	int rc = check_config(&x->config, error);

	if (rc)
		return rc;
	simt_describe(x->machine, &machine);
	x->width = machine.warp_width;
	if (x->config.rates)
		x->rates = *x->config.rates;
	x->has_direct = gn_store_view_of(x->store)->kind == GN_STORE_MEMORY;
	for (unsigned p = 0; p < GN_AUTO_PAGE_SIZES; p++)
		x->again[p] = 0.5;
	x->patience = 1;
	rc = gn__auto_make_sample(x, error);
	if (!rc && !x->rates.measured)
		rc = gn__auto_measure(x->machine, x->store, &x->config, &x->rates, error);
	if (rc)
		return rc;
	if (x->config.rates)
		*x->config.rates = x->rates;
	rc = gn__auto_take(x, first_choice(x), error);
	if (!rc)
		rc = gn__auto_look(x, error);
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
	gn__auto_forget_sample(x);
	free(x);
}

struct gn_array gn_auto_array(struct gn_auto *x)
{
	struct gn_array array = x->array;

	array.sample = x->looking ? x->sample : NULL;
	if (x->looking)
		gn__array_bounds(&array, 0);
	x->begun = gn__auto_seconds();
	return array;
}

int gn_auto_adapt(struct gn_auto *x, struct gn_error *error)
{
	const double seconds = gn__auto_seconds() - x->begun;
	int choice = x->choice, rc = 0;

	x->launches++;
	if (x->looking)
		rc = gn__auto_decide(x, &choice);
	else
		choice = gn__auto_weigh(x, seconds);
	if (rc)
		return gn_error_set(error, rc, "auto: what was seen cannot be made sense of: %s", gn_error_name(rc));
	if (choice != x->choice)
		rc = gn__auto_switch(x, choice, error);
	return rc >= 0 && gn__auto_is_due(x) && gn__auto_look(x, error) ? error->code : rc;
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
	return x->walks || x->forecast.scattered_seconds > x->forecast.stream_seconds ? GN_ADVICE_GATHER : GN_ADVICE_DIRECT;
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
