/* SPDX-License-Identifier: Apache-2.0 */
/* A choice in force: its cache and its array, and the change to another. */
#include <string.h>

#include <array/auto.h>

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
int gn__auto_take(struct gn_auto *x, int choice, struct gn_error *error)
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

int gn__auto_switch(struct gn_auto *x, int choice, struct gn_error *error)
{
	const int before = x->choice;
	int rc = gn_auto_flush(x, error);

	if (rc)
		return rc;
	rc = gn__auto_take(x, choice, error);
	if (rc && gn__auto_take(x, before, error))
		return rc;
	x->switches++;
	return rc ? rc : 1;
}
