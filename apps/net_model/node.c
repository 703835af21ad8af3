/* SPDX-License-Identifier: Apache-2.0 */
/* node.c - what the network thread of a node does in a turn, in the order of src/net/loop.c. */
#include "net_model/node.h"

#include <stdlib.h>

/* ---- messages ---- */

/* One update, mark or answer to its way; 0: not now. */
static int post(struct model *s, struct node *n, int reply, const struct gn_hop *hop, const struct load *one,
                enum origin origin)
{
	struct way *w = &n->way[(reply ? GN_REPLIES : GN_REQUESTS) + hop->passed][hop->link];

	if (!net_model_room(s, n, w))
		return 0;
	w->open->load.updates += one->updates;
	w->open->load.marks += one->marks;
	w->open->load.answers += one->answers;
	w->open->origins |= origin;
	w->urgent |= !one->updates;
	return 1;
}

static const uint32_t nowhere = UINT32_MAX; /* it is not drawn yet */

/* Where the next update goes, a number below `end`. One that found no room is still the next. */
static uint32_t drawn(struct node *n, uint32_t *kept, uint32_t end)
{
	if (*kept == nowhere)
		*kept = model_draw(n, end);
	return *kept;
}

/* Nodes in the column of a node, and the way to one of them; it may be the node itself. */
static uint32_t rows_of(const struct node *n)
{
	const uint32_t column = n->route.node % n->route.columns;

	return (n->route.nodes - column + n->route.columns - 1) / n->route.columns;
}

static struct gn_hop last_hop(const struct node *n, uint32_t row)
{
	const struct gn_hop hop = {0, row, row * n->route.columns + n->route.node % n->route.columns};

	return hop;
}

/*
 * Pass on a message of a packet that is sorted once more, to a node of this column. An update goes to a
 * random node. Marks and answers go to the nodes in turn, because each node gets one. Returns 1: it is for
 * this node, 2: it was passed on, 0: not now.
 */
static int pass(struct model *s, struct node *n, int reply, const struct load *one)
{
	const uint32_t row = one->updates ? drawn(n, &n->row, rows_of(n)) : n->next_passed % rows_of(n);
	const struct gn_hop hop = last_hop(n, row);

	if (hop.peer != n->route.node && !post(s, n, reply, &hop, one, OTHERS))
		return 0;
	n->next_passed += !one->updates;
	n->row = one->updates ? nowhere : n->row;
	if (hop.peer == n->route.node)
		return 1;
	s->spent += s->m->pass_ns;
	s->stats.passed++;
	return 2;
}

/* A message that has come to where it goes; 0: not now. */
static int apply(struct model *s, struct node *n, const struct load *one)
{
	const struct load answer = {0, 0, 1};

	if (one->marks) {
		const uint32_t to = n->next_answer % n->route.nodes;

		if (to != n->route.node && !post(s, n, 1, &n->hop[to], &answer, OWN))
			return 0;
		n->next_answer++;
		if (to == n->route.node)
			return apply(s, n, one);
	}
	s->answers += one->answers;
	s->stats.applied += one->updates;
	s->spent += s->m->apply_ns;
	return 1;
}

/* Of so many equal messages as many as go. Returns how many. */
static uint32_t take_in(struct model *s, struct node *n, uint32_t class_, const struct load *one,
                        uint32_t *left)
{
	uint32_t done = 0;

	for (; *left; --*left, done++) {
		const int passed = class_ & 1 ? pass(s, n, class_ < GN_REQUESTS, one) : 1;

		if (!passed || (passed == 1 && !apply(s, n, one)))
			break;
	}
	return done;
}

static void finish(struct model *s, struct node *n, uint32_t class_)
{
	struct parcel *p = net_model_next(&n->come[class_]);

	if (!p->packed)
		net_model_release(s, n, p);
	p->next = s->spare;
	s->spare = p;
}

/*
 * The oldest packet of a class, from where it was left. Returns the messages; *stuck: not finished, or there
 * is none.
 */
static uint32_t take_packet(struct model *s, struct node *n, uint32_t class_, int *stuck)
{
	static const struct load update = {1, 0, 0}, mark = {0, 1, 0}, answer = {0, 0, 1};
	struct load *left = &n->left[class_];
	struct parcel *p = net_model_received(s, n, class_);
	uint32_t done;

	*stuck = 1;
	if (!p)
		return 0;
	if (!model_words(left)) {
		*left = p->load;
		s->spent += s->m->packet_ns + s->m->byte_ns * 8 * model_words(left);
		if (p->packed)
			net_model_release(s, n, p);
	}
	done = take_in(s, n, class_, &update, &left->updates);
	if (!left->updates)
		done += take_in(s, n, class_, &mark, &left->marks) +
		        take_in(s, n, class_, &answer, &left->answers);
	*stuck = model_words(left) != 0;
	if (!*stuck)
		finish(s, n, class_);
	return done;
}

static uint32_t receive(struct model *s, struct node *n)
{
	uint32_t moved = 0;

	for (uint32_t class_ = 0; class_ < GN_PACKET_CLASSES; class_++) {
		uint32_t turn = 0;
		int stuck = 0;

		while (!stuck && turn < GN_RULE_APPLIED)
			turn += take_packet(s, n, class_, &stuck);
		moved += turn;
	}
	return moved;
}

static uint32_t drain(struct model *s, struct node *n)
{
	const struct load update = {1, 0, 0};
	uint32_t sorted = 0;

	for (; sorted < GN_RULE_SORTED && n->logged; sorted++, n->logged--) {
		const uint32_t other = drawn(n, &n->other, n->route.nodes - 1);

		if (!post(s, n, 0, &n->hop[other + (other >= n->route.node)], &update, OWN))
			break;
		n->other = nowhere;
		s->spent += s->m->sort_ns;
	}
	s->stats.sent += sorted;
	return sorted;
}

/* ---- the wait for all of it ---- */

static void mark(struct model *s, struct node *n)
{
	const struct load one = {0, 1, 0};

	for (; n->next_mark < n->route.nodes; n->next_mark++)
		if (n->next_mark != n->route.node && !post(s, n, 0, &n->hop[n->next_mark], &one, OWN))
			return;
	n->stage = ANSWERS;
}

static void go_on(struct model *s, struct node *n)
{
	if (n->stage == SORTING && n->thread[WORKER].over && !n->logged) {
		n->stage = MARKING;
		n->sorted = model_time(s);
	}
	if (n->stage == MARKING) {
		mark(s, n);
		net_model_flush(s, n, 1, 0);
	}
	if (n->stage == ANSWERS && s->answers == (uint64_t)s->simulated * (n->route.nodes - 1)) {
		n->stage = QUIET;
		s->seconds = 1e-9 * model_time(s);
	}
}

uint32_t net_model_turn(struct model *s, struct node *n)
{
	const uint32_t idle = n->thread[NETWORK].idle;
	uint32_t moved = receive(s, n);

	moved += drain(s, n);
	go_on(s, n);
	net_model_flush(s, n, 0, !moved && idle);
	if (!moved)
		net_model_collect(s, n);
	return moved;
}

/* ---- a node ---- */

int net_model_node_init(struct model *s, struct node *n, uint32_t node)
{
	const uint32_t nodes = s->m->nodes;

	n->route.node = node;
	n->route.nodes = nodes;
	n->route.columns = s->m->columns;
	n->random = node + 1;
	n->other = n->row = nowhere;
	n->hop = (struct gn_hop *)calloc(nodes, sizeof *n->hop);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		const uint32_t links = gn_route_links(&n->route, k & 1);

		n->way[k] = (struct way *)calloc(links + 1, sizeof *n->way[k]);
		n->pool[k].most = gn_rule_pool(links, k);
		n->receives[k] = GN_RULE_RECEIVES;
		if (!n->way[k] || !n->hop)
			return -GN_ENOMEM;
	}
	for (uint32_t to = 0; to < nodes; to++) {
		if (to == node)
			continue;
		n->hop[to] = gn_route_hop(&n->route, to);
		for (uint32_t reply = 0; reply < 2; reply++) {
			const uint32_t class_ = (reply ? GN_REPLIES : GN_REQUESTS) + n->hop[to].passed;

			n->way[class_][n->hop[to].link].class_ = class_;
			n->way[class_][n->hop[to].link].peer = n->hop[to].peer;
		}
	}
	return 0;
}

void net_model_node_fini(struct node *n)
{
	for (struct way *w = n->oldest; w; w = w->newer)
		free(w->open);
	net_model_parcels_free(n->coming.first);
	for (uint32_t k = 0; k < GN_PACKET_CLASSES; k++) {
		net_model_parcels_free(n->come[k].first);
		free(n->way[k]);
	}
	free(n->hop);
}
