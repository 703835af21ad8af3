/* SPDX-License-Identifier: Apache-2.0 */
/* test_array_auto_support.h - an object that chooses, as if its store's memory were far from the machine. */
#ifndef GN_TESTS_ARRAY_AUTO_SUPPORT_H
#define GN_TESTS_ARRAY_AUTO_SUPPORT_H

#include "test_cache_support.h"

#include <array/auto.h>

enum {
	COUNT = 1 << 19 /* words of 8 bytes: 4 MiB, 64 regions */,
	CACHE = 1 << 20,
	NEAR = 16 << 10,
	REGION_WORDS = 8192,
	LINE_WORDS = 16,
	PAGES_512 = 0,
	PAGES_4K = 3,
	FEW = 15 * REGION_WORDS /* words: all of their regions are looked at to the end */
};

/*
 * On cpu every store's memory is near, and is read directly. Here it is to look like that of a GPU: paged at
 * first.
 */
static inline void move_away(struct cache_test *t, struct gn_auto *choice)
{
	choice->setup.is_near = 0;
	if (choice->choice != GN_AUTO_DIRECT)
		return;
	assert_int_equal(gn__auto_switch(choice, PAGES_512, &t->error), 1);
	choice->switches = 0;
}

/* The next launch is looked at, in all regions to the end. */
static inline void see_all(struct cache_test *t, struct gn_auto *choice)
{
	choice->image.least = 1ull << 32;
	assert_int_equal(gn__auto_sample(choice, &t->error), 0);
}

static inline struct gn_auto *open_choice_of(struct cache_test *t, uint64_t offset, uint64_t count,
                                             uint32_t element_bytes)
{
	struct gn_auto *choice = NULL;
	struct gn_auto_options c;

	memset(&c, 0, sizeof c);
	c.cache_bytes = CACHE;
	c.offset = offset;
	c.count = count;
	c.element_bytes = element_bytes;
	c.near_bytes = NEAR;
	c.touches = 1 << 16;
	if (gn_auto_open(&choice, t->machine, t->store, &c, &t->error))
		fail_msg("%s", t->error.text);
	move_away(t, choice);
	return choice;
}

static inline struct gn_auto *open_choice(struct cache_test *t, uint64_t count)
{
	return open_choice_of(t, 0, count, 8);
}

static inline void open_wide(struct cache_test *t, unsigned threads, unsigned width, const char *uri)
{
	close_store(t);
	simt_free(t->machine, t->held);
	simt_close(t->machine);
	t->machine = open_machine(threads, width);
	t->held =
	    (struct gn_page *)simt_alloc(t->machine, MOST_HELD * sizeof *t->held, SIMT_PINNED, &t->error);
	open_store(t, uri, NULL);
	fill_store(t, t->store);
}

#endif
