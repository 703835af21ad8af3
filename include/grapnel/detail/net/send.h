/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/net/send.h - operations on another node's memory that return nothing: put, change, call.
 */
#ifndef GRAPNEL_NET_SEND_H
#define GRAPNEL_NET_SEND_H

#include <grapnel/detail/net/view.h>

/*
 * Change an element atomically, in memory that other machines change, too. Returns the bits before if fetches
 * is 1, else an undefined value.
 */
SIMT_FN uint64_t gn__net_change_there(void *element, uint32_t change, uint64_t a, uint64_t b, uint32_t bytes,
                                      int fetches)
{
	const uint64_t operand[2] = {a, b};

	if (!fetches &&
	    (bytes == 4 ? gn__reduce_sys_4((uint32_t *)element, (enum gn_change)change, (uint32_t)a)
	                : gn__reduce_sys_8((uint64_t *)element, (enum gn_change)change, a)))
		return 0;
	if (change != GN_PUT || fetches)
		return gn__change_element_sys(element, (enum gn_change)change, operand, bytes);
	if (bytes == 4)
		simt_store_relaxed_sys_u32((uint32_t *)element, (uint32_t)a);
	else
		simt_store_relaxed_sys_u64((uint64_t *)element, a);
	return 0;
}

/* gn__net_change_there in memory that only the machine of the thread changes. */
SIMT_FN uint64_t gn__net_change_here(void *element, uint32_t change, uint64_t a, uint64_t b, uint32_t bytes,
                                     int fetches)
{
	const uint64_t operand[2] = {a, b};

	if (!fetches && (bytes == 4 ? gn__reduce_4((uint32_t *)element, (enum gn_change)change, (uint32_t)a)
	                            : gn__reduce_8((uint64_t *)element, (enum gn_change)change, a)))
		return 0;
	if (change != GN_PUT || fetches)
		return gn__change_element(element, (enum gn_change)change, operand, bytes);
	if (bytes == 4)
		simt_store_relaxed_dev_u32((uint32_t *)element, (uint32_t)a);
	else
		simt_store_relaxed_dev_u64((uint64_t *)element, a);
	return 0;
}

/* The symmetric address of an element of node pe. Returns 0, -GN_EINVAL or -GN_ERANGE. */
SIMT_FN int gn__net_element(const struct gn_net_view *n, uint32_t pe, const void *element, uint32_t bytes,
                            uint64_t *address)
{
	if (pe >= n->nodes || (uintptr_t)element % bytes)
		return -GN_EINVAL;
	return gn_net_address(n, element, bytes, address);
}

SIMT_FN uint32_t gn__change_op(uint32_t change, uint32_t bytes)
{
	return (GN__MESSAGE_CHANGE + change) | (bytes == 8 ? GN__MESSAGE_WIDE : 0);
}

/*
 * Change an element of node pe without a message, if this thread reaches it.
 * @before  receives the bits before; NULL: they are not wanted
 * Returns 1, or 0: the thread does not reach the element.
 */
SIMT_FN int gn__net_change_self(const struct gn_net_view *n, uint32_t pe, uint64_t address, void *element,
                                uint32_t change, uint64_t a, uint64_t b, uint32_t bytes, uint64_t *before)
{
	char *there = gn__net_mapped(n, pe, address);
	uint64_t was;

	if (there)
		was = gn__net_change_there(there, change, a, b, bytes, before != 0);
	else if (pe == n->node && simt_likely(gn__net_is_near(n, address)))
		was = gn__net_change_here(element, change, a, b, bytes, before != 0);
	else
		return 0;
	if (before)
		*before = was;
	return 1;
}

SIMT_FN int gn__net_change(const struct gn_net_view *n, uint32_t pe, void *to, uint32_t change, uint64_t a,
                           uint64_t b, uint32_t bytes)
{
	const uint32_t op = gn__change_op(change, bytes);
	uint64_t address = 0;
	int rc = gn__net_element(n, pe, to, bytes, &address);

	if (simt_likely(!rc) && gn__net_change_self(n, pe, address, to, change, a, b, bytes, 0))
		return 0;
	if (simt_likely(!rc))
		rc = gn__net_push(n, 1 + gn__change_operands(change), gn__message_head(op, pe, address / 4),
		                  a, b, 0);
	return simt_likely(!rc) ? 0 : gn__net_fail(n, rc, pe, op);
}

/*
 * Add 1 to a count for which a thread on node pe waits. A packet with this message is sent at once, not when
 * it is full or old; so are the messages that this thread sent to pe before. On a GPU the count must be in
 * memory that both views reach (gn_net_alloc_shared).
 */
SIMT_FN int gn__net_signal(const struct gn_net_view *n, uint32_t pe, uint64_t *count)
{
	uint64_t address = 0;
	int rc = gn__net_element(n, pe, count, 8, &address);

	if (n->mapped)
		simt_fence_acq_rel_sys(); /* this thread's direct accesses are ordered before the count */
	if (!rc && gn__net_change_self(n, pe, address, count, GN_ADD, 1, 0, 8, 0))
		return 0;
	if (!rc)
		rc = gn__net_push(n, 1, gn__message_head(GN__MESSAGE_SIGNAL, pe, address / 4), 0, 0, 0);
	return rc ? gn__net_fail(n, rc, pe, GN__MESSAGE_SIGNAL) : 0;
}

SIMT_FN int gn_net_put_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_PUT, value, 0, 4);
}

SIMT_FN int gn_net_put_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_PUT, value, 0, 8);
}

SIMT_FN int gn_net_add_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_ADD, value, 0, 4);
}

SIMT_FN int gn_net_add_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_ADD, value, 0, 8);
}

SIMT_FN int gn_net_inc_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to)
{
	return gn_net_add_u32(n, pe, to, 1);
}

SIMT_FN int gn_net_inc_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to)
{
	return gn_net_add_u64(n, pe, to, 1);
}

SIMT_FN int gn_net_min_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_MIN, value, 0, 4);
}

SIMT_FN int gn_net_min_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_MIN, value, 0, 8);
}

SIMT_FN int gn_net_max_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_MAX, value, 0, 4);
}

SIMT_FN int gn_net_max_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_MAX, value, 0, 8);
}

SIMT_FN int gn_net_and_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_AND, value, 0, 4);
}

SIMT_FN int gn_net_and_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_AND, value, 0, 8);
}

SIMT_FN int gn_net_or_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_OR, value, 0, 4);
}

SIMT_FN int gn_net_or_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_OR, value, 0, 8);
}

SIMT_FN int gn_net_xor_u32(const struct gn_net_view *n, uint32_t pe, uint32_t *to, uint32_t value)
{
	return gn__net_change(n, pe, to, GN_XOR, value, 0, 4);
}

SIMT_FN int gn_net_xor_u64(const struct gn_net_view *n, uint32_t pe, uint64_t *to, uint64_t value)
{
	return gn__net_change(n, pe, to, GN_XOR, value, 0, 8);
}

/* The number of bytes of a transfer that the next message takes. */
SIMT_FN uint32_t gn__net_part(uint64_t left)
{
	return left < GN__MESSAGE_MOST_BYTES ? (uint32_t)left : (uint32_t)GN__MESSAGE_MOST_BYTES;
}

/* The memory of node pe at an address, if this thread loads and stores it without messages; else NULL. */
SIMT_FN char *gn__net_reached(const struct gn_net_view *n, uint32_t pe, uint64_t address, void *own)
{
	if (pe == n->node && gn__net_is_near(n, address))
		return (char *)own;
	return gn__net_mapped(n, pe, address);
}

SIMT_FN int gn_net_put(const struct gn_net_view *n, uint32_t pe, void *to, const void *from, uint64_t bytes)
{
	const char *source = (const char *)from;
	uint64_t address = 0;
	int rc = pe < n->nodes ? gn_net_address(n, to, bytes, &address) : -GN_EINVAL;

	if (!rc && gn__net_reached(n, pe, address, to)) {
		memcpy(gn__net_reached(n, pe, address, to), from, bytes);
		return 0;
	}
	for (uint64_t at = 0; !rc && at < bytes; at += GN__MESSAGE_MOST_BYTES) {
		const uint32_t part = gn__net_part(bytes - at);

		rc = gn__net_push_bytes(n, gn__message_head(GN__MESSAGE_BYTES, pe, part), 2, address + at,
		                        source + at, part);
	}
	return rc ? gn__net_fail(n, rc, pe, GN__MESSAGE_BYTES) : 0;
}

SIMT_FN int gn_net_call(const struct gn_net_view *n, uint32_t pe, uint32_t handler, const void *payload,
                        uint32_t bytes)
{
	const uint64_t head = gn__message_head(GN__MESSAGE_CALL, pe, gn__message_call_place(handler, bytes));
	int rc = -GN_EINVAL;

	if (pe < n->nodes && bytes <= GN_NET_MOST_CALL_BYTES && handler < 1 << 16)
		rc = bytes <= GN__NET_FEW_BYTES
		         ? gn__net_push_few(n, head, (const char *)payload, bytes)
		         : gn__net_push_bytes(n, head, 1, 0, (const char *)payload, bytes);
	return rc ? gn__net_fail(n, rc, pe, GN__MESSAGE_CALL) : 0;
}

#endif
