/* SPDX-License-Identifier: Apache-2.0 */
/* Feed text to gn_size_parse; whole numbers without a unit are held against strtoull. */
#include <errno.h>
#include <string.h>

#include <grapnel/error.h>

#include "fuzz.h"

static void require_right(const char *text, int err, uint64_t bytes)
{
	unsigned long long whole;
	char *end;

	FUZZ_REQUIRE(err == 0 || err == -GN_EINVAL || err == -GN_ERANGE);
	if (err)
		return;
	FUZZ_REQUIRE(text[0] >= '0' && text[0] <= '9');
	errno = 0;
	whole = strtoull(text, &end, 10);
	FUZZ_REQUIRE(errno == 0 && bytes >= whole);
	if (!*end)
		FUZZ_REQUIRE(bytes == whole);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = (char *)malloc(size + 1);
	uint64_t bytes = 0;

	FUZZ_REQUIRE(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	require_right(text, gn_size_parse(text, &bytes), bytes);
	free(text);
	return 0;
}
