/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stress of net: up to 9 nodes of one process in one way or two, in all forms, with logs and packets of
 * random sizes, some of them tiny. Threads send changes, bytes, calls that go on, and ask for values, to
 * random nodes, with stalls in between. Every sum must come out, bytes and fetched values must be those that
 * the order of one thread's messages promises.
 */
#include "../model/draw.h"
#include "stress.h"

#include <grapnel/net.h>
#include <simt/machine.h>
#include <stdlib.h>
#include <time.h>

enum { MOST_NODES = 9, CELLS = 512, AREA = 320, MOST_THREADS = 96 };

struct totals {
	/* what this node's threads sent, and what went wrong */
	uint64_t wide, narrow, fetched, calls, checksum, wrong;
};

struct net_args {
	struct gn_net_view net;
	uint64_t seed;
	uint32_t each, stalls;
	uint64_t *cell;   /* [CELLS] */
	uint32_t *narrow; /* [CELLS] */
	uint64_t *ticket; /* [nodes] */
	uint64_t *marker; /* [nodes * threads] the last that each thread put */
	char *area;       /* [nodes * threads][AREA] */
	struct totals *sent;
};

struct note {
	uint64_t value, goes_on;
	unsigned char rest[48];
};

/* What handlers of a node know. */
struct heard {
	uint32_t nodes, stalls;
	uint64_t state, calls, checksum;
};

struct thread {
	uint64_t random, last;
	uint32_t pe, bytes; /* of the last put of bytes */
	struct totals sent;
};

SIMT_FN void send_bytes(const struct net_args *a, struct thread *t, uint64_t slot)
{
	char bytes[AREA];

	t->pe = draw_below(&t->random, a->net.nodes);
	t->bytes = 1 + draw_below(&t->random, AREA);
	t->last = draw(&t->random) | 1;
	for (uint32_t k = 0; k < t->bytes; k++)
		bytes[k] = (char)draw_mix(t->last + k);
	t->sent.wrong += gn_net_put(&a->net, t->pe, a->area + slot * AREA, bytes, t->bytes) != 0;
	t->sent.wrong += gn_net_put_u64(&a->net, t->pe, &a->marker[slot], t->last) != 0;
}

/* What this thread put last is there, and so is what it put before. */
SIMT_FN void look_back(const struct net_args *a, struct thread *t, uint64_t slot)
{
	uint64_t marker = 0, narrow = 0;
	char bytes[AREA];

	if (!t->last)
		return;
	t->sent.wrong += gn_net_get_u64(&a->net, t->pe, &a->marker[slot], &marker) != 0 || marker != t->last;
	if (draw_chance(&t->random, 90))
		return;
	narrow = t->bytes;
	t->sent.wrong += gn_net_get(&a->net, t->pe, a->area + slot * AREA, bytes, narrow) != 0;
	for (uint32_t k = 0; k < narrow; k++)
		t->sent.wrong += bytes[k] != (char)draw_mix(t->last + k);
}

SIMT_FN void send_call(const struct net_args *a, struct thread *t)
{
	struct note note;
	const uint32_t bytes = 16 + draw_below(&t->random, sizeof note.rest + 1);

	note.value = draw(&t->random);
	note.goes_on = draw_chance(&t->random, 20) ? draw_below(&t->random, 5) : 0;
	memset(note.rest, 7, sizeof note.rest);
	t->sent.calls += 1 + note.goes_on;
	t->sent.checksum += note.value * (1 + note.goes_on);
	t->sent.wrong += gn_net_call(&a->net, draw_below(&t->random, a->net.nodes), 0, &note, bytes) != 0;
}

SIMT_FN void one(const struct net_args *a, struct thread *t, uint64_t slot)
{
	const uint32_t what = draw_below(&t->random, 100), pe = draw_below(&t->random, a->net.nodes);
	const uint32_t cell = draw_below(&t->random, CELLS);
	const uint64_t value = draw(&t->random) >> 32;
	uint64_t before;

	if (what < 70) {
		t->sent.wide += value;
		t->sent.wrong += gn_net_add_u64(&a->net, pe, &a->cell[cell], value) != 0;
	} else if (what < 84) {
		t->sent.narrow += value % 4;
		t->sent.wrong += gn_net_add_u32(&a->net, pe, &a->narrow[cell], (uint32_t)value % 4) != 0;
	} else if (what < 88) {
		t->sent.fetched++;
		t->sent.wrong += gn_net_fetch_add_u64(&a->net, pe, &a->ticket[a->net.node], 1, &before) != 0;
	} else if (what < 92) {
		send_bytes(a, t, slot);
	} else if (what < 95) {
		look_back(a, t, slot);
	} else if (what < 99) {
		send_call(a, t);
	} else if (a->stalls) {
		for (uint32_t k = draw_below(&t->random, 30); k > 0; k--)
			simt_relax();
	}
}

SIMT_FN void send_all(const struct net_args *a)
{
	const uint64_t slot = a->net.node * simt_global_threads() + simt_global_thread();
	struct thread t;
	uint64_t *total = (uint64_t *)a->sent;

	memset(&t, 0, sizeof t);
	t.random = a->seed + slot;
	for (uint32_t k = 0; k < a->each; k++)
		one(a, &t, slot);
	look_back(a, &t, slot);
	for (uint32_t k = 0; k < sizeof t.sent / 8; k++)
		simt_add_relaxed_dev_u64(&total[k], ((uint64_t *)&t.sent)[k]);
}
SIMT_KERNEL(send_all, struct net_args)

static void hear(const struct gn_net_incoming *message, void *context)
{
	struct heard *h = (struct heard *)context;
	const struct timespec little = {0, 200000};
	struct note note;

	memset(&note, 0, sizeof note);
	memcpy(&note, message->payload, message->bytes);
	h->calls++;
	h->checksum += note.value;
	if (h->stalls && draw_below(&h->state, 2000) == 0)
		nanosleep(&little, NULL);
	if (note.goes_on--)
		gn_net_call(message->net, draw_below(&h->state, h->nodes), 0, &note, message->bytes);
}

struct round {
	struct stress *s;
	struct gn_net_options options;
	uint32_t threads, each, stalls;
	int bad; /* any node's */
};

static uint64_t sum(const uint64_t *word, uint64_t count)
{
	uint64_t total = 0;

	for (uint64_t k = 0; k < count; k++)
		total += word[k];
	return total;
}

static int compare(const char *what, uint64_t sent, uint64_t arrived)
{
	if (sent == arrived)
		return 0;
	return stress_wrong("%s: %llu were sent, %llu arrived", what, (unsigned long long)sent,
	                    (unsigned long long)arrived);
}

/* The own symmetric memory, wherever it lies. */
static int load(struct gn_net *net, void *to, const void *from, uint64_t bytes)
{
	return gn_net_get(gn_net_host(net), gn_net_node(net), from, to, bytes);
}

/* Sums over all nodes of what was sent and of what arrived. */
static int check(struct gn_net *net, const struct net_args *a, const struct heard *h)
{
	uint64_t arrived[5] = {0, 0, 0, 0, 0}, sent[6], cell[CELLS], ticket[MOST_NODES];
	uint32_t narrow[CELLS];
	struct gn_error error = {0, ""};
	struct gn_net_fault fault;
	int bad = load(net, cell, a->cell, sizeof cell) || load(net, narrow, a->narrow, sizeof narrow) ||
	          load(net, ticket, a->ticket, a->net.nodes * sizeof *ticket) ||
	          load(net, sent, a->sent, sizeof sent);

	if (bad) {
		gn_net_failure(net, &fault, &error);
		return stress_wrong("the own memory cannot be read: %s", error.text);
	}
	arrived[0] = sum(cell, CELLS);
	for (uint32_t k = 0; k < CELLS; k++)
		arrived[1] += narrow[k];
	arrived[2] = sum(ticket, a->net.nodes);
	arrived[3] = h->calls;
	arrived[4] = h->checksum;
	if (gn_net_reduce_u64(gn_net_host(net), GN_ADD, arrived, 5) ||
	    gn_net_reduce_u64(gn_net_host(net), GN_ADD, sent, 6)) {
		gn_net_failure(net, &fault, &error);
		return stress_wrong("the sums could not be made: %s", error.text);
	}
	bad |=
	    compare("adds of 8 bytes", sent[0], arrived[0]) | compare("adds of 4 bytes", sent[1], arrived[1]);
	bad |= compare("fetching adds", sent[2], arrived[2]) | compare("calls", sent[3], arrived[3]);
	bad |= compare("sums of calls", sent[4], arrived[4]);
	return sent[5] ? stress_wrong("%llu operations failed or saw what they must not",
	                              (unsigned long long)sent[5])
	               : bad;
}

static int node_main(struct gn_net *net, void *argument)
{
	struct round *r = (struct round *)argument;
	const struct simt_grid grid = {r->threads / 32, 32, 0};
	const uint32_t nodes = gn_net_nodes(net);
	struct heard h = {nodes, r->stalls, r->s->seed + gn_net_node(net), 0, 0};
	struct gn_error error = {0, ""};
	struct gn_net_fault fault;
	struct net_args a;
	int bad;

	memset(&a, 0, sizeof a);
	a.net = gn_net_device(net);
	a.seed = r->s->seed * 7919;
	a.each = r->each;
	a.stalls = r->stalls;
	a.cell = (uint64_t *)gn_net_alloc(net, CELLS * 8, &error);
	a.narrow = (uint32_t *)gn_net_alloc(net, CELLS * 4, &error);
	a.ticket = (uint64_t *)gn_net_alloc(net, nodes * 8ull, &error);
	a.marker = (uint64_t *)gn_net_alloc(net, 8ull * nodes * r->threads, &error);
	a.area = (char *)gn_net_alloc(net, (uint64_t)AREA * nodes * r->threads, &error);
	a.sent = (struct totals *)gn_net_alloc(net, sizeof *a.sent, &error);
	bad = gn_net_handler(net, "hear", hear, &h, &error) != 0 || gn_net_barrier(gn_net_host(net));
	if (!bad)
		bad = simt_launch(gn_net_machine(net), &send_all_kernel, grid, &a, &error) ||
		      simt_wait(gn_net_machine(net), &error);
	if (!bad)
		bad = gn_net_settle(net, &error);
	if (bad && !error.code)
		gn_net_failure(net, &fault, &error);
	if (bad)
		bad = stress_wrong("node %u: %s", gn_net_node(net), error.text);
	bad |= check(net, &a, &h);
	return bad ? -GN_EIO : 0;
}

static int net_round(struct stress *s)
{
	static const uint32_t packets[] = {1, 100, 600, 4096, 65536, 65536};
	uint64_t random = s->seed;
	struct gn_error error = {0, ""};
	struct round r;
	int rc;

	memset(&r, 0, sizeof r);
	r.s = s;
	r.options.nodes = 1 + draw_below(&random, MOST_NODES);
	r.options.columns = 1 + draw_below(&random, r.options.nodes < 4 ? r.options.nodes : 4);
	r.options.packet_bytes = packets[draw_below(&random, 6)];
	r.options.log_bytes = draw_chance(&random, 50) ? 1 : 65536;
	r.options.flush_ns = 1000u << draw_below(&random, 10);
	r.options.heap_bytes = 2 << 20;
	r.options.timeout_ns = stress_patience_ns(s);
	r.options.compress = draw_chance(&random, 50) ? GN_NET_COMPRESS : GN_NET_COMPRESS_COPIES;
	r.options.machine.warp_width = s->info.warp_width;
	r.options.machine.threads = 1 + draw_below(&random, 2);
	r.options.machine.name = s->info.is_cuda ? "cuda" : "cpu";
	r.options.by_kernel = r.options.nodes < 4 && draw_chance(&random, 30); /* one more kernel a node */
	r.options.route = draw_chance(&random, 20) ? GN_NET_DIRECT : GN_NET_PACKETS;
	r.threads = 32 * (1 + draw_below(&random, MOST_THREADS / 32));
	r.stalls = draw_chance(&random, 50);
	r.options.form =
	    draw_chance(&random, 60) ? GN_NET_COMBINED : (enum gn_net_form)(1 + draw_below(&random, 3));
	r.each = (r.options.packet_bytes < 4096 ? 20000 : 200000) / (r.options.nodes * r.threads);
	/*
	 * on cpu such a kernel takes a processor for itself; on a GPU a warp goes on when its last lane has
	 * its answer
	 */
	if (r.options.by_kernel || s->info.is_cuda)
		r.each = (r.each + 15) / 16;
	r.options.host_sorts = draw_chance(&random, 30);
	s->operations += (uint64_t)r.options.nodes * r.threads * r.each;
	rc = gn_net_run(&r.options, node_main, &r, &error);
	if (!rc || rc == -GN_EIO) /* then a node has said what */
		return rc != 0;
	return stress_wrong("%u nodes in %u columns, packets of %llu, logs of %llu: %s %s", r.options.nodes,
	                    r.options.columns, (unsigned long long)r.options.packet_bytes,
	                    (unsigned long long)r.options.log_bytes, gn_error_name(rc), error.text);
}

int main(int argc, char **argv)
{
	simt__expect_residents(); /* the harness uses cuda before gn_net_run can say so */
	return stress_main(argc, argv, "net", net_round);
}
