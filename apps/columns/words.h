/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a dictionary that grows: strings and their places, by a hash table. Private to this folder. */
#ifndef GN_COLUMNS_WORDS_H
#define GN_COLUMNS_WORDS_H

#include <stddef.h>
#include <stdint.h>

/* All 0 is an empty one. */
struct gn_words {
	uint32_t count;
	uint32_t *offsets; /* count + 1 */
	char *bytes;
	uint64_t room_bytes;
	uint32_t room_words;
	uint32_t *slots; /* places + 1; 0: empty */
	uint32_t slot_count;
};

/*
 * gn__words_place - the place of a string, which is put in if it is new.
 * Returns 0, -GN_EFBIG or -GN_ENOMEM.
 */
int gn__words_place(struct gn_words *w, const char *text, size_t length, uint32_t *place);

void gn__words_free(struct gn_words *w);

#endif
