/* SPDX-License-Identifier: Apache-2.0 */
/* test_set_support.h - stores over several files, and random accesses to them beside an array in memory. */
#ifndef GN_TESTS_SET_SUPPORT_H
#define GN_TESTS_SET_SUPPORT_H

#include <grapnel/array.h>
#include <grapnel/cache.h>

#include "test_store_support.h"

enum { SET_MOST = 8 };

/* The name of the test's member with this number, from 0. Valid until the next call. */
static inline const char *member_path(const struct store_test *t, unsigned k)
{
	static char path[200];

	snprintf(path, sizeof path, "%s/member%u", t->folder, k);
	return path;
}

static inline void make_member(const struct store_test *t, unsigned k, uint64_t bytes)
{
	int fd = open(member_path(t, k), O_RDWR | O_CREAT | O_TRUNC, 0666);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	close(fd);
}

static inline void read_member(const struct store_test *t, unsigned k, uint64_t offset, void *to,
                               size_t bytes)
{
	int fd = open(member_path(t, k), O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(pread(fd, to, bytes, (off_t)offset), (ssize_t)bytes);
	close(fd);
}

static inline void assert_equal_members(const struct store_test *t, unsigned members, size_t bytes)
{
	char *a = (char *)malloc(bytes), *b = (char *)malloc(bytes);

	read_member(t, 0, 0, a, bytes);
	for (unsigned k = 1; k < members; k++) {
		read_member(t, k, 0, b, bytes);
		for (size_t at = 0; at < bytes; at++)
			if (a[at] != b[at])
				fail_msg("member %u differs at %zu", k, at);
	}
	free(a);
	free(b);
}

/* The URI of a set of the test's first files; each gets these options. Valid until the next call. */
static inline const char *set_uri(const struct store_test *t, const char *begin, unsigned members,
                                  const char *each)
{
	static char uri[4096];
	size_t used = (size_t)snprintf(uri, sizeof uri, "%s", begin);

	for (unsigned k = 0; k < members; k++)
		used += (size_t)snprintf(uri + used, sizeof uri - used, "%sfile:%s%s", k ? "," : "",
		                         member_path(t, k), each);
	return uri;
}

static inline int set_teardown(void **state)
{
	struct store_test *t = (struct store_test *)*state;
	char path[200];

	gn_store_close(t->store); /* a replica writes its state now */
	t->store = NULL;
	for (unsigned k = 0; k < SET_MOST; k++)
		unlink(member_path(t, k));
	snprintf(path, sizeof path, "%s/state.log", t->folder);
	unlink(path);
	snprintf(path, sizeof path, "%s/state", t->folder);
	unlink(path);
	return store_teardown(state);
}

#define set_case(function) cmocka_unit_test_setup_teardown(function, store_setup, set_teardown)

/* ---- pages, a run of its own for every lane ---- */

struct lanes_job {
	struct gn_store_view store;
	char *buffer;    /* a page a thread */
	uint32_t *wrong; /* [0] bytes that differ, [1] transfers that failed, [2] the last code */
	uint32_t page_bytes, round, writes;
};

SIMT_FN void lanes_fill(const struct lanes_job *j, char *page, uint64_t offset)
{
	for (uint32_t k = 0; k < j->page_bytes; k++)
		page[k] = (char)byte_of(offset + k, j->round);
}

SIMT_FN uint32_t lanes_differ(const struct lanes_job *j, const char *page, uint64_t offset)
{
	uint32_t differ = 0;

	for (uint32_t k = 0; k < j->page_bytes; k++)
		differ += (unsigned char)page[k] != byte_of(offset + k, j->round);
	return differ;
}

/* The threads of a warp move neighbouring pages together: on a stripe those lie on several members. */
SIMT_FN void lanes_pages(const struct lanes_job *j)
{
	const uint64_t me = simt_global_thread(), all = simt_global_threads();
	const uint64_t pages = j->store.capacity_bytes / j->page_bytes;
	char *page = j->buffer + me * j->page_bytes;

	for (uint64_t first = 0; first < pages; first += all) {
		const uint64_t offset = (first + me) * j->page_bytes;
		const int wants = first + me < pages;
		struct gn_store_status s;

		if (j->writes && wants)
			lanes_fill(j, page, offset);
		s = j->writes
		        ? gn_store_write_warp(&j->store, simt_active(), wants, offset, page, j->page_bytes)
		        : gn_store_read_warp(&j->store, simt_active(), wants, offset, page, j->page_bytes);
		if (!j->writes && wants && !s.code)
			simt_add_relaxed_dev_u32(&j->wrong[0], lanes_differ(j, page, offset));
		if (s.code) {
			simt_add_relaxed_dev_u32(&j->wrong[1], 1);
			simt_store_relaxed_dev_u32(&j->wrong[2], (uint32_t)s.code);
		}
	}
}
SIMT_KERNEL(lanes_pages, struct lanes_job)

struct lanes_outcome {
	uint32_t differ, failed;
	int32_t code;
};

static inline struct lanes_outcome move_lanes(struct store_test *t, uint32_t page_bytes, int writes,
                                              uint32_t round)
{
	const struct simt_grid grid = {4, 32, 0};
	struct lanes_outcome outcome;
	struct lanes_job j;

	memset(&j, 0, sizeof j);
	j.store = *gn_store_view_of(t->store);
	j.buffer = (char *)simt_alloc(t->machine, 128 * (size_t)page_bytes, SIMT_DEVICE, &t->error);
	j.wrong = (uint32_t *)simt_alloc(t->machine, sizeof outcome, SIMT_DEVICE, &t->error);
	j.page_bytes = page_bytes;
	j.round = round;
	j.writes = (uint32_t)writes;
	assert_non_null(j.buffer);
	assert_non_null(j.wrong);
	assert_int_equal(simt_launch(t->machine, &lanes_pages_kernel, grid, &j, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	simt_move(t->machine, &outcome, j.wrong, sizeof outcome, &t->error);
	simt_free(t->machine, j.buffer);
	simt_free(t->machine, j.wrong);
	return outcome;
}

static inline void must_move_lanes(struct store_test *t, uint32_t page_bytes, int writes, uint32_t round)
{
	const struct lanes_outcome o = move_lanes(t, page_bytes, writes, round);

	if (o.failed || o.differ)
		fail_msg("%s: %u transfers failed (last with %d), %u bytes differ", gn_store_path(t->store),
		         o.failed, o.code, o.differ);
}

/* ---- random accesses to an array, beside one in memory ---- */

struct walk_job {
	struct gn_array array;
	uint32_t *model;  /* what each element must be */
	uint32_t *unsure; /* 1: a write of this element failed */
	uint32_t *wrong;  /* [0] values that differ, [1] accesses that failed */
	uint64_t count;
	uint32_t seed, steps;
};

SIMT_FN uint64_t walk_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

SIMT_FN void walk_step(const struct walk_job *j, uint64_t at, uint32_t value, int writes)
{
	uint32_t got;

	if (writes) {
		if (gn_array_write(&j->array, at, &value)) {
			simt_add_relaxed_dev_u32(&j->wrong[1], 1);
			j->unsure[at] = 1;
		} else {
			j->model[at] = value;
			j->unsure[at] = 0;
		}
	} else if (gn_array_read(&j->array, at, &got)) {
		simt_add_relaxed_dev_u32(&j->wrong[1], 1);
	} else if (got != j->model[at] && !j->unsure[at]) {
		simt_add_relaxed_dev_u32(&j->wrong[0], 1);
	}
}

/* Each thread reads and writes elements of its own, which share pages with those of the others. */
SIMT_FN void walk(const struct walk_job *j)
{
	const uint64_t me = simt_global_thread(), all = simt_global_threads();
	uint64_t state = j->seed * 1000003u + me;

	for (uint32_t k = 0; k < j->steps; k++) {
		const uint64_t at = walk_next(&state) % (j->count / all) * all + me;

		walk_step(j, at, (uint32_t)walk_next(&state), walk_next(&state) & 1);
	}
}
SIMT_KERNEL(walk, struct walk_job)

/* An array over the whole store, behind a cache of few pages. */
struct walk_test {
	struct gn_cache *cache;
	struct walk_job job;
	uint32_t wrong, failed; /* of the last walk */
};

static inline void walk_open(struct walk_test *w, struct store_test *t, uint32_t page_bytes)
{
	struct gn_cache_options c;
	struct gn_array_options a;

	memset(w, 0, sizeof *w);
	memset(&c, 0, sizeof c);
	memset(&a, 0, sizeof a);
	c.page_bytes = page_bytes;
	c.bytes = 16 * (uint64_t)page_bytes;
	if (gn_cache_create(&w->cache, t->machine, &t->store, 1, &c, &t->error))
		fail_msg("%s", t->error.text);
	w->job.count = gn_store_view_of(t->store)->capacity_bytes / 4;
	a.store = t->store;
	a.cache = w->cache;
	a.element_bytes = 4;
	a.count = w->job.count;
	if (gn_array_create(&w->job.array, t->machine, &a, &t->error))
		fail_msg("%s", t->error.text);
	w->job.model = (uint32_t *)simt_alloc(t->machine, w->job.count * 4, SIMT_PINNED, &t->error);
	w->job.unsure = (uint32_t *)simt_alloc(t->machine, w->job.count * 4, SIMT_PINNED, &t->error);
	w->job.wrong = (uint32_t *)simt_alloc(t->machine, 8, SIMT_PINNED, &t->error);
	assert_non_null(w->job.model);
	assert_non_null(w->job.unsure);
	assert_non_null(w->job.wrong);
}

static inline void walk_run(struct walk_test *w, struct store_test *t, uint32_t seed, uint32_t steps)
{
	const struct simt_grid grid = {2, 32, 0};

	w->job.seed = seed;
	w->job.steps = steps;
	w->job.wrong[0] = w->job.wrong[1] = 0;
	assert_int_equal(simt_launch(t->machine, &walk_kernel, grid, &w->job, &t->error), 0);
	assert_int_equal(simt_wait(t->machine, &t->error), 0);
	w->wrong = w->job.wrong[0];
	w->failed = w->job.wrong[1];
}

/* The store itself, read by the host after a flush, against the array in memory. */
static inline void walk_compare(struct walk_test *w, struct store_test *t)
{
	uint32_t *content = (uint32_t *)malloc(w->job.count * 4);

	assert_non_null(content);
	if (gn_store_read_host(t->store, 0, content, w->job.count * 4, &t->error))
		fail_msg("%s", t->error.text);
	for (uint64_t k = 0; k < w->job.count; k++)
		if (content[k] != w->job.model[k] && !w->job.unsure[k])
			fail_msg("element %llu is %u in the store, not %u", (unsigned long long)k, content[k],
			         w->job.model[k]);
	free(content);
}

static inline void walk_close(struct walk_test *w, struct store_test *t)
{
	gn_array_destroy(&w->job.array, t->machine);
	gn_cache_destroy(w->cache);
	simt_free(t->machine, w->job.model);
	simt_free(t->machine, w->job.unsure);
	simt_free(t->machine, w->job.wrong);
}

#endif
