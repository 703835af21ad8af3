/* SPDX-License-Identifier: Apache-2.0 */
/* batch.c - the calls of each batch: they check their arguments and launch kernels; failures and statistics.
 */
#include <slots/slots.h>

#include <stdio.h>
#include <string.h>

/* ---- launches ---- */

static int check_stream(const struct gn_slots *s, const struct simt_stream *stream, struct gn_error *error)
{
	if (stream && simt_stream_machine(stream) != s->machine)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: the stream belongs to another machine than the slots; give a "
		                    "stream of the same machine");
	return 0;
}

static int launch(struct gn_slots *s, struct simt_stream *stream, const struct simt_kernel *kernel,
                  struct simt_grid grid, const void *args, struct gn_error *error)
{
	int rc = check_stream(s, stream, error);

	if (rc)
		return rc;
	rc = stream ? simt_launch_on(stream, kernel, grid, args, error)
	            : simt_launch(s->machine, kernel, grid, args, error);
	return gn_error_prefix(error, rc, "slots");
}

/* The grid of resolve, with a thread for each of so many keys if that is fewer. */
static struct simt_grid grid_for(const struct gn_slots *s, uint64_t count)
{
	struct simt_grid grid = s->resolve;
	const uint64_t blocks = (count + grid.block_threads - 1) / grid.block_threads;

	if (blocks < grid.blocks)
		grid.blocks = blocks ? (uint32_t)blocks : 1;
	return grid;
}

/* Can items be changed? */
static int check_changes(const struct gn_slots *slots, struct gn_error *error)
{
	if (slots->view.store.read_only)
		return gn_error_set(error, -GN_EROFS,
		                    "slots: the store is opened read-only; open it without ?ro");
	if (!gn__slots_may_write(&slots->view))
		return gn_error_set(
		    error, -GN_ENOTSUP,
		    "slots: items cannot be written, because they are not whole blocks of the "
		    "store (%u bytes); give items and an offset that are multiples of a block",
		    slots->view.store.block_bytes);
	return 0;
}

static int check_batch(const struct gn_slots *s, const struct gn_slots_batch *b, struct gn_error *error)
{
	if (b->count > s->view.most_keys)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: a batch of %u keys is larger than options.most_keys (%u); split "
		                    "it, or create slots for larger batches",
		                    b->count, s->view.most_keys);
	if (b->count && (!b->key || !b->slot))
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: batch.key or batch.slot is NULL; give memory that kernels reach");
	if (b->hints & ~(GN_SLOTS_PIN | GN_SLOTS_ONCE | GN_SLOTS_RESIDENT | GN_SLOTS_OVERWRITE))
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: there are no hints 0x%x; give those of enum gn_slots_hint, or-ed",
		                    b->hints);
	if (b->priority > GN_SLOTS_MOST_PRIORITY)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: a priority of %u is not possible; give 0 to %d", b->priority,
		                    (int)GN_SLOTS_MOST_PRIORITY);
	return b->hints & GN_SLOTS_OVERWRITE ? check_changes(s, error) : 0;
}

int gn_slots_resolve(struct gn_slots *slots, const struct gn_slots_batch *batch, struct simt_stream *stream,
                     struct gn_error *error)
{
	const struct gn_slots_resolve_args args = {slots->view, *batch};
	const int rc = check_batch(slots, batch, error);

	return rc ? rc
	          : launch(slots, stream, &gn_slots_resolve_keys_kernel, grid_for(slots, batch->count), &args,
	                   error);
}

int gn_slots_fill(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error)
{
	const struct gn_slots_resolve_args args = {slots->view, {NULL, NULL, NULL, 0, 0, 0}};
	int rc = 0;

	if (slots->view.store.kind == GN_STORE_MEMORY)
		return launch(slots, stream, &gn_slots_load_kernel, slots->fill, &args, error);
	if (gn__slots_may_write(&slots->view))
		rc = launch(slots, stream, &gn_slots_write_kernel, slots->fill, &args, error);
	return rc ? rc : launch(slots, stream, &gn_slots_read_kernel, slots->fill, &args, error);
}

static int change(struct gn_slots *s, const int32_t *slot, uint32_t count, enum gn__slots_change what,
                  struct simt_stream *stream, struct gn_error *error)
{
	const struct gn_slots_change_args args = {s->view, slot, count, (uint32_t)what};

	if (count && !slot)
		return gn_error_set(error, -GN_EINVAL,
		                    "slots: the slot numbers are NULL; give memory that kernels reach");
	return launch(s, stream, &gn_slots_change_kernel, grid_for(s, count), &args, error);
}

int gn_slots_pin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                 struct gn_error *error)
{
	return change(slots, slot, count, GN__PIN, stream, error);
}

int gn_slots_unpin(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                   struct gn_error *error)
{
	return change(slots, slot, count, GN__UNPIN, stream, error);
}

int gn_slots_mark(struct gn_slots *slots, const int32_t *slot, uint32_t count, struct simt_stream *stream,
                  struct gn_error *error)
{
	const int rc = check_changes(slots, error);

	return rc ? rc : change(slots, slot, count, GN__MARK, stream, error);
}

int gn_slots_flush(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error)
{
	const struct gn_slots_resolve_args args = {slots->view, {NULL, NULL, NULL, 0, 0, 0}};

	return gn__slots_may_write(&slots->view)
	           ? launch(slots, stream, &gn_slots_flush_all_kernel, slots->fill, &args, error)
	           : check_stream(slots, stream, error);
}

int gn_slots_clear(struct gn_slots *slots, struct simt_stream *stream, struct gn_error *error)
{
	const struct gn_slots_resolve_args args = {slots->view, {NULL, NULL, NULL, 0, 0, 0}};

	return launch(slots, stream, &gn_slots_empty_kernel, grid_for(slots, slots->view.slots), &args,
	              error);
}

/* ---- failures ---- */

static const char *meaning(const struct gn__slots_record *f)
{
	if (f->writes)
		return "could not be written and stays in its slot; repair the store, or free storage";
	switch (f->code) {
	case -GN_ERANGE: return "is past the end; give numbers below the count";
	case -GN_ENOBUFS: return "found no slot, because all are held; make more slots, or unpin some";
	case -GN_EBUSY:
		return "was wanted before the batch before was filled; call gn_slots_fill between them";
	case -GN_EINVAL: return "was to be unpinned but is not pinned; unpin as often as you pin";
	default: return "could not be read";
	}
}

/* What the number of a record is. The code of one that is past the end does not tell. */
static const char *noun(const struct gn__slots_record *f)
{
	return f->writes               ? "key"
	       : f->code == -GN_EINVAL ? "slot"
	       : f->code == -GN_ERANGE ? "key or slot"
	                               : "key";
}

/* Take the record. Returns 0 if there is none. */
static int take(struct gn__slots_record *r, struct gn__slots_record *taken)
{
	/* 3: one of several host threads takes it. For kernels every value but 0 means that there is one */
	if (simt_load_acquire_sys_u32(&r->state) != 2 || simt_cas_acq_rel_dev_u32(&r->state, 2, 3) != 2)
		return 0;
	*taken = *r;
	taken->count = simt_load_relaxed_sys_u32(&r->count);
	simt_store_release_sys_u32(&r->state, 0);
	return 1;
}

int gn_slots_failure(struct gn_slots *slots, struct gn_error *error)
{
	struct gn__slots_record f;
	char device[80] = "";
	uint32_t count;

	if (!take(slots->view.record, &f))
		return 0;
	count = f.count - simt_load_relaxed_dev_u32(&slots->told);
	simt_store_relaxed_dev_u32(&slots->told, f.count);
	if (f.device)
		snprintf(device, sizeof device, "; device status: %s, 0x%x", gn_nvme_status_text(f.device),
		         f.device);
	return gn_error_set(error, f.code, "slots: %s %lld %s (%s%s); failures so far: %u", noun(&f),
	                    (long long)f.key, meaning(&f), gn_error_name(f.code), device, count ? count : 1);
}

/* ---- statistics ---- */

int gn_slots_get_statistics(struct gn_slots *slots, struct simt_stream *stream,
                            struct gn_slots_statistics *statistics, struct gn_error *error)
{
	const void *from = &slots->view.shared->statistics;
	int rc = check_stream(slots, stream, error);

	if (rc)
		return rc;
	rc = stream ? simt_stream_move(stream, statistics, from, sizeof *statistics, error)
	            : simt_move(slots->machine, statistics, from, sizeof *statistics, error);
	return gn_error_prefix(error, rc, "slots");
}
