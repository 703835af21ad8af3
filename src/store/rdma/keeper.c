/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/keeper.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grapnel/simt.h>

enum { PATIENCE_MS = 5000 }; /* what fails is tried again */
enum { LOOK_MS = 50 };       /* a link that its engine has broken is seen so late at most */
#define RETRY_NS 1000000000u

/* What connecting says, without the name of the store in front. */
static const char *bare(const struct gn_peer *peer, const char *text)
{
	const size_t length = strlen(peer->label);

	return !strncmp(text, peer->label, length) && text[length] == ':' ? text + length + 2 : text;
}

static int connect_again(struct gn_link *link)
{
	struct gn_error e = {0, ""};
	int rc;

	link->patience_ms = PATIENCE_MS;
	gn_link_close(link);
	rc = gn_link_resolve(link, &e);
	rc = rc ? rc : gn_link_join(link, &e);
	if (rc && !gn_peer_is_gone(link->peer))
		gn_peer_lost(link->peer, bare(link->peer, e.text));
	return rc;
}

/*
 * Connect the links that are down. If the server does not answer, it answers none of them: try again later.
 * If it refuses one, it may accept another, and the store's writes may wait for that one.
 */
static int mend(struct gn_keeper *k)
{
	int failed = 0, rc;

	for (unsigned n = 0; n < k->engines; n++)
		for (uint32_t at = 0; at < k->engine[n]->lanes; at++) {
			struct gn_lane *lane = &k->engine[n]->lane[at];

			rc = gn_lane_settle(k->engine[n], lane) ? connect_again(&lane->link) : 0;
			failed |= rc;
			if (rc == -GN_ETIMEDOUT)
				return rc;
		}
	return failed;
}

static struct gn_link *link_at(const struct gn_keeper *k, unsigned at)
{
	unsigned n = 0;

	for (; at >= k->engine[n]->lanes; n++)
		at -= k->engine[n]->lanes;
	return &k->engine[n]->lane[at].link;
}

/* Wait for news of the links. Returns 1 if it is time to stop. */
static int listen_to(struct gn_keeper *k)
{
	for (unsigned at = 0; at < k->links; at++) {
		const struct gn_link *link = link_at(k, at);

		k->news[1 + at].fd = link->channel ? link->channel->fd : -1;
		k->news[1 + at].events = POLLIN;
		k->news[1 + at].revents = 0;
	}
	if (poll(k->news, 1 + k->links, LOOK_MS) <= 0)
		return 0;
	for (unsigned at = 0; at < k->links; at++)
		if (k->news[1 + at].revents)
			gn_link_watch(link_at(k, at));
	return k->news[0].revents != 0;
}

static void *keep(void *user)
{
	struct gn_keeper *k = (struct gn_keeper *)user;
	uint64_t next = 0;

	while (!listen_to(k))
		if (simt_clock_ns() >= next && !gn_peer_is_gone(k->peer) && mend(k))
			next = simt_clock_ns() + RETRY_NS;
	return NULL;
}

static int prepare(struct gn_keeper *k, struct gn_error *error)
{
	for (unsigned n = 0; n < k->engines; n++)
		k->links += k->engine[n]->lanes;
	k->news = (struct pollfd *)calloc(1 + k->links, sizeof *k->news);
	k->stop = eventfd(0, EFD_CLOEXEC);
	if (!k->news || k->stop < 0)
		return gn_error_set(error, -GN_ENOMEM, "%s: the system gives no event descriptor or memory",
		                    k->peer->label);
	for (unsigned at = 0; at < k->links; at++)
		link_at(k, at)->stop = k->stop;
	k->news[0].fd = k->stop;
	k->news[0].events = POLLIN;
	return 0;
}

static void clear(struct gn_keeper *k)
{
	for (unsigned at = 0; at < k->links; at++)
		link_at(k, at)->stop = -1;
	if (k->stop >= 0)
		close(k->stop);
	free(k->news);
	k->running = 0;
}

int gn_keeper_start(struct gn_keeper *keeper, struct gn_error *error)
{
	sigset_t all, before;
	int rc = prepare(keeper, error);

	if (rc) {
		clear(keeper);
		return rc;
	}
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&keeper->thread, NULL, keep, keeper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		clear(keeper);
		return gn_error_set(error, -GN_ENOMEM, "%s: the system starts no thread",
		                    keeper->peer->label);
	}
	keeper->running = 1;
	return 0;
}

void gn_keeper_stop(struct gn_keeper *keeper)
{
	const uint64_t one = 1;

	if (!keeper->running)
		return;
	while (write(keeper->stop, &one, sizeof one) != (ssize_t)sizeof one)
		;
	pthread_join(keeper->thread, NULL);
	clear(keeper);
}
