/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - what travels between two nodes at once: a head, and messages (detail/net/message.h) one behind
 * the other.
 *
 * Integers are little-endian. A packet goes one way of at most two (route.h). On a way to where its messages
 * are sorted once more, their peer is the node they go to; on the last way it is the node they come from.
 */
#ifndef GN_NET_PACKET_H
#define GN_NET_PACKET_H

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kinds of packets, each with buffers of its own. A kind waits only for those before it, so full buffers can
 * form no ring: a reply on its last way is always taken in, a request waits for room for its reply.
 */
enum gn_packet_class {
	GN_REPLIES,        /* on their last way */
	GN_REPLIES_PASSED, /* on a way to where they are sorted once more */
	GN_REQUESTS,
	GN_REQUESTS_PASSED,
	GN_PACKET_CLASSES
};

enum {
	GN_PACKET_BYTES = 65536,
	GN_PACKET_HEAD = 32,
	GN_PACKET_WORDS = (GN_PACKET_BYTES - GN_PACKET_HEAD) / 8
};
enum { GN_PACKET_VERSION = 1 };
static const uint32_t gn_packet_magic = 0x4b504e47; /* "GNPK" */

struct gn_packet {
	uint32_t magic;
	uint16_t version;
	uint16_t class_;  /* enum gn_packet_class */
	uint32_t session; /* the same on all nodes of a run */
	uint16_t source;  /* who sent the packet, not who wrote its messages */
	uint16_t target;
	uint16_t words;    /* of messages */
	uint16_t body;     /* bytes behind the head: 8 * words, or fewer: compressed (compress.h) */
	uint32_t sequence; /* among those of its class from source to target; wraps */
	uint64_t checksum; /* XXH3 of what is before and behind it */
	uint64_t word[GN_PACKET_WORDS];
};
GN__STATIC_ASSERT(sizeof(struct gn_packet) == GN_PACKET_BYTES, "a packet has 64 KiB");
GN__STATIC_ASSERT(offsetof(struct gn_packet, word) == GN_PACKET_HEAD, "its head has 32 bytes");

/* What a packet must be to be taken in. */
struct gn_packet_wanted {
	uint32_t session;
	uint32_t class_;
	uint32_t source, target;
	uint32_t sequence;
};

/* What travels. */
static inline uint64_t gn_packet_bytes(const struct gn_packet *p)
{
	return GN_PACKET_HEAD + (uint64_t)p->body;
}

/*
 * gn_packet_seal - set body and checksum of a packet that is otherwise whole.
 * @scratch  a packet to compress its messages in; they stay compressed if that saves an eighth. NULL: they
 *           are not
 */
void gn_packet_seal(struct gn_packet *p, struct gn_packet *scratch);

/*
 * gn_packet_open - the messages of a packet that gn_packet_check found right.
 * @into  where to put them if they are compressed; NULL: nowhere
 * Returns the packet or into; NULL: they are not as many words compressed as it says.
 */
const struct gn_packet *gn_packet_open(const struct gn_packet *p, struct gn_packet *into);

/*
 * gn_packet_check - is it whole, and the one that should come now?
 * @bytes  that have arrived
 * Returns 0, or -GN_EBADMSG and says in error what is wrong: damaged, of another run, not for here, out of
 * order.
 */
int gn_packet_check(const struct gn_packet *p, uint64_t bytes, const struct gn_packet_wanted *wanted,
                    struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
