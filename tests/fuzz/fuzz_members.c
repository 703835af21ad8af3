/* SPDX-License-Identifier: Apache-2.0 */
/* Feed text to the parsers of a list of stores, and of the file that says which of them are up to date. */
#include <string.h>

#include <store/set/state.h>
#include <store/store.h>

#include "fuzz.h"

/* The only function of the stores that these parsers call. */
int gn_store_code(int error_number)
{
	(void)error_number;
	return -GN_EIO;
}

static void try_list(const char *text, int takes_rest)
{
	struct gn_list *list = (struct gn_list *)malloc(sizeof *list);
	const int rc = gn_uri_scheme_length(text) ? gn_list_parse(list, text, takes_rest, NULL) : -GN_EINVAL;

	FUZZ_REQUIRE(rc == 0 || rc == -GN_EINVAL);
	FUZZ_REQUIRE(rc || (list->members && list->members <= (takes_rest ? 2 : GN_SET_MOST)));
	for (unsigned k = 0; !rc && k < list->members; k++) {
		char *name = gn_replica_name(list->member[k]);

		FUZZ_REQUIRE(name && gn_uri_scheme_length(list->member[k]));
		free(name);
	}
	free(list);
}

static void try_state(const uint8_t *data, size_t size)
{
	struct gn_replica_state s;
	int fd = fuzz_file(data, size), rc;
	char path[40];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	rc = gn_replica_state_load(&s, path, NULL);
	FUZZ_REQUIRE(rc == 0 || rc == -GN_EBADMSG);
	FUZZ_REQUIRE(rc ? !s.members : s.members && s.members <= GN_SET_MOST);
	for (unsigned k = 0; k < s.members; k++)
		FUZZ_REQUIRE(s.name[k] && !strchr(s.name[k], '\n') && s.stale[k] >= 0 &&
		             s.stale[k] <= GN_STALE_LOGGED);
	gn_replica_state_fini(&s);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);

	try_list(text, 0);
	try_list(text, 1);
	try_state(data, size);
	free(text);
	return 0;
}
