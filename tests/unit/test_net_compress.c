/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages without the bytes that they share: what comes back is what was compressed, and what is none is
 * refused.
 */
#include "unit.h"

#include <grapnel/error.h>
#include <grapnel/detail/net/message.h>
#include <net/compress.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 4000, BYTES = 8 * WORDS };

static uint64_t word[WORDS], back[WORDS];
static unsigned char compressed[BYTES + 64];
static uint64_t state;

static uint64_t draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 33 | state << 31;
}

/* Compress the first words, and compare what comes back. Returns the bytes. */
static uint32_t there_and_back(uint32_t words, uint32_t most)
{
	const uint32_t bytes = gn_compress(word, words, compressed, most);

	assert_true(bytes <= most);
	if (!bytes)
		return 0;
	memset(back, 0xee, sizeof back);
	assert_int_equal(gn_decompress(compressed, bytes, back, words), 0);
	assert_memory_equal(back, word, 8ull * words);
	for (uint32_t k = words; k < WORDS; k++)
		assert_int_equal(back[k], 0xeeeeeeeeeeeeeeeeu);
	return bytes;
}

static uint64_t add(uint64_t place)
{
	return gn__message_head((GN__MESSAGE_CHANGE + GN_ADD) | GN__MESSAGE_WIDE, 7, place);
}

static void additions_of_one_take_the_bytes_of_their_place(void **unused)
{
	(void)unused;
	for (uint32_t k = 0; k < 2000; k++) {
		word[2 * k] = add(draw() % (1 << 22));
		word[2 * k + 1] = 1;
	}
	assert_int_equal(there_and_back(4000, BYTES), 4 + 2 * 10 + 3 * 2000);
}

static void values_of_all_bits_take_eight_bytes_more(void **unused)
{
	(void)unused;
	for (uint32_t k = 0; k < 1000; k++) {
		word[2 * k] = add(draw() % (1 << 22));
		word[2 * k + 1] = draw() << 40 ^ draw();
	}
	assert_int_equal(there_and_back(2000, BYTES), 4 + 2 * 10 + 11 * 1000);
	assert_int_equal(there_and_back(2000, 10000), 0); /* it would take more */
}

static void nothing_and_one_message_come_back(void **unused)
{
	(void)unused;
	word[0] = add(5);
	word[1] = 6;
	assert_int_equal(there_and_back(2, BYTES), 4 + 16);
	assert_int_equal(gn_decompress(compressed, 0, back, 0), 0);
}

/* A message of a random form. Returns its words. */
static uint32_t put_random(uint32_t at)
{
	static const uint32_t forms[] = {(GN__MESSAGE_CHANGE + GN_ADD) | GN__MESSAGE_WIDE,
	                                 GN__MESSAGE_CHANGE + GN_CAS,
	                                 (GN__MESSAGE_CHANGE + GN_GET) | GN__MESSAGE_FETCH,
	                                 (GN__MESSAGE_CHANGE + GN_CAS) | GN__MESSAGE_FETCH,
	                                 GN__MESSAGE_MARK,
	                                 GN__MESSAGE_SIGNAL,
	                                 GN__MESSAGE_REPLY,
	                                 GN__MESSAGE_BYTES,
	                                 GN__MESSAGE_CALL};
	const uint32_t form = forms[draw() % (sizeof forms / sizeof *forms)];
	const uint64_t place = form == GN__MESSAGE_BYTES  ? draw() % 300
	                       : form == GN__MESSAGE_CALL ? gn__message_call_place(3, (uint32_t)(draw() % 65))
	                                                  : draw() % (1ull << 37);
	uint32_t words;

	word[at] = gn__message_head(form, (uint32_t)(draw() % 9), place);
	words = gn__message_words(word[at]);
	if (at + words > WORDS)
		return 0;
	for (uint32_t k = 1; k < words; k++)
		word[at + k] = draw() >> draw() % 64;
	return words;
}

static void messages_of_all_forms_come_back(void **unused)
{
	(void)unused;
	for (uint32_t round = 0; round < 300; round++) {
		const uint32_t same = 1 + draw() % 60;
		uint32_t at = 0, words = 1;

		state = round;
		while (words && at < WORDS - 700) {
			const uint32_t first = at;

			words = put_random(at);
			at += words;
			/* and some like it */
			for (uint32_t k = 0; words && k < draw() % same && at + words < WORDS;
			     k++, at += words) {
				memcpy(word + at, word + first, 8ull * words);
				word[at] ^= draw() % 16 << 20 &
				            (gn__message_kind(word[at]) < GN__MESSAGE_BYTES ? ~0ull : 0);
				if (words > 1)
					word[at + words - 1] ^= draw() % 1000;
			}
		}
		there_and_back(at, BYTES + 32);
	}
}

static void what_is_none_is_refused(void **unused)
{
	uint32_t bytes;

	(void)unused;
	for (uint32_t k = 0; k < 50; k++) {
		word[2 * k] = add(k);
		word[2 * k + 1] = k * k;
	}
	bytes = there_and_back(100, BYTES);
	for (uint32_t less = 0; less < bytes; less++)
		assert_int_equal(gn_decompress(compressed, less, back, 100), -GN_EBADMSG);
	assert_int_equal(gn_decompress(compressed, bytes + 1, back, 100), -GN_EBADMSG);
	assert_int_equal(gn_decompress(compressed, bytes, back, 99), -GN_EBADMSG);
	assert_int_equal(gn_decompress(compressed, bytes, back, 101), -GN_EBADMSG);
	/* whatever the bytes, nothing behind the words is written */
	for (uint32_t round = 0; round < 20000; round++) {
		const uint32_t words = 1 + draw() % 100;

		for (uint32_t k = 0; k < 200; k++)
			compressed[k] = (unsigned char)(draw() >> draw() % 8);
		compressed[1] = 0;
		back[words] = 77;
		gn_decompress(compressed, 200, back, words);
		assert_int_equal(back[words], 77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(additions_of_one_take_the_bytes_of_their_place),
	    cmocka_unit_test(values_of_all_bits_take_eight_bytes_more),
	    cmocka_unit_test(nothing_and_one_message_come_back),
	    cmocka_unit_test(messages_of_all_forms_come_back),
	    cmocka_unit_test(what_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
