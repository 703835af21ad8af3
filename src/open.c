/* SPDX-License-Identifier: Apache-2.0 */
/* open.c - gn_open: opens machine, store, cache and array one after the other. */
#include <grapnel/open.h>

#include <string.h>

/* Check the options before anything is opened, so that a mistake does not create a file. */
static int check_options(const char *uri, const struct gn_options *o, struct gn_error *e)
{
	if (!uri)
		return gn_error_set(
		    e, -GN_EINVAL,
		    "gn_open: the URI is NULL; give the place of the data, for example host:8G or file:PATH");
	if (!o)
		return gn_error_set(
		    e, -GN_EINVAL, "%s: the options are NULL; give options with at least element_bytes", uri);
	if (!o->element_bytes || o->element_bytes > 16 || o->element_bytes & (o->element_bytes - 1))
		return gn_error_set(e, -GN_EINVAL, "%s: element_bytes is %u; give 1, 2, 4, 8 or 16", uri,
		                    o->element_bytes);
	if (o->offset % o->element_bytes)
		return gn_error_set(e, -GN_EINVAL, "%s: offset %llu is not a multiple of element_bytes (%u)",
		                    uri, (unsigned long long)o->offset, o->element_bytes);
	if (o->mode != GN_PAGED && o->mode != GN_DIRECT)
		return gn_error_set(e, -GN_EINVAL, "%s: mode %d does not exist; give GN_PAGED or GN_DIRECT",
		                    uri, (int)o->mode);
	if (o->beside && !o->beside->machine)
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: options.beside is data that is not open; open it first", uri);
	return 0;
}

static int open_machine(struct gn_data *d, const struct gn_options *o, struct gn_error *e)
{
	struct simt_options options = o->machine_options;

	if (o->beside) {
		d->owner = o->beside->owner ? o->beside->owner : o->beside;
		d->owner->others++;
		d->machine = d->owner->machine;
		return 0;
	}
	options.name = o->machine ? o->machine : "cpu";
	return simt_open(&d->machine, &options, e);
}

static uint64_t less_of(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int make_cache(struct gn_data *d, const struct gn_options *o, uint64_t count, struct gn_error *e)
{
	const uint64_t capacity = gn_store_view_of(d->store)->capacity_bytes,
	               pages = 16ull * o->cache.page_bytes;
	const uint64_t least = pages > 1 << 20 ? pages : 1 << 20;
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
	const uint64_t bytes = gn_store_view_of(d->store)->capacity_bytes;
	struct gn_array_options options;
	struct gn_error why;
	int rc = 0;

	memset(&options, 0, sizeof options);
	options.mode = o->mode;
	options.offset = o->offset;
	options.element_bytes = o->element_bytes;
	options.count = o->count || o->offset > bytes ? o->count : (bytes - o->offset) / o->element_bytes;
	if (!options.count)
		return gn_error_set(e, -GN_EINVAL,
		                    "%s: the store has %llu bytes and therefore no element of %u bytes at "
		                    "offset %llu; give a smaller offset, or "
		                    "a larger store (create= changes no file that is there)",
		                    uri, (unsigned long long)bytes, o->element_bytes,
		                    (unsigned long long)o->offset);
	if (o->mode == GN_PAGED)
		rc = make_cache(d, o, options.count, &why);
	options.cache = d->cache;
	options.store = d->store;
	rc = rc ? rc : gn_array_create(&d->array, d->machine, &options, &why);
	return rc ? gn_error_set(e, rc, "%s: %s", uri, why.text) : 0;
}

static void give_back(struct gn_data *d)
{
	if (d->machine)
		simt_wait(d->machine, NULL); /* kernels may use all parts */
	if (d->array.failure)
		gn_array_destroy(&d->array, d->machine);
	if (d->cache)
		gn_cache_destroy(d->cache);
	gn_store_close(d->store);
	if (d->owner)
		d->owner->others--;
	else if (d->machine)
		simt_close(d->machine);
	memset(d, 0, sizeof *d);
}

int gn_open(struct gn_data *d, const char *uri, const struct gn_options *o, struct gn_error *e)
{
	int rc = check_options(uri, o, e);

	memset(d, 0, sizeof *d);
	if (rc)
		return rc;
	rc = open_machine(d, o, e);
	if (!rc)
		rc = gn_store_open(&d->store, d->machine, uri, &o->store, e);
	if (!rc)
		rc = make_array(d, o, uri, e);
	if (rc)
		give_back(d);
	return rc;
}

static int not_open(struct gn_error *e, const char *what)
{
	return gn_error_set(e, -GN_EINVAL, "%s: the data is not open; call gn_open first", what);
}

/*
 * The grid that the caller leaves to the library: as many threads as the machine runs at once. On cpu a loop
 * in which each thread steps by the number of threads must not step over pages of a file: each OS thread
 * would read other pages than the others do, and none of them the next page. But each OS thread gets a block.
 */
static void fill_grid(const struct gn_data *d, struct simt_grid *grid)
{
	struct simt_info info;
	uint64_t threads;

	simt_describe(d->machine, &info);
	threads = info.resident_threads;
	if (!info.is_cuda && d->cache && gn_store_view_of(d->store)->kind == GN_STORE_QUEUES) {
		const uint64_t of_a_page = 1ull
		                           << (gn_cache_view_of(d->cache)->page_log2 - d->array.element_log2);

		threads = threads < of_a_page ? threads : of_a_page;
	}
	if (!grid->block_threads) {
		grid->block_threads = 256;
		while (grid->block_threads > 32 && threads / grid->block_threads < info.processors)
			grid->block_threads /= 2;
	}
	grid->blocks = (uint32_t)(threads / grid->block_threads);
	if (!info.is_cuda && grid->blocks < info.processors)
		grid->blocks = info.processors;
	if (!grid->blocks)
		grid->blocks = 1;
}

int gn_launch(struct gn_data *d, const struct simt_kernel *kernel, struct simt_grid grid,
              const void *arguments, struct gn_error *e)
{
	struct gn_error why;
	int rc, failed;

	if (!d->machine)
		return not_open(e, kernel->name);
	if (!grid.blocks)
		fill_grid(d, &grid);
	rc = simt_launch(d->machine, kernel, grid, arguments, e);
	if (!rc)
		rc = simt_wait(d->machine, e);
	failed = gn_array_failure(&d->array, &why);
	if (rc)
		return rc;
	return failed ? gn_error_set(e, failed, "kernel %s: %s", kernel->name, why.text) : 0;
}

int gn_flush(struct gn_data *d, struct gn_error *e)
{
	int rc;

	if (!d->machine)
		return not_open(e, "gn_flush");
	if (d->cache)
		return gn_cache_flush(d->cache, e);
	rc = simt_wait(d->machine, e);
	return rc ? rc : gn_store_flush(d->store, e);
}

static int in_use(const struct gn_data *d, struct gn_error *e)
{
	return d->others ? gn_error_set(e, -GN_EBUSY,
	                                "%u arrays that were opened with options.beside use the machine of "
	                                "this data; close them first",
	                                d->others)
	                 : 0;
}

int gn_close(struct gn_data *d, struct gn_error *e)
{
	int rc = in_use(d, e);

	if (rc || !d->machine)
		return rc;
	rc = gn_flush(d, e);
	if (!rc)
		rc = gn_array_failure(&d->array, e);
	if (!rc)
		give_back(d);
	return rc;
}

int gn_discard(struct gn_data *d, struct gn_error *e)
{
	const int rc = in_use(d, e);

	if (!rc)
		give_back(d);
	return rc;
}
