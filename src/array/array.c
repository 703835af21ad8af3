/* SPDX-License-Identifier: Apache-2.0 */
#include <cache/cache.h>
#include <grapnel/array.h>
#include <store/store.h>

#include <stdio.h>

static int check_options(const struct gn_array_options *c, struct gn_error *error)
{
	const struct gn_store_view *s;
	const uint32_t size = c->element_bytes;

	if (!c->store)
		return gn_error_set(error, -GN_EINVAL,
		                    "array: the store is NULL; give a store, in paged mode too");
	s = gn_store_view_of(c->store);
	if (c->mode != GN_PAGED && c->mode != GN_DIRECT)
		return gn_error_set(error, -GN_EINVAL,
		                    "array: mode %d does not exist; give GN_PAGED or GN_DIRECT",
		                    (int)c->mode);
	if (!size || size > 16 || size & (size - 1))
		return gn_error_set(error, -GN_EINVAL,
		                    "array: elements of %u bytes are not possible; give 1, 2, 4, 8 or 16",
		                    size);
	if (c->offset % size)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "array: offset %llu is not a multiple of the element size, %u bytes; give one",
		    (unsigned long long)c->offset, size);
	if (c->offset > s->capacity_bytes || c->count > (s->capacity_bytes - c->offset) / size)
		return gn_error_set(error, -GN_ERANGE,
		                    "array: %llu elements of %u bytes from byte %llu reach past the end of "
		                    "the store (%llu bytes); give fewer",
		                    (unsigned long long)c->count, size, (unsigned long long)c->offset,
		                    (unsigned long long)s->capacity_bytes);
	if (c->mode == GN_DIRECT && s->kind != GN_STORE_MEMORY)
		return gn_error_set(error, -GN_ENOTSUP,
		                    "array: direct mode needs a store whose memory the device can load from; "
		                    "this store is \"%s\", use paged mode",
		                    gn_store_path(c->store));
	if (c->mode == GN_PAGED && !c->cache)
		return gn_error_set(
		    error, -GN_EINVAL,
		    "array: the cache is NULL; paged mode needs a cache that was made for the array's store");
	if (c->mode == GN_PAGED && gn__cache_segment(c->cache, c->store) < 0)
		return gn_error_set(error, -GN_EINVAL,
		                    "array: the cache was made for other stores; paged mode needs a cache "
		                    "that was made for the array's store");
	return 0;
}

static void fill_paged(struct gn_array *a, const struct gn_array_options *c)
{
	const struct gn_cache_view *v = &c->cache->image;
	const struct gn_cache_segment *segment = &v->segment[gn__cache_segment(c->cache, c->store)];

	a->base = (segment->first_page << v->page_log2) + c->offset;
	a->pages.word = v->owner ? v->word : NULL;
	a->pages.frame = v->frame;
	a->pages.cache = c->cache->device;
	a->pages.page_log2 = v->page_log2;
	a->pages.counting = v->stripe != NULL;
	/* a sector must not reach past the readable end of a store's memory */
	if (v->owner && v->sector && v->sector_log2 <= 12 && segment->store.kind == GN_STORE_MEMORY) {
		a->pages.sector = v->sector;
		a->pages.sector_log2 = v->sector_log2;
		a->pages.backing = segment->store.memory - (segment->first_page << v->page_log2);
	}
}

int gn_array_create(struct gn_array *array, struct simt_machine *machine,
                    const struct gn_array_options *options, struct gn_error *error)
{
	int rc = check_options(options, error);
	const struct gn_store_view *s;

	if (!rc)
		rc = gn_store_check_machine(options->store, machine, error);

	memset(array, 0, sizeof *array);
	if (rc)
		return rc;
	s = gn_store_view_of(options->store);
	array->failure = (struct gn_failure *)simt_alloc(machine, sizeof *array->failure, SIMT_PINNED, error);
	if (!array->failure)
		return gn_error_set(error, -GN_ENOMEM,
		                    "array: cannot allocate pinned memory for the failure record");
	array->count = options->count;
	array->element_log2 = (uint32_t)__builtin_ctz(options->element_bytes);
	array->read_only = s->read_only;
	if (options->mode == GN_DIRECT)
		array->memory = s->memory + options->offset;
	else
		fill_paged(array, options);
	gn__array_bounds(array, array->pages.word && !array->pages.counting);
	return 0;
}

void gn_array_destroy(struct gn_array *array, struct simt_machine *machine)
{
	simt_free(machine, array->failure);
	memset(array, 0, sizeof *array);
}

/* The meaning of a failed access, and what to do. */
static const char *meaning(int code)
{
	switch (code) {
	case -GN_ERANGE: return "is past the end; the first element is 0";
	case -GN_EROFS: return "cannot be written: the store is opened read-only; open it without ?ro";
	case -GN_ENOSPC: return "could not be written: the storage is full; free storage";
	case -GN_ETIMEDOUT:
		return "was not read or written before the deadline; if the device is slow, open the store "
		       "with a longer timeout=";
	case -GN_EIO:
		return "could not be read or written: the device failed, or the file was shortened while it "
		       "was open";
	case -GN_EBUSY: return "could not be written, because its store is busy; write it again later";
	case -GN_ENOBUFS: return "found no frame; release pages, or make the cache larger";
	case -GN_EINVAL: return "is of a batch or range that is not possible; see the call's comment";
	default: return "could not be accessed; the code says why";
	}
}

int gn_array_failure(struct gn_array *array, struct gn_error *error)
{
	struct gn_failure *f = array->failure, taken;
	char device[80] = "";

	/*
	 * 3: one of several host threads takes the failure. For kernels every value but 0 means that a
	 * failure is already there.
	 */
	if (simt_load_acquire_sys_u32(&f->state) != 2 || simt_cas_acq_rel_dev_u32(&f->state, 2, 3) != 2)
		return 0;
	taken = *f;
	simt_store_release_sys_u32(&f->state, 0);
	if (taken.code == -GN_EINVAL && taken.device)
		return gn_error_set(error, taken.code,
		                    "array: element %llu was accessed as %u bytes, but the elements have %u "
		                    "bytes; use the functions of the element type",
		                    (unsigned long long)taken.index, taken.device, 1u << array->element_log2);
	if (taken.device)
		snprintf(device, sizeof device, "; device status: %s, 0x%x",
		         gn_nvme_status_text(taken.device), taken.device);
	return gn_error_set(error, taken.code, "array: element %llu of %llu %s (%s%s)",
	                    (unsigned long long)taken.index, (unsigned long long)array->count,
	                    meaning(taken.code), gn_error_name(taken.code), device);
}
