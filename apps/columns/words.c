/* SPDX-License-Identifier: Apache-2.0 */
#include "words.h"

#include <stdlib.h>
#include <string.h>

#include <grapnel/error.h>

#include "file.h"

/* Fowler, Noll and Vo's hash, 1a, of 64 bits, folded to 32. */
static uint32_t hash_of(const char *text, size_t length)
{
	uint64_t h = 14695981039346656037u;

	for (size_t k = 0; k < length; k++)
		h = (h ^ (unsigned char)text[k]) * 1099511628211u;
	return (uint32_t)(h ^ h >> 32);
}

static int equals(const struct gn_words *w, uint32_t place, const char *text, size_t length)
{
	return w->offsets[place + 1] - w->offsets[place] == length &&
	       !memcmp(w->bytes + w->offsets[place], text, length);
}

/* The slot of a string, or the empty one where it would be. The table has empty ones. */
static uint32_t slot_of(const struct gn_words *w, const char *text, size_t length)
{
	uint32_t k = hash_of(text, length) & (w->slot_count - 1);

	while (w->slots[k] && !equals(w, w->slots[k] - 1, text, length))
		k = (k + 1) & (w->slot_count - 1);
	return k;
}

static int grow_slots(struct gn_words *w)
{
	struct gn_words larger = *w;

	larger.slot_count = w->slot_count ? w->slot_count * 2 : 64;
	larger.slots = (uint32_t *)calloc(larger.slot_count, sizeof *larger.slots);
	if (!larger.slots)
		return -GN_ENOMEM;
	for (uint32_t k = 0; k < w->count; k++)
		larger.slots[slot_of(&larger, w->bytes + w->offsets[k], w->offsets[k + 1] - w->offsets[k])] =
		    k + 1;
	free(w->slots);
	*w = larger;
	return 0;
}

static int grow_words(struct gn_words *w)
{
	const uint32_t room = w->room_words ? w->room_words * 2 : 64;
	uint32_t *offsets = (uint32_t *)realloc(w->offsets, ((size_t)room + 1) * sizeof *offsets);

	if (!offsets)
		return -GN_ENOMEM;
	offsets[0] = 0;
	w->offsets = offsets;
	w->room_words = room;
	return 0;
}

static int grow_bytes(struct gn_words *w, uint64_t least)
{
	const uint64_t room = least < 512 ? 1024 : 2 * least;
	char *bytes = (char *)realloc(w->bytes, room);

	if (!bytes)
		return -GN_ENOMEM;
	w->bytes = bytes;
	w->room_bytes = room;
	return 0;
}

static int make_room(struct gn_words *w, size_t length)
{
	const uint64_t end = (w->count ? w->offsets[w->count] : 0) + (uint64_t)length;
	int rc = 0;

	if (w->count >= GN_TABLE_MOST_WORDS || end > UINT32_MAX)
		return -GN_EFBIG;
	if (w->count == w->room_words)
		rc = grow_words(w);
	if (!rc && (end > w->room_bytes || !w->bytes))
		rc = grow_bytes(w, end);
	if (!rc && 2 * (w->count + 1) > w->slot_count)
		rc = grow_slots(w);
	return rc;
}

int gn__words_place(struct gn_words *w, const char *text, size_t length, uint32_t *place)
{
	uint32_t slot = w->slot_count ? slot_of(w, text, length) : 0;
	int rc;

	if (w->slot_count && w->slots[slot]) {
		*place = w->slots[slot] - 1;
		return 0;
	}
	rc = make_room(w, length);
	if (rc)
		return rc;
	memcpy(w->bytes + w->offsets[w->count], text, length);
	w->offsets[w->count + 1] = w->offsets[w->count] + (uint32_t)length;
	w->slots[slot_of(w, text, length)] = w->count + 1;
	*place = w->count++;
	return 0;
}

void gn__words_free(struct gn_words *w)
{
	free(w->offsets);
	free(w->bytes);
	free(w->slots);
	memset(w, 0, sizeof *w);
}
