/* SPDX-License-Identifier: Apache-2.0 */
/* test_resync_support.h - replicas of three files, of which one is put back. */
#ifndef GN_TESTS_RESYNC_SUPPORT_H
#define GN_TESTS_RESYNC_SUPPORT_H

#include <store/set/replica_store.h>

#include "test_replica_support.h"

enum { BYTES = 1 << 20, REGION = 4096, MEMBERS = 3 };

static inline void make_all(struct store_test *t)
{
	struct gn_replica_report report;

	for (unsigned k = 0; k < MEMBERS; k++)
		make_member(t, k, BYTES);
	if (gn_replica_rebuild(t->machine, replica_uri(t, MEMBERS), 1, 0, &report, &t->error))
		fail_msg("%s", t->error.text);
}

static inline int resync(struct store_test *t, unsigned k)
{
	return gn_store_resync(t->store, k, &t->error);
}

static inline void must_resync(struct store_test *t, unsigned k)
{
	struct gn_store_member member;

	if (resync(t, k))
		fail_msg("%s", t->error.text);
	assert_int_equal(gn_store_get_member(t->store, k, &member), 0);
	assert_int_equal(member.use, GN_MEMBER_USED);
}

/* Member 1 is away when the replica is opened, and is there again afterwards. */
static inline void open_without_one(struct store_test *t, const struct gn_store_options *options)
{
	rename_file(t, "member1", "away");
	open_replica(t, MEMBERS, options);
	rename_file(t, "away", "member1");
	assert_int_equal(members_out(t), 1);
}

/* The replica takes the cpu machine for a GPU: a warp copies, and the host does not reach health and maps. */
static inline void as_on_a_gpu(struct store_test *t)
{
	struct gn_replica *r = (struct gn_replica *)t->store;
	const size_t bytes = 2 * r->log.map_bytes;
	struct simt_info info;

	needs_cpu(t);
	simt_describe(t->machine, &info);
	r->is_cuda = 1;
	r->window_log2 += (uint32_t)__builtin_ctz(info.warp_width);
	r->health->window_log2 = (uint16_t)r->window_log2;
	r->maps = (uint32_t *)simt_alloc(t->machine, bytes, SIMT_DEVICE, &t->error);
	assert_non_null(r->maps);
	memset(r->maps, 0, bytes);
	r->health->written = r->maps;
	r->health->missed = r->maps + bytes / 8;
}

#endif
