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

/* ---- files in the test's folder ---- */

static inline void rename_file(const struct store_test *t, const char *from, const char *to)
{
	char a[200], b[200];

	snprintf(a, sizeof a, "%s/%s", t->folder, from);
	snprintf(b, sizeof b, "%s/%s", t->folder, to);
	assert_int_equal(rename(a, b), 0);
}

static inline void write_at(struct store_test *t, uint64_t offset, size_t bytes, uint32_t round)
{
	unsigned char *content = (unsigned char *)malloc(bytes);

	assert_non_null(content);
	for (size_t k = 0; k < bytes; k++)
		content[k] = byte_of(offset + k, round);
	if (gn_store_write_host(t->store, offset, content, bytes, &t->error))
		fail_msg("%s", t->error.text);
	free(content);
}

static inline void set_byte(const struct store_test *t, unsigned k, off_t at, char value)
{
	const int fd = open(member_path(t, k), O_WRONLY);

	assert_int_equal(pwrite(fd, &value, 1, at), 1);
	close(fd);
}

/* The text of the state, with room to change it. */
static inline char *state_text(const struct store_test *t)
{
	static char text[4096];
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/state", t->folder);
	file = fopen(path, "r");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	return text;
}

static inline void set_state(const struct store_test *t, const char *text)
{
	char path[200];
	FILE *file;

	snprintf(path, sizeof path, "%s/state", t->folder);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static inline int has_log(const struct store_test *t)
{
	char path[200];

	snprintf(path, sizeof path, "%s/state.log", t->folder);
	return !access(path, F_OK);
}

static inline void copy_file(const struct store_test *t, const char *from, const char *to)
{
	char command[500];

	snprintf(command, sizeof command, "cp %s/%s %s/%s", t->folder, from, t->folder, to);
	assert_int_equal(system(command), 0);
}

/* What the program would leave that is killed now: then the open store is closed, and leaves nothing. */
static inline void kill_program(struct store_test *t)
{
	copy_file(t, "state", "killed");
	copy_file(t, "state.log", "killed.log");
	close_store(t);
	rename_file(t, "killed", "state");
	rename_file(t, "killed.log", "state.log");
}

#endif
