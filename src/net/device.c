/* SPDX-License-Identifier: Apache-2.0 */
#include <net/device.h>
#include <net/node.h>
#include <simt/machine.h>

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The ring for the jobs of a packet. The jobs of the ring behind those of the teams read tails. */
static uint32_t ring_of(const struct gn_device *d, const struct gn_packet *packet)
{
	return (packet->source * (GN_SORT_MOST_STREAMS + 1u) + (packet->form & GN_PACKET_STREAM)) % d->teams;
}

static struct gn_device_job *job_of(const struct gn_device *d, uint32_t ring, uint32_t ticket)
{
	return &d->job[ring * GN_DEVICE_DEPTH + ticket % GN_DEVICE_DEPTH];
}

/* ---- the kernel ---- */

uint32_t gn__device_half(const struct gn_net *net, const struct simt_info *info)
{
	const uint32_t blocks = info->processors / (GN_DEVICE_SHARE * net->sharing);
	const uint32_t half = blocks > 2 ? (blocks - 1) / 2 : 1;

	if (!info->is_cuda)
		return GN_DEVICE_CPU_TEAMS;
	return half < GN_DEVICE_TEAMS ? half : (uint32_t)GN_DEVICE_TEAMS;
}

uint32_t gn__device_blocks(const struct gn_net *net, const struct simt_info *info, int sorts)
{
	return (sorts ? 2 : 1) * gn__device_half(net, info) + 1;
}

int gn__device_fits(const struct gn_net *net, const struct simt_info *info, int sorts)
{
	return !info->is_cuda || gn__device_blocks(net, info, sorts) * net->sharing < info->processors;
}

static int device_memory(struct gn_net *net, struct gn_error *error)
{
	struct gn_device *d = net->device;
	const size_t bytes = sizeof(struct gn_device_job) * (d->teams + 1) * GN_DEVICE_DEPTH;
	const size_t near = sizeof(uint64_t) * GN_PACKET_WORDS * d->teams;

	d->job = (struct gn_device_job *)simt_alloc(d->kernel.machine, bytes, SIMT_PINNED);
	if (!d->job)
		return gn_error_set(error, -GN_ENOMEM,
		                    "cannot allocate %zu MiB of pinned host memory for node %u", bytes >> 20,
		                    net->route.node);
	d->near = (uint64_t *)simt_alloc(d->kernel.machine, near, SIMT_DEVICE);
	if (!d->near)
		return gn_error_set(error, -GN_ENOMEM, "cannot allocate %zu KiB of device memory for node %u",
		                    near >> 10, net->route.node);
	return 0;
}

int gn__device_create(struct gn_net *net, struct gn_error *error)
{
	struct gn_device *d = (struct gn_device *)calloc(1, sizeof *d);
	struct simt_info info;
	int rc;

	net->device = d;
	if (d)
		d->under_way = (uint32_t *)calloc(net->route.nodes, sizeof *d->under_way);
	if (!d || !d->under_way)
		return gn_error_set(error, -GN_ENOMEM, "node %u: out of host memory", net->route.node);
	rc = gn__resident_open(&d->kernel, net, error);
	if (rc)
		return rc;
	simt_describe(d->kernel.machine, &info);
	if (!gn__device_fits(net, &info, net->each != 0))
		return gn_error_set(error, -GN_EINVAL,
		                    "the network kernels of %u nodes do not fit on a GPU with %u "
		                    "multiprocessors; start fewer nodes per GPU",
		                    net->sharing, info.processors);
	d->teams = gn__device_half(net, &info);
	if (info.is_cuda)
		simt__take_processors(net->machine,
		                      gn__device_blocks(net, &info, net->each != 0) * net->sharing);
	return device_memory(net, error);
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
	free(d->under_way);
	free(d);
}

/* Has the kernel answered the first question, its sorters too? @tails  keeps the answer */
static int has_answered(struct gn_net *net, const uint64_t **tails)
{
	if (!*tails)
		*tails = gn__device_tails(net);
	return *tails && (!net->sort || gn__sort_is_flushed(net, gn__device_flush(net)));
}

/* Wait until the kernel answers, so that it is there before the program's kernels. */
static int await_kernel(struct gn_net *net)
{
	const uint64_t deadline = simt_clock_ns() + net->options.timeout_ns;
	const uint64_t *tails = NULL;
	struct gn_error error;

	gn__device_ask_tails(net);
	while (!has_answered(net, &tails)) {
		if (simt_clock_ns() > deadline) {
			gn_error_set(
			    &error, -GN_ETIMEDOUT,
			    "the network kernel of node %u did not begin within %llu ms; the machine "
			    "has no room for it, so let no other kernels stay there",
			    net->route.node, (unsigned long long)(net->options.timeout_ns / 1000000));
			return gn__network_fail(net, net->route.node, &error);
		}
		sched_yield();
	}
	return 0;
}

int gn__device_start(struct gn_net *net)
{
	struct gn_device *d = net->device;
	struct gn_device_args a;
	struct simt_grid grid = {d->teams + 1, 0, gn__device_shared_bytes(net->sort ? net->route.nodes : 0)};
	struct simt_info info;
	uint32_t warps;
	int rc;

	memset(&a, 0, sizeof a);
	a.net = net->view;
	a.job = d->job;
	a.near = d->near;
	a.teams = d->teams;
	if (net->sort)
		a.sort = net->sort->args;
	grid.blocks += a.sort.streams;
	simt_describe(d->kernel.machine, &info);
	warps = info.is_cuda ? GN_DEVICE_MOST_WARPS : info.warp_width > 8 ? 1 : GN_DEVICE_CPU_WARPS;
	grid.block_threads = info.warp_width * warps;
	rc = gn__resident_start(&d->kernel, net, &gn_device_work_kernel, grid, &a);
	return rc ? rc : await_kernel(net);
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
	for (uint32_t k = 0; k < d->teams + 1; k++)
		end_ring(d, k, deadline);
	gn__resident_wait(&d->kernel, net);
}

/* ---- packets and messages ---- */

/*
 * Submit a job of a packet.
 * @parcel  released when the job is done; NULL: none
 */
static void submit_packet(struct gn_net *net, const struct gn_packet *packet, struct gn_parcel *parcel,
                          uint32_t kind, uint32_t words)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(d, packet);
	struct gn_device_ring *r = &d->ring[ring];

	r->source[r->next % GN_DEVICE_DEPTH] = packet->source;
	r->parcel[r->next % GN_DEVICE_DEPTH] = parcel;
	d->under_way[packet->source]++;
	submit(d, ring, kind, words);
}

int gn__device_take_plain(struct gn_net *net, const struct gn_packet *packet, struct gn_parcel *parcel)
{
	struct gn_device *d = net->device;
	const uint32_t ring = ring_of(d, packet), messages = packet->words / 2;
	struct gn_device_job *job = job_of(d, ring, d->ring[ring].next);

	if (is_full(&d->ring[ring]))
		return 0;
	job->from = packet->word;
	if (!parcel) {
		job->from = job->word;
		memcpy(job->word, packet->word, 16ull * messages);
	}
	job->bad = 0;
	net->peer[packet->source].applied += messages;
	gn__count(&net->statistics.applied, messages);
	submit_packet(net, packet, parcel, GN_DEVICE_PLAIN, 2 * messages);
	return 1;
}

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
	const uint32_t ring = ring_of(d, packet);
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
		submit_packet(net, packet, NULL, GN_DEVICE_APPLY, t.words);
	gn__count(&net->statistics.applied, t.messages);
	return t.at - at;
}

int gn__device_is_done(const struct gn_net *net, uint32_t source)
{
	return !net->device->under_way[source];
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

/* A job of a plain packet is done. */
static void end_plain(struct gn_net *net, const struct gn_device_job *job, uint32_t source,
                      struct gn_parcel *parcel)
{
	struct gn_error error;

	if (parcel)
		net->transport->ops->release(net->transport, parcel);
	if (!job->bad)
		return;
	gn_error_set(&error, -GN_EBADMSG,
	             "a packet from node %u has a message that is none; run the same program on all nodes",
	             source);
	gn__network_fail(net, source, &error);
}

/* End the oldest job of a ring, which is done. Returns 0 or -GN_EAGAIN: its replies have no room now. */
static int end_job(struct gn_net *net, uint32_t ring)
{
	struct gn_device_ring *r = &net->device->ring[ring];
	const struct gn_device_job *job = job_of(net->device, ring, r->oldest);
	const uint32_t k = r->oldest % GN_DEVICE_DEPTH;

	if (job->kind == GN_DEVICE_PLAIN)
		end_plain(net, job, r->source[k], r->parcel[k]);
	else if (post_replies(net, r, job))
		return -GN_EAGAIN;
	net->device->under_way[r->source[k]]--;
	r->oldest++;
	return 0;
}

uint32_t gn__device_collect(struct gn_net *net)
{
	const struct gn_device *d = net->device;
	uint32_t left = 0;

	for (uint32_t k = 0; k < d->teams; k++) {
		while (oldest_is_done(d, k) && !end_job(net, k))
			;
		left += d->ring[k].next - d->ring[k].oldest;
	}
	return left;
}

uint32_t gn__device_flush(const struct gn_net *net)
{
	return net->device->ring[net->device->teams].next;
}

int gn__device_ask_tails(struct gn_net *net)
{
	struct gn_device_ring *r = &net->device->ring[net->device->teams];

	if (r->next != r->oldest)
		return -GN_EAGAIN;
	submit(net->device, net->device->teams, GN_DEVICE_TAILS, 0);
	return 0;
}

const uint64_t *gn__device_tails(struct gn_net *net)
{
	struct gn_device *d = net->device;
	const struct gn_device_job *job = job_of(d, d->teams, d->ring[d->teams].oldest);

	if (!oldest_is_done(d, d->teams))
		return NULL;
	d->ring[d->teams].oldest++;
	return job->result;
}
