/* SPDX-License-Identifier: Apache-2.0 */
#include <net/device.h>
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/* The last ring reads tails; the other rings apply messages. */
enum { TAILS_RING = GN_DEVICE_WARPS - 1 };

static uint32_t ring_of(uint32_t source)
{
	return source % TAILS_RING;
}

static struct gn_device_job *job_of(const struct gn_device *d, uint32_t ring, uint32_t ticket)
{
	return &d->job[ring * GN_DEVICE_DEPTH + ticket % GN_DEVICE_DEPTH];
}

/* ---- the kernel ---- */

int gn__device_create(struct gn_net *net, struct gn_error *error)
{
	const size_t bytes = sizeof(struct gn_device_job) * GN_DEVICE_WARPS * GN_DEVICE_DEPTH;
	const size_t near = sizeof(uint64_t) * GN_PACKET_WORDS * GN_DEVICE_WARPS;
	int rc;

	net->device = (struct gn_device *)calloc(1, sizeof *net->device);
	if (!net->device)
		return gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", net->route.node);
	rc = gn__resident_open(&net->device->kernel, net, error);
	if (rc)
		return rc;
	net->device->job =
	    (struct gn_device_job *)simt_alloc(net->device->kernel.machine, bytes, SIMT_PINNED);
	if (!net->device->job)
		return gn_error_set(error, -GN_ENOMEM,
		                    "cannot allocate %zu MiB of pinned host memory for node %u", bytes >> 20,
		                    net->route.node);
	net->device->near = (uint64_t *)simt_alloc(net->device->kernel.machine, near, SIMT_DEVICE);
	if (!net->device->near)
		return gn_error_set(error, -GN_ENOMEM, "cannot allocate %zu KiB of device memory for node %u",
		                    near >> 10, net->route.node);
	return 0;
}

void gn__device_destroy(struct gn_net *net)
{
	struct gn_device *d = net->device;

	if (!d)
		return;
	if (d->kernel.machine) {
		simt_free(d->kernel.machine, d->job);
		simt_free(d->kernel.machine, d->near);
	}
	gn__resident_close(&d->kernel);
	free(d);
}

int gn__device_start(struct gn_net *net)
{
	struct gn_device *d = net->device;
	const struct gn_device_args a = {net->view, d->job, d->near};
	struct simt_info info;
	struct simt_grid grid = {1, 0, 0};

	simt_describe(d->kernel.machine, &info);
	grid.block_threads = GN_DEVICE_WARPS * info.warp_width;
	return gn__resident_start(&d->kernel, net, &gn_device_work_kernel, grid, &a);
}

/* Submit a job to its warp. R4. */
static void submit(struct gn_device *d, uint32_t ring, uint32_t kind, uint32_t words)
{
	struct gn_device_ring *r = &d->ring[ring];
	struct gn_device_job *job = job_of(d, ring, r->next);

	job->kind = kind;
	job->words = words;
	simt_store_release_sys_u32(&job->turn, ++r->next);
}

static int is_full(const struct gn_device_ring *r)
{
	return r->next - r->oldest == GN_DEVICE_DEPTH;
}

/* A5: pairs with R5 */
static int oldest_is_done(const struct gn_device *d, uint32_t ring)
{
	const struct gn_device_ring *r = &d->ring[ring];

	return r->oldest != r->next &&
	       simt_load_acquire_sys_u32(&job_of(d, ring, r->oldest)->done) == r->oldest + 1;
}

/*
 * Wait for the jobs of a ring at the end. They belong to a run that failed, so their replies are dropped. A
 * job never waits. So if one is not done by the deadline, its kernel has failed, and the wait for its stream
 * reports that.
 */
static void end_ring(struct gn_device *d, uint32_t ring, uint64_t deadline)
{
	while (is_full(&d->ring[ring])) {
		while (!oldest_is_done(d, ring)) {
			if (simt_clock_ns() > deadline)
				return;
			simt_relax();
		}
		d->ring[ring].oldest++;
	}
	submit(d, ring, GN_DEVICE_END, 0);
}

void gn__device_stop(struct gn_net *net)
{
	const uint64_t deadline = simt_clock_ns() + net->options.timeout_ns;
	struct gn_device *d = net->device;

	if (!d->kernel.started)
		return;
	for (uint32_t k = 0; k < GN_DEVICE_WARPS; k++)
		end_ring(d, k, deadline);
	gn__resident_wait(&d->kernel, net);
}

/* ---- messages ---- */

/* Is this message for the heap, and complete? */
static int is_for_heap(const struct gn_net *net, const uint64_t *word, uint32_t left)
{
	const uint64_t head = word[0], heap = net->options.heap_bytes;
	const uint32_t words = gn__message_words(head), kind = gn__message_kind(head);
	const uint64_t place = gn__message_place(head);

	if (!words || words > left)
		return 0;
	if (kind == GN__MESSAGE_BYTES)
		return word[1] < heap && place <= heap - word[1];
	return kind < GN__MESSAGE_BYTES && place * 4 < heap && !(gn__message_is_wide(head) && place % 2);
}

uint32_t gn__device_take(struct gn_net *net, const struct gn_packet *packet, int passed, uint32_t at,
                         uint32_t *messages, int *other)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(packet->source), from = at;
	struct gn_device_job *job = job_of(d, ring, d->ring[ring].next);
	uint32_t words = 0, results = 0;

	*messages = 0;
	*other = !is_for_heap(net, packet->word + at, packet->words - at);
	if (*other || is_full(&d->ring[ring]))
		return 0;
	while (at < packet->words && is_for_heap(net, packet->word + at, packet->words - at)) {
		const uint64_t *word = packet->word + at, head = word[0];
		const uint32_t count = gn__message_words(head), peer = gn__message_peer(head);
		const uint32_t origin = passed ? packet->source : peer;

		if (origin >= net->route.nodes || (passed && peer != net->route.node))
			break;
		if (gn__message_fetches(head)) {
			results += gn_device_result_words(head);
			if (results > GN_PACKET_WORDS)
				break;
		}
		memcpy(job->word + words, word, 8ull * count);
		job->word[words] = gn__message_readdress(head, origin) | (head & gn__message_first);
		net->peer[origin].applied++;
		words += count;
		at += count;
		++*messages;
	}
	*other = !words;
	if (words)
		submit(d, ring, GN_DEVICE_APPLY, words);
	gn__count(&net->statistics.applied, *messages);
	return at - from;
}

int gn__device_is_done(const struct gn_net *net, uint32_t source)
{
	const struct gn_device_ring *r = &net->device->ring[ring_of(source)];

	return r->next == r->oldest;
}

/* ---- results ---- */

/* Post the reply to a message that fetched. Returns 0 or -GN_EAGAIN: there is no room now. */
static int answer(struct gn_net *net, const uint64_t *word, const uint64_t *result)
{
	const uint32_t words = gn__message_words(word[0]);
	const uint64_t token = word[words - 1];
	uint64_t reply[GN__MESSAGE_MOST_WORDS];

	if (gn__message_kind(word[0]) != GN__MESSAGE_BYTES) {
		reply[0] = gn__message_head(GN__MESSAGE_REPLY, 0, token & gn__message_most_place);
		reply[1] = result[0];
		return gn__post(net, 1, gn__message_peer(word[0]), net->route.node, reply, 2);
	}
	reply[0] = gn__message_head(GN__MESSAGE_REPLY | GN__MESSAGE_WIDE, 0, gn__message_place(word[0]));
	reply[1] = token;
	memcpy(reply + 2, result, 8ull * gn_device_result_words(word[0]));
	return gn__post(net, 1, gn__message_peer(word[0]), net->route.node, reply,
	                2 + gn_device_result_words(word[0]));
}

/* Post the replies of a job that is done, from where it was left. Returns 0 or -GN_EAGAIN. */
static int post_replies(struct gn_net *net, struct gn_device_ring *r, const struct gn_device_job *job)
{
	while (r->at < job->words) {
		const uint64_t *word = job->word + r->at;

		if (gn__message_fetches(word[0])) {
			if (answer(net, word, job->result + r->result))
				return -GN_EAGAIN;
			r->result += gn_device_result_words(word[0]);
		}
		r->at += gn__message_words(word[0]);
	}
	r->at = r->result = 0;
	return 0;
}

uint32_t gn__device_collect(struct gn_net *net)
{
	struct gn_device *d = net->device;
	uint32_t left = 0;

	for (uint32_t k = 0; k < TAILS_RING; k++) {
		struct gn_device_ring *r = &d->ring[k];

		while (oldest_is_done(d, k) && !post_replies(net, r, job_of(d, k, r->oldest)))
			r->oldest++;
		left += r->next - r->oldest;
	}
	return left;
}

int gn__device_ask_tails(struct gn_net *net)
{
	struct gn_device_ring *r = &net->device->ring[TAILS_RING];

	if (r->next != r->oldest)
		return -GN_EAGAIN;
	submit(net->device, TAILS_RING, GN_DEVICE_TAILS, 0);
	return 0;
}

const uint64_t *gn__device_tails(struct gn_net *net)
{
	struct gn_device *d = net->device;
	const struct gn_device_job *job = job_of(d, TAILS_RING, d->ring[TAILS_RING].oldest);

	if (!oldest_is_done(d, TAILS_RING))
		return NULL;
	d->ring[TAILS_RING].oldest++;
	return job->result;
}
