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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	uint64_t bytes = 0;

	require_right(text, gn_size_parse(text, &bytes), bytes);
	free(text);
	return 0;
}
