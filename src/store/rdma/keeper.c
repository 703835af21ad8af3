/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/keeper.h>

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grapnel/simt.h>

enum { LOOK_MS = 50 };
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

	gn_link_close(link);
	rc = gn_link_resolve(link, &e);
	rc = rc ? rc : gn_link_join(link, &e);
	if (rc && !gn_peer_is_gone(link->peer))
		gn_peer_lost(link->peer, bare(link->peer, e.text));
	return rc;
}

/* Connect the links that are down. If one fails, the others would too: try again later. */
static int mend(struct gn_keeper *k)
{
	for (unsigned n = 0; n < k->engines; n++)
		for (uint32_t at = 0; at < k->engine[n]->lanes; at++) {
			struct gn_lane *lane = &k->engine[n]->lane[at];

			if (gn_lane_settle(k->engine[n], lane) && connect_again(&lane->link))
				return -1;
		}
	return 0;
}

static void look(struct gn_keeper *k)
{
	for (unsigned n = 0; n < k->engines; n++)
		for (uint32_t at = 0; at < k->engine[n]->lanes; at++)
			gn_link_watch(&k->engine[n]->lane[at].link);
}

static void *keep(void *user)
{
	struct gn_keeper *k = (struct gn_keeper *)user;
	struct pollfd stop = {k->stop, POLLIN, 0};
	uint64_t next = 0;

	while (poll(&stop, 1, LOOK_MS) <= 0) {
		look(k);
		if (simt_clock_ns() >= next && !gn_peer_is_gone(k->peer) && mend(k))
			next = simt_clock_ns() + RETRY_NS;
	}
	return NULL;
}

int gn_keeper_start(struct gn_keeper *keeper, struct gn_error *error)
{
	sigset_t all, before;
	int rc;

	keeper->stop = eventfd(0, EFD_CLOEXEC);
	if (keeper->stop < 0)
		return gn_error_set(error, -GN_ENOMEM, "%s: the system gives no event descriptor",
		                    keeper->peer->label);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&keeper->thread, NULL, keep, keeper);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		close(keeper->stop);
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
	keeper->running = write(keeper->stop, &one, sizeof one) < 0;
	pthread_join(keeper->thread, NULL);
	close(keeper->stop);
	keeper->running = 0;
}
