/* SPDX-License-Identifier: Apache-2.0 */
#include <store/rdma/link.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <grapnel/simt.h>

/* A lost message of the connection manager is sent again after 4.3 s: time for three, or for one and an
 * answer. */
enum { PATIENCE_MS = 15000, PATIENCE_LEAST_MS = 5000 };

int gn_peer_init(struct gn_peer *peer, const struct gn_rdma_address *address, uint64_t timeout_ns,
                 uint64_t flush_ns, struct gn_error *error)
{
	const int literal = strchr(address->host, ':') != NULL;

	memset(peer, 0, sizeof *peer);
	peer->address = *address;
	peer->timeout_ns = timeout_ns;
	peer->flush_ns = flush_ns;
	peer->patience_ms = PATIENCE_MS;
	snprintf(peer->label, sizeof peer->label, "rdma://%s%s%s:%s/%s", literal ? "[" : "", address->host,
	         literal ? "]" : "", address->port, address->name);
	pthread_mutex_init(&peer->mutex, NULL);
	if (getrandom(&peer->session, sizeof peer->session, 0) == (ssize_t)sizeof peer->session)
		return 0;
	return gn_error_set(error, -GN_EIO, "%s: the system gives no random number: %s", peer->label,
	                    strerror(errno));
}

/* What the device of an address has given. */
static void let_go(struct gn_peer *peer)
{
	if (peer->pd)
		ibv_dealloc_pd(peer->pd);
	peer->pd = NULL;
	peer->verbs = NULL;
	memset(&peer->region, 0, sizeof peer->region);
}

void gn_peer_fini(struct gn_peer *peer)
{
	let_go(peer);
	if (peer->found)
		freeaddrinfo(peer->found);
	pthread_mutex_destroy(&peer->mutex);
}

int gn_peer_find(struct gn_peer *peer, struct gn_error *error)
{
	const struct gn_rdma_address *a = &peer->address;
	struct addrinfo hints;
	uint32_t count = 0;
	int rc;

	if (peer->found)
		return 0;
	memset(&hints, 0, sizeof hints);
	hints.ai_socktype = SOCK_STREAM;
	rc = getaddrinfo(a->host, a->port, &hints, &peer->found);
	if (rc)
		return gn_error_set(error, -GN_ENOENT, "%s: the host %s is not known (%s); check its name",
		                    peer->label, a->host, gai_strerror(rc));
	for (const struct addrinfo *at = peer->found; at; at = at->ai_next)
		count++;
	peer->patience_ms =
	    PATIENCE_MS / count > PATIENCE_LEAST_MS ? PATIENCE_MS / count : (uint32_t)PATIENCE_LEAST_MS;
	return 0;
}

void gn_peer_use(struct gn_peer *peer, const struct addrinfo *at)
{
	let_go(peer);
	peer->at = at;
}

void gn_peer_lost(struct gn_peer *peer, const char *why)
{
	pthread_mutex_lock(&peer->mutex);
	if (!peer->gone)
		snprintf(peer->lost, sizeof peer->lost, "%s", why);
	pthread_mutex_unlock(&peer->mutex);
}

int gn_peer_is_gone(const struct gn_peer *peer)
{
	return simt_load_acquire_sys_u32(&peer->gone) != 0;
}

void gn_peer_doubt(struct gn_peer *peer, int change)
{
	pthread_mutex_lock(&peer->mutex);
	simt_store_release_sys_u32(&peer->doubts, peer->doubts + (uint32_t)change); /* R1 */
	pthread_mutex_unlock(&peer->mutex);
}

int gn_peer_is_in_doubt(const struct gn_peer *peer)
{
	return simt_load_acquire_sys_u32(&peer->doubts) != 0; /* A1: pairs with R1 */
}

int gn_peer_say(struct gn_peer *peer, struct gn_error *error)
{
	int rc;

	pthread_mutex_lock(&peer->mutex);
	if (peer->gone)
		rc = gn_error_set(
		    error, -GN_EIO,
		    "%s: %s; bytes that were written and not flushed may be lost: close the store, "
		    "open it again and check the data",
		    peer->label, peer->lost);
	else
		rc = gn_error_set(
		    error, -GN_EIO,
		    "%s: the connection is lost: %s; it is tried again every second as long as the "
		    "store is open, so start the server again or mend the network",
		    peer->label, peer->lost);
	pthread_mutex_unlock(&peer->mutex);
	return rc;
}

void gn_peer_give_up(struct gn_peer *peer, const char *why)
{
	gn_peer_lost(peer, why);
	pthread_mutex_lock(&peer->mutex);
	simt_store_release_sys_u32(&peer->gone, 1);
	pthread_mutex_unlock(&peer->mutex);
}
