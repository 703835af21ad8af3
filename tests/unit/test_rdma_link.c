/* SPDX-License-Identifier: Apache-2.0 */
/* How a link comes up, over a connection manager that says nothing: who is asked, and what ends the waiting.
 */
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grapnel/simt.h>
#include <store/rdma/link.h>

#include "unit.h"

enum { ADDRESSES = 3 };
#define MINUTE_NS 60000000000u

static struct {
	struct rdma_event_channel channel;
	struct rdma_cm_id id;
	struct addrinfo list[ADDRESSES];
	struct sockaddr to[ADDRESSES];
	unsigned addresses; /* of list */
	unsigned asked;     /* the resolver */
	const struct sockaddr *last;
} fake;

#ifdef __cplusplus
extern "C" {
#endif
int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);
struct rdma_event_channel *__wrap_rdma_create_event_channel(void);
void __wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel);
int __wrap_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                          enum rdma_port_space space);
int __wrap_rdma_destroy_id(struct rdma_cm_id *id);
int __wrap_rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms);
int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event);
#ifdef __cplusplus
}
#endif

int __wrap_getaddrinfo(const char *host, const char *port, const struct addrinfo *hints,
                       struct addrinfo **list)
{
	assert_string_equal(host, "h");
	assert_string_equal(port, "1");
	assert_non_null(hints);
	fake.asked++;
	for (unsigned k = 0; k < fake.addresses; k++) {
		fake.list[k].ai_addr = &fake.to[k];
		fake.list[k].ai_next = k + 1 < fake.addresses ? &fake.list[k + 1] : NULL;
	}
	*list = fake.list;
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	assert_ptr_equal(list, fake.list);
}

struct rdma_event_channel *__wrap_rdma_create_event_channel(void)
{
	return &fake.channel;
}

void __wrap_rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	assert_ptr_equal(channel, &fake.channel);
}

int __wrap_rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
                          enum rdma_port_space space)
{
	assert_ptr_equal(channel, &fake.channel);
	assert_non_null(context);
	assert_int_equal(space, RDMA_PS_TCP);
	*id = &fake.id;
	return 0;
}

int __wrap_rdma_destroy_id(struct rdma_cm_id *id)
{
	assert_ptr_equal(id, &fake.id);
	return 0;
}

int __wrap_rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	assert_true(id == &fake.id && !from && ms > 0);
	fake.last = to;
	return 0;
}

int __wrap_rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	assert_ptr_equal(channel, &fake.channel);
	*event = NULL;
	errno = EAGAIN;
	return -1;
}

static struct gn_peer peer;
static struct gn_error error;

static int open_peer(void **state)
{
	static const struct gn_rdma_address address = {"h", "1", "x"};

	(void)state;
	memset(&fake, 0, sizeof fake);
	fake.channel.fd = eventfd(0, 0);
	fake.addresses = ADDRESSES;
	assert_int_equal(gn_peer_init(&peer, &address, 1000000000, 1000000000, NULL), 0);
	assert_int_equal(gn_peer_find(&peer, &error), 0);
	return 0;
}

static int close_peer(void **state)
{
	(void)state;
	gn_peer_fini(&peer);
	close(fake.channel.fd);
	return 0;
}

/* The first connection of a store shares its time among the addresses; later ones do not ask for them. */
static void the_resolver_is_asked_once(void **state)
{
	struct gn_link link;

	(void)state;
	assert_int_equal(peer.patience_ms, 5000);
	for (unsigned k = 0; k < ADDRESSES; k++) {
		gn_peer_use(&peer, &peer.found[k]);
		gn_link_init(&link, &peer, 0, 0);
		link.patience_ms = 1;
		assert_int_equal(gn_link_resolve(&link, &error), -GN_ETIMEDOUT);
		assert_ptr_equal(fake.last, &fake.to[k]);
		gn_link_fini(&link);
	}
	assert_int_equal(gn_peer_find(&peer, &error), 0);
	assert_int_equal(fake.asked, 1);
}

/* The server does not answer, and the store is closed: nobody waits for the end of the attempt. */
static void closing_ends_an_attempt_to_connect(void **state)
{
	const uint64_t began = simt_clock_ns();
	struct gn_link link;

	(void)state;
	gn_peer_use(&peer, peer.found);
	gn_link_init(&link, &peer, 0, 0);
	link.patience_ms = 600000;
	link.stop = eventfd(1, 0);
	assert_true(gn_link_resolve(&link, &error) < 0);
	assert_true(simt_clock_ns() - began < 5 * MINUTE_NS);
	close(link.stop);
	gn_link_fini(&link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(the_resolver_is_asked_once, open_peer, close_peer),
	    cmocka_unit_test_setup_teardown(closing_ends_an_attempt_to_connect, open_peer, close_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
