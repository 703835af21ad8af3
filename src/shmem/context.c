/* SPDX-License-Identifier: Apache-2.0 */
/*
 * context.c - contexts: a quiet of one waits for its own operations.
 *
 * A context has no log and no counters. It remembers to which nodes it has sent messages since its last
 * quiet. A node does what this one sends to it in the order in which it was sent, and replies in this order.
 * So the quiet asks each of these nodes for a word: when the words are here, all before them is done. It
 * asks no other node, and does not wait for another thread's quiet. Other contexts' messages to the same
 * nodes are waited for only if they were sent before.
 *
 * Contexts share the log, the packets and the slots for replies. A node that does not answer holds up all of
 * them when it has taken all packets, or all slots: a get takes one for each 4 KiB, also without waiting.
 *
 * Edge:  R11 (a thread notes a node after it has sent the message) pairs with A11 (a quiet clears the notes
 *        before it asks): the quiet asks behind each message whose note it has cleared.
 *
 * Where several threads share a context, another quiet of it begins when this one has ended, because the
 * notes are gone but the messages are not done.
 */
#include <shmem/pe.h>

#include <pthread.h>
#include <stdlib.h>

SHMEM__NAMES_CONTEXT

/* Words for which one quiet asks at the same time. */
enum { MOST_ASKED = 16 };

static const long all_options = SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED | SHMEM_CTX_NOSTORE;

struct shmem__ctx {
	struct shmem__ctx *next, **link; /* in the list of all contexts */
	shmem_team_t team;               /* of which its PEs are counted */
	int shared;                      /* 1: several threads may use it at the same time */
	pthread_mutex_t quiet;           /* if shared: a thread is in a quiet, or looks at what was sent */
	uint64_t sent[];                 /* a bit for each node: it was sent messages since the last quiet */
};

static struct {
	pthread_mutex_t lock;
	struct shmem__ctx *first;
} contexts = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* ---- to which nodes a context has sent ---- */

static uint32_t sent_words(void)
{
	return (gn_shmem.view->nodes + 63) / 64;
}

void gn_shmem_ctx_sent(shmem_ctx_t ctx, uint32_t node)
{
	uint64_t *word = &ctx->sent[node / 64];
	const uint64_t bit = 1ull << node % 64;

	if (ctx->shared)
		simt_or_acq_rel_dev_u64(word, bit); /* R11 */
	else
		simt_store_relaxed_dev_u64(word, simt_load_relaxed_dev_u64(word) | bit);
}

/* Clear the notes of some of a word's nodes, and return those that there were. */
static uint64_t take_sent(shmem_ctx_t ctx, uint32_t word, uint64_t some)
{
	if (!(simt_load_relaxed_dev_u64(&ctx->sent[word]) & some))
		return 0;
	return simt_and_acq_rel_dev_u64(&ctx->sent[word], ~some) & some; /* A11 */
}

/* The nodes of a word whose heaps this node reaches. */
static uint64_t reached(uint32_t word)
{
	const struct gn_net_view *n = gn_shmem.view;
	uint64_t bits = 0;

	for (uint32_t bit = 0; bit < 64 && word * 64 + bit < n->nodes; bit++)
		bits |= (uint64_t)(n->mapped[word * 64 + bit] != 0) << bit;
	return bits;
}

uint32_t gn_shmem_ctx_node(const char *function, shmem_ctx_t ctx, int pe)
{
	if (ctx == SHMEM_CTX_INVALID)
		gn_shmem_fail(function, -GN_EINVAL, pe);
	return pe < 0 || (uint32_t)pe >= ctx->team->net.nodes
	           ? UINT32_MAX
	           : gn_net_team_node(&ctx->team->net, (uint32_t)pe);
}

/* ---- asking nodes for a word ---- */

struct asked {
	uint32_t count;
	uint32_t slot[MOST_ASKED], node[MOST_ASKED];
};

static void await_asked(const char *function, struct asked *a)
{
	uint64_t unused;

	for (uint32_t k = 0; k < a->count; k++)
		gn_shmem_check(
		    function,
		    gn__net_slot_wait(gn_shmem.view, a->slot[k], gn_shmem.view->timeout_ns, NULL, &unused),
		    (int)a->node[k]);
	a->count = 0;
}

/* Take a slot. Slots are few: if there is none, first give back those that this thread has. */
static uint32_t take_slot(const char *function, struct asked *a, uint32_t node)
{
	uint64_t deadline = 0;
	uint32_t slot = 0;
	int rc = -GN_EAGAIN;

	for (uint32_t tries = 0; rc == -GN_EAGAIN && gn__net_slot_take(gn_shmem.view, &slot); tries++) {
		await_asked(function, a);
		rc = gn__net_backoff(gn_shmem.view, tries, &deadline);
	}
	gn_shmem_check(function, rc == -GN_EAGAIN ? 0 : rc, (int)node);
	return slot;
}

/* Ask a node for the first word of its heap, which every node has. */
static void ask(const char *function, struct asked *a, uint32_t node)
{
	const struct gn_net_view *n = gn_shmem.view;
	const uint64_t head = gn__message_head(gn__change_op(GN_GET, 8) | GN__MESSAGE_FETCH, node, 0);
	uint32_t slot;

	if (a->count == MOST_ASKED)
		await_asked(function, a);
	slot = take_slot(function, a, node);
	gn_shmem_check(function,
	               gn__net_push(n, 2, head, gn__net_slot_arm(&n->slot[slot], slot, NULL, 0, 0), 0, 0),
	               (int)node);
	a->slot[a->count] = slot;
	a->node[a->count++] = node;
}

void gn_shmem_settle(const char *function, uint32_t node)
{
	struct asked a = {0};

	ask(function, &a, node);
	await_asked(function, &a);
}

/* ---- order ---- */

static void enter(shmem_ctx_t ctx)
{
	if (ctx->shared)
		pthread_mutex_lock(&ctx->quiet);
}

static void leave(shmem_ctx_t ctx)
{
	if (ctx->shared)
		pthread_mutex_unlock(&ctx->quiet);
}

/* Wait for all nodes to which the context has sent, or for those of them whose heaps this node reaches. */
static void settle_all(const char *function, shmem_ctx_t ctx, int reached_only)
{
	struct asked a = {0};

	for (uint32_t word = 0; word < sent_words(); word++) {
		const uint64_t sent = take_sent(ctx, word, reached_only ? reached(word) : ~0ull);

		for (uint32_t bit = 0; sent && bit < 64; bit++)
			if (sent >> bit & 1)
				ask(function, &a, word * 64 + bit);
	}
	await_asked(function, &a);
}

void shmem_ctx_quiet(shmem_ctx_t ctx)
{
	if (ctx == SHMEM_CTX_INVALID)
		return;
	if (ctx == SHMEM_CTX_DEFAULT) {
		pshmem_quiet();
		return;
	}
	gn_net_fence(gn_shmem.view);
	enter(ctx);
	settle_all("shmem_ctx_quiet", ctx, 0);
	leave(ctx);
}

/* Messages keep their order. A direct access to a PE's heap might overtake a message to its static data. */
void shmem_ctx_fence(shmem_ctx_t ctx)
{
	if (ctx == SHMEM_CTX_INVALID)
		return;
	if (ctx == SHMEM_CTX_DEFAULT) {
		pshmem_fence();
		return;
	}
	gn_net_fence(gn_shmem.view);
	if (!gn_shmem.view->mapped)
		return;
	enter(ctx);
	settle_all("shmem_ctx_fence", ctx, 1);
	leave(ctx);
}

/* ---- life ---- */

static void enlist(struct shmem__ctx *c)
{
	pthread_mutex_lock(&contexts.lock);
	c->next = contexts.first;
	c->link = &contexts.first;
	if (c->next)
		c->next->link = &c->next;
	contexts.first = c;
	pthread_mutex_unlock(&contexts.lock);
}

static void strike(struct shmem__ctx *c)
{
	pthread_mutex_lock(&contexts.lock);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	pthread_mutex_unlock(&contexts.lock);
}

int shmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
	struct shmem__ctx *c = NULL;

	*ctx = SHMEM_CTX_INVALID;
	if (team == SHMEM_TEAM_INVALID || options & ~all_options)
		return -GN_EINVAL;
	c = (struct shmem__ctx *)calloc(1, sizeof *c + sent_words() * sizeof *c->sent);
	if (!c)
		return -GN_ENOMEM;
	c->team = team;
	c->shared = gn_shmem.threads == SHMEM_THREAD_MULTIPLE &&
	            !(options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED));
	pthread_mutex_init(&c->quiet, NULL);
	enlist(c);
	*ctx = c;
	return 0;
}

int shmem_ctx_create(long options, shmem_ctx_t *ctx)
{
	return pshmem_team_create_ctx(SHMEM_TEAM_WORLD, options, ctx);
}

int shmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
	*team = SHMEM_TEAM_INVALID;
	if (ctx == SHMEM_CTX_INVALID)
		return -GN_EINVAL;
	*team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : ctx->team;
	return 0;
}

static void discard(shmem_ctx_t ctx)
{
	strike(ctx);
	pthread_mutex_destroy(&ctx->quiet);
	free(ctx);
}

void shmem_ctx_destroy(shmem_ctx_t ctx)
{
	if (ctx == SHMEM_CTX_INVALID)
		return;
	if (ctx == SHMEM_CTX_DEFAULT)
		gn_shmem_fail("shmem_ctx_destroy: the default context stays", -GN_EINVAL, pshmem_my_pe());
	pshmem_ctx_quiet(ctx);
	discard(ctx);
}

/* A context of a team; SHMEM_CTX_INVALID: there is none. */
static shmem_ctx_t find_of(shmem_team_t team)
{
	struct shmem__ctx *c;

	pthread_mutex_lock(&contexts.lock);
	for (c = contexts.first; c && c->team != team; c = c->next)
		;
	pthread_mutex_unlock(&contexts.lock);
	return c ? c : SHMEM_CTX_INVALID;
}

void gn_shmem_ctx_destroy_of(shmem_team_t team)
{
	shmem_ctx_t c;

	while ((c = find_of(team)) != SHMEM_CTX_INVALID)
		pshmem_ctx_destroy(c);
}

void gn_shmem_ctx_discard_all(void)
{
	while (contexts.first)
		discard(contexts.first);
}
