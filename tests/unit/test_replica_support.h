/* SPDX-License-Identifier: Apache-2.0 */
/* test_replica_support.h - replicas of files, with their state. */
#ifndef GN_TESTS_REPLICA_SUPPORT_H
#define GN_TESTS_REPLICA_SUPPORT_H

#include <store/set/replica.h>

#include "test_set_support.h"

enum { REPLICA_BYTES = 24 << 10 };

/* `replica:state=FILE,` of the test. Valid until the next call. */
static inline const char *state_uri(const struct store_test *t)
{
	static char begin[256];

	snprintf(begin, sizeof begin, "replica:state=%s/state,", t->folder);
	return begin;
}

static inline const char *replica_uri(const struct store_test *t, unsigned members)
{
	return set_uri(t, state_uri(t), members, "");
}

/* Files of zeros, and their state. */
static inline void make_replica(struct store_test *t, unsigned members)
{
	struct gn_replica_report report;

	for (unsigned k = 0; k < members; k++)
		make_member(t, k, REPLICA_BYTES);
	if (gn_replica_rebuild(t->machine, replica_uri(t, members), 1, 0, &report, &t->error))
		fail_msg("%s", t->error.text);
	assert_int_equal(report.members, members - 1);
}

static inline void drop_replica(const struct store_test *t)
{
	char path[200];

	snprintf(path, sizeof path, "%s/state.log", t->folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/state", t->folder);
	assert_int_equal(unlink(path), 0);
}

static inline void open_replica(struct store_test *t, unsigned members,
                                const struct gn_store_options *options)
{
	open_uri(t, replica_uri(t, members), options);
}

static inline int members_out(const struct store_test *t)
{
	struct gn_store_statistics s;

	gn_store_get_statistics(t->store, &s);
	return (int)s.members_out;
}

static inline void assert_member_holds(const struct store_test *t, unsigned k, uint32_t round)
{
	unsigned char content[REPLICA_BYTES];

	read_member(t, k, 0, content, sizeof content);
	for (unsigned at = 0; at < sizeof content; at++)
		if (content[at] != byte_of(at, round))
			fail_msg("member %u: byte %u is wrong", k, at);
}

/* Everything that was written and flushed is in this file. */
static inline void assert_member_is_model(const struct store_test *t, unsigned k, const struct walk_test *w)
{
	uint32_t content[REPLICA_BYTES / 4];

	read_member(t, k, 0, content, sizeof content);
	assert_memory_equal(content, w->job.model, sizeof content);
}

/* The state's file has this line, and says of just these members that they are stale, or missed writes. */
static inline void assert_state(const struct store_test *t, const char *line, unsigned members,
                                uint32_t stale)
{
	char path[200], want[300], or_so[300], text[4096] = "";
	FILE *file;
	size_t got;

	snprintf(path, sizeof path, "%s/state", t->folder);
	file = fopen(path, "r");
	assert_non_null(file);
	got = fread(text, 1, sizeof text - 1, file);
	fclose(file);
	text[got] = '\0';
	if (!strstr(text, line))
		fail_msg("\"%s\" is not in:\n%s", line, text);
	for (unsigned k = 0; k < members; k++) {
		snprintf(want, sizeof want, "\n%s file:%s\n", stale >> k & 1 ? "missed" : "ok",
		         member_path(t, k));
		snprintf(or_so, sizeof or_so, "\n%s file:%s\n", stale >> k & 1 ? "stale" : "ok",
		         member_path(t, k));
		if (!strstr(text, want) && !strstr(text, or_so))
			fail_msg("\"%s\" is not in:\n%s", want, text);
	}
}

#endif
