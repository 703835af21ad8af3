/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packet.h - a packet: a head, and messages (detail/net/message.h) that travel together from one node to
 * another.
 *
 * Integers are little-endian. A message takes one or two ways (route.h), each in a packet. On a first of two
 * ways the peer of a message is the node it goes to; on the last way it is the node it comes from.
 */
#ifndef GN_NET_PACKET_H
#define GN_NET_PACKET_H

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Classes of packets, each with buffers of its own. A class waits only for the classes before it, so full
 * buffers cannot form a cycle: a reply on its last way is always accepted, and a request waits for room for
 * its reply.
 */
enum gn_packet_class {
	GN_REPLIES,        /* on their last way */
	GN_REPLIES_PASSED, /* on a first way, to a node that sorts them again */
	GN_REQUESTS,
	GN_REQUESTS_PASSED,
	GN_PACKET_CLASSES
};

enum {
	GN_PACKET_BYTES = 65536,
	GN_PACKET_HEAD = 32,
	GN_PACKET_WORDS = (GN_PACKET_BYTES - GN_PACKET_HEAD) / 8
};
enum { GN_PACKET_VERSION = 2 };
static const uint32_t gn_packet_magic = 0x4b504e47; /* "GNPK" */

/*
 * The form of a packet. The lower bits are 0, or 1 + the stream of the kernel that sorted the messages
 * (sort.h); packets of different streams are unordered. PLAIN: every message changes an element of the heap
 * by one operand and is not answered, and the node that sent the packet wrote it.
 */
enum { GN_PACKET_PLAIN = 128, GN_PACKET_STREAM = 127 };

struct gn_packet {
	uint32_t magic;
	uint8_t version;
	uint8_t form;     /* who sorted the messages, and GN_PACKET_PLAIN */
	uint16_t class_;  /* enum gn_packet_class */
	uint32_t session; /* the same on all nodes of a run */
	uint16_t source;  /* the node that sent the packet; other nodes may have written its messages */
	uint16_t target;
	uint16_t words;    /* of messages */
	uint16_t body;     /* bytes behind the head: 8 * words, or fewer: compressed (compress.h) */
	uint32_t sequence; /* among the packets of its class from source to target; wraps */
	uint64_t checksum; /* XXH3 of the bytes before and behind this field */
	uint64_t word[GN_PACKET_WORDS];
};
GN__STATIC_ASSERT(sizeof(struct gn_packet) == GN_PACKET_BYTES, "a packet has 64 KiB");
GN__STATIC_ASSERT(offsetof(struct gn_packet, word) == GN_PACKET_HEAD, "its head has 32 bytes");

/* The properties that a packet must have to be accepted. */
struct gn_packet_wanted {
	uint32_t session;
	uint32_t class_;
	uint32_t source, target;
	uint32_t sequence;
	uint32_t
	    handed_over; /* 1: in the sender's memory, so plain packets have no checksum of their messages */
};

/* The bytes of a packet that are sent. */
static inline uint64_t gn_packet_bytes(const struct gn_packet *p)
{
	return GN_PACKET_HEAD + (uint64_t)p->body;
}

/*
 * gn_packet_seal - set body and checksum of a packet that is otherwise complete.
 * @scratch  a packet in which the messages are compressed; they are sent compressed if that saves an eighth.
 *           NULL: no compression
 */
void gn_packet_seal(struct gn_packet *p, struct gn_packet *scratch);

/*
 * gn_packet_seal_head - the same for a plain packet that is handed over in its memory: the checksum is of the
 * head alone, because the network thread does not read messages that kernels write and apply.
 */
void gn_packet_seal_head(struct gn_packet *p);

/*
 * gn_packet_open - the messages of a packet that gn_packet_check has accepted.
 * @into  receives compressed messages; may be NULL if they are not compressed
 * Returns the packet or into; NULL: the compressed bytes do not give the packet's number of words.
 */
const struct gn_packet *gn_packet_open(const struct gn_packet *p, struct gn_packet *into);

/*
 * gn_packet_check - is a packet complete, and is it the next one expected?
 * @bytes  number of bytes that have arrived
 * Returns 0, or -GN_EBADMSG with the cause in error: damaged, of another run, not for this node, out of
 * order.
 */
int gn_packet_check(const struct gn_packet *p, uint64_t bytes, const struct gn_packet_wanted *wanted,
                    struct gn_error *error);

#ifdef __cplusplus
}
#endif

#endif
