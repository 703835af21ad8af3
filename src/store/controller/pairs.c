/* SPDX-License-Identifier: Apache-2.0 */
#include <store/controller/pairs.h>

#include <stdlib.h>
#include <string.h>

enum { QUEUES_MOST_BY_DEFAULT = 128, DEPTH = 256, DEPTH_LEAST = 8 };
#define BUFFERS_BY_DEFAULT ((uint64_t)128 << 20) /* bytes, of all queues together */

static uint32_t choose_depth(const struct gn_store_options *o, uint32_t transfer_bytes, uint32_t count)
{
	uint32_t depth = DEPTH;

	if (o->queue_depth)
		return o->queue_depth;
	while (depth > DEPTH_LEAST && (uint64_t)count * depth * transfer_bytes > BUFFERS_BY_DEFAULT)
		depth /= 2;
	return depth;
}

static uint32_t choose_count(const struct gn_store_options *o, struct simt_machine *machine)
{
	struct simt_info info;

	if (o->queue_count)
		return o->queue_count;
	simt_describe(machine, &info);
	return info.processors > QUEUES_MOST_BY_DEFAULT ? (uint32_t)QUEUES_MOST_BY_DEFAULT
	       : info.processors                        ? info.processors
	                                                : 1;
}

/* Choose the bytes of a transfer: a power of two, so that no PRP list crosses a page. */
static int choose_transfer(const struct gn_store_options *o, uint32_t block_bytes, uint32_t *bytes,
                           struct gn_error *error)
{
	if (o->transfer_bytes > GN_STORE_MAX_TRANSFER)
		return gn_error_set(error, -GN_EINVAL,
		                    "store: transfers of %u bytes are too large; give at most %d bytes",
		                    o->transfer_bytes, GN_STORE_MAX_TRANSFER);
	for (*bytes = GN_NVME_PAGE; *bytes < o->transfer_bytes || *bytes < block_bytes;)
		*bytes *= 2;
	return 0;
}

int gn_pairs_plan(struct gn_nvmeq_options *options, uint32_t *count, struct simt_machine *machine,
                  const struct gn_store_settings *settings, uint32_t block_bytes, struct gn_error *error)
{
	const struct gn_store_options *o = &settings->options;
	int rc;

	memset(options, 0, sizeof *options);
	*count = choose_count(o, machine);
	if (*count > GN_PAIRS_MOST)
		return gn_error_set(error, -GN_EINVAL, "store: %u queue pairs are too many; give at most %d",
		                    *count, GN_PAIRS_MOST);
	rc = choose_transfer(o, block_bytes, &options->buffer_bytes, error);
	if (rc)
		return rc;
	options->depth = choose_depth(o, options->buffer_bytes, *count);
	options->block_bytes = block_bytes;
	options->nsid = 1;
	options->start = o->queue_start & ~(2 * options->depth - 1);
	return 0;
}

static int make_queues(struct gn_pairs *p, const struct gn_nvmeq_options *options, uint32_t count,
                       struct gn_error *error)
{
	p->queue = (struct gn_nvmeq *)calloc(count, sizeof *p->queue);
	p->device = (struct gn_nvmeq *)simt_alloc(p->machine, count * sizeof *p->queue, SIMT_DEVICE, error);
	if (!p->queue || !p->device)
		return gn_error_set(error, -GN_ENOMEM, "store: out of memory for %u queue pairs", count);
	for (; p->count < count; p->count++) {
		int rc = gn_nvmeq_create(&p->queue[p->count], p->machine, options, error);

		if (rc)
			return rc;
	}
	if (simt_move(p->machine, p->device, p->queue, count * sizeof *p->queue, error))
		return gn_error_prefix(error, -GN_EIO, "store: the machine failed");
	return 0;
}

int gn_pairs_open(struct gn_pairs *pairs, struct simt_machine *machine,
                  const struct gn_store_settings *settings, struct gn_medium *medium, uint32_t block_bytes,
                  struct gn_error *error)
{
	struct gn_nvmeq_options options;
	uint32_t count;
	int rc;

	memset(pairs, 0, sizeof *pairs);
	pairs->machine = machine;
	rc = gn_pairs_plan(&options, &count, machine, settings, block_bytes, error);
	if (rc)
		return rc;
	pairs->depth = options.depth;
	rc = make_queues(pairs, &options, count, error);
	if (!rc)
		rc = gn_controller_start(&pairs->controller, pairs->queue, count, medium,
		                         settings->options.faults, settings->threads, error);
	if (rc)
		gn_pairs_close(pairs);
	return rc;
}

void gn_pairs_close(struct gn_pairs *pairs)
{
	if (pairs->controller)
		gn_controller_stop(pairs->controller);
	for (uint32_t k = 0; k < pairs->count; k++)
		gn_nvmeq_destroy(&pairs->queue[k], pairs->machine);
	simt_free(pairs->machine, pairs->device);
	free(pairs->queue);
	memset(pairs, 0, sizeof *pairs);
}

void gn_pairs_view(const struct gn_pairs *pairs, const struct gn_store_settings *settings,
                   const struct gn_medium *medium, struct gn_store_view *view)
{
	view->kind = GN_STORE_QUEUES;
	view->block_bytes = pairs->queue[0].block_bytes;
	view->transfer_bytes = pairs->queue[0].buffer_bytes;
	view->capacity_bytes = medium->bytes;
	view->read_only = (uint32_t)medium->read_only;
	view->queue_count = pairs->count;
	view->timeout_ns = settings->options.timeout_ns;
	view->queue = pairs->device;
}
