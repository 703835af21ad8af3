/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detail/cache/element.h - loads and stores of one element. The size is a constant at every call, so the
 * compiler removes the switches.
 */
#ifndef GRAPNEL_CACHE_ELEMENT_H
#define GRAPNEL_CACHE_ELEMENT_H

#include <grapnel/simt.h>
#include <grapnel/detail/simt/lookup.h>

/* The logarithm of an element's size: 1, 2, 4, 8 or 16 bytes. */
SIMT_FN uint32_t gn__size_log2(uint32_t size)
{
	return (uint32_t)(size > 1) + (size > 2) + (size > 4) + (size > 8);
}

/*
 * The user's variable may have any type, so its bytes are copied by memcpy. Each case copies through a
 * variable of its own, which stays in a register.
 */

SIMT_FN uint64_t gn__load_8(const void *from)
{
	return simt_load_once_dev_u64((const uint64_t *)from);
}

/*
 * Load an element from a frame. Returns all bits that were loaded, combined by |: gn__page_reload orders the
 * second load of the page's word behind them.
 */
SIMT_FN uint64_t gn__load_element(void *to, const void *from, uint32_t size)
{
	if (size == 1) {
		uint8_t value = simt_load_once_dev_u8((const uint8_t *)from);

		memcpy(to, &value, 1);
		return value;
	}
	if (size == 2) {
		uint16_t value = simt_load_once_dev_u16((const uint16_t *)from);

		memcpy(to, &value, 2);
		return value;
	}
	if (size == 4) {
		uint32_t value = simt_load_once_dev_u32((const uint32_t *)from);

		memcpy(to, &value, 4);
		return value;
	}
	if (size == 8) {
		uint64_t value = gn__load_8(from);

		memcpy(to, &value, 8);
		return value;
	} else {
		uint64_t low = gn__load_8(from), high = gn__load_8((const char *)from + 8);

		memcpy(to, &low, 8);
		memcpy((char *)to + 8, &high, 8);
		return low | high;
	}
}

/* Load an element by plain accesses. @from  a pinned page or the store's memory, aligned to the element */
SIMT_FN void gn__take_element(void *to, const void *from, uint32_t size)
{
	switch (size) {
	case 1: memcpy(to, from, 1); break;
	case 2: memcpy(to, __builtin_assume_aligned(from, 2), 2); break;
	case 4: memcpy(to, __builtin_assume_aligned(from, 4), 4); break;
	case 8: memcpy(to, __builtin_assume_aligned(from, 8), 8); break;
	default: memcpy(to, __builtin_assume_aligned(from, 16), 16);
	}
}

/* Store an element from registers by one plain store of its size. @bits  of the element, the lowest first */
SIMT_FN void gn__put_element(void *to, const uint64_t bits[2], uint32_t size)
{
	const uint8_t one = (uint8_t)bits[0];
	const uint16_t two = (uint16_t)bits[0];
	const uint32_t four = (uint32_t)bits[0];

	switch (size) {
	case 1: memcpy(to, &one, 1); break;
	case 2: memcpy(__builtin_assume_aligned(to, 2), &two, 2); break;
	case 4: memcpy(__builtin_assume_aligned(to, 4), &four, 4); break;
	case 8: memcpy(__builtin_assume_aligned(to, 8), bits, 8); break;
	default: memcpy(__builtin_assume_aligned(to, 16), bits, 16);
	}
}

/*
 * Store an element to a frame by atomic stores of at most 8 bytes: a reader with a snapshot of the frame's
 * earlier page may load from here at this time. (Its second load of the word shows that the page has left.)
 */
SIMT_FN void gn__store_8(void *to, const void *from)
{
	uint64_t value;

	memcpy(&value, from, 8);
	simt_store_relaxed_dev_u64((uint64_t *)to, value);
}

SIMT_FN void gn__store_element(void *to, const void *from, uint32_t size)
{
	if (size == 1) {
		simt_store_relaxed_dev_u8((uint8_t *)to, *(const uint8_t *)from);
	} else if (size == 2) {
		uint16_t value;

		memcpy(&value, from, 2);
		simt_store_relaxed_dev_u16((uint16_t *)to, value);
	} else if (size == 4) {
		uint32_t value;

		memcpy(&value, from, 4);
		simt_store_relaxed_dev_u32((uint32_t *)to, value);
	} else {
		gn__store_8(to, from);
		if (size == 16)
			gn__store_8((char *)to + 8, (const char *)from + 8);
	}
}

#endif
