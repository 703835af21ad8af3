/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feed bytes to what reads the messages of an RDMA connection, and to what splits an rdma: path. What is
 * taken for a message must be within its bounds, and is the same after it was written and read again.
 */
#include <string.h>

#include <store/rdma/address.h>

#include "fuzz.h"

static void request(const uint8_t *data, size_t size)
{
	struct gn_hello_request first, again;
	uint8_t bytes[GN_HELLO_REQUEST_BYTES];

	if (gn_hello_get_request(data, size, &first))
		return;
	FUZZ_REQUIRE(gn_hello_is_name(first.name));
	gn_hello_put_request(bytes, &first);
	FUZZ_REQUIRE(!gn_hello_get_request(bytes, sizeof bytes, &again));
	FUZZ_REQUIRE(first.session == again.session && first.index == again.index &&
	             first.flags == again.flags && !strcmp(first.name, again.name));
}

static void answer(const uint8_t *data, size_t size)
{
	struct gn_hello_answer first, again;
	uint8_t bytes[GN_HELLO_ANSWER_BYTES];

	if (gn_hello_get_answer(data, size, &first))
		return;
	FUZZ_REQUIRE(first.bytes && first.address + first.bytes > first.address && first.block);
	gn_hello_put_answer(bytes, &first);
	FUZZ_REQUIRE(!gn_hello_get_answer(bytes, sizeof bytes, &again));
	FUZZ_REQUIRE(first.address == again.address && first.bytes == again.bytes &&
	             first.instance == again.instance && first.key == again.key &&
	             first.block == again.block && first.flags == again.flags);
}

static void refusal(const uint8_t *data, size_t size)
{
	char text[GN_HELLO_TEXT + 1];

	if (gn_hello_get_refusal(data, size, text))
		return;
	FUZZ_REQUIRE(strlen(text) <= GN_HELLO_TEXT);
	for (const char *at = text; *at; at++)
		FUZZ_REQUIRE(*at >= ' ' && *at <= '~');
}

static void note(const uint8_t *data, size_t size)
{
	struct gn_hello_note n;

	if (!gn_hello_get_note(data, size, &n))
		FUZZ_REQUIRE(n.kind >= GN_HELLO_FLUSH && n.kind <= GN_HELLO_DONE);
}

static void path(const uint8_t *data, size_t size)
{
	struct gn_rdma_address a;
	char *text = fuzz_text(data, size);

	if (!gn_rdma_address_parse(&a, text, NULL))
		FUZZ_REQUIRE(a.host[0] && atoi(a.port) > 0 && gn_hello_is_name(a.name));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	request(data, size);
	answer(data, size);
	refusal(data, size);
	note(data, size);
	path(data, size);
	return 0;
}
