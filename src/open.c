/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - the short way in (open.h): machine, store, cache and array one after the other. */
#include <grapnel/open.h>

#include <string.h>

static int open_machine(struct gn_data *d, const struct gn_options *o, struct gn_error *e)
{
	struct simt_config config = o->machine_options;

	if (o->beside) {
		d->machine = o->beside->machine;
		return 0;
	}
	config.name = o->machine ? o->machine : "cpu";
	d->owns_machine = 1;
	return simt_open(&d->machine, &config, e);
}

/* How many elements the array has. */
static int count_elements(const struct gn_data *d, const struct gn_options *o, const char *uri, uint64_t *count, struct gn_error *e)
{
	const uint64_t bytes = gn_store_view_of(d->store)->capacity_bytes;

	*count = o->count;
	if (!o->element_bytes)
		return gn_error_set(e, -GN_EINVAL, "%s: element_bytes is 0: say how large an element is: 1, 2, 4, 8 or 16", uri);
	if (!o->count && o->offset < bytes)
		*count = (bytes - o->offset) / o->element_bytes;
	if (!*count)
		return gn_error_set(e, -GN_EINVAL, "%s: of its %llu bytes none is an element of %u bytes from byte %llu on", uri,
				    (unsigned long long)bytes, o->element_bytes, (unsigned long long)o->offset);
	return 0;
}

static uint64_t less_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int make_cache(struct gn_data *d, const struct gn_options *o, uint64_t count, struct gn_error *e)
{
	const uint64_t least = 1 << 20, capacity = gn_store_view_of(d->store)->capacity_bytes;
	struct gn_cache_options options = o->cache;
	struct simt_info info;

	if (!options.bytes) {
		simt_describe(d->machine, &info);
		options.bytes = less_of(count, capacity / o->element_bytes) * o->element_bytes;
		options.bytes = less_of(options.bytes, info.memory_bytes / 8);
		options.bytes = options.bytes > least ? options.bytes : least;
	}
	return gn_cache_create(&d->cache, d->machine, &d->store, 1, &options, e);
}

static int make_array(struct gn_data *d, const struct gn_options *o, const char *uri, struct gn_error *e)
{
	struct gn_array_config config;
	int rc;

	memset(&config, 0, sizeof config);
	config.mode = o->mode;
	config.offset = o->offset;
	config.element_bytes = o->element_bytes;
	rc = count_elements(d, o, uri, &config.count, e);
	if (!rc && o->mode == GN_PAGED)
		rc = make_cache(d, o, config.count, e);
	config.cache = d->cache;
	config.store = d->store;
	return rc ? rc : gn_array_create(&d->array, d->machine, &config, e);
}

int gn_open(struct gn_data *d, const char *uri, const struct gn_options *o, struct gn_error *e)
{
	int rc;

	memset(d, 0, sizeof *d);
	rc = open_machine(d, o, e);
	if (!rc)
		rc = gn_store_open(&d->store, d->machine, uri, &o->store, e);
	if (!rc)
		rc = make_array(d, o, uri, e);
	if (rc)
		gn_discard(d);
	return rc;
}

int gn_launch(struct gn_data *d, const struct simt_kernel *kernel, struct simt_grid grid, const void *arguments, struct gn_error *e)
{
	struct simt_info info;
	int rc;

	if (!grid.blocks) {
		simt_describe(d->machine, &info);
		grid.block_threads = grid.block_threads ? grid.block_threads : 256;
		grid.blocks = info.resident_threads / grid.block_threads;
		grid.blocks = grid.blocks ? grid.blocks : 1;
	}
	rc = simt_launch(d->machine, kernel, grid, arguments);
	if (!rc)
		rc = simt_wait(d->machine);
	if (rc)
		return gn_error_set(e, rc, "%s: %s", kernel->name, simt_message(d->machine));
	return gn_array_failure(&d->array, e);
}

int gn_flush(struct gn_data *d, struct gn_error *e)
{
	return d->cache ? gn_cache_flush(d->cache, e) : gn_store_flush(d->store, e);
}

int gn_close(struct gn_data *d, struct gn_error *e)
{
	const int rc = gn_flush(d, e);

	if (!rc)
		gn_discard(d);
	return rc;
}

void gn_discard(struct gn_data *d)
{
	if (d->array.failure)
		gn_array_destroy(&d->array, d->machine);
	if (d->cache)
		gn_cache_destroy(d->cache);
	gn_store_close(d->store);
	if (d->owns_machine && d->machine)
		simt_close(d->machine);
	memset(d, 0, sizeof *d);
}
