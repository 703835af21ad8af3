/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/message.h - the messages of net: a head, from which a message can be routed, and words behind
 * it.
 *
 *     bit 63      58 57     53 52           37 36                        0
 *        [   op    ][ lanes  ][     peer     ][          place            ]
 *
 *   op     the operation: a kind, and the flags WIDE (8 bytes, else 4) and FETCH (the sender gets a reply)
 *   lanes  in a log: number of messages of one reservation, less one. In a packet for a kernel: 1 if the
 *          message must be applied after all messages before it, 0 if it is unordered with the message before
 *          it. Elsewhere 0
 *   peer   the destination node; when the destination applies the message, the node that sent it
 *   place  depends on the kind, see below
 *
 *     kind             place             words behind the head
 *     change           address / 4       operands (1; CAS 2: expected, new; GET 0), then the token if FETCH
 *     BYTES            number of bytes   address, then the bytes; or, if FETCH, address and token
 *     REPLY            token             the value
 *     REPLY | WIDE     number of bytes   token, then the bytes
 *     CALL             handler, bytes    the bytes
 *     CALL | WIDE      handler, bytes    the handler's name on the sending node
 *     CALL | FETCH     0, 8              the program there has failed: its code, and the node at fault
 *     SIGNAL           address / 4       none (the 8 bytes at the address are increased by 1)
 *     MARK             0                 the mark: number of messages sent before it
 *     MARK | WIDE      of the mark       the answer: number of messages applied
 *     MARK | FETCH     token             none (to the own node only: reply when all before are done)
 *
 * An address is an offset into the symmetric memory: the heap, then the program's static data. A token names
 * the slot in which the sender waits for the reply. A message of fixed form has at most 4 words, 32 bytes, as
 * in Gravel (section 4.2); adding 1 to a counter takes 16 bytes.
 */
#ifndef GRAPNEL_NET_MESSAGE_H
#define GRAPNEL_NET_MESSAGE_H

#include <grapnel/detail/change.h>
#include <grapnel/simt.h>

enum gn__message_kind {
	GN__MESSAGE_NONE,   /* no message: an empty word in a log */
	GN__MESSAGE_CHANGE, /* the first of ten kinds, one for each of enum gn_change */
	GN__MESSAGE_BYTES = GN__MESSAGE_CHANGE + (int)GN_GET + 1,
	GN__MESSAGE_REPLY,
	GN__MESSAGE_CALL,
	GN__MESSAGE_MARK,
	GN__MESSAGE_SIGNAL,
	GN__MESSAGE_FETCH = 16, /* flags */
	GN__MESSAGE_WIDE = 32
};

enum {
	GN_NET_MOST_NODES = 1 << 16,
	GN_NET_MOST_CALL_BYTES = 64,   /* bytes of an active message */
	GN__MESSAGE_MOST_BYTES = 4096, /* of a BYTES message; a longer transfer is several messages */
	GN__MESSAGE_MOST_WORDS = 2 + GN__MESSAGE_MOST_BYTES / 8
};

static const uint64_t gn__message_most_place = (1ull << 37) - 1;

/*
 * In a packet for a kernel: this message is the first of several that are unordered among each other. All of
 * them must be applied after the messages before it.
 */
static const uint64_t gn__message_first = 1ull << 53;

SIMT_FN int gn__message_is_first(uint64_t head)
{
	return (head >> 53 & 1) != 0;
}

SIMT_FN uint64_t gn__message_head(uint32_t op, uint32_t peer, uint64_t place)
{
	return (uint64_t)op << 58 | (uint64_t)peer << 37 | place;
}

SIMT_FN uint32_t gn__message_op(uint64_t head)
{
	return (uint32_t)(head >> 58);
}

SIMT_FN uint32_t gn__message_kind(uint64_t head)
{
	return gn__message_op(head) & 15;
}

SIMT_FN int gn__message_fetches(uint64_t head)
{
	return (gn__message_op(head) & GN__MESSAGE_FETCH) != 0;
}

SIMT_FN int gn__message_is_wide(uint64_t head)
{
	return (gn__message_op(head) & GN__MESSAGE_WIDE) != 0;
}

SIMT_FN uint32_t gn__message_lanes(uint64_t head)
{
	return (uint32_t)(head >> 53 & 31) + 1;
}

SIMT_FN uint32_t gn__message_peer(uint64_t head)
{
	return (uint32_t)(head >> 37) & 0xffff;
}

SIMT_FN uint64_t gn__message_place(uint64_t head)
{
	return head & ((1ull << 37) - 1);
}

/* The same message with another peer, and with lanes 0. */
SIMT_FN uint64_t gn__message_readdress(uint64_t head, uint32_t peer)
{
	return (head & ~(0x1fffffull << 37)) | (uint64_t)peer << 37;
}

SIMT_FN uint64_t gn__message_call_place(uint32_t handler, uint32_t bytes)
{
	return (uint64_t)bytes << 16 | handler;
}

/* The number of operands of a change. */
SIMT_FN uint32_t gn__change_operands(uint32_t change)
{
	return change == GN_GET ? 0 : change == GN_CAS ? 2 : 1;
}

/* gn__message_words - the number of words of a message with its head; 0: there is no such message. */
SIMT_FN uint32_t gn__message_words(uint64_t head)
{
	const uint32_t kind = gn__message_kind(head), first_change = GN__MESSAGE_CHANGE;
	const uint32_t fetches = (uint32_t)gn__message_fetches(head);
	const uint64_t place = gn__message_place(head);

	if (simt_likely(kind >= GN__MESSAGE_CHANGE && kind < GN__MESSAGE_BYTES))
		return kind == first_change + GN_GET && !fetches
		           ? 0
		           : 1 + gn__change_operands(kind - 1) + fetches;
	switch (kind) {
	case GN__MESSAGE_BYTES:
		return place > GN__MESSAGE_MOST_BYTES ? 0 : fetches ? 3 : 2 + (uint32_t)(place + 7) / 8;
	case GN__MESSAGE_REPLY:
		if (!gn__message_is_wide(head))
			return 2;
		return place > GN__MESSAGE_MOST_BYTES ? 0 : 2 + (uint32_t)(place + 7) / 8;
	case GN__MESSAGE_CALL:
		return place >> 16 > GN_NET_MOST_CALL_BYTES ? 0 : 1 + (uint32_t)((place >> 16) + 7) / 8;
	case GN__MESSAGE_MARK: return fetches ? 1 : 2;
	case GN__MESSAGE_SIGNAL: return fetches || gn__message_is_wide(head) ? 0 : 1;
	default: return 0;
	}
}

#endif
