/* SPDX-License-Identifier: Apache-2.0 */
#include <net/device.h>
#include <net/node.h>

#include <stdlib.h>
#include <string.h>

/* The jobs of the last ring read tails; those of the others, which are the teams', apply messages. */
enum { TAILS_RING = GN_DEVICE_RINGS - 1 };

static uint32_t ring_of(uint32_t source)
{
	return source % GN_DEVICE_TEAMS;
}

static struct gn_device_job *job_of(const struct gn_device *d, uint32_t ring, uint32_t ticket)
{
	return &d->job[ring * GN_DEVICE_DEPTH + ticket % GN_DEVICE_DEPTH];
}

/* ---- the kernel ---- */

int gn__device_create(struct gn_net *net, struct gn_error *error)
{
	const size_t bytes = sizeof(struct gn_device_job) * GN_DEVICE_RINGS * GN_DEVICE_DEPTH;
	const size_t near = sizeof(uint64_t) * GN_PACKET_WORDS * GN_DEVICE_TEAMS;
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
	uint32_t warps;
	struct simt_grid grid = {GN_DEVICE_RINGS, 0, gn__device_shared_bytes()};

	simt_describe(d->kernel.machine, &info);
	warps = info.is_cuda ? GN_DEVICE_MOST_WARPS : info.warp_width > 8 ? 1 : GN_DEVICE_CPU_WARPS;
	grid.block_threads = info.warp_width * warps;
	return gn__resident_start(&d->kernel, net, &gn_device_work_kernel, grid, &a);
}

/* Submit a job to its ring. R4. */
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
	for (uint32_t k = 0; k < GN_DEVICE_RINGS; k++)
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

/* The messages that are copied from a packet into a job. */
struct taking {
	struct gn_net *net;
	const struct gn_packet *packet;
	struct gn_device_job *job;
	int passed;
	uint32_t at;             /* the next word of the packet */
	uint32_t words, results; /* words of the job, and of its results */
	uint32_t messages;
};

/* The node that wrote a message. Returns 0 if the message is not for this node or from none. */
static int origin_of(const struct taking *t, uint64_t head, uint32_t *origin)
{
	const uint32_t peer = gn__message_peer(head);

	*origin = t->passed ? t->packet->source : peer;
	return *origin < t->net->route.nodes && (!t->passed || peer == t->net->route.node);
}

/*
 * Take consecutive changes by one operand that return nothing; most messages are of this kind. They are
 * copied as they are, because nobody looks for the sender of such a message. Returns the number of words.
 */
static uint32_t take_plain(struct taking *t)
{
	const uint64_t *const from = t->packet->word + t->at, *const end = t->packet->word + t->packet->words;
	const uint64_t most = t->net->options.heap_bytes / 4;
	const uint64_t *word = from;
	uint32_t origin;

	for (; word + 1 < end; word += 2) {
		const uint32_t op = gn__message_op(word[0]), wide = op & GN__MESSAGE_WIDE;
		const uint32_t how = op - wide - GN__MESSAGE_CHANGE;
		const uint64_t place = gn__message_place(word[0]);

		if (how >= GN_GET || how == GN_CAS || place >= most || (wide && place % 2) ||
		    !origin_of(t, word[0], &origin))
			break;
		t->net->peer[origin].applied++;
		t->messages++;
	}
	memcpy(t->job->word + t->words, from, (size_t)((const char *)word - (const char *)from));
	t->words += (uint32_t)(word - from);
	t->at += (uint32_t)(word - from);
	return (uint32_t)(word - from);
}

/* Take one message of any form. Returns its number of words, or 0: it is not for the heap, or has no room. */
static uint32_t take_one(struct taking *t)
{
	const uint64_t *word = t->packet->word + t->at;
	uint64_t *to = t->job->word + t->words;
	uint32_t words, origin, results = t->results;

	if (t->at >= t->packet->words || !is_for_heap(t->net, word, t->packet->words - t->at) ||
	    !origin_of(t, word[0], &origin))
		return 0;
	if (gn__message_fetches(word[0]))
		results += gn_device_result_words(word[0]);
	if (results > GN_PACKET_WORDS)
		return 0;
	words = gn__message_words(word[0]);
	memcpy(to, word, 8ull * words);
	to[0] = gn__message_readdress(word[0], origin) | (word[0] & gn__message_first);
	t->net->peer[origin].applied++;
	t->results = results;
	t->messages++;
	t->words += words;
	t->at += words;
	return words;
}

uint32_t gn__device_take(struct gn_net *net, const struct gn_packet *packet, int passed, uint32_t at,
                         uint32_t *messages, int *other)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(packet->source);
	struct taking t = {net, packet, job_of(d, ring, d->ring[ring].next), passed, at, 0, 0, 0};

	*messages = 0;
	*other = !is_for_heap(net, packet->word + at, packet->words - at);
	if (*other || is_full(&d->ring[ring]))
		return 0;
	while (take_plain(&t) || take_one(&t))
		;
	*messages = t.messages;
	*other = !t.words;
	if (t.words)
		submit(d, ring, GN_DEVICE_APPLY, t.words);
	gn__count(&net->statistics.applied, t.messages);
	return t.at - at;
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
